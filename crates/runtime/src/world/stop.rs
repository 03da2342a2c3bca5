//! Stopping the world and letting it go on.
//!
//! # How it works
//! The stopper takes the stop lock (waiting for it in Native), sets the stop word, makes a process fence and looks at
//! each attached thread: Native counts as stopped, Managed and Foreign get the signal, Runtime will come to a poll. It
//! looks again until every thread is Native or parked.
//!
//! # Invariants
//! * From setting the word to clearing it the stopper, and what it runs, takes no memory from the C library and no lock
//!   but a [`LeafLock`](vervet_os::LeafLock): a stopped thread may hold any lock of a library's.
//! * A thread that has been seen stopped stays so: one that leaves Native finds the word set and goes back without
//!   having touched anything, a parked one leaves the handler only when it finds the word clear after it has said that
//!   it is no longer parked.
//! * The stopper's own callee-saved registers are on its stack, above `scan_sp`, for as long as the world is stopped.
use super::histogram::{self, Culprit};
use super::registry::{self, Thread};
use super::suspend::{self, SUSPEND};
use super::transitions::{STOP, STOPPING};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use vervet_abi::context::RecordKind;
use vervet_abi::{Context, State};
use vervet_os::{SafeLock, clock::now, futex, process_fence, signal};

static STOP_LOCK: SafeLock<()> = SafeLock::new(());
/// Counts threads that have come to a stop; the stopper sleeps on it.
static ARRIVED: AtomicU32 = AtomicU32::new(0);
static SLEEPING: AtomicBool = AtomicBool::new(false);

/// The stopper looks this often without going to sleep, about a microsecond apart.
const LOOKS: u32 = 12;
const FIRST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(5);
/// A stop that has taken so long says who does not come.
const HANGING: u64 = 10_000_000_000;

/// A thread has come to a stop: tells the stopper if it sleeps.
pub(crate) fn arrived() {
    ARRIVED.fetch_add(1, Ordering::SeqCst);
    if SLEEPING.load(Ordering::SeqCst) {
        futex::wake(&ARRIVED, 1);
    }
}

/// The world, stopped. See [`stop`].
pub struct Stopped {
    stopper: *mut Context,
    /// How long it took, in nanoseconds.
    pub time_to_stop: u64,
}

/// A thread of the stopped world.
pub struct ThreadView<'a> {
    /// Its context, whose [`ROOT_WORDS`](vervet_abi::context::ROOT_WORDS) are references.
    pub ctx: *mut Context,
    /// [low, high) addresses, 8-aligned, of everything else that may hold references: its stack, saved registers, side
    /// stack. To be scanned conservatively.
    pub ranges: &'a [(usize, usize)],
    /// A signal stopped it, at any instruction of managed code.
    pub interrupted: bool,
}

/// Stops every attached thread but the calling one, runs `work`, and lets them go on. `ctx` is the calling thread's
/// context, in Runtime state, or null if it is not attached. `work` follows the rules of this module.
pub fn stop<T>(ctx: *mut Context, work: impl FnOnce(&Stopped) -> T) -> T {
    vervet_os::lock::assert_no_leaf_lock("stopping the world");
    // SAFETY: the context is the calling thread's, or null.
    let state = unsafe { ctx.as_ref() }.map(|c| c.state);
    debug_assert!(
        state.is_none_or(|s| s == State::Runtime as u8),
        "the stopper is in Runtime state"
    );
    let _lock = STOP_LOCK.lock();
    with_registers_saved(ctx, || {
        let began = now();
        STOP.fetch_or(STOPPING, Ordering::SeqCst);
        struct Restart;
        impl Drop for Restart {
            fn drop(&mut self) {
                STOP.fetch_and(!STOPPING, Ordering::SeqCst);
                futex::wake(&STOP, i32::MAX);
            }
        }
        let _restart = Restart;
        process_fence::process_fence();
        let culprit = wait_for_all(ctx, began);
        let time_to_stop = now() - began;
        histogram::record(time_to_stop, culprit);
        work(&Stopped {
            stopper: ctx,
            time_to_stop,
        })
    })
}

fn with_registers_saved<T>(ctx: *mut Context, work: impl FnOnce() -> T) -> T {
    if ctx.is_null() {
        return work();
    }
    crate::thread::through_asm(work, |f, arg| {
        // SAFETY: the context is the calling thread's; `f` does not unwind.
        unsafe { crate::arch::call_with_registers_saved(f, arg, ctx) }
    })
}

fn state_of(thread: &Thread) -> u8 {
    // SAFETY: contexts are never freed; the state is a byte that its owner writes at any time.
    unsafe { (&raw const (*thread.context).state).read_volatile() }
}

fn is_stopped(thread: &Thread) -> bool {
    let state = state_of(thread);
    state == State::Native as u8
        || state == State::Detached as u8
        || thread.parked.load(Ordering::SeqCst) != 0
}

/// Returns when every thread but `me` has stopped; with the one that was waited for last, if it took long.
fn wait_for_all(me: *mut Context, began: u64) -> Option<Culprit> {
    let mut sleep = FIRST_SLEEP;
    let mut looks = 0;
    let mut late: Option<(*mut Context, u8)> = None;
    let mut said = false;
    loop {
        let seen = ARRIVED.load(Ordering::SeqCst);
        let ask = looks == 0 || looks >= LOOKS;
        let mut last: Option<(*mut Context, u8)> = None;
        registry::visit(|thread| {
            if thread.context == me || is_stopped(thread) {
                return;
            }
            let state = state_of(thread);
            last = Some((thread.context, state));
            if ask && state != State::Runtime as u8 {
                signal::send(thread.tid, SUSPEND);
            }
        });
        let Some(waited_for) = last else {
            let long = now() - began >= histogram::LONG;
            return late
                .filter(|_| long)
                .and_then(|(ctx, state)| culprit(ctx, state));
        };
        late = Some(waited_for);
        let so_far = now() - began;
        if so_far >= HANGING && !said {
            said = true;
            complain(waited_for);
        }
        looks += 1;
        if looks < LOOKS {
            for _ in 0..20 {
                std::hint::spin_loop();
            }
        } else {
            SLEEPING.store(true, Ordering::SeqCst);
            futex::wait(&ARRIVED, seen, Some(sleep));
            SLEEPING.store(false, Ordering::SeqCst);
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
    }
}

/// Where the thread that kept the stopper waiting was. It is stopped by now.
fn culprit(ctx: *mut Context, state: u8) -> Option<Culprit> {
    let mut found = None;
    registry::visit(|thread| {
        if thread.context != ctx {
            return;
        }
        // SAFETY: the thread is stopped: its record list and its registers stay as they are.
        unsafe {
            let mut c = Culprit {
                owner: (*ctx).owner_id,
                state,
                method: 0,
                pc: 0,
            };
            if thread.parked.load(Ordering::SeqCst) != 0 {
                c.pc = suspend::sp_and_pc(thread.interrupted.load(Ordering::Acquire)).1;
            } else if let Some(record) = (*ctx).record.as_ref() {
                c.pc = record.pc;
                if record.kind != RecordKind::Throw as usize {
                    c.method = record.method;
                }
            }
            found = Some(c);
        }
    });
    found
}

fn complain((ctx, state): (*mut Context, u8)) {
    // SAFETY: contexts are never freed; these are words the owner may be writing.
    let (owner, critical) = unsafe {
        (
            (*ctx).owner_id,
            (&raw const (*ctx).critical).read_volatile(),
        )
    };
    crate::exceptions::report::say_without_memory(format_args!(
        "vervet: the world has not stopped for 10 s: thread {owner} is in state {state}, critical {critical}\n"
    ));
}

/// A thread is stopped on a stack that nobody knows the extent of.
fn give_up(owner: u32, sp: usize) -> ! {
    crate::exceptions::report::say_without_memory(format_args!(
        "vervet: internal error: thread {owner} runs managed code on a stack that is not its own, at {sp:#x}\n"
    ));
    // SAFETY: ends the process.
    unsafe { libc::_exit(crate::startup::INTERNAL_ERROR) }
}

impl Stopped {
    /// Visits every attached thread, the stopper included.
    pub fn for_each_thread(&self, mut visit: impl FnMut(ThreadView<'_>)) {
        registry::visit(|thread| {
            // SAFETY: the thread is stopped, or is the calling one.
            unsafe { view(thread, thread.context == self.stopper, &mut visit) }
        });
    }
}

/// # Safety
/// The thread is stopped, or is the calling one.
unsafe fn view(thread: &Thread, is_stopper: bool, visit: &mut impl FnMut(ThreadView<'_>)) {
    // SAFETY: a stopped thread's words stay as they are, and its stack from `scan_sp` or `sp` up is live.
    unsafe {
        let ctx = thread.context;
        let mut ranges = [(0usize, 0usize); 5];
        let mut n = 0;
        let mut add = |low: usize, high: usize| {
            if low < high {
                ranges[n] = (low & !7, high & !7);
                n += 1;
            }
        };
        let interrupted = !is_stopper && thread.parked.load(Ordering::SeqCst) != 0;
        let low = if interrupted {
            let uc = thread.interrupted.load(Ordering::Acquire);
            for (low, high) in suspend::registers(uc) {
                add(low, high);
            }
            // C code may keep words below its stack pointer.
            suspend::sp_and_pc(uc).0 - 128
        } else {
            (*ctx).scan_sp
        };
        if low > (*ctx).stack_base || (*ctx).stack_base - low > thread.stack_size() {
            give_up((*ctx).owner_id, low);
        }
        add(low, (*ctx).stack_base);
        add(thread.side_low, (*ctx).side_next);
        let saved = (&raw const thread.saved) as usize;
        add(saved, saved + std::mem::size_of_val(&thread.saved));
        visit(ThreadView {
            ctx,
            ranges: &ranges[..n],
            interrupted,
        });
    }
}

/// Stops one thread where it is, if it runs managed code, runs `work` on it, and lets it go on. None: it was not in
/// managed code, or could not be stopped there soon; try again later.
pub fn stop_thread<T>(
    me: *mut Context,
    target: *mut Context,
    work: impl FnOnce(&mut libc::ucontext_t) -> T,
) -> Option<T> {
    const ATTEMPTS: u32 = 6;
    let _lock = STOP_LOCK.lock();
    let mut work = Some(work);
    let mut result = None;
    with_registers_saved(me, || {
        let set = |on: u32| {
            let mut stopped = None;
            registry::visit(|thread| {
                if thread.context == target {
                    thread.stop_one.store(on, Ordering::SeqCst);
                    if thread.parked.load(Ordering::SeqCst) != 0 {
                        stopped = Some(thread.interrupted.load(Ordering::Acquire));
                    } else if on != 0 && !is_stopped(thread) {
                        signal::send(thread.tid, SUSPEND);
                    }
                    if on == 0 {
                        futex::wake(&thread.stop_one, 1);
                    }
                }
            });
            stopped
        };
        let mut sleep = FIRST_SLEEP;
        for _ in 0..ATTEMPTS {
            let seen = ARRIVED.load(Ordering::SeqCst);
            if let Some(uc) = set(1) {
                // SAFETY: the thread is parked until `stop_one` is cleared.
                result = work.take().map(|w| w(unsafe { &mut *uc }));
                break;
            }
            SLEEPING.store(true, Ordering::SeqCst);
            futex::wait(&ARRIVED, seen, Some(sleep));
            SLEEPING.store(false, Ordering::SeqCst);
            sleep *= 2;
        }
        set(0);
    });
    result
}
