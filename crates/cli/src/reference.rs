//! The reference assembly: the core library's signatures with those of the grafts, for compilers.
//!
//! `managed/reference/Reference.cs` writes it from the installed mscorlib.dll. That program is compiled and run on Vervet
//! itself when a reference assembly is wanted first.
//!
//! # Invariants
//! * A reference assembly in the cache belongs to one core library, one set of grafts and one version of the program that
//!   wrote it: their hash is the name of its directory. A half-written one is never seen (it is renamed into place).
//! * Sources that mention no grafted member are compiled without a reference assembly, as on Mono.
use crate::source::{self, Failure, fail};
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;
use vervet_runtime::classes::grafts;
use vervet_runtime::loader::THREADING;

/// The program that writes reference assemblies.
const PROGRAM: &str = include_str!("../../../managed/reference/Reference.cs");
/// What it reads.
const LIBRARY: &str = "/usr/lib/mono/4.5/mscorlib.dll";

/// The name of the assembly that `vervet ref` writes beside the core library, and its file.
const THREADING_NAME: &str = "Vervet.Threading";
const THREADING_FILE: &str = "Vervet.Threading.dll";

/// What sources are compiled with that mention members of Vervet's own.
#[derive(Default)]
pub struct References {
    /// The directory of the cached reference assembly, if one of the sources mentions a grafted member.
    pub library: Option<PathBuf>,
    /// The option that refers to Vervet.Threading, if one mentions that.
    pub threading: Option<String>,
}

/// What these sources are compiled with.
pub fn for_sources(files: &[PathBuf]) -> Result<References, Failure> {
    let grafts = grafts::assemblies().map_err(fail)?;
    let names = grafts::member_names(&grafts).map_err(fail)?;
    let text = |file: &PathBuf| {
        String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned()
    };
    let texts: Vec<String> = files.iter().map(text).collect();
    let mentions = |name: &str| texts.iter().any(|text| text.contains(name));
    let (library, threading) = (names.iter().any(|n| mentions(n)), mentions(THREADING_NAME));
    if !library && !threading {
        return Ok(References::default());
    }
    let mut hash = rustc_hash::FxHasher::default();
    hash.write(PROGRAM.as_bytes());
    source::hash_file_stamp(&mut hash, Path::new(LIBRARY));
    for (bytes, _) in &grafts {
        hash.write(bytes);
    }
    hash.write(THREADING);
    let directory = source::cache_dir().join(format!("ref-{:016x}", hash.finish()));
    if !directory.join("mscorlib.dll").is_file() {
        write(&directory)?;
    }
    let file = directory.join(THREADING_FILE);
    Ok(References {
        threading: threading.then(|| format!("-r:{}", file.display())),
        library: library.then_some(directory),
    })
}

/// Writes `mscorlib.dll` and `Vervet.Threading.dll` into a directory.
pub fn write(directory: &Path) -> Result<(), Failure> {
    let grafts = grafts::assemblies().map_err(fail)?;
    if grafts.is_empty() {
        return Err(fail(match std::env::var_os(grafts::INSTEAD) {
            Some(_) => format!("There are no grafts: {} names none.", grafts::INSTEAD),
            None => "There are no grafts: this vervet was built without a C# compiler. Install the Debian package mono-mcs and build again."
                .into(),
        }));
    }
    let cecil = cecil().ok_or_else(|| {
        fail("Mono.Cecil 0.11 is not installed: install the Debian package libmono-cecil-private-cil.")
    })?;
    let create = |path: &Path| {
        std::fs::create_dir_all(path)
            .map_err(|e| fail(format!("Cannot create '{}': {e}", path.display())))
    };
    let store = |path: &Path, data: &[u8]| {
        std::fs::write(path, data)
            .map_err(|e| fail(format!("Cannot write '{}': {e}", path.display())))
    };
    let work = source::cache_dir().join(format!("ref-{}", std::process::id()));
    create(directory)?;
    create(&work)?;
    // Always at the same path: compiled programs are cached by path and content.
    let text = source::cache_dir().join("Reference.cs");
    if std::fs::read(&text).ok().as_deref() != Some(PROGRAM.as_bytes()) {
        let fresh = work.join("Reference.cs");
        store(&fresh, PROGRAM.as_bytes())?;
        std::fs::rename(&fresh, &text)
            .map_err(|e| fail(format!("Cannot write '{}': {e}", text.display())))?;
    }
    store(&directory.join(THREADING_FILE), THREADING)?;
    let options = [
        "-langversion:latest".to_string(),
        format!("-r:{}", cecil.display()),
    ];
    let program = source::compile(&[text], &options, false, None)?;
    let fresh = directory.join(format!("mscorlib.{}.dll", std::process::id()));
    let mut run = Command::new(std::env::current_exe().map_err(|e| fail(e.to_string()))?);
    run.arg(&program).arg(LIBRARY).arg(&fresh);
    for (n, (bytes, _)) in grafts.iter().enumerate() {
        let path = work.join(format!("Grafts{n}.dll"));
        store(&path, bytes)?;
        run.arg(path);
    }
    // The program itself uses no grafts, and those of a test may be bad ones.
    let status = run.env_remove(grafts::INSTEAD).status();
    let _ = std::fs::remove_dir_all(&work);
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => {
            let _ = std::fs::remove_file(&fresh);
            return Err(fail(format!(
                "The reference assembly was not written ({status})."
            )));
        }
        Err(e) => return Err(fail(format!("Cannot run '{}': {e}", program.display()))),
    }
    let result = directory.join("mscorlib.dll");
    std::fs::rename(&fresh, &result)
        .map_err(|e| fail(format!("Cannot write '{}': {e}", result.display())))
}

/// Debian's Mono.Cecil in the GAC: the newest 0.11.
fn cecil() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/mono/gac/Mono.Cecil").ok()?;
    versions
        .flatten()
        .filter(|v| v.file_name().to_string_lossy().starts_with("0.11."))
        .map(|v| v.path().join("Mono.Cecil.dll"))
        .filter(|p| p.is_file())
        .max()
}
