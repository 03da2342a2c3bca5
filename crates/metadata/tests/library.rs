//! Reads every assembly of an installed class library completely.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use vervet_metadata::walk::{Budget, Stats, walk};
use vervet_metadata::{Image, SymbolFile, Table, Token};

const LIBRARY: &str = "/usr/lib/mono";

fn assemblies(dir: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            assemblies(&path, into);
        } else if path.extension().is_some_and(|e| e == "dll" || e == "exe")
            && let Ok(real) = path.canonicalize()
        {
            into.push(real);
        }
    }
}

fn all() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    assemblies(Path::new(LIBRARY), &mut paths);
    paths.sort();
    paths.dedup();
    if paths.is_empty() {
        println!("skipped: no assemblies under {LIBRARY}");
    }
    paths
}

fn add(total: &mut Stats, s: &Stats) {
    total.rows += s.rows;
    total.strings += s.strings;
    total.signatures += s.signatures;
    total.bodies += s.bodies;
    total.instructions += s.instructions;
    total.clauses += s.clauses;
    total.user_strings += s.user_strings;
    total.constants += s.constants;
    total.resources += s.resources;
    total.attributes += s.attributes;
    total.attributes_decoded += s.attributes_decoded;
}

#[test]
fn every_assembly_reads_without_an_error() {
    let (mut total, mut files, mut errors) = (Stats::default(), 0, Vec::new());
    let (mut parsing, mut walking) = (Duration::ZERO, Duration::ZERO);
    for path in all() {
        let data = std::fs::read(&path).expect("the file can be read");
        let start = Instant::now();
        let image = match Image::parse(&data) {
            Ok(image) => image,
            Err(e) => {
                errors.push(format!("{}: {e}", path.display()));
                continue;
            }
        };
        parsing += start.elapsed();
        let start = Instant::now();
        let stats = walk(&image, Budget::ALL, &mut |table, rid, e| {
            errors.push(format!("{}: {table:?} {rid}: {e}", path.display()));
        });
        walking += start.elapsed();
        assert!(!image.metadata_version().is_empty());
        add(&mut total, &stats);
        files += 1;
    }
    println!("{files} files, headers {parsing:?}, everything {walking:?}: {total:?}");
    for e in errors.iter().take(50) {
        println!("{e}");
    }
    assert!(errors.is_empty(), "{} errors", errors.len());
    // Enumerations declared elsewhere are guessed to be 32-bit: nearly all are.
    assert!(total.attributes_decoded * 1000 >= total.attributes * 995);
}

#[test]
fn owners_are_the_inverse_of_runs() {
    for path in all() {
        let data = std::fs::read(&path).expect("the file can be read");
        let Ok(image) = Image::parse(&data) else {
            continue;
        };
        let (mut fields, mut methods) = (0, 0);
        for t in 1..=image.row_count(Table::TypeDef) {
            for f in image.type_fields(t) {
                assert_eq!(image.field_owner(f), Some(t));
                fields += 1;
            }
            for m in image.type_methods(t) {
                assert_eq!(image.method_owner(m), Some(t));
                methods += 1;
                for p in image.method_params(m) {
                    assert_eq!(image.param_owner(p), Some(m));
                }
            }
            for p in image.type_properties(t) {
                assert_eq!(image.property_owner(p), Some(t));
            }
            for e in image.type_events(t) {
                assert_eq!(image.event_owner(e), Some(t));
            }
            for n in image.nested_classes_in(t) {
                assert_eq!(image.nested_class_of(n), Some(t));
            }
        }
        assert_eq!(fields, image.row_count(Table::Field), "{}", path.display());
        assert_eq!(
            methods,
            image.row_count(Table::MethodDef),
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_row_is_found_from_its_owner() {
    for path in all().iter().filter(|p| p.ends_with("mscorlib.dll")) {
        let data = std::fs::read(path).expect("the file can be read");
        let image = Image::parse(&data).expect("the core library parses");
        for rid in 1..=image.row_count(Table::CustomAttribute) {
            let parent = image.custom_attribute(rid).unwrap().parent;
            assert!(image.custom_attributes_of(parent).any(|r| r == rid));
        }
        for rid in 1..=image.row_count(Table::GenericParam) {
            let owner = image.generic_param(rid).unwrap().owner;
            assert!(image.generic_params_of(owner).any(|r| r == rid));
        }
        for rid in 1..=image.row_count(Table::MethodSemantics) {
            let association = image.method_semantics(rid).unwrap().association;
            assert!(image.method_semantics_of(association).any(|r| r == rid));
        }
        for rid in 1..=image.row_count(Table::Constant) {
            assert_eq!(
                image.constant_of(image.constant(rid).unwrap().parent),
                Some(rid)
            );
        }
        for rid in 1..=image.row_count(Table::InterfaceImpl) {
            let class = image.interface_impl(rid).unwrap().class;
            assert!(image.interface_impls_of(class).any(|r| r == rid));
        }
    }
}

#[test]
fn symbol_files_belong_to_their_images_and_name_lines() {
    let (mut files, mut found) = (0, 0);
    for path in all() {
        let mut symbols = path.clone().into_os_string();
        symbols.push(".mdb");
        let Ok(symbols) = std::fs::read(symbols) else {
            continue;
        };
        let data = std::fs::read(&path).expect("the file can be read");
        let image = Image::parse(&data).expect("the image parses");
        let symbols = SymbolFile::parse(&symbols).expect("the symbols parse");
        assert_eq!(Ok(symbols.guid()), image.mvid(), "{}", path.display());
        for rid in 1..=image.row_count(Table::MethodDef) {
            if let Some(line) = symbols.lookup(Token::new(Table::MethodDef, rid), 0) {
                assert!(line.file.ends_with(".cs"), "{line:?}");
                assert!((1..100_000).contains(&line.line), "{line:?}");
                found += 1;
            }
        }
        files += 1;
    }
    println!("{files} symbol files, {found} methods");
    assert!(files == 0 || found > 0);
}
