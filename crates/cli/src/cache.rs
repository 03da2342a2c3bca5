//! `vervet cache`: what is kept of compiled code in the user's directory.
use std::io::Write;
use vervet_runtime::code::cache::setting;

/// Shows what is kept, or removes it. `Err` is a sentence for the user.
pub fn command(clear: bool) -> Result<(), String> {
    let (path, _) = setting::directory().map_err(|why| format!("There is no cache: {why}."))?;
    let mut out = std::io::stdout();
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    if !path.is_dir() {
        let _ = writeln!(out, "{} is empty.", path.display());
        return Ok(());
    }
    if clear {
        let (count, bytes) = vervet_codecache::shelf::clear(&path).map_err(failed)?;
        let _ = writeln!(out, "{count} files, {} KiB, are removed.", bytes / 1024);
        return Ok(());
    }
    let mut files = vervet_codecache::shelf::list(&path).map_err(failed)?;
    files.sort();
    let bytes: u64 = files.iter().map(|f| f.len).sum();
    let _ = writeln!(
        out,
        "{}: {} files, {} KiB",
        path.display(),
        files.len(),
        bytes / 1024
    );
    for f in files {
        // The reader of a pipe may be gone; there is nobody to tell.
        let _ = writeln!(
            out,
            "{:>9} KiB  {:>3} days  {}/{}",
            f.len / 1024,
            f.age / 86400,
            f.build.to_string_lossy(),
            f.name.to_string_lossy()
        );
    }
    Ok(())
}
