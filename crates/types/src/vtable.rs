//! Virtual methods: which method a slot, or an interface method, means on a class (ECMA-335
//! II.10.3, II.12.2).
//!
//! # How it works
//! A vtable begins with the parent's slots. A virtual method of the class takes the slot of the
//! method it overrides, or a new one with `newslot`. MethodImpl rows then replace the methods of
//! single slots.
//!
//! The implementation of an interface method is searched in the order that mono uses:
//!
//! 1. a MethodImpl row of the class;
//! 2. if the parent does not implement the interface: a public virtual method of the class with
//!    that name and signature, then one it inherits. If the parent implements it: only a `newslot`
//!    method of a class that names the interface again;
//! 3. the parent's implementation, as overridden in the class;
//! 4. the most specific interface that overrides the method, then the method itself if it has a
//!    body.
//!
//! # Invariants
//! * The parent's slots come first and keep their numbers, so a call through a slot works on any
//!   subclass.
//! * A slot holds the method that a call through it runs: an abstract method where there is no
//!   implementation, a generic virtual method as its definition.
//! * Interfaces take no slots of a class. Their methods are found by
//!   [`Class::find_interface_impl`].
use crate::method::method_flags;
use crate::*;
use rustc_hash::FxHashMap;
use vervet_metadata::Table;
use vervet_os::LeafLock;

/// Implementations found so far, by id of the interface method.
pub(crate) type ImplCache = LeafLock<FxHashMap<u32, Option<MethodRef>>>;

/// A MethodImpl row (II.22.27): resolved only when its name is asked for.
pub(crate) struct MethodImpl {
    declaration: Token,
    body: Token,
    /// Name of the declaration.
    name: &'static str,
    /// The declaration is an interface's.
    on_interface: bool,
}

/// The virtual methods of a class.
pub struct VTableLayout {
    /// The implementation of each slot, the parent's first.
    pub slots: Vec<MethodRef>,
    /// Slot of each own method, by index; `u32::MAX` if it has none.
    pub(crate) own: Vec<u32>,
    /// Some method is in more than one slot.
    has_copies: bool,
}

impl Class {
    /// Its virtual methods. For an interface: its instance methods in order.
    pub fn vtable(&'static self) -> R<&'static VTableLayout> {
        self.cells.vtable.get_or_try(|| {
            // From the root down, so that a long chain of parents takes no deep stack.
            let mut failed: Option<LoadError> = None;
            let mut above: Option<ClassRef> = None;
            for class in self.supers()?.iter().copied() {
                failed = match (failed, above) {
                    (Some(error), Some(parent)) => Some(error.in_parent_vtable(class, parent)),
                    _ if class == self => None,
                    _ => class.vtable().err(),
                };
                above = Some(class);
            }
            failed.map_or(Ok(()), Err)?;
            self.make_vtable()
        })
    }
    /// Computes the vtable.
    fn make_vtable(&'static self) -> R<VTableLayout> {
        let methods = self.def().methods()?;
        let own_rows = matches!(self.kind, ClassKind::Def { .. } | ClassKind::Inst { .. });
        let mut table = VTableLayout {
            slots: Vec::new(),
            own: vec![u32::MAX; if own_rows { methods.len() } else { 0 }],
            has_copies: false,
        };
        let parent = self.parent()?;
        if let Some(parent) = parent {
            let base = parent.vtable()?;
            table.slots.reserve(base.slots.len() + 4);
            table.slots.extend_from_slice(&base.slots);
            table.has_copies = base.has_copies;
        }
        if !own_rows {
            return Ok(table);
        }
        for (i, row) in methods
            .iter()
            .enumerate()
            .filter(|(_, m)| m.is_virtual() && !m.is_static())
        {
            let method = self.method_at(i as u32)?;
            let overridden = match parent {
                Some(parent) if !row.is_new_slot() => parent
                    .find_overridden(method)
                    .map_err(|e| e.in_vtable(self))?,
                _ => None,
            };
            let slot = match overridden {
                Some(slot) => {
                    let old = table.slots[slot as usize];
                    table.slots[slot as usize] = method;
                    if table.has_copies {
                        table
                            .slots
                            .iter_mut()
                            .filter(|m| **m == old)
                            .for_each(|m| *m = method);
                    }
                    slot
                }
                None => {
                    table.slots.push(method);
                    table.slots.len() as u32 - 1
                }
            };
            table.own[i] = slot;
        }
        if self.is_interface() {
            return Ok(table);
        }
        for row in self.method_impls()?.iter().filter(|row| !row.on_interface) {
            let scope = self.scope();
            let (declaration, body) = (scope.method(row.declaration)?, scope.method(row.body)?);
            let slot = if declaration.class == self {
                table
                    .own
                    .get(declaration.index as usize)
                    .copied()
                    .filter(|s| *s != u32::MAX)
            } else {
                declaration.slot()?
            };
            let Some(cell) = slot.and_then(|s| table.slots.get_mut(s as usize)) else {
                return Err(LoadError::type_load(
                    self,
                    format!("it overrides {declaration}, which is not virtual"),
                ));
            };
            self.check_impl(declaration, body)?;
            *cell = body;
            table.has_copies = true;
        }
        if !self.is_abstract()
            && let Some(m) = table.slots.iter().find(|m| m.is_abstract())
        {
            return Err(LoadError::type_load(
                self,
                format!(
                    "Method '{}' does not have an implementation.",
                    m.signed_name()
                ),
            ));
        }
        Ok(table)
    }
    /// The slot that a method of a derived class without `newslot` takes: that of the nearest virtual method of the
    /// same name and signature.
    fn find_overridden(&'static self, method: MethodRef) -> R<Option<u32>> {
        for class in self.supers()?.iter().rev() {
            let methods = class.def().methods()?;
            for i in class.methods_named(method.name)? {
                let row = methods[i as usize];
                let candidate = row.is_virtual()
                    && !row.is_static()
                    && row.param_count == method.param_count
                    && row.generic_arity == method.generic_arity;
                if candidate
                    && may_override(method, row)
                    && class.method_at(i)?.slot_sig()? == method.slot_sig()?
                    && modifiers::same(method, class.method_at(i)?)?
                {
                    return Ok(class.vtable()?.own.get(i as usize).copied());
                }
            }
        }
        Ok(None)
    }
    /// Checks the signatures of the two methods of a MethodImpl (ECMA-335 II.22.27): a caller passes what the declaration says.
    fn check_impl(&'static self, declaration: MethodRef, body: MethodRef) -> R<()> {
        let same = match (declaration.slot_sig(), body.slot_sig()) {
            // Nobody can call what has a parameter of a type that is not there.
            (Err(a), Err(b)) if a.is_absence() && b.is_absence() => true,
            (declared, own) => declared? == own?,
        };
        match same {
            true => Ok(()),
            false => {
                let text = format!(
                    "Method {} cannot implement {}, whose signature is another",
                    body.signed_name(),
                    declaration.signed_name()
                );
                Err(LoadError::type_load(self, text))
            }
        }
    }
    /// The MethodImpl rows of the class.
    fn method_impls(&'static self) -> R<&'static [MethodImpl]> {
        let list = self.cells.method_impls.get_or_try(|| {
            let (module, scope) = (self.module, self.scope());
            let mut list = Vec::new();
            for rid in module
                .image
                .method_impls_of(self.rid())
                .take_while(|_| self.rid() != 0)
            {
                let row = module.image.method_impl(rid).map_err(|e| module.bad(e))?;
                let (class, name) = match row.declaration.table() {
                    Some(Table::MemberRef) => {
                        let member = module
                            .image
                            .member_ref(row.declaration.rid())
                            .map_err(|e| module.bad(e))?;
                        (scope.type_(member.class)?, module.string(member.name)?)
                    }
                    _ => {
                        let method = scope.method(row.declaration)?;
                        (method.class, method.name)
                    }
                };
                let on_interface = class.is_interface();
                list.push(MethodImpl {
                    declaration: row.declaration,
                    body: row.body,
                    name,
                    on_interface,
                });
            }
            Ok::<_, LoadError>(list)
        })?;
        Ok(list)
    }

    /// The implementation of an interface's method on this class: exactly that interface's first, else that of the
    /// first interface that is compatible by variance. Value types and arrays included.
    pub fn find_interface_impl(&'static self, method: MethodRef) -> R<Option<MethodRef>> {
        let found = self.find_impl(method.generic_def())?;
        match found {
            Some(found) if !method.method_args().is_empty() => self
                .universe()
                .instantiate_method(found, method.method_args())
                .map(Some),
            found => Ok(found),
        }
    }
    /// The implementation of an interface's method, with a cache.
    fn find_impl(&'static self, method: MethodRef) -> R<Option<MethodRef>> {
        if let Some(found) = self.cells.impls.lock().get(&method.id) {
            return Ok(*found);
        }
        let found = self.look_for_impl(method)?;
        self.cells.impls.lock().insert(method.id, found);
        Ok(found)
    }
    /// Searches the implementation.
    fn look_for_impl(&'static self, method: MethodRef) -> R<Option<MethodRef>> {
        let interface = method.class;
        if !method.is_virtual() {
            return Ok(None);
        }
        if let ClassKind::SzArray(elem) = self.kind
            && interface.is_inst()
            && let Some(prefix) = self.universe().array_interface(interface.def())
            && self.universe().vector_implements(elem, interface)?
        {
            return self.array_impl(prefix, method);
        }
        if self.implements(interface)? {
            return self.exact_impl(interface, method);
        }
        if !interface.is_inst() {
            return Ok(None);
        }
        for candidate in self.interfaces()? {
            if candidate.def() == interface.def()
                && self.universe().is_variant(candidate, interface)?
            {
                return self.exact_impl(candidate, candidate.method_at(method.index)?);
            }
        }
        Ok(None)
    }
    /// `InternalArray__*` of System.Array, with the interface's argument.
    fn array_impl(&'static self, prefix: &str, method: MethodRef) -> R<Option<MethodRef>> {
        let u = self.universe();
        let name = format!("InternalArray__{prefix}{}", method.name);
        let found = u
            .known(Known::Array)
            .find_method(&name, Some(method.param_count as usize))?;
        match found {
            Some(m) if m.generic_arity == 1 => {
                u.instantiate_method(m, &method.class.args()[..1]).map(Some)
            }
            found => Ok(found),
        }
    }
    /// The implementation for exactly this interface.
    fn exact_impl(&'static self, interface: ClassRef, method: MethodRef) -> R<Option<MethodRef>> {
        let scope = self.scope();
        for row in self
            .method_impls()?
            .iter()
            .filter(|row| row.on_interface && row.name == method.name)
        {
            if scope.method(row.declaration)? == method {
                let body = scope.method(row.body)?;
                self.check_impl(method, body)?;
                return self.as_overridden(body).map(Some);
            }
        }
        let parent = self.parent()?;
        let inherited = match parent {
            Some(parent) if parent.implements(interface)? => parent.find_impl(method)?,
            _ => None,
        };
        // A default method does not fill the slot.
        let inherited = inherited.filter(|m| !m.class.is_interface());
        if inherited.is_none() || self.declared_interfaces()?.contains(&interface) {
            let methods = self.def().methods()?;
            for i in self.methods_named(method.name)? {
                let row = methods[i as usize];
                if (inherited.is_none() || row.is_new_slot())
                    && self.implements_by(row, i, method)?
                {
                    return self
                        .method_at(i)
                        .and_then(|m| self.as_overridden(m))
                        .map(Some);
                }
            }
        }
        if let Some(m) = inherited {
            return self.as_overridden(m).map(Some);
        }
        if let Some(parent) = parent {
            for class in parent.supers()?.iter().rev() {
                let methods = class.def().methods()?;
                for i in class.methods_named(method.name)? {
                    if class.implements_by(methods[i as usize], i, method)? {
                        return class
                            .method_at(i)
                            .and_then(|m| self.as_overridden(m))
                            .map(Some);
                    }
                }
            }
        }
        self.default_impl(method)
    }
    /// Whether the own method `i` may implement an interface's by its name: public, virtual, of the same signature.
    fn implements_by(&'static self, row: MethodRef, i: u32, method: MethodRef) -> R<bool> {
        Ok(row.is_virtual()
            && !row.is_static()
            && row.is_public()
            && row.param_count == method.param_count
            && row.generic_arity == method.generic_arity
            && self.method_at(i)?.slot_sig()? == method.slot_sig()?
            && modifiers::same(row, method)?)
    }
    /// What runs on this class where a parent's method was found.
    fn as_overridden(&'static self, method: MethodRef) -> R<MethodRef> {
        if method.class.is_interface() {
            return Ok(method);
        }
        match method.slot()? {
            Some(slot) => Ok(self
                .vtable()?
                .slots
                .get(slot as usize)
                .copied()
                .unwrap_or(method)),
            None => Ok(method),
        }
    }
    /// The body of the interface that is more specific than all others that have one.
    fn default_impl(&'static self, method: MethodRef) -> R<Option<MethodRef>> {
        let mut found: Vec<(ClassRef, MethodRef)> = Vec::new();
        for interface in self.interfaces()? {
            let scope = interface.scope();
            for row in interface
                .method_impls()?
                .iter()
                .filter(|row| row.name == method.name)
            {
                if scope.method(row.declaration)? == method {
                    let body = scope.method(row.body)?;
                    self.check_impl(method, body)?;
                    found.push((interface, body));
                }
            }
        }
        let Some((first, rest)) = found.split_first() else {
            return Ok((!method.is_abstract()).then_some(method));
        };
        let mut best = *first;
        for candidate in rest {
            if candidate.0.implements(best.0)? {
                best = *candidate;
            }
        }
        for (other, _) in &found {
            if *other != best.0 && !best.0.implements(other)? {
                return Err(LoadError::Ambiguous {
                    method: method.signed_name(),
                    class: self.full_name(),
                });
            }
        }
        Ok(Some(best.1))
    }
    /// What a virtual call of `method` runs on an instance of exactly this class. A method that is not virtual is
    /// itself; so is a final one, also if a class has put another method in its slot, as in mono.
    pub fn find_virtual_impl(&'static self, method: MethodRef) -> R<MethodRef> {
        let missing = || LoadError::missing_method(self, method.name);
        if method.class.is_interface() {
            return match self.find_interface_impl(method)? {
                Some(m) => Ok(m),
                None if !method.is_virtual() => Ok(method),
                None => Err(missing()),
            };
        }
        if method.is_final() {
            return Ok(method);
        }
        self.find_in_slot(method)
    }
    /// What is in the slot of a class's method in instances of exactly this class, also if the method is final. A method without a slot is itself.
    pub fn find_in_slot(&'static self, method: MethodRef) -> R<MethodRef> {
        let missing = || LoadError::missing_method(self, method.name);
        let Some(slot) = method.slot()? else {
            return Ok(method);
        };
        let found = *self
            .vtable()?
            .slots
            .get(slot as usize)
            .ok_or_else(missing)?;
        if method.method_args().is_empty() {
            Ok(found)
        } else {
            self.universe()
                .instantiate_method(found, method.method_args())
        }
    }
}

/// Whether accessibility lets `method` override `base`: it matters only where the base method is `strict` (II.23.1.10).
fn may_override(method: MethodRef, base: MethodRef) -> bool {
    if base.flags & method_flags::STRICT == 0 {
        return true;
    }
    match base.flags & method_flags::ACCESS_MASK {
        0 | method_flags::PRIVATE => method.class.def() == base.class.def(),
        method_flags::ASSEM | method_flags::FAM_AND_ASSEM => {
            let (from, to) = (method.class.module.assembly(), base.class.module.assembly());
            from == to
                || to
                    .zip(from)
                    .is_some_and(|(to, from)| to.has_friend(from.name))
        }
        _ => true,
    }
}

impl Universe {
    /// The generic interfaces that vectors implement, with what mono's names of their implementations begin with.
    pub(crate) fn array_interface(&self, def: ClassRef) -> Option<&'static str> {
        // The prefixes of the generic methods of System.Array that implement the interfaces of
        // vectors.
        const PREFIXES: [(Known, &str); 5] = [
            (Known::IList1, ""),
            (Known::ICollection1, "ICollection_"),
            (Known::IEnumerable1, "IEnumerable_"),
            (Known::IReadOnlyList, "IReadOnlyList_"),
            (Known::IReadOnlyCollection, "IReadOnlyCollection_"),
        ];
        PREFIXES
            .iter()
            .find(|(k, _)| self.known_opt(*k) == Some(def))
            .map(|(_, prefix)| *prefix)
    }
}
