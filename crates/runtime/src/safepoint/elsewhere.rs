//! Code of a host that is held on a stack that is not its thread's: that of a signal handler, or of a fiber.
//!
//! # Invariants
//! * Of the stack that it runs on, what lies from its stack pointer up is scanned: to the end of the stack if it is a handler's, which the kernel knows; to the end of the
//!   mapping if it is a fiber's. Of the thread's own stack all that is mapped is scanned, because nobody knows where the frames there end. Stacks of fibers that do
//!   not run are scanned no more than other memory of the host's.
//! * The thread finds the bounds itself, in the handler, before it says that it has arrived. The mapping of a fiber's stack may also hold what is no stack and is
//!   unmapped meanwhile, so its end is looked for again before each scan.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vervet_abi::ThreadContext;
use vervet_os::{mapping, signal};

/// C code may keep words in so many bytes below its stack pointer (x86-64 ABI).
pub(super) const RED_ZONE: usize = 128;

/// See the module.
#[derive(Default)]
pub(crate) struct Elsewhere {
    low: AtomicUsize,
    high: AtomicUsize,
    /// It is a handler's stack.
    is_exact: AtomicBool,
    /// Where what is mapped of the thread's own stack begins.
    own_low: AtomicUsize,
}

impl Elsewhere {
    /// Finds the bounds for a thread in state Foreign that is interrupted with that stack pointer. False: it may not be held there.
    ///
    /// # Safety
    /// The context is the calling thread's.
    pub(super) unsafe fn find(&self, context: *mut ThreadContext, sp: usize) -> bool {
        // SAFETY: the context is the calling thread's.
        let (end, base) = unsafe { ((*context).native_end, (*context).stack_base) };
        let there = signal::alternate_stack().filter(|stack| stack.contains(sp));
        self.is_exact.store(there.is_some(), Ordering::Relaxed);
        let there = match there {
            Some(stack) => Some((stack.low, stack.high)),
            None => mapping::containing(sp),
        };
        let (Some(there), Some(own)) = (there, mapping::containing(base - 1)) else {
            return false;
        };
        self.low
            .store((sp - RED_ZONE).max(there.0), Ordering::Relaxed);
        self.high.store(there.1, Ordering::Relaxed);
        self.own_low.store(own.0.max(end), Ordering::Relaxed);
        true
    }
    /// The bounds of what is to be scanned there, and where the thread's own stack begins. Read by who has stopped the thread.
    pub(super) fn bounds(&self) -> (usize, usize, usize) {
        let read = |word: &AtomicUsize| word.load(Ordering::Relaxed);
        let low = read(&self.low);
        let high = match self.is_exact.load(Ordering::Relaxed) {
            true => read(&self.high),
            false => mapping::containing(low).map_or(low, |(_, end)| end),
        };
        (low, high, read(&self.own_low))
    }
}
