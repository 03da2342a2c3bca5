//! Every link, file, function and type that a document names exists.
use vervet_tidy::{documents, root};

#[test]
fn what_documents_name_exists() {
    let root = root();
    let mut wrong = String::new();
    for document in documents::all(&root) {
        for finding in documents::check(&root, &document) {
            wrong.push_str(&format!("  {}: {}\n", finding.place, finding.what));
        }
    }
    assert!(
        wrong.is_empty(),
        "documents name what does not exist (crates/tidy/src/documents.rs says what is checked):\n{wrong}"
    );
}

#[test]
fn what_source_files_cite_exists() {
    let mut wrong = String::new();
    for finding in documents::check_citations(&root()) {
        wrong.push_str(&format!("  {}: {}\n", finding.place, finding.what));
    }
    assert!(
        wrong.is_empty(),
        "source files cite what does not exist:\n{wrong}"
    );
}

/// Every document can be found from README.md by following links.
#[test]
fn every_document_is_linked() {
    let root = root();
    let all = documents::all(&root);
    let texts: String = all.iter().map(|d| d.text.as_str()).collect();
    let lost: Vec<_> = all
        .iter()
        .map(|d| d.path.to_string_lossy().into_owned())
        .filter(|p| p.starts_with("docs/"))
        .filter(|p| {
            let name = p.rsplit('/').next().unwrap_or(p);
            !texts.contains(&format!("{name})")) && !texts.contains(&format!("{name}#"))
        })
        .collect();
    assert!(lost.is_empty(), "no document links to {lost:?}");
}

#[test]
fn every_crate_is_on_the_map() {
    let root = root();
    let map = std::fs::read_to_string(root.join("docs/architecture.md")).expect("the map");
    for entry in std::fs::read_dir(root.join("crates")).expect("the crates") {
        let name = entry.expect("a directory entry").file_name();
        let name = name.to_string_lossy();
        let row = map.lines().any(|l| {
            l.starts_with("| `")
                && l.split(" | ")
                    .next()
                    .unwrap_or("")
                    .contains(&format!("`{name}`"))
        });
        assert!(row, "docs/architecture.md has no row for the crate {name}");
    }
}

/// What the glossary names, the code names.
#[test]
fn names_of_the_glossary_are_in_the_code() {
    let root = root();
    let mut code = String::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("a directory entry").path();
            if path.is_dir() && !path.ends_with("tidy") && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                code.push_str(&std::fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let glossary = std::fs::read_to_string(root.join("docs/glossary.md")).expect("the glossary");
    let kept = glossary.split("\n## ").next().unwrap_or("");
    let gone: Vec<_> = kept
        .lines()
        .flat_map(documents::spans)
        .filter(|name| name.chars().all(is_word))
        .filter(|name| {
            !code.match_indices(name).any(|(at, _)| {
                !code[..at].ends_with(is_word) && !code[at + name.len()..].starts_with(is_word)
            })
        })
        .collect();
    assert!(
        gone.is_empty(),
        "docs/glossary.md has names that the code has not: {gone:?}"
    );
}
