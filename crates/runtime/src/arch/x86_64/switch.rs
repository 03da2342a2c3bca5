//! Switching between two native stacks: a carrier's and a green thread's.
//!
//! # Invariants
//! * A stack that is left has the callee-saved registers at the stack pointer that is stored, so a scan from there finds all that its code has in
//!   registers.
//! * The code that is left sees a call that returns, perhaps on another OS thread.
use std::arch::naked_asm;
use vervet_abi::ThreadContext;

/// Words that [`switch`] pushes below the return address: rbp and the callee-saved registers.
const SAVED: usize = 6;

/// Leaves this stack, whose pointer is stored at `save`, and goes on where the stack with pointer `to` was left.
///
/// # Safety
/// `to` was stored by this function or made by [`first_frame`], and nobody has gone on there since. The thread is in Runtime state.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(_save: *mut usize, _to: usize) {
    naked_asm!(
        "push rbp",
        push_callee_saved!(),
        "mov [rdi], rsp",
        "mov rsp, rsi",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
    )
}

/// Leaves this stack for good, and goes on where the stack with pointer `to` was left.
///
/// # Safety
/// As for [`switch`]. Nothing on this stack has to be dropped.
#[unsafe(naked)]
pub unsafe extern "C" fn switch_for_good(_to: usize) -> ! {
    naked_asm!("mov rsp, rdi", pop_callee_saved!(), "pop rbp", "ret",)
}

/// Prepares a stack that ends at `high` for a [`switch`] to it, which calls `main` with the context in r15; the stack pointer to switch to.
///
/// # Safety
/// The stack is the caller's, and mapped. `main` is a function without parameters that does not return.
pub unsafe fn first_frame(high: usize, main: usize, context: *mut ThreadContext) -> usize {
    let high = high & !15;
    // A function begins 8 bytes below a multiple of 16, where its return address lies: here 0, so a walk of the frames ends.
    let words: [usize; SAVED + 3] = [context as usize, 0, 0, 0, 0, 0, main, 0, 0];
    let at = high - 32 - SAVED * 8;
    // SAFETY: the words lie on the stack, which is the caller's.
    unsafe { (at as *mut [usize; SAVED + 3]).write(words) };
    at
}
