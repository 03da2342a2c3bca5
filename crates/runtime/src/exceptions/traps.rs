//! Hardware traps in managed code become exceptions; faults anywhere else are crash reports.
//!
//! # What a fault becomes
//! | the fault | becomes |
//! |---|---|
//! | at a pc that compiled code lists as a trap | the exception of that trap, thrown at that instruction |
//! | anything else, in a host with a handler of its own from before the start | the host's handler is called |
//! | anything else | a crash report, and exit code 70 |
//!
//! # Invariants
//! * The handler runs on the alternate stack, reads one thread-local word, and changes nothing but the interrupted registers and the
//!   word below the interrupted stack pointer. The exception is made after the handler has returned, by the thunk that the registers
//!   then name.
use crate::arch::upcalls::{self, RETURN_FAILURE};
use crate::code::table;
use crate::cx::Cx;
use crate::exceptions::deep_stacks;
use crate::exceptions::make;
use crate::exceptions::throw::raise;
use crate::exceptions::trace::{self, TraceMode};
use crate::exceptions::wrappers::Wrapper;
use crate::object::ObjRef;
use crate::threads::{interrupts, managed_stack, stack_guard};
use std::sync::atomic::{AtomicBool, Ordering};
use vervet_abi::stack::Numbers;
use vervet_abi::{State, ThreadContext, ThrowKind};
use vervet_types::Known;

/// Installs the fault handlers. Called once at start-up.
pub fn initialise() {
    // SAFETY: installing handlers that follow the rules of this module.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | libc::SA_NODEFER;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaddset(&mut action.sa_mask, crate::safepoint::stop_word::SUSPEND);
        libc::sigaddset(&mut action.sa_mask, libc::SIGPROF);
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if IS_HOSTED.load(Ordering::Relaxed) {
                BEFORE[signal as usize].put(Before(before));
            }
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut before);
        if before.sa_sigaction == libc::SIG_DFL {
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        }
    }
}

/// Whether the process is a host's, so that its handlers are somebody's.
static IS_HOSTED: AtomicBool = AtomicBool::new(false);

/// The process is a host's: faults that are not the runtime's go to the handlers that it has now. Called before [`initialise`].
///
/// The command does not call this. It finds handlers too: those of Rust's standard library, which look for overflows of its own stacks, and for any other
/// fault restore the default action and return. With them a fault would end the process without a report, and a signal that was sent would be lost.
pub fn chain_to_host() {
    IS_HOSTED.store(true, Ordering::Relaxed);
}

/// A signal's action when the runtime started.
struct Before(libc::sigaction);
static BEFORE: [vervet_os::Published<Before>; 32] = [const { vervet_os::Published::new() }; 32];

/// Calls the handler that the process had when the runtime started, if it had one. False: it had none.
///
/// # Safety
/// The arguments are what the kernel passed to the handler of the signal.
unsafe fn call_handler_before(
    signal: i32,
    info: *mut libc::siginfo_t,
    uc: *mut libc::c_void,
) -> bool {
    let Some(Before(action)) = BEFORE.get(signal as usize).and_then(|b| b.get()) else {
        return false;
    };
    if action.sa_sigaction == libc::SIG_DFL || action.sa_sigaction == libc::SIG_IGN {
        return false;
    }
    // SAFETY: the kernel would have called the handler the same way.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            let handler: vervet_os::signal::Handler = std::mem::transmute(action.sa_sigaction);
            handler(signal, info, uc);
        } else {
            let handler: extern "C" fn(i32) = std::mem::transmute(action.sa_sigaction);
            handler(signal);
        }
    }
    true
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    let context = crate::threads::current_context();
    // SAFETY: the kernel passes a valid ucontext; the words pushed below belong to the interrupted managed
    // stack, under its stack pointer, where JIT code keeps nothing (no red zone).
    unsafe {
        let uc = &mut *(uc as *mut libc::ucontext_t);
        let regs = &mut uc.uc_mcontext.gregs;
        let pc = regs[libc::REG_RIP as usize] as usize;
        if !context.is_null()
            && (*context).state == State::Managed as u8
            && crate::code::arena::contains(pc)
        {
            let code = table::find(pc);
            let found = code.as_ref().and_then(|c| c.trap(pc));
            let kind = match (found, signal) {
                (Some(k), libc::SIGFPE)
                    if k == ThrowKind::DivideByZero as u8 || k == ThrowKind::Overflow as u8 =>
                {
                    Some(k)
                }
                (Some(k), _) => Some(k),
                (None, _) => None,
            };
            if let Some(kind) = kind {
                // A region that traps is given up.
                (*context).critical = 0;
                let mut sp = regs[libc::REG_RSP as usize] as usize;
                let mut push = |word: usize| {
                    sp -= 8;
                    *(sp as *mut usize) = word;
                    sp
                };
                if code.is_some_and(|c| c.is_frameless()) {
                    // What raises the exception finds a frame.
                    let frame = push(regs[libc::REG_RBP as usize] as usize);
                    regs[libc::REG_RBP as usize] = frame as i64;
                }
                let sp = push(pc);
                regs[libc::REG_RSP as usize] = sp as i64;
                regs[libc::REG_RDI as usize] = kind as i64;
                regs[libc::REG_R15 as usize] = context as i64;
                regs[libc::REG_RIP as usize] = crate::arch::trap_stub as *const () as i64;
                return;
            }
        }
        // A host's own fault, if it wants to know of it.
        if call_handler_before(signal, info, std::ptr::from_mut(uc).cast()) {
            return;
        }
        super::report::crash(signal, info, uc, context);
    }
}

/// From the trap stub: makes the exception and raises it at the trapping instruction.
#[unsafe(export_name = "vervet_throw_trap")]
pub extern "C" fn throw_trap(_context: *mut ThreadContext, kind: u32) -> ! {
    let cx = Cx::current();
    throw_kind(&cx, kind)
}

/// Makes and raises the exception of a [`ThrowKind`] from the innermost exit record.
pub fn throw_kind(_cx: &Cx<'_>, kind: u32) -> ! {
    let cx = &Cx::current();
    let exception = make_kind(cx, kind);
    match arises_in(kind) {
        None => raise(cx, exception, TraceMode::Fresh),
        Some(wrapper) => {
            trace::begin_in(cx, exception, wrapper as usize);
            raise(cx, exception, TraceMode::Continue)
        }
    }
}

/// The wrapper in which mono raises the exception of a [`ThrowKind`].
fn arises_in(kind: u32) -> Option<Wrapper> {
    match ThrowKind::from_u8(kind as u8)? {
        ThrowKind::DoubleToI8 => Some(Wrapper::DoubleToI8),
        ThrowKind::DoubleToU8 => Some(Wrapper::DoubleToU8),
        ThrowKind::SingleToI8 => Some(Wrapper::SingleToI8),
        ThrowKind::SingleToU8 => Some(Wrapper::SingleToU8),
        _ => None,
    }
}

/// The exception of a [`ThrowKind`], or what its constructor throws.
fn make_kind<'cx>(cx: &'cx Cx<'cx>, kind: u32) -> ObjRef<'cx> {
    let kind = ThrowKind::from_u8(kind as u8).unwrap_or(ThrowKind::ExecutionEngine);
    use ThrowKind as K;
    let class = match kind {
        K::NullReference => Known::NullReferenceException,
        K::IndexOutOfRange => Known::IndexOutOfRangeException,
        K::DivideByZero => Known::DivideByZeroException,
        K::Overflow | K::DoubleToI8 | K::DoubleToU8 | K::SingleToI8 | K::SingleToU8 => {
            Known::OverflowException
        }
        K::InvalidCast => Known::InvalidCastException,
        K::ArrayTypeMismatch => Known::ArrayTypeMismatchException,
        K::Arithmetic => Known::ArithmeticException,
        K::StackOverflow => Known::StackOverflowException,
        K::OutOfMemory => Known::OutOfMemoryException,
        K::InvalidProgram => Known::InvalidProgramException,
        K::EntryPointNotFound => Known::EntryPointNotFoundException,
        K::BadImageFormat => Known::BadImageFormatException,
        K::NotSupported => Known::NotSupportedException,
        K::ArgumentOutOfRange => Known::ArgumentOutOfRangeException,
        K::ExecutionEngine => Known::ExecutionEngineException,
    };
    // Mono raises this one with a message of its own (without the full stop of the class library's).
    let message: &[&str] = match kind {
        K::NullReference => &["Object reference not set to an instance of an object"],
        K::StackOverflow => &["The requested operation caused a stack overflow."],
        _ => &[],
    };
    match make::new(cx, cx.known(class), message) {
        Ok(e) => e,
        Err(t) => cx.take_pending(t),
    }
}

/// The stack is used up. StackOverflowException is raised where the method was called;
/// handlers that run on the way to where it is caught get part of the stack guard. Used up as well, it ends the process.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state.
#[unsafe(export_name = "vervet_stack_overflow")]
pub unsafe extern "C" fn stack_overflow(context: *mut ThreadContext) -> ! {
    if !stack_guard::give(context) {
        // SAFETY: the caller's promise.
        unsafe { end_for_overflow(context) };
    }
    let cx = Cx::current();
    throw_kind(&cx, ThrowKind::StackOverflow as u32)
}

/// From the `grow` thunk: the check of a function has failed. `numbers` follow its call of the thunk ([`Numbers`]), `sp` is the stack pointer
/// at the function's first instruction. 0: an exception is pending; 1: the function goes on where it is; [`RETURN_FAILURE`]; otherwise the
/// top of the segment on which it is to go on.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state.
#[unsafe(export_name = "vervet_stack_check_failed")]
unsafe extern "C" fn stack_check_failed(
    context: *mut ThreadContext,
    numbers: &Numbers,
    sp: usize,
) -> usize {
    let pc = std::ptr::from_ref(numbers) as usize;
    // An invoke stub's catch-all is not in force yet, and its caller is Rust code, which exceptions do not pass.
    let is_invoke_stub = table::find(pc).is_some_and(|code| code.is_invoke_stub());
    // The limit may have been raised to have requests served.
    // SAFETY: the thunk passes this thread's context.
    if !unsafe { interrupts::at_prologue(context, pc) } {
        return if is_invoke_stub { RETURN_FAILURE } else { 0 };
    }
    let frame_end = sp - numbers.frame as usize;
    // SAFETY: the context belongs to this thread.
    if frame_end >= unsafe { (*context).true_limit } {
        if let Some(bytes) = stack_guard::becomes_deeper(context, frame_end) {
            deep_stacks::has_become_deeper(bytes);
        }
        return 1;
    }
    let bytes = numbers.stack_arguments as usize + numbers.frame as usize;
    match managed_stack::grow(context, bytes, sp - upcalls::GROW_BYTES) {
        Some(grown) => {
            if let Some(bytes) = grown.filled {
                deep_stacks::has_become_deeper(bytes);
            }
            grown.top
        }
        None if is_invoke_stub => {
            // SAFETY: the thunk passes this thread's context.
            unsafe { leave_overflow_pending(context) };
            RETURN_FAILURE
        }
        // SAFETY: the thunk passes this thread's context.
        None => unsafe { stack_overflow(context) },
    }
}

/// As [`stack_overflow`] where the exception would be caught at once: leaves it pending.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state.
unsafe fn leave_overflow_pending(context: *mut ThreadContext) {
    if !stack_guard::give(context) {
        // SAFETY: the caller's promise.
        unsafe { end_for_overflow(context) };
    }
    let cx = Cx::current();
    let _pending = cx.throw_object(make_kind(&cx, ThrowKind::StackOverflow as u32));
    stack_guard::take_back(context);
}

/// The part of the stack that handlers of StackOverflowException get is used up as well: ends the process.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state.
#[unsafe(export_name = "vervet_end_for_overflow")]
pub(crate) unsafe extern "C" fn end_for_overflow(context: *mut ThreadContext) -> ! {
    let mut text = String::from(
        "\nUnhandled Exception:\nSystem.StackOverflowException: The requested operation caused a stack overflow.\n",
    );
    // SAFETY: the caller passes this thread's context.
    let frames = unsafe { crate::exceptions::walk::describe(context) };
    for f in frames.iter().take(64) {
        text.push_str(&format!("  at {f}\n"));
    }
    crate::process::fatal::write_stderr(&text);
    crate::process::fatal::exit_process(1)
}
