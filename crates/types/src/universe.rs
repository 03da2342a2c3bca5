//! Everything that is loaded in this process, by id.
//!
//! # Invariants
//! * Ids are dense and never reused, and what has an id is never freed. References to classes,
//!   methods and modules are therefore `&'static`.
//! * There is one universe in a process. Every class and module refers to it.
use crate::*;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_metadata::tables::rows::AssemblyRow;
use vervet_metadata::{Image, Table as TableId};
use vervet_os::{Chunks, LeafLock, Published};

/// See the module.
pub struct Universe {
    pub(crate) loader: Box<dyn AssemblyLoader>,
    pub(crate) corlib: Published<Module>,
    known: Vec<Published<Class>>,
    classes: Table<Class>,
    methods: Table<Method>,
    fields: Table<Field>,
    modules: Table<Module>,
    assemblies: LeafLock<Vec<&'static Assembly>>,
    pub(crate) interned: generics::Interned,
    pub(crate) grafts: Published<grafts::Grafts>,
}

/// A table of leaked values by dense id.
struct Table<T: Sync + 'static> {
    cells: Chunks<Published<T>>,
    next: AtomicU32,
    /// Room for values to come: one allocation for many, because there are tens of thousands.
    room: LeafLock<&'static mut [MaybeUninit<T>]>,
}

/// How many values get their memory at once.
const ROOM: usize = 64;
impl<T: Sync + 'static> Table<T> {
    fn new() -> Self {
        Table {
            cells: Chunks::new(),
            next: AtomicU32::new(0),
            room: LeafLock::new(&mut []),
        }
    }
    /// Adds a value with the next id. `make` gets the id.
    fn add(&self, make: impl FnOnce(u32) -> T) -> &'static T {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let value = make(id);
        self.cells.at(id).set(self.place().write(value))
    }
    /// Memory for a value that is never freed.
    fn place(&self) -> &'static mut MaybeUninit<T> {
        let mut room = self.room.lock();
        if room.is_empty() {
            *room = Box::leak(Box::new_uninit_slice(ROOM));
        }
        let (first, rest) = std::mem::take(&mut *room)
            .split_first_mut()
            .expect("there is room");
        *room = rest;
        first
    }
    /// The value with that id.
    fn get(&self, id: u32) -> Option<&'static T> {
        self.cells.get(id)?.get()
    }
    /// The number of values.
    fn len(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }
}

/// What an image is loaded for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// To run.
    Run,
    /// Its types are grafts ([`crate::grafts`]).
    Graft,
    /// To be looked at by reflection.
    LookAt,
}

/// The error of an image that cannot be read.
fn bad(path: Option<&str>, e: &vervet_metadata::Error) -> LoadError {
    LoadError::BadImage {
        file: path.unwrap_or_default().to_string(),
        message: e.to_string(),
    }
}

/// The Assembly row of an image, with its name, culture and public key.
fn manifest(
    image: &Image<'static>,
) -> Result<(AssemblyRow, &'static str, &'static str, &'static [u8]), vervet_metadata::Error> {
    let row = image.assembly(1)?;
    let (name, culture) = (image.string(row.name)?, image.string(row.culture)?);
    let public_key = image.blob(row.public_key)?;
    Ok((row, name, culture, public_key))
}

impl Universe {
    /// An empty universe.
    pub fn new(loader: Box<dyn AssemblyLoader>) -> &'static Universe {
        Box::leak(Box::new(Universe {
            loader,
            corlib: Published::new(),
            known: (0..Known::COUNT).map(|_| Published::new()).collect(),
            classes: Table::new(),
            methods: Table::new(),
            fields: Table::new(),
            modules: Table::new(),
            assemblies: LeafLock::default(),
            interned: Default::default(),
            grafts: Published::new(),
        }))
    }
    /// Declares which module is the core library, before any of its types is asked for.
    pub fn set_corlib(&'static self, module: ModuleRef) {
        self.corlib.set(module);
    }
    /// Resolves every known type. After it, [`Universe::known`] cannot fail; before it, that rests on which core library it is.
    ///
    /// # Errors
    /// The core library has no such type, or cannot be read.
    pub fn check_known(&'static self) -> R<()> {
        for known in Known::all() {
            self.find_known(known)?;
        }
        Ok(())
    }
    fn find_known(&self, known: Known) -> R<ClassRef> {
        let module = self.corlib();
        let class = module.find_type(known.namespace(), known.name())?;
        let class =
            class.ok_or_else(|| LoadError::no_type(module, known.namespace(), known.name()))?;
        Ok(self.known[known as usize].set(class))
    }
    /// The core library.
    pub fn corlib(&self) -> ModuleRef {
        self.corlib.get().expect("the core library is set first")
    }
    /// A known type. Panics if the core library has no such type: [`Universe::check_known`] says which libraries have them.
    #[inline]
    pub fn known(&self, known: Known) -> ClassRef {
        match self.known[known as usize].get() {
            Some(class) => class,
            None => self.first_known(known),
        }
    }
    #[cold]
    fn first_known(&self, known: Known) -> ClassRef {
        match self.find_known(known) {
            Ok(class) => class,
            Err(e) => panic!("the core library's type {known:?}: {e}"),
        }
    }
    /// A known type, if the core library is set and has it.
    pub fn known_opt(&self, known: Known) -> Option<ClassRef> {
        self.corlib.get()?;
        match self.known[known as usize].get() {
            Some(class) => Some(class),
            None => self.find_known(known).ok(),
        }
    }
    /// Parses an image; it gets an [`Assembly`] if it has an Assembly row.
    pub fn load_module(&'static self, data: &'static [u8], path: Option<String>) -> R<ModuleRef> {
        self.load_image(0, data, path, Use::Run)
    }
    /// As [`Universe::load_module`], for the application domain with that id ([`Module::owner`](crate::Module::owner)).
    pub fn load_module_for(
        &'static self,
        owner: u32,
        data: &'static [u8],
        path: Option<String>,
    ) -> R<ModuleRef> {
        self.load_image(owner, data, path, Use::Run)
    }
    /// As [`Universe::load_module_for`], to be looked at and not to run. It is none of [`Universe::assemblies`].
    pub fn load_reflection_only(
        &'static self,
        owner: u32,
        data: &'static [u8],
        path: Option<String>,
    ) -> R<ModuleRef> {
        self.load_image(owner, data, path, Use::LookAt)
    }
    /// As [`Universe::load_module_for`]; says what for.
    pub(crate) fn load_image(
        &'static self,
        owner: u32,
        data: &'static [u8],
        path: Option<String>,
        what_for: Use,
    ) -> R<ModuleRef> {
        let is_graft = what_for == Use::Graft;
        let image = Image::parse(data).map_err(|e| bad(path.as_deref(), &e))?;
        let name = image
            .module(1)
            .and_then(|row| image.string(row.name))
            .map_err(|e| bad(path.as_deref(), &e))?;
        // Whatever may be wrong is found before there is a module, which stays for ever.
        let manifest = match image.row_count(TableId::Assembly) {
            0 => None,
            _ => Some(manifest(&image).map_err(|e| bad(path.as_deref(), &e))?),
        };
        let module =
            self.add_module(|id| Module::new(image, id, owner, path, name, is_graft, self));
        if let Some((row, name, culture, public_key)) = manifest {
            let assembly = Box::leak(Box::new(Assembly {
                manifest: module,
                name,
                version: [row.major, row.minor, row.build, row.revision],
                culture,
                public_key,
                given_token: None,
                flags: row.flags,
                is_reflection_only: what_for == Use::LookAt,
                is_save_only: false,
                skips_verification: module.image.skips_verification(),
                friends: Published::new(),
                modules: LeafLock::new(vec![module]),
            }));
            module.assembly.set(assembly);
            if what_for != Use::LookAt {
                self.assemblies.lock().push(assembly);
            }
        }
        Ok(module)
    }
    /// The assemblies loaded so far to run, in order.
    pub fn assemblies(&self) -> Vec<&'static Assembly> {
        self.assemblies.lock().clone()
    }
    /// Number of classes made so far: ids are below it.
    pub fn class_count(&self) -> u32 {
        self.classes.len()
    }
    /// Number of methods made so far.
    pub fn method_count(&self) -> u32 {
        self.methods.len()
    }
    /// The class with that id.
    pub fn class_by_id(&self, id: u32) -> Option<ClassRef> {
        self.classes.get(id)
    }
    /// The method with that id.
    pub fn method_by_id(&self, id: u32) -> Option<MethodRef> {
        self.methods.get(id)
    }
    /// Adds a class; `make` gets its id.
    pub(crate) fn add_class(&self, make: impl FnOnce(u32) -> Class) -> ClassRef {
        self.classes.add(make)
    }
    /// Adds a method.
    pub(crate) fn add_method(&self, make: impl FnOnce(u32) -> Method) -> MethodRef {
        self.methods.add(make)
    }
    /// Adds a field.
    pub(crate) fn add_field(&self, make: impl FnOnce(u32) -> Field) -> FieldRef {
        self.fields.add(make)
    }
    /// Adds a module.
    pub(crate) fn add_module(&self, make: impl FnOnce(u32) -> Module) -> ModuleRef {
        self.modules.add(make)
    }
}
