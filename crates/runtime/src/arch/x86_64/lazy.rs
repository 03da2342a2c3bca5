//! Thunks that managed code enters without calling anything of ours: at a method's first call, at the first call through a slot of a VTable,
//! at an interface call that no IMT stub knows, and at a trap.
//!
//! # Invariants
//! * The argument registers, integer and vector, are saved and restored, because the method that was called has not read them yet.
//! * Where the thunk goes on, it does so by a jump to the address in rax, with the stack as the caller left it.
use super::exits::throw_pending_aligned;
use super::native::park;
use super::{HIDDEN, MANAGED, NATIVE_SP, RECORD, RUNTIME, STATE};
use crate::arch::upcalls;
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;

/// The body of a thunk that has a method found by a number, eax, and goes on there. `$more` sets further arguments of `$find` before rdi (the context)
/// and esi (the number) are set.
macro_rules! go_on_by_number {
    ($find:path $(, $more:literal)*) => {
        naked_asm!(
            caller_is!(at_sp),
            "mov r11d, eax",
            push_exit!("2"),
            "mov byte ptr [r15 + {state}], {runtime}",
            to_native_stack!(),
            "sub rsp, 144",
            save_vectors!(),
            "mov r11, [r15 + {hidden}]",
            "mov [rsp + 128], r11",
            $($more,)*
            "mov rdi, r15",
            "mov esi, eax",
            "call {f}",
            "test rax, rax",
            "jz 5f",
            "mov r11, [rsp + 128]",
            "mov [r15 + {hidden}], r11",
            go_on_at_rax!(),
            caller_is!(end),
            record = const RECORD,
            hidden = const HIDDEN,
            state = const STATE,
            runtime = const RUNTIME,
            managed = const MANAGED,
            native_sp = const NATIVE_SP,
            f = sym $find,
            throw = sym throw_pending_aligned,
            stop = sym STOP,
            stopping = const STOPPING,
            park = sym park,
        )
    };
}

/// The prestub: eax = the entry's id; all argument registers and the stack as the caller left them. Compiles (or
/// finds) the method and jumps to it.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn prestub() {
    go_on_by_number!(upcalls::compile_for_call)
}

/// The first call through a slot of a VTable: eax = number of the slot, `this` in rdi, all else as the caller left it; a call with
/// variable arguments has their address in `hidden`. Finds the method, stores its code into the slot, and jumps there.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn slot_resolve() {
    go_on_by_number!(upcalls::resolve_slot_call, "mov rdx, rdi")
}

/// An interface call that no IMT stub knows yet: `this` in rdi, the interface method in `hidden`. Finds the
/// implementation, extends the IMT, and jumps there.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn imt_resolve() {
    naked_asm!(
        caller_is!(at_sp),
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
        caller_is!(end),
        record = const RECORD,
        hidden = const HIDDEN,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        native_sp = const NATIVE_SP,
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
        caller_is!(exact_at_sp),
        "mov r11d, 1",
        push_exit!("2", exact_at_sp, exact_at_sp_8, exact_in_frame),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "and rsp, -16",
        "mov esi, [rbp - 80]",
        "mov rdi, r15",
        "call {f}",
        "ud2",
        caller_is!(end),
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        native_sp = const NATIVE_SP,
        f = sym upcalls::throw_trap,
    )
}
