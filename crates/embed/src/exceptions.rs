//! Exceptions: made, raised through a host's frames, shown; and `MonoError`.
//!
//! # Invariants
//! * An exception that a host raises goes on in the managed code that called the host; the host's frames in between are left without running
//!   anything of theirs. Without managed code it is unhandled.
//! * Frames of ours that are left so hold nothing that must be dropped.
use crate::support::{
    Bool, ClassP, ImageP, Object, address, new_text, object, or_null, read, read_opt,
};
use std::ffi::{c_char, c_void};
use vervet_os::LeafLock;
use vervet_runtime::cx::Result;
use vervet_runtime::exceptions::trace::TraceMode;
use vervet_runtime::exceptions::{make, throw, unhandled as end};
use vervet_runtime::{Cx, ObjRef, Throw, rt};
use vervet_types::{ClassRef, Known};

type Hook = unsafe extern "C" fn(Object, *mut c_void);
static HOOK: LeafLock<Option<(Hook, usize)>> = LeafLock::new(None);

/// Raises an exception in the managed code below the host.
pub fn raise(cx: &'static Cx<'static>, exception: ObjRef<'_>) -> ! {
    // SAFETY: the context is the calling thread's.
    if unsafe { (*cx.context()).record.is_null() } {
        unhandled(cx, exception);
    }
    throw::raise(cx, exception, TraceMode::Fresh)
}

/// Stores the exception in the host's variable, if there is one; raises it in the managed code that called the host otherwise.
///
/// # Safety
/// `out` is null or the address of a variable.
pub unsafe fn give(cx: &'static Cx<'static>, throw: Throw, out: *mut Object) -> Object {
    let exception = cx.take_pending(throw);
    if out.is_null() {
        raise(cx, exception);
    }
    // SAFETY: the caller's promise.
    unsafe { *out = address(exception) };
    std::ptr::null_mut()
}

/// Nobody catches the exception: the host's hook, or the end of the process.
pub fn unhandled(cx: &'static Cx<'static>, exception: ObjRef<'_>) -> i32 {
    let hook = *HOOK.lock();
    if let Some((hook, user)) = hook {
        let exception = address(exception);
        // SAFETY: the host's function, called as its type says.
        crate::support::outside(|| unsafe { hook(exception, user as *mut c_void) });
    }
    // SAFETY: the object is live: the host's frames or ours refer to it.
    end::unhandled(cx, unsafe { object(address(exception)) })
}

/// The exception is raised when the host's function returns to managed code.
pub fn set_pending(cx: &Cx<'_>, exception: ObjRef<'_>) {
    let _raised_by_the_thunk = cx.throw_object(exception);
}

/// An exception of a class, by the constructor that takes so many strings.
fn new(cx: &'static Cx<'static>, class: ClassRef, strings: &[&str]) -> Object {
    or_null(cx, make::new(cx, class, strings))
}
fn known(cx: &'static Cx<'static>, class: Known, strings: &[&str]) -> Object {
    new(cx, cx.known(class), strings)
}
/// An exception made with string objects.
fn with_strings(cx: &'static Cx<'static>, class: ClassP, strings: &[Object]) -> Object {
    let Some(class) = class else {
        return std::ptr::null_mut();
    };
    // SAFETY: the host passes strings.
    let texts: Vec<String> = strings
        .iter()
        .map(|&s| unsafe { object(s) })
        .filter(|s| !s.is_null())
        .map(ObjRef::text)
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    new(cx, class, &texts)
}
fn named(image: ImageP, namespace: *const c_char, name: *const c_char) -> ClassP {
    // SAFETY: the host passes strings.
    unsafe { crate::classes::by_name(image?, &read(namespace), &read(name), false) }
}

object_api! {
    fn mono_raise_exception(cx; exception: Object) { raise(cx, object(exception)); }
    fn mono_reraise_exception(cx; exception: Object) {
        if (*cx.context()).record.is_null() {
            unhandled(cx, object(exception));
        }
        throw::raise(cx, object(exception), TraceMode::Continue)
    }
    fn mono_runtime_set_pending_exception(cx; exception: Object, overwrite: Bool) -> Bool {
        if overwrite == 0 && (*cx.context()).pending != 0 {
            return 0;
        }
        set_pending(cx, object(exception));
        1
    }
    fn mono_unhandled_exception(cx; exception: Object) { unhandled(cx, object(exception)); }
    fn mono_print_unhandled_exception(cx; exception: Object) {
        let text = end::exception_text(cx, object(exception));
        eprintln!("\nUnhandled Exception:\n{text}");
    }
    fn mono_exception_from_name(cx; image: ImageP, namespace: *const c_char, name: *const c_char) -> Object {
        named(image, namespace, name).map_or(std::ptr::null_mut(), |c| new(cx, c, &[]))
    }
    fn mono_exception_from_name_msg(cx; image: ImageP, namespace: *const c_char, name: *const c_char, message: *const c_char) -> Object {
        let Some(class) = named(image, namespace, name) else { return std::ptr::null_mut() };
        match read_opt(message) {
            Some(m) => new(cx, class, &[&m]),
            None => new(cx, class, &[]),
        }
    }
    fn mono_exception_from_name_two_strings(cx; image: ImageP, namespace: *const c_char, name: *const c_char, a: Object, b: Object) -> Object {
        with_strings(cx, named(image, namespace, name), &[a, b])
    }
    fn mono_exception_from_token(cx; image: ImageP, token: u32) -> Object {
        image.and_then(|i| crate::classes::by_token(i, token)).map_or(std::ptr::null_mut(), |c| new(cx, c, &[]))
    }
    fn mono_exception_from_token_two_strings(cx; image: ImageP, token: u32, a: Object, b: Object) -> Object {
        with_strings(cx, image.and_then(|i| crate::classes::by_token(i, token)), &[a, b])
    }
    fn mono_get_exception_argument(cx; argument: *const c_char, message: *const c_char) -> Object {
        // The constructor takes the message first.
        match read_opt(argument) {
            Some(argument) => known(cx, Known::ArgumentException, &[&read(message), &argument]),
            None => known(cx, Known::ArgumentException, &[&read(message)]),
        }
    }
    fn mono_get_exception_argument_null(cx; argument: *const c_char) -> Object { known(cx, Known::ArgumentNullException, &[&read(argument)]) }
    fn mono_get_exception_argument_out_of_range(cx; argument: *const c_char) -> Object { known(cx, Known::ArgumentOutOfRangeException, &[&read(argument)]) }
    fn mono_get_exception_file_not_found(cx; file: Object) -> Object { with_strings(cx, Some(cx.known(Known::FileNotFoundException)), &[file, file]) }
    fn mono_get_exception_file_not_found2(cx; message: *const c_char, file: Object) -> Object {
        let file = object(file);
        let name = if file.is_null() { String::new() } else { file.text() };
        known(cx, Known::FileNotFoundException, &[&read(message), &name])
    }
    fn mono_get_exception_bad_image_format2(cx; message: *const c_char, file: Object) -> Object {
        let file = object(file);
        let name = if file.is_null() { String::new() } else { file.text() };
        known(cx, Known::BadImageFormatException, &[&read(message), &name])
    }
    fn mono_get_exception_missing_method(cx; class: *const c_char, member: *const c_char) -> Object {
        known(cx, Known::MissingMethodException, &[&read(class), &read(member)])
    }
    fn mono_get_exception_missing_field(cx; class: *const c_char, member: *const c_char) -> Object {
        known(cx, Known::MissingFieldException, &[&read(class), &read(member)])
    }
    fn mono_get_exception_type_load(cx; class: Object, assembly: *const c_char) -> Object {
        let class = object(class);
        let name = if class.is_null() { String::new() } else { class.text() };
        known(cx, Known::TypeLoadException, &[&name, &read(assembly)])
    }
    fn mono_get_exception_type_initialization(cx; ty: *const c_char, inner: Object) -> Object {
        or_null(cx, initialisation(cx, &read(ty), object(inner)))
    }
    fn mono_get_exception_reflection_type_load(cx; types: Object, exceptions: Object) -> Object {
        or_null(cx, type_loads(cx, object(types), object(exceptions)))
    }
    fn mono_get_exception_runtime_wrapped(cx; wrapped: Object) -> Object { or_null(cx, wrap(cx, object(wrapped))) }
}

domain_api! {
    fn mono_exception_from_name_domain(cx; image: ImageP, namespace: *const c_char, name: *const c_char) -> Object {
        named(image, namespace, name).map_or(std::ptr::null_mut(), |c| new(cx, c, &[]))
    }
}

fn initialisation<'cx>(cx: &'cx Cx<'cx>, ty: &str, inner: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    use vervet_runtime::cx::Value;
    let class = cx.known(Known::TypeInitializationException);
    let made = cx.alloc(class)?;
    let ctor = cx.known_method(Known::TypeInitializationException, ".ctor", 2)?;
    let name = cx.alloc_str(ty)?;
    cx.invoke(
        ctor,
        Some(Value::Ref(made)),
        &[Value::Ref(name), Value::Ref(inner)],
    )?;
    Ok(made)
}
fn type_loads<'cx>(
    cx: &'cx Cx<'cx>,
    types: ObjRef<'cx>,
    exceptions: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    use vervet_runtime::cx::Value;
    let made = cx.alloc(cx.known(Known::ReflectionTypeLoadException))?;
    let ctor = cx.known_method(Known::ReflectionTypeLoadException, ".ctor", 2)?;
    cx.invoke(
        ctor,
        Some(Value::Ref(made)),
        &[Value::Ref(types), Value::Ref(exceptions)],
    )?;
    Ok(made)
}
fn wrap<'cx>(cx: &'cx Cx<'cx>, wrapped: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    use vervet_runtime::cx::Value;
    let made = cx.alloc(cx.known(Known::RuntimeWrappedException))?;
    let ctor = cx.known_method(Known::RuntimeWrappedException, ".ctor", 1)?;
    cx.invoke(ctor, Some(Value::Ref(made)), &[Value::Ref(wrapped)])?;
    Ok(made)
}

macro_rules! plain { ($($name:ident $known:ident)*) => { object_api! { $(
    fn $name(cx;) -> Object { known(cx, Known::$known, &[]) }
)* } } }
macro_rules! with_message { ($($name:ident $known:ident)*) => { object_api! { $(
    fn $name(cx; message: *const c_char) -> Object {
        match read_opt(message) {
            Some(m) => known(cx, Known::$known, &[&m]),
            None => known(cx, Known::$known, &[]),
        }
    }
)* } } }
plain! {
    mono_get_exception_divide_by_zero DivideByZeroException
    mono_get_exception_security SecurityException
    mono_get_exception_arithmetic ArithmeticException
    mono_get_exception_overflow OverflowException
    mono_get_exception_null_reference NullReferenceException
    mono_get_exception_thread_abort ThreadAbortException
    mono_get_exception_thread_interrupted ThreadInterruptedException
    mono_get_exception_invalid_cast InvalidCastException
    mono_get_exception_index_out_of_range IndexOutOfRangeException
    mono_get_exception_array_type_mismatch ArrayTypeMismatchException
    mono_get_exception_appdomain_unloaded AppDomainUnloadedException
    mono_get_exception_stack_overflow StackOverflowException
    mono_get_exception_out_of_memory OutOfMemoryException
    mono_get_exception_field_access FieldAccessException
    mono_get_exception_method_access MethodAccessException
}
with_message! {
    mono_get_exception_execution_engine ExecutionEngineException
    mono_get_exception_thread_state ThreadStateException
    mono_get_exception_serialization SerializationException
    mono_get_exception_invalid_operation InvalidOperationException
    mono_get_exception_not_implemented NotImplementedException
    mono_get_exception_not_supported NotSupportedException
    mono_get_exception_io IOException
    mono_get_exception_synchronization_lock SynchronizationLockException
    mono_get_exception_cannot_unload_appdomain CannotUnloadAppDomainException
    mono_get_exception_bad_image_format BadImageFormatException
}

/// A `MonoError`, which hosts reserve: a code, flags, and words of ours.
#[repr(C)]
pub struct Error {
    code: u16,
    flags: u16,
    message: *mut c_char,
    unused: [usize; 11],
}
impl Error {
    /// No error.
    ///
    /// # Safety
    /// It is null, or room for one.
    pub unsafe fn clear(error: *mut Error) {
        if !error.is_null() {
            // SAFETY: the caller's promise.
            unsafe {
                error.write(Error {
                    code: 0,
                    flags: 0,
                    message: std::ptr::null_mut(),
                    unused: [0; 11],
                })
            };
        }
    }
    /// That error.
    ///
    /// # Safety
    /// It is null, or an error without one.
    pub unsafe fn put(error: *mut Error, code: u16, message: &str) {
        if !error.is_null() {
            // SAFETY: the caller's promise.
            unsafe {
                (*error).code = code;
                (*error).message = new_text(message);
            }
        }
    }
}

api! {
    fn mono_error_init(error: *mut Error) { Error::clear(error); }
    fn mono_error_init_flags(error: *mut Error, flags: u16) {
        Error::clear(error);
        (*error).flags = flags;
    }
    fn mono_error_cleanup(error: *mut Error) {
        libc::free((*error).message.cast());
        Error::clear(error);
    }
    fn mono_error_ok(error: *const Error) -> Bool { Bool::from((*error).code == 0) }
    fn mono_error_get_error_code(error: *const Error) -> u16 { (*error).code }
    fn mono_error_get_message(error: *const Error) -> *const c_char { (*error).message }
    fn mono_install_unhandled_exception_hook(hook: Option<Hook>, user: *mut c_void) { *HOOK.lock() = hook.map(|h| (h, user as usize)); }
    fn mono_invoke_unhandled_exception_hook(exception: Object) {
        let _ = rt();
        let hook = *HOOK.lock();
        if let Some((hook, user)) = hook {
            crate::support::outside(|| hook(exception, user as *mut c_void));
        }
        libc::exit(1);
    }
    fn mono_free(memory: *mut c_void) { libc::free(memory); }
}
