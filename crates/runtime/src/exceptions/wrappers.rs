//! Frames of mono's wrappers around code that is a helper here, or nothing at all.
//!
//! # Invariants
//! An exception that a helper throws for an instruction begins its trace in the wrapper in which it arises in mono ([`arises_in`]). Wrappers that only pass a call on
//! are told by their callee and caller when the trace is read ([`passes_on`]).
//!
//! The bounds check of `stelem.ref` is an instruction here, which does not know the array; its exception arises in the method.
use crate::cx::{Cx, Throw};
use crate::exceptions::trace;
use vervet_types::{ClassKind, ClassRef, Known, LoadError, MethodRef};

/// A wrapper in which an exception arises. The number is its place in [`NAMES`].
#[derive(Clone, Copy)]
pub enum Wrapper {
    /// A store to an array of a sealed class.
    StoreSealed = 0,
    /// To one of a class that few others are between and Object.
    StoreNear = 1,
    /// To one of another class.
    StoreClass = 2,
    /// To one of an interface.
    StoreInterface = 3,
    /// To one of anything else.
    StoreOther = 4,
    /// A store to an array of several dimensions.
    StoreElement = 5,
    /// `newarr`.
    NewVector = 6,
    /// `newobj` of an array of two dimensions.
    NewArray2 = 7,
    /// Of three.
    NewArray3 = 8,
    /// Of four.
    NewArray4 = 9,
    /// Of any other number.
    NewArrayN = 10,
    /// A cast to a generic class that is variant in a reference, or one that shared code makes by a type parameter.
    CachedCast = 11,
    /// A float64 to int64, checked.
    DoubleToI8 = 12,
    /// To uint64.
    DoubleToU8 = 13,
    /// A float32 to int64.
    SingleToI8 = 14,
    /// To uint64.
    SingleToU8 = 15,
    /// An instruction that names a method which is not accessible.
    MethodAccess = 16,
    /// An instruction that names a static field of a class that is not initialised, or makes an object of one.
    ClassInit = 17,
}

/// What traces show, by number.
const NAMES: [&str; 18] = [
    "(wrapper stelemref) System.Object.virt_stelemref_sealed_class(intptr,object)",
    "(wrapper stelemref) System.Object.virt_stelemref_class_small_idepth(intptr,object)",
    "(wrapper stelemref) System.Object.virt_stelemref_class(intptr,object)",
    "(wrapper stelemref) System.Object.virt_stelemref_interface(intptr,object)",
    "(wrapper stelemref) System.Object.virt_stelemref_complex(intptr,object)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_helper_stelem_ref_check(object,object)",
    "(wrapper alloc) System.Object.AllocVector(intptr,intptr)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_array_new_2(intptr,intptr,intptr)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_array_new_3(intptr,intptr,intptr,intptr)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_array_new_4(intptr,intptr,intptr,intptr,intptr)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_array_new_n_icall(intptr,intptr,intptr)",
    "(wrapper castclass) System.Object.__castclass_with_cache(object,intptr,intptr)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper___emul_fconv_to_ovf_i8(double)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper___emul_fconv_to_ovf_u8(double)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper___emul_rconv_to_ovf_i8(single)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper___emul_rconv_to_ovf_u8(single)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_throw_method_access(intptr,intptr)",
    "(wrapper managed-to-native) System.Object.__icall_wrapper_mono_generic_class_init(intptr)",
];

impl Wrapper {
    /// The wrapper of `newobj` for an array of that many dimensions.
    pub fn new_array(rank: usize) -> Wrapper {
        match rank {
            2 => Wrapper::NewArray2,
            3 => Wrapper::NewArray3,
            4 => Wrapper::NewArray4,
            _ => Wrapper::NewArrayN,
        }
    }
    /// The wrapper of a store to an array of that class.
    pub fn store(array: ClassRef) -> std::result::Result<Wrapper, LoadError> {
        /// So many classes of a chain lie in mono's record of a class itself.
        const NEAR: usize = 6;
        let Some(element) = array.element().filter(|_| array.is_sz_array()) else {
            return Ok(Wrapper::StoreElement);
        };
        Ok(if let Some(inner) = element.element() {
            match element.is_sz_array() && (inner.is_sealed() || inner.is_value_type()?) {
                true => Wrapper::StoreSealed,
                false => Wrapper::StoreOther,
            }
        } else if is_variant(element)? || is_of_arrays(element) || element.is_marshal_by_ref()? {
            Wrapper::StoreOther
        } else if element.is_interface() {
            Wrapper::StoreInterface
        } else if element.is_sealed() {
            Wrapper::StoreSealed
        } else if element.supers()?.len() <= NEAR {
            Wrapper::StoreNear
        } else {
            Wrapper::StoreClass
        })
    }
}

/// Whether a parameter of the generic class is co- or contravariant (ECMA-335 II.23.1.7).
fn is_variant(class: ClassRef) -> std::result::Result<bool, LoadError> {
    if !matches!(class.kind, ClassKind::Inst { .. }) {
        return Ok(false);
    }
    for param in class.def().params()? {
        if param.param_flags()? & 3 != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a cast to the class is made by mono's cache of casts: it has a variant parameter whose argument is a reference.
pub fn is_cast_cached(class: ClassRef) -> std::result::Result<bool, LoadError> {
    let ClassKind::Inst { def, args } = class.kind else {
        return Ok(false);
    };
    for (param, arg) in def.params()?.iter().zip(args) {
        if param.param_flags()? & 3 != 0 && !arg.is_value_type()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether it is one of the generic interfaces of arrays that are not variant.
fn is_of_arrays(class: ClassRef) -> bool {
    class.is_interface()
        && class.module.is_corlib()
        && matches!(class.def().name, "IList`1" | "ICollection`1")
}

/// The exception that has just been made, for the trace to begin in a wrapper.
pub fn arises_in<'cx>(cx: &'cx Cx<'cx>, throw: Throw, wrapper: Wrapper) -> Throw {
    let exception = cx.take_pending(throw);
    trace::begin_in(cx, exception, wrapper as usize);
    cx.throw_object(exception)
}

/// As [`arises_in`] for an OverflowException; another exception arises where it is thrown.
pub fn overflow_in<'cx>(cx: &'cx Cx<'cx>, throw: Throw, wrapper: Wrapper) -> Throw {
    let exception = cx.take_pending(throw);
    if exception.class() == cx.known(Known::OverflowException) {
        trace::begin_in(cx, exception, wrapper as usize);
    }
    cx.throw_object(exception)
}

/// The class has not been initialised for the code that runs: a TypeInitializationException arises where it does in mono. A method that is entered has no frame there,
/// because its first call initialises the class before it is compiled.
pub fn class_init_in<'cx>(cx: &'cx Cx<'cx>, throw: Throw, class: ClassRef) -> Throw {
    let exception = cx.take_pending(throw);
    if exception.class() == cx.known(Known::TypeInitializationException) {
        let mut frames = trace::innermost(cx).into_iter();
        let first = frames.next();
        match first.filter(|f| is_entered(f, class)) {
            None => trace::begin_in(cx, exception, Wrapper::ClassInit as usize),
            Some(entered) => {
                let caller = frames.next().map(|f| f.method);
                let wrapper =
                    is_made(entered.method, caller).then_some(Wrapper::ClassInit as usize);
                trace::begin_at_entry(cx, exception, wrapper);
            }
        }
    }
    cx.throw_object(exception)
}

/// The class of a method that is being called has not been initialised: the trace begins in the caller, or in the wrapper where the caller makes an object.
pub fn class_init_of_call<'cx>(cx: &'cx Cx<'cx>, throw: Throw, called: MethodRef) -> Throw {
    let exception = cx.take_pending(throw);
    let caller = trace::innermost(cx).first().map(|f| f.method);
    if exception.class() == cx.known(Known::TypeInitializationException) && is_made(called, caller)
    {
        trace::begin_in(cx, exception, Wrapper::ClassInit as usize);
    }
    cx.throw_object(exception)
}

/// Is the class initialised because the method has been entered? Code of the method has not run then.
fn is_entered(frame: &trace::LogicalFrame, class: ClassRef) -> bool {
    frame.il_offset.unwrap_or(0) == 0
        && (frame.method.class == class || class.is_before_field_init())
}

/// Has `newobj` called the constructor, rather than another constructor?
fn is_made(entered: MethodRef, caller: Option<MethodRef>) -> bool {
    let is_base = |caller: MethodRef| {
        caller.is_ctor()
            && caller
                .class
                .supers()
                .is_ok_and(|above| above.contains(&entered.class))
    };
    entered.is_ctor()
        && !entered.class.is_before_field_init()
        && !entered.class.is_value_type().unwrap_or(true)
        && caller.is_some_and(|caller| !is_base(caller))
}

/// The name of a wrapper by its number.
pub fn name(number: usize) -> &'static str {
    NAMES.get(number).copied().unwrap_or_default()
}

/// The wrapper by which a method was called that has another name for its callers: a constructor of String, an interface's method of an array of values.
pub fn passes_on(callee: MethodRef, caller: MethodRef) -> Option<String> {
    let class = callee.class;
    if !class.module.is_corlib() || class.namespace != "System" {
        return None;
    }
    let whole = callee.instantiated_name();
    let params = &whole[whole.find('(')?..];
    match class.name {
        "String" if callee.name == "CreateString" => Some(format!("System.String..ctor{params}")),
        // These call each other, too.
        "Array" if caller.class != class => {
            let [element] = callee.method_args() else {
                return None;
            };
            if !element.is_value_type().ok()? {
                return None;
            }
            let rest = callee.name.strip_prefix("InternalArray__")?;
            let (interface, method) = match rest.split_once('_') {
                Some((
                    interface @ ("ICollection"
                    | "IEnumerable"
                    | "IReadOnlyList"
                    | "IReadOnlyCollection"),
                    method,
                )) => (interface, method),
                _ => ("IList", rest),
            };
            let element = element.full_name();
            Some(format!(
                "{element}[].System.Collections.Generic.{interface}`1.{method}{params}"
            ))
        }
        _ => None,
    }
}
