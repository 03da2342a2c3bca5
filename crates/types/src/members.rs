//! The members of a class: fields, methods, properties and events, in order of declaration.
//!
//! # Invariants
//! * Members are enumerated here only: rows of the metadata, or what an array has instead (ECMA-335
//!   II.14.2). A member is made once; everyone who asks gets the same object.
//! * The members of an instantiation have the same indices as those of its definition.
//! * Grafted members ([`crate::grafts`]) follow the own ones.
use crate::field::FieldForm;
use crate::method::{MethodCells, Rare, method_flags};
use crate::*;
use vervet_metadata::Table;
use vervet_os::Published;

impl Class {
    /// Own fields in order of declaration.
    pub fn fields(&'static self) -> R<&'static [FieldRef]> {
        let fields = self.cells.fields.get_or_try(|| match &self.kind {
            ClassKind::Def { rid, .. } => {
                self.complete()?;
                let module = self.module;
                let mut fields: Vec<FieldRef> = Vec::new();
                for rid in module.image.type_fields(*rid) {
                    let row = module.image.field(rid).map_err(|e| module.bad(e))?;
                    let (name, blob) = (module.string(row.name)?, module.blob(row.signature)?);
                    fields.push(self.universe().add_field(|id| Field {
                        id,
                        class: self,
                        rid,
                        index: fields.len() as u32,
                        name,
                        flags: row.flags.into(),
                        form: FieldForm::read(blob),
                        blob,
                        ty: Published::new(),
                        open_ty: Published::new(),
                        typical: None,
                    }));
                }
                Ok(fields)
            }
            ClassKind::Inst { def, .. } => {
                let own = |f: &FieldRef| -> FieldRef {
                    let (f, cell) = (*f, Published::new);
                    self.universe().add_field(|id| Field {
                        id,
                        class: self,
                        typical: Some(f),
                        ty: cell(),
                        open_ty: Published::new(),
                        ..*f
                    })
                };
                Ok::<_, LoadError>(def.fields()?.iter().map(own).collect())
            }
            _ => Ok(Vec::new()),
        })?;
        Ok(fields)
    }
    /// Own methods in order of declaration, those synthesized for arrays included.
    pub fn methods(&'static self) -> R<&'static [MethodRef]> {
        let methods = self.cells.methods.get_or_try(|| match &self.kind {
            ClassKind::Def { rid, .. } => self.read_methods(*rid),
            ClassKind::Inst { def, .. } => (0..def.methods()?.len() as u32)
                .map(|i| self.method_at(i))
                .collect(),
            ClassKind::SzArray(_) | ClassKind::Array { .. } => Ok(self.array_methods()),
            _ => Ok(Vec::new()),
        })?;
        Ok(methods)
    }
    /// The methods of a TypeDef.
    fn read_methods(&'static self, rid: u32) -> R<Vec<MethodRef>> {
        self.complete()?;
        let own = self.module.image.type_methods(rid);
        let mut methods: Vec<MethodRef> = Vec::with_capacity(own.len());
        let grafted = self.universe().grafts_onto(self).iter().flat_map(|g| {
            let rows = g.module.image.type_methods(g.rid());
            rows.map(|rid| (*g, rid))
        });
        for (owner, rid) in own.map(|rid| (self, rid)).chain(grafted) {
            let module = owner.module;
            let row = module.image.method_def(rid).map_err(|e| module.bad(e))?;
            if Module::class_of_method(owner, row.flags) != self {
                continue;
            }
            let (name, blob) = (module.string(row.name)?, module.blob(row.signature)?);
            let (generic_arity, param_count) = resolve::sig_counts(blob);
            methods.push(self.universe().add_method(|id| Method {
                id,
                class: self,
                rid,
                index: methods.len() as u32,
                name,
                flags: row.flags.into(),
                impl_flags: row.impl_flags.into(),
                generic_arity,
                param_count,
                kind: MethodKind::Normal,
                typical: None,
                rare: (owner != self).then(|| &*Box::leak(Box::new(Rare::Grafted(module)))),
                blob,
                cells: MethodCells::default(),
            }));
        }
        Ok(methods)
    }
    /// The own method with that index. That of an instantiation is created when it is first asked
    /// for, because most methods of most instantiations are never used.
    pub fn method_at(&'static self, index: u32) -> R<MethodRef> {
        let none = || LoadError::type_load(self, "a method that does not exist");
        let ClassKind::Inst { def, .. } = self.kind else {
            return self
                .methods()?
                .get(index as usize)
                .copied()
                .ok_or_else(none);
        };
        let methods = def.methods()?;
        let cells = self.cells.method_cells.get_or_try(|| {
            Ok::<_, LoadError>((0..methods.len()).map(|_| Published::new()).collect())
        })?;
        let (cell, typical) = (
            cells.get(index as usize).ok_or_else(none)?,
            methods[index as usize],
        );
        Ok(cell.get().unwrap_or_else(|| {
            cell.set(self.universe().add_method(|id| Method {
                id,
                class: self,
                typical: Some(typical),
                cells: MethodCells::default(),
                ..*typical
            }))
        }))
    }
    /// The methods that the runtime gives an array: constructors, Get, Set, Address.
    fn array_methods(&'static self) -> Vec<MethodRef> {
        let u = self.universe();
        let (Some(elem), Some(rank)) = (self.element(), self.rank()) else {
            return Vec::new();
        };
        let (int, void) = (u.known(Known::Int32), u.known(Known::Void));
        let mut methods: Vec<MethodRef> = Vec::new();
        let mut add = |name, kind, ints: u32, last: Option<ClassRef>, ret| {
            let mut params = vec![int; ints as usize];
            params.extend(last);
            let special = if name == ".ctor" {
                method_flags::SPECIAL_NAME | method_flags::RT_SPECIAL_NAME
            } else {
                0
            };
            let method = u.add_method(|id| Method {
                id,
                class: self,
                rid: 0,
                index: methods.len() as u32,
                name,
                flags: method_flags::PUBLIC | special,
                impl_flags: 0,
                generic_arity: 0,
                param_count: params.len() as u32,
                kind,
                typical: None,
                rare: None,
                blob: &[],
                cells: MethodCells::default(),
            });
            let sig = method.cells.sig.put(MethodSig::plain(true, ret, params));
            method.cells.open_sig.set(sig);
            methods.push(method);
        };
        add(
            ".ctor",
            MethodKind::ArrayCtor { with_bounds: false },
            rank,
            None,
            void,
        );
        if !self.is_sz_array() {
            add(
                ".ctor",
                MethodKind::ArrayCtor { with_bounds: true },
                2 * rank,
                None,
                void,
            );
        }
        add("Get", MethodKind::ArrayGet, rank, None, elem);
        add(
            "Address",
            MethodKind::ArrayAddress,
            rank,
            None,
            u.byref(elem),
        );
        add("Set", MethodKind::ArraySet, rank, Some(elem), void);
        // Jagged: one length per level. Last, so that the others' indices do not depend on the element.
        let (mut level, mut at) = (1, elem);
        while self.is_sz_array()
            && at.is_sz_array()
            && let Some(next) = at.element()
        {
            level += 1;
            add(
                ".ctor",
                MethodKind::ArrayCtor { with_bounds: false },
                level,
                None,
                void,
            );
            at = next;
        }
        methods
    }
    /// Own properties.
    pub fn properties(&'static self) -> R<&'static [Property]> {
        let list = self.cells.properties.get_or_try(|| {
            self.complete()?;
            let mut list = Vec::new();
            let rows = |owner: ClassRef| {
                let rows = owner.module.image.type_properties(owner.rid());
                rows.map(move |rid| (owner, rid))
            };
            let own = rows(self.def()).take_while(|_| self.rid() != 0);
            let grafted = self.universe().grafts_onto(self);
            for (owner, rid) in own.chain(grafted.iter().flat_map(|g| rows(g))) {
                let module = owner.module;
                if Module::class_of_property(owner, rid) != self.def() {
                    continue;
                }
                let row = module.image.property(rid).map_err(|e| module.bad(e))?;
                let mut property = Property {
                    class: self,
                    module,
                    rid,
                    name: module.string(row.name)?,
                    flags: row.flags.into(),
                    getter: None,
                    setter: None,
                    others: Vec::new(),
                };
                for (what, method) in self.accessors(module, Token::new(Table::Property, rid))? {
                    match what {
                        1 => property.setter = Some(method),
                        2 => property.getter = Some(method),
                        _ => property.others.push(method),
                    }
                }
                list.push(property);
            }
            Ok::<_, LoadError>(list)
        })?;
        Ok(list)
    }
    /// Own events.
    pub fn events(&'static self) -> R<&'static [Event]> {
        let list = self.cells.events.get_or_try(|| {
            self.complete()?;
            let module = self.module;
            let mut list = Vec::new();
            for rid in module
                .image
                .type_events(self.rid())
                .take_while(|_| self.rid() != 0)
            {
                let row = module.image.event(rid).map_err(|e| module.bad(e))?;
                let mut event = Event {
                    class: self,
                    rid,
                    name: module.string(row.name)?,
                    flags: row.flags.into(),
                    add: None,
                    remove: None,
                    raise: None,
                    others: Vec::new(),
                };
                for (what, method) in self.accessors(module, Token::new(Table::Event, rid))? {
                    match what {
                        0x08 => event.add = Some(method),
                        0x10 => event.remove = Some(method),
                        0x20 => event.raise = Some(method),
                        _ => event.others.push(method),
                    }
                }
                list.push(event);
            }
            Ok::<_, LoadError>(list)
        })?;
        Ok(list)
    }
    /// The accessors of a property or event row of a module with their MethodSemanticsAttributes (II.22.28).
    fn accessors(&'static self, module: ModuleRef, association: Token) -> R<Vec<(u16, MethodRef)>> {
        let mut list = Vec::new();
        for rid in module.image.method_semantics_of(association) {
            let row = module
                .image
                .method_semantics(rid)
                .map_err(|e| module.bad(e))?;
            let method = module.method_def(row.method)?;
            if method.class != self.def() {
                return Err(LoadError::bad_image(
                    module,
                    format!("{association}: an accessor of another class"),
                ));
            }
            list.push((row.semantics, self.method_at(method.index)?));
        }
        Ok(list)
    }
}
