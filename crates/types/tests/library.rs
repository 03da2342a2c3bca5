//! Walks whole assemblies of the installed class library through every level of the type system.
mod common;
use common::World;
use vervet_metadata::{Instructions, Operand, Table};
use vervet_types::*;

/// What went wrong, counted and with the first few texts.
#[derive(Default)]
struct Problems(Vec<String>);
impl Problems {
    fn note<T>(&mut self, what: impl Fn() -> String, result: R<T>) -> Option<T> {
        match result {
            Ok(t) => Some(t),
            Err(e) => {
                self.0.push(format!("{}: {e}", what()));
                None
            }
        }
    }
    fn check(self, allowed: &[&str]) {
        let bad: Vec<_> = self
            .0
            .iter()
            .filter(|p| !allowed.iter().any(|a| p.contains(a)))
            .collect();
        assert!(
            bad.is_empty(),
            "{} problems:\n{}",
            bad.len(),
            bad.iter()
                .take(40)
                .map(|s| s.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        );
    }
}

const ASSEMBLIES: &[&str] = &[
    "mscorlib",
    "System",
    "System.Core",
    "System.Xml",
    "System.Configuration",
    "System.Numerics",
    "System.Data",
    "System.Runtime.Serialization",
    "Mono.Security",
    "System.Xml.Linq",
    "mcs",
    "Microsoft.CSharp",
    "System.Drawing",
    "Mono.Cecil",
    "System.ComponentModel.Composition",
];

fn walk_class(class: ClassRef, p: &mut Problems) {
    let at = |what: &'static str| move || format!("{what} of {class}");
    p.note(at("parent"), class.parent());
    p.note(at("supers"), class.supers());
    p.note(at("interfaces"), class.interfaces());
    p.note(at("declaring type"), class.declaring_type());
    p.note(at("nested types"), class.nested_types());
    p.note(at("properties"), class.properties());
    p.note(at("events"), class.events());
    p.note(at("underlying"), class.enum_underlying());
    p.note(at("finalizer"), class.finalizer());
    for param in p.note(at("params"), class.params()).unwrap_or_default() {
        p.note(at("constraints"), param.param_constraints());
        p.note(at("parameter's parent"), param.parent());
    }
    for f in p.note(at("fields"), class.fields()).unwrap_or_default() {
        p.note(|| format!("type of field {}", f.full_name()), f.ty());
        let _ = (f.is_volatile(), f.block_kind());
        if f.has_rva() {
            p.note(|| format!("data of field {}", f.full_name()), f.rva_data());
        }
    }
    if !class.is_open
        && let Some(l) = p.note(at("layout"), class.layout())
    {
        assert!(
            l.ref_map.is_sorted() && l.ref_map.last().is_none_or(|w| w * 8 + 8 <= l.size),
            "{class}: {l:?}"
        );
        for f in class
            .fields()
            .unwrap_or_default()
            .iter()
            .filter(|f| !f.is_literal())
        {
            p.note(|| format!("offset of {}", f.full_name()), f.offset());
        }
    }
    for m in p.note(at("methods"), class.methods()).unwrap_or_default() {
        p.note(|| format!("sig of {}", m.full_name()), m.sig());
        p.note(|| format!("open sig of {}", m.full_name()), m.open_sig());
        p.note(|| format!("slot of {}", m.full_name()), m.slot());
        p.note(|| format!("params of {}", m.full_name()), m.param_names());
        p.note(|| format!("import of {}", m.full_name()), m.dll_import());
        p.note(
            || format!("generic params of {}", m.full_name()),
            m.generic_params(),
        );
    }
    p.note(at("vtable"), class.vtable());
    if class.is_interface() || class.is_abstract() {
        return;
    }
    for i in class.interfaces().unwrap_or_default() {
        for m in i
            .methods()
            .unwrap_or_default()
            .iter()
            .filter(|m| m.is_virtual() && !m.is_static())
        {
            let found = p.note(|| format!("{m} on {class}"), class.find_interface_impl(m));
            if let Some(None) = found {
                p.0.push(format!("{class} has no implementation of {m}"));
            }
            if let Some(Some(found)) = found {
                assert!(
                    found.param_count == m.param_count,
                    "{class}: {m} is {found}"
                );
            }
        }
    }
}

#[test]
fn every_type_of_the_library_loads() {
    let Some(world) = World::new() else { return };
    let mut p = Problems::default();
    for name in ASSEMBLIES {
        for class in world.load(name).types().expect("type defs") {
            walk_class(class, &mut p);
        }
    }
    println!(
        "{} classes, {} methods",
        world.u.class_count(),
        world.u.method_count()
    );
    p.check(&[]);
}

fn walk_bodies(module: ModuleRef, p: &mut Problems) -> usize {
    let mut count = 0;
    for rid in 1..=module.image.row_count(Table::MethodDef) {
        let m = module.method_def(rid).expect("a method");
        if !m.has_body() {
            continue;
        }
        let Some(body) = p.note(|| format!("body of {m}"), m.body()) else {
            continue;
        };
        let scope = m.scope();
        p.note(|| format!("locals of {m}"), scope.locals(body.local_sig));
        for clause in &body.clauses {
            if let vervet_metadata::EhKind::Catch(token) = clause.kind {
                p.note(|| format!("catch of {m}"), scope.type_(token));
            }
        }
        for instr in Instructions::new(body.code) {
            let instr = instr.expect("an instruction");
            let at = || format!("{m} IL_{:04x}", instr.offset);
            if let Operand::Token(token) = instr.operand {
                count += 1;
                match token.table() {
                    None => drop(p.note(at, scope.user_string(token))),
                    Some(Table::StandAloneSig) => drop(p.note(at, scope.stand_alone_sig(token))),
                    _ => {
                        p.note(at, scope.token(token));
                        p.note(at, scope.call_site_sig(token));
                    }
                }
            }
        }
    }
    count
}

#[test]
fn every_token_in_every_body_resolves() {
    let Some(world) = World::new() else { return };
    let mut p = Problems::default();
    let start = std::time::Instant::now();
    let mut count = 0;
    for name in ["mscorlib", "System", "System.Core", "System.Xml", "mcs"] {
        count += walk_bodies(world.load(name), &mut p);
    }
    println!("{count} tokens in {:?}", start.elapsed());
    p.check(&[]);
}
