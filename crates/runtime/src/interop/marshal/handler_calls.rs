//! Managed code that a signal handler calls: a delegate that is the handler itself, or that a library's handler calls.
//!
//! # Why not where it is called
//! The handler may have interrupted its thread at any instruction: of managed code in the middle of an allocation, of ours with
//! a lock held, of the C library in `malloc`. Managed code allocates, compiles and locks, so it cannot run there; and a C handler cannot
//! be put off.
//!
//! # How it works
//! The call is a note in a ring: which delegate, and its arguments. A thread of its own makes the calls in the order of the
//! notes; to managed code it is one more thread of a library's. If the signal found the thread in a native function that managed code
//! has called, which holds nothing of ours (`raise`, `pause`, `poll`), the handler waits for the call, for so long as is
//! reasonable: then what the delegate did is seen when the native function returns, as if it had run in the handler. In every other
//! place the handler returns at once.
//!
//! # Invariants
//! * What a call does never depends on the moment of the signal, but for when it is done. So a delegate that returns something,
//!   or takes anything but numbers (an address may be one into the handler's stack), cannot be called from a handler at all:
//!   the process says so and ends.
//! * A handler makes a note without lock and memory ([`vervet_parking::ring`], with the models). It may be interrupted by another that does
//!   the same, which then waits for nothing: its call comes after one whose note is not complete before it returns.
//! * The ring has room for [`NOTES`] calls; what does not find room is not done, as the kernel does with signals that are pending already.
//! * The consumer takes signals as any other thread does, from its first call on, but a handler on it waits for nothing: it would wait
//!   for itself.
use super::thunks::Record;
use crate::exceptions::report;
use crate::safepoint::registry;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32,
    Ordering::{Acquire, Relaxed, SeqCst},
};
use std::time::Duration;
use vervet_abi::context::RecordKind;
use vervet_abi::native_call::ReverseCall;
use vervet_abi::{State, ThreadContext};
use vervet_os::{clock::now, futex};
use vervet_parking::ring::Ring;
use vervet_types::{LoadError, MethodRef, Prim};

/// Calls that may wait to be made.
const NOTES: usize = 256;
/// How long a handler waits for its call, in nanoseconds.
const PATIENCE: u64 = 2_000_000_000;

/// A call: the delegate, and what is in the registers of a call.
#[derive(Clone, Copy)]
struct Call {
    record: &'static Record,
    ints: [u64; 6],
    floats: [f64; 8],
}

static RING: Ring<Call, NOTES> = Ring::new();
/// The number of the last call that has come back; handlers sleep on it.
static DONE: AtomicU32 = AtomicU32::new(0);
static STARTED: AtomicBool = AtomicBool::new(false);
/// The system's number of the thread that makes the calls, 0 while there is none.
static CALLER: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// A handler on this thread makes a note.
    static NOTING: AtomicBool = const { AtomicBool::new(false) };
}

/// Can a delegate of that class be called from a handler? Given its `Invoke`.
pub(super) fn is_plain(invoke: MethodRef) -> Result<bool, LoadError> {
    let sig = invoke.sig()?;
    if sig.ret.stack_prim()? != Some(Prim::Void) {
        return Ok(false);
    }
    let (mut ints, mut floats) = (0, 0);
    for param in &sig.params {
        match param.stack_prim()? {
            None | Some(Prim::Void | Prim::IntPtr | Prim::UIntPtr) => return Ok(false),
            Some(Prim::R4 | Prim::R8) => floats += 1,
            Some(_) => ints += 1,
        }
    }
    Ok(ints <= 6 && floats <= 8)
}

/// A handler has called the delegate. See the module.
///
/// # Safety
/// The context is the calling thread's, or null.
pub(super) unsafe fn call(
    context: *mut ThreadContext,
    record: &'static Record,
    block: &mut ReverseCall,
) {
    if !record.is_plain {
        refuse(record);
    }
    (block.ret_int, block.ret_sse) = ([0; 2], [0; 2]);
    // SAFETY: errno is the calling thread's.
    let errno = unsafe { *libc::__errno_location() };
    let note = Call {
        record,
        ints: block.int_regs,
        floats: block.sse_regs.map(f64::from_bits),
    };
    let interrupts = NOTING.with(|n| n.swap(true, SeqCst));
    let number = RING.put(note);
    NOTING.with(|n| n.store(interrupts, SeqCst));
    if let Some(number) = number {
        futex::wake(RING.made(), 1);
        if !STARTED.swap(true, SeqCst) {
            report::ask_for_handler_calls();
        }
        // SAFETY: the context is null or the calling thread's, whose record list does not change while the handler runs.
        if !interrupts && unsafe { is_in_native_function(context) } {
            wait_for(number);
        }
    }
    // SAFETY: the address of errno is the calling thread's, in a handler as elsewhere.
    unsafe { *libc::__errno_location() = errno };
}

/// Has the signal found the thread in a native function that managed code called?
///
/// # Safety
/// The context is the calling thread's, or null.
unsafe fn is_in_native_function(context: *mut ThreadContext) -> bool {
    if context.is_null() || vervet_os::signal::thread_id() == CALLER.load(SeqCst) {
        return false;
    }
    // SAFETY: the context is the calling thread's, as the caller promises; the thunks link complete records, so a record that is found can be read.
    unsafe {
        let record = (&raw const (*context).record).read_volatile();
        registry::state(context).load(Relaxed) == State::Native as u8
            && !record.is_null()
            && (*record).kind == RecordKind::Native as usize
    }
}

fn wait_for(number: u64) {
    let end = now() + PATIENCE;
    loop {
        let done = DONE.load(SeqCst);
        let left = end.saturating_sub(now());
        if done.wrapping_sub(number as u32) as i32 > 0 || left == 0 {
            return;
        }
        futex::wait(&DONE, done, Some(Duration::from_nanos(left)));
    }
}

fn refuse(record: &Record) -> ! {
    crate::process::fatal::write_stderr_without_memory(format_args!(
        "vervet: a signal handler called a delegate of type {}: only those that return nothing and take numbers can be called there\n",
        record.invoke.class.name
    ));
    // SAFETY: ends the process.
    unsafe { libc::_exit(1) }
}

/// Starts the thread that makes the calls.
pub(crate) fn start() {
    /// As much as other threads have.
    const STACK: usize = (2 << 20) + (512 << 10);
    let started = vervet_os::thread::spawn_detached(STACK, make_calls);
    // Without it the next handler tries again.
    STARTED.store(started.is_ok(), SeqCst);
}

fn make_calls() {
    type Thunk =
        extern "C" fn(u64, u64, u64, u64, u64, u64, f64, f64, f64, f64, f64, f64, f64, f64);
    // Before it can take a signal.
    CALLER.store(vervet_os::signal::thread_id(), SeqCst);
    // Who started the thread takes none.
    vervet_os::signal::unblock_all();
    let mut number = 0;
    loop {
        let seen = RING.made().load(SeqCst);
        let Some(call) = RING.take(number) else {
            futex::wait(RING.made(), seen, None);
            continue;
        };
        let (i, f) = (call.ints, call.floats);
        // SAFETY: records are never freed; the thunk takes its arguments from these registers, which is all that a plain
        // delegate has.
        unsafe {
            let thunk: Thunk = std::mem::transmute(call.record.thunk.load(Acquire));
            thunk(
                i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7],
            );
        }
        number += 1;
        DONE.store(number as u32, SeqCst);
        futex::wake(&DONE, i32::MAX);
    }
}
