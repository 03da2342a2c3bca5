//! The end of a [continuation](crate::threads::continuations)'s restore: a part of the stack is overwritten, and the thread goes on in it.
//!
//! # Invariants
//! * The stack pointer is below the part while that is overwritten, further than the red zone.
//! * What is written begins with the frame of an [`icall_thunk`](super::icall_thunk), by which the thread returns to managed code.
use super::native::park;
use super::{MANAGED, RECORD, RESUMING, STATE};
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;
use vervet_abi::ThreadContext;

/// Writes `count` words to `at`, where the record of an internal call lay when they were copied, and returns from that call with the result.
///
/// # Safety
/// The context is the calling thread's, in Runtime state, and managed frames lie on the native stack. The list of records is what it was before the call. Frames
/// below `at + 8 * count` hold nothing that must be dropped, and those above are as they were at the call.
#[unsafe(naked)]
pub unsafe extern "C" fn write_back(
    _ctx: *mut ThreadContext,
    _at: usize,
    _words: *const usize,
    _count: usize,
    _result: i32,
) -> ! {
    naked_asm!(
        caller_is!(in_records),
        "mov r15, rdi",
        // A signal's handler may run on this stack: it must not write into the part.
        "lea rax, [rsi - 256]",
        "cmp rsp, rax",
        "cmova rsp, rax",
        "and rsp, -16",
        "lea rbp, [rsi + 128]",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "cld",
        "rep movsq",
        // A walk finds the frames again from here on.
        "lea rcx, [rbp - 128]",
        "mov [r15 + {record}], rcx",
        "mov byte ptr [r15 + {resuming}], 0",
        "mov eax, r8d",
        "test byte ptr [rip + {stop}], {stopping}",
        "jnz 7f",
        "2:",
        unlink_exit!(),
        // Those that the function would have preserved.
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
        // the result waits on the stack
        "7: push rax",
        "push rax",
        "mov rdi, r15",
        "call {park}",
        "pop rax",
        "pop rax",
        "jmp 2b",
        caller_is!(end),
        record = const RECORD,
        resuming = const RESUMING,
        state = const STATE,
        managed = const MANAGED,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}
