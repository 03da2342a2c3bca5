//! Carriers: attached OS threads that run green threads.
//!
//! # Invariants
//! * Between two green threads a carrier is in Native state with its own context. It goes to a green thread through Runtime state, so not while the
//!   world is stopped.
//! * While a carrier runs a green thread, the state of its own context is Runtime. So whoever stops the world and has just read that the OS
//!   thread runs with its own context finds that it is not stopped, and reads again ([`Thread::context`]). A green thread that has left its
//!   carrier is Parked, which counts as not stopped for the same reason.
//! * The TLAB and the slots of GC handles are the OS thread's. The green thread that it runs has them.
use super::record::{self, Green};
use super::run;
use super::seat::Seat;
use super::stacks::{self, NativeStack, give_native, take_native};
use super::trim;
use crate::arch::upcalls::Entered;
use crate::arch::{self, FloatModes};
use crate::safepoint::registry::{self, Thread};
use crate::safepoint::{green_contexts, stash};
use crate::threads::current::set_current_context;
use crate::threads::native_state::leave_native;
use crate::threads::retry_thread::{self, raise_limit};
use crate::threads::{attach, current_context, native, start};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vervet_abi::context::NO_NATIVE_STACK;
use vervet_abi::context::interrupts::{ABORT, PREEMPT, SUSPEND};
use vervet_abi::{State, ThreadContext};
use vervet_os::LeafLock;
use vervet_parking::stopping::go_native;
use vervet_sched::{Carrier, Outcome};

/// Bytes of a carrier's own stack, on which only the scheduler runs.
const STACK: usize = 256 << 10;

/// Starts an OS thread for a carrier.
///
/// # Errors
/// The carrier, if there can be no other thread.
#[unsafe(export_name = "vervet_start_carrier")]
fn start(carrier: Carrier) -> Result<(), Carrier> {
    let carrier = Arc::new(LeafLock::new(Some(carrier)));
    let given = carrier.clone();
    let started = start::spawn(STACK, move || {
        let carrier = given.lock().take();
        carrier.into_iter().for_each(carry);
    });
    if started {
        return Ok(());
    }
    // Nobody else takes it.
    carrier.lock().take().map_or(Ok(()), Err)
}

fn carry(carrier: Carrier) {
    attach::attach();
    let mut seat = Seat {
        target: arch::Target {
            carrier_sp: 0,
            sp: 0,
            modes: std::ptr::null_mut(),
            carrier_modes: FloatModes::current(),
        },
        outcome: Outcome::End,
        carrier: std::ptr::null_mut(),
        spare: None,
        free: Vec::with_capacity(record::KEPT),
    };
    // SAFETY: the thread is attached.
    let thread = unsafe { Thread::of(current_context()) };
    thread.own.carries.set(&raw mut seat);
    native(|| super::scheduler().carry(carrier));
    thread.own.carries.set(std::ptr::null_mut());
    record::give_up(&mut seat.free);
    if let Some(id) = seat.spare.take().and_then(give_native) {
        super::scheduler().make_ready(None, id);
    }
    attach::detach();
}

/// Green thread `id` is to let others run soon.
#[unsafe(export_name = "vervet_preempt_green")]
fn preempt(id: u32) {
    let Some(green) = record::find(id) else {
        return;
    };
    // SAFETY: contexts are never freed. A request that comes late has the thread yield once.
    unsafe {
        registry::interrupts(green.context).fetch_or(PREEMPT, Ordering::SeqCst);
        raise_limit(green.context);
    }
    // A loop that neither calls nor polls is redirected.
    retry_thread::kick();
}

/// A carrier without work makes what a thread that starts will need. False: there is no memory for more.
#[unsafe(export_name = "vervet_prepare_green")]
fn prepare() -> bool {
    let base = current_context();
    // SAFETY: the calling thread is a carrier, in Native state with its own context.
    unsafe {
        leave_native(base);
        let made = record::make_wanted();
        go_native(registry::state(base));
        made
    }
}

/// From [`arch::run_thread`]: green thread `id` is about to run on the calling carrier.
///
/// # Safety
/// The calling thread is that carrier, in Native state. The scheduler gives a green thread to one carrier at a time, and has the last one's stores seen.
#[unsafe(export_name = "vervet_enter_green")]
unsafe extern "C" fn enter_green(carrier: *mut (), id: u32) -> Entered {
    let stays = |outcome| Entered {
        target: std::ptr::null_mut(),
        outcome: outcome as usize,
    };
    let carrier: *mut Carrier = carrier.cast();
    let green = record::of(id);
    // (Nobody else changes it until the thread runs again. Most threads are never bound, and a load costs less than an exchange.)
    let bound_to = green.bound_to.load(Ordering::Acquire);
    if bound_to != 0 {
        green.bound_to.store(0, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        super::scheduler().hand_to(unsafe { &mut *carrier }, bound_to, green.id());
        return stays(Outcome::HandedOver);
    }
    // Before anything of it changes.
    trim::note_run(green);
    let base = current_context();
    let context = green.context;
    // SAFETY: the caller's promise: the carrier's context is `base`. The words of a context that is parked change in Runtime state only.
    unsafe {
        let thread = Thread::of(base);
        let seat = &mut *thread.own.carries.get();
        let first = match (*context).scan_sp {
            0 => {
                trim::one_begins();
                Some(run::main as *const () as usize)
            }
            NO_NATIVE_STACK => Some(arch::call_again as *const () as usize),
            _ => None,
        };
        if first.is_some() && !provide(&mut seat.spare, green) {
            return stays(Outcome::Waits);
        }
        seat.carrier = carrier;
        leave_native(base);
        enter(thread, base, context);
        // Nobody holds the thread any more, and nothing of its stack has been used yet.
        stash::restore(context);
        if let Some(first) = first {
            begin(green, first);
        }
        seat.target.sp = (*context).scan_sp;
        seat.target.modes = green.modes.as_ptr();
        Entered {
            target: (&raw mut seat.target).cast(),
            outcome: 0,
        }
    }
}

/// From [`arch::run_thread`]: the green thread has left the calling carrier, whose own stack is in use again.
///
/// # Safety
/// The calling thread is a carrier, in Runtime state with the context of the green thread that it has [entered](enter_green).
#[unsafe(export_name = "vervet_leave_green")]
unsafe extern "C" fn leave_green() -> u8 {
    let context = current_context();
    // SAFETY: the caller's promise.
    unsafe {
        let thread = Thread::of(context);
        let base = thread.base;
        let seat = &mut *thread.own.carries.get();
        let green = record::of_context(context).expect("a green thread");
        let outcome = seat.outcome;
        let has_ended = outcome == Outcome::End;
        // Before the thread counts as parked: then the trimmer and the collector may look at its stacks.
        trim::note_run(green);
        if has_ended {
            record::reset(green);
        }
        if (has_ended || (*context).scan_sp == NO_NATIVE_STACK)
            && let Some(stack) = green.native.take()
        {
            put_back(&mut seat.spare, stack);
        }
        leave(thread, base, context);
        if has_ended {
            record::give_back(&mut seat.free, green);
        }
        go_native(registry::state(base));
        outcome as u8
    }
}

/// Finds a native stack for the thread. False: there is none, and the thread waits for one.
///
/// # Safety
/// The caller runs the green thread, which has none. It is in Native state.
unsafe fn provide(spare: &mut Option<NativeStack>, green: &Green) -> bool {
    match spare.take() {
        Some(stack) if stacks::are_scarce() => put_back(spare, stack),
        Some(stack) => {
            green.native.set(Some(stack));
            return true;
        }
        None => {}
    }
    // SAFETY: the caller runs the thread.
    let begins = unsafe { (*green.context).scan_sp } == 0;
    // From here on it may be made ready.
    match take_native(green.id(), begins) {
        Some(stack) => {
            green.native.set(Some(stack));
            true
        }
        None => false,
    }
}

/// The stack is nobody's. It stays with the carrier, unless there are too few.
fn put_back(spare: &mut Option<NativeStack>, stack: NativeStack) {
    if spare.is_none() && !stacks::are_scarce() {
        *spare = Some(stack);
    } else if let Some(id) = give_native(stack) {
        super::scheduler().make_ready(None, id);
    }
}

/// Prepares the first frame on the native stack, that of `main`.
///
/// # Safety
/// The caller runs the green thread, whose native stack is empty. It is in Runtime state.
unsafe fn begin(green: &Green, main: usize) {
    let stack = green.native.get().expect("`provide` has found one");
    // SAFETY: the caller's promise.
    unsafe {
        let context = green.context;
        let low = stack.low.get();
        (*context).native_end = low;
        (*context).native_low = low + (stack.high - low) / 16;
        (*context).stack_base = stack.high;
        (*context).scan_sp = arch::first_frame(stack.high, main, context);
    }
}

/// The OS thread runs with the green thread's context from now on.
///
/// # Safety
/// The thread is the calling one, in Runtime state with its own context `base`; nobody else runs `context`.
unsafe fn enter(thread: &Thread, base: *mut ThreadContext, context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe {
        // (The collector may be scanning the thread. It is not interrupted for long, but it may have lost its processor.)
        let mut looks = 0;
        let wait = || match looks {
            0..1000 => {
                looks += 1;
                std::hint::spin_loop();
            }
            _ => std::thread::sleep(Duration::from_micros(50)),
        };
        // Who is kicked is found by the registry, and a signal handler finds the context of the thread that it has interrupted.
        let announce = || {
            (*context).runtime = std::ptr::from_ref(thread) as usize;
            thread.run_with(context);
            set_current_context(context);
        };
        // A slice that was over has ended.
        let asked = green_contexts::scannable(context).enter(PREEMPT, announce, wait);
        (*context).handle_lanes = (*base).handle_lanes;
        move_tlab(base, context);
        // Who asked before the thread was announced was told that it runs nowhere.
        if asked & (ABORT | SUSPEND) != 0 {
            retry_thread::kick();
        }
    }
}

/// The OS thread runs with its own context again; the green thread is parked.
///
/// # Safety
/// The thread is the calling one, in Runtime state with `context`, whose stacks nobody uses any more.
unsafe fn leave(thread: &Thread, base: *mut ThreadContext, context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe {
        move_tlab(context, base);
        set_current_context(base);
        thread.run_with(base);
        thread.own.changed.add(context);
        registry::state(context).store(State::Parked as u8, Ordering::Release);
    }
}

/// # Safety
/// Both contexts are the calling thread's.
unsafe fn move_tlab(from: *mut ThreadContext, to: *mut ThreadContext) {
    // SAFETY: the caller's promise. No collection happens meanwhile.
    unsafe {
        // Who has not used a byte was not given it.
        let left = (*from).alloc_end - (*from).alloc_next;
        (*from).alloc_taken -= left;
        (*to).alloc_taken += left;
        (*to).alloc_next = std::mem::take(&mut (*from).alloc_next);
        (*to).alloc_end = std::mem::take(&mut (*from).alloc_end);
    }
}
