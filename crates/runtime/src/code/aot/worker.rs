//! The worker: compiles the methods of a job, and says which edges others want.
//!
//! ```text
//! rows of the assembly --> list --> kept already?  -----------------------------> what its code calls: instances of
//!                            ^      compile, loading nothing --> entry, files       generic methods and classes
//!                            |        | an edge is missing                               |
//!                            |        v                                                  |
//!                            |      wanted: edge -> row                                  |
//!                            +-----------------------------------------------------------+
//! ```
//!
//! # Invariants
//! * Nothing is loaded but the assembly and the edges of the job.
//! * What was compiled is written only if every file that is loaded still has the content that was read.
//! * The list ends: instances are followed to a depth and up to a number.
use super::job::{Edge, Job, Methods, Outcome};
use super::profile;
use crate::code::cache::ahead::{Ahead, Made};
use crate::cx::Cx;
use crate::loader::without_loading;
use crate::runtime::rt;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use vervet_binder::app_config::AppConfig;
use vervet_jit::{Blob, Symbol};
use vervet_metadata::Table;
use vervet_types::{Assembly, ClassRef, MethodRef, ModuleRef, edges};

/// Type arguments in type arguments that are followed: `List<List<List<T>>>`.
const DEEPEST: u32 = 4;
/// Instances of generic methods that are compiled in one job, at most.
const MOST_INSTANCES: usize = 20_000;
/// Bytes that are compiled before they are written.
const ENOUGH: usize = 8 << 20;

/// Does a job. `Err` is a sentence for the user, without the name of the file.
pub fn work(job: &Job) -> Result<Outcome, String> {
    let cx = Cx::current();
    let assembly = open(&job.assembly)?;
    let mut ahead = Ahead::new()?;
    let mut work = Work::new(job, assembly.manifest);
    for edge in &job.edges {
        if bind(edge).is_none() {
            // In a run these methods end with an exception, or an event gives them the assembly.
            work.outcome.failed += job.methods.as_ref().map_or(0, |m| m.own.len() as u64);
            return Ok(work.outcome);
        }
    }
    work.list_methods(job)?;
    let mut written = Ok(());
    while let Some(item) = work.list.pop() {
        work.one(&cx, &mut ahead, item);
        if ahead.bytes() > ENOUGH {
            written = work.write(&cx, &mut ahead);
        }
        if written.is_err() {
            break;
        }
    }
    // What was written before an error counts.
    let written = written.and_then(|()| work.write(&cx, &mut ahead));
    cx.native(|| ahead.remember_contents())?;
    written?;
    Ok(work.finish())
}

/// Opens the assembly as the program that it may be: with its directory and its configuration.
fn open(path: &Path) -> Result<&'static Assembly, String> {
    let loader = &rt().root.loader;
    if std::fs::canonicalize(path).is_ok_and(|p| p.to_str().is_none()) {
        return Err("Its path is no UTF-8; such assemblies are compiled as they run.".into());
    }
    let assembly = loader.open(path).map_err(|e| {
        tracing::info!("{}: {e}", path.display());
        "File does not contain a valid CIL image.".to_owned()
    })?;
    let module = assembly.manifest;
    if assembly.name == "mscorlib" && !module.is_corlib() {
        return Err("It is not the core library that programs run with.".into());
    }
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let config = module.path.as_deref().map(|p| format!("{p}.config"));
    let read = config.and_then(|c| AppConfig::read(Path::new(&c)).ok());
    loader.configure(|b| {
        b.app_base = full.parent().map(Path::to_path_buf);
        if let Some(c) = &read {
            b.configure(c);
        }
    });
    match module.is_whole_assembly() {
        true => Ok(assembly),
        false => Err("It has several files; such assemblies are compiled as they run.".into()),
    }
}

/// Binds an edge; loads where it leads.
fn bind(edge: &Edge) -> Option<()> {
    let modules = rt()
        .root
        .loader
        .assemblies()
        .into_iter()
        .map(|a| a.manifest);
    let mut modules = modules.filter(|m| m.path.as_deref().map(Path::new) == Some(&edge.from));
    let from = modules.next()?;
    let rows = from.image.row_count(Table::AssemblyRef);
    let bound = (1..=rows)
        .contains(&edge.row)
        .then(|| from.referenced_assembly(edge.row))?;
    bound.ok().map(drop)
}

/// A method that is to be compiled.
struct Item {
    method: MethodRef,
    /// The row of the method for which this one is compiled: itself, or one that leads to it.
    row: u32,
    is_instance: bool,
    /// Not to be kept.
    is_root: bool,
}

struct Work {
    home: ModuleRef,
    /// To be done, the next one last.
    list: Vec<Item>,
    seen: HashSet<u32>,
    instances: usize,
    /// Names of the profile; None: there is none.
    names: Option<HashSet<String>>,
    wanted: HashMap<Edge, Methods>,
    outcome: Outcome,
}

impl Work {
    fn new(job: &Job, home: ModuleRef) -> Work {
        Work {
            home,
            list: Vec::new(),
            seen: HashSet::new(),
            instances: 0,
            names: job.names.as_ref().map(|n| n.iter().cloned().collect()),
            wanted: HashMap::new(),
            outcome: Outcome::default(),
        }
    }

    fn write<'cx>(&mut self, cx: &'cx Cx<'cx>, ahead: &mut Ahead) -> Result<(), String> {
        self.outcome.bytes += cx.native(|| ahead.write())?;
        Ok(())
    }
    /// Fills the list, in the order of the rows.
    fn list_methods(&mut self, job: &Job) -> Result<(), String> {
        let rows = self.home.image.row_count(Table::MethodDef);
        match &job.methods {
            Some(methods) => {
                for (rows, is_root) in [(&methods.own, false), (&methods.roots, true)] {
                    for row in rows {
                        self.add_row(*row, is_root);
                    }
                }
            }
            None => {
                (1..=rows).for_each(|row| self.add_row(row, false));
                if self.home.is_corlib() {
                    self.add_grafts();
                }
            }
        }
        self.list.reverse();
        Ok(())
    }
    fn add_row(&mut self, row: u32, is_root: bool) {
        let (found, _) = edges::watch(|| without_loading(|| self.home.method_def(row)));
        match (found, edges::failed_edge()) {
            (Ok(method), _) => self.add_method(method, row, is_root),
            (Err(_), Some((module, edge))) => self.want(module, edge, row, is_root),
            (Err(_), None) => self.outcome.failed += 1,
        }
    }
    /// What this binary adds to the core library.
    fn add_grafts(&mut self) {
        let modules = rt().universe.graft_modules();
        let classes = modules.iter().flat_map(|m| m.types().unwrap_or_default());
        for class in classes {
            for method in class.methods().unwrap_or_default() {
                self.add_method(method, 0, false);
            }
        }
    }
    fn add_method(&mut self, method: MethodRef, row: u32, is_root: bool) {
        let is_generic = method.class.is_open || method.is_open();
        if !is_generic && is_compiled_ever(method) && self.seen.insert(method.id) {
            self.list.push(Item {
                method,
                row,
                is_instance: false,
                is_root,
            });
        }
    }
    /// Adds what code calls, if it is an instance of something generic: nothing else leads there.
    fn add_called(&mut self, blob: &Blob, row: u32) {
        for r in blob
            .relocs
            .iter()
            .chain(blob.filters.iter().flat_map(|f| &f.relocs))
        {
            match r.symbol {
                Symbol::MethodSlot(m) | Symbol::MethodStub(m) => self.add_instance(m, row),
                Symbol::VTable(c) => self.add_class(c, row, true),
                Symbol::StaticRefs(c) | Symbol::StaticValues(c) => self.add_class(c, row, false),
                _ => {}
            }
        }
    }
    /// The constructor of a generic class, and what may be called on an object of it.
    fn add_class(&mut self, class: ClassRef, row: u32, has_objects: bool) {
        if !class.is_inst() || class.is_open {
            return;
        }
        let methods = without_loading(|| class.methods().ok()).unwrap_or_default();
        for method in methods {
            if method.is_cctor() || has_objects && method.is_virtual() {
                self.add_instance(method, row);
            }
        }
    }
    fn add_instance(&mut self, method: MethodRef, row: u32) {
        let is_instance = method.class.is_inst() || !method.method_args().is_empty();
        let depth = method
            .method_args()
            .iter()
            .chain([&method.class])
            .map(|c| depth(c));
        if is_instance
            && self.instances < MOST_INSTANCES
            && !method.is_open()
            && is_compiled_ever(method)
            && depth.max().unwrap_or(0) <= DEEPEST
            && self.seen.insert(method.id)
        {
            self.instances += 1;
            self.list.push(Item {
                method,
                row,
                is_instance: true,
                is_root: false,
            });
        }
    }

    fn one<'cx>(&mut self, cx: &'cx Cx<'cx>, ahead: &mut Ahead, item: Item) {
        let Item { method, row, .. } = item;
        if let Some(names) = &self.names
            && !names.contains(&profile::line_of(method))
        {
            return;
        }
        match ahead.make(cx, method, !item.is_root) {
            Made::Known(blob) => {
                self.outcome.known += u64::from(!item.is_root);
                self.add_called(&blob, row);
            }
            Made::Kept(blob) => {
                self.outcome.kept += u64::from(!item.is_root);
                self.add_called(&blob, row);
            }
            Made::Wants(module, edge) => {
                self.want(module, edge, row, item.is_instance || item.is_root);
            }
            Made::Failed => self.outcome.failed += 1,
        }
    }
    /// A method wants an edge.
    fn want(&mut self, module: u32, edge: u32, row: u32, is_root: bool) {
        let modules = rt()
            .root
            .loader
            .assemblies()
            .into_iter()
            .map(|a| a.manifest);
        let mut paths = modules.filter(|m| m.id == module).map(|m| m.path.clone());
        let Some(from) = paths.next().flatten().filter(|_| row != 0) else {
            self.outcome.failed += 1;
            return;
        };
        let edge = Edge {
            from: from.into(),
            row: edge,
        };
        let methods = self.wanted.entry(edge).or_default();
        match is_root {
            true => methods.roots.push(row),
            false => methods.own.push(row),
        }
    }
    fn finish(mut self) -> Outcome {
        for (edge, mut methods) in self.wanted.drain() {
            methods.normalise();
            self.outcome.wanted.push((edge, methods));
        }
        self.outcome.wanted.sort_by(|a, b| a.0.cmp(&b.0));
        self.outcome
    }
}

/// Whether the method has code that the compiler makes: neither abstract nor an internal call.
fn is_compiled_ever(method: MethodRef) -> bool {
    !method.is_icall() && !method.is_dynamic() && (method.has_body() || !method.is_abstract())
}

fn depth(class: ClassRef) -> u32 {
    let inner = class.args().iter().map(|a| depth(a));
    let element = class.element().map(depth);
    1 + inner.chain(element).max().unwrap_or(0)
}
