//! Every method body of the class library translates: no internal error, nothing invalid, with the CLIF verifier on.
//! What is inlined of some of them is looked at more closely.
//!
//! Generic types and methods are instantiated over `object` and over `int`. Only translation: nothing is linked or
//! run. `VERVET_JIT_TEST=name.dll,...` picks other assemblies, `VERVET_JIT_VERIFY=0` leaves the verifier out (for
//! throughput), `VERVET_JIT_TIER=optimised` the other tier, `VERVET_JIT_METHOD=part` lists one method.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use vervet_jit::blob::Symbol;
use vervet_jit::{CompileEnv, CompileError, Compiler, Options, Tier};
use vervet_types::module::AssemblyRefInfo;
use vervet_types::{
    Assembly, AssemblyLoader, ClassRef, Known, LoadError, MethodRef, ModuleRef, Universe,
};

const DIRECTORIES: [&str; 2] = ["/usr/lib/mono/4.5", "/usr/lib/mono/4.5/Facades"];

struct Directory;

static UNIVERSE: vervet_os::Published<Universe> = vervet_os::Published::new();

fn load(name: &str) -> Result<ModuleRef, LoadError> {
    let missing = || LoadError::FileNotFound {
        name: name.to_owned(),
    };
    let u = UNIVERSE.get().ok_or_else(missing)?;
    if let Some(a) = u.assemblies().into_iter().find(|a| a.name == name) {
        return Ok(a.manifest);
    }
    let found = DIRECTORIES
        .iter()
        .map(|d| PathBuf::from(d).join(format!("{name}.dll")))
        .find(|p| p.exists());
    let path = found.ok_or_else(missing)?;
    let data = std::fs::read(&path).map_err(|_| missing())?;
    u.load_module(
        Box::leak(data.into_boxed_slice()),
        Some(path.display().to_string()),
    )
}

impl AssemblyLoader for Directory {
    fn load_assembly(
        &self,
        _: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> Result<&'static Assembly, LoadError> {
        load(reference.name)?
            .assembly()
            .ok_or_else(|| LoadError::FileNotFound {
                name: reference.name.to_owned(),
            })
    }
    fn load_file(&self, _: ModuleRef, file_name: &str) -> Result<ModuleRef, LoadError> {
        Err(LoadError::FileNotFound {
            name: file_name.to_owned(),
        })
    }
}

struct Env;
impl CompileEnv for Env {
    fn is_initialized(&self, _: ClassRef) -> bool {
        false
    }
}

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

/// The closed forms of a class that are compiled: itself, or instantiations over `object` and `int`.
fn closed(u: &'static Universe, class: ClassRef) -> Vec<ClassRef> {
    let Ok(params) = class.params() else {
        return Vec::new();
    };
    if params.is_empty() {
        return vec![class];
    }
    let over = |k| u.instantiate(class, &vec![u.known(k); params.len()]).ok();
    [Known::Object, Known::Int32]
        .into_iter()
        .filter_map(over)
        .collect()
}

fn methods(u: &'static Universe, class: ClassRef) -> Vec<MethodRef> {
    let mut out = Vec::new();
    for m in class.methods().unwrap_or_default() {
        if !m.has_body() {
            continue;
        }
        if m.generic_arity == 0 {
            out.push(*m);
        } else {
            for k in [Known::Object, Known::Int32] {
                out.extend(
                    u.instantiate_method(m, &vec![u.known(k); m.generic_arity as usize])
                        .ok(),
                );
            }
        }
    }
    out
}

fn universe() -> &'static Universe {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let u = Universe::new(Box::new(Directory));
        UNIVERSE.set(u);
        let corlib = load("mscorlib").expect("mscorlib");
        u.set_corlib(corlib).expect("the known types");
    });
    UNIVERSE.get().expect("set above")
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

/// Bad IL is reported as such or translates; it is never our bug.
#[test]
fn mutated_bodies_are_never_an_internal_error() {
    if !PathBuf::from(DIRECTORIES[0]).join("mscorlib.dll").exists() {
        eprintln!("the class library is not installed: nothing to test");
        return;
    }
    let seconds = std::env::var("VERVET_JIT_FUZZ")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(10u64);
    let u = universe();
    let compiler = Compiler::new(Options {
        verify: true,
        verbose: None,
        ..Options::default()
    });
    let mut all: Vec<MethodRef> = Vec::new();
    for class in load("mscorlib").expect("mscorlib").types().expect("types") {
        for class in closed(u, class) {
            all.extend(methods(u, class));
        }
    }
    let mut state = 0x9E37_79B9_7F4A_7C15u64
        ^ std::env::var("VERVET_JIT_SEED")
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or(1);
    let mut random = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    std::panic::set_hook(Box::new(|_| {}));
    let mut totals = Totals::default();
    let (mut done, mut invalid) = (0, 0);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        let method = all[random(all.len())];
        let Ok(mut body) = method.body() else {
            continue;
        };
        if body.code.is_empty() || body.code.len() > 600 {
            continue;
        }
        let mut code = body.code.to_vec();
        for _ in 0..=random(3) {
            let at = random(code.len());
            code[at] = match random(3) {
                0 => random(256) as u8,
                1 => code[random(code.len())],
                _ => code[at] ^ 1 << random(8),
            };
        }
        body.code = Vec::leak(code);
        done += 1;
        match compiler.compile_body(method, body, &Env, Tier::Quick) {
            Err(CompileError::Internal {
                method,
                offset,
                reason,
            }) => totals.fail("internal", method, offset, reason),
            Err(_) => invalid += 1,
            Ok(_) => {}
        }
    }
    let _ = std::panic::take_hook();
    println!("{done} mutated bodies, {invalid} rejected");
    for (key, (count, example)) in &totals.failures {
        println!("{count} x {key}\n    {example}");
    }
    assert!(
        totals.failures.is_empty(),
        "{} kinds of failure",
        totals.failures.len()
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
