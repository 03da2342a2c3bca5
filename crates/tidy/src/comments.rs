//! How much of a crate's source is comment.
//!
//! Invariant: only files of `src` count, those of tests apart; a line counts as comment if nothing but a comment stands on it.
use std::path::Path;

/// Lines of comment and lines that are not blank, of all source files below `folder`.
pub fn share(folder: &Path) -> (usize, usize) {
    let mut all = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("a directory entry").path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (comments, lines) = if path.is_dir() {
            share(&path)
        } else if path.extension().is_some_and(|e| e == "rs") && !stem.ends_with("tests") {
            count(&std::fs::read_to_string(&path).expect("a source file"))
        } else {
            continue;
        };
        all = (all.0 + comments, all.1 + lines);
    }
    all
}

fn count(text: &str) -> (usize, usize) {
    let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.fold((0, 0), |(comments, lines), line| {
        (comments + usize::from(line.starts_with("//")), lines + 1)
    })
}
