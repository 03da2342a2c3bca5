//! Thunks that managed code enters without calling anything of ours: at a method's first call, at an interface call that no IMT stub
//! knows, at a trap, and where the stack is used up.
//!
//! # Invariants
//! * The argument registers, integer and vector, are saved and restored, because the method that was called has not read them yet.
//! * Where the thunk goes on, it does so by a jump to the address in rax, with the stack as the caller left it.
use super::exits::throw_pending_aligned;
use super::native::park;
use super::{HIDDEN, LARGE_FRAME, MANAGED, MANAGED_BASE, RECORD, RUNTIME, STATE};
use crate::arch::upcalls;
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::context::ThreadContext;

/// The prestub: eax = method id; all argument registers and the stack as the caller left them. Compiles (or
/// finds) the method and jumps to it.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn prestub() {
    naked_asm!(
        "mov r11d, eax",
        push_exit!("2"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "sub rsp, 144",
        save_vectors!(),
        "mov r11, [r15 + {hidden}]",
        "mov [rsp + 128], r11",
        "mov rdi, r15",
        "mov esi, eax",
        "call {f}",
        "test rax, rax",
        "jz 5f",
        "mov r11, [rsp + 128]",
        "mov [r15 + {hidden}], r11",
        go_on_at_rax!(),
        record = const RECORD,
        hidden = const HIDDEN,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        managed_base = const MANAGED_BASE,
        f = sym upcalls::compile_for_call,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}

/// An interface call that no IMT stub knows yet: `this` in rdi, the interface method in `hidden`. Finds the
/// implementation, extends the IMT, and jumps there.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn imt_resolve() {
    naked_asm!(
        "mov r11, [r15 + {hidden}]",
        push_exit!("2"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "sub rsp, 128",
        save_vectors!(),
        "mov rsi, [r15 + {hidden}]",
        "mov rdx, rdi",
        "mov rdi, r15",
        "call {f}",
        "test rax, rax",
        "jz 5f",
        go_on_at_rax!(),
        record = const RECORD,
        hidden = const HIDDEN,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        managed_base = const MANAGED_BASE,
        f = sym upcalls::resolve_interface_call,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}

/// A hardware trap in managed code was redirected here by the signal handler, which pushed the faulting pc:
/// edi = what to throw.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn trap_stub() {
    naked_asm!(
        "mov r11d, 1",
        push_exit!("2"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "and rsp, -16",
        "mov esi, [rbp - 80]",
        "mov rdi, r15",
        "call {f}",
        "ud2",
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed_base = const MANAGED_BASE,
        f = sym upcalls::throw_trap,
    )
}

/// The stack is used up: entered as the method would have been, from the same call. The exception is raised there.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn overflowed() {
    naked_asm!(
        "xor r11d, r11d",
        push_exit!("2"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "mov rdi, r15",
        "and rsp, -16",
        "call {overflow}",
        "ud2",
        record = const RECORD,
        managed_base = const MANAGED_BASE,
        state = const STATE,
        runtime = const RUNTIME,
        overflow = sym upcalls::stack_overflow,
    )
}

/// Below the limit: entered with the method's own arguments and its code in `hidden`. If it is the real limit that was passed,
/// the stack is used up; otherwise the thread is wanted, and goes on with the method from its start.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn grow() {
    naked_asm!(
        "cmp rsp, [r15 + {true_limit}]",
        "jae 7f",
        // What the frame of the method takes is wanted for the throw, if it is much.
        "mov r11, rbp",
        "sub r11, rsp",
        "cmp r11, {large}",
        "jb 7f",
        "lea rsp, [rbp + 8]",
        "mov rbp, [rbp]",
        "jmp {overflowed}",
        "7: xor r11d, r11d",
        push_exit!("2"),
        "mov byte ptr [r15 + {state}], {runtime}",
        "mov rdi, r15",
        "cmp rsp, [r15 + {true_limit}]",
        "jb 4f",
        to_native_stack!(),
        "sub rsp, 144",
        save_vectors!(),
        "mov r11, [r15 + {hidden}]",
        "mov [rsp + 128], r11",
        "call {serve}",
        "test rax, rax",
        "jz 5f",
        "mov rax, [rsp + 128]",
        go_on_at_rax!(),
        "4:",
        to_native_stack!(),
        "and rsp, -16",
        "call {overflow}",
        "ud2",
        record = const RECORD,
        managed_base = const MANAGED_BASE,
        hidden = const HIDDEN,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        true_limit = const offset_of!(ThreadContext, true_limit),
        large = const LARGE_FRAME,
        overflowed = sym overflowed,
        serve = sym upcalls::interrupted_at_prologue,
        overflow = sym upcalls::stack_overflow,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}
