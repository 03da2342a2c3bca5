//! Calling managed code from Rust.
//!
//! # How it works
//! A call needs an invoke stub for the lowered signature: generated code that loads the machine arguments from a block of words, calls,
//! and stores the result into another block. One stub serves all methods of one lowered signature. One more, the *word stub*, serves all
//! methods whose arguments and result travel in general registers, which are nearly all that are called from Rust: it loads six
//! words and stores one. A register that the callee does not read, and a result word that nobody asks for, do no harm.
//!
//! ```text
//!   Rust                         invoke stub (generated)               managed method
//!   ------------------------     -----------------------------------   ------------------------
//!   words: this, ret address,    loads registers and stack arguments
//!          arguments        -->  from `words`, calls `code`       -->  runs
//!   ret: result words       <--  stores the result registers      <--  returns
//!   status 0
//!   else, `pending` is set  <--  catch-all                        <--  throws
//! ```
//! `arch::enter` links an entry record around it, so that a walk of the stack and the collector find the managed frames below and above.
//!
//! | managed parameter | words |
//! |---|---|
//! | integer, float, reference, pointer | one |
//! | struct in registers (`Pass::Scalars`) | one for each scalar, loaded from the struct |
//! | struct by address (`Pass::Address`) | the address of a copy on the localloc stack |
//!
//! # Invariants
//! * Managed code is entered only through [`crate::arch::enter`], or [`crate::arch::straight_call`], and an invoke stub, whose catch-all turns an exception into
//!   `ThreadContext::pending`. So no exception passes through Rust frames.
//! * Arguments, and structs that are passed or returned by address, may hold references. They lie in the frame or on the localloc
//!   stack, which the collector scans conservatively, and never move.
//! * Stubs name no VTable, literal or static, so all domains share them; they count as the root domain's.
//! * No lock is held during the call.
//! * The block of words of a call through the word stub has [`WORDS`] words, whatever the method takes. The words behind its arguments are 0, or
//!   stale: no reference that the collector must not see.
use crate::arch::StraightCall;
use crate::code::entries::{self, Entry};
use crate::code::kept_stub;
use crate::code::link;
use crate::code::table::{CodeKind, INVOKE_STUB};
use crate::cx::{Cx, Result, Throw, Value};
use crate::memory::localloc_stack::Scope;
use crate::object::ObjRef;
use crate::runtime::Runtime;
use crate::threads::stack_guard;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::{ClassRef, Known, LoadError, MethodRef, MethodSig, ScalarKind};

/// An invoke stub, and the signature that it was made for.
struct Stub {
    lowered: LoweredSignature,
    code: usize,
    /// The entry that was called last, null at first: mostly that of the one domain that calls the method.
    entry: AtomicPtr<Entry>,
}
impl Stub {
    fn new(lowered: LoweredSignature, code: usize) -> Stub {
        Stub {
            lowered,
            code,
            entry: AtomicPtr::new(std::ptr::null_mut()),
        }
    }
    /// Code of the method, whose stub this is, in the current domain: what was compiled, or what has it compiled.
    #[inline]
    fn callee<'cx>(&self, cx: &'cx Cx<'cx>, method: MethodRef) -> Result<usize> {
        // SAFETY: the token's context belongs to this thread; entries live for ever.
        let (domain, last) = unsafe { ((*cx.context()).domain, self.entry.load(Acquire).as_ref()) };
        let entry = match last.filter(|e| e.domain.id == domain) {
            Some(entry) => entry,
            None => {
                let entry = cx.load(entries::entry(cx.domain(), method))?;
                self.entry
                    .store(std::ptr::from_ref(entry).cast_mut(), Release);
                entry
            }
        };
        Ok(match entry.code() {
            0 => entry.stub(),
            code => code,
        })
    }
}
/// The stub of a method, by its id: found without the key of its signature.
static BY_METHOD: Chunks<Published<Stub>> = Chunks::new();
/// Code of the stubs, by the key of the lowered signature.
static BY_KEY: LeafLock<Option<FxHashMap<String, usize>>> = LeafLock::new(None);

/// Words that the word stub loads.
const WORDS: usize = vervet_jit::signature::INT_ARG_REGS as usize;
/// The word stub's code.
static WORD_STUB: Published<usize> = Published::new();

/// Code of an invoke stub that serves the signature.
fn stub_code<'cx>(cx: &'cx Cx<'cx>, lowered: &LoweredSignature) -> Result<usize> {
    if !lowered.travels_in_words() {
        return exact_code(cx, lowered);
    }
    if let Some(code) = WORD_STUB.get() {
        return Ok(*code);
    }
    let words = LoweredSignature::of_words(cx.known(Known::Int64));
    Ok(*WORD_STUB.put(exact_code(cx, &words)?))
}

/// Code of the invoke stub for exactly that signature, generated if there is none. Two threads may generate one at the same time; both work.
fn exact_code<'cx>(cx: &'cx Cx<'cx>, lowered: &LoweredSignature) -> Result<usize> {
    let key = lowered.key();
    if let Some(code) = BY_KEY.lock().as_ref().and_then(|m| m.get(&key).copied()) {
        return Ok(code);
    }
    let blob = kept_stub::invoke_stub(cx, lowered);
    let code = link::link(cx, cx.rt().root, blob, CodeKind::Stub(INVOKE_STUB))?.start;
    BY_KEY
        .lock()
        .get_or_insert_with(FxHashMap::default)
        .insert(key, code);
    Ok(code)
}

fn stub_for<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<&'static Stub> {
    let cell = BY_METHOD.at(method.id);
    if let Some(s) = cell.get() {
        return Ok(s);
    }
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    let code = stub_code(cx, &lowered)?;
    Ok(cell.put(Stub::new(lowered, code)))
}

/// Calls exactly this method. See [`Cx::invoke`].
pub fn invoke<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    this: Option<Value<'cx>>,
    args: &[Value<'cx>],
) -> Result<Value<'cx>> {
    let stub = stub_for(cx, method)?;
    let code = stub.callee(cx, method)?;
    call(cx, stub, code, this, args)
}

/// Makes the first call of a green thread: exactly this method, which returns nothing and takes `this` and at most one object. It does not come back
/// here, but to `vervet_first_call_returned`. If it cannot be made, there is an exception.
///
/// # Safety
/// The calling thread is a green one without managed code on its stack. No frame below this call holds anything that must be dropped.
pub(crate) unsafe fn first_call<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    this: ObjRef<'cx>,
    argument: Option<ObjRef<'cx>>,
) -> Throw {
    // Not the word stub: the thunk has room for two words at the end of the managed stack.
    static EXACT: [Published<usize>; 2] = [Published::new(), Published::new()];
    let exact = |stub: &Stub| match EXACT[usize::from(argument.is_some())].get() {
        Some(code) => Ok(*code),
        None => {
            let code = exact_code(cx, &stub.lowered)?;
            Ok(*EXACT[stub.lowered.params.len().min(1)].put(code))
        }
    };
    let found = stub_for(cx, method).and_then(|stub| {
        Ok((
            stub,
            exact(stub)?,
            cx.load(entries::entry(cx.domain(), method))?,
        ))
    });
    let (stub, stub_code, entry) = match found {
        Ok(found) => found,
        Err(throw) => return throw,
    };
    let code = match entry.code() {
        0 => entry.stub(),
        c => c,
    };
    assert!(
        stub.lowered.ret == Pass::None
            && stub.lowered.params.len() == usize::from(argument.is_some()),
        "the first call of a green thread: {}",
        stub.lowered.key()
    );
    vervet_os::lock::assert_no_leaf_lock("running managed code");
    let words = [this.addr() as u64, argument.map_or(0, |a| a.addr() as u64)];
    // SAFETY: the stub was made for this signature, whose words these are; the rest is the caller's promise.
    unsafe { crate::arch::first_call(stub_code, code, &raw const words, cx.context()) }
}

/// Calls exactly this method with one word for each machine parameter: `this`, the address of a returned struct, then the arguments. The result's words; those
/// behind them are 0.
pub(crate) fn invoke_words<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    mut words: SmallVec<[u64; 16]>,
) -> Result<[u64; 8]> {
    let stub = stub_for(cx, method)?;
    let code = stub.callee(cx, method)?;
    vervet_os::lock::assert_no_leaf_lock("running managed code");
    stack_guard::check_native(cx)?;
    if words.len() < WORDS {
        words.resize(WORDS, 0);
    }
    let mut ret = [0u64; 8];
    // SAFETY: the stub was made for this signature, and the caller gives one word per machine parameter.
    let status = unsafe {
        crate::arch::enter(
            stub.code,
            code,
            words.as_ptr(),
            ret.as_mut_ptr(),
            cx.context(),
        )
    };
    match status {
        0 => Ok(ret),
        _ => Err(Throw(())),
    }
}

/// How many words [`Direct::call`] takes.
pub const REGISTERS: usize = WORDS;

/// A method whose arguments, each of one word, and whose result travel in general registers: it is called without a look at its signature.
#[derive(Clone, Copy)]
pub struct Direct {
    method: MethodRef,
    stub: &'static Stub,
}

impl Direct {
    /// The method, if it is such a one.
    pub fn of<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<Option<Direct>> {
        let stub = stub_for(cx, method)?;
        let lowered = &stub.lowered;
        let in_a_word = |pass: &Pass| matches!(pass, Pass::Scalar(_));
        let result = lowered.ret == Pass::None || in_a_word(&lowered.ret);
        let fits = result && lowered.travels_in_words() && lowered.params.iter().all(in_a_word);
        Ok(fits.then_some(Direct { method, stub }))
    }

    /// Code of the method in the root domain, if the last call of it was made there and there is code.
    #[inline]
    pub fn compiled(&self) -> Option<usize> {
        // SAFETY: entries live for ever.
        let entry = unsafe { self.stub.entry.load(Acquire).as_ref() };
        let code = entry.filter(|e| e.domain.is_root())?.code();
        (code != 0).then_some(code)
    }

    /// What C calls the method by in the current domain, without Rust code in between, in the plain case. There is an object in the first word, if
    /// `first_is_object`; in all other cases `fallback` is entered with r10 = `record`.
    ///
    /// # Errors
    /// TypeLoadException and its kin, or there is no memory for code.
    pub fn straight<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        (count, first_is_object): (usize, bool),
        (fallback, record): (usize, usize),
    ) -> Result<StraightCall> {
        Ok(StraightCall {
            fallback,
            record,
            stub: self.stub.code,
            slot: cx.load(entries::entry(cx.domain(), self.method))?.slot(),
            count,
            any_first: usize::from(!first_is_object),
            domain: cx.domain().id,
        })
    }

    /// Calls exactly this method with words as the machine passes them: `this`, then the arguments. The word of the result is as managed code left it: bits
    /// that its type does not have are anything.
    ///
    /// # Safety
    /// Each word is a value of its parameter's type. Those behind are no references, or live ones. The words lie where the collector finds references:
    /// in a frame.
    #[inline]
    pub unsafe fn call<'cx>(&self, cx: &'cx Cx<'cx>, words: &[u64; REGISTERS]) -> Result<u64> {
        let code = self.stub.callee(cx, self.method)?;
        vervet_os::lock::assert_no_leaf_lock("running managed code");
        stack_guard::check_native(cx)?;
        let (words, mut ret) = (words.as_ptr(), [0u64; 2]);
        // SAFETY: the word stub loads so many words, and stores one; the rest is the caller's promise.
        let status = unsafe {
            crate::arch::enter(self.stub.code, code, words, ret.as_mut_ptr(), cx.context())
        };
        match status {
            0 => Ok(ret[0]),
            _ => Err(Throw(())),
        }
    }
}

/// Calls the implementation of a virtual or interface method for `this`.
pub fn invoke_virtual<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    this: ObjRef<'cx>,
    args: &[Value<'cx>],
) -> Result<Value<'cx>> {
    let code = crate::code::prestub::resolve_virtual(cx, this, method)?;
    call(
        cx,
        stub_for(cx, method)?,
        code,
        Some(Value::Ref(this)),
        args,
    )
}

/// Calls `code` through the stub, whose signature has one machine parameter per word: `this`, the address of a returned struct, then
/// the arguments.
fn call<'cx>(
    cx: &'cx Cx<'cx>,
    stub: &Stub,
    code: usize,
    this: Option<Value<'cx>>,
    args: &[Value<'cx>],
) -> Result<Value<'cx>> {
    vervet_os::lock::assert_no_leaf_lock("running managed code");
    stack_guard::check_native(cx)?;
    let lowered = &stub.lowered;
    let scope = Scope::new(cx);
    let mut few = [0u64; FEW];
    let count = word_count(lowered, this.is_some());
    let words: &mut [u64] = if count <= FEW {
        &mut few[..count.max(WORDS)]
    } else {
        scope.slice(count, 0)?
    };
    let mut used = 0;
    let mut push = |word: u64| {
        words[used] = word;
        used += 1;
    };
    let mut result_buffer = std::ptr::null_mut();
    if let Some(this) = this {
        push(word_of(this));
    }
    if lowered.ret == Pass::Address {
        let size = cx.load(lowered.ret_class.layout())?.size as usize;
        result_buffer = scope.bytes(size.next_multiple_of(8))?;
        push(result_buffer as u64);
    }
    assert_eq!(
        args.len(),
        lowered.params.len(),
        "argument count of {}",
        lowered.key()
    );
    for ((pass, class), arg) in lowered.params.iter().zip(&lowered.param_classes).zip(args) {
        match pass {
            Pass::None => {}
            Pass::Scalar(_) => push(word_of(*arg)),
            Pass::Scalars(leaves) => {
                let Value::Ptr(p) = *arg else {
                    panic!("a struct argument must be a pointer")
                };
                for &(offset, kind) in leaves {
                    // SAFETY: the caller passes the address of a value of that class.
                    push(unsafe { load_scalar(p.add(offset as usize), kind) });
                }
            }
            Pass::Address => {
                let Value::Ptr(p) = *arg else {
                    panic!("a struct argument must be a pointer")
                };
                let layout = cx.load(class.layout())?;
                let size = layout.size as usize;
                let copy = scope.bytes(size.next_multiple_of(8))?;
                // SAFETY: the caller passes the address of a value of that class; the copy has room for its size, and both are 8-aligned.
                unsafe {
                    crate::memory::copy::copy_value(copy, p, size, !layout.ref_map.is_empty())
                };
                push(copy as u64);
            }
        }
    }
    assert_eq!(used, count, "words of {}", lowered.key());
    let words = words.as_ptr();
    let mut ret = [0u64; 8];
    // SAFETY: the stub was made for this signature, and `words` has one word per machine parameter, as asserted above.
    let status =
        unsafe { crate::arch::enter(stub.code, code, words, ret.as_mut_ptr(), cx.context()) };
    if status != 0 {
        return Err(Throw(()));
    }
    Ok(match &lowered.ret {
        Pass::None => Value::Void,
        Pass::Scalar(_) => value_of(cx, lowered.ret_class, ret[0])?,
        Pass::Scalars(leaves) => {
            let size = cx.load(lowered.ret_class.layout())?.size as usize;
            let mut buffer = [0u64; 4];
            assert!(size <= 32);
            for (i, &(offset, kind)) in leaves.iter().enumerate() {
                // SAFETY: leaves lie inside the value.
                unsafe {
                    store_scalar(
                        (buffer.as_mut_ptr() as *mut u8).add(offset as usize),
                        kind,
                        ret[i],
                    )
                };
            }
            // SAFETY: `buffer` holds a value of that class.
            Value::Ref(unsafe { cx.box_value(lowered.ret_class, buffer.as_ptr() as *const u8)? })
        }
        // SAFETY: the callee has filled the buffer.
        Pass::Address => Value::Ref(unsafe { cx.box_value(lowered.ret_class, result_buffer)? }),
    })
}

/// Argument words that fit into an array of the caller's frame.
const FEW: usize = 16;

/// How many argument words a call has.
fn word_count(lowered: &LoweredSignature, this: bool) -> usize {
    let of = |p: &Pass| match p {
        Pass::None => 0,
        Pass::Scalar(_) | Pass::Address => 1,
        Pass::Scalars(leaves) => leaves.len(),
    };
    usize::from(this)
        + usize::from(lowered.ret == Pass::Address)
        + lowered.params.iter().map(of).sum::<usize>()
}

/// A value as the machine word that a stub loads.
pub(crate) fn word_of(v: Value<'_>) -> u64 {
    match v {
        Value::Void => 0,
        Value::Int(i) => i as u64,
        Value::F32(f) => f.to_bits() as u64,
        Value::F64(f) => f.to_bits(),
        Value::Ref(o) => o.addr() as u64,
        Value::Ptr(p) => p as u64,
    }
}

/// The result word of a call as a value of its type: small integers are extended as the type says.
pub(crate) fn value_of<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, word: u64) -> Result<Value<'cx>> {
    use vervet_types::Prim as P;
    if class.is_ptr() || class.is_byref() || class.is_fn_ptr() {
        return Ok(Value::Ptr(word as *mut u8));
    }
    if !cx.load(class.is_value_type())? {
        // SAFETY: managed code returned a reference.
        return Ok(Value::Ref(unsafe { ObjRef::from_addr(word as usize) }));
    }
    Ok(match cx.load(class.stack_prim())? {
        Some(P::R4) => Value::F32(f32::from_bits(word as u32)),
        Some(P::R8) => Value::F64(f64::from_bits(word)),
        Some(P::Bool | P::U1) => Value::Int(word as u8 as i64),
        Some(P::I1) => Value::Int(word as i8 as i64),
        Some(P::Char | P::U2) => Value::Int(word as u16 as i64),
        Some(P::I2) => Value::Int(word as i16 as i64),
        Some(P::I4) => Value::Int(word as i32 as i64),
        Some(P::U4) => Value::Int(word as u32 as i64),
        _ => Value::Int(word as i64),
    })
}

/// Reads one scalar of a struct as a machine word.
///
/// # Safety
/// `p` points to the scalar, which need not be aligned.
unsafe fn load_scalar(p: *const u8, kind: ScalarKind) -> u64 {
    // SAFETY: the caller passes the address of such a scalar; it is read unaligned.
    unsafe {
        match kind {
            ScalarKind::I1 => *(p as *const i8) as i64 as u64,
            ScalarKind::U1 => *p as u64,
            ScalarKind::I2 => (p as *const i16).read_unaligned() as i64 as u64,
            ScalarKind::U2 => (p as *const u16).read_unaligned() as u64,
            ScalarKind::I4 | ScalarKind::R4 => (p as *const u32).read_unaligned() as u64,
            ScalarKind::I8 | ScalarKind::R8 | ScalarKind::Ref | ScalarKind::Ptr => {
                (p as *const u64).read_unaligned()
            }
        }
    }
}

/// Writes one scalar of a struct.
///
/// # Safety
/// `p` points to room for the scalar. It is not in the heap: no card is marked.
pub(crate) unsafe fn store_scalar(p: *mut u8, kind: ScalarKind, word: u64) {
    // SAFETY: the caller passes room for such a scalar outside the heap; it is written unaligned.
    unsafe {
        match kind {
            ScalarKind::I1 | ScalarKind::U1 => *p = word as u8,
            ScalarKind::I2 | ScalarKind::U2 => (p as *mut u16).write_unaligned(word as u16),
            ScalarKind::I4 | ScalarKind::R4 => (p as *mut u32).write_unaligned(word as u32),
            ScalarKind::I8 | ScalarKind::R8 | ScalarKind::Ref | ScalarKind::Ptr => {
                (p as *mut u64).write_unaligned(word)
            }
        }
    }
}

/// The stub of filters: (frame pointer, exception) -> int.
static FILTER: Published<Stub> = Published::new();

/// Runs a filter over the frame at `fp`; an exception escaping it counts as false.
pub fn run_filter(_cx: &Cx<'_>, code: usize, fp: usize, exception: ObjRef<'_>) -> bool {
    let cx = &Cx::current();
    let stub = match FILTER.get() {
        Some(s) => s,
        None => {
            let ptr = cx.known(Known::IntPtr);
            let sig = MethodSig {
                has_this: false,
                explicit_this: false,
                call_conv: vervet_metadata::CallConvKind::Default,
                generic_arity: 0,
                ret: cx.known(Known::Int32),
                params: vec![ptr, ptr],
                sentinel: None,
            };
            let lowered =
                LoweredSignature::of(&sig).unwrap_or_else(|e| panic!("filter lowered: {e}"));
            match stub_code(cx, &lowered) {
                Ok(code) => FILTER.put(Stub::new(lowered, code)),
                // There is no room for the stub. The filter cannot run, which counts as an exception escaping it.
                Err(throw) => {
                    cx.take_pending(throw);
                    return false;
                }
            }
        }
    };
    // Where there is no room for a filter, it cannot run, which counts as an exception escaping it.
    if let Err(throw) = stack_guard::check_native(cx) {
        cx.take_pending(throw);
        return false;
    }
    let words: [u64; WORDS] = [fp as u64, exception.addr() as u64, 0, 0, 0, 0];
    let mut ret = [0u64; 2];
    // SAFETY: filters take (fp, exception) and return an int.
    let status = unsafe {
        crate::arch::enter(
            stub.code,
            code,
            words.as_ptr(),
            ret.as_mut_ptr(),
            cx.context(),
        )
    };
    if status != 0 {
        cx.take_pending(Throw(()));
        return false;
    }
    ret[0] as u32 == 1
}

impl<'cx> Cx<'cx> {
    /// Calls a method (non-virtually; look the implementation up first). `this` and `args` as [`Value`]s; a
    /// value type's `this` is `Value::Ptr`. A struct result comes back boxed as `Value::Ref`.
    pub fn invoke(
        &'cx self,
        method: MethodRef,
        this: Option<Value<'cx>>,
        args: &[Value<'cx>],
    ) -> Result<Value<'cx>> {
        invoke(self, method, this, args)
    }
    /// The method of a class of the core library with that name and number of parameters. A core library without it is an error of the program's
    /// surroundings: MissingMethodException.
    pub fn known_method(&'cx self, class: Known, name: &str, params: usize) -> Result<MethodRef> {
        let class = self.known(class);
        let found = self.load(class.find_method(name, Some(params)))?;
        found.ok_or_else(|| self.throw_load(LoadError::missing_method(class, name)))
    }
}

impl Runtime {
    /// Null-safe `ToString` of an object through its virtual method.
    pub fn to_string<'cx>(&self, cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<String> {
        if object.is_null() {
            return Ok(String::new());
        }
        self.to_string_or_null(cx, object)
            .map(Option::unwrap_or_default)
    }
    /// `ToString` of an object through its virtual method; None if that gives null.
    pub fn to_string_or_null<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        object: ObjRef<'cx>,
    ) -> Result<Option<String>> {
        let to_string = cx.known_method(Known::Object, "ToString", 0)?;
        match invoke_virtual(cx, to_string, object, &[])? {
            Value::Ref(s) => Ok(s.non_null().map(ObjRef::text)),
            _ => Ok(None),
        }
    }
}
