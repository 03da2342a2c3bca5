//! The committed inputs of a target: the files in `corpus/NAME` of this crate, in order of their names.
//!
//! Invariant: the inputs that mutations start from are these and what [`Corpus::also`] added, and nothing a run found, so
//! that a seed and a number name the same case as long as the files stay the same.

use std::path::{Path, PathBuf};

/// Inputs with their names.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Each input, with the name of its file.
    pub inputs: Vec<(String, Vec<u8>)>,
}

impl Corpus {
    /// Where the inputs of a target are.
    pub fn folder(target: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target)
    }

    /// Reads the inputs of a target.
    pub fn read(target: &str) -> Corpus {
        let mut corpus = Corpus::default();
        let entries = std::fs::read_dir(Corpus::folder(target));
        let mut files: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        files.sort();
        files.iter().for_each(|f| corpus.also(f));
        corpus
    }

    /// Adds a file if it is there.
    pub fn also(&mut self, file: &Path) {
        if let Ok(data) = std::fs::read(file) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            self.inputs.push((name.into_owned(), data));
        }
    }
}
