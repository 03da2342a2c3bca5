//! Green threads without frames on the native stack: internal calls that are made again after a park, and the first call.
//!
//! # How it works
//! ```text
//!   managed stack                native stack            what happens
//!   --------------------------   ---------------------   ------------------------------------------------------------
//!   frames, thunk's frame        the call's Rust frames  the call parks: it sets `leaves_at` and returns at once
//!   frames, thunk's frame        nothing                 the thunk leaves the carrier, which takes the native stack
//!   frames, thunk's frame        -                       the thread is parked
//!   frames, thunk's frame        another one             it is made ready: the thunk calls the same code again, with the arguments
//!                                                        that lie in its frame
//! ```
//!
//! # Invariants
//! * A call through [`reentrant_thunk`] has at most six integer arguments, and no result in a vector register. Nothing but the frame of the thunk is
//!   kept of it.
//! * While managed code of a green thread runs with nothing on the native stack, `native_sp` is the end of that, `stack_base`. The stack may be another
//!   one after each park.
use super::exits::throw_pending_aligned;
use super::native::park;
use super::{
    LEAVES_AT, LEFT_FUNCTION, MANAGED, MANAGED_BASE, NATIVE_SP, PENDING, RECORD, RUNTIME,
    STACK_BASE, STATE,
};
use crate::arch::upcalls;
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;
use vervet_abi::ThreadContext;

/// An internal call that may be made again: rax = function, r11 = method. Reached from a small stub per icall or helper.
///
/// # Safety
/// Entered only as its description says, by generated code.
#[unsafe(naked)]
pub unsafe extern "C" fn reentrant_thunk() {
    naked_asm!(
        push_exit!("6"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "mov r12, rax",
        "jmp {call}",
        caller_is!(end),
        record = const RECORD,
        native_sp = const NATIVE_SP,
        state = const STATE,
        runtime = const RUNTIME,
        call = sym reentrant_call,
    )
}

/// The call itself: r12 = function, rbp = the frame of the thunk, the arguments in their registers.
///
/// # Safety
/// Entered only as its description says, by the code of this file.
#[unsafe(naked)]
unsafe extern "C" fn reentrant_call() {
    naked_asm!(
        caller_is!(in_records),
        "call r12",
        "cmp qword ptr [r15 + {leaves_at}], 0",
        "jne 5f",
        "cmp qword ptr [r15 + {pending}], 0",
        "jne 6f",
        "test byte ptr [rip + {stop}], {stopping}",
        "jnz 7f",
        "2:",
        unlink_exit!(),
        "mov rcx, rdx",
        // Those that the call has preserved may have been lost with the native stack.
        "mov rbx, [rbp - 8]",
        "mov r12, [rbp - 16]",
        "mov r13, [rbp - 24]",
        "mov r14, [rbp - 32]",
        "mov rsp, rbp",
        "mov byte ptr [r15 + {state}], {managed}",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(in_records),
        "5: mov [r15 + {left_function}], r12",
        "mov rdi, r15",
        "call {leave}",
        resume_rax!(),
        "6: mov rdi, r15",
        "lea rsp, [rbp - 128]",
        to_native_stack!(),
        "jmp {throw}",
        // the results wait on the stack
        "7: push rax",
        "push rdx",
        "mov rdi, r15",
        "call {park}",
        "pop rdx",
        "pop rax",
        "jmp 2b",
        caller_is!(end),
        leaves_at = const LEAVES_AT,
        left_function = const LEFT_FUNCTION,
        record = const RECORD,
        native_sp = const NATIVE_SP,
        state = const STATE,
        managed = const MANAGED,
        pending = const PENDING,
        leave = sym upcalls::leave_native_stack,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}

/// The first frame on a native stack of a thread that left its last one in [`reentrant_call`]: makes the call again. r15 = the context.
///
/// # Safety
/// Entered only as its description says, by a [switch](super::switch) to the stack.
#[unsafe(naked)]
pub unsafe extern "C" fn call_again() {
    naked_asm!(
        "sub rsp, 8",
        "mov rdi, r15",
        "call {go_on}",
        "mov rbp, [r15 + {record}]",
        "add rbp, 128",
        "mov r12, [r15 + {left_function}]",
        "mov rsp, [r15 + {native_sp}]",
        load_integers!(),
        "jmp {call}",
        record = const RECORD,
        native_sp = const NATIVE_SP,
        left_function = const LEFT_FUNCTION,
        go_on = sym upcalls::go_on_after_park,
        call = sym reentrant_call,
    )
}

/// `first_call(stub, code, words, context) -> !`: the first call of a green thread into managed code, through the invoke stub of a method that returns
/// nothing and has `this` and perhaps one argument: two words. The caller's frames on the native stack are abandoned. There is no entry record: the
/// first frames of the thread are managed ones.
///
/// # Safety
/// The context is the calling green thread's, in Runtime state with no record. The caller's frames hold nothing that must be dropped.
#[unsafe(naked)]
pub unsafe extern "C" fn first_call(
    _stub: usize,
    _code: usize,
    _words: *const [u64; 2],
    _ctx: *mut ThreadContext,
) -> ! {
    naked_asm!(
        caller_is!(in_records),
        "sub rsp, 8",
        "mov r15, rcx",
        "test byte ptr [rip + {stop}], {stopping}",
        "jnz 3f",
        "2: mov r11, [r15 + {stack_base}]",
        "and r11, -16",
        "mov [r15 + {native_sp}], r11",
        // The words lie on the managed stack, where they are scanned.
        "mov r10, [r15 + {managed_base}]",
        "and r10, -16",
        "mov r8, [rdx]",
        "mov r9, [rdx + 8]",
        "mov [r10 - 16], r8",
        "mov [r10 - 8], r9",
        "lea rsp, [r10 - 48]",
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rax, rdi",
        "mov rdi, rsi",
        "lea rsi, [r10 - 16]",
        "mov rdx, rsp",
        "mov rcx, r15",
        "xor ebp, ebp",
        "call rax",
        "mov byte ptr [r15 + {state}], {runtime}",
        "mov rsp, [r15 + {native_sp}]",
        "mov rdi, r15",
        "mov esi, eax",
        "call {returned}",
        "ud2",
        "3: push rdi",
        "push rsi",
        "push rdx",
        "push rdx",
        "mov rdi, r15",
        "call {park}",
        "pop rdx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp 2b",
        caller_is!(end),
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        managed_base = const MANAGED_BASE,
        native_sp = const NATIVE_SP,
        stack_base = const STACK_BASE,
        returned = sym upcalls::first_call_returned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}
