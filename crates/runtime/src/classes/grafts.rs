//! The assembly of the grafts: members that the runtime adds to types of the core library ([`vervet_types::grafts`]).
//!
//! # Invariants
//! * The assembly is part of this binary, so it always fits the runtime that loads it. Programs do not see it: no loader
//!   knows it, and the list of the domain's assemblies does not contain it.
//! * It is loaded before the members of any class are asked for.
use vervet_metadata::{Image, Table};
use vervet_types::Universe;
use vervet_types::method::method_flags::{ACCESS_MASK, PUBLIC, STATIC};

/// The assembly that `managed/Vervet.Grafts` becomes. Empty if there was no C# compiler when this crate was built.
pub static ASSEMBLY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/Vervet.Grafts.dll"));

/// Names files, separated by colons, that are loaded in place of [`ASSEMBLY`]. Empty: there are no grafts.
pub const INSTEAD: &str = "VERVET_DEBUG_GRAFTS";

/// An assembly's image, and the path of its file if it comes from one.
pub type Source = (&'static [u8], Option<String>);

/// The assemblies of grafts of this process. `Err` is a sentence for the user: a file cannot be read.
pub fn assemblies() -> Result<Vec<Source>, String> {
    let Some(files) = std::env::var_os(INSTEAD) else {
        let own = Some((ASSEMBLY, None)).filter(|_| !ASSEMBLY.is_empty());
        return Ok(own.into_iter().collect());
    };
    let read = |path: std::path::PathBuf| match vervet_os::memory::map_file(&path) {
        Ok(data) => Ok((data, Some(path.to_string_lossy().into_owned()))),
        Err(e) => Err(format!("{INSTEAD}: {}: {e}", path.display())),
    };
    std::env::split_paths(&files)
        .filter(|p| !p.as_os_str().is_empty())
        .map(read)
        .collect()
}

/// Loads the grafts. `Err` is a sentence for the user: a file cannot be read, or is no assembly of grafts.
pub fn load(universe: &'static Universe) -> Result<(), String> {
    let start = std::time::Instant::now();
    universe
        .load_grafts(assemblies()?)
        .map_err(|e| format!("the grafts cannot be loaded: {e}"))?;
    tracing::debug!("the grafts were loaded in {:?}", start.elapsed());
    Ok(())
}

/// The names by which sources mention what assemblies of grafts add: of public static methods, of properties without `get_`.
/// `Err` is a sentence for the user: an image cannot be read.
pub fn member_names(assemblies: &[Source]) -> Result<Vec<&'static str>, String> {
    let names = |data: &'static [u8]| -> Result<Vec<&'static str>, vervet_metadata::Error> {
        let image: &'static Image<'static> = Box::leak(Box::new(Image::parse(data)?));
        let mut names = Vec::new();
        for rid in 1..=image.row_count(Table::MethodDef) {
            let row = image.method_def(rid)?;
            let flags = u32::from(row.flags);
            if flags & ACCESS_MASK == PUBLIC && flags & STATIC != 0 {
                let name = image.string(row.name)?;
                let bare = name.strip_prefix("get_").or(name.strip_prefix("set_"));
                names.push(bare.unwrap_or(name));
            }
        }
        Ok(names)
    };
    let mut all = Vec::new();
    for (data, _) in assemblies {
        all.extend(names(data).map_err(|e| format!("the grafts cannot be read: {e}"))?);
    }
    Ok(all)
}
