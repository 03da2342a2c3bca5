//! Unmanaged thunks: C functions that call a managed method.
//!
//! # How it works
//! A thunk loads the method's record and goes to one entry, which saves the argument registers in a block, as native code's calls of delegates do.
//! Rust code takes the arguments from there by the signature, calls the method, and leaves the result in the block.
//!
//! | in C | what it is |
//! |---|---|
//! | first, for instance methods | the object; for a value type the box |
//! | a primitive or an enumeration | its value |
//! | by reference, a pointer | the address |
//! | a reference | the object |
//! | any other value type | a box of it |
//! | last | `MonoException**`, always written |
//!
//! The result is a primitive, an object, or a box.
//!
//! A method that has a [plan](crate::plans), and whose last argument is in a general register as well: its thunk saves these registers alone, and the call takes them
//! as they are, but for small integers. Where there are none, the thunk enters managed code [straight](vervet_runtime::arch::straight_call): Rust code runs only in
//! what is not the plain case, a stop or another domain.
//!
//! # Invariants
//! * A thunk is never freed, and there is one for each method.
//! * What a plan leaves in the words behind the arguments is the address of the exception's variable, or stale: no reference that the collector must not see.
use crate::plans::{self, Plan, Returned, narrow};
use crate::support::{MethodP, Object, address, object};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use vervet_icalls::support::values;
use vervet_os::LeafLock;
use vervet_runtime::code::invoke::REGISTERS;
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_types::{ClassRef, Method, MethodRef, Prim};

static ALL: LeafLock<Option<FxHashMap<u32, usize>>> = LeafLock::new(None);

/// The registers of a call, and its result.
#[repr(C)]
struct Block {
    ints: [u64; 6],
    vectors: [u64; 8],
    stack: *const u64,
    result: u64,
    result_vector: u64,
    unused: u64,
}

/// Where thunks go: r10 = method.
#[unsafe(naked)]
unsafe extern "C" fn entry() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 144",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movsd [rsp + 48], xmm0",
        "movsd [rsp + 56], xmm1",
        "movsd [rsp + 64], xmm2",
        "movsd [rsp + 72], xmm3",
        "movsd [rsp + 80], xmm4",
        "movsd [rsp + 88], xmm5",
        "movsd [rsp + 96], xmm6",
        "movsd [rsp + 104], xmm7",
        "lea rax, [rbp + 16]",
        "mov [rsp + 112], rax",
        "mov rdi, r10",
        "mov rsi, rsp",
        "call {call}",
        "mov rax, [rsp + 120]",
        "movsd xmm0, [rsp + 128]",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        call = sym call,
    )
}

/// Where thunks of methods with a plan go: r10 = plan.
#[unsafe(naked)]
unsafe extern "C" fn planned_entry() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 48",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "mov rdi, r10",
        "mov rsi, rsp",
        "call {call}",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        call = sym call_planned,
    )
}

/// The word of the result.
///
/// # Safety
/// The words are those of a call of the thunk of the plan's method.
unsafe extern "C" fn call_planned(plan: &'static Plan, words: *mut [u64; REGISTERS]) -> u64 {
    let entered = crate::support::attached("an unmanaged thunk");
    let token = entered.token();
    let cx = crate::support::for_the_call(&token);
    // SAFETY: the caller's promise.
    let words = unsafe { &mut *words };
    let slot = words[plan.count()] as *mut Object;
    for (word, kind) in words.iter_mut().zip(plan.kinds()) {
        if let Some(prim) = kind {
            *word = narrow(*prim, *word) as u64;
        }
    }
    // SAFETY: the words have been narrowed as the types of the plan's method say.
    let (result, exception) = match unsafe { plan.call(cx, words) } {
        Ok(word) => (word, std::ptr::null_mut()),
        Err(throw) => (0, address(cx.take_pending(throw))),
    };
    if !slot.is_null() {
        // SAFETY: the caller passes the address of a variable.
        unsafe { *slot = exception };
    }
    match plan.result() {
        Returned::Prim(prim) => narrow(prim, result) as u64,
        _ => result,
    }
}

/// Code that goes to `entry` with the address of `record` in r10.
fn place(record: usize, entry: usize, name: impl FnOnce() -> String) -> Option<usize> {
    let mut code = vec![0x49, 0xBA]; // mov r10, record
    code.extend(record.to_le_bytes());
    code.extend([0xFF, 0x25, 0, 0, 0, 0]); // jmp [rip]
    code.extend(entry.to_le_bytes());
    vervet_runtime::code::arena::place_stub(code, name).ok()
}

/// Takes the machine arguments one after the other.
struct Arguments<'b> {
    block: &'b Block,
    ints: usize,
    vectors: usize,
    stack: usize,
}
impl Arguments<'_> {
    fn stack_word(&mut self) -> u64 {
        self.stack += 1;
        // SAFETY: the caller of the thunk passed so many arguments.
        unsafe { *self.block.stack.add(self.stack - 1) }
    }
    fn int(&mut self) -> u64 {
        self.ints += 1;
        match self.block.ints.get(self.ints - 1) {
            Some(word) => *word,
            None => self.stack_word(),
        }
    }
    fn vector(&mut self) -> u64 {
        self.vectors += 1;
        match self.block.vectors.get(self.vectors - 1) {
            Some(word) => *word,
            None => self.stack_word(),
        }
    }
}

/// The argument of that type.
fn argument<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    args: &mut Arguments<'_>,
) -> Result<Value<'cx>> {
    if class.is_byref() || class.is_ptr() || class.is_fn_ptr() {
        return Ok(Value::Ptr(args.int() as *mut u8));
    }
    if !cx.load(class.is_value_type())? {
        // SAFETY: the caller passes an object.
        return Ok(Value::Ref(unsafe { object(args.int() as Object) }));
    }
    Ok(match cx.load(class.stack_prim())? {
        Some(Prim::R4) => Value::F32(f32::from_bits(args.vector() as u32)),
        Some(Prim::R8) => Value::F64(f64::from_bits(args.vector())),
        Some(prim) => Value::Int(narrow(prim, args.int())),
        None => {
            // SAFETY: the caller passes a box of the value.
            let boxed = cx.non_null(unsafe { object(args.int() as Object) })?;
            Value::Ptr(boxed.value_ptr())
        }
    })
}

/// How many arguments lie in the frame.
const FEW: usize = 16;

fn run<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    args: &mut Arguments<'_>,
    out: &mut (u64, u64),
) -> Result<()> {
    let sig = cx.load(method.sig())?;
    let this = if method.is_static() {
        None
    } else {
        // SAFETY: the caller passes an object.
        let this = cx.non_null(unsafe { object(args.int() as Object) })?;
        Some(if cx.load(method.class.is_value_type())? {
            Value::Ptr(this.value_ptr())
        } else {
            Value::Ref(this)
        })
    };
    let scope = vervet_runtime::memory::localloc_stack::Scope::new(cx);
    let mut few = [Value::Void; FEW];
    let count = sig.params.len();
    let values: &mut [Value<'cx>] = if count <= FEW {
        &mut few[..count]
    } else {
        scope.slice(count, Value::Void)?
    };
    for (slot, class) in values.iter_mut().zip(&sig.params) {
        *slot = argument(cx, class, args)?;
    }
    match cx.invoke(method, this, values)? {
        Value::Void => {}
        Value::Int(i) => out.0 = i as u64,
        Value::F32(f) => out.1 = u64::from(f.to_bits()),
        Value::F64(f) => out.1 = f.to_bits(),
        Value::Ref(o) => {
            out.0 = if sig.ret.is_nullable() {
                address(values::returned(cx, sig.ret, Value::Ref(o))?) as u64
            } else {
                o.addr() as u64
            }
        }
        Value::Ptr(p) => out.0 = p as u64,
    }
    Ok(())
}

/// # Safety
/// The block is that of a call of the method's thunk.
unsafe extern "C" fn call(method: &'static Method, block: *mut Block) {
    let entered = crate::support::attached("an unmanaged thunk");
    let token = entered.token();
    let cx = crate::support::for_the_call(&token);
    // SAFETY: the caller's promise.
    let block = unsafe { &mut *block };
    let mut out = (0, 0);
    let mut args = Arguments {
        block,
        ints: 0,
        vectors: 0,
        stack: 0,
    };
    let exception = match run(cx, method, &mut args, &mut out) {
        Ok(()) => std::ptr::null_mut(),
        Err(throw) => address(cx.take_pending(throw)),
    };
    // The last argument, wherever the others are: an exception may have come before all were taken.
    let slot = exception_slot(method, block);
    if !slot.is_null() {
        // SAFETY: the caller passes the address of a variable.
        unsafe { *slot = exception };
    }
    (block.result, block.result_vector) = out;
}

/// The address that the last argument is.
fn exception_slot(method: MethodRef, block: &Block) -> *mut Object {
    let mut args = Arguments {
        block,
        ints: 0,
        vectors: 0,
        stack: 0,
    };
    if !method.is_static() {
        args.int();
    }
    if let Ok(sig) = method.sig() {
        for class in &sig.params {
            let prim = if class.is_byref() || class.is_ptr() {
                None
            } else {
                class.stack_prim().ok().flatten()
            };
            match prim {
                Some(Prim::R4 | Prim::R8) => args.vector(),
                _ => args.int(),
            };
        }
    }
    args.int() as *mut Object
}

/// The record and the entry of a method's thunk.
fn record(method: MethodRef) -> (usize, usize) {
    let general = (
        std::ptr::from_ref(method) as usize,
        entry as *const () as usize,
    );
    if vervet_runtime::threads::current_context().is_null() {
        return general;
    }
    let token = Cx::current();
    // One register more is the exception's.
    match plans::of(crate::support::for_the_call(&token), method) {
        Some(plan) if plan.count() < REGISTERS => {
            let planned = planned_entry as *const () as usize;
            let cx = crate::support::for_the_call(&token);
            match plan.straight(cx, planned) {
                // Thunks live for ever.
                Some(call) => (
                    std::ptr::from_ref(Box::leak(Box::new(call))) as usize,
                    vervet_runtime::arch::straight_call as *const () as usize,
                ),
                None => (std::ptr::from_ref(plan) as usize, planned),
            }
        }
        _ => general,
    }
}

api! {
    fn mono_method_get_unmanaged_thunk(method: MethodP) -> *const c_void {
        let Some(method) = method else { return std::ptr::null() };
        if let Some(code) = ALL.lock().get_or_insert_default().get(&method.id) {
            return *code as *const c_void;
        }
        let (record, entry) = record(method);
        match place(record, entry, || format!("unmanaged thunk of {}", method.full_name())) {
            Some(code) => *ALL.lock().get_or_insert_default().entry(method.id).or_insert(code) as *const c_void,
            None => std::ptr::null(),
        }
    }
}
