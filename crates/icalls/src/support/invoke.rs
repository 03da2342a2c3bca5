//! Calling methods through reflection: `MethodBase.Invoke` from the unpacked argument array to the boxed result.
//!
//! # Invariants
//! Problems found before the call are handed back through the `exc` parameter, which managed code throws as they
//! are; what the callee throws is thrown on, and managed code wraps it in TargetInvocationException. Byref arguments work on copies of boxes, and the copies
//! replace the originals in the array. The `this` of a method of Nullable is a Nullable made from the object, which is a box of the value.
use crate::support::objects::{is_constructor, is_instance, is_known, load};
use crate::support::values;
use smallvec::SmallVec;
use vervet_runtime::RefSlot;
use vervet_runtime::code::invoke::REGISTERS;
use vervet_runtime::code::plain_calls;
use vervet_runtime::cx::{Cx, Result, Throw, Value};
use vervet_runtime::exceptions::trace;
use vervet_runtime::interop::com::rcw;
use vervet_runtime::memory::allocate;
use vervet_runtime::memory::localloc_stack::Scope;
use vervet_runtime::object::ObjRef;
use vervet_runtime::remoting;
use vervet_types::{ClassRef, Known, LoadError, MethodRef};

/// The method that a call of `method` on an object of class `class` reaches.
pub fn virtual_target(
    class: ClassRef,
    method: MethodRef,
) -> std::result::Result<MethodRef, LoadError> {
    if !method.is_virtual() || method.is_static() {
        return Ok(method);
    }
    if method.class.is_interface() {
        return match class.find_interface_impl(method)? {
            Some(m) => Ok(m),
            None => Err(LoadError::missing_method(class, method.name)),
        };
    }
    class.find_virtual_impl(method)
}

/// See the module.
pub fn through_reflection<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    object: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
    exception: RefSlot<'cx>,
) -> Result<ObjRef<'cx>> {
    exception.set(ObjRef::NULL);
    if plain_calls::is_plain(method, object, parameters) {
        let target = match object.non_null() {
            Some(o) => load(cx, || virtual_target(o.class(), method))?,
            None => method,
        };
        // A constructor whose object may be a proxy is left to what knows them.
        let makes = is_constructor(target) && remoting::activation::is_asked(cx, target.class)?;
        let words = plain_calls::words_of(cx, target)?.filter(|_| !makes);
        let by_words = words.and_then(|words| {
            let block = plain_calls::arguments(method, words, parameters)?;
            Some((words, block))
        });
        // Another thread may have changed the array since it was looked at: then the arguments are converted, which says what is wrong with them.
        let Some((words, block)) = by_words else {
            return with_converted(cx, target, object, parameters, exception);
        };
        let result = left(cx, call_by_words(cx, (target, words), object, block))?;
        let receiver = object.non_null().map(|o| o.class());
        plain_calls::generated::offer(cx, method, receiver, words)?;
        return Ok(result);
    }
    let target = match checked(cx, method, object, parameters) {
        Ok(target) => target,
        Err(throw) => return Ok(handed_back(cx, throw, exception)),
    };
    if is_constructor(target) && !target.is_static() && target.class.is_array() && object.is_null()
    {
        return new_array(cx, target.class, parameters);
    }
    if remoting::is_proxy(object) && !target.is_static() {
        return through_proxy(cx, target, object, parameters);
    }
    load(cx, || plain_calls::learn(method, is_constructor(method)))?;
    with_converted(cx, target, object, parameters, exception)
}

/// Hands a problem back that was found before the call.
fn handed_back<'cx>(cx: &'cx Cx<'cx>, problem: Throw, exception: RefSlot<'cx>) -> ObjRef<'cx> {
    let thrown = cx.take_pending(problem);
    exception.set(thrown);
    ObjRef::NULL
}

/// Converts the arguments and makes the call.
fn with_converted<'cx>(
    cx: &'cx Cx<'cx>,
    target: MethodRef,
    object: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
    exception: RefSlot<'cx>,
) -> Result<ObjRef<'cx>> {
    let scratch = Scope::new(cx);
    match Arguments::converted(cx, target, parameters, &scratch) {
        Ok(arguments) => left(cx, call_with(cx, target, object, arguments)),
        Err(throw) => Ok(handed_back(cx, throw, exception)),
    }
}

/// Makes a plain call of a method whose arguments are words.
fn call_by_words<'cx>(
    cx: &'cx Cx<'cx>,
    (method, words): (MethodRef, &plain_calls::Words),
    object: ObjRef<'cx>,
    block: [u64; REGISTERS],
) -> Result<ObjRef<'cx>> {
    if !is_constructor(method) || method.is_static() {
        let result = plain_calls::call(cx, words, object, block)?;
        return values::returned(cx, words.result, result);
    }
    let made = match object.non_null() {
        Some(object) => object,
        None => remoting::activation::make(cx, method.class)?,
    };
    plain_calls::call(cx, words, made, block)?;
    Ok(made)
}

/// What a call that is over gave, or the abort of an unload.
fn left<'cx>(cx: &'cx Cx<'cx>, result: Result<ObjRef<'cx>>) -> Result<ObjRef<'cx>> {
    match vervet_runtime::domain::are_several() {
        true => leave(cx, result),
        false => result,
    }
}

/// A crossing into another domain may end here: an abort of an unload ends with it.
fn leave<'cx>(cx: &'cx Cx<'cx>, result: Result<ObjRef<'cx>>) -> Result<ObjRef<'cx>> {
    match result {
        Ok(value) => vervet_runtime::domain::unload::leave(cx).map(|()| value),
        Err(throw) => {
            let thrown = cx.take_pending(throw);
            vervet_runtime::domain::unload::leave(cx)?;
            Err(cx.throw_object(thrown))
        }
    }
}

/// Sends the call to the real proxy of a transparent one.
fn through_proxy<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    proxy: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    if let Some(server) = remoting::calls::server_here(cx, proxy)? {
        return on_proxy(cx, method, (proxy, server), parameters);
    }
    if let Some(native) = rcw::behind(proxy) {
        return match rcw::is_native(method) {
            true => on_native_object(cx, method, proxy, parameters),
            false => on_proxy(cx, method, (native, native), parameters),
        };
    }
    let wanted = load(cx, || method.sig())?.params.len();
    let args = cx.alloc_array(cx.known(Known::Object), wanted)?;
    for i in 0..wanted {
        args.set_element_ref(i, parameters.element_ref(i));
    }
    let (value, outs) = remoting::calls::send_from(cx, proxy, method, args)
        .map_err(|throw| trace::through_proxy(cx, throw, method))?;
    let by_reference = (0..wanted).filter(|i| {
        let sig = method.sig();
        sig.is_ok_and(|s| s.params[*i].is_byref())
    });
    if let Some(outs) = outs.non_null() {
        for (k, i) in by_reference.enumerate().take(outs.array_len()) {
            parameters.set_element_ref(i, outs.element_ref(k));
        }
    }
    Ok(value)
}

/// Calls a method of an object of native code.
fn on_native_object<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    proxy: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let caller = rcw::caller(cx, method)?;
    let wanted = load(cx, || method.sig())?.params.len();
    let args = cx.alloc_array(cx.known(Known::Object), 1 + wanted)?;
    args.set_element_ref(0, proxy);
    for i in 0..wanted {
        args.set_element_ref(1 + i, parameters.element_ref(i));
    }
    let result = call(cx, caller, ObjRef::NULL, args)?;
    for i in 0..wanted {
        parameters.set_element_ref(i, args.element_ref(1 + i));
    }
    Ok(result)
}

/// Calls the method that the class of a proxy's server has. `this` is the proxy there.
pub fn on_proxy<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    (proxy, server): (ObjRef<'cx>, ObjRef<'cx>),
    parameters: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let reached = load(cx, || virtual_target(server.class(), method))?;
    call(cx, reached, proxy, parameters)
}

/// The method that will be called, or what is wrong with calling it so.
fn checked<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    object: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
) -> Result<MethodRef> {
    let constructor = is_constructor(method) && !method.is_static();
    // A class that cannot be loaded is no failure of the callee.
    load(cx, || method.class.check())?;
    let mut target = method;
    if !method.is_static() {
        if remoting::is_proxy(object) {
            if !remoting::classes::is_instance(cx, object, method.class)? {
                return Err(cx.throw(Known::TargetException, "Object does not match target type."));
            }
            target = remoting::classes::named(cx, object.class(), method)?;
        } else if let Some(o) = object.non_null() {
            if !load(cx, || is_instance(o.class(), method.class))? {
                return Err(cx.throw(Known::TargetException, "Object does not match target type."));
            }
            target = load(cx, || virtual_target(o.class(), method))?;
        } else if !constructor {
            return Err(cx.throw(
                Known::TargetException,
                "Non-static method requires a target.",
            ));
        }
    }
    let sig = load(cx, || target.sig())?;
    let wanted = sig.params.len();
    let given = if parameters.is_null() {
        0
    } else {
        parameters.array_len()
    };
    let array_constructor = constructor && target.class.is_array();
    if given != wanted && !array_constructor {
        return Err(cx.throw(
            Known::TargetParameterCountException,
            "Number of parameters does not match expected count.",
        ));
    }
    if constructor
        && object.is_null()
        && (target.class.is_abstract() || target.class.is_interface())
    {
        return Err(cx.throw(
            Known::TargetException,
            "Cannot invoke constructor of an abstract class.",
        ));
    }
    if method.class.module.is_reflection_only() {
        return Err(cx.throw(
            Known::InvalidOperationException,
            "It is illegal to invoke a method on a type loaded using the ReflectionOnly api.",
        ));
    }
    if method.class.module.is_save_only() {
        return Err(cx.throw(
            Known::NotSupportedException,
            "Cannot invoke a method in a dynamic assembly without run access.",
        ));
    }
    if target.is_abstract() && !remoting::is_proxy(object) {
        return Err(cx.throw(
            Known::MethodAccessException,
            &format!(
                "Cannot invoke the abstract method '{}'",
                target.signed_name()
            ),
        ));
    }
    if target.class.is_open || target.is_open() {
        return Err(cx.throw(Known::InvalidOperationException, "Late bound operations cannot be performed on types or methods for which ContainsGenericParameters is true."));
    }
    if sig.ret.is_byref() {
        return Err(cx.throw(
            Known::NotSupportedException,
            "Cannot invoke method returning ByRef type via reflection",
        ));
    }
    // The result would be a box, and may refer to a frame that is gone.
    let made = match target.is_ctor() {
        true => target.class,
        false => sig.ret,
    };
    if made.is_by_ref_like() {
        return Err(cx.throw(
            Known::NotSupportedException,
            "Cannot invoke method with stack pointers via reflection",
        ));
    }
    Ok(target)
}

/// The arguments of a call, converted for the parameters.
struct Arguments<'cx, 's> {
    values: &'s [Value<'cx>],
    parameters: ObjRef<'cx>,
    /// Where the copies of Nullables are whose addresses are passed: the parameter's position, the class and the address.
    nullable_refs: SmallVec<[(usize, ClassRef, *mut u8); 4]>,
}

impl<'cx, 's> Arguments<'cx, 's> {
    /// Converts what is in an `object[]` that has the right length. `scratch` keeps the values, and the structs that null arguments and Nullable
    /// parameters stand for.
    fn converted(
        cx: &'cx Cx<'cx>,
        method: MethodRef,
        parameters: ObjRef<'cx>,
        scratch: &'s Scope<'cx>,
    ) -> Result<Arguments<'cx, 's>> {
        let sig = load(cx, || method.sig())?;
        let mut nullable_refs = SmallVec::new();
        let values = scratch.slice(sig.params.len(), Value::Void)?;
        for (i, &param) in sig.params.iter().enumerate() {
            let arg = parameters.element_ref(i);
            values[i] = match (param.is_byref(), param.element()) {
                (true, Some(elem)) => {
                    by_reference(cx, elem, parameters, i, scratch, &mut nullable_refs)?
                }
                _ => by_value(cx, param, arg, scratch)?,
            };
        }
        Ok(Arguments {
            values,
            parameters,
            nullable_refs,
        })
    }
}

/// Calls exactly `method` with arguments from an `object[]` that has the right length; constructors without a
/// target make their object. The result is boxed.
pub fn call<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    object: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let scratch = Scope::new(cx);
    let arguments = Arguments::converted(cx, method, parameters, &scratch)?;
    call_with(cx, method, object, arguments)
}

/// [`call`] with converted arguments.
fn call_with<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    object: ObjRef<'cx>,
    arguments: Arguments<'cx, '_>,
) -> Result<ObjRef<'cx>> {
    let class = method.class;
    let Arguments {
        values: args,
        parameters,
        nullable_refs,
    } = arguments;
    let scratch = Scope::new(cx);
    let constructor = is_constructor(method) && !method.is_static();
    if constructor && is_known(class, Known::String) && object.is_null() {
        let maker = load(cx, || string_maker(method))?;
        let made = cx.invoke(
            maker,
            if maker.is_static() {
                None
            } else {
                Some(Value::Ref(ObjRef::NULL))
            },
            args,
        )?;
        return values::returned(cx, class, made);
    }
    if constructor && object.is_null() {
        if let (Some(element), Some(value)) = (class.nullable_arg(), args.first()) {
            // `new Nullable<T>(value)` as an object is the boxed value; a null argument stands for the default value.
            return match *value {
                // SAFETY: the argument is the address of a value of the parameter's type.
                Value::Ptr(at) => unsafe { values::object_at(cx, element, at) },
                value => values::returned(cx, element, value),
            };
        }
        let made = remoting::activation::make(cx, class)?;
        if remoting::is_proxy(made) {
            through_proxy(cx, method, made, parameters)?;
            return Ok(made);
        }
        let this = if load(cx, || class.is_value_type())? {
            Value::Ptr(made.value_ptr())
        } else {
            Value::Ref(made)
        };
        cx.invoke(method, Some(this), args)?;
        return Ok(made);
    }
    let this = if method.is_static() {
        None
    } else if class.is_nullable() {
        // There are no boxes of a Nullable: the object is its value.
        let at = room(cx, class, &scratch)?;
        // SAFETY: the scratch has room for a value of that type.
        unsafe { values::store_object(cx, class, at, object)? };
        Some(Value::Ptr(at))
    } else if load(cx, || class.is_value_type())? {
        Some(Value::Ptr(object.value_ptr()))
    } else {
        Some(Value::Ref(object))
    };
    let result = cx.invoke(method, this, args)?;
    let result = if constructor {
        object
    } else {
        values::returned(cx, load(cx, || method.sig())?.ret, result)?
    };
    for (i, class, at) in nullable_refs {
        // SAFETY: `at` is our scratch copy of a Nullable of that class.
        let boxed = unsafe { cx.box_value(class, at)? };
        parameters.set_element_ref(i, boxed);
    }
    Ok(result)
}

/// Zeroed room for a value made up for a call: it keeps its place until the call is over.
fn room(cx: &Cx<'_>, class: ClassRef, scratch: &Scope<'_>) -> Result<*mut u8> {
    scratch.bytes(values::size_of(cx, class)?.next_multiple_of(8))
}

/// Converts an argument for a parameter that is passed by value; ArgumentException if it does not fit.
fn by_value<'cx>(
    cx: &'cx Cx<'cx>,
    param: ClassRef,
    arg: ObjRef<'cx>,
    scratch: &Scope<'cx>,
) -> Result<Value<'cx>> {
    if param.is_ptr() || param.is_fn_ptr() {
        return Ok(Value::Ptr(values::pointer_of(cx, arg)? as *mut u8));
    }
    if !load(cx, || param.is_value_type())? {
        if let Some(o) = arg.non_null()
            && !load(cx, || is_instance(o.class(), param))?
            && !(remoting::is_proxy(o) && remoting::classes::is_instance(cx, o, param)?)
        {
            return Err(values::mismatch(cx, o, param));
        }
        return Ok(Value::Ref(arg));
    }
    if let Some(o) = arg.non_null()
        && !param.is_nullable()
        && crate::support::objects::same(o.class(), param)
    {
        // SAFETY: the box holds a value of its class.
        return unsafe { values::value_at(cx, param, o.value_ptr()) };
    }
    let at = room(cx, param, scratch)?;
    // SAFETY: the scratch has room for a value of that type.
    unsafe {
        values::store_object(cx, param, at, arg)?;
        values::value_at(cx, param, at)
    }
}

/// Makes the slot whose address is passed for a `ref` or `out` parameter.
fn by_reference<'cx>(
    cx: &'cx Cx<'cx>,
    elem: ClassRef,
    parameters: ObjRef<'cx>,
    i: usize,
    scratch: &Scope<'cx>,
    nullable_refs: &mut SmallVec<[(usize, ClassRef, *mut u8); 4]>,
) -> Result<Value<'cx>> {
    let arg = parameters.element_ref(i);
    if elem.is_nullable() {
        let at = room(cx, elem, scratch)?;
        // SAFETY: the scratch has room for a value of that type.
        unsafe { values::store_object(cx, elem, at, arg)? };
        nullable_refs.push((i, elem, at));
        return Ok(Value::Ptr(at));
    }
    if elem.is_ptr() || elem.is_fn_ptr() || load(cx, || elem.is_value_type())? {
        let boxed = if elem.is_ptr() || elem.is_fn_ptr() {
            cx.known(Known::IntPtr)
        } else {
            elem
        };
        // The callee must not be able to change a box that others hold: it gets a fresh one.
        let copy = cx.alloc(boxed)?;
        // SAFETY: the box has room for a value of its class.
        unsafe { values::store_object(cx, boxed, copy.value_ptr(), arg)? };
        parameters.set_element_ref(i, copy);
        return Ok(Value::Ptr(copy.value_ptr()));
    }
    if let Some(o) = arg.non_null()
        && !load(cx, || is_instance(o.class(), elem))?
    {
        return Err(values::mismatch(cx, o, elem));
    }
    // SAFETY: `i` is an index of the array; the array outlives the call on our caller's stack.
    Ok(Value::Ptr(unsafe { parameters.array_data().add(i * 8) }))
}

/// The method that makes the string a constructor of System.String stands for.
fn string_maker(constructor: MethodRef) -> std::result::Result<MethodRef, LoadError> {
    let wanted = &constructor.sig()?.params;
    for name in ["Ctor", "CreateString"] {
        for &m in constructor.class.methods()? {
            if m.name == name {
                let params = &m.sig()?.params;
                if params.len() == wanted.len()
                    && params.iter().zip(wanted).all(|(a, b)| std::ptr::eq(*a, *b))
                {
                    return Ok(m);
                }
            }
        }
    }
    Err(LoadError::missing_method(constructor.class, ".ctor"))
}

/// What the constructors of array types make: lengths, lengths with lower bounds, or an array of arrays.
fn new_array<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    parameters: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let n = if parameters.is_null() {
        0
    } else {
        parameters.array_len()
    };
    let mut sizes: SmallVec<[i64; 8]> = SmallVec::new();
    for i in 0..n {
        sizes.push(values::int_of(cx, cx.non_null(parameters.element_ref(i))?)?);
    }
    let rank = class.rank().unwrap_or(1) as usize;
    if class.is_sz_array() {
        return jagged(cx, class, &sizes);
    }
    let bounds: SmallVec<[(i64, i32); 8]> = if n == 2 * rank {
        sizes.chunks_exact(2).map(|c| (c[1], c[0] as i32)).collect()
    } else if n == rank {
        sizes.iter().map(|s| (*s, 0)).collect()
    } else {
        return Err(cx.throw(
            Known::TargetParameterCountException,
            "Number of parameters does not match expected count.",
        ));
    };
    let vt = cx.rt().vtable_or_throw(cx, class)?;
    allocate::alloc_md_array(cx, vt, &bounds)
}

/// An array of arrays, with a length for each level, as the constructor of such a class makes it.
fn jagged<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, sizes: &[i64]) -> Result<ObjRef<'cx>> {
    let (Some((&len, rest)), Some(elem)) = (sizes.split_first(), class.element()) else {
        return Err(cx.throw(
            Known::TargetParameterCountException,
            "Number of parameters does not match expected count.",
        ));
    };
    let vt = cx.rt().vtable_or_throw(cx, class)?;
    let array = allocate::alloc_array(cx, vt, len)?;
    if !rest.is_empty() {
        for i in 0..array.array_len() {
            let inner = jagged(cx, elem, rest)?;
            array.set_element_ref(i, inner);
        }
    }
    Ok(array)
}
