//! The bodies of the helpers that generated code calls, and their stubs.
//!
//! # Invariants
//! * There is one row per `vervet_abi::Helper`, with a body of the declared types: both are checked at compile time.
//! * The effect of a helper decides its thunk:
//!
//! | effect | state | thunk | the body may |
//! |---|---|---|---|
//! | `Leaf` | Managed, `critical` set | `leaf_thunk` | neither lock, allocate, throw nor poll |
//! | `Runtime` | Runtime, with an exit record | `icall_thunk` | do anything; an exception that it leaves pending is raised |
//! | `Wait` | as `Runtime` | `reentrant_thunk` | the same; if its thread leaves the native stack when it parks, it is called again |
//! | `NoReturn` | Runtime, with an exit record | `icall_thunk` | raise |
//! | `Asm` | what it says | none: the body is a stub | |
//! * A helper with [`Helper::preserves_registers`] has effect `Runtime` and a second stub, through `preserving_thunk`.
use crate::classes::nullable::unbox_nullable_into;
use crate::classes::remembered;
use crate::code::helper_table::{DEFERRING, PRESERVING, STUBS};
use crate::code::icall::{IcallRet, finish};
use crate::code::{collation, crypto, enums, keys, library, ordinal, plain_calls, regex, texts};
use crate::cx::{Cx, Result};
use crate::exceptions::wrappers::{self, Wrapper};
use crate::exceptions::{self, trace::TraceMode};
use crate::interop::marshal::helpers as marshal;
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::remoting;
use crate::threads::interrupts;
use std::mem::offset_of;
use vervet_abi::layouts::RuntimeMethodInfoObject;
use vervet_abi::vtable::flags;
use vervet_abi::{Effect, HashStep, Helper, HelperSig, PLAIN_CALL_WORDS, Ty, VTable};
use vervet_regex::sets;
use vervet_types::{Class, Field, FieldRef, Known, Method, MethodRef};

/// Makes the stubs. Called once at start-up.
pub fn initialise() {
    for &h in Helper::ALL {
        let stubs = stub(h);
        STUBS.at(h as u32).put(stubs.own);
        if let Some([preserving, deferring]) = stubs.preserving {
            PRESERVING.at(h as u32).put(preserving);
            DEFERRING.at(h as u32).put(deferring);
        }
    }
}

/// Runs the body of a `Runtime` helper with a token; an error is what the thunk raises.
fn with<'a, T: IcallRet>(f: impl FnOnce(&'a Cx<'a>) -> Result<T>) -> T::Abi {
    let cx = Cx::current();
    // SAFETY: the token stays on this frame while `f` runs; nothing `f` returns borrows it.
    let cx: &'a Cx<'a> = unsafe { &*(&cx as *const Cx<'a>) };
    finish(f(cx))
}
fn object<'a>(addr: usize) -> ObjRef<'a> {
    // SAFETY: generated code passes null or a live object, kept by the exit record.
    unsafe { ObjRef::from_addr(addr) }
}
fn vt(addr: usize) -> &'static VTable {
    // SAFETY: generated code passes the address of a VTable, which it got by a relocation or from an object; VTables are never freed.
    unsafe { &*(addr as *const VTable) }
}
fn class(addr: usize) -> &'static Class {
    // SAFETY: generated code passes a class handle, which is the address of a class; classes live for ever.
    unsafe { &*(addr as *const Class) }
}
fn method(addr: usize) -> MethodRef {
    // SAFETY: generated code passes a method handle, which is the address of a method; methods live for ever.
    unsafe { &*(addr as *const Method) }
}
fn field(addr: usize) -> FieldRef {
    // SAFETY: generated code passes a field handle, which is the address of a field; fields live for ever.
    unsafe { &*(addr as *const Field) }
}

/// A type that a helper's body takes or gives, which travels as that machine type.
trait Word {
    const TY: Ty;
}
/// What a body gives back.
trait Returned {
    const TY: Option<Ty>;
}
impl<T: Word> Returned for T {
    const TY: Option<Ty> = Some(<T as Word>::TY);
}
impl Returned for () {
    const TY: Option<Ty> = None;
}
/// A function that may be a helper's body.
trait Body {
    const PARAMS: &'static [Ty];
    const RET: Option<Ty>;
    fn address(self) -> usize;
}
macro_rules! words {
    ($($t:ty => $ty:ident),*) => { $( impl Word for $t { const TY: Ty = Ty::$ty; } )* };
}
words!(i32 => I32, u32 => I32, i64 => I64, u64 => I64, usize => I64, f32 => F32, f64 => F64);
impl<T> Word for *const T {
    const TY: Ty = Ty::I64;
}
impl<T> Word for *mut T {
    const TY: Ty = Ty::I64;
}
macro_rules! functions {
    ($( ($($a:ident)*) )*) => { $(
        impl<$($a: Word,)* R: Returned> Body for extern "C" fn($($a),*) -> R {
            const PARAMS: &'static [Ty] = &[$( $a::TY ),*];
            const RET: Option<Ty> = R::TY;
            fn address(self) -> usize {
                self as *const () as usize
            }
        }
    )* };
}
functions! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

/// The address of a helper's body, whose types are compared with the declaration when this is compiled.
fn checked<const HELPER: u16, B: Body>(body: B) -> usize {
    const { Helper::ALL[HELPER as usize].check(B::PARAMS, B::RET) };
    body.address()
}

/// The table: first the helpers whose stubs are their bodies, then the others with their bodies. Without a row for a helper
/// it does not compile.
macro_rules! bodies {
    (@row $name:ident ($($p:ty),*) $body:path) => {
        checked::<{ Helper::$name as u16 }, _>($body as extern "C" fn($($p),*) -> _)
    };
    ([ $( $stub:ident => $made:path; )* ] $( $name:ident $args:tt => $body:path; )*) => {
        /// Code of the stubs that a helper is called through.
        fn stub(h: Helper) -> Stubs {
            match h {
                $( Helper::$name => stubs_of(stringify!($name), h, bodies!(@row $name $args $body)), )*
                $( Helper::$stub => Stubs { own: $made(), preserving: None }, )*
            }
        }
    };
}

bodies! {
    [
        // Blocks of any length, in steps that a stop does not have to wait for.
        MemMove => crate::arch::blocks::move_stub;
        MemSet => crate::arch::blocks::set_stub;
        Grow => crate::arch::grow_address;
    ]
    AllocObject(_) => alloc_object;
    AllocArray(_, _) => alloc_array;
    AllocMdArray(_, _, _) => alloc_md_array;
    AllocJaggedArray(_, _, _) => alloc_jagged_array;
    CastClass(_, _) => cast_class;
    CastClassShared(_, _) => cast_class_shared;
    IsInst(_, _) => is_inst;
    CheckArrayStore(_, _) => check_array_store;
    CheckLdelema(_, _) => check_ldelema;
    Unbox(_, _) => unbox;
    UnboxNullable(_, _, _) => unbox_nullable;
    Throw(_) => throw;
    Rethrow(_) => rethrow;
    ThrowKind(_) => throw_kind;
    ContinueUnwind(_, _) => exceptions::throw::continue_unwind;
    EndCatch() => end_catch;
    ClassInit(_) => class_init;
    ThreadStatics(_) => thread_statics;
    ContextStatics(_) => context_statics;
    ResolveVirtual(_, _) => resolve_virtual;
    DelegateCtor(_, _, _) => delegate_ctor;
    DelegateCtorMethod(_, _, _, _) => delegate_ctor_method;
    DelegateBeginInvoke(_, _, _) => delegate_begin_invoke;
    DelegateEndInvoke(_, _, _, _) => delegate_end_invoke;
    RemoteCode(_, _) => remote_code;
    RemoteInvoke(_, _, _, _) => remote_invoke;
    LoadRemoteField(_, _, _) => load_remote_field;
    StoreRemoteField(_, _, _) => store_remote_field;
    RemoteFieldAddress(_, _) => remote_field_address;
    AllocRemote(_) => alloc_remote;
    ReplaceLoop(_, _) => replace_loop;
    Localloc(_) => localloc;
    MonitorEnter(_) => monitor_enter;
    MonitorExit(_) => monitor_exit;
    MonitorEnterFast(_, _) => monitor_enter_fast;
    MonitorExitFast(_, _) => monitor_exit_fast;
    RecordEnter(_) => record_enter;
    RecordLeave(_) => record_leave;
    RecordFinally(_, _) => record_finally;
    MonitorWake(_) => monitor_wake;
    TypeObject(_) => type_object;
    CopyValue(_, _, _) => copy_value;
    SetHandle(_, _) => set_handle;
    FreeHandle(_, _) => free_handle;
    CoarseTickCount() => coarse_tick_count;
    OthersReady(_) => others_ready;
    IndexOfChar(_, _, _) => library::index_of_char;
    IndexOfByte(_, _, _) => library::index_of_byte;
    SequenceEqual(_, _, _) => library::sequence_equal;
    NarrowAscii(_, _, _) => texts::narrow_ascii;
    WidenAscii(_, _, _) => texts::widen_ascii;
    LineEnd(_, _) => texts::line_end;
    AreAsciiChars(_, _) => texts::are_ascii_chars;
    AreAsciiBytes(_, _) => texts::are_ascii_bytes;
    CopyElements(_, _, _, _, _) => copy_elements;
    CopyBytes(_, _, _, _, _) => copy_bytes;
    SortIntegers(_, _, _, _) => sort_integers;
    ThrowMethodAccess(_, _) => throw_method_access;
    IsPlainCall(_, _, _) => is_plain_call;
    PlainTarget(_, _, _, _) => plain_target;
    CharInSet(_, _) => char_in_set;
    RegexFind(_) => regex_find;
    RegexGo(_) => regex_go;
    CompareTexts(_, _, _, _, _) => compare_texts;
    IsPrefixText(_, _, _, _) => is_prefix_text;
    CompareIgnoringCase(_, _, _, _, _, _) => compare_ignoring_case;
    IndexOfText(_, _, _, _) => index_of_text;
    IndexOfAsciiText(_, _, _, _) => index_of_ascii_text;
    HashIgnoringCase(_, _) => hash_ignoring_case;
    HashKey(_) => hash_key;
    EnumName(_, _, _) => enum_name;
    EnumNumber(_, _, _, _, _, _) => enum_number;
    IndexOfElement(_, _, _, _, _) => index_of_element;
    IndexOfString(_, _, _, _) => index_of_string;
    Sha256Block(_, _) => crypto::sha256_block;
    Sha512Block(_, _) => crypto::sha512_block;
    Sha1Block(_, _) => crypto::sha1_block;
    HashBlock(_, _, _, _) => hash_block;
    AesBlock(_, _, _, _) => aes_block;
    RijndaelBlock(_, _, _, _) => crypto::rijndael_block;
    FMod(_, _) => fmod;
    Math(_, _, _) => crate::code::libm::math;
    CallLibm(_, _, _) => crate::code::libm::call;
    BindPInvoke(_) => crate::interop::pinvoke::bind;
    Poll() => poll;
    MarshalToNative(_, _, _) => marshal_to_native;
    MarshalBack(_, _, _, _, _) => marshal_back;
    MarshalResult(_, _) => marshal_result;
    MarshalStructToNative(_, _, _, _) => marshal_struct_to_native;
    MarshalStructToManaged(_, _, _, _) => marshal_struct_to_managed;
    MarshalArgToManaged(_, _, _, _) => marshal_arg_to_managed;
    MarshalArgBack(_, _, _, _) => marshal_arg_back;
    MarshalResultToNative(_, _) => marshal_result_to_native;
    ComFunction(_, _) => com_function;
    ThrowLockTaken() => throw_lock_taken;
    ThrowPending() => throw_pending;
}

/// The code that a helper is called through.
struct Stubs {
    own: usize,
    /// Preserve all registers; the second one leaves exceptions pending.
    preserving: Option<[usize; 2]>,
}

fn stubs_of(name: &str, helper: Helper, body: usize) -> Stubs {
    let sig = helper.sig();
    let preserving = |defers| {
        let code = crate::arch::preserving_stub(body, sig.ret.is_some(), defers);
        let name = || format!("(helper) {name}, preserving registers");
        crate::code::arena::place_stub(code, name).expect("room at start-up")
    };
    Stubs {
        own: stub_of(name, sig, body),
        preserving: helper
            .preserves_registers()
            .then(|| [false, true].map(preserving)),
    }
}

fn stub_of(name: &str, sig: HelperSig, body: usize) -> usize {
    let ints = sig
        .params
        .iter()
        .filter(|p| !matches!(p, Ty::F32 | Ty::F64));
    let used = ints.count() as u32;
    let code = match sig.effect {
        Effect::Leaf => crate::arch::leaf_stub(body),
        Effect::Runtime | Effect::NoReturn => crate::arch::icall_stub(body, 0, used, 0),
        Effect::Wait => crate::arch::reentrant_stub(body, 0, used),
        Effect::Asm => return body,
    };
    crate::code::arena::place_stub(code, || format!("(helper) {name}")).expect("room at start-up")
}

/// The inline allocation found no room in the TLAB, or the class has a finalizer, which is registered here. Interrupt requests are served before
/// the object exists: a loop that does nothing but allocate has no other place for that.
extern "C" fn alloc_object(v: usize) -> usize {
    with(|cx| {
        let v = vt(v);
        if v.flags & flags::NO_INSTANCES != 0 {
            let name = crate::classes::vtables::class_of(v).full_name();
            let text = format!("Cannot create an abstract class: {name}");
            return Err(cx.throw(Known::MemberAccessException, &text));
        }
        interrupts::serve(cx)?;
        crate::memory::allocate::alloc_object(cx, v)
    })
}
/// The same for vectors. The length is the native int of `newarr`; one that no `int` holds throws OverflowException in the allocator.
extern "C" fn alloc_array(v: usize, len: i64) -> usize {
    with(|cx| {
        interrupts::serve(cx)?;
        crate::memory::allocate::alloc_array(cx, vt(v), len).map_err(|throw| {
            match i32::try_from(len) {
                Ok(_) => wrappers::overflow_in(cx, throw, Wrapper::NewVector),
                // Mono converts the length before.
                Err(_) => throw,
            }
        })
    })
}
/// `newobj` of a constructor of a multi-dimensional array. Lengths and bounds lie in the caller's frame.
extern "C" fn alloc_md_array(v: usize, lengths: *const i32, lower: *const i32) -> usize {
    with(|cx| {
        let rank = vt(v).rank as usize;
        // SAFETY: generated code passes `rank` lengths, and as many lower bounds or null.
        let bounds: Vec<(i64, i32)> = (0..rank)
            .map(|i| unsafe {
                (
                    *lengths.add(i) as i64,
                    if lower.is_null() { 0 } else { *lower.add(i) },
                )
            })
            .collect();
        crate::memory::allocate::alloc_md_array(cx, vt(v), &bounds)
            .map_err(|throw| wrappers::overflow_in(cx, throw, Wrapper::new_array(rank)))
    })
}

/// `newobj` of an array constructor that takes more lengths than the array has dimensions: the elements are arrays themselves.
extern "C" fn alloc_jagged_array(v: usize, lengths: *const i32, count: u32) -> usize {
    fn level<'cx>(cx: &'cx Cx<'cx>, v: &'static VTable, lengths: &[i32]) -> Result<ObjRef<'cx>> {
        let array = crate::memory::allocate::alloc_array(cx, v, i64::from(lengths[0]))?;
        if lengths.len() > 1 {
            let inner = cx.rt().vtable_or_throw(cx, class(v.element_class))?;
            for i in 0..array.array_len() {
                array.set_element_ref(i, level(cx, inner, &lengths[1..])?);
            }
        }
        Ok(array)
    }
    with(|cx| {
        // SAFETY: generated code passes that many lengths, at least one.
        let lengths = unsafe { std::slice::from_raw_parts(lengths, count as usize) };
        level(cx, vt(v), lengths)
    })
}

/// Is the object (not null) an instance of the class?
pub fn is_instance<'cx>(cx: &'cx Cx<'cx>, o: ObjRef<'cx>, c: &'static Class) -> Result<bool> {
    let own = o.class();
    if std::ptr::eq(own, c) {
        return Ok(true);
    }
    if remoting::is_proxy(o) {
        return remoting::classes::is_instance(cx, o, c);
    }
    cx.load(crate::classes::casts::is_assignable(cx.universe(), own, c))
}
/// `castclass`, where generated code could not tell by the VTable alone. A cast to `Nullable<T>` is one to `T`, because a box never has
/// the class Nullable.
extern "C" fn cast_class(o: usize, c: usize) -> usize {
    with(|cx| {
        let target = class(c).nullable_arg().unwrap_or(class(c));
        let is_cached = || wrappers::is_cast_cached(target).unwrap_or(false);
        cast(cx, object(o), target, is_cached)
    })
}
/// `castclass` by a class that shared code looks up.
extern "C" fn cast_class_shared(o: usize, c: usize) -> usize {
    with(|cx| {
        let target = class(c).nullable_arg().unwrap_or(class(c));
        cast(cx, object(o), target, || true)
    })
}
/// A cast; `is_cached`: is it made by mono's cache of casts?
fn cast<'cx>(
    cx: &'cx Cx<'cx>,
    o: ObjRef<'cx>,
    target: &'static Class,
    is_cached: impl FnOnce() -> bool,
) -> Result<ObjRef<'cx>> {
    if o.is_null() || is_instance(cx, o, target)? {
        if !o.is_null() {
            remembered::cast(o.vtable(), target, true);
        }
        return Ok(o);
    }
    let throw = cx.throw_default(Known::InvalidCastException);
    Err(match is_cached() {
        true => wrappers::arises_in(cx, throw, Wrapper::CachedCast),
        false => throw,
    })
}
/// `isinst`, likewise.
extern "C" fn is_inst(o: usize, c: usize) -> usize {
    with(|cx| {
        let (o, c) = (object(o), class(c));
        let target = c.nullable_arg().unwrap_or(c);
        if o.is_null() {
            return Ok(o);
        }
        let answer = is_instance(cx, o, target)?;
        remembered::cast(o.vtable(), target, answer);
        Ok(if answer { o } else { ObjRef::NULL })
    })
}
/// Before `stelem.ref` where the element class is not known exactly: arrays are covariant, so a `string[]` may be seen as `object[]`.
extern "C" fn check_array_store(array: usize, value: usize) {
    with(|cx| {
        let (array, value) = (object(array), object(value));
        if array.is_null() {
            return Err(cx.throw_default(Known::NullReferenceException));
        }
        if value.is_null() || is_instance(cx, value, class(array.vtable().element_class))? {
            Ok(())
        } else {
            let wrapper = cx.load(Wrapper::store(array.class()))?;
            let throw = cx.throw_default(Known::ArrayTypeMismatchException);
            Err(wrappers::arises_in(cx, throw, wrapper))
        }
    })
}
/// Before `ldelema` of a reference type: the address is only handed out if the element class is exactly the one that the IL names, because a
/// store through it is not checked.
extern "C" fn check_ldelema(array: usize, c: usize) {
    with(|cx| {
        if object(array).vtable().element_class == c {
            Ok(())
        } else {
            Err(cx.throw_default(Known::ArrayTypeMismatchException))
        }
    })
}
/// `unbox`, where the classes are not the same. An enum and its underlying type may stand for each other, as in mono.
extern "C" fn unbox(o: usize, c: usize) -> usize {
    with(|cx| {
        let o = cx.non_null(object(o))?;
        let (have, want) = (o.class(), class(c));
        if !std::ptr::eq(have, want) {
            let (a, b) = (cx.load(have.stack_prim())?, cx.load(want.stack_prim())?);
            if !cx.load(have.is_value_type())? || a.is_none() || a != b {
                return Err(cx.throw_default(Known::InvalidCastException));
            }
        }
        Ok(o.value_ptr() as usize)
    })
}
/// `unbox.any` of `Nullable<T>`: null becomes the empty Nullable.
extern "C" fn unbox_nullable(o: usize, c: usize, to: *mut u8) {
    // SAFETY: generated code passes room for a Nullable of that class, on its stack.
    with(|cx| unsafe { unbox_nullable_into(cx, object(o), class(c), to) })
}
/// `throw`. No frame of ours with a destructor may be left below this one.
extern "C" fn throw(o: usize) {
    let cx = Cx::current();
    match object(o).non_null() {
        None => exceptions::traps::throw_kind(&cx, vervet_abi::ThrowKind::NullReference as u32),
        Some(e) => exceptions::throw::raise(&cx, e, TraceMode::Fresh),
    }
}
/// `rethrow`: the trace that the exception has is kept.
extern "C" fn rethrow(o: usize) {
    let cx = Cx::current();
    exceptions::throw::raise(&cx, object(o), TraceMode::Rethrow)
}
/// An exception that generated code raises without making it itself.
extern "C" fn throw_kind(kind: u32) {
    let cx = Cx::current();
    exceptions::traps::throw_kind(&cx, kind)
}
/// `leave` out of a catch clause, if the thread has interrupt requests: an abort that was caught is raised again behind the catch.
extern "C" fn end_catch() {
    let cx = Cx::current();
    crate::threads::abort::raise_again(&cx);
    poll();
}
/// A branch back, in a method with handlers, has found an interrupt request in the context.
extern "C" fn poll() {
    with(interrupts::serve)
}
/// The class of a static field or method is not initialised. Returns when it is, or when this thread is the one that initialises it.
extern "C" fn class_init(v: usize) {
    with(|cx| {
        let result = crate::classes::initialize::ensure(cx, vt(v));
        result.map_err(|throw| {
            wrappers::class_init_in(cx, throw, crate::classes::vtables::class_of(vt(v)))
        })
    })
}
/// The first access of this thread to the thread statics of a class.
extern "C" fn thread_statics(v: usize) {
    with(|cx| {
        cx.load(crate::memory::statics::thread_block(cx, vt(v)))?;
        Ok(())
    })
}
/// An access to the context statics of a class.
extern "C" fn context_statics(v: usize) -> usize {
    with(|cx| Ok(cx.load(crate::memory::context_statics::block(cx, vt(v)))? as usize))
}
/// `ldvirtftn`, and calls of generic virtual methods, which have no slot.
extern "C" fn resolve_virtual(o: usize, m: usize) -> usize {
    with(|cx| crate::code::prestub::resolve_virtual(cx, object(o), method(m)))
}
/// An instruction names a method that is not accessible from its own.
extern "C" fn throw_method_access(from: usize, to: usize) {
    with(|cx| -> Result<()> {
        let error = vervet_types::LoadError::method_access(method(from), method(to));
        let thrown: Result<()> = cx.load(Err(error));
        thrown.map_err(|throw| wrappers::arises_in(cx, throw, Wrapper::MethodAccess))
    })
}
/// `newobj` of a delegate whose method is known by its code address only.
extern "C" fn delegate_ctor(d: usize, target: usize, code: usize) {
    with(|cx| crate::interop::delegates::init_from_code(cx, object(d), object(target), code))
}
/// `newobj` of a delegate behind `ldftn` or `ldvirtftn`: the method is known when the code is compiled. An instance method without a
/// target is an error unless the delegate has one parameter more (an open delegate).
extern "C" fn delegate_ctor_method(d: usize, target: usize, m: usize, is_virtual: i32) {
    with(|cx| {
        let (d, target, m) = (object(d), object(target), method(m));
        if target.is_null() && !m.is_static() {
            if is_virtual != 0 {
                return Err(cx.throw_default(Known::NullReferenceException));
            }
            let invoke = crate::interop::delegates::invoke_method(cx, d.class())?;
            if cx.load(invoke.sig())?.params.len() == cx.load(m.sig())?.params.len() {
                return Err(cx.throw(
                    Known::ArgumentException,
                    "Value does not fall within the expected range.",
                ));
            }
        }
        crate::interop::delegates::init(cx, d, target, m, is_virtual != 0)
    })
}
/// `BeginInvoke` of a delegate: its body is a stub that stores the arguments as words.
extern "C" fn delegate_begin_invoke(d: usize, m: usize, words: *const u64) -> usize {
    // SAFETY: the stub of the method passes the words that it has stored.
    with(|cx| unsafe { remoting::asynchronous::begin(cx, object(d), method(m), words) })
}
/// `EndInvoke`, likewise; the result goes where the stub has room for it.
extern "C" fn delegate_end_invoke(d: usize, m: usize, words: *const u64, out: *mut u8) {
    // SAFETY: the stub of the method passes the words that it has stored, and room for the result.
    with(|cx| unsafe { remoting::asynchronous::end(cx, object(d), method(m), words, out) })
}
/// A call of a method of a MarshalByRefObject met a transparent proxy.
extern "C" fn remote_code(proxy: usize, m: usize) -> usize {
    with(|cx| remoting::stubs::code(cx, object(proxy).vtable(), method(m)))
}
/// The stub that [`remote_code`] has given: sends the call to the real proxy.
extern "C" fn remote_invoke(proxy: usize, m: usize, words: *const u64, out: *mut u8) {
    // SAFETY: the stub of the method passes the words that it has stored, and room for the result.
    with(|cx| unsafe { remoting::calls::invoke(cx, object(proxy), method(m), words, out) })
}
/// `ldfld` of a transparent proxy.
extern "C" fn load_remote_field(proxy: usize, f: usize, out: *mut u8) {
    // SAFETY: generated code passes room for a value of the field.
    with(|cx| unsafe { remoting::fields::load(cx, object(proxy), field(f), out) })
}
/// `stfld` of a transparent proxy.
extern "C" fn store_remote_field(proxy: usize, f: usize, from: *const u8) {
    // SAFETY: generated code passes a value of the field.
    with(|cx| unsafe { remoting::fields::store(cx, object(proxy), field(f), from) })
}
/// `ldflda` of a transparent proxy.
extern "C" fn remote_field_address(proxy: usize, f: usize) -> usize {
    with(|cx| remoting::fields::address(cx, object(proxy), field(f)))
}
/// `newobj` of a class whose objects may be remote.
extern "C" fn alloc_remote(v: usize) -> usize {
    with(|cx| remoting::activation::allocate(cx, vt(v)))
}
/// `localloc`. The memory is given back when the method returns, which restores `ThreadContext::localloc_next`.
extern "C" fn replace_loop(of: usize, head: u32) -> usize {
    with(|cx| Ok(crate::code::loops::code_at(cx, method(of), head)))
}
extern "C" fn localloc(bytes: u64) -> usize {
    with(|cx| match bytes {
        0 => Ok(0),
        bytes => crate::memory::localloc_stack::take(cx, bytes as usize),
    })
}
/// Neither generated code nor [`monitor_enter_fast`] could take the lock: it belongs to another thread, or must be inflated. The thread may wait.
extern "C" fn monitor_enter(o: usize) {
    with(|cx| crate::threads::monitor::enter(cx, object(o)))
}
/// Code compiled for a recording of calls: the method begins.
extern "C" fn record_enter(method: usize) {
    hooks::entered(&Cx::current(), method);
}
/// The same: the method returns.
extern "C" fn record_leave(method: usize) {
    hooks::left(&Cx::current(), method, false);
}
/// Code compiled for a recording of clauses: a finally clause runs without an exception.
extern "C" fn record_finally(method: usize, clause: u32) {
    // SAFETY: code passes the method that it was compiled for.
    let method = unsafe { &*(method as *const vervet_types::Method) };
    hooks::finally(clause, method);
}
/// Neither generated code nor [`monitor_exit_fast`] could leave the lock: it is not the calling thread's (SynchronizationLockException).
extern "C" fn monitor_exit(o: usize) {
    with(|cx| crate::threads::monitor::exit(cx, object(o)))
}
/// A fat monitor that is free, or the thread's own. A leaf: it gives up (0) rather than wait, and the caller then calls [`monitor_enter`].
extern "C" fn monitor_enter_fast(context: *mut vervet_abi::ThreadContext, o: usize) -> u32 {
    // SAFETY: generated code passes its thread's context, and cannot be stopped in here.
    unsafe { crate::threads::monitor::fast_path::enter(context, object(o)) as u32 }
}
/// A fat monitor that the thread leaves. A leaf, so it cannot wake anybody itself: 2 tells the caller to call [`monitor_wake`].
extern "C" fn monitor_exit_fast(context: *mut vervet_abi::ThreadContext, o: usize) -> u32 {
    // SAFETY: generated code passes its thread's context, and `critical` keeps the thread from being stopped in here.
    unsafe { crate::threads::monitor::fast_path::exit(context, object(o)) as u32 }
}
/// Behind [`monitor_exit_fast`]: the monitor has been left already, so this wakes a thread that enters and owns nothing.
extern "C" fn monitor_wake(o: usize) {
    crate::threads::monitor::fast_path::wake(object(o));
}
/// `ldtoken` and `typeof` of a class whose Type object does not exist yet.
extern "C" fn type_object(c: usize) -> usize {
    with(|cx| cx.type_object(class(c)))
}
/// A struct with references is copied, possibly within an array or an object: word by word, with a card mark for each reference. A leaf: the two
/// values cannot move meanwhile.
extern "C" fn copy_value(to: *mut u8, from: *const u8, c: usize) {
    let Ok(layout) = class(c).layout() else {
        return;
    };
    // SAFETY: generated code passes two addresses of values of that class.
    unsafe {
        crate::memory::copy::copy_value(to, from, layout.size as usize, !layout.ref_map.is_empty())
    };
}
/// `GCHandle.Target = ...` and the like. A leaf: the slot and the object must not change between the test and the store.
extern "C" fn set_handle(handle: u32, o: usize) -> u32 {
    match crate::memory::handles::set_target(handle, object(o)) {
        true => handle,
        false => 0,
    }
}
/// `GCHandle.Free`, for a handle that is in use. The slot goes to the queue of the calling thread.
extern "C" fn free_handle(context: *mut vervet_abi::ThreadContext, handle: u32) {
    // SAFETY: generated code passes its thread's context, and `critical` keeps the thread from being stopped in here.
    unsafe { crate::memory::handles::free_by(context, handle) };
}
/// `Environment.TickCount` in steps of a timer tick of the kernel, at a quarter of the cost.
extern "C" fn coarse_tick_count() -> i32 {
    vervet_os::clock::coarse_ms() as i32
}
/// `Array.FastCopy`, where a leaf can do it.
extern "C" fn copy_elements(source: usize, from: i32, dest: usize, to: i32, count: i32) -> i32 {
    i32::from(library::copy_elements(
        (object(source), from),
        (object(dest), to),
        count,
    ))
}
/// The copy of bytes between arrays, if a leaf may do it.
extern "C" fn copy_bytes(source: usize, from: i32, dest: usize, to: i32, count: i32) -> i32 {
    i32::from(library::copy_bytes(
        (object(source), from),
        (object(dest), to),
        count,
    ))
}
/// The order of two texts by the rules of a culture, if it is known without the class library.
extern "C" fn compare_texts(a: usize, range_a: u64, b: usize, range_b: u64, rules: u64) -> i32 {
    collation::compare((object(a), range_a), (object(b), range_b), rules)
}
/// Does a text begin with another by the rules of a culture?
extern "C" fn is_prefix_text(text: usize, range: u64, start: usize, rules: u64) -> i32 {
    collation::is_prefix((object(text), range), object(start), rules)
}
/// The hash of a text without case, if all of it is ASCII.
extern "C" fn hash_ignoring_case(text: usize, seed: u64) -> i64 {
    ordinal::hash_ignoring_case(object(text), seed)
}
/// The hash of a key of a dictionary.
extern "C" fn hash_key(key: usize) -> i32 {
    keys::hash(object(key))
}
/// The name of a value of an enum, if the class library has listed the names.
extern "C" fn enum_name(boxed: usize, class: usize, offsets: u64) -> usize {
    enums::name(object(boxed), enums::Places { class, offsets }).addr()
}
/// The value of a name of an enum, likewise.
extern "C" fn enum_number(
    vtable: usize,
    text: usize,
    ignores_case: i32,
    to: *mut u8,
    class: usize,
    offsets: u64,
) -> i32 {
    let places = enums::Places { class, offsets };
    // SAFETY: generated code passes a managed pointer to a value of the enum, or what unverifiable code takes for one.
    let found = unsafe { enums::number((vt(vtable), places), object(text), ignores_case != 0, to) };
    i32::from(found)
}
/// Where is an integer in a vector?
extern "C" fn index_of_element(all: usize, value: u64, from: i32, count: i32, shift: i32) -> i32 {
    library::index_of_element(object(all), value, (from, count), shift)
}
/// Where is a string in a vector?
extern "C" fn index_of_string(all: usize, value: usize, from: i32, count: i32) -> i32 {
    library::index_of_string(object(all), object(value), (from, count))
}
/// The difference of two texts without case, if it is known without the class library.
extern "C" fn compare_ignoring_case(
    a: usize,
    from_a: i32,
    count_a: i32,
    b: usize,
    from_b: i32,
    count_b: i32,
) -> i32 {
    ordinal::compare_ignoring_case((object(a), from_a, count_a), (object(b), from_b, count_b))
}
/// Where is a text in another?
extern "C" fn index_of_text(text: usize, sought: usize, from: i32, count: i32) -> i32 {
    ordinal::index_of(object(text), object(sought), from, count)
}
/// The same by the rules of a culture, if all is ASCII.
extern "C" fn index_of_ascii_text(text: usize, sought: usize, from: i32, count: i32) -> i32 {
    ordinal::index_of_ascii(object(text), object(sought), from, count)
}
/// Is a character of ASCII in a set of a regular expression?
extern "C" fn char_in_set(set: usize, c: u32) -> i32 {
    let set = object(set);
    match set.is_null() {
        true => -1,
        false => sets::is_in(set.units(), c as u16).map_or(-1, i32::from),
    }
}
/// Where may the next match of a regular expression begin?
extern "C" fn regex_find(runner: usize) -> i32 {
    with(|_| Ok(regex::find(object(runner))))
}
/// The next match of a regular expression.
extern "C" fn regex_go(runner: usize) -> i32 {
    with(|cx| regex::go(cx, object(runner)))
}
/// A step of a hash over a part of a vector of bytes.
extern "C" fn hash_block(state: usize, bytes: usize, at: i32, step: i32) -> i32 {
    i32::from(crypto::hash_block(
        object(state),
        (object(bytes), at),
        step == HashStep::Sha1 as i32,
    ))
}
/// A block of AES.
extern "C" fn aes_block(keys: usize, from: usize, to: usize, step: i32) -> i32 {
    i32::from(crypto::aes_block(
        object(keys),
        object(from),
        object(to),
        step,
    ))
}
/// May a call through reflection go straight to its internal call?
extern "C" fn is_plain_call(method: usize, target: usize, parameters: usize) -> i32 {
    // SAFETY: generated code passes the handle of a MethodInfo, which is 0 or the address of a method.
    let method = unsafe { (method as *const vervet_types::Method).as_ref() };
    let is_plain = |m| plain_calls::is_plain(m, object(target), object(parameters));
    i32::from(method.is_some_and(is_plain))
}
/// The code that a call through reflection reaches.
extern "C" fn plain_target(info: usize, target: usize, parameters: usize, block: usize) -> usize {
    let info = object(info);
    // SAFETY: the stub passes the address of a block of its frame.
    let block = unsafe { &mut *(block as *mut [u64; PLAIN_CALL_WORDS]) };
    let method = info.non_null().and_then(|info| {
        let handle: usize = info.read(offset_of!(RuntimeMethodInfoObject, mhandle));
        // SAFETY: the runtime stored the address of the method in the object when it made it. A ConstructorInfo has it at the same place.
        unsafe { (handle as *const Method).as_ref() }
    });
    let parameters = object(parameters);
    plain_calls::generated::target(method, info, object(target), parameters, block)
}
/// The sort of a vector of integers.
extern "C" fn sort_integers(array: usize, from: i32, count: i32, prim: u32) {
    with(|cx| library::sort(cx, object(array), from, count, prim))
}
/// Are other green threads to run on the calling one's carrier?
extern "C" fn others_ready(context: *mut vervet_abi::ThreadContext) -> i32 {
    // SAFETY: generated code passes the context of the calling thread, which it has found to be green.
    i32::from(unsafe { crate::threads::green::others_ready(context) })
}
/// `rem` of floating-point numbers: C's `fmod`, which `%` is in Rust.
extern "C" fn fmod(a: f64, b: f64) -> f64 {
    a % b
}
/// The helpers of P/Invoke stubs and of reverse stubs follow. `index` is the number of a parameter, or `RESULT`; the plan of the method
/// says what is done with it. The table in `interop/marshal/helpers.rs` says which is called when.
extern "C" fn marshal_to_native(m: usize, index: i64, managed: usize) -> usize {
    with(|cx| marshal::to_native(cx, method(m), index, managed))
}
/// After the native call: copies back what the callee may have changed, and frees what [`marshal_to_native`] allocated.
extern "C" fn marshal_back(m: usize, index: i64, managed: usize, native: usize, block: usize) {
    with(|cx| marshal::back(cx, method(m), index, managed, native, block))
}
/// The result of the native call as an object.
extern "C" fn marshal_result(m: usize, native: usize) -> usize {
    with(|cx| marshal::result(cx, method(m), native))
}
/// A struct parameter, from its managed to its native layout. The native memory is the stub's own.
extern "C" fn marshal_struct_to_native(m: usize, index: i64, managed: usize, native: usize) {
    with(|cx| marshal::struct_to_native(cx, method(m), index, managed, native))
}
/// A struct that the callee has filled or returned, the other way.
extern "C" fn marshal_struct_to_managed(m: usize, index: i64, native: usize, managed: usize) {
    with(|cx| marshal::struct_to_managed(cx, method(m), index, native, managed))
}
/// Native code calls managed code: one of its arguments as a managed value. `block` has the registers and the stack of the call, because the
/// length of an array may be another argument.
extern "C" fn marshal_arg_to_managed(m: usize, index: i64, native: usize, block: usize) -> usize {
    with(|cx| marshal::arg_to_managed(cx, method(m), index, native, block))
}
/// After that call: writes back what a by-reference argument refers to, and frees.
extern "C" fn marshal_arg_back(m: usize, index: i64, managed: usize, native: usize) {
    with(|cx| marshal::arg_back(cx, method(m), index, managed, native))
}
/// The managed result of that call as native code expects it.
extern "C" fn marshal_result_to_native(m: usize, managed: usize) -> usize {
    with(|cx| marshal::result_to_native(cx, method(m), managed))
}
/// Native code calls QueryInterface, AddRef, Release, or a function of IDispatch.
extern "C" fn com_function(slot: i64, block: usize) {
    // SAFETY: the stub passes the block that the reverse thunk has made for the call.
    let block = unsafe { &mut *(block as *mut vervet_abi::native_call::ReverseCall) };
    with(|cx| crate::interop::com::function(cx, slot, block))
}
/// `Monitor.Enter` was given a variable that says that the lock is taken.
/// The thunk throws what is pending, when this returns.
extern "C" fn throw_pending() {}

extern "C" fn throw_lock_taken() {
    with(|cx| -> crate::cx::Result<()> {
        Err(cx.throw2(
            Known::ArgumentException,
            "lockTaken is already true",
            "lockTaken",
        ))
    })
}
