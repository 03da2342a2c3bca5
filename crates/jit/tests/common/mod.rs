//! The class library's types, for tests that compile its methods without a runtime.
//!
//! Invariant: one universe for a test process; assemblies are found by name in Mono's folders, or are files by path.

use std::path::PathBuf;
use vervet_jit::CompileEnv;
use vervet_types::module::AssemblyRefInfo;
use vervet_types::{
    Assembly, AssemblyLoader, ClassRef, Known, LoadError, MethodRef, ModuleRef, Universe,
};

/// Where Mono keeps its class library.
pub const DIRECTORIES: [&str; 2] = ["/usr/lib/mono/4.5", "/usr/lib/mono/4.5/Facades"];

struct Directory;

static UNIVERSE: vervet_os::Published<Universe> = vervet_os::Published::new();

/// Loads an assembly by its name, or by its path.
pub fn load(name: &str) -> Result<ModuleRef, LoadError> {
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
        .chain(std::iter::once(PathBuf::from(name)))
        .find(|p| p.is_file());
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

/// No class is initialised.
pub struct Env;
impl CompileEnv for Env {
    fn is_initialized(&self, _: ClassRef) -> bool {
        false
    }
}

/// The closed forms of a class that are compiled: itself, or instantiations over `object` and `int`.
pub fn closed(u: &'static Universe, class: ClassRef) -> Vec<ClassRef> {
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

/// The methods of a class that have bodies; generic ones over `object` and over `int`.
pub fn methods(u: &'static Universe, class: ClassRef) -> Vec<MethodRef> {
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

/// The universe, with the core library in it.
pub fn universe() -> &'static Universe {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let u = Universe::new(Box::new(Directory));
        UNIVERSE.set(u);
        let corlib = load("mscorlib").expect("mscorlib");
        u.set_corlib(corlib);
    });
    UNIVERSE.get().expect("set above")
}
