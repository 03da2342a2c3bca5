//! Every method body of the class library translates: no internal error, nothing invalid, with the CLIF verifier on.
//! What is inlined of some of them is looked at more closely.
//!
//! Generic types and methods are instantiated over `object` and over `int`. Only translation: nothing is linked or
//! run. `VERVET_JIT_TEST=name.dll,...` picks other assemblies, `VERVET_JIT_VERIFY=0` leaves the verifier out (for
//! throughput), `VERVET_JIT_TIER=optimised` the other tier, `VERVET_JIT_METHOD=part` lists one method.
mod common;

use common::{DIRECTORIES, Env, closed, load, methods, universe};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use vervet_jit::blob::Symbol;
use vervet_jit::{CompileError, Compiler, Options, Tier};
use vervet_types::{ClassRef, Known, MethodRef};

#[derive(Default)]
struct Totals {
    methods: u32,
    il: u64,
    code: u64,
    insts: u64,
    time: Duration,
    translate: u64,
    codegen: u64,
    load_errors: u32,
    failures: BTreeMap<String, (u32, String)>,
}

impl Totals {
    fn compile(&mut self, compiler: &Compiler, method: MethodRef, tier: Tier) {
        let start = Instant::now();
        let result = compiler.compile(method, &Env, tier);
        self.time += start.elapsed();
        match result {
            Ok(blob) => {
                self.methods += 1;
                self.il += u64::from(blob.stats.il_bytes);
                self.code += blob.code.len() as u64;
                self.insts += u64::from(blob.stats.clif_insts);
                self.translate += blob.stats.translate_ns;
                self.codegen += blob.stats.codegen_ns;
                if let Some(text) = blob.listing {
                    println!("{text}");
                }
            }
            Err(CompileError::Load(e)) => {
                self.load_errors += 1;
                if std::env::var("VERVET_JIT_LOAD").is_ok() {
                    println!("{method}: {e}");
                }
            }
            Err(CompileError::Invalid {
                method,
                offset,
                reason,
            }) => self.fail("invalid", method, offset, reason),
            Err(CompileError::Internal {
                method,
                offset,
                reason,
            }) => self.fail("internal", method, offset, reason),
        }
    }
    fn fail(&mut self, kind: &str, method: String, offset: u32, reason: String) {
        if method.contains("Unsafe:As<int> (object)") || method.contains("JitHelpers:Unsafe") {
            // Its type argument must be a class: an instantiation that no program makes.
            return;
        }
        let line = reason
            .lines()
            .find(|l| l.contains("Error") || l.contains("error") || l.contains("- inst"))
            .unwrap_or(&reason);
        let key: String = format!(
            "{kind}: {}",
            line.chars()
                .filter(|c| !c.is_ascii_digit())
                .collect::<String>()
        );
        let entry = self.failures.entry(key).or_default();
        entry.0 += 1;
        if entry.1.is_empty() {
            let at = reason.find(line).unwrap_or(0).saturating_sub(300);
            let near: String = reason.chars().skip(at).take(600).collect();
            entry.1 = format!("{method} IL_{offset:04x}: {near}");
        }
    }
}

fn translate_all(names: &[&str]) -> Totals {
    let mut totals = Totals::default();
    let u = universe();
    let part = std::env::var("VERVET_JIT_METHOD").ok();
    let verify = std::env::var("VERVET_JIT_VERIFY").map_or(true, |v| v != "0");
    let tier = if std::env::var("VERVET_JIT_TIER").is_ok_and(|v| v == "optimised") {
        Tier::Optimised
    } else {
        Tier::Quick
    };
    let compiler = Compiler::new(Options {
        verify,
        verbose: part.clone(),
        ..Options::default()
    });
    for name in names {
        let module = load(name.trim_end_matches(".dll")).expect("the assembly");
        for class in module.types().expect("types") {
            for class in closed(u, class) {
                for m in methods(u, class) {
                    if part
                        .as_ref()
                        .is_none_or(|p| m.full_name().contains(p.as_str()))
                    {
                        totals.compile(&compiler, m, tier);
                    }
                }
            }
        }
    }
    totals
}

#[test]
fn every_body_of_the_class_library_translates() {
    if !PathBuf::from(DIRECTORIES[0]).join("mscorlib.dll").exists() {
        eprintln!("the class library is not installed: nothing to test");
        return;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let names = std::env::var("VERVET_JIT_TEST")
        .unwrap_or_else(|_| "mscorlib.dll,System.dll,System.Core.dll".to_owned());
    let t = translate_all(&names.split(',').collect::<Vec<_>>());
    let _ = std::panic::take_hook();
    println!(
        "{} methods, {} IL bytes, {} CLIF instructions, {} code bytes, {:.2} s: {:.2} us per IL byte (translate {:.2}, codegen {:.2}); {} load errors",
        t.methods,
        t.il,
        t.insts,
        t.code,
        t.time.as_secs_f64(),
        t.time.as_secs_f64() * 1e6 / t.il.max(1) as f64,
        t.translate as f64 / 1e3 / t.il.max(1) as f64,
        t.codegen as f64 / 1e3 / t.il.max(1) as f64,
        t.load_errors
    );
    for (key, (count, example)) in &t.failures {
        println!("{count} x {key}\n    {example}");
    }
    assert!(
        t.failures.is_empty(),
        "{} kinds of failure",
        t.failures.len()
    );
}

/// The methods a blob calls through their slots, and those it has inlined.
fn calls(method: MethodRef, tier: Tier) -> (Vec<String>, Vec<String>) {
    let compiler = Compiler::new(Options {
        verify: true,
        ..Options::default()
    });
    let blob = compiler.compile(method, &Env, tier).expect("a blob");
    let called = blob.relocs.iter().filter_map(|r| match r.symbol {
        Symbol::MethodSlot(m) => Some(m.name.to_owned()),
        _ => None,
    });
    let inlined = blob.inline_sites.iter().map(|s| s.method.name.to_owned());
    (called.collect(), inlined.collect())
}

fn of_int(namespace: &str, name: &str, args: usize) -> ClassRef {
    let u = universe();
    let def = u.corlib().find_type(namespace, name).expect("a lookup");
    let args = vec![u.known(Known::Int32); args];
    u.instantiate(def.expect("the class"), &args)
        .expect("closed")
}

#[test]
fn a_method_that_throws_is_inlined_and_called_only_to_throw() {
    if !PathBuf::from(DIRECTORIES[0]).join("mscorlib.dll").exists() {
        return;
    }
    let parse = |name| {
        let number = universe().known(Known::Int32);
        let all = number.methods().expect("methods");
        let style = |m: &&MethodRef| m.name == name && m.sig().is_ok_and(|s| s.params.len() == 2);
        calls(all.iter().find(style).expect("Parse"), Tier::Optimised)
    };
    // Two throws, one call.
    let (called, inlined) = parse("Parse");
    let check = "ValidateParseStyleInteger";
    assert_eq!(
        called.iter().filter(|m| *m == check).count(),
        1,
        "{called:?}"
    );
    assert!(inlined.iter().any(|m| m == check));
    // One that never returns is called in place.
    let all = of_int("System", "Nullable`1", 1)
        .methods()
        .expect("methods");
    let value = all
        .iter()
        .find(|m| m.name == "op_Explicit")
        .expect("op_Explicit");
    let (called, inlined) = calls(value, Tier::Optimised);
    assert_eq!(
        called,
        ["ThrowInvalidOperationException_InvalidOperation_NoValue"]
    );
    assert_eq!(inlined, ["get_Value"]);
}

#[test]
fn a_default_comparer_of_integers_is_not_fetched_to_be_asked() {
    if !PathBuf::from(DIRECTORIES[0]).join("mscorlib.dll").exists() {
        return;
    }
    let dictionary = of_int("System.Collections.Generic", "Dictionary`2", 2);
    let all = dictionary.methods().expect("methods");
    let find = all
        .iter()
        .find(|m| m.name == "FindEntry")
        .expect("FindEntry");
    let (called, inlined) = calls(find, Tier::Optimised);
    // The other loop, for reference types, still names it.
    assert!(
        called.iter().all(|m| !m.starts_with("Equals")),
        "{called:?}"
    );
    assert!(inlined.iter().filter(|m| *m == "Equals").count() >= 2);
    assert!(called.iter().filter(|m| *m == "get_Default").count() <= 1);
}
