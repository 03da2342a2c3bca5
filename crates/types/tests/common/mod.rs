//! A loader that finds assemblies in the installed class library by name alone, and what tests share.
#![allow(dead_code, reason = "not every test uses all of it")]
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use vervet_os::{LeafLock, memory::map_file};
use vervet_types::type_name::{Suffix, TypeName};
use vervet_types::*;

const LIBRARY: &str = "/usr/lib/mono";

#[derive(Default)]
struct Loader {
    loaded: LeafLock<HashMap<String, &'static Assembly>>,
    directories: LeafLock<Vec<PathBuf>>,
}

impl Loader {
    fn find(&self, name: &str) -> Option<PathBuf> {
        let mut places: Vec<PathBuf> = self.directories.lock().clone();
        places.extend(["4.5", "4.5/Facades"].map(|d| Path::new(LIBRARY).join(d)));
        let gac = Path::new(LIBRARY).join("gac").join(name);
        places.extend(
            std::fs::read_dir(gac)
                .into_iter()
                .flatten()
                .flatten()
                .map(|e| e.path()),
        );
        places
            .iter()
            .flat_map(|p| ["dll", "exe"].map(|ext| p.join(format!("{name}.{ext}"))))
            .find(|p| p.is_file())
    }
}

impl AssemblyLoader for &'static Loader {
    fn load_assembly(
        &self,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> R<&'static Assembly> {
        if let Some(a) = self.loaded.lock().get(reference.name) {
            return Ok(a);
        }
        let none = || LoadError::FileNotFound {
            name: reference.to_string(),
        };
        let path = self.find(reference.name).ok_or_else(none)?;
        let module = load_file(requesting.universe(), &path);
        let assembly = module.assembly().ok_or_else(none)?;
        Ok(self
            .loaded
            .lock()
            .entry(reference.name.to_string())
            .or_insert(assembly))
    }
    fn load_file(&self, manifest: ModuleRef, file_name: &str) -> R<ModuleRef> {
        let path =
            Path::new(manifest.path.as_deref().unwrap_or_default()).with_file_name(file_name);
        match path.is_file() {
            true => Ok(load_file(manifest.universe(), &path)),
            false => Err(LoadError::FileNotFound {
                name: file_name.to_string(),
            }),
        }
    }
}

fn load_file(u: &'static Universe, path: &Path) -> ModuleRef {
    let data = map_file(path).expect("readable file");
    u.load_module(data, Some(path.display().to_string()))
        .expect("a managed image")
}

/// A universe with the core library, and a function that loads assemblies by name.
pub struct World {
    pub u: &'static Universe,
    loader: &'static Loader,
}

impl World {
    /// None, with a message, if no class library is installed.
    pub fn new() -> Option<World> {
        let path = Path::new(LIBRARY).join("4.5/mscorlib.dll");
        if !path.is_file() {
            eprintln!("skipped: no class library is installed");
            return None;
        }
        let loader: &'static Loader = Box::leak(Box::default());
        let u = Universe::new(Box::new(loader));
        let corlib = load_file(u, &path);
        u.set_corlib(corlib);
        loader
            .loaded
            .lock()
            .insert("mscorlib".into(), corlib.assembly().expect("a manifest"));
        Some(World { u, loader })
    }
    /// An assembly of the class library.
    pub fn load(&self, name: &str) -> ModuleRef {
        if let Some(a) = self.loader.loaded.lock().get(name) {
            return a.manifest;
        }
        let path = self
            .loader
            .find(name)
            .unwrap_or_else(|| panic!("{name} is not installed"));
        let module = load_file(self.u, &path);
        self.loader
            .loaded
            .lock()
            .insert(name.into(), module.assembly().expect("a manifest"));
        module
    }
    /// Compiles C# with mcs and loads the result; None, with a message, if there is no mcs.
    pub fn compile(&self, source: &str) -> Option<ModuleRef> {
        self.build(
            "mcs",
            &["-target:library", "-unsafe", "-nowarn:169,649,414,67"],
            "-out:",
            source,
        )
    }
    /// Assembles IL with ilasm and loads the result; None, with a message, if there is no ilasm.
    pub fn assemble(&self, source: &str) -> Option<ModuleRef> {
        self.build("ilasm", &["/dll", "/quiet"], "/output:", source)
    }
    /// Compiles C# with mcs; None, with a message, if there is no mcs.
    pub fn compiled(&self, source: &str) -> Option<&'static [u8]> {
        let dll = build(
            "mcs",
            &["-target:library", "-nowarn:67"],
            "-out:",
            source,
            |dll| map_file(dll).expect("readable file"),
        )?;
        Some(dll)
    }
    fn build(&self, tool: &str, args: &[&str], out: &str, source: &str) -> Option<ModuleRef> {
        build(tool, args, out, source, |dll| load_file(self.u, dll))
    }
    /// A type by its reflection name; of the module, or of the core library.
    pub fn ty(&self, module: Option<ModuleRef>, name: &str) -> ClassRef {
        let parsed = TypeName::parse(name).unwrap_or_else(|| panic!("{name} parses"));
        self.find(&parsed, module)
            .unwrap_or_else(|e| panic!("{name}: {e}"))
            .unwrap_or_else(|| panic!("no type {name}"))
    }
    /// The type that a parsed name means, with its arguments and suffixes.
    fn find(
        &self,
        name: &TypeName,
        module: Option<ModuleRef>,
    ) -> Result<Option<ClassRef>, LoadError> {
        let mut class = match &name.assembly {
            Some(assembly) => {
                let module = self.load(assembly.split(',').next().unwrap_or_default());
                definition(module, name)?
            }
            None => match module.map(|m| definition(m, name)).transpose()?.flatten() {
                Some(own) => Some(own),
                None => definition(self.u.corlib(), name)?,
            },
        };
        if let (Some(generic), false) = (class, name.args.is_empty()) {
            let mut args = Vec::new();
            for arg in &name.args {
                let Some(arg) = self.find(arg, module)? else {
                    return Ok(None);
                };
                args.push(arg);
            }
            class = Some(self.u.instantiate(generic, &args)?);
        }
        let Some(mut class) = class else {
            return Ok(None);
        };
        for suffix in &name.suffixes {
            let inner = class.nested()?;
            class = match suffix {
                Suffix::Vector => self.u.sz_array(inner),
                Suffix::Array(rank) => self.u.array(inner, *rank),
                Suffix::Pointer => self.u.ptr(inner),
                Suffix::ByRef => self.u.byref(inner),
            };
        }
        Ok(Some(class))
    }
}

/// A type of a module by its name, nested types included, without arguments and suffixes.
fn definition(module: ModuleRef, name: &TypeName) -> Result<Option<ClassRef>, LoadError> {
    let mut class = module.find_type(&name.namespace, &name.name)?;
    for nested in &name.nested {
        class = match class {
            Some(outer) => outer.module.find_nested(outer, nested)?,
            None => None,
        };
    }
    Ok(class)
}

/// Runs a compiler on a text and reads its result; None, with a message, if the compiler is not installed.
fn build<T>(
    tool: &str,
    args: &[&str],
    out: &str,
    source: &str,
    read: impl FnOnce(&Path) -> T,
) -> Option<T> {
    let dir = tempfile::tempdir().expect("temporary directory");
    let (text, dll) = (dir.path().join("shapes.txt"), dir.path().join("shapes.dll"));
    std::fs::write(&text, source).expect("source written");
    let Ok(run) = Command::new(tool)
        .args(args)
        .arg(format!("{out}{}", dll.display()))
        .arg(&text)
        .output()
    else {
        eprintln!("skipped: no {tool} is installed");
        return None;
    };
    let said = [run.stdout, run.stderr].concat();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&said));
    Some(read(&dll))
}
