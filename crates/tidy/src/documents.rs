//! What the project's documents name: links, files, and items of source files.
//!
//! # The checked form
//! Documents name things of the project in links and in code spans (text between single backticks). A code span is checked if it has
//! one of these forms; every other span is free text.
//!
//! | form | example | what must exist |
//! |---|---|---|
//! | a path below the root | `tests/run.sh`, `crates/{heap,jit}`, `tests/managed/**.cs` | the file or folder; of a pattern, the folder before it |
//! | a source file of a crate | `heap/config.rs` | `crates/heap/src/config.rs`, or `crates/heap/config.rs` |
//! | an item of a source file | `heap/config.rs::Config::default` | the file, and in it a definition of each name after it |
//! | a method of the class library | `System.Threading.Monitor::Enter` | an internal call of that name, declared or known to be missing |
//!
//! # Invariants
//! * A span that ends in `.rs` names its crate: a bare file name is an error, because several crates have files of one name.
//! * A part of a path in capital letters (`X`, `NAME`) stands for any name.
use std::path::{Path, PathBuf};

/// A document, and its path below the root.
pub struct Document {
    /// The path below the root.
    pub path: PathBuf,
    /// The text.
    pub text: String,
}

/// One thing that a document says and that does not hold.
pub struct Finding {
    /// The document and the line.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// Folders at the root that paths in documents begin with.
const FOLDERS: &[&str] = &[
    "crates/", "tests/", "benches/", "docs/", "managed/", "samples/", ".ci/", "fuzz/",
];

/// All documents: those at the root, and every Markdown file below `docs`, `samples`, `tests`, `benches` and `crates`.
pub fn all(root: &Path) -> Vec<Document> {
    let mut found = Vec::new();
    for name in ["README.md", "CONTRIBUTING.md"] {
        found.push(PathBuf::from(name));
    }
    for folder in ["docs", "samples", "tests", "benches", "crates"] {
        markdown(root, Path::new(folder), &mut found);
    }
    found.sort();
    let document = |path: PathBuf| {
        let text = std::fs::read_to_string(root.join(&path))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Document { path, text }
    };
    found.into_iter().map(document).collect()
}

fn markdown(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(root.join(folder))
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let entry = entry.expect("a directory entry");
        let path = folder.join(entry.file_name());
        let name = entry.file_name();
        if entry.file_type().expect("a file type").is_dir() {
            if name != "target" && name != "corpus" {
                markdown(root, &path, found);
            }
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

/// Everything that `document` names and that does not exist.
pub fn check(root: &Path, document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fenced = false;
    for (number, line) in document.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let mut wrong = |what: String| {
            findings.push(Finding {
                place: format!("{}:{}", document.path.display(), number + 1),
                what,
            });
        };
        for link in links(line) {
            if let Some(what) = link_error(root, document, &link) {
                wrong(what);
            }
        }
        for span in spans(line) {
            if let Some(what) = span_error(root, span) {
                wrong(what);
            }
        }
    }
    findings
}

/// Everything in the documents that source files cite (`docs/x.md` or `docs/x.md#heading`) and that does not exist.
pub fn check_citations(root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut folders = vec![
        root.join("crates"),
        root.join("tests"),
        root.join("benches"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if name != "target" && name != "corpus" {
                    folders.push(path);
                }
                continue;
            }
            let is_source = path
                .extension()
                .is_some_and(|e| ["rs", "sh", "cs", "toml"].iter().any(|s| e == *s));
            // This crate's own examples are no citations.
            if !is_source || path.starts_with(root.join("crates/tidy")) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for (number, line) in text.lines().enumerate() {
                for cited in citations(line) {
                    let at_root = Document {
                        path: PathBuf::from("README.md"),
                        text: String::new(),
                    };
                    if let Some(what) = link_error(root, &at_root, cited) {
                        let below = path.strip_prefix(root).unwrap_or(&path);
                        findings.push(Finding {
                            place: format!("{}:{}", below.display(), number + 1),
                            what,
                        });
                    }
                }
            }
        }
    }
    findings
}

/// `docs/x.md` and `docs/x.md#heading` in a line.
fn citations(line: &str) -> Vec<&str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/-_.#".contains(c);
    line.match_indices("docs/")
        .filter(|(at, _)| !line[..*at].ends_with(is_path))
        .map(|(at, _)| {
            let rest = &line[at..];
            let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
            rest[..end].trim_end_matches('.')
        })
        .filter(|cited| cited.contains(".md"))
        .collect()
}

/// The texts between single backticks.
pub fn spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

fn links(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let outside: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let mut rest = outside.as_str();
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        if let Some(end) = rest.find(')') {
            found.push(rest[..end].to_owned());
        }
    }
    found
}

/// The anchor that readers of Markdown make of a heading: lower case, spaces as hyphens, no other signs.
fn anchor(heading: &str) -> String {
    let kept = heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.replace(' ', "-")
}

fn link_error(root: &Path, document: &Document, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = match path.is_empty() {
        true => root.join(&document.path),
        false => root
            .join(document.path.parent().unwrap_or(Path::new("")))
            .join(path),
    };
    if !target.exists() {
        return Some(format!("the link `{link}` leads nowhere"));
    }
    if fragment.is_empty() {
        return None;
    }
    let text = std::fs::read_to_string(&target).unwrap_or_default();
    let mut headings = text.lines().filter(|l| l.starts_with('#')).map(anchor);
    (!headings.any(|h| h == fragment))
        .then(|| format!("the link `{link}` names a heading that is not there"))
}

fn span_error(root: &Path, span: &str) -> Option<String> {
    if span.contains([' ', '<', '>', '|', '"', '$', '=', '@']) {
        return None;
    }
    if is_managed(span) {
        return (!is_internal_call(root, span)).then(|| {
            format!("`{span}` is no internal call that is declared or listed as missing")
        });
    }
    let (path, items) = match span.split_once(".rs::") {
        Some((path, items)) => (format!("{path}.rs"), items),
        None => (span.to_owned(), ""),
    };
    let rooted = FOLDERS.iter().any(|f| path.starts_with(f));
    if !rooted && !path.ends_with(".rs") {
        return None;
    }
    if !rooted && !path.contains('/') {
        return Some(format!(
            "`{span}` does not say of which crate it is (crate/path.rs)"
        ));
    }
    for path in braces(&path) {
        let Some(file) = find(root, &path, rooted) else {
            let elsewhere = elsewhere(root, &path, items);
            return Some(format!("`{path}` does not exist{elsewhere}"));
        };
        if items.is_empty() {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for item in items.trim_end_matches("()").split("::") {
            if !defines(&text, item) {
                let elsewhere = elsewhere(root, &path, items);
                return Some(format!("`{path}` has no definition of `{item}`{elsewhere}"));
            }
        }
    }
    None
}

/// Has the text the form `Namespace.Type::Method`?
fn is_managed(span: &str) -> bool {
    let Some((class, method)) = span.split_once("::") else {
        return false;
    };
    let is_word = |c: char| c.is_alphanumeric() || "_.+/`".contains(c);
    class.starts_with(|c: char| c.is_ascii_uppercase())
        && class.contains(['.', '/'])
        && class.chars().all(is_word)
        && method
            .chars()
            .all(|c| c.is_alphanumeric() || "_.".contains(c))
}

/// Does a source file of `icalls`, or its list of missing ones, have the name?
fn is_internal_call(root: &Path, name: &str) -> bool {
    let mut folders = vec![
        root.join("crates/icalls/src"),
        root.join("crates/icalls/tests"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let ends = |c: char| !(c.is_alphanumeric() || c == '_');
            if text
                .match_indices(name)
                .any(|(at, _)| text[at + name.len()..].starts_with(ends))
            {
                return true;
            }
        }
    }
    false
}

/// Where in the crate that `path` names the items are defined, or a file of that name is: where they may have moved.
fn elsewhere(root: &Path, path: &str, items: &str) -> String {
    let path = path.strip_prefix("crates/").unwrap_or(path);
    let room = path.split('/').next().unwrap_or("");
    let base = Path::new(path).file_name();
    let source = root.join("crates").join(room).join("src");
    let mut found = Vec::new();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_it = match items {
                "" => path.file_name() == base,
                items => {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    items
                        .trim_end_matches("()")
                        .split("::")
                        .all(|item| defines(&text, item))
                }
            };
            if is_it {
                let below = path.strip_prefix(&source).unwrap_or(&path);
                found.push(format!("{room}/{}", below.display()));
            }
        }
    }
    match found.is_empty() {
        true => String::new(),
        false => format!("; perhaps it is in {}", found.join(", ")),
    }
}

/// `a{b,c}d` is `abd` and `acd`.
fn braces(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![path.to_owned()];
    };
    let Some((inside, after)) = rest.split_once('}') else {
        return vec![path.to_owned()];
    };
    inside
        .split(',')
        .flat_map(|part| braces(&format!("{before}{part}{after}")))
        .collect()
}

/// The file that a path names; of a path with a pattern or a placeholder, the folder before it.
fn find(root: &Path, path: &str, rooted: bool) -> Option<PathBuf> {
    let is_open = |part: &str| {
        let stem = part.split('.').next().unwrap_or("");
        part.contains(['*', '?'])
            || !stem.is_empty() && stem.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    let named: PathBuf = path.split('/').take_while(|part| !is_open(part)).collect();
    let candidates = if rooted {
        vec![root.join(named)]
    } else {
        let mut parts = named.components();
        let room = parts.next()?;
        let rest = parts.as_path();
        let room = root.join("crates").join(room);
        vec![room.join("src").join(rest), room.join(rest)]
    };
    candidates.into_iter().find(|c| c.exists())
}

/// Is `name` defined in this source: as an item, a field, a variant, the row of a table, or a label of assembly?
fn defines(source: &str, name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "fn",
        "struct",
        "enum",
        "union",
        "trait",
        "type",
        "const",
        "static",
        "mod",
        "macro_rules!",
    ];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    source.lines().any(|line| {
        let line = line.trim_start();
        if line.starts_with("//") {
            return false;
        }
        line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            if before.ends_with(is_word) || after.starts_with(is_word) {
                return false;
            }
            let last = before.split_whitespace().next_back().unwrap_or("");
            KEYWORDS.contains(&last)
                || last == "mut"
                || line.starts_with("impl")
                || line.starts_with("unsafe impl")
                || (before.is_empty() || last.starts_with("pub"))
                    && after.trim_start().starts_with([':', '(', '{', ',', '='])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn definitions_are_told_from_uses() {
        let source = "pub fn one<T>() {\n    two();\n    let x = three(4);\n}\n    Four { a: u8 },\nimpl Five for Six {\n// fn seven\n";
        for name in ["one", "Four", "Five", "Six"] {
            assert!(defines(source, name), "{name}");
        }
        for name in ["three", "seven", "on", "x"] {
            assert!(!defines(source, name), "{name}");
        }
    }
    #[test]
    fn spans_and_links_of_a_line() {
        let line = "`a` and [b](c.md#d), `[e](f)`";
        assert_eq!(spans(line), ["a", "[e](f)"]);
        assert_eq!(links(line), ["c.md#d"]);
    }
    #[test]
    fn what_does_not_exist_is_found() {
        let root = crate::root();
        for good in [
            "tests/run.sh",
            "crates/{heap,jit}",
            "tests/managed/**.cs",
            "tests/behaviour/cases/X.sh",
            "tidy/documents.rs::defines",
            "Mono.Runtime::DumpStateTotal_internal",
            "free text",
        ] {
            assert_eq!(span_error(&root, good), None, "{good}");
        }
        for bad in [
            "tests/nowhere.sh",
            "crates/{heap,nowhere}",
            "documents.rs",
            "tidy/nowhere.rs",
            "tidy/documents.rs::nowhere",
            "System.Nowhere::Nothing",
        ] {
            assert!(span_error(&root, bad).is_some(), "{bad}");
        }
    }
    #[test]
    fn citations_of_a_line() {
        let line = "// See docs/a.md#b-c, (docs/d/e.md). Not https://docs/x.md or docs/x.";
        assert_eq!(citations(line), ["docs/a.md#b-c", "docs/d/e.md"]);
    }
    #[test]
    fn headings_become_anchors() {
        assert_eq!(
            anchor("## 2.5 Reflection, and more"),
            "25-reflection-and-more"
        );
    }
}
