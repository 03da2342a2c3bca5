//! What makes a class unusable, and what code may access: asked before code of a class runs.
//!
//! # Invariants
//! * The levels of a class are computed lazily, and a program must not notice. Whoever creates
//!   instances of a class, runs its code or gives out its Type object asks [`Class::check`] first,
//!   and gets the error that one of the levels would raise later.
//! * The core library and the grafts assemblies are trusted and not checked.
//! * Accessibility is decided as mono's JIT decides it ([`can_access_method`]).
use crate::class::Nature;
use crate::method::method_flags as flags;
use crate::*;

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
    /// Checks a class and what it is made of.
    fn check_all(&'static self) -> R<bool> {
        self.check_constraints()?;
        if self.module.is_corlib() {
            return Ok(true);
        }
        for base in self.supers()?.iter().chain(self.interfaces()?) {
            if base.is_inst() {
                base.check_constraints()?;
            }
        }
        for field in self.def().fields()? {
            let ty = field.open_ty();
            ty.map_err(|e| e.in_field(field))?;
        }
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
            const IMPORT: u32 = 0x1000;
            if inherited.contains(interface) || interface.flags & IMPORT != 0 {
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
                    other => other?,
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
    let internals = || {
        let (a, b) = (from.module.assembly(), to.module.assembly());
        match (a, b) {
            (Some(a), Some(b)) => {
                std::ptr::eq(a, b) || b.has_friend(a.name) || a.ignores_access_to(b.name)
            }
            _ => from.module.id == to.module.id,
        }
    };
    let family = || {
        let above = if to.is_interface() {
            from.interfaces()?
        } else {
            from.supers()?
        };
        Ok::<_, LoadError>(from == to || above.iter().any(|c| c.def() == to))
    };
    Ok(match access {
        0 => from.module.id == to.module.id,
        flags::PRIVATE => {
            from == to
                || from
                    .module
                    .assembly()
                    .zip(to.module.assembly())
                    .is_some_and(|(a, b)| a.ignores_access_to(b.name))
        }
        flags::FAM_AND_ASSEM => family()? && internals(),
        flags::ASSEM => internals(),
        4 => family()?,
        5 => internals() || family()?,
        _ => true,
    })
}

/// Whether code of a class may access a member with these flags.
fn can_access_from(method: MethodRef, to: ClassRef, access: u32) -> R<bool> {
    // Mono lets dynamic methods use whatever there is.
    let free = method.is_dynamic() || method.module().is_trusted();
    if access == flags::PUBLIC || free || to.rid() == 0 {
        return Ok(true);
    }
    // A nested class may use what its enclosing classes may.
    let mut from = Some(method.class.def());
    while let Some(class) = from {
        if can_access(class, to, access)? {
            return Ok(true);
        }
        from = class.declaring_type()?;
    }
    Ok(false)
}

/// Whether the code of `method` may name `target`.
pub fn can_access_method(method: MethodRef, target: MethodRef) -> R<bool> {
    can_access_from(method, target.class, target.flags & flags::ACCESS_MASK)
}

/// Whether the code of `method` may name `field`.
pub fn can_access_field(method: MethodRef, field: FieldRef) -> R<bool> {
    can_access_from(method, field.class, field.flags & flags::ACCESS_MASK)
}
