//! Each internal call that the sources declare is registered, exactly once, and lies in the folder of its namespace.
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use vervet_runtime::code::icall::AbiTy;

/// The Rust sources below a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The internal calls that the sources declare, by full name, with the module of the declaration (`system/io/path`).
///
/// A declaration is a line of the form `"Namespace.Class::Method" fn name(`, perhaps with `[reentrant]` before `fn`.
fn declared() -> BTreeMap<String, Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let module = file.strip_prefix(&root).expect("below the root");
        let module = module.with_extension("").display().to_string();
        let text = std::fs::read_to_string(&file).expect("readable");
        for line in text.lines().map(str::trim_start) {
            if let Some((name, rest)) = line.strip_prefix('"').and_then(|l| l.split_once('"'))
                && (rest.starts_with(" fn ") || rest.starts_with(" [reentrant] fn "))
            {
                found
                    .entry(name.to_string())
                    .or_default()
                    .push(module.clone());
            }
        }
    }
    found
}

#[test]
fn what_is_declared_is_registered_and_the_other_way_round() {
    let registered: BTreeSet<&str> = vervet_icalls::all().map(|row| row.name).collect();
    let declared = declared();
    let declared: BTreeSet<&str> = declared.keys().map(String::as_str).collect();
    assert!(declared.len() > 600, "the declarations are not recognized");
    assert_eq!(declared, registered);
}

/// The thunk of reentrant calls keeps the integer arguments that come in registers, and returns one word.
#[test]
fn reentrant_calls_have_few_integer_arguments() {
    let is_float = |ty: &AbiTy| matches!(ty, AbiTy::F32 | AbiTy::F64);
    let mut count = 0;
    for row in vervet_icalls::all().filter(|row| row.reentrant) {
        assert!(row.params.len() <= 6, "{}", row.name);
        assert!(!row.params.iter().any(is_float), "{}", row.name);
        assert!(!is_float(&row.ret), "{}", row.name);
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn nothing_is_declared_or_registered_twice() {
    let twice: Vec<_> = declared()
        .into_iter()
        .filter(|(_, at)| at.len() > 1)
        .collect();
    assert!(twice.is_empty(), "declared twice: {twice:#?}");
    let mut seen = BTreeSet::new();
    for row in vervet_icalls::all() {
        assert!(seen.insert(row.name), "{} is registered twice", row.name);
    }
}

/// `System.Runtime.InteropServices` as a folder: `system/runtime/interop_services`. A run of capitals is one word.
fn folder(namespace: &str) -> String {
    let chars: Vec<char> = namespace.chars().collect();
    let mut out = String::new();
    for (i, c) in chars.iter().enumerate() {
        let after = i.checked_sub(1).map(|b| chars[b]);
        let starts_word = c.is_uppercase()
            && after.is_some_and(|a| {
                a.is_lowercase()
                    || a.is_uppercase() && chars.get(i + 1).is_some_and(|n| n.is_lowercase())
            });
        match c {
            '.' => out.push('/'),
            c if starts_word => {
                out.push('_');
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c.to_ascii_lowercase()),
        }
    }
    out
}

#[test]
fn each_declaration_lies_in_the_folder_or_file_of_its_namespace() {
    let declared = declared();
    let folder_of = |name: &str| {
        let class = name.split("::").next().expect("a class");
        let outer = class.split('/').next().expect("an outer class");
        folder(
            outer
                .rsplit_once('.')
                .map_or("", |(namespace, _)| namespace),
        )
    };
    let folders: BTreeSet<String> = declared.keys().map(|name| folder_of(name)).collect();
    let mut wrong = Vec::new();
    for (name, modules) in &declared {
        for module in modules {
            // The longest folder of a namespace that the module lies in must be that of its own namespace.
            let inside =
                |f: &&String| f.is_empty() || module == *f || module.starts_with(&format!("{f}/"));
            let nearest = folders.iter().filter(inside).max_by_key(|f| f.len());
            if nearest != Some(&folder_of(name)) {
                wrong.push(format!("{name} is declared in {module}.rs"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn namespaces_become_folders() {
    assert_eq!(folder("System.IO"), "system/io");
    assert_eq!(
        folder("System.Runtime.InteropServices"),
        "system/runtime/interop_services"
    );
    assert_eq!(
        folder("System.IO.MemoryMappedFiles"),
        "system/io/memory_mapped_files"
    );
}
