//! Every row of the tables has its managed method, marked InternalCall, with exactly that lowered signature; and every internal call
//! without a row is listed in `missing.txt`, so that none is lost, and none comes without the list being shortened.
//!
//! `VERVET_ICALLS_LIST=file` writes every internal call the class library declares, with whether it is covered.
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use vervet_os::{LeafLock, memory::map_file};
use vervet_runtime::code::icall::{AbiTy, Icall, class_key, signature_key};
use vervet_types::*;

const LIBRARY: &str = "/usr/lib/mono/4.5";
/// Internal calls nobody has written yet, a line each.
const MISSING: &str = include_str!("missing.txt");

/// The assemblies that declare internal calls of this crate.
const ASSEMBLIES: [&str; 8] = [
    "mscorlib",
    "System",
    "System.Core",
    "System.Configuration",
    "System.Web",
    "System.Data",
    "Mono.Tasklets",
    PROFILER,
];
/// Is in a package of its own (libmono-profiler), which may not be installed.
const PROFILER: &str = "Mono.Profiler.Log";

#[derive(Default)]
struct Loader(LeafLock<HashMap<String, ModuleRef>>);

impl Loader {
    fn load(&self, u: &'static Universe, name: &str) -> R<ModuleRef> {
        if let Some(m) = self.0.lock().get(name) {
            return Ok(m);
        }
        let gac = Path::new(LIBRARY).with_file_name("gac").join(name);
        let mut places = vec![PathBuf::from(LIBRARY), Path::new(LIBRARY).join("Facades")];
        places.extend(
            std::fs::read_dir(gac)
                .into_iter()
                .flatten()
                .flatten()
                .map(|e| e.path()),
        );
        let path = places
            .iter()
            .map(|p| p.join(format!("{name}.dll")))
            .find(|p| p.is_file());
        let path = path.ok_or_else(|| LoadError::FileNotFound {
            name: name.to_string(),
        })?;
        let module = u.load_module(
            map_file(&path).expect("readable"),
            Some(path.display().to_string()),
        )?;
        Ok(self.0.lock().entry(name.to_string()).or_insert(module))
    }
}
impl AssemblyLoader for &'static Loader {
    fn load_assembly(
        &self,
        requesting: ModuleRef,
        reference: &vervet_types::module::AssemblyRefInfo,
    ) -> R<&'static Assembly> {
        let missing = || LoadError::FileNotFound {
            name: reference.name.to_string(),
        };
        self.load(requesting.universe(), reference.name)?
            .assembly()
            .ok_or_else(missing)
    }
    fn load_file(&self, _: ModuleRef, file_name: &str) -> R<ModuleRef> {
        Err(LoadError::FileNotFound {
            name: file_name.to_string(),
        })
    }
}

fn abi(ty: impl std::fmt::Display) -> AbiTy {
    match ty.to_string().as_str() {
        "i32" => AbiTy::I32,
        "i64" => AbiTy::I64,
        "f32" => AbiTy::F32,
        "f64" => AbiTy::F64,
        other => panic!("no icall can take {other}"),
    }
}

fn compare(method: MethodRef, row: &Icall) -> R<Option<String>> {
    let lowered = vervet_jit::LoweredSignature::of(method.sig()?)?;
    let params: Vec<AbiTy> = lowered
        .clif
        .params
        .iter()
        .map(|p| abi(p.value_type))
        .collect();
    let rets: Vec<AbiTy> = lowered
        .clif
        .returns
        .iter()
        .map(|p| abi(p.value_type))
        .collect();
    let ret = match rets[..] {
        [] => AbiTy::Void,
        [one] => one,
        _ => return Ok(Some("returns a struct".into())),
    };
    if params == row.params && ret == row.ret {
        return Ok(None);
    }
    Ok(Some(format!(
        "managed {params:?} -> {ret:?}, ours {:?} -> {:?}",
        row.params, row.ret
    )))
}

#[test]
fn rows_agree_with_the_metadata() {
    if !Path::new(LIBRARY).join("mscorlib.dll").is_file() {
        eprintln!("skipped: no class library is installed");
        return;
    }
    let loader: &'static Loader = Box::leak(Box::default());
    let u = Universe::new(Box::new(loader));
    u.set_corlib(loader.load(u, "mscorlib").expect("mscorlib"));
    let grafts = vervet_runtime::classes::grafts::ASSEMBLY;
    assert!(
        !grafts.is_empty(),
        "the runtime was built without mcs: `touch crates/runtime/build.rs` and build again"
    );
    u.load_grafts(vec![(grafts, None)]).expect("grafts");

    let rows: HashMap<String, &'static Icall> = vervet_icalls::all()
        .map(|row| (row.name.to_string(), row))
        .collect();
    let mut wrong = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut list = String::new();
    let missing: HashSet<&str> = MISSING.lines().collect();
    let threading = u
        .load_module(vervet_runtime::loader::THREADING, None)
        .expect("Vervet.Threading");
    // Those of the class library that are installed, and the assemblies of our own, which have internal calls, too.
    let modules = ASSEMBLIES
        .iter()
        .filter_map(|name| loader.load(u, name).ok())
        .chain(u.grafted_methods().first().map(|m| m.module()))
        .chain([threading]);
    for module in modules {
        for class in module.types().expect("types") {
            for method in class
                .methods()
                .expect("methods")
                .iter()
                .filter(|m| m.is_icall())
            {
                let key = format!("{}::{}", class_key(method.class), method.name);
                let sig = signature_key(method).unwrap_or_default();
                let with_sig = format!("{key}({sig})");
                let found = [&key, &with_sig]
                    .into_iter()
                    .find(|k| rows.contains_key(*k));
                let _ = writeln!(
                    list,
                    "{}\t{}\t{}\t{}",
                    u8::from(found.is_some()),
                    class_key(method.class),
                    method.name,
                    sig
                );
                let is_missing = missing.contains(with_sig.as_str());
                let Some(found) = found else {
                    if !is_missing {
                        wrong.push(format!("{with_sig}: has no row, and is not in missing.txt"));
                    }
                    continue;
                };
                if is_missing {
                    wrong.push(format!("{with_sig}: has a row, and is in missing.txt"));
                }
                seen.insert(found.clone());
                match compare(method, rows[found]) {
                    Ok(None) => {}
                    Ok(Some(difference)) => wrong.push(format!("{with_sig}: {difference}")),
                    Err(e) => wrong.push(format!("{with_sig}: {e}")),
                }
            }
        }
    }
    let has_profiler = loader.load(u, PROFILER).is_ok();
    let is_absent = |key: &str| !has_profiler && key.starts_with(PROFILER);
    wrong.extend(
        rows.keys()
            .filter(|k| !seen.contains(*k) && !is_absent(k))
            .map(|k| format!("{k}: no such internal call is declared")),
    );
    if let Ok(path) = std::env::var("VERVET_ICALLS_LIST") {
        std::fs::write(path, list).expect("list written");
    }
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} rows are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
