//! Profiles: which methods runs of a program have used, for `vervet aot --profile`.
//!
//! ```text
//! # Vervet profile
//! mscorlib.dll<TAB>System.Collections.Generic.List`1[System.String]::Add
//! ```
//! A line is a method: the module by its name, type and name, with arguments and without parameters, so that it still means something when the
//! assembly was built anew. The order is that of the first use.
//!
//! # Invariants
//! * A profile only chooses: whatever is in it, what is compiled is what would be compiled anyway.
//! * Writing adds to what is there. A file that is no profile stays as it is.
use crate::code::table::{self, CodeKind};
use std::collections::HashSet;
use std::io::{Error, Read, Result, Write};
use std::path::Path;
use vervet_types::MethodRef;

/// Bytes of a profile, at most: some hundred thousand methods.
const LONGEST: u64 = 64 << 20;
/// The first line.
const HEAD: &str = "# Vervet profile";

/// The line of a method.
pub fn line_of(method: MethodRef) -> String {
    let mut line = format!(
        "{}\t{}::{}",
        method.module().name,
        method.class.full_name(),
        method.name
    );
    if !method.method_args().is_empty() {
        let args: Vec<String> = method.method_args().iter().map(|a| a.full_name()).collect();
        line += &format!("[{}]", args.join(","));
    }
    line
}

/// The lines of a profile.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read(path: &Path) -> Result<Vec<String>> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    if file.take(LONGEST).read_to_string(&mut text)? as u64 == LONGEST {
        return Err(Error::other("this is too long for a profile"));
    }
    let mut lines = text.lines();
    match lines.next() {
        Some(HEAD) => Ok(lines.filter(|l| !l.is_empty()).map(str::to_owned).collect()),
        _ => Err(Error::other("this is no profile")),
    }
}

/// Adds the methods that this process has used.
///
/// # Errors
/// The file cannot be read or written, or is no profile.
pub fn write(path: &Path) -> Result<()> {
    let mut lines = match read(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let mut known: HashSet<String> = lines.iter().cloned().collect();
    for code in table::all() {
        if let CodeKind::Method(method) | CodeKind::Wrapper(method) = code.kind
            && !method.is_dynamic()
            && !method.is_icall()
            && let line = line_of(method)
            && !line.contains(['\n', '\r'])
            && known.insert(line.clone())
        {
            lines.push(line);
        }
    }
    // As a whole, under another name first: another run may read it.
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    // Nobody else has made it: in a directory for everybody a link of that name may lead anywhere.
    let mut file = std::fs::File::create_new(&name)?;
    let text = format!("{HEAD}\n{}\n", lines.join("\n"));
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| std::fs::rename(&name, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&name);
    }
    written
}
