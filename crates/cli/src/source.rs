//! `vervet run file.cs`: compiles with Debian's mcs.exe, on Vervet itself, and caches by content.
//!
//! # Invariants
//! A cached program is used only if compiler, sources and references are what they were; a half-written one is
//! never seen (it is renamed into place).
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is no program; `code` is the exit code.
pub struct Failure {
    /// For the user.
    pub text: String,
    /// Exit code.
    pub code: i32,
}
/// A failure with exit code 1.
pub fn fail(text: impl Into<String>) -> Failure {
    Failure {
        text: text.into(),
        code: 1,
    }
}

/// The files that a compiler option refers to: `-r:a.dll,b.dll`.
fn referenced(option: &str) -> impl Iterator<Item = &Path> {
    let name = option.trim_start_matches(['-', '/']);
    let files = name
        .strip_prefix("r:")
        .or_else(|| name.strip_prefix("reference:"))
        .unwrap_or("");
    files
        .split([',', ';'])
        .map(Path::new)
        .filter(|p| p.is_file())
}

/// Compiles the files, or finds the program in the cache; with `debug` also its line table. `library` is the directory of a
/// core library to compile against instead of the installed one.
pub fn compile(
    files: &[PathBuf],
    references: &[String],
    debug: bool,
    library: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let mcs = Path::new("/usr/lib/mono/4.5/mcs.exe");
    if !mcs.is_file() {
        return Err(fail(
            "The C# compiler is not installed: install the Debian package mono-mcs (apt-get install mono-mcs).",
        ));
    }
    let mut hash = rustc_hash::FxHasher::default();
    hash.write(env!("CARGO_PKG_VERSION").as_bytes());
    hash.write_u8(u8::from(debug));
    hash_file_stamp(&mut hash, mcs);
    if let Some(library) = library {
        hash.write(library.as_os_str().as_encoded_bytes());
    }
    for r in references {
        hash.write(r.as_bytes());
        for path in referenced(r) {
            hash.write(&std::fs::read(path).unwrap_or_default());
        }
    }
    for f in files {
        let data = std::fs::read(f).map_err(|e| {
            fail(format!(
                "Source file '{}' could not be read: {e}",
                f.display()
            ))
        })?;
        hash.write(f.as_os_str().as_encoded_bytes());
        hash.write(&data);
    }
    let stem = files
        .first()
        .and_then(|f| f.file_stem())
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let dir = cache_dir().join(format!("{:016x}", hash.finish()));
    let exe = dir.join(format!("{stem}.exe"));
    if exe.is_file() {
        return Ok(exe);
    }
    create_private(&dir).map_err(|e| fail(format!("Cannot create '{}': {e}", dir.display())))?;
    // What the program refers to must lie beside it, as it would in its own directory.
    for path in references.iter().flat_map(|r| referenced(r)) {
        if let Some(name) = path.file_name() {
            std::fs::copy(path, dir.join(name))
                .map_err(|e| fail(format!("Cannot copy '{}': {e}", path.display())))?;
        }
    }
    let work = dir.join(std::process::id().to_string());
    std::fs::create_dir_all(&work)
        .map_err(|e| fail(format!("Cannot create '{}': {e}", work.display())))?;
    let fresh = work.join(format!("{stem}.exe"));
    let me = std::env::current_exe().map_err(|e| fail(e.to_string()))?;
    let status = Command::new(me)
        .arg(mcs)
        .arg(format!("-out:{}", fresh.display()))
        .args(debug.then_some("-debug"))
        .args(library.map(|dir| format!("-lib:{}", dir.display())))
        .args(references)
        .args(files)
        .status()
        .map_err(|e| fail(format!("Cannot run the compiler: {e}")))?;
    if !status.success() {
        let _ = std::fs::remove_dir_all(&work);
        return Err(Failure {
            text: "The program was not compiled.".into(),
            code: status.code().unwrap_or(1),
        });
    }
    if debug {
        let lines = |p: &Path| PathBuf::from(format!("{}.mdb", p.display()));
        std::fs::rename(lines(&fresh), lines(&exe))
            .map_err(|e| fail(format!("Cannot write '{}.mdb': {e}", exe.display())))?;
    }
    std::fs::rename(&fresh, &exe)
        .map_err(|e| fail(format!("Cannot write '{}': {e}", exe.display())))?;
    let _ = std::fs::remove_dir_all(&work);
    Ok(exe)
}

/// Adds what says that a file has not changed: its length and the time of its last change.
pub fn hash_file_stamp(hash: &mut impl Hasher, file: &Path) {
    if let Ok(m) = std::fs::metadata(file) {
        hash.write_u64(m.len());
        hash.write_i64(std::os::unix::fs::MetadataExt::mtime(&m));
    }
}

/// Makes a directory, and those above it, for this user alone: what is in the cache is run.
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Where compiled programs and reference assemblies are kept.
pub fn cache_dir() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("vervet")
}
