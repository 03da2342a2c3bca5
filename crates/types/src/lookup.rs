//! Members of a class, and finding them by name.
//!
//! # Invariants
//! Members are enumerated through these functions only: rows of the metadata (in order of declaration), or what an
//! array has instead. An instantiation's members have the indices of its definition's, so finding by name uses one
//! index per definition.
use crate::class::{Nature, type_flags};
use crate::field::FieldForm;
use crate::method::{MethodCells, method_flags};
use crate::*;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use vervet_metadata::{CallConvKind, Table};
use vervet_os::Published;

/// Indices of members by name.
pub(crate) type NameIndex = FxHashMap<&'static str, SmallVec<[u32; 2]>>;

/// Classes with fewer members than this are searched without an index.
const SMALL: usize = 8;
/// Longest chain of parents.
const MAX_PARENTS: usize = 10 * MAX_DEPTH as usize;

fn index<'n>(names: impl Iterator<Item = &'n &'static str>) -> NameIndex {
    let mut index = NameIndex::default();
    for (i, name) in names.enumerate() {
        index.entry(*name).or_default().push(i as u32);
    }
    index
}

/// The generic parameters of a TypeDef or MethodDef.
pub(crate) fn make_params(owner: ClassRef, owner_token: Token) -> R<Vec<ClassRef>> {
    let module = owner.module;
    let mut params: Vec<ClassRef> = Vec::new();
    let mut rows = Vec::new();
    for rid in module.image.generic_params_of(owner_token) {
        rows.push((
            module.image.generic_param(rid).map_err(|e| module.bad(e))?,
            rid,
        ));
    }
    rows.sort_by_key(|(row, _)| row.number);
    for (i, (row, rid)) in rows.into_iter().enumerate() {
        if row.number as usize != i {
            return Err(LoadError::bad_image(
                module,
                format!("{owner_token}: generic parameters are not numbered in order"),
            ));
        }
        let name = module.string(row.name)?;
        params.push(owner.universe().add_class(|id| Class {
            kind: ClassKind::GenericParam {
                rid,
                index: i as u32,
                owner,
                owner_token,
            },
            id,
            module,
            flags: type_flags::PUBLIC,
            namespace: owner.namespace,
            name,
            prim: None,
            is_open: true,
            inst_depth: 0,
            weight: 1,
            nature: Nature::Reference,
            cells: Default::default(),
        }));
    }
    Ok(params)
}

// Parents and interfaces.
impl Class {
    /// The parent; none for Object, interfaces, pointers and the like. A chain of parents that does not end is an
    /// error for each of its classes, so walks up the chain need no limit of their own.
    pub fn parent(&'static self) -> R<Option<ClassRef>> {
        self.cells
            .parent
            .get_or_try(|| {
                let parent = self.find_parent()?;
                // A parent that is known has been followed to its end, so each class is walked over once.
                let (mut at, mut left) = (parent, MAX_PARENTS);
                while let Some(class) = at
                    && class.cells.parent.get().is_none()
                {
                    left = left.checked_sub(1).ok_or_else(|| self.endless_parents())?;
                    at = class.find_parent()?;
                }
                Ok(parent)
            })
            .copied()
    }
    fn endless_parents(&'static self) -> LoadError {
        LoadError::type_load(self, "the chain of its parents does not end")
    }
    fn find_parent(&'static self) -> R<Option<ClassRef>> {
        let u = self.universe();
        match &self.kind {
            ClassKind::Def { .. } | ClassKind::Inst { .. } => {
                let row = self
                    .module
                    .image
                    .type_def(self.rid())
                    .map_err(|e| self.module.bad(e))?;
                if row.extends.is_nil() || self.is_interface() {
                    return Ok(None);
                }
                let parent = self.scope().type_(row.extends)?;
                let class = matches!(parent.kind, ClassKind::Def { .. } | ClassKind::Inst { .. });
                if !class || parent.is_interface() || parent == self {
                    return Err(LoadError::type_load(self, "the parent is not a class"));
                }
                Ok(Some(parent))
            }
            ClassKind::SzArray(_) | ClassKind::Array { .. } => Ok(Some(u.known(Known::Array))),
            ClassKind::GenericParam { .. } => {
                const VALUE_TYPE_CONSTRAINT: u32 = 8;
                if self.param_flags()? & VALUE_TYPE_CONSTRAINT != 0 {
                    return Ok(Some(u.known(Known::ValueType)));
                }
                let class = self
                    .param_constraints()?
                    .into_iter()
                    .find(|c| !c.is_interface() && !c.is_variable());
                Ok(Some(class.unwrap_or_else(|| u.known(Known::Object))))
            }
            ClassKind::Position { .. } => Ok(Some(u.known(Known::Object))),
            ClassKind::Ptr(_) | ClassKind::ByRef(_) | ClassKind::FnPtr(_) => Ok(None),
        }
    }
    /// Ancestors, root first, itself last; an interface: just itself.
    pub fn supers(&'static self) -> R<&'static [ClassRef]> {
        let supers = self.cells.supers.get_or_try(|| {
            let mut supers = vec![self];
            let mut at = self;
            while let Some(parent) = at.parent()? {
                supers.push(parent);
                at = parent;
                if supers.len() > MAX_PARENTS {
                    return Err(self.endless_parents());
                }
            }
            supers.reverse();
            Ok(supers)
        })?;
        Ok(supers)
    }
    /// Whether `ancestor` is the class or one of its parents.
    pub fn is_subclass_of(&'static self, ancestor: ClassRef) -> R<bool> {
        Ok(self == ancestor || self.supers()?.contains(&ancestor))
    }
    /// The interfaces its InterfaceImpl rows name (II.22.23); for vectors `IList<T>` and `IReadOnlyList<T>`, for
    /// vectors of an enum those of the underlying type too.
    pub fn declared_interfaces(&'static self) -> R<&'static [ClassRef]> {
        let found = self
            .cells
            .declared_interfaces
            .get_or_try(|| match self.kind {
                ClassKind::Def { .. } | ClassKind::Inst { .. } => {
                    let (image, scope) = (&self.module.image, self.scope());
                    let mut list = Vec::new();
                    for rid in image.interface_impls_of(self.rid()) {
                        let row = image.interface_impl(rid).map_err(|e| self.module.bad(e))?;
                        let interface = scope.type_(row.interface)?;
                        if !interface.is_interface() {
                            return Err(LoadError::type_load(
                                self,
                                format!("{interface} is not an interface"),
                            ));
                        }
                        list.push(interface);
                    }
                    Ok(list)
                }
                ClassKind::SzArray(elem)
                    if !elem.is_ptr() && !elem.is_fn_ptr() && !elem.is_byref() =>
                {
                    let u = self.universe();
                    let mut list = Vec::new();
                    let under = elem.enum_underlying()?;
                    for e in [Some(elem), under].into_iter().flatten() {
                        list.push(u.instantiate(u.known(Known::IList1), &[e])?);
                        list.push(u.instantiate(u.known(Known::IReadOnlyList), &[e])?);
                    }
                    Ok(list)
                }
                _ => Ok(Vec::new()),
            })?;
        Ok(found)
    }
    /// All interfaces it implements, transitively and through its parents, without duplicates.
    pub fn interfaces(&'static self) -> R<&'static [ClassRef]> {
        self.interfaces_at(0)
    }
    fn interfaces_at(&'static self, depth: u32) -> R<&'static [ClassRef]> {
        let found = self.cells.interfaces.get_or_try(|| {
            if depth > MAX_DEPTH {
                return Err(LoadError::type_load(
                    self,
                    "the chain of its interfaces does not end",
                ));
            }
            let inherited = match self.parent()? {
                // The chain of parents is checked to end first.
                Some(parent) => {
                    // From the root down, so that a long chain of parents takes no deep stack.
                    for class in self.supers()?.iter().filter(|c| **c != self) {
                        class.interfaces_at(depth)?;
                    }
                    parent.interfaces_at(depth)?
                }
                None => &[],
            };
            let mut list = inherited.to_vec();
            let mut seen: FxHashSet<u32> = list.iter().map(|c| c.id).collect();
            for interface in self.declared_interfaces()? {
                if seen.insert(interface.id) {
                    list.push(interface);
                    for base in interface.interfaces_at(depth + 1)? {
                        if seen.insert(base.id) {
                            list.push(base);
                        }
                    }
                }
            }
            if let ClassKind::GenericParam { .. } = self.kind {
                for constraint in self
                    .param_constraints()?
                    .into_iter()
                    .filter(|c| c.is_interface())
                {
                    if seen.insert(constraint.id) {
                        list.push(constraint);
                    }
                }
            }
            Ok(list)
        })?;
        Ok(found)
    }
    /// Whether it implements exactly that interface.
    pub fn implements(&'static self, interface: ClassRef) -> R<bool> {
        Ok(self.interfaces()?.contains(&interface))
    }
}

// Generic parameters, enums, nesting.
impl Class {
    /// Its generic parameters (definitions; an instantiation answers its definition's).
    pub fn params(&'static self) -> R<&'static [ClassRef]> {
        match &self.kind {
            ClassKind::Def { .. } if !self.is_open => Ok(&[]),
            ClassKind::Def { params, .. } => match params.get() {
                Some(p) => Ok(p),
                None => Ok(params.get_or_try(|| make_params(self, self.token()))?),
            },
            ClassKind::Inst { def, .. } => def.params(),
            _ => Ok(&[]),
        }
    }
    /// GenericParamAttributes of a generic parameter (II.23.1.7); 0 for other types.
    pub fn param_flags(&self) -> R<u32> {
        match self.kind {
            ClassKind::GenericParam { rid, .. } => {
                let row = self.module.image.generic_param(rid);
                row.map(|row| row.flags.into()).map_err(LoadError::from)
            }
            _ => Ok(0),
        }
    }
    /// The constraints of a generic parameter.
    pub fn param_constraints(&'static self) -> R<Vec<ClassRef>> {
        let ClassKind::GenericParam {
            rid,
            owner,
            owner_token,
            ..
        } = self.kind
        else {
            return Ok(Vec::new());
        };
        let image = &self.module.image;
        let scope = if owner_token.is(Table::MethodDef) {
            self.module.method_def(owner_token.rid())?.scope()
        } else {
            owner.scope()
        };
        let mut list = Vec::new();
        for row in image.generic_param_constraints_of(rid) {
            let row = image
                .generic_param_constraint(row)
                .map_err(|e| self.module.bad(e))?;
            list.push(scope.type_(row.constraint)?);
        }
        Ok(list)
    }
    /// The method that declares a generic parameter, if it is a method's.
    pub fn declaring_method(&'static self) -> R<Option<MethodRef>> {
        match self.kind {
            ClassKind::GenericParam { owner_token, .. } if owner_token.is(Table::MethodDef) => {
                self.module.method_def(owner_token.rid()).map(Some)
            }
            _ => Ok(None),
        }
    }
    /// The underlying type of an enum.
    pub fn enum_underlying(&'static self) -> R<Option<ClassRef>> {
        if self.nature != Nature::Enum {
            return Ok(None);
        }
        let found = self.cells.enum_underlying.get_or_try(|| {
            let field = self.fields()?.iter().find(|f| !f.is_static());
            let field = field
                .ok_or_else(|| LoadError::type_load(self, "an enum without an instance field"))?;
            match field.form {
                FieldForm::Prim(p) if p != Prim::Void => Ok(Some(self.universe().known(p.known()))),
                _ => Err(LoadError::type_load(
                    self,
                    "the underlying type of an enum is not a primitive",
                )),
            }
        })?;
        Ok(*found)
    }
    /// Types nested directly in it (definitions).
    pub fn nested_types(&'static self) -> R<Vec<ClassRef>> {
        match self.rid() {
            0 => Ok(Vec::new()),
            rid => self
                .module
                .image
                .nested_classes_in(rid)
                .map(|r| self.module.type_def(r))
                .collect(),
        }
    }
    /// The type it is nested in (a definition). Of a generic parameter: its owner. An error if the types around it
    /// do not end after [`MAX_DEPTH`], so walks outwards end and may recurse.
    pub fn declaring_type(&'static self) -> R<Option<ClassRef>> {
        if let ClassKind::GenericParam { owner, .. } = self.kind {
            return Ok(Some(owner));
        }
        let image = &self.module.image;
        let Some(outer) = image.nested_class_of(self.rid()) else {
            return Ok(None);
        };
        let around = std::iter::successors(Some(outer), |r| image.nested_class_of(*r));
        if around.take(MAX_DEPTH as usize + 1).count() > MAX_DEPTH as usize {
            let text = format!("{} is nested in too many types", self.name);
            return Err(LoadError::bad_image(self.module, text));
        }
        self.module.type_def(outer).map(Some)
    }
}

// Members.
impl Class {
    /// Own fields in order of declaration.
    pub fn fields(&'static self) -> R<&'static [FieldRef]> {
        let fields = self.cells.fields.get_or_try(|| match &self.kind {
            ClassKind::Def { rid, .. } => {
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
    fn read_methods(&'static self, rid: u32) -> R<Vec<MethodRef>> {
        let module = self.module;
        let rows = module.image.type_methods(rid);
        let mut methods: Vec<MethodRef> = Vec::with_capacity(rows.len());
        for rid in rows {
            let row = module.image.method_def(rid).map_err(|e| module.bad(e))?;
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
                method_args: &[],
                kind: MethodKind::Normal,
                typical: None,
                generic_def: None,
                blob,
                cells: MethodCells::default(),
            }));
        }
        Ok(methods)
    }
    /// The own method with that index; an instantiation's is made only when it is asked for.
    pub(crate) fn method_at(&'static self, index: u32) -> R<MethodRef> {
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
                method_args: &[],
                kind,
                typical: None,
                generic_def: None,
                blob: &[],
                cells: MethodCells::default(),
            });
            let sig = method.cells.sig.put(MethodSig {
                has_this: true,
                explicit_this: false,
                call_conv: CallConvKind::Default,
                generic_arity: 0,
                ret,
                params,
                sentinel: None,
            });
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
        add("Set", MethodKind::ArraySet, rank, Some(elem), void);
        add(
            "Address",
            MethodKind::ArrayAddress,
            rank,
            None,
            u.byref(elem),
        );
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
    /// Indices of the own methods of that name, in order.
    pub(crate) fn methods_named(&'static self, name: &str) -> R<SmallVec<[u32; 4]>> {
        let def = self.def();
        let methods = def.methods()?;
        if methods.len() < SMALL {
            return Ok(methods
                .iter()
                .filter(|m| m.name == name)
                .map(|m| m.index)
                .collect());
        }
        let names = def
            .cells
            .method_names
            .get_or_try(|| Ok::<_, LoadError>(index(methods.iter().map(|m| &m.name))))?;
        Ok(names
            .get(name)
            .map_or_else(SmallVec::new, |list| SmallVec::from_slice(list)))
    }
    /// An own field.
    pub fn find_field(&'static self, name: &str) -> R<Option<FieldRef>> {
        let fields = self.fields()?;
        if fields.len() < SMALL {
            return Ok(fields.iter().find(|f| f.name == name).copied());
        }
        let def = self.def();
        let make = || Ok::<_, LoadError>(index(def.fields()?.iter().map(|f| &f.name)));
        let names = def.cells.field_names.get_or_try(make)?;
        Ok(names
            .get(name)
            .and_then(|list| fields.get(list[0] as usize).copied()))
    }
    /// An own method; the first with that many parameters.
    pub fn find_method(&'static self, name: &str, params: Option<usize>) -> R<Option<MethodRef>> {
        let methods = self.def().methods()?;
        for i in self.methods_named(name)? {
            if params.is_none_or(|n| n == methods[i as usize].param_count as usize) {
                return self.method_at(i).map(Some);
            }
        }
        Ok(None)
    }
    /// An own or inherited method; the nearest with that many parameters.
    pub fn find_method_inherited(
        &'static self,
        name: &str,
        params: Option<usize>,
    ) -> R<Option<MethodRef>> {
        for class in self.supers()?.iter().rev() {
            if let Some(m) = class.find_method(name, params)? {
                return Ok(Some(m));
            }
        }
        Ok(None)
    }
    /// An own or inherited field.
    pub fn find_field_inherited(&'static self, name: &str) -> R<Option<FieldRef>> {
        for class in self.supers()?.iter().rev() {
            if let Some(f) = class.find_field(name)? {
                return Ok(Some(f));
            }
        }
        Ok(None)
    }
    /// An own method with exactly that open signature (only the fixed part of a vararg one counts).
    pub fn find_method_sig(&'static self, name: &str, sig: &MethodSig) -> R<Option<MethodRef>> {
        let methods = self.def().methods()?;
        let fixed = &sig.params[..sig.sentinel.unwrap_or(sig.params.len())];
        for i in self.methods_named(name)? {
            let m = methods[i as usize];
            if m.param_count as usize != fixed.len()
                || m.generic_arity != sig.generic_arity
                || m.has_this() != sig.has_this
            {
                continue;
            }
            // A candidate of which some type cannot be loaded is not meant; one that must be waited for may be.
            let open = match m.open_sig() {
                Err(e @ LoadError::Need(_)) => return Err(e),
                other => other,
            };
            if open.is_ok_and(|s| s.ret == sig.ret && s.params == fixed) {
                return self.method_at(i).map(Some);
            }
        }
        Ok(None)
    }
    /// Own properties.
    pub fn properties(&'static self) -> R<&'static [Property]> {
        let list = self.cells.properties.get_or_try(|| {
            let module = self.module;
            let mut list = Vec::new();
            for rid in module
                .image
                .type_properties(self.rid())
                .take_while(|_| self.rid() != 0)
            {
                let row = module.image.property(rid).map_err(|e| module.bad(e))?;
                let mut property = Property {
                    class: self,
                    rid,
                    name: module.string(row.name)?,
                    flags: row.flags.into(),
                    getter: None,
                    setter: None,
                    others: Vec::new(),
                };
                for (what, method) in self.accessors(Token::new(Table::Property, rid))? {
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
                for (what, method) in self.accessors(Token::new(Table::Event, rid))? {
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
    /// The accessors of a property or event with their MethodSemanticsAttributes (II.22.28).
    fn accessors(&'static self, association: Token) -> R<Vec<(u16, MethodRef)>> {
        let module = self.module;
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
    /// The class constructor.
    pub fn cctor(&'static self) -> R<Option<MethodRef>> {
        let found = self.cells.cctor.get_or_try(|| -> R<Option<MethodRef>> {
            for i in self.methods_named(".cctor")? {
                let m = self.def().methods()?[i as usize];
                if m.is_cctor() {
                    return self.method_at(i).map(Some);
                }
            }
            Ok(None)
        })?;
        Ok(*found)
    }
    /// The override of Object.Finalize, if there is one other than Object's.
    pub fn finalizer(&'static self) -> R<Option<MethodRef>> {
        let found = self
            .cells
            .finalizer
            .get_or_try(|| -> R<Option<MethodRef>> {
                let object = self.universe().known(Known::Object);
                if self.is_interface() || self.parent()?.is_none() {
                    return Ok(None);
                }
                let Some(base) = object.find_method("Finalize", Some(0))? else {
                    return Ok(None);
                };
                Ok(Some(self.find_virtual_impl(base)?).filter(|m| m.class != object))
            })?;
        Ok(*found)
    }
}
