//! What makes a class unusable, and what code may access: asked before code of a class runs.
//!
//! # Invariants
//! * The levels of a class are computed lazily, and a program must not notice. Whoever creates
//!   instances of a class, runs its code or gives out its Type object asks [`Class::check`] first,
//!   and gets the error that one of the levels would raise later.
//! * The core library and the grafts assemblies are trusted and not checked.
//! * Accessibility is decided as mono's JIT decides it ([`can_access_method`]).
use crate::class::{Nature, type_flags};
use crate::method::method_flags as flags;
use crate::*;
use std::sync::atomic::Ordering;

/// Which instruction has the type for its operand.
#[derive(Clone, Copy)]
enum Operand {
    /// `sizeof`
    Sized,
    /// Any other.
    Any,
}

impl Class {
    /// Whether everything the class is made of can be loaded: its arguments against the constraints, its parents,
    /// fields' types, layout, virtual methods, and an implementation of every method of its interfaces. An array's
    /// element may not be of a kind that lives on a stack only, and its innermost one's arguments are checked.
    pub fn check(&'static self) -> R<()> {
        match self.kind {
            ClassKind::Def { .. } if self.module.is_corlib() => return Ok(()),
            ClassKind::Def { .. } | ClassKind::Inst { .. } => {}
            ClassKind::SzArray(elem) | ClassKind::Array { elem, .. } => {
                if elem.is_by_ref_like() {
                    let text = format!("{} lives on a stack only", elem.full_name());
                    return Err(LoadError::type_load(self, text));
                }
                let mut at = elem;
                while let Some(e) = at.element() {
                    at = e;
                }
                return if at.is_inst() {
                    at.check_once()
                } else {
                    Ok(())
                };
            }
            _ => return Ok(()),
        }
        self.check_once()
    }
    /// Computes every level of the class once.
    fn check_once(&'static self) -> R<()> {
        self.cells.checked.get_or_try(|| self.check_all())?;
        Ok(())
    }
    /// What an instruction needs of the type that is its operand. Of an array that is the same of its elements. A type that the program has not
    /// created yet may be named.
    pub fn check_operand(&'static self) -> R<()> {
        self.check_named_as(Operand::Any)
    }
    /// What `sizeof` needs of its operand: the same, but arguments may violate constraints.
    pub fn check_sized(&'static self) -> R<()> {
        self.check_named_as(Operand::Sized)
    }
    fn check_named_as(&'static self, operand: Operand) -> R<()> {
        if self.is_named_only() || self.args().iter().any(|a| a.is_named_only()) {
            return Ok(());
        }
        let element = self.element().filter(|_| self.is_array());
        if let Some(element) = element {
            element
                .check_named_as(operand)
                .map_err(|e| e.in_element(self, element))?;
        }
        match self.kind {
            ClassKind::Inst { .. } => {
                self.check_named()?;
                self.check_lacks()?;
                match operand {
                    Operand::Any => self.check_constraints(),
                    Operand::Sized => Ok(()),
                }
            }
            _ => self.check(),
        }
    }
    /// What reflection needs of a type of whose instances it is asked something: the same. What the program defines may be made of what it has not
    /// created yet.
    pub fn check_asked(&'static self) -> R<()> {
        if self.cells.asked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut at = self;
        while let Some(element) = at.element() {
            at = element;
        }
        if at.module.image.grows().is_none() {
            self.check_operand()?;
            self.cells.asked.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
    /// Whether the class's methods can be listed: whether the constraints of their parameters can be loaded. What their signatures are made of is not
    /// looked at.
    pub fn check_methods(&'static self) -> R<()> {
        let def = self.def();
        if def.module.is_corlib() || def.cells.listed.load(Ordering::Relaxed) {
            return Ok(());
        }
        for (i, method) in def.methods()?.iter().enumerate() {
            for parameter in method.generic_params()? {
                parameter.param_constraints().map_err(|e| match e {
                    need @ LoadError::Need(_) => need,
                    e => def.unusable(format!("Could not load method {i} due to {}", e.as_cause())),
                })?;
            }
        }
        if def.module.image.grows().is_none() {
            def.cells.listed.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
    /// Whether the parents are usable, from the root down.
    fn check_parents(&'static self) -> R<()> {
        let mut failed: Option<LoadError> = None;
        let mut above: Option<ClassRef> = None;
        for class in self.supers()?.iter().copied() {
            failed = match (failed, above) {
                (Some(error), Some(parent)) => Some(error.in_parent(class, parent)),
                _ if class == self => None,
                _ => class.check().err(),
            };
            above = Some(class);
        }
        failed.map_or(Ok(()), Err)
    }
    /// What `ldtoken` needs of a type: not what its members are made of.
    pub fn check_token(&'static self) -> R<()> {
        if self.is_named_only() {
            return Ok(());
        }
        self.check_named()?;
        match self.kind {
            ClassKind::Def { .. } => {
                self.check_lacks()?;
                // An enum has its underlying type from the start.
                if self.nature == Nature::Enum && !self.module.is_corlib() {
                    self.enum_underlying()?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
    /// Whether the fields' types can be loaded, in their order.
    fn check_fields(&'static self) -> R<()> {
        for field in self.def().fields()? {
            let ty = field.open_ty();
            ty.map_err(|e| e.in_field(field))?;
        }
        Ok(())
    }
    /// Whether an instruction may use a field of the class, in words if not.
    ///
    /// # Errors
    /// What only managed code can supply.
    pub fn fields_lack(&'static self) -> R<Option<String>> {
        if self.module.is_corlib() || self.cells.checked.get().is_some() {
            return Ok(None);
        }
        let fields = || self.check_parents().and_then(|()| self.check_fields());
        let usable = self.check_lacks().and_then(|()| self.check_constraints());
        match usable.and_then(|()| fields()) {
            Err(LoadError::Unusable { text, .. }) => Ok(Some(self.def().failed_with(&text))),
            other => other.map(|()| None),
        }
    }
    /// Checks a class and what it is made of.
    fn check_all(&'static self) -> R<bool> {
        self.check_named()?;
        self.check_lacks()?;
        self.check_constraints()?;
        if self.module.is_corlib() {
            return Ok(true);
        }
        self.check_parents()?;
        for interface in self.interfaces()? {
            if let Err(error) = interface.check_constraints() {
                return Err(error.in_interface(self, interface));
            }
        }
        self.check_fields()?;
        if self.nature == Nature::Enum {
            self.enum_underlying()?;
        }
        if self.nature == Nature::Value {
            for m in self.def().methods()? {
                if m.is_synchronized() && !m.is_static() {
                    let text = format!("method {} of a value type is synchronized", m.name);
                    return Err(LoadError::type_load(self, text));
                }
            }
        }
        if self.is_open {
            return Ok(true);
        }
        self.instance_layout()?;
        if self.is_interface() {
            return Ok(true);
        }
        self.vtable()?;
        if self.is_abstract() {
            return Ok(true);
        }
        let inherited = match self.parent()? {
            Some(parent) if !parent.is_abstract() => parent.interfaces()?,
            _ => &[],
        };
        for interface in self.interfaces()? {
            if inherited.contains(interface) || interface.flags & type_flags::IMPORT != 0 {
                continue;
            }
            for i in 0..interface.def().methods()?.len() as u32 {
                let row = interface.def().methods()?[i as usize];
                // One that is not public abstracts another interface's again.
                if !row.is_abstract() || row.is_static() || !row.is_public() {
                    continue;
                }
                let method = interface.method_at(i)?;
                // Several default methods are an error only of a call.
                let found = match self.find_interface_impl(method) {
                    Err(LoadError::Ambiguous { .. }) => continue,
                    other => other.map_err(|e| e.in_implementation(self))?,
                };
                if found.is_none() {
                    let name = method.signed_name();
                    let text = format!("Method '{name}' does not have an implementation.");
                    return Err(LoadError::type_load(self, text));
                }
            }
        }
        Ok(true)
    }
}

/// Whether code of a class may use a member of another class of that accessibility (I.8.5.3.2).
fn can_access(from: ClassRef, to: ClassRef, access: u32) -> R<bool> {
    let (from, to) = (from.def(), to.def());
    Ok(match access {
        0 => from.module.id == to.module.id,
        flags::PRIVATE => from == to || is_let_in(from, to),
        flags::FAM_AND_ASSEM => is_family(from, to)? && sees_internals(from, to),
        flags::ASSEM => sees_internals(from, to),
        4 => is_family(from, to)?,
        5 => sees_internals(from, to) || is_family(from, to)?,
        _ => true,
    })
}

/// Whether code of a class may use internal members of another definition.
fn sees_internals(from: ClassRef, to: ClassRef) -> bool {
    let (a, b) = (from.module.assembly(), to.module.assembly());
    match (a, b) {
        (Some(a), Some(b)) => {
            std::ptr::eq(a, b) || b.has_friend(a.name) || a.ignores_access_to(b.name)
        }
        _ => from.module.id == to.module.id,
    }
}

/// Whether a definition is another one or derives from it.
fn is_family(from: ClassRef, to: ClassRef) -> R<bool> {
    let above = if to.is_interface() {
        from.interfaces()?
    } else {
        from.supers()?
    };
    Ok(from == to || above.iter().any(|c| c.def() == to))
}

/// Does the assembly of the one say that it ignores the accessibility of the other's (`IgnoresAccessChecksToAttribute`)?
fn is_let_in(from: ClassRef, to: ClassRef) -> bool {
    let assemblies = from.module.assembly().zip(to.module.assembly());
    assemblies.is_some_and(|(a, b)| a.ignores_access_to(b.name))
}

/// Is `inner` the definition `outer` or nested in it?
fn is_within(inner: ClassRef, outer: ClassRef) -> R<bool> {
    let mut at = Some(inner);
    while let Some(class) = at {
        if class == outer {
            return Ok(true);
        }
        at = class.declaring_type()?.map(Class::def);
    }
    Ok(false)
}

/// Whether code of a definition may use another as mono judges it: a nested one that is accessible to descendants is judged by its enclosing class
/// alone, and what encloses or stands beside it may use it.
fn can_access_type(from: ClassRef, to: ClassRef) -> R<bool> {
    let visibility = to.flags & type_flags::VISIBILITY_MASK;
    if visibility == type_flags::PUBLIC || is_let_in(from, to) || is_within(to, from)? {
        return Ok(true);
    }
    if let Some(beside) = from.declaring_type()?
        && is_within(to, beside.def())?
    {
        return Ok(true);
    }
    let Some(outer) = to.declaring_type()?.map(Class::def) else {
        return Ok(visibility == 0 && sees_internals(from, to));
    };
    Ok(match visibility {
        type_flags::NESTED_PUBLIC => can_access_type(from, outer)?,
        type_flags::NESTED_PRIVATE => is_within(from, to)? && can_access_type(from, outer)?,
        type_flags::NESTED_FAMILY => is_family(from, outer)?,
        type_flags::NESTED_ASSEMBLY => sees_internals(from, to) && can_access_type(from, outer)?,
        type_flags::NESTED_FAM_AND_ASSEM => sees_internals(from, to) && is_family(from, outer)?,
        type_flags::NESTED_FAM_OR_ASSEM => sees_internals(from, to) || is_family(from, outer)?,
        _ => false,
    })
}

/// May code of the class, or of one around it, do what is asked? A nested class may do what its enclosing classes may.
fn any_around(class: ClassRef, may: impl Fn(ClassRef) -> R<bool>) -> R<bool> {
    let mut from = Some(class.def());
    while let Some(class) = from {
        if may(class)? {
            return Ok(true);
        }
        from = class.declaring_type()?.map(Class::def);
    }
    Ok(false)
}

/// What may name anything: mono lets dynamic methods use whatever there is, and so the code of an assembly that asks not to be verified.
fn is_free(method: MethodRef) -> bool {
    let module = method.module();
    method.is_dynamic()
        || module.is_trusted()
        || module.assembly().is_some_and(|a| a.skips_verification)
}

/// Whether code of a class may access a member with these flags.
fn can_access_from(method: MethodRef, to: ClassRef, access: u32) -> R<bool> {
    if access == flags::PUBLIC || is_free(method) || to.rid() == 0 {
        return Ok(true);
    }
    any_around(method.class, |from| can_access(from, to, access))
}

/// Whether the code of `method` may name `target`: the member and its type must be accessible, type arguments need not.
pub fn can_access_method(method: MethodRef, target: MethodRef) -> R<bool> {
    let to = target.class.def();
    let is_public = to.flags & type_flags::VISIBILITY_MASK == type_flags::PUBLIC;
    Ok(
        can_access_from(method, to, target.flags & flags::ACCESS_MASK)?
            && (is_public
                || to.rid() == 0
                || is_free(method)
                || any_around(method.class, |from| can_access_type(from, to))?),
    )
}

/// Whether the code of `method` may name `field`. The accessibility of its type does not count.
pub fn can_access_field(method: MethodRef, field: FieldRef) -> R<bool> {
    can_access_from(method, field.class, field.flags & flags::ACCESS_MASK)
}
