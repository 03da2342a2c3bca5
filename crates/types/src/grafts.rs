//! Grafts: members that an assembly of the runtime adds to types of the core library.
//!
//! # How it works
//! A type of a grafts assembly that carries `[Vervet.GraftOnto("mscorlib", "Namespace.Name")]` is a *graft*; the type it
//! names is its *target*. The public static methods of a graft, and the properties that are made of them, are members
//! of the target and no members of the graft. All else that a graft declares stays in it:
//!
//! ```text
//! mscorlib             System.Threading.Thread      get_CurrentThread, Sleep, ...     own rows of mscorlib
//!                                                   get_IsGreenThread                 row of the grafts assembly
//! the grafts assembly  Vervet.Grafts.ThreadGraft    private methods, fields, nested types
//! ```
//!
//! A grafted member has two modules. Its class's module says where it belongs: names, access checks, what reflection calls
//! its assembly. Its own module ([`Method::module`], [`Property::module`]) says where it is written: IL, tokens, signatures,
//! names of parameters, custom attributes.
//!
//! # Invariants
//! * Grafts are loaded once, after the core library is set and before the members of any type are asked for.
//! * Grafted members follow the target's own in every list, so that the target's own keep their indices; they are
//!   static, so vtables and layouts are what they are without grafts.
//! * A target has no two members of the same name and signature: [`Universe::load_grafts`] refuses such a graft.
//! * Neither a graft nor a target is generic.
//! * Each method row and each property row of a grafts assembly belongs to one type: [`Universe::load_grafts`] refuses lists of
//!   members that overlap. A type that lists a row and the type that [`Module::method_def`] finds for it are the same.
//! * A class that is no target costs one comparison when its members are read, and a target one search of a hash
//!   table.
use crate::method::method_flags as flags;
use crate::*;
use rustc_hash::FxHashMap;
use vervet_metadata::{CustomAttrReader, Table};

/// The namespace and the name of the attribute that makes a type a graft.
const ATTRIBUTE: (&str, &str) = ("Vervet", "GraftOntoAttribute");

/// What the grafts assemblies say.
#[derive(Default)]
pub(crate) struct Grafts {
    /// The grafts assemblies, in order.
    modules: Vec<ModuleRef>,
    /// The grafts of a target, in order, by the row of the target in the core library.
    onto: FxHashMap<u32, Vec<ClassRef>>,
    /// The target of a graft, by the id of the graft's class.
    targets: FxHashMap<u32, ClassRef>,
    /// The grafted methods, in order.
    methods: Vec<Row>,
    /// The grafted properties, in order.
    properties: Vec<Row>,
}

/// A row of a grafts assembly that is a member of a target.
struct Row {
    module: ModuleRef,
    rid: u32,
    target: ClassRef,
}

/// Refuses a type that lists a method or a property of another type.
fn one_owner(module: ModuleRef, rid: u32) -> R<()> {
    let image = &module.image;
    let methods = image
        .type_methods(rid)
        .all(|m| image.method_owner(m) == Some(rid));
    let properties = image
        .type_properties(rid)
        .all(|p| image.property_owner(p) == Some(rid));
    if methods && properties {
        return Ok(());
    }
    let text = "a type of a grafts assembly lists members of another type";
    Err(LoadError::bad_image(module, text).in_row(module, Token::new(Table::TypeDef, rid)))
}

/// Whether a method of a graft with these flags is the target's.
fn moves(method_flags: u16) -> bool {
    let f = u32::from(method_flags);
    f & flags::ACCESS_MASK == flags::PUBLIC && f & flags::STATIC != 0
}

impl Universe {
    /// Loads grafts assemblies, each an image and the path of its file, and adds their members to their targets. Called at
    /// most once, after [`Universe::set_corlib`] and before the members of any type are asked for.
    ///
    /// # Errors
    /// An image that cannot be read, types whose lists of members overlap, an attribute that cannot be read, a target that the core
    /// library does not have, a generic graft or target, a public event, a property of which some accessors are public and static and others not,
    /// and a member that the target has already. Nothing is grafted then.
    pub fn load_grafts(&'static self, assemblies: Vec<(&'static [u8], Option<String>)>) -> R<()> {
        let mut grafts = Grafts::default();
        for (data, path) in assemblies {
            let module = self.load_image(0, data, path, universe::Use::Graft)?;
            grafts.modules.push(module);
            for rid in 1..=module.image.row_count(Table::TypeDef) {
                one_owner(module, rid)?;
                if let Some(target) = grafts.target_of(module, rid)? {
                    grafts.add(module.type_def(rid)?, target)?;
                }
            }
        }
        self.grafts.put(grafts);
        Ok(())
    }
    /// The grafts assemblies, in order.
    pub fn graft_modules(&self) -> &[ModuleRef] {
        self.grafts.get().map_or(&[], |g| &g.modules)
    }
    /// The methods that are grafted onto types of the core library, in the order of their reflection tokens. A row that cannot be
    /// read is left out.
    pub fn grafted_methods(&self) -> Vec<MethodRef> {
        let rows = self.grafts.get().map_or(&[][..], |g| &g.methods);
        rows.iter()
            .filter_map(|row| row.module.method_def(row.rid).ok())
            .collect()
    }
    /// The grafts of a definition of the core library, in order.
    pub(crate) fn grafts_onto(&self, class: ClassRef) -> &'static [ClassRef] {
        let Some(grafts) = self.grafts.get().filter(|_| class.module.is_corlib()) else {
            return &[];
        };
        grafts.onto.get(&class.rid()).map_or(&[], Vec::as_slice)
    }
}

impl Grafts {
    /// The target that the attribute of a type names, if there is such an attribute.
    fn target_of(&self, module: ModuleRef, rid: u32) -> R<Option<ClassRef>> {
        let row = Token::new(Table::TypeDef, rid);
        let bad = |e: vervet_metadata::Error| module.bad(e).in_row(module, row);
        let refuse = |text: String| LoadError::bad_image(module, text).in_row(module, row);
        let mut found = None;
        for attribute in module.image.custom_attributes_of(row) {
            if !module
                .attribute_is(attribute, ATTRIBUTE.0, ATTRIBUTE.1)
                .map_err(bad)?
            {
                continue;
            }
            if found.is_some() {
                return Err(refuse("a type is grafted onto two types".into()));
            }
            let value = module.image.custom_attribute(attribute).map_err(bad)?.value;
            let blob = module.blob(value)?;
            let mut reader = CustomAttrReader::new(blob).map_err(bad)?;
            let assembly = reader.ser_string().map_err(bad)?;
            let name = reader.ser_string().map_err(bad)?;
            let (Some("mscorlib"), Some(name)) = (assembly, name) else {
                let text =
                    format!("a graft onto {name:?} of {assembly:?}: grafts go onto mscorlib");
                return Err(refuse(text));
            };
            let (namespace, simple) = name.rsplit_once('.').unwrap_or(("", name));
            let target = module.universe().corlib().find_own(namespace, simple)?;
            found = Some(target.ok_or_else(|| {
                refuse(format!(
                    "a graft onto {name}, which mscorlib does not define"
                ))
            })?);
        }
        Ok(found)
    }
    /// Adds the members of a graft to its target.
    fn add(&mut self, graft: ClassRef, target: ClassRef) -> R<()> {
        let (module, image) = (graft.module, &graft.module.image);
        let refuse = |text: String| {
            let text = format!("{graft}, a graft onto {target}: {text}");
            LoadError::bad_image(module, text)
        };
        if graft.is_open || target.is_open {
            return Err(refuse("one of them is generic".into()));
        }
        for rid in image.type_methods(graft.rid()) {
            let row = image.method_def(rid).map_err(|e| module.bad(e))?;
            if !moves(row.flags) {
                continue;
            }
            if self.has(target, module, rid)? {
                let name = module.string(row.name)?;
                return Err(refuse(format!("{name} is there already")));
            }
            self.methods.push(Row {
                module,
                rid,
                target,
            });
        }
        let moved = |association: Token| -> R<(usize, usize)> {
            let (mut moved, mut all) = (0, 0);
            for rid in image.method_semantics_of(association) {
                let accessor = image.method_semantics(rid).map_err(|e| module.bad(e))?;
                let row = image
                    .method_def(accessor.method)
                    .map_err(|e| module.bad(e))?;
                (moved, all) = (moved + usize::from(moves(row.flags)), all + 1);
            }
            Ok((moved, all))
        };
        for rid in image.type_properties(graft.rid()) {
            match moved(Token::new(Table::Property, rid))? {
                (0, _) => {}
                (moved, all) if moved == all => {
                    self.properties.push(Row {
                        module,
                        rid,
                        target,
                    });
                }
                _ => {
                    let text = "some accessors of a property are public and static, others not";
                    return Err(refuse(text.into()));
                }
            }
        }
        for rid in image.type_events(graft.rid()) {
            if moved(Token::new(Table::Event, rid))?.0 > 0 {
                return Err(refuse("events are not grafted".into()));
            }
        }
        self.targets.insert(graft.id, target);
        self.onto.entry(target.rid()).or_default().push(graft);
        Ok(())
    }
    /// Whether a target, or what is grafted onto it so far, has a method of the name and signature of a row. Types are
    /// resolved only where name and numbers of parameters are equal.
    fn has(&self, target: ClassRef, module: ModuleRef, rid: u32) -> R<bool> {
        let read = |module: ModuleRef, rid: u32| -> R<(&'static str, &'static [u8])> {
            let row = module.image.method_def(rid).map_err(|e| module.bad(e))?;
            Ok((module.string(row.name)?, module.blob(row.signature)?))
        };
        let (name, blob) = read(module, rid)?;
        let corlib = target.module;
        let own = corlib.image.type_methods(target.rid());
        let own = own.map(|rid| (corlib, rid));
        let grafted = self.methods.iter().filter(|row| row.target == target);
        let grafted = grafted.map(|row| (row.module, row.rid));
        for (of, other) in own.chain(grafted) {
            let (other_name, other_blob) = read(of, other)?;
            if other_name == name && resolve::sig_counts(other_blob) == resolve::sig_counts(blob) {
                let other = resolve::open_method_sig(of, other_blob)?;
                let this = resolve::open_method_sig(module, blob)?;
                if other.ret == this.ret && other.params == this.params {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Module {
    /// Is trusted to use every member of every type: the core library, and the grafts assemblies.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_graft || self.is_corlib()
    }
    /// The class whose member a method row of a type is: that type, or the target that the row is grafted onto.
    pub(crate) fn class_of_method(owner: ClassRef, method_flags: u16) -> ClassRef {
        let moved = owner.module.is_graft && moves(method_flags);
        moved
            .then(|| {
                owner
                    .universe()
                    .grafts
                    .get()?
                    .targets
                    .get(&owner.id)
                    .copied()
            })
            .flatten()
            .unwrap_or(owner)
    }
    /// The class whose member a property row of a type is.
    pub(crate) fn class_of_property(owner: ClassRef, rid: u32) -> ClassRef {
        let grafts = owner.universe().grafts.get();
        let grafts = grafts.filter(|_| owner.module.is_graft);
        let at =
            grafts.and_then(|g| Some(&g.properties[position(&g.properties, owner.module, rid)?]));
        at.map_or(owner, |row| row.target)
    }
    /// Of a core library: the method that reflection gives a token beyond the last row ([`Method::reflection_token`]).
    pub fn grafted_method(&'static self, rid: u32) -> R<Option<MethodRef>> {
        let first = self.image.row_count(Table::MethodDef);
        let grafts = self.universe().grafts.get().filter(|_| self.is_corlib());
        let row = grafts
            .zip(rid.checked_sub(first + 1))
            .and_then(|(grafts, n)| grafts.methods.get(n as usize));
        row.map(|row| row.module.method_def(row.rid)).transpose()
    }
}

impl Method {
    /// Is grafted onto its class.
    pub fn is_grafted(&self) -> bool {
        self.module() != self.class.module
    }
    /// The token by which reflection names the method in its class's module: its own, or, if it is grafted, one beyond the last
    /// row of that module, so that no other method has it.
    pub fn reflection_token(&self) -> Token {
        if !self.is_grafted() {
            return self.token();
        }
        let at = |g: &'static Grafts| position(&g.methods, self.module(), self.rid);
        beyond(self.class.module, Table::MethodDef, self.universe(), at)
    }
}
impl Property {
    /// As [`Method::reflection_token`].
    pub fn reflection_token(&self) -> Token {
        if self.module == self.class.module {
            return Token::new(Table::Property, self.rid);
        }
        let at = |g: &'static Grafts| position(&g.properties, self.module, self.rid);
        beyond(
            self.class.module,
            Table::Property,
            self.class.universe(),
            at,
        )
    }
}

/// Where a row stands in a list.
fn position(rows: &[Row], module: ModuleRef, rid: u32) -> Option<usize> {
    rows.iter()
        .position(|row| row.module == module && row.rid == rid)
}
/// The token of a grafted member; nil if it is none.
fn beyond(
    module: ModuleRef,
    table: Table,
    universe: &'static Universe,
    at: impl FnOnce(&'static Grafts) -> Option<usize>,
) -> Token {
    let at = universe.grafts.get().and_then(at);
    Token::new(
        table,
        at.map_or(0, |n| module.image.row_count(table) + 1 + n as u32),
    )
}
