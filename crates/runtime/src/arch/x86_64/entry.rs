//! From Rust code into managed code: a call, a landing pad; and a call of Rust code on another stack.
//!
//! # Invariants
//! * `enter` pushes all callee-saved registers and links an entry record, so a walk of the stack finds where our piece of stack begins.
//! * `resume` abandons every frame between its caller and the landing pad: none of those holds anything that must be dropped.
use super::native::park;
use super::{MANAGED, MANAGED_BASE, NATIVE_SP, RECORD, RESUMING, RUNTIME, STATE};
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;
use vervet_abi::context::{RecordKind, ThreadContext};

/// `enter(stub, code, args, ret, context) -> u32`: from our code to managed code through an invoke stub.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(
    _stub: usize,
    _code: usize,
    _args: *const u64,
    _ret: *mut u64,
    _ctx: *mut ThreadContext,
) -> u32 {
    naked_asm!(
        caller_is!(in_records),
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "push qword ptr [r8 + {native_sp}]",
        "mov r15, r8",
        "push 0",
        "push 0",
        "push rbp",
        "push rbp",
        "push {entry}",
        "push qword ptr [r15 + {record}]",
        "mov [r15 + {record}], rsp",
        "test byte ptr [rip + {stop}], {stopping}",
        "jnz 3f",
        "2:",
        to_managed_stack!(),
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov rcx, r15",
        "call rax",
        "mov byte ptr [r15 + {state}], {runtime}",
        "mov r11, [rbp - 48]",
        "mov [r15 + {native_sp}], r11",
        "lea rsp, [rbp - 96]",
        "mov r11, [rsp]",
        "mov [r15 + {record}], r11",
        "add rsp, 56",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        "3: push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "mov rdi, r15",
        "call {park}",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp 2b",
        caller_is!(end),
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        entry = const RecordKind::Entry as usize,
        managed_base = const MANAGED_BASE,
        native_sp = const NATIVE_SP,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}

/// Goes on at a landing pad: sp, fp and the pinned register as they were, rax = exception, rdx = unwind record.
/// The caller has cut the record list.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn resume(
    _pc: usize,
    _sp: usize,
    _fp: usize,
    _exception: usize,
    _unwind: usize,
    _ctx: *mut ThreadContext,
) -> ! {
    naked_asm!(
        caller_is!(target_frame_in_rdx),
        "mov rsp, rsi",
        "mov rbp, rdx",
        caller_is!(target_frame_in_rbp),
        "mov rax, rcx",
        "mov rdx, r8",
        "mov r15, r9",
        // What registers held where the exception was raised would be kept alive by whoever saves them next: no landing pad looks at them.
        "xor ebx, ebx",
        "xor ecx, ecx",
        "xor esi, esi",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        "xor r12d, r12d",
        "xor r13d, r13d",
        "xor r14d, r14d",
        "mov byte ptr [r15 + {resuming}], 0",
        "mov byte ptr [r15 + {state}], {managed}",
        "jmp rdi",
        caller_is!(end),
        resuming = const RESUMING,
        state = const STATE,
        managed = const MANAGED,
    )
}

/// Calls `f(arg)` on another stack whose top is `sp`.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on_stack(_f: extern "C" fn(*mut u8), _arg: *mut u8, _sp: usize) {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsp, rdx",
        "and rsp, -16",
        "call rax",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
    )
}
