//! Parents and interfaces of a class, and the types around it.
//!
//! # Invariants
//! * A chain of parents ends: [`Class::parent`] follows it to its end before it answers, and reports
//!   a chain of more than [`MAX_PARENTS`] classes as an error of each of them. Walks up the chain
//!   therefore need no limit of their own.
//! * A deep chain takes no deep stack: lists are computed from the root down.
use crate::class::{Nature, type_flags};
use crate::field::FieldForm;
use crate::*;
use rustc_hash::FxHashSet;

/// Longest chain of parents.
const MAX_PARENTS: usize = 10 * MAX_DEPTH as usize;

impl Class {
    /// The parent; none for Object, interfaces, pointers and the like. A chain of parents that does not end is an
    /// error for each of its classes, so walks up the chain need no limit of their own.
    pub fn parent(&'static self) -> R<Option<ClassRef>> {
        self.cells
            .parent
            .get_or_try(|| {
                let parent = self.find_parent()?;
                if !self.has_end(parent)? {
                    return Err(self.endless_parents());
                }
                Ok(parent)
            })
            .copied()
    }
    /// Whether the chain of parents ends. One that is known has been followed to its end, so each class is walked over
    /// once.
    pub(crate) fn has_end(&'static self, parent: Option<ClassRef>) -> R<bool> {
        let (mut at, mut left) = (parent, MAX_PARENTS);
        while let Some(class) = at
            && class.cells.parent.get().is_none()
        {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            at = class.find_parent()?;
        }
        Ok(true)
    }
    /// The error of a chain of parents without end.
    pub(crate) fn endless_parents(&'static self) -> LoadError {
        LoadError::type_load(self, "the chain of its parents does not end")
    }
    /// The parent as it is declared, without following its own parents.
    pub(crate) fn find_parent(&'static self) -> R<Option<ClassRef>> {
        let u = self.universe();
        match &self.kind {
            ClassKind::Def { .. } | ClassKind::Inst { .. } => {
                self.complete()?;
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
                // Until here its name stood for it. A class of that name in another assembly may have fields of its own.
                let named = match self.nature {
                    Nature::Value => Some(Known::ValueType),
                    Nature::Enum => Some(Known::Enum),
                    Nature::Delegate => Some(Known::MulticastDelegate),
                    Nature::Reference => None,
                };
                if named.is_some_and(|known| parent != u.known(known)) {
                    let what = "the parent has the name of one of the core library's types";
                    return Err(LoadError::type_load(self, what));
                }
                // As in mono, the root of imported classes stands in for Object.
                let root = match self.flags & type_flags::IMPORT != 0
                    && parent == u.known(Known::Object)
                {
                    true => u.known_opt(Known::ComObject),
                    false => None,
                };
                Ok(Some(root.unwrap_or(parent)))
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
    /// Calls `visit` with the modules by which the type is named: its definition's, and those of its arguments or element.
    pub fn each_module(&self, visit: &mut dyn FnMut(ModuleRef)) {
        match &self.kind {
            ClassKind::Inst { def, args } => {
                visit(def.module);
                args.iter().for_each(|a| a.each_module(visit));
            }
            ClassKind::SzArray(e)
            | ClassKind::Ptr(e)
            | ClassKind::ByRef(e)
            | ClassKind::Array { elem: e, .. } => e.each_module(visit),
            _ => visit(self.module),
        }
    }
    /// Whether it is MarshalByRefObject or derives from it: what refers to an object of it may refer to a transparent proxy.
    pub fn is_marshal_by_ref(&'static self) -> R<bool> {
        let by_ref = self.universe().known(Known::MarshalByRefObject);
        // Its parent is Object.
        Ok(self.supers()?.get(1).is_some_and(|c| *c == by_ref))
    }
    /// The interfaces its InterfaceImpl rows name (II.22.23); for vectors `IList<T>` and `IReadOnlyList<T>`, for
    /// vectors of an enum those of the underlying type too.
    pub fn declared_interfaces(&'static self) -> R<&'static [ClassRef]> {
        let found = self
            .cells
            .declared_interfaces
            .get_or_try(|| match self.kind {
                ClassKind::Def { .. } | ClassKind::Inst { .. } => {
                    self.complete()?;
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
    /// The interfaces, `depth` interfaces deep.
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

impl Class {
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
