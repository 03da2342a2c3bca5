//! The OS threads that are attached, and what each of them has besides its context.
//!
//! # Invariants
//! * A thread is on the list exactly while it may touch objects. It comes on the list when no stop is under way, and
//!   leaves it in Runtime state, which no stop survives: so while the world is stopped the list does not change.
//! * The list changes, and a thread is signalled, under the list's lock only; a thread leaves the list before its
//!   thread-local storage goes. So no signal goes to a thread that has ended.
//! * A [`Thread`] and its context are never freed: that of an ended thread is kept, with its stacks, its localloc stack and
//!   its thread-static blocks (zeroed), for the next one. So memory is bounded by how many threads lived at once.
//! * An owner id goes to another thread only if its last owner held no monitor.
//! * Nobody makes a unique reference to a [`Thread`] or a context: several threads use both at the same time. What several
//!   write is atomic; what one thread writes while others may read elsewhere in the record is written through raw
//!   pointers and cells.
use super::changed::Changed;
use super::elsewhere::Elsewhere;
use super::progress::Wait;
use super::stop_word::{self, STOP, SUSPEND};
use crate::memory::{address_plan, localloc_stack};
use crate::profiler::sampling::Sampled;
use crate::threads::continuations::Saved;
use std::cell::{Cell, UnsafeCell};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use vervet_abi::context::interrupts::END_CALL;
use vervet_abi::stack::Segment;
use vervet_abi::{State, ThreadContext};
use vervet_os::LeafLock;
use vervet_os::restart::Ended;
use vervet_os::signal::AlternateStack;
use vervet_parking::stopping::Suspension;

/// Owner ids have 22 bits in a thin lock.
const MAX_OWNER: u32 = (1 << 22) - 1;
/// What handlers of ours and of libraries may use besides the kernel's frame.
const HANDLERS: usize = 64 << 10;

/// An attached OS thread.
pub struct Thread {
    /// Links of the list, and of the free list: under its lock.
    next: Cell<*mut Thread>,
    previous: Cell<*mut Thread>,
    /// The context that it runs with: its own, or that of the green thread that it carries. See [`Thread::context`].
    context: AtomicPtr<ThreadContext>,
    /// Its own context.
    pub(crate) base: *mut ThreadContext,
    /// The kernel's id.
    pub(crate) tid: AtomicI32,
    /// The words by which it is stopped.
    pub(crate) suspension: Suspension,
    /// The registers it was interrupted with, while it is held in the suspend handler.
    pub(crate) interrupted: AtomicPtr<libc::ucontext_t>,
    /// The system call that a handler has ended last: used by the thread's own handlers.
    pub(crate) ended: Ended,
    /// How many instructions it is still [stepped](crate::threads::step_out): its handler of SIGTRAP counts them.
    pub(crate) steps_left: AtomicU32,
    /// What is to be scanned of it if it is held on another stack than its own.
    pub(crate) elsewhere: Elsewhere,
    /// Its alternate signal stack.
    pub(crate) alternate: AlternateStack,
    /// Callee-saved registers of native code that said it may block, while it does. The thread writes them, and who has
    /// stopped it reads them.
    pub(crate) saved: UnsafeCell<[usize; 6]>,
    /// What sampling needs of it.
    pub(crate) sampled: Sampled,
    /// What nobody but the thread uses.
    pub(crate) own: Own,
}

/// What nobody but the thread itself uses (and who gives it to the next).
pub(crate) struct Own {
    /// Top of its service stack, 0 if it never compiled.
    pub(crate) service: Cell<usize>,
    /// The first segment of its managed stack, or null.
    pub(crate) segment: Cell<*mut Segment>,
    /// Free slots of GC handles that are this thread's own.
    pub(crate) handles: UnsafeCell<vervet_handles::Hint>,
    /// It is a library's. Who looks for dead threads reads it of those in Native state; the thread sets it before it goes there.
    pub(crate) foreign: Cell<bool>,
    /// What it needs as a carrier of green threads, or null.
    pub(crate) carries: Cell<*mut crate::threads::green::seat::Seat>,
    /// Which of all attachments this is. No other one has the number.
    pub(crate) attachment: Cell<u64>,
    /// The copy of a part of its stack that it has written back last: that is read until no frame is left which could drop it.
    pub(crate) written_back: Cell<Option<Arc<Saved>>>,
    /// The parked green threads that it has changed since the collector took the list. (Whoever has stopped the world uses it, too.)
    pub(crate) changed: Changed,
}

impl Thread {
    /// The thread a context belongs to.
    ///
    /// # Safety
    /// The context is that of an attached thread.
    pub(crate) unsafe fn of(context: *mut ThreadContext) -> &'static Thread {
        // SAFETY: `take` stored it there; threads are never freed, and nobody makes a unique reference to one.
        unsafe { &*((&raw const (*context).runtime).read() as *const Thread) }
    }
    /// Sends it the suspend signal.
    pub(crate) fn signal(&self) {
        vervet_os::signal::send(self.tid.load(Ordering::Relaxed), SUSPEND);
    }
    /// Has it ended?
    pub(crate) fn is_gone(&self) -> bool {
        !vervet_os::signal::exists(self.tid.load(Ordering::Relaxed))
    }
    /// The context that it runs with. A carrier changes it in Runtime state only, while both contexts say Runtime.
    pub(crate) fn context(&self) -> *mut ThreadContext {
        self.context.load(Ordering::Acquire)
    }
    /// The thread runs with another context from now on.
    ///
    /// # Safety
    /// The thread is the calling one, in Runtime state. The context is its own, or that of a green thread which no other thread carries.
    pub(crate) unsafe fn run_with(&self, context: *mut ThreadContext) {
        self.context.store(context, Ordering::Release);
    }
    /// The state of its own context: what matters while it comes on the list and leaves it.
    pub(crate) fn base_state(&self) -> &AtomicU8 {
        // SAFETY: a thread's own context.
        unsafe { state(self.base) }
    }
}

/// May the suspend signal hold a thread in managed code with that stack pointer? It may if the pointer lies on the stack that managed
/// frames lie on, where a scan finds the frames above; a host's code runs on the native stack. Otherwise a handler was interrupted, or a thunk between two stacks.
///
/// # Safety
/// The context is that of the calling thread, or of one that is stopped.
pub(crate) unsafe fn may_stop_at(context: *mut ThreadContext, sp: usize) -> bool {
    // SAFETY: the words are read by the thread itself, in its signal handler, or while it is stopped.
    unsafe {
        if state(context).load(Ordering::Relaxed) == State::Foreign as u8 {
            return is_on_native_stack(context, sp);
        }
        match (&raw const (*context).segment).read_volatile() {
            0 => is_on_native_stack(context, sp),
            // Segments are unmapped by the thread itself only, and not the current one.
            at => (*(at as *const Segment)).contains(sp),
        }
    }
}

/// Does the address lie on the native stack of the context's thread?
///
/// # Safety
/// The context is that of the calling thread, or of one that is stopped.
pub(crate) unsafe fn is_on_native_stack(context: *mut ThreadContext, sp: usize) -> bool {
    // SAFETY: contexts are never freed; the bounds change only while the thread runs nothing.
    let (end, base) = unsafe {
        (
            (&raw const (*context).native_end).read(),
            (&raw const (*context).stack_base).read(),
        )
    };
    (end..=base).contains(&sp)
}

/// The state of a context's thread: it is written by its owner, generated code included, at any time.
///
/// # Safety
/// The context is that of a [`Thread`], attached or not.
pub(crate) unsafe fn state<'a>(context: *mut ThreadContext) -> &'a AtomicU8 {
    // SAFETY: contexts of threads are never freed; the byte is written by single instructions only.
    unsafe { AtomicU8::from_ptr(&raw mut (*context).state) }
}
/// The limit that prologues compare with: its owner writes it, and who wants to be heard.
///
/// # Safety
/// The context is that of a [`Thread`], attached or not.
pub(crate) unsafe fn limit<'a>(context: *mut ThreadContext) -> &'a AtomicUsize {
    // SAFETY: contexts of threads are never freed; the word is written by single instructions only.
    unsafe { AtomicUsize::from_ptr(&raw mut (*context).limit) }
}

/// The interrupt requests of a context: the bits of [`vervet_abi::context::interrupts`]. Any thread sets them.
///
/// # Safety
/// The context is that of a [`Thread`], attached or not.
pub(crate) unsafe fn interrupts<'a>(context: *mut ThreadContext) -> &'a AtomicU32 {
    // SAFETY: contexts of threads are never freed; the word is accessed atomically, but for loads by generated code.
    unsafe { AtomicU32::from_ptr(&raw mut (*context).interrupts) }
}

struct List {
    first: *mut Thread,
    count: usize,
    /// Ended threads, linked by `next`.
    free: *mut Thread,
    /// How many those are, and how many of them are for threads that were started and have not attached yet.
    idle: usize,
    promised: usize,
    next_owner: u32,
}
// SAFETY: what the pointers lead to is only reached under the lock, or by the thread itself.
unsafe impl Send for List {}

static LIST: LeafLock<List> = LeafLock::new(List {
    first: null_mut(),
    count: 0,
    free: null_mut(),
    idle: 0,
    promised: 0,
    next_owner: 1,
});

/// A thread that is on no list yet, with a clean context in Detached state: an ended one's, or a new one.
pub(crate) fn take() -> &'static Thread {
    let free = {
        let mut list = LIST.lock();
        let free = list.free;
        if !free.is_null() {
            // SAFETY: threads are never freed; the links of those on the free list belong to the lock.
            list.free = unsafe { (*free).next.get() };
            list.idle -= 1;
        }
        free
    };
    let thread = match free.is_null() {
        true => make(),
        // SAFETY: threads are never freed, and nobody makes a unique reference to one. The free list has given this one up.
        false => unsafe { &*free },
    };
    clean(thread);
    thread
        .tid
        .store(vervet_os::signal::thread_id(), Ordering::Relaxed);
    thread
}

/// Cleans the context of a thread that is on no list. A request that was meant for the last owner may still write `limit` and
/// `interrupts`: those are changed as everybody changes them, and the rest is nobody else's.
fn clean(thread: &'static Thread) {
    /// Between them lie the words that others may write.
    const BEFORE: usize = offset_of!(ThreadContext, limit) + size_of::<usize>();
    const SHARED: usize = offset_of!(ThreadContext, interrupts);
    const AFTER: usize = offset_of!(ThreadContext, alloc_next);
    const _: () = assert!(offset_of!(ThreadContext, limit) == 0 && SHARED > BEFORE);
    const _: () = assert!(
        offset_of!(ThreadContext, state) > SHARED && AFTER > offset_of!(ThreadContext, state)
    );
    let context = thread.base;
    // SAFETY: nobody else uses these parts of the context; zeros are valid for them.
    unsafe {
        let owner = match (*context).owner_id {
            0 => next_owner(),
            id => id,
        };
        let clean = ThreadContext {
            runtime: std::ptr::from_ref(thread) as usize,
            owner_id: owner,
            localloc_next: (*context).localloc_next,
            localloc_end: (*context).localloc_end,
            localloc_low: (*context).localloc_low,
            thread_statics: (*context).thread_statics,
            thread_statics_len: (*context).thread_statics_len,
            handle_lanes: thread.own.handles.get() as usize,
            ..std::mem::zeroed()
        };
        let (from, to) = ((&raw const clean).cast::<u8>(), context.cast::<u8>());
        from.add(BEFORE)
            .copy_to_nonoverlapping(to.add(BEFORE), SHARED - BEFORE);
        from.add(AFTER)
            .copy_to_nonoverlapping(to.add(AFTER), size_of::<ThreadContext>() - AFTER);
        (&raw mut (*context).critical).write_volatile(0);
        *thread.saved.get() = [0; 6];
    }
    thread.own.foreign.set(false);
    static ATTACHMENTS: AtomicU64 = AtomicU64::new(0);
    let attachment = ATTACHMENTS.fetch_add(1, Ordering::Relaxed);
    thread.own.attachment.set(attachment);
    thread.own.written_back.set(None);
    // SAFETY: a thread's own context.
    unsafe {
        limit(context).store(0, Ordering::Relaxed);
        interrupts(context).store(0, Ordering::SeqCst);
    }
    thread
        .base_state()
        .store(State::Detached as u8, Ordering::Relaxed);
}

fn next_owner() -> u32 {
    try_next_owner().expect("fewer threads than that ended while they held a lock")
}

/// An owner id that no thread has had; None: all are used up.
pub(crate) fn try_next_owner() -> Option<u32> {
    let mut list = LIST.lock();
    let id = list.next_owner;
    list.next_owner += u32::from(id <= MAX_OWNER);
    (id <= MAX_OWNER).then_some(id)
}

fn make() -> &'static Thread {
    // SAFETY: a context of zeros is valid.
    let mut context: Box<ThreadContext> = unsafe { Box::new(std::mem::zeroed()) };
    // It exists from the first, since methods save and restore `localloc_next`.
    let size = address_plan::localloc_stack();
    let chunk = vervet_os::memory::reserve(size)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a localloc stack", size));
    context.localloc_next = chunk as usize;
    context.localloc_end = chunk as usize + size;
    let alternate = AlternateStack::new(HANDLERS)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a signal stack", HANDLERS));
    context.localloc_low = context.localloc_next;
    let context = Box::into_raw(context);
    Box::leak(Box::new(Thread {
        next: Cell::new(null_mut()),
        previous: Cell::new(null_mut()),
        context: AtomicPtr::new(context),
        base: context,
        tid: AtomicI32::new(0),
        suspension: Suspension::new(),
        interrupted: AtomicPtr::new(null_mut()),
        ended: Ended::default(),
        steps_left: AtomicU32::new(0),
        elsewhere: Elsewhere::default(),
        alternate,
        saved: UnsafeCell::new([0; 6]),
        sampled: Sampled::new(),
        own: Own {
            service: Cell::new(crate::threads::service_stack::first_service_stack()),
            segment: Cell::new(null_mut()),
            handles: UnsafeCell::new(vervet_handles::Hint::new()),
            foreign: Cell::new(false),
            carries: Cell::new(null_mut()),
            attachment: Cell::new(0),
            written_back: Cell::new(None),
            changed: Changed::new(),
        },
    }))
}

/// Puts the calling thread on the list, in Runtime state, as soon as the world runs.
pub(crate) fn link(thread: &'static Thread) {
    let at = std::ptr::from_ref(thread).cast_mut();
    let wait = Wait::default();
    loop {
        {
            let mut list = LIST.lock();
            if thread.suspension.attach(thread.base_state(), &STOP) {
                thread.previous.set(null_mut());
                thread.next.set(list.first);
                // SAFETY: the list's threads are alive; their links belong to the lock.
                if let Some(first) = unsafe { list.first.as_ref() } {
                    first.previous.set(at);
                }
                list.first = at;
                list.count += 1;
                return;
            }
        }
        stop_word::wait_for_restart(&wait);
    }
}

/// Takes the calling thread, in Runtime state, off the list; its state is then Detached.
pub(crate) fn unlink(thread: &Thread) {
    let mut list = LIST.lock();
    let (previous, next) = (thread.previous.get(), thread.next.get());
    // SAFETY: the list's threads are alive; their links belong to the lock.
    unsafe {
        match previous.as_ref() {
            None => list.first = next,
            Some(p) => p.next.set(next),
        }
        if let Some(n) = next.as_ref() {
            n.previous.set(previous);
        }
    }
    list.count -= 1;
    thread.suspension.detach(thread.base_state());
}

/// Gives an ended thread, on no list, to the next one that attaches.
pub(crate) fn recycle(thread: &'static Thread) {
    let context = thread.base;
    // SAFETY: these words of the context are nobody else's; its localloc stack is empty.
    unsafe {
        let end = (*context)
            .localloc_next
            .max((*context).localloc_low + (64 << 10));
        vervet_os::memory::discard((*context).localloc_low, end);
        (*context).localloc_next = (*context).localloc_low;
        localloc_stack::shrink(context);
        if (*context).locks_held != 0 {
            // Somebody may still see the id in a lock.
            (*context).owner_id = 0;
        }
    }
    let mut list = LIST.lock();
    thread.next.set(list.free);
    list.free = std::ptr::from_ref(thread).cast_mut();
    list.idle += 1;
}

/// Makes sure that a thread about to be started finds an ended one's [`Thread`], or a new one, when it attaches: there, it could
/// tell nobody that there is no memory. [`redeem`] follows, by the thread when it has attached, or by who could not start it.
pub(crate) fn promise() {
    let enough = {
        let mut list = LIST.lock();
        list.promised += 1;
        list.promised <= list.idle
    };
    if !enough {
        let thread = make();
        let mut list = LIST.lock();
        thread.next.set(list.free);
        list.free = std::ptr::from_ref(thread).cast_mut();
        list.idle += 1;
    }
}

/// See [`promise`].
pub(crate) fn redeem() {
    LIST.lock().promised -= 1;
}

/// Counts the threads of libraries that attach. True for one of as many as were attached at the last search, plus a constant: that
/// thread is to search for dead ones. So a search costs each attaching thread the same on average, however many threads there are.
pub(crate) fn is_time_to_look() -> bool {
    const AT_LEAST: usize = 32;
    static UNTIL: AtomicUsize = AtomicUsize::new(AT_LEAST);
    let left = UNTIL.fetch_sub(1, Ordering::Relaxed);
    if left != 1 {
        return false;
    }
    UNTIL.store(count() + AT_LEAST, Ordering::Relaxed);
    true
}

/// A library's thread that is on the list but has ended. It is the caller's then, who gives it up. The caller is in Runtime state.
pub(crate) fn find_dead() -> Option<&'static Thread> {
    let mut dead = None;
    visit(|thread| {
        // A thread that calls managed code now is alive. (One that ended in Foreign state was put into Native by `lay_down`.)
        if dead.is_none()
            && thread.base_state().load(Ordering::Acquire) == State::Native as u8
            && thread.own.foreign.get()
            && !vervet_os::signal::exists(thread.tid.load(Ordering::Relaxed))
        {
            thread.own.foreign.set(false);
            // SAFETY: threads are never freed.
            dead = Some(unsafe { &*std::ptr::from_ref(thread) });
        }
    });
    dead
}

/// A thread in Foreign state has ended without a word, after the last round of its key destructors: no signal reaches it. Nothing of it
/// is left to be scanned, so it counts as stopped from now on, and [`find_dead`] finds it. The caller holds the list's lock.
pub(crate) fn lay_down(thread: &Thread) {
    let context = thread.base;
    // SAFETY: the thread has ended, so nobody else writes these words.
    unsafe {
        (*context).scan_sp = (*context).stack_base;
        state(context).store(State::Native as u8, Ordering::Release);
    }
}

/// How many threads are attached.
pub fn count() -> usize {
    LIST.lock().count
}

/// Runs `work` under the list's lock. It takes no memory and no other lock.
pub(crate) fn while_list_stands(work: impl FnOnce()) {
    let _list = LIST.lock();
    work();
}

/// Visits the list under its lock. The visitor takes no memory and no other lock.
pub(crate) fn visit(mut visit: impl FnMut(&Thread)) {
    let list = LIST.lock();
    let mut at = list.first;
    // SAFETY: threads on the list are alive while the lock is held, and nobody makes a unique reference to one.
    while let Some(thread) = unsafe { at.as_ref() } {
        at = thread.next.get();
        visit(thread);
    }
}

/// Is the thread in native code, and asked to abort, without a system call having ended for that?
///
/// # Safety
/// The context is that of a thread, attached or not.
pub(crate) unsafe fn waits_in_native(context: *mut ThreadContext) -> bool {
    // SAFETY: the caller's promise.
    let (bits, state) = unsafe { (interrupts(context), state(context)) };
    bits.load(Ordering::SeqCst) & END_CALL != 0
        && state.load(Ordering::SeqCst) == State::Native as u8
}

/// Sends our signal to the thread with that owner id, if there is one: it ends a system call that was made to be ended
/// ([`vervet_os::interruptible`]).
pub(crate) fn signal_owner(owner: u32) {
    visit(|thread| {
        // SAFETY: threads on the list are alive, and so is their context.
        if unsafe { (*thread.context()).owner_id } == owner {
            thread.signal();
        }
    });
}
