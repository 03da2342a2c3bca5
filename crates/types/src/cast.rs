//! Which types are instances of which (ECMA-335 I.8.7, III.4.3, and what mono adds for arrays).
//!
//! # How it works
//! ```text
//! from        to              assignable if
//! class       class           to is from or one of its parents
//! class       interface       from implements it, exactly or by variance (II.9.9)
//! array       array           same rank, and the elements are compatible
//! array       IList<T> ...    the element is compatible with T; of value types, see below
//! anything    Object          always, except by-refs and pointers
//! ```
//!
//! Elements that are value types are compared by their *reduced* type: an enum as its underlying
//! type, signed and unsigned integers of one size as equal. A `byte[]` is therefore an instance of
//! `sbyte[]`. Elements that are references are covariant.
//!
//! As collections, arrays of value types are mono's: only the interfaces that an `IList<T>` has are implemented for other
//! elements, and the reduction is one of the array's elements. So `IntPtr[]` is an `IList<long>`, and nothing but `IntPtr[]` an
//! `IList<IntPtr>`.
//!
//! # Invariants
//! * Every type is assignable to itself.
//! * The answer needs parents and interfaces only, so a cast never computes a layout or a vtable.
//! * Variance applies to arguments that are references: `IEnumerable<int>` is not an
//!   `IEnumerable<object>`. Parameters count as references.
use crate::*;

/// GenericParamAttributes (ECMA-335 II.23.1.7): covariant.
const CO: u32 = 1;
/// Contravariant.
const CONTRA: u32 = 2;
/// The argument is a reference.
const CLASS: u32 = 4;

impl Universe {
    /// Whether an instance of exactly `from` is an instance of `to`: the rule of `castclass` and `isinst`.
    pub fn is_assignable(&'static self, from: ClassRef, to: ClassRef) -> R<bool> {
        self.assignable(from, to, 0)
    }
    /// See [`Universe::is_assignable`]. `depth` counts variant arguments within variant arguments.
    fn assignable(&'static self, from: ClassRef, to: ClassRef, depth: u32) -> R<bool> {
        if from == to {
            return Ok(true);
        }
        if depth > MAX_DEPTH {
            return Err(LoadError::type_load(from, "its variance does not end"));
        }
        if to.is_interface() {
            if from.implements(to)? {
                return Ok(true);
            }
            if !to.is_generic() {
                return Ok(false);
            }
            let def = to.def();
            if let ClassKind::SzArray(elem) = from.kind
                && to.is_inst()
                && self.array_interface(def).is_some()
                && self.collects(elem, to, depth)?
            {
                return Ok(true);
            }
            // An interface does not list itself among its interfaces.
            let itself = from.is_interface().then_some(from);
            for candidate in itself.into_iter().chain(from.interfaces()?.iter().copied()) {
                if candidate.def() == def && self.variant(candidate, to, depth)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if to.is_named_only() {
            // A type that derives from it cannot be complete.
            return Ok(false);
        }
        match (&from.kind, &to.kind) {
            (ClassKind::SzArray(a), ClassKind::SzArray(b)) => return self.elements(a, b, depth),
            (ClassKind::Array { elem: a, rank: n }, ClassKind::Array { elem: b, rank: m }) => {
                return Ok(n == m && self.elements(a, b, depth)?);
            }
            (_, ClassKind::SzArray(_) | ClassKind::Array { .. }) => return Ok(false),
            (ClassKind::Ptr(_) | ClassKind::ByRef(_) | ClassKind::FnPtr(_), _) => return Ok(false),
            _ => {}
        }
        if to == self.known(Known::Object) {
            return Ok(true);
        }
        if to.is_delegate()? && to.is_inst() && from.def() == to.def() {
            return self.variant(from, to, depth);
        }
        let at = to.supers()?.len() - 1;
        Ok(from.supers()?.get(at) == Some(&to))
    }
    /// Whether one instantiation is compatible by variance with another of the same definition
    /// (ECMA-335 II.9.9): equal arguments, or references that are assignable in the direction of
    /// the parameter's variance.
    pub fn is_variant(&'static self, from: ClassRef, to: ClassRef) -> R<bool> {
        self.variant(from, to, 0)
    }
    /// See [`Universe::is_variant`].
    fn variant(&'static self, from: ClassRef, to: ClassRef, depth: u32) -> R<bool> {
        if !from.is_inst() {
            // A definition is no instantiation that varies.
            return Ok(false);
        }
        let params = to.def().params()?;
        for ((param, a), b) in params.iter().zip(from.args()).zip(to.args()) {
            if a == b {
                continue;
            }
            let ok = may_vary(a)
                && may_vary(b)
                && match param.param_flags()? & (CO | CONTRA) {
                    CO => self.assignable(a, b, depth + 1)?,
                    CONTRA => self.assignable(b, a, depth + 1)?,
                    _ => false,
                };
            if !ok {
                return Ok(false);
            }
        }
        Ok(true)
    }
    /// Whether a vector of `elem` implements `interface`, an instantiation of one that vectors have.
    pub(crate) fn vector_implements(&'static self, elem: ClassRef, interface: ClassRef) -> R<bool> {
        self.collects(elem, interface, 0)
    }
    /// See [`Universe::vector_implements`].
    fn collects(&'static self, elem: ClassRef, interface: ClassRef, depth: u32) -> R<bool> {
        let of = interface.args()[0];
        if elem == of {
            return Ok(true);
        }
        if !(elem.is_value_type()? && of.is_value_type()?) {
            return self.elements(elem, of, depth);
        }
        let reads_only = [Known::IReadOnlyList, Known::IReadOnlyCollection];
        if reads_only
            .iter()
            .any(|known| self.known_opt(*known) == Some(interface.def()))
        {
            return Ok(false);
        }
        Ok(match (elem.stack_prim()?, of.stack_prim()?) {
            (_, Some(Prim::IntPtr | Prim::UIntPtr)) => false,
            // An enum is taken as its underlying type, and that as it is.
            (Some(elem), Some(underlying)) if of.is_enum()? => reduced(elem) == underlying,
            (Some(elem), Some(of)) => reduced(elem) == reduced(of),
            _ => false,
        })
    }
    /// Whether an array of `from` may be taken for an array of `to`.
    pub fn array_element_compatible(&'static self, from: ClassRef, to: ClassRef) -> R<bool> {
        self.elements(from, to, 0)
    }
    /// See [`Universe::array_element_compatible`].
    fn elements(&'static self, from: ClassRef, to: ClassRef, depth: u32) -> R<bool> {
        let (mut from, mut to) = (from, to);
        // Vectors of vectors, as deep as they go, take no stack.
        while let (ClassKind::SzArray(a), ClassKind::SzArray(b)) = (&from.kind, &to.kind) {
            (from, to) = (a, b);
        }
        if from == to {
            return Ok(true);
        }
        if from.is_generic_param() && to.is_interface() {
            // What implements an interface may be a value, unless the parameter is declared to be a class.
            return Ok(from.param_flags()? & CLASS != 0 && self.assignable(from, to, depth + 1)?);
        }
        match (from.is_value_type()?, to.is_value_type()?) {
            (true, true) => match (from.stack_prim()?, to.stack_prim()?) {
                (Some(a), Some(b)) => Ok(reduced(a) == reduced(b)),
                _ => Ok(false),
            },
            (false, false) => match (&from.kind, &to.kind) {
                (ClassKind::Ptr(a), ClassKind::Ptr(b)) => self.elements(a, b, depth + 1),
                _ => self.assignable(from, to, depth + 1),
            },
            _ => Ok(false),
        }
    }
    /// `to.IsAssignableFrom(from)` of reflection: besides what a cast allows, `T` to `Nullable<T>`, pointers and
    /// byrefs to elements of the same reduced type, and generic parameters by their constraints.
    pub fn is_assignable_from_reflection(&'static self, to: ClassRef, from: ClassRef) -> R<bool> {
        self.assignable_from_reflection(to, from, 0)
    }
    fn assignable_from_reflection(
        &'static self,
        to: ClassRef,
        from: ClassRef,
        depth: u32,
    ) -> R<bool> {
        if from == to {
            return Ok(true);
        }
        if depth > MAX_DEPTH {
            return Err(LoadError::type_load(from, "its constraints do not end"));
        }
        if let Some(arg) = to.nullable_arg() {
            return Ok(arg == from);
        }
        match (&from.kind, &to.kind) {
            (ClassKind::ByRef(a), ClassKind::ByRef(b)) => {
                if a.is_generic_param() || b.is_generic_param() {
                    return Ok(false);
                }
                // As in mono: by-refs to references of all classes are one kind.
                let are_references = a.is_reference_type()? && b.is_reference_type()?;
                Ok(are_references || self.array_element_compatible(a, b)?)
            }
            (ClassKind::GenericParam { .. }, _) => {
                for constraint in from.param_constraints()? {
                    if self.assignable_from_reflection(to, constraint, depth + 1)? {
                        return Ok(true);
                    }
                }
                let parent = from.parent()?;
                Ok(parent.is_some_and(|p| p.is_subclass_of(to).unwrap_or(false)))
            }
            (_, ClassKind::GenericParam { .. }) => Ok(false),
            _ => self.is_assignable(from, to),
        }
    }
}

/// Whether variance applies to an argument. A parameter (no object's class has one as an argument) counts as a reference, as in mono, and then is what
/// its constraints say.
fn may_vary(arg: ClassRef) -> bool {
    arg.is_generic_param() || arg.is_reference_type().unwrap_or(false)
}

/// Primitives of one size and kind count as one: on 64 bits native integers as `long` too.
fn reduced(prim: Prim) -> Prim {
    match prim {
        Prim::I1 => Prim::U1,
        Prim::U2 => Prim::I2,
        Prim::U4 => Prim::I4,
        Prim::U8 | Prim::IntPtr | Prim::UIntPtr => Prim::I8,
        p => p,
    }
}
