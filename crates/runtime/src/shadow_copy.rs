//! Shadow copies: a domain may load copies of its assemblies' files, so that the files can be replaced while it runs.
//!
//! # How it works
//! `AppDomainSetup.ShadowCopyFiles` switches it on ("true"). It is for the files in the directories of `ShadowCopyDirectories`, and for all files if there are none. The names are mono's:
//!
//! ```text
//!   CachePath/ApplicationName/assembly/shadow/          if both are set, otherwise
//!   TMPDIR/USER-mono-cachepath/assembly/shadow/
//!     NAME/FILE_DIRECTORY_DOMAIN/lib.dll                hashes of the file's name, of both, of its directory; the domain's number
//!                                lib.dll.mdb, lib.pdb, lib.dll.config, if they are beside the file
//!                                __AssemblyInfo__.ini   where the file is
//! ```
//! A copy that has the file's size and time is used again. `Assembly.Location` is the copy; `CodeBase` is the file ([`Loader::source`](crate::loader::Loader::source)), beside which
//! references are looked for, too.
//!
//! ```text
//!   Loader::open_file --> what the setup says (it may change at any time) --> `applies`? --> is there a copy, or an assembly of an earlier life of the domain, that is as the
//!   file is? --> `copy` --> the copy is mapped, and the file is noted as the module's source
//! ```
//! A recycled domain (`domain/renew.rs`) that wants copies in the same place takes over the assemblies of the life before, if their files have not changed. These have the number of
//! that life in their location.
//!
//! # Invariants
//! * The copy appears under its name when it is complete, with all that lies beside it: another process may use the same place.
//! * Assemblies that all domains share are not copied.
//! * The directory in TMPDIR belongs to the user, and nobody else may write to it.
use crate::object::ObjRef;
use std::fs::{self, File, FileTimes};
use std::io::{Error, ErrorKind, Result};
use std::mem::offset_of;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use vervet_abi::layouts::AppDomainSetupObject;

/// What a domain's setup says of shadow copies that it wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShadowCopies {
    /// CachePath and ApplicationName, if both are set.
    place: Option<(String, String)>,
    /// None: all files are copied.
    directories: Option<String>,
    /// The domain's number.
    number: u32,
}

impl ShadowCopies {
    /// None: the setup wants none.
    pub fn of_setup(setup: ObjRef<'_>, number: u32) -> Option<ShadowCopies> {
        let text = |at| setup.read_ref(at).non_null().map(ObjRef::text);
        let wanted = text(offset_of!(AppDomainSetupObject, shadow_copy_files))?;
        if !wanted.get(..4)?.eq_ignore_ascii_case("true") {
            return None;
        }
        let cache = text(offset_of!(AppDomainSetupObject, cache_path));
        let application = text(offset_of!(AppDomainSetupObject, application_name));
        Some(ShadowCopies {
            place: cache.map(|c| c.replace('\\', "/")).zip(application),
            directories: text(offset_of!(AppDomainSetupObject, shadow_copy_directories)),
            number,
        })
    }
    /// The directory of all copies.
    fn base(&self) -> PathBuf {
        match &self.place {
            Some((cache, application)) => Path::new(cache).join(application),
            None => own_directory(),
        }
        .join("assembly/shadow")
    }
    /// Does it lie among the copies?
    pub fn has(&self, path: &Path) -> bool {
        path.starts_with(self.base())
    }
    /// Is the file, whose path is absolute, to be copied? A copy is not.
    pub fn applies(&self, file: &Path) -> bool {
        let Some(directory) = file.parent() else {
            return false;
        };
        let is_listed = |all: &String| all.split(':').any(|d| Path::new(d) == directory);
        !self.has(directory) && self.directories.as_ref().is_none_or(is_listed)
    }
    /// Where the copy of a file lies.
    fn copy_of(&self, file: &Path) -> PathBuf {
        let (name, directory) = (file.file_name(), file.parent());
        let name_hash = hash(name.unwrap_or_default().as_encoded_bytes());
        let directory_hash = directory.map_or(0, |d| hash(d.as_os_str().as_encoded_bytes()));
        let both = name_hash ^ directory_hash;
        let number = self.number;
        self.base()
            .join(format!("{name_hash:08x}"))
            .join(format!("{both:08x}_{directory_hash:08x}_{number:08x}"))
            .join(name.unwrap_or_default())
    }
    /// A copy of the file, whose path is absolute, with what belongs to it: one that is there, or a new one.
    ///
    /// # Errors
    /// The file cannot be read, or the copies not be written.
    pub fn copy(&self, file: &Path) -> Result<PathBuf> {
        let copy = self.copy_of(file);
        let there = fs::metadata(file)?;
        let is_same = |c: &fs::Metadata| c.size() == there.size() && c.mtime() == there.mtime();
        if fs::metadata(&copy).is_ok_and(|c| is_same(&c)) {
            return Ok(copy);
        }
        if self.place.is_none() {
            make_own_directory()?;
        }
        let directory = copy.parent().expect("it has been joined");
        fs::create_dir_all(directory)?;
        for (extension, replaces) in [(".mdb", false), (".pdb", true), (".config", false)] {
            let from = sibling(file, extension, replaces);
            if from.is_file() {
                place(&from, &sibling(&copy, extension, replaces), None)?;
            }
        }
        let info = directory.join("__AssemblyInfo__.ini");
        if !info.is_file() {
            let full = fs::canonicalize(file)?;
            fs::write(info, full.as_os_str().as_encoded_bytes())?;
        }
        let times = FileTimes::new()
            .set_accessed(there.accessed()?)
            .set_modified(there.modified()?);
        place(file, &copy, Some(times))?;
        Ok(copy)
    }
}

/// Copies a file to where it is to be, which it replaces, and which can be replaced later.
fn place(from: &Path, to: &Path, times: Option<FileTimes>) -> Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(format!(".{}", std::process::id()));
    let part = PathBuf::from(part);
    let made = (|| {
        fs::copy(from, &part)?;
        let mut rights = fs::metadata(&part)?.permissions();
        rights.set_mode(rights.mode() | 0o200);
        fs::set_permissions(&part, rights)?;
        if let Some(times) = times {
            File::options().write(true).open(&part)?.set_times(times)?;
        }
        fs::rename(&part, to)
    })();
    if made.is_err() {
        let _ = fs::remove_file(&part);
    }
    made
}

/// The file beside an assembly's whose name has the extension: after the name, or instead of `.dll` or `.exe`.
fn sibling(file: &Path, extension: &str, replaces: bool) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    if replaces {
        let is_known = file.extension().is_some_and(|e| e == "dll" || e == "exe");
        if is_known {
            name = file.with_extension("").into_os_string();
        }
    }
    name.push(extension);
    PathBuf::from(name)
}

/// Mono's hash of a name.
fn hash(text: &[u8]) -> u32 {
    text.iter().fold(0u32, |h, b| {
        (h.wrapping_mul(31)).wrapping_add(*b as i8 as u32)
    })
}

/// The directory for domains that name none.
fn own_directory() -> PathBuf {
    let user = vervet_os::user::current().map_or_else(|| "somebody".to_owned(), |u| u.0);
    std::env::temp_dir().join(format!("{user}-mono-cachepath"))
}
/// Anybody may have made a directory of that name in the directory for temporary files.
fn make_own_directory() -> Result<()> {
    let directory = own_directory();
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(&directory)?;
    // SAFETY: geteuid only returns a number.
    let is_own = found.is_dir() && found.uid() == unsafe { libc::geteuid() };
    match is_own && found.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::PermissionDenied,
            format!(
                "{}: another user may write to it, or it is not yours; shadow copies need CachePath and ApplicationName",
                directory.display()
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from mono 6.8.
    #[test]
    fn copies_lie_where_mono_puts_them() {
        let copies = ShadowCopies {
            place: Some(("/cache".into(), "name".into())),
            directories: None,
            number: 1,
        };
        assert_eq!(
            copies.copy_of(Path::new("/tmp/dom/sh/app/lib.dll")),
            Path::new("/cache/name/assembly/shadow/09c945fb/831c8b40_8ad5cebb_00000001/lib.dll")
        );
    }
    #[test]
    fn a_copy_is_not_copied_and_only_files_of_the_directories_are() {
        let copies = ShadowCopies {
            place: Some(("/cache".into(), "name".into())),
            directories: Some("/a:/b".into()),
            number: 1,
        };
        assert!(copies.applies(Path::new("/b/lib.dll")));
        assert!(!copies.applies(Path::new("/b/c/lib.dll")));
        let all = ShadowCopies {
            directories: None,
            ..copies
        };
        assert!(all.applies(Path::new("/b/c/lib.dll")));
        assert!(!all.applies(&all.copy_of(Path::new("/b/c/lib.dll"))));
    }
    #[test]
    fn symbol_files_are_named_as_compilers_name_them() {
        let file = Path::new("/a/lib.dll");
        assert_eq!(sibling(file, ".mdb", false), Path::new("/a/lib.dll.mdb"));
        assert_eq!(sibling(file, ".pdb", true), Path::new("/a/lib.pdb"));
    }
}
