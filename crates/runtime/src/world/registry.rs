//! The OS threads that are attached, and what each of them has besides its context.
//!
//! # Invariants
//! * A thread is on the list exactly while it may touch objects. It comes on the list when no stop is under way, and
//!   leaves it in Runtime state, which no stop survives: so while the world is stopped the list does not change.
//! * The list changes, and a thread is signalled, under the list's lock only; a thread leaves the list before its
//!   thread-local storage goes. So no signal goes to a thread that has ended.
//! * A [`Thread`] and its context are never freed: that of an ended thread is kept, with its stacks, its side stack and
//!   its thread-static blocks (zeroed), for the next one. So memory is bounded by how many threads lived at once.
//! * An owner id goes to another thread only if its last owner held no monitor.
use std::sync::atomic::{AtomicPtr, AtomicU32};
use vervet_abi::{Context, State};
use vervet_os::LeafLock;
use vervet_os::signal::AlternateStack;

/// Owner ids have 22 bits in a thin lock.
const MAX_OWNER: u32 = (1 << 22) - 1;
/// What handlers of ours and of libraries may use besides the kernel's frame.
const HANDLERS: usize = 64 << 10;

/// An attached OS thread.
pub struct Thread {
    next: *mut Thread,
    previous: *mut Thread,
    /// Its context. (A carrier's changes when it switches.)
    pub(crate) context: *mut Context,
    /// The kernel's id.
    pub(crate) tid: i32,
    /// 1 while the thread waits in the suspend handler.
    pub(crate) parked: AtomicU32,
    /// The registers it was interrupted with, while it is parked.
    pub(crate) interrupted: AtomicPtr<libc::ucontext_t>,
    /// 1 while this thread alone is to be stopped.
    pub(crate) stop_one: AtomicU32,
    /// The lowest address its own stack reaches.
    pub(crate) stack_low: usize,
    /// Its alternate signal stack.
    pub(crate) alternate: AlternateStack,
    /// Start of its side stack.
    pub(crate) side_low: usize,
    /// Top of its service stack, 0 if it never compiled.
    pub(crate) service: usize,
    /// Callee-saved registers of native code that said it may block, while it does.
    pub(crate) saved: [usize; 6],
    /// Free slots of GC handles that are this thread's own. Nobody but the thread uses it.
    pub(crate) handles: vervet_handles::Hint,
}

impl Thread {
    /// As much as its stack can hold, with what lies below the part that is ours to use.
    pub(crate) fn stack_size(&self) -> usize {
        // SAFETY: contexts are never freed; its base does not change while the thread is attached.
        let base = unsafe { (*self.context).stack_base };
        base - self.stack_low + (128 << 10)
    }
    /// The thread a context belongs to.
    ///
    /// # Safety
    /// The context is that of an attached thread.
    pub(crate) unsafe fn of(ctx: *mut Context) -> *mut Thread {
        // SAFETY: `take` stored it there.
        unsafe { (*ctx).runtime as *mut Thread }
    }
}

struct List {
    first: *mut Thread,
    count: usize,
    /// Ended threads, linked by `next`.
    free: *mut Thread,
    next_owner: u32,
}
// SAFETY: what the pointers lead to is only reached under the lock, or by the thread itself.
unsafe impl Send for List {}

static LIST: LeafLock<List> = LeafLock::new(List {
    first: std::ptr::null_mut(),
    count: 0,
    free: std::ptr::null_mut(),
    next_owner: 1,
});

/// A thread that is on no list yet, with a clean context in Detached state: an ended one's, or a new one.
pub(crate) fn take() -> *mut Thread {
    let free = {
        let mut list = LIST.lock();
        let free = list.free;
        if !free.is_null() {
            // SAFETY: threads on the free list belong to the list.
            list.free = unsafe { (*free).next };
        }
        free
    };
    let thread = if free.is_null() { make() } else { free };
    // SAFETY: nobody else knows the thread now; a context of zeros is valid.
    unsafe {
        let t = &mut *thread;
        let ctx = &mut *t.context;
        let clean = Context {
            runtime: thread as usize,
            state: State::Detached as u8,
            owner_id: match ctx.owner_id {
                0 => next_owner(),
                id => id,
            },
            side_next: ctx.side_next,
            side_end: ctx.side_end,
            thread_statics: ctx.thread_statics,
            thread_statics_len: ctx.thread_statics_len,
            handle_lanes: &raw const t.handles as usize,
            ..std::mem::zeroed()
        };
        *ctx = clean;
        t.saved = [0; 6];
        t.tid = vervet_os::signal::thread_id();
    }
    thread
}

fn next_owner() -> u32 {
    let mut list = LIST.lock();
    let id = list.next_owner;
    assert!(
        id <= MAX_OWNER,
        "too many threads ended while they held a lock"
    );
    list.next_owner += 1;
    id
}

fn make() -> *mut Thread {
    // SAFETY: a context of zeros is valid.
    let mut context: Box<Context> = unsafe { Box::new(std::mem::zeroed()) };
    crate::side_stack::attach(&mut context);
    let alternate = AlternateStack::new(HANDLERS)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a signal stack", HANDLERS));
    let side_low = context.side_next;
    Box::into_raw(Box::new(Thread {
        next: std::ptr::null_mut(),
        previous: std::ptr::null_mut(),
        context: Box::into_raw(context),
        tid: 0,
        parked: AtomicU32::new(0),
        interrupted: AtomicPtr::new(std::ptr::null_mut()),
        stop_one: AtomicU32::new(0),
        stack_low: 0,
        alternate,
        side_low,
        service: crate::thread::first_service_stack(),
        saved: [0; 6],
        handles: vervet_handles::Hint::new(),
    }))
}

/// Puts the calling thread on the list, in Runtime state, as soon as the world runs.
pub(crate) fn link(thread: *mut Thread) {
    loop {
        {
            let mut list = LIST.lock();
            // A stop that begins from now on finds the thread here.
            if !super::transitions::is_stopping() {
                // SAFETY: the thread is ours until it is on the list, and the list's are alive.
                unsafe {
                    (*thread).previous = std::ptr::null_mut();
                    (*thread).next = list.first;
                    if !list.first.is_null() {
                        (*list.first).previous = thread;
                    }
                    (&raw mut (*(*thread).context).state).write_volatile(State::Runtime as u8);
                }
                list.first = thread;
                list.count += 1;
                return;
            }
        }
        super::transitions::wait_for_restart();
    }
}

/// Takes the calling thread, in Runtime state, off the list; its state is then Detached.
pub(crate) fn unlink(thread: *mut Thread) {
    let mut list = LIST.lock();
    // SAFETY: the thread is on the list, whose threads are alive.
    unsafe {
        let (previous, next) = ((*thread).previous, (*thread).next);
        if previous.is_null() {
            list.first = next;
        } else {
            (*previous).next = next;
        }
        if !next.is_null() {
            (*next).previous = previous;
        }
        list.count -= 1;
        (&raw mut (*(*thread).context).state).write_volatile(State::Detached as u8);
    }
}

/// Gives an ended thread, on no list, to the next one that attaches.
pub(crate) fn recycle(thread: *mut Thread) {
    // SAFETY: nobody else knows the thread now; its side stack is empty.
    unsafe {
        let t = &mut *thread;
        let ctx = &mut *t.context;
        vervet_os::memory::discard(t.side_low, ctx.side_next.max(t.side_low + (64 << 10)));
        ctx.side_next = t.side_low;
        if ctx.locks_held != 0 {
            // Somebody may still see the id in a lock.
            ctx.owner_id = 0;
        }
    }
    let mut list = LIST.lock();
    // SAFETY: as above.
    unsafe { (*thread).next = list.free };
    list.free = thread;
}

/// How many threads are attached.
pub fn count() -> usize {
    LIST.lock().count
}

/// Visits the list under its lock. The visitor takes no memory and no other lock.
pub(crate) fn visit(mut visit: impl FnMut(&mut Thread)) {
    let list = LIST.lock();
    let mut at = list.first;
    // SAFETY: threads on the list are alive while the lock is held.
    while let Some(thread) = unsafe { at.as_mut() } {
        at = thread.next;
        visit(thread);
    }
}
