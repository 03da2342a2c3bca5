//! The service stack: where a thread compiles.
//!
//! Compiling needs a deep stack and must not depend on how much of its own stack the calling thread has left.
//!
//! # Invariants
//! * A thread has at most one service stack. It is made at the thread's first compilation, or with the thread where address space
//!   is limited, and goes to the next thread that uses the same [`Thread`](crate::safepoint::registry::Thread).
//! * While a thread runs on its service stack, its word is [`IN_USE`], so a nested call runs where it is.
use crate::memory::address_plan::SERVICE_STACK;
use std::cell::Cell;

/// The word of a thread that runs on its service stack.
const IN_USE: usize = usize::MAX;

thread_local! {
    /// Top of the thread's service stack; 0 before it has one, or [`IN_USE`].
    static SERVICE: Cell<usize> = const { Cell::new(0) };
}

/// Is this thread compiling? (A panic then is caught at the compile boundary.)
pub fn is_on_service_stack() -> bool {
    SERVICE.with(Cell::get) == IN_USE
}

/// The service stack that a new thread begins with, its top; 0: it gets one when it first compiles. Where address space is
/// limited it is there from the first, because a thread that cannot have it later ends the process.
pub(crate) fn first_service_stack() -> usize {
    if crate::memory::address_plan::is_limited() {
        new_service_stack()
    } else {
        0
    }
}

fn new_service_stack() -> usize {
    vervet_os::memory::stack(SERVICE_STACK)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a service stack", SERVICE_STACK))
        .1
}

/// Runs `work` on this thread's service stack (compiling is deep and must not depend on how much stack its
/// caller has left). Not nested: inside, it just runs.
pub fn on_service_stack<T>(work: impl FnOnce() -> T) -> T {
    let top = SERVICE.with(Cell::get);
    if top == IN_USE {
        return work();
    }
    let top = if top == 0 { new_service_stack() } else { top };
    SERVICE.set(IN_USE);
    struct Back(usize);
    impl Drop for Back {
        fn drop(&mut self) {
            SERVICE.set(self.0);
        }
    }
    let _back = Back(top);
    crate::arch::closures::through_asm(work, |f, arg| {
        // SAFETY: the stack is ours and idle; `f` does not unwind.
        unsafe { crate::arch::call_on_stack(f, arg, top) }
    })
}

/// The thread is attached: a service stack that an ended thread left (its top, or 0) is this thread's unless it has one.
pub(super) fn adopt(left: &Cell<usize>) {
    if SERVICE.get() == 0 {
        SERVICE.set(left.take());
    }
}

/// The thread is detached: the top of its service stack, or 0, for the next thread.
pub(super) fn give_up() -> usize {
    SERVICE.replace(0)
}
