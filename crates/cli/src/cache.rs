//! `vervet cache`: what is kept of compiled code, in the user's directory and in the system's.
use std::io::Write;
use vervet_codecache::shelf;
use vervet_runtime::code::cache::setting::{self, Directory, Target};

/// Shows what is kept, or removes what is kept for the user or for everybody. `Err` is a sentence for the user.
pub fn command(clear: Option<Target>) -> Result<(), String> {
    let user = setting::user_directory();
    match clear {
        None => {}
        Some(Target::User) => {
            return remove(&user.map_err(|why| format!("There is no cache: {why}."))?);
        }
        Some(Target::System) => {
            setting::may_write_for_all().map_err(|why| format!("vervet cache: {why}"))?;
            return remove(&setting::system_directory());
        }
    }
    let shown = match &user {
        Ok(directory) => show(directory),
        Err(why) => Err(format!("There is no cache of the user: {why}.")),
    };
    let system = setting::system_directory();
    let of_system = match system.path.is_dir() {
        true => show(&system),
        false => Ok(()),
    };
    shown.and(of_system)
}

fn failed(directory: &Directory, error: &std::io::Error) -> String {
    format!("{}: {error}", directory.path.display())
}

// In what follows the reader of a pipe may be gone; there is nobody to tell.

fn remove(directory: &Directory) -> Result<(), String> {
    let mut out = std::io::stdout();
    if !directory.path.is_dir() {
        let _ = writeln!(out, "{} is empty.", directory.path.display());
        return Ok(());
    }
    let (count, bytes) =
        shelf::clear(&directory.path, directory.owner).map_err(|e| failed(directory, &e))?;
    let _ = writeln!(out, "{count} files, {} KiB, are removed.", bytes / 1024);
    Ok(())
}

fn show(directory: &Directory) -> Result<(), String> {
    let mut out = std::io::stdout();
    if !directory.path.is_dir() {
        let _ = writeln!(out, "{} is empty.", directory.path.display());
        return Ok(());
    }
    let mut files =
        shelf::list(&directory.path, directory.owner).map_err(|e| failed(directory, &e))?;
    files.sort();
    let bytes: u64 = files.iter().map(|f| f.len).sum();
    let _ = writeln!(
        out,
        "{}: {} files, {} KiB",
        directory.path.display(),
        files.len(),
        bytes / 1024
    );
    for f in files {
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
