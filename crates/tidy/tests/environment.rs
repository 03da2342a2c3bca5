//! The environment variables that the source reads are those that `docs/options.md` and `docs/debugging.md` explain.
use std::collections::BTreeSet;
use std::path::Path;
use vervet_tidy::root;

/// Names that begin with `prefix` in `text`, where `before` precedes them.
fn names(text: &str, before: &str, prefix: &str, found: &mut BTreeSet<String>) {
    let wanted = format!("{before}{prefix}");
    for (at, _) in text.match_indices(&wanted) {
        let name: String = text[at + before.len()..]
            .chars()
            .take_while(|c| c.is_ascii_uppercase() || *c == '_')
            .collect();
        if name.len() > prefix.len() {
            found.insert(name);
        }
    }
}

fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            // The variables that a program can set for the fuzzer's children are read elsewhere or nowhere.
            let own =
                path.ends_with("tests/environment.rs") || path.ends_with("targets/processes.rs");
            if !own {
                names(&text, "\"", "VERVET_", found);
                names(&text, "\"", "MONO_", found);
            }
        }
    }
}

#[test]
fn every_variable_is_explained() {
    let root = root();
    let mut read = BTreeSet::new();
    sources(&root.join("crates"), &mut read);
    let mut explained = BTreeSet::new();
    for document in ["docs/options.md", "docs/debugging.md"] {
        let text = std::fs::read_to_string(root.join(document)).expect(document);
        for row in text.lines().filter(|l| l.starts_with("| `")) {
            names(row, "`", "VERVET_", &mut explained);
            names(row, "`", "MONO_", &mut explained);
        }
    }
    let missing: Vec<_> = read.difference(&explained).collect();
    let stale: Vec<_> = explained.difference(&read).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "not explained in docs/options.md or docs/debugging.md: {missing:?}; explained there and read nowhere: {stale:?}"
    );
}
