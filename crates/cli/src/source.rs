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
fn fail(text: impl Into<String>) -> Failure {
    Failure { text: text.into(), code: 1 }
}

/// Compiles the files, or finds the program in the cache.
pub fn compile(files: &[PathBuf], references: &[String]) -> Result<PathBuf, Failure> {
    let mcs = Path::new("/usr/lib/mono/4.5/mcs.exe");
    if !mcs.is_file() {
        return Err(fail("The C# compiler is not installed: install the Debian package mono-mcs (apt-get install mono-mcs)."));
    }
    let mut hash = rustc_hash::FxHasher::default();
    hash.write(env!("CARGO_PKG_VERSION").as_bytes());
    for r in references {
        hash.write(r.as_bytes());
        if let Some(path) = r.split_once(':').map(|p| p.1)
            && let Ok(data) = std::fs::read(path)
        {
            hash.write(&data);
        }
    }
    for f in files {
        let data = std::fs::read(f).map_err(|e| fail(format!("Cannot open source file '{}': {e}", f.display())))?;
        hash.write(f.as_os_str().as_encoded_bytes());
        hash.write(&data);
    }
    let stem = files.first().and_then(|f| f.file_stem()).map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = cache_dir().join(format!("{:016x}", hash.finish()));
    let exe = dir.join(format!("{stem}.exe"));
    if exe.is_file() {
        return Ok(exe);
    }
    std::fs::create_dir_all(&dir).map_err(|e| fail(format!("Cannot create '{}': {e}", dir.display())))?;
    let fresh = dir.join(format!("{stem}.{}.exe", std::process::id()));
    let me = std::env::current_exe().map_err(|e| fail(e.to_string()))?;
    let status = Command::new(me)
        .arg(mcs)
        .arg(format!("-out:{}", fresh.display()))
        .args(references)
        .args(files)
        .status()
        .map_err(|e| fail(format!("Cannot run the compiler: {e}")))?;
    if !status.success() {
        let _ = std::fs::remove_file(&fresh);
        return Err(Failure { text: "The program was not compiled.".into(), code: status.code().unwrap_or(1) });
    }
    std::fs::rename(&fresh, &exe).map_err(|e| fail(format!("Cannot write '{}': {e}", exe.display())))?;
    Ok(exe)
}

fn cache_dir() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("vervet")
}
