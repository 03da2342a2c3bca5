//! Listing members: the `Get…_native` calls of `System.RuntimeType`, in the order and with the rules of mono.
//!
//! # Invariants
//! Declaration order within a class, derived classes before base classes; a virtual method hides the one whose
//! slot it took, a property one of the same name and signature, an event one of the same name.
//!
//! What members are made of is not looked at, but for the constraints of methods' parameters. Nested types that cannot be loaded are not listed.
use crate::support::emit::handles;
use crate::support::handles::{borrowed_text_at, method_on, ptr_array};
use crate::support::objects::{is_constructor, is_known, load, method_object, method_of, same};
use smallvec::SmallVec;
use std::borrow::Cow;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::rows::Asked;
use vervet_types::{ClassRef, Known, LoadError, MethodRef};

/// Bits of System.Reflection.BindingFlags.
#[expect(missing_docs, reason = "named as the members of that enumeration")]
pub mod binding {
    pub const IGNORE_CASE: i32 = 1;
    pub const DECLARED_ONLY: i32 = 2;
    pub const INSTANCE: i32 = 4;
    pub const STATIC: i32 = 8;
    pub const PUBLIC: i32 = 16;
    pub const NON_PUBLIC: i32 = 32;
    pub const FLATTEN_HIERARCHY: i32 = 64;
}
use binding::*;

const ACCESS_MASK: u32 = 7;
const ACCESS_PRIVATE: u32 = 1;
const ACCESS_PUBLIC: u32 = 6;
const STATIC_MEMBER: u32 = 0x10;
const NEW_SLOT: u32 = 0x100;

/// The name a listing is restricted to, where managed code has put it for the call.
/// Handles of members: mostly a few.
type Handles = SmallVec<[usize; 16]>;

struct NameFilter<'a> {
    name: Option<Cow<'a, str>>,
    ignore_case: bool,
}
impl<'a> NameFilter<'a> {
    /// `list_type`: 0 all, 1 case-sensitive, 2 case-insensitive.
    fn new(name: usize, flags: i32, list_type: i32) -> NameFilter<'a> {
        let name = if list_type == 0 {
            None
        } else {
            // SAFETY: managed code passes null or a marshalled string, which it frees after the call.
            unsafe { borrowed_text_at(name) }
        };
        NameFilter {
            name,
            ignore_case: flags & IGNORE_CASE != 0 || list_type == 2,
        }
    }
    /// Does it ask for that very name, its case included?
    fn is_exactly(&self, name: &str) -> bool {
        !self.ignore_case && self.name.as_deref() == Some(name)
    }
    /// Does the filter let the name through?
    fn accepts(&self, candidate: &str) -> bool {
        match &self.name {
            None => true,
            Some(n) if self.ignore_case => {
                n == candidate
                    || n.eq_ignore_ascii_case(candidate)
                    || n.to_lowercase() == candidate.to_lowercase()
            }
            Some(n) => n == candidate,
        }
    }
}

/// A non-public member that is visible from `start` on: private ones only of the class asked.
fn non_public(flags: u32, own: bool) -> bool {
    match flags & ACCESS_MASK {
        ACCESS_PUBLIC => false,
        ACCESS_PRIVATE => own,
        _ => true,
    }
}
/// Do the BindingFlags ask for static or for instance members like this one?
fn kind_wanted(flags: u32, binding: i32, own: bool) -> bool {
    if flags & STATIC_MEMBER != 0 {
        binding & STATIC != 0 && (own || binding & FLATTEN_HIERARCHY != 0)
    } else {
        binding & INSTANCE != 0
    }
}

/// Visits the class and, unless only its own members are asked for, its ancestors.
fn each_class(
    start: ClassRef,
    binding: i32,
    mut visit: impl FnMut(ClassRef, bool) -> std::result::Result<(), LoadError>,
) -> std::result::Result<(), LoadError> {
    let mut at = Some(start);
    while let Some(class) = at {
        visit(class, same(class, start))?;
        at = if binding & DECLARED_ONLY != 0 {
            None
        } else {
            class.parent()?
        };
    }
    Ok(())
}

/// The methods that the BindingFlags ask for, without constructors.
fn methods(
    start: ClassRef,
    binding: i32,
    filter: &NameFilter<'_>,
) -> std::result::Result<Handles, LoadError> {
    let mut out = Handles::new();
    let mut taken: SmallVec<[u32; 16]> = SmallVec::new();
    each_class(start, binding, |class, own| {
        if class.is_generic_param() {
            return Ok(());
        }
        class.check_methods()?;
        for &m in class.methods()? {
            // What overrides a method has its name: no other method counts for the slots.
            if !filter.accepts(m.name) {
                continue;
            }
            if m.is_virtual()
                && !class.is_interface()
                && let Some(slot) = m.slot()?
            {
                if taken.contains(&slot) {
                    continue;
                }
                if m.flags & NEW_SLOT == 0 {
                    taken.push(slot);
                }
            }
            if is_constructor(m) {
                continue;
            }
            let visible = if m.flags & ACCESS_MASK == ACCESS_PUBLIC {
                binding & PUBLIC != 0
            } else {
                binding & NON_PUBLIC != 0 && non_public(m.flags, own)
            };
            if visible && kind_wanted(m.flags, binding, own) {
                out.push(m as *const _ as usize);
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// The constructors that the BindingFlags ask for; they are not inherited.
fn constructors(class: ClassRef, binding: i32) -> std::result::Result<Handles, LoadError> {
    let visible = |m: MethodRef| {
        if m.flags & ACCESS_MASK == ACCESS_PUBLIC {
            binding & PUBLIC != 0
        } else {
            binding & NON_PUBLIC != 0
        }
    };
    if class.is_generic_param() {
        return Ok(Handles::new());
    }
    class.check_methods()?;
    Ok(class
        .methods()?
        .iter()
        .filter(|m| is_constructor(m) && visible(m) && kind_wanted(m.flags, binding, true))
        .map(|m| *m as *const _ as usize)
        .collect())
}

/// The fields that the BindingFlags ask for.
fn fields(
    start: ClassRef,
    binding: i32,
    filter: &NameFilter<'_>,
) -> std::result::Result<Handles, LoadError> {
    let mut out = Handles::new();
    each_class(start, binding, |class, own| {
        if class.is_generic_param() {
            return Ok(());
        }
        for &f in class.fields()? {
            let access = f.flags & ACCESS_MASK;
            let visible = if access == ACCESS_PUBLIC {
                binding & PUBLIC != 0
            } else {
                (own || access != ACCESS_PRIVATE) && binding & NON_PUBLIC != 0
            };
            if visible && kind_wanted(f.flags, binding, own) && filter.accepts(f.name) {
                out.push(f as *const _ as usize);
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Have two accessors the same signature, if a property has both? A static one and one of instances have not. Type arguments are in their places: a
/// property of a class hides one of a generic base that has become the same.
fn same_signature(
    a: Option<MethodRef>,
    b: Option<MethodRef>,
) -> std::result::Result<bool, LoadError> {
    let (Some(a), Some(b)) = (a, b) else {
        return Ok(true);
    };
    let (a, b) = (a.sig()?, b.sig()?);
    Ok(a.has_this == b.has_this
        && same(a.ret, b.ret)
        && a.params.len() == b.params.len()
        && a.params.iter().zip(&b.params).all(|(x, y)| same(x, y)))
}

/// The properties of which an accessor is asked for.
fn properties(
    start: ClassRef,
    binding: i32,
    filter: &NameFilter<'_>,
) -> std::result::Result<Handles, LoadError> {
    let mut out: SmallVec<[&'static vervet_types::Property; 16]> = SmallVec::new();
    each_class(start, binding, |class, own| {
        if class.is_generic_param() {
            return Ok(());
        }
        class.check_methods()?;
        // Of one class only what is declared counts: two of a generic class are two, whatever their types have become. One that can only be read and one
        // that can only be written have nothing that differs.
        let derived = out.len();
        let declared = |m: Option<MethodRef>| m.map(|m| m.definition());
        'next: for p in class.properties()? {
            let flags = p.getter.or(p.setter).map_or(0, |m| m.flags);
            let public =
                |m: Option<MethodRef>| m.is_some_and(|m| m.flags & ACCESS_MASK == ACCESS_PUBLIC);
            let hidden = |m: Option<MethodRef>| m.is_some_and(|m| non_public(m.flags, own));
            let visible = if public(p.getter) || public(p.setter) {
                binding & PUBLIC != 0
            } else {
                binding & NON_PUBLIC != 0 && (hidden(p.getter) || hidden(p.setter))
            };
            if !visible || !kind_wanted(flags, binding, own) || !filter.accepts(p.name) {
                continue;
            }
            for (i, q) in out.iter().enumerate().filter(|(_, q)| q.name == p.name) {
                let (of, with) = match i < derived {
                    true => ((q.getter, q.setter), (p.getter, p.setter)),
                    false => (
                        (declared(q.getter), declared(q.setter)),
                        (declared(p.getter), declared(p.setter)),
                    ),
                };
                if same_signature(of.0, with.0)? && same_signature(of.1, with.1)? {
                    continue 'next;
                }
            }
            out.push(p);
        }
        Ok(())
    })?;
    Ok(out.into_iter().map(|p| p as *const _ as usize).collect())
}

/// The events of the class and its ancestors.
fn events(start: ClassRef, filter: &NameFilter<'_>) -> std::result::Result<Handles, LoadError> {
    let mut out: Vec<&'static vervet_types::Event> = Vec::new();
    each_class(start, 0, |class, own| {
        if class.is_generic_param() {
            return Ok(());
        }
        class.check_methods()?;
        for e in class.events()? {
            let private =
                |m: Option<MethodRef>| m.is_none_or(|m| m.flags & ACCESS_MASK == ACCESS_PRIVATE);
            if !own && private(e.add) && private(e.remove) && private(e.raise) {
                continue;
            }
            if filter.accepts(e.name) && !out.iter().any(|o| o.name == e.name) {
                out.push(e);
            }
        }
        Ok(())
    })?;
    Ok(out.into_iter().map(|e| e as *const _ as usize).collect())
}

/// The nested types that the BindingFlags ask for.
fn nested_types(
    class: ClassRef,
    binding: i32,
    filter: &NameFilter<'_>,
) -> std::result::Result<Handles, LoadError> {
    const NESTED_PUBLIC: u32 = 2;
    let mut out = Handles::new();
    for nested in class.def().nested_types()? {
        let wanted = if nested.flags & 7 == NESTED_PUBLIC {
            PUBLIC
        } else {
            NON_PUBLIC
        };
        if binding & wanted == 0 || !filter.accepts(nested.name) {
            continue;
        }
        // One whose rows name what cannot be loaded is not listed. The program may still have to complete what it defines.
        let is_whole = match nested.module.image.grows() {
            Some(_) => Ok(()),
            None => nested.check_rows(Asked::Always),
        };
        match is_whole {
            Ok(()) => out.push(nested as *const _ as usize),
            Err(need @ LoadError::Need(_)) => return Err(need),
            Err(_) => {}
        }
    }
    Ok(out)
}

/// Hands handles to managed code in a GPtrArray, which managed code frees.
fn listed<'cx>(
    cx: &'cx Cx<'cx>,
    ty: ObjRef<'cx>,
    mut list: impl FnMut(ClassRef) -> std::result::Result<Handles, LoadError>,
) -> Result<usize> {
    let class = cx.class_of(ty)?;
    if class.is_byref() {
        return Ok(ptr_array(&[]));
    }
    Ok(ptr_array(&load(cx, || list(class))?))
}

/// The member of `ty`, an instantiation, that a member of its definition became.
fn inflated<'cx>(cx: &'cx Cx<'cx>, ty: ObjRef<'cx>, generic: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let class = cx.class_of(ty)?;
    let generic = cx.non_null(generic)?;
    let builder = is_known(generic.class(), Known::MethodBuilder)
        || is_known(generic.class(), Known::ConstructorBuilder);
    let method = if builder {
        handles::created_method(generic).map_err(|e| e.throw(cx))?
    } else {
        method_of(cx, generic)?
    };
    match load(cx, || method_on(class, method))? {
        Some(found) => method_object(cx, found, Some(class)),
        None => Err(cx.throw_load(LoadError::missing_method(class, method.name))),
    }
}

icalls! {
    /// The method of an instantiation that a method of its definition became.
    "System.RuntimeType::GetCorrespondingInflatedMethod" fn get_corresponding_inflated_method(cx, this: ObjRef<'cx>, generic: ObjRef<'cx>) -> ObjRef<'cx> {
        inflated(cx, this, generic)
    }
    /// The same for a constructor.
    "System.RuntimeType::GetCorrespondingInflatedConstructor" fn get_corresponding_inflated_constructor(cx, this: ObjRef<'cx>, generic: ObjRef<'cx>) -> ObjRef<'cx> {
        inflated(cx, this, generic)
    }
    /// Methods without constructors. With the flags of a plain `GetMethod`, `Invoke` of a delegate is its one method of that name, public or
    /// not: `Delegate.CreateDelegate` asks so.
    "System.RuntimeType::GetMethodsByName_native" fn get_methods_by_name(cx, this: ObjRef<'cx>, name: usize, flags: i32, list_type: i32) -> usize {
        listed(cx, this, |c| {
            let filter = NameFilter::new(name, flags, list_type);
            if flags == PUBLIC | INSTANCE | STATIC && filter.is_exactly("Invoke") && c.is_delegate()? {
                return Ok(c.find_method("Invoke", None)?.map(|m| m as *const _ as usize).into_iter().collect());
            }
            methods(c, flags, &filter)
        })
    }
    /// Properties.
    "System.RuntimeType::GetPropertiesByName_native" fn get_properties_by_name(cx, this: ObjRef<'cx>, name: usize, flags: i32, list_type: i32) -> usize {
        listed(cx, this, |c| properties(c, flags, &NameFilter::new(name, flags, list_type)))
    }
    /// Constructors, the class constructor included if static members are asked for.
    "System.RuntimeType::GetConstructors_native" fn get_constructors(cx, this: ObjRef<'cx>, flags: i32) -> usize {
        listed(cx, this, |c| constructors(c, flags))
    }
    /// Events; managed code filters them by the binding flags.
    "System.RuntimeType::GetEvents_native" fn get_events(cx, this: ObjRef<'cx>, name: usize, list_type: i32) -> usize {
        listed(cx, this, |c| events(c, &NameFilter::new(name, 0, list_type)))
    }
    /// Fields.
    "System.RuntimeType::GetFields_native" fn get_fields(cx, this: ObjRef<'cx>, name: usize, flags: i32, list_type: i32) -> usize {
        listed(cx, this, |c| fields(c, flags, &NameFilter::new(name, flags, list_type)))
    }
    /// Nested types, as definitions.
    "System.RuntimeType::GetNestedTypes_native" fn get_nested_types(cx, this: ObjRef<'cx>, name: usize, flags: i32, list_type: i32) -> usize {
        listed(cx, this, |c| nested_types(c, flags, &NameFilter::new(name, flags, list_type)))
    }
}
