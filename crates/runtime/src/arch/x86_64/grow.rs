//! The thunk that a function's stack check calls, and that goes on with the function on the next segment of the stack if need be.
//!
//! ```text
//!   rbp + 16 ...  stack arguments
//!   rbp + 8       return address into the function's caller
//!   rbp - 128     the exit record (macros.rs); its `method` is the address of the numbers behind the check
//!   rbp - 176     the segment record
//! ```
//!
//! # Invariants
//! * The function has made no frame yet: the stack is as its caller left it, so an exception is raised at the call.
//! * An invoke stub has no managed caller. It returns its failure status instead, so no exception passes the Rust frames that called it.
//! * The argument registers, integer and vector, and `hidden` are as the caller left them when the function goes on.
//! * The function returns to the thunk with up to eight results in registers. On the way back the thunk changes r11 and flags only.
use super::exits::throw_pending_aligned;
use super::native::park;
use super::{
    HIDDEN, INTERRUPTS, LIMIT, MANAGED, NATIVE_SP, RECORD, RUNTIME, SEGMENT, STATE, TRUE_LIMIT,
};
use crate::arch::upcalls;
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::context::RecordKind;
use vervet_abi::stack::{Numbers, Segment};

/// Called by a function's stack check, with the function's arguments and, at the return address, [`Numbers`].
///
/// # Safety
/// Entered only as its description says, by generated code.
#[unsafe(naked)]
pub unsafe extern "C" fn grow() {
    naked_asm!(
        caller_is!(at_sp_8),
        "pop r11",
        push_exit!("2"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "sub rsp, 144",
        save_vectors!(),
        "mov r11, [r15 + {hidden}]",
        "mov [rsp + 128], r11",
        "mov rdi, r15",
        "mov rsi, [rbp - 88]",
        "lea rdx, [rbp + 8]",
        "call {check}",
        "test rax, rax",
        "jz 5f",
        "mov r11, [rsp + 128]",
        "mov [r15 + {hidden}], r11",
        "cmp rax, {return_failure}",
        "je 9f",
        "cmp rax, 1",
        "jne 8f",
        // There is room: on with the body.
        "mov rax, [rbp - 88]",
        "mov r11d, [rax + {back}]",
        "sub rax, r11",
        go_on_at_rax!(),
        // rax: the top of the next segment, which is current.
        "8:",
        wait_for_restart!(),
        load_vectors!(),
        // The stack arguments, from [rbp + 16] on.
        "mov r11, [rbp - 88]",
        "mov ecx, [r11 + {stack_arguments}]",
        "sub rax, rcx",
        "and rax, -16",
        "test ecx, ecx",
        "jz 3f",
        "2: mov rdx, [rbp + rcx + 8]",
        "mov [rax + rcx - 8], rdx",
        "sub ecx, 8",
        "jnz 2b",
        "3: lea rsp, [rbp - 128]",
        "mov rcx, rsp",
        "push 0",
        "push 0",
        "push rbp",
        "push rbp",
        "push {segment_record}",
        "push rcx",
        "mov [r15 + {record}], rsp",
        "mov rsp, rax",
        "mov eax, [r11 + {back}]",
        "sub r11, rax",
        load_integers!(),
        "mov byte ptr [r15 + {state}], {managed}",
        "call r11",
        // Back to the segment before. The results are in rax, rcx, rdx, rsi, rdi, r8 to r10 and xmm0 to xmm7.
        "lea rsp, [rbp - 176]",
        "mov r11, [r15 + {segment}]",
        "mov r11, [r11 + {previous}]",
        "mov [r15 + {segment}], r11",
        "mov r11, [r11 + {segment_limit}]",
        "mov [r15 + {true_limit}], r11",
        // A requester sets its bit and then raises the limit. The exchange is a fence: either that store comes after it, or the load below
        // sees the bit.
        "xchg [r15 + {limit}], r11",
        "cmp dword ptr [r15 + {interrupts}], 0",
        "je 4f",
        "mov qword ptr [r15 + {limit}], -1",
        "4:",
        unlink_exit!(),
        // The stack arguments are popped: the saved frame pointer and the return address move above them.
        "mov r11, [rbp - 88]",
        "mov r11d, [r11 + {stack_arguments}]",
        return_and_pop_r11!(),
        // An invoke stub returns to `enter` as if it had caught what is pending. The next instruction there stores Runtime too.
        "9:",
        unlink_exit!(),
        "mov eax, 1",
        "mov rsp, rbp",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(end),
        record = const RECORD,
        hidden = const HIDDEN,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        native_sp = const NATIVE_SP,
        segment = const SEGMENT,
        limit = const LIMIT,
        true_limit = const TRUE_LIMIT,
        interrupts = const INTERRUPTS,
        segment_record = const RecordKind::Segment as usize,
        previous = const offset_of!(Segment, previous),
        segment_limit = const offset_of!(Segment, limit),
        stack_arguments = const offset_of!(Numbers, stack_arguments),
        back = const offset_of!(Numbers, back),
        return_failure = const upcalls::RETURN_FAILURE,
        check = sym upcalls::stack_check_failed,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}
