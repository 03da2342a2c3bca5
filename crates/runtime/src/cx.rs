//! The token of a thread in Runtime state: what an icall needs to allocate, throw and call.
//!
//! # Invariants
//! A `&Cx` exists only on a thread that is attached and in Runtime state, so objects may be touched.
//! An `Err(Throw)` means the exception is in `ThreadContext::pending`: return it at once, or take it with
//! [`Cx::take_pending`].
use crate::object::ObjRef;
use crate::runtime::Runtime;
use std::marker::PhantomData;
use vervet_abi::ThreadContext;
use vervet_types::{ClassRef, Known, LoadError, MethodRef, Universe};

/// An exception is pending on this thread. See the module.
#[derive(Debug)]
#[must_use]
pub struct Throw(pub(crate) ());

/// What an icall returns.
pub type Result<T> = std::result::Result<T, Throw>;

/// See the module.
pub struct Cx<'cx> {
    pub(crate) context: *mut ThreadContext,
    pub(crate) rt: &'static Runtime,
    pub(crate) _not_send: PhantomData<(&'cx (), *mut ())>,
}

/// An argument or result of [`Cx::invoke`].
#[derive(Clone, Copy, Debug)]
pub enum Value<'cx> {
    /// void.
    Void,
    /// Any integer, bool or char, sign- or zero-extended by its type.
    Int(i64),
    /// A float.
    F32(f32),
    /// A double.
    F64(f64),
    /// A reference.
    Ref(ObjRef<'cx>),
    /// Address of a value (byref, pointer), or of a struct passed by value.
    Ptr(*mut u8),
}

impl<'cx> Cx<'cx> {
    /// The context of the current thread; it must be attached and in Runtime state.
    pub fn current() -> Cx<'cx> {
        let context = crate::threads::attach::current_context();
        assert!(
            !context.is_null(),
            "this thread is not attached to the runtime"
        );
        Cx {
            context,
            rt: crate::runtime::rt(),
            _not_send: PhantomData,
        }
    }
    /// The runtime.
    pub fn rt(&self) -> &'static Runtime {
        self.rt
    }
    /// The type system.
    pub fn universe(&self) -> &'static Universe {
        self.rt.universe
    }
    /// A well-known class.
    pub fn known(&self, k: Known) -> ClassRef {
        self.rt.universe.known(k)
    }
    /// The raw context.
    pub fn context(&self) -> *mut ThreadContext {
        self.context
    }

    // ---- allocation -------------------------------------------------------------------------------------

    /// A zeroed instance of a class. No constructor runs; the class constructor is not triggered. Arrays and strings
    /// have no such instance: ArgumentException.
    pub fn alloc(&'cx self, class: ClassRef) -> Result<ObjRef<'cx>> {
        let vt = self.rt.vtable_or_throw(self, class)?;
        if vt.rank != 0 || vt.flags & vervet_abi::vtable::flags::STRING != 0 {
            return Err(self.throw_default(Known::ArgumentException));
        }
        crate::memory::heap::alloc_object(self, vt)
    }
    /// A vector of `len` zeroed elements.
    pub fn alloc_array(&'cx self, element: ClassRef, len: usize) -> Result<ObjRef<'cx>> {
        let vt = self
            .rt
            .vtable_or_throw(self, self.universe().sz_array(element))?;
        crate::memory::heap::alloc_array(self, vt, len as i64)
    }
    /// An array of references from an iterator whose items are made one after the other.
    pub fn alloc_ref_array(
        &'cx self,
        element: ClassRef,
        len: usize,
        mut make: impl FnMut(usize) -> Result<ObjRef<'cx>>,
    ) -> Result<ObjRef<'cx>> {
        let array = self.alloc_array(element, len)?;
        for i in 0..len {
            let item = make(i)?;
            array.set_element_ref(i, item);
        }
        Ok(array)
    }
    /// A string of `len` zero units, to be filled before anybody sees it.
    pub fn alloc_string_uninit(&'cx self, len: usize) -> Result<ObjRef<'cx>> {
        crate::memory::heap::alloc_string(self, len)
    }
    /// A string from UTF-16.
    pub fn alloc_utf16(&'cx self, units: &[u16]) -> Result<ObjRef<'cx>> {
        let s = self.alloc_string_uninit(units.len())?;
        // SAFETY: the string was just made with room for exactly these units.
        unsafe {
            let (to, from) = (s.string_ptr() as *mut u8, units.as_ptr() as *const u8);
            crate::memory::heap::move_bytes(self, to, from, 2 * units.len(), false);
        }
        Ok(s)
    }
    /// A string from UTF-8.
    pub fn alloc_str(&'cx self, text: &str) -> Result<ObjRef<'cx>> {
        let units: Vec<u16> = text.encode_utf16().collect();
        self.alloc_utf16(&units)
    }
    /// A string, or null for None.
    pub fn alloc_opt_str(&'cx self, text: Option<&str>) -> Result<ObjRef<'cx>> {
        match text {
            Some(t) => self.alloc_str(t),
            None => Ok(ObjRef::NULL),
        }
    }
    /// The interned string with that text.
    pub fn intern(&'cx self, units: &[u16]) -> Result<ObjRef<'cx>> {
        self.rt.domain.intern(self, units)
    }
    /// A box of `class` (a value type; Nullable gives null or a box of its argument) with a copy of the value.
    ///
    /// # Safety
    /// `value` points to a value of that type.
    pub unsafe fn box_value(&'cx self, class: ClassRef, value: *const u8) -> Result<ObjRef<'cx>> {
        // SAFETY: passed on.
        unsafe { crate::memory::heap::box_value(self, class, value) }
    }

    // ---- exceptions -------------------------------------------------------------------------------------

    /// Makes an exception with a message (its `(string)` constructor runs) and leaves it pending.
    pub fn throw(&self, class: Known, message: &str) -> Throw {
        crate::exceptions::make::throw_message(self, class, Some(message))
    }
    /// Makes an exception with its default message.
    pub fn throw_default(&self, class: Known) -> Throw {
        crate::exceptions::make::throw_message(self, class, None)
    }
    /// ArgumentNullException for a parameter.
    pub fn throw_arg_null(&self, parameter: &str) -> Throw {
        crate::exceptions::make::throw_message(self, Known::ArgumentNullException, Some(parameter))
    }
    /// An exception whose constructor takes two strings, e.g. ArgumentException(message, parameter).
    pub fn throw2(&self, class: Known, first: &str, second: &str) -> Throw {
        crate::exceptions::make::throw_two(self, class, first, second)
    }
    /// The managed exception for a load error.
    pub fn throw_load(&self, error: LoadError) -> Throw {
        crate::exceptions::from_error::throw_load(self, error)
    }
    /// Leaves an existing exception object pending.
    pub fn throw_object(&self, exception: ObjRef<'_>) -> Throw {
        // SAFETY: the context belongs to this thread.
        unsafe { (*self.context).pending = exception.addr() };
        Throw(())
    }
    /// Takes the pending exception back, so that the caller may go on.
    pub fn take_pending(&'cx self, _throw: Throw) -> ObjRef<'cx> {
        // SAFETY: the context belongs to this thread; the word is an object reference.
        unsafe {
            let addr = (*self.context).pending;
            (*self.context).pending = 0;
            ObjRef::from_addr(addr)
        }
    }
    /// NullReferenceException if the reference is null.
    pub fn non_null(&'cx self, object: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
        if object.is_null() {
            Err(self.throw_default(Known::NullReferenceException))
        } else {
            Ok(object)
        }
    }
    /// Turns a type-system result into an icall result.
    pub fn load<T>(&self, result: std::result::Result<T, LoadError>) -> Result<T> {
        result.map_err(|e| self.throw_load(e))
    }

    // ---- managed code -----------------------------------------------------------------------------------

    /// Calls a method (non-virtually; look the implementation up first). `this` and `args` as [`Value`]s; a
    /// value type's `this` is `Value::Ptr`. A struct result comes back boxed as `Value::Ref`.
    pub fn invoke(
        &'cx self,
        method: MethodRef,
        this: Option<Value<'cx>>,
        args: &[Value<'cx>],
    ) -> Result<Value<'cx>> {
        crate::code::invoke::invoke(self, method, this, args)
    }
    /// Runs the class constructor if it has not run.
    pub fn run_class_init(&'cx self, class: ClassRef) -> Result<()> {
        let vt = self.rt.vtable_or_throw(self, class)?;
        crate::classes::initialize::ensure(self, vt)
    }

    // ---- types and reflection objects ---------------------------------------------------------------------

    /// The one RuntimeType object of a class.
    pub fn type_object(&'cx self, class: ClassRef) -> Result<ObjRef<'cx>> {
        self.rt.domain.type_object(self, class)
    }
    /// The class behind a RuntimeType object (its `_impl`). Null throws.
    pub fn class_of(&'cx self, type_object: ObjRef<'cx>) -> Result<ClassRef> {
        let t = self.non_null(type_object)?;
        self.class_of_handle(t.read::<usize>(std::mem::offset_of!(
            vervet_abi::layouts::TypeObject,
            handle
        )))
    }
    /// The class behind a RuntimeTypeHandle's value.
    pub fn class_of_handle(&self, handle: usize) -> Result<ClassRef> {
        if handle == 0 {
            return Err(self.throw_default(Known::ArgumentException));
        }
        // SAFETY: type handles are addresses of classes, which live for ever.
        Ok(unsafe { &*(handle as *const vervet_types::Class) })
    }
    /// A reflection object from the domain's cache (docs/class-library.md#identity-of-reflection-objects), keyed by entity and reflected class; made by
    /// `make` if it is not there.
    pub fn cached(
        &'cx self,
        kind: u32,
        entity: usize,
        reflected: usize,
        make: impl FnOnce() -> Result<ObjRef<'cx>>,
    ) -> Result<ObjRef<'cx>> {
        let key = (kind, entity, reflected);
        if let Some(found) = self.rt.domain.cached(key) {
            return Ok(found);
        }
        let made = make()?;
        Ok(self.rt.domain.cache(key, made))
    }

    /// Lets a stop of the world happen here. Runtime loops over managed data call it every 64 KiB, and read the address
    /// of what they work on again from its reference.
    #[inline]
    pub fn poll(&self) {
        crate::safepoint::poll(self.context);
    }

    // ---- state ------------------------------------------------------------------------------------------

    /// Runs a blocking call or long work in Native state: no object may be touched inside.
    pub fn native<T>(&self, work: impl FnOnce() -> T) -> T {
        crate::threads::attach::native(self.context, work)
    }
}
