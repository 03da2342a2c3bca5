//! What the runtime has of a green thread besides its context; and the free ones.
//!
//! # Invariants
//! * A record and its context are never freed, so an id may be unparked and a context asked for something at any time.
//! * The owner id of a green thread's record stays the record's. A record whose thread has ended in a monitor is not used again.
//! * A free record keeps its managed stack, its Thread objects and its thread statics for the next green thread, as a worker of the pool
//!   keeps them for the next callback.
use super::kept::Left;
use super::large_localloc;
use super::seat::Seat;
use super::stacks::{self, NativeStack};
use crate::arch::FloatModes;
use crate::safepoint::registry::Thread;
use crate::safepoint::{green_contexts, registry};
use crate::threads::current_context;
use crate::threads::managed_stack;
use crate::threads::park::waiter;
use std::cell::Cell;
use std::io;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::context::interrupts::SCANNING;
use vervet_abi::stack::FIRST_SEGMENT;
use vervet_abi::{State, ThreadContext};
use vervet_os::LeafLock;

/// See the module.
pub(crate) struct Green {
    pub(super) context: *mut ThreadContext,
    /// The native stack, from the first step to the end. The carrier that runs the thread changes it.
    pub(super) native: Cell<Option<NativeStack>>,
    /// The carrier that the thread is bound to and that waits for a processor to go on with it; 0: any carrier may run it.
    pub(super) bound_to: AtomicU32,
    /// What a thread does that was not started for a task.
    pub(super) work: Cell<Option<Box<Work>>>,
    /// It is a thread of the program's own ([`Work::Thread`]).
    pub(super) is_own: Cell<bool>,
    /// The wait in which it left its native stack.
    pub(super) left: Cell<Option<Left>>,
    /// How it computes, while it does not run.
    pub(super) modes: Cell<FloatModes>,
    pub(super) runs: Runs,
}

/// Counts the runs of a green thread, for the [trimmer](super::trim).
#[derive(Default)]
pub(super) struct Runs {
    /// Counted by the carrier that runs the thread, before it changes anything of the thread and after its stacks are not in use any more.
    pub(super) count: AtomicU32,
    /// What the trimmer has seen. It alone uses this and the next.
    pub(super) seen: AtomicU32,
    /// The count at which it has trimmed the thread.
    pub(super) trimmed: AtomicU32,
}

/// The work of a green thread.
pub(super) enum Work {
    /// A call of Rust code, in Runtime state.
    Call(Box<dyn FnOnce() + Send>),
    /// A thread that the program has started: the handles of its [`Seed`](crate::threads::start::Seed), and the bytes of stack that it asked for, or 0.
    Thread([u32; 3], usize),
}

// SAFETY: the cell is used by the carrier that runs the thread, and by nobody else; the scheduler hands the thread from one carrier to the next.
unsafe impl Sync for Green {}
// SAFETY: the context is never freed, and has rules of its own.
unsafe impl Send for Green {}

/// The free records that no carrier keeps.
static FREE: LeafLock<Vec<Free>> = LeafLock::new(Vec::new());

/// How many records carriers without work are to make before somebody takes them. A program that starts many threads takes one after the other, and the
/// first touch of a record is a page fault, which takes longer than all else that the start of a thread does: so others have it meanwhile.
static WANTED: AtomicU32 = AtomicU32::new(0);
/// No more than so many are made ahead, and no more than a quarter of those that there are.
const AHEAD: usize = 256;

/// The context of a free record.
struct Free(*mut ThreadContext);
// SAFETY: who has it out of the list is the only one that uses the record.
unsafe impl Send for Free {}

/// How many free records a carrier keeps. The last ones are the first to be used again: what they lead to is in its caches.
pub(super) const KEPT: usize = 64;
/// How many go from a carrier to all, or come from there, at once.
const BATCH: usize = KEPT / 2;

/// A free record, or a new one.
///
/// # Errors
/// The system's: there is no memory.
pub(super) fn take() -> io::Result<&'static Green> {
    // SAFETY: nothing here leaves the carrier.
    let free = match unsafe { seat_of_caller() } {
        None => FREE.lock().pop().map(|free| free.0),
        Some(seat) => {
            if seat.free.is_empty() {
                let mut all = FREE.lock();
                let from = all.len().saturating_sub(BATCH);
                seat.free.extend(all.drain(from..).map(|free| free.0));
            }
            let free = seat.free.pop();
            if let Some(next) = seat.free.last() {
                let home = *next as usize;
                vervet_os::memory::prefetch_range(home, home + size_of::<Home>());
            }
            free
        }
    };
    // SAFETY: a free context is that of a green thread.
    match free.and_then(|context| unsafe { of_context(context) }) {
        Some(green) => Ok(green),
        None => {
            let ahead = (green_contexts::count() / 4).min(AHEAD);
            WANTED.store(ahead as u32, Ordering::Relaxed);
            make()
        }
    }
}

/// Should [`make_wanted`] be called?
#[inline]
pub(super) fn some_wanted() -> bool {
    WANTED.load(Ordering::Relaxed) != 0
}

/// Makes a free record that is [wanted](WANTED). False: there is no memory.
///
/// The caller is in Runtime state: no context becomes parked while the world is stopped.
pub(super) fn make_wanted() -> bool {
    // Two that store at once make one more than was wanted.
    let left = WANTED.load(Ordering::Relaxed).saturating_sub(1);
    WANTED.store(left, Ordering::Relaxed);
    let made = make();
    match made {
        Ok(green) => FREE.lock().push(Free(green.context)),
        Err(_) => WANTED.store(0, Ordering::Relaxed),
    }
    made.is_ok()
}

/// The seat of the carrier that runs the calling thread; None if that is no green thread.
///
/// # Safety
/// The reference is used before the thread calls anything that may leave the carrier.
unsafe fn seat_of_caller<'a>() -> Option<&'a mut Seat> {
    let context = current_context();
    if context.is_null() {
        // A thread of the runtime that is not attached, such as the one that starts the pool's workers.
        return None;
    }
    // SAFETY: the context is the calling thread's. While a green thread runs, its carrier does not use the seat.
    unsafe {
        match (*context).green {
            0 => None,
            _ => Thread::of(context).own.carries.get().as_mut(),
        }
    }
}

/// The thread has ended: its context becomes that of a thread that has not begun.
///
/// # Safety
/// The caller is the carrier that ran the thread, in Runtime state with its context.
pub(super) unsafe fn reset(green: &'static Green) {
    let context = green.context;
    green.modes.set(FloatModes::DEFAULT);
    // SAFETY: the thread runs nowhere, so these words are the caller's; requests are stored by anybody at any time.
    unsafe {
        (*context).scan_sp = 0;
        (*context).native_sp = 0;
        (*context).abort_caught_at = 0;
        (*context).exposed = 0;
        large_localloc::take_back(context, stacks::localloc());
        // A request that comes from now on, of whoever has found the thread before, is dropped by its next owner (`abort::is_due`).
        // The collector's claim stays: the collector takes it back. (Most threads end without a request, and a load costs less than an exchange.)
        let interrupts = registry::interrupts(context);
        if interrupts.load(Ordering::SeqCst) & !SCANNING != 0 {
            interrupts.fetch_and(SCANNING, Ordering::SeqCst);
        }
        let limit = registry::limit(context);
        if limit.load(Ordering::SeqCst) != (*context).true_limit {
            limit.store((*context).true_limit, Ordering::SeqCst);
        }
        managed_stack::trim(context);
    }
}

/// The record of a thread that has ended is free. `kept` are those of the carrier.
///
/// # Safety
/// The caller is the carrier that ran the thread, in Runtime state. The thread was [reset], and is parked.
pub(super) unsafe fn give_back(kept: &mut Vec<*mut ThreadContext>, green: &Green) {
    let context = green.context;
    // SAFETY: the thread runs nowhere, so these words are the caller's.
    unsafe {
        if (*context).locks_held != 0 && (*context).internal_thread == 0 {
            // A thread of the program's own has ended in a monitor: nobody else may have its id. (A task's thread goes on with the next task, as a worker
            // of the pool does.)
            return;
        }
    }
    if kept.len() == KEPT {
        // The oldest ones.
        FREE.lock().extend(kept.drain(..BATCH).map(Free));
    }
    kept.push(context);
}

/// A carrier ends: its free records are everybody's.
pub(super) fn give_up(kept: &mut Vec<*mut ThreadContext>) {
    FREE.lock().extend(kept.drain(..).map(Free));
}

/// Bytes of the first segments of all records.
pub(super) fn first_segment_bytes() -> u64 {
    (green_contexts::count() * FIRST_SEGMENT) as u64
}

/// A context and a record. They lie apart from the frames, densely: the pages of the frames are given back while a thread waits for long.
#[repr(C, align(32))]
struct Home {
    context: ThreadContext,
    green: Green,
}
// Each green thread has one.
const _: () = assert!(size_of::<Home>() <= 480);

/// Brings what a switch to a thread touches into the caches: the record at that address and the context below it; and what lies above the frames of a
/// thread that waits near its beginning, whose stack begins at `top`.
#[inline]
pub(super) fn prefetch(record: usize, top: usize) {
    const FRAMES: usize = 320;
    let home = record - offset_of!(Home, green);
    vervet_os::memory::prefetch_range(home, home + size_of::<Home>());
    vervet_os::memory::prefetch_range(top - FRAMES, top);
}

fn make() -> io::Result<&'static Green> {
    let Some(id) = registry::try_next_owner() else {
        return Err(io::ErrorKind::OutOfMemory.into());
    };
    let memory = stacks::memory(size_of::<Home>())?;
    // SAFETY: the memory reads as zero, is the thread's for ever, and is aligned as slabs and homes are large. A context of zeros is valid.
    let (context, green) = unsafe {
        let home = memory.home as *mut Home;
        let context = &raw mut (*home).context;
        let green = &raw mut (*home).green;
        green.write(Green {
            context,
            native: Cell::new(None),
            bound_to: AtomicU32::new(0),
            work: Cell::new(None),
            is_own: Cell::new(false),
            left: Cell::new(None),
            modes: Cell::new(FloatModes::DEFAULT),
            runs: Runs::default(),
        });
        (context, &*green)
    };
    let top = memory.segment + FIRST_SEGMENT;
    // SAFETY: nobody else knows the context yet.
    unsafe {
        (*context).green = std::ptr::from_ref(green) as usize;
        (*context).state = State::Parked as u8;
        (*context).localloc_low = memory.localloc;
        (*context).localloc_next = memory.localloc;
        (*context).localloc_end = memory.localloc_end;
        managed_stack::give_first(context, memory.segment, top);
        name(green, id, top);
        green_contexts::add(context);
    }
    Ok(green)
}

/// # Safety
/// No carrier runs the thread, whose stack begins at `top`, and no thread has the id.
unsafe fn name(green: &'static Green, id: u32, top: usize) {
    // SAFETY: the caller's promise.
    unsafe { (*green.context).owner_id = id };
    waiter::set_green(id, std::ptr::from_ref(green) as usize, top);
}

/// The green thread with that owner id.
pub(super) fn of(id: u32) -> &'static Green {
    // SAFETY: `name` stored it there; records are never freed.
    unsafe { &*(waiter::green(id) as *const Green) }
}

/// The green thread with that owner id, if it is that of a green thread.
pub(super) fn find(id: u32) -> Option<&'static Green> {
    // SAFETY: `name` stored it there; records are never freed.
    unsafe { (waiter::green(id) as *const Green).as_ref() }
}

/// Is the id that of a green thread that no carrier runs at the moment? A hint: it may be run meanwhile.
pub(crate) fn is_off_carrier(id: u32) -> bool {
    // (The table has no row for id 0, which is nobody's.)
    // SAFETY: contexts are never freed.
    id != 0
        && find(id).is_some_and(|green| unsafe {
            registry::state(green.context).load(Ordering::Relaxed) == State::Parked as u8
        })
}

/// The green thread of a context; None if it is that of an OS thread.
///
/// # Safety
/// The context is that of a thread.
pub(super) unsafe fn of_context(context: *mut ThreadContext) -> Option<&'static Green> {
    // SAFETY: contexts are never freed; the word does not change, and leads to a record, which is never freed.
    unsafe { ((&raw const (*context).green).read() as *const Green).as_ref() }
}

/// Has the green thread not begun? (Its record may be free.)
///
/// # Safety
/// The context is that of a green thread, and the world is stopped.
pub(crate) unsafe fn is_new(context: *mut ThreadContext) -> bool {
    // SAFETY: the caller's promise: whoever changes these words is in Runtime state.
    unsafe { (*context).scan_sp == 0 && (*context).record.is_null() }
}

/// Is the record of the context without a thread?
///
/// # Safety
/// The context is that of a green thread, and the world is stopped.
pub(crate) unsafe fn is_free(context: *mut ThreadContext) -> bool {
    // SAFETY: the caller's promise: whoever changes these words, or gives the record work, is in Runtime state.
    unsafe {
        let work = of_context(context).is_some_and(|green| (*green.work.as_ptr()).is_some());
        is_new(context) && (*context).start_target == 0 && !work
    }
}

impl Green {
    pub(super) fn id(&self) -> u32 {
        // SAFETY: contexts are never freed, and the id stays.
        unsafe { (&raw const (*self.context).owner_id).read() }
    }
    /// Binds the thread to a carrier, or (0) to none.
    pub(super) fn bind(&self, carrier: u32) {
        self.bound_to.store(carrier, Ordering::Release);
    }
}
