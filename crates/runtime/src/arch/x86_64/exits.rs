//! Thunks through which managed code calls icalls and helpers.
//!
//! # Invariants
//! * The icall thunk changes the state to Runtime after it has linked its record, and back to Managed after it has tested the stop word. If that says that a
//!   thread is asked for something, it serves the request if it is this one.
//! * A leaf helper is called in Managed state with `critical` set, so the thread is not stopped inside it.
//! * If an exception is pending when the callee returns, the thunk raises it instead of returning.
use super::native::park;
use super::{
    COLD_FUNCTION, COLD_RESULT, CRITICAL, FOREIGN, IN_LEAF, LEAF_FP, MANAGED, NATIVE_SP, PENDING,
    RECORD, RUNTIME, STATE,
};
use crate::arch::upcalls;
use crate::safepoint::stop_word::{ASKED, STOP, STOPPING};
use std::arch::naked_asm;

/// An internal call: rax = function, r11 = method, r10 = bytes of stack arguments. Reached from a small stub
/// per icall or helper.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn icall_thunk() {
    naked_asm!(
        push_exit!("0"),
        "mov byte ptr [r15 + {state}], {runtime}",
        "mov rbx, r10",
        "mov r11, [r15 + {native_sp}]",
        "or r11, r10",
        "jnz 8f",
        // One stack for all, and no arguments on it: the stack pointer is as before when the function has returned. To take it from rbp would be to
        // wait for what the function has popped, and that for what it had pushed, once for each of its frames.
        "call rax",
        "lea rbp, [rsp + 128]",
        "9: cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        "test byte ptr [rip + {stop}], {stopping} + {asked}",
        "jnz 7f",
        "6:",
        unlink_exit!(),
        "mov rcx, rdx",
        "mov r10, rbx",
        "mov rbx, [rbp - 8]",
        "mov r12, [rbp - 16]",
        "mov rsp, rbp",
        "mov byte ptr [r15 + {state}], {managed}",
        "pop rbp",
        caller_is!(at_sp),
        "test r10, r10",
        "jnz 4f",
        "ret",
        "4: pop r11",
        caller_is!(in_r11),
        "add rsp, r10",
        "jmp r11",
        caller_is!(in_records),
        "8:",
        to_native_stack!(),
        // copy the stack arguments: they lie from [rbp + 16] on
        "test r10, r10",
        "jz 3f",
        "sub rsp, r10",
        "xor r11d, r11d",
        "2: mov r12, [rbp + r11 + 16]",
        "mov [rsp + r11], r12",
        "add r11, 8",
        "cmp r11, r10",
        "jb 2b",
        "3: call rax",
        "jmp 9b",
        // The results wait on the stack, which is scanned. What is asked of the thread is served first: it may make an exception pending.
        "7: push rax",
        "push rdx",
        "sub rsp, 32",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "mov rdi, r15",
        "call {serve}",
        "test byte ptr [rip + {stop}], {stopping}",
        "jz 12f",
        "mov rdi, r15",
        "call {park}",
        "12: movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "add rsp, 32",
        "pop rdx",
        "pop rax",
        "cmp qword ptr [r15 + {pending}], 0",
        "je 6b",
        "5: mov rdi, r15",
        "lea rsp, [rbp - 128]",
        to_native_stack!(),
        "jmp {throw}",
        caller_is!(end),
        record = const RECORD,
        native_sp = const NATIVE_SP,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        pending = const PENDING,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        asked = const ASKED,
        serve = sym upcalls::interrupted_at_return,
        park = sym park,
    )
}

/// An internal call whose function belongs to a host and may keep references in its frame: as [`icall_thunk`], with the thread in Foreign state
/// during the call. The high half of r10 says how the result is extended ([`super::stubs::Extend`]): C leaves the rest of a register as it is.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn foreign_icall_thunk() {
    naked_asm!(
        push_exit!("0"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        // rbx keeps both halves of r10 over the call: the bytes of the arguments, which the way back takes off the stack, and how the result is
        // extended.
        "mov rbx, r10",
        "mov r10d, r10d",
        // copy the stack arguments, as `icall_thunk` does
        "test r10, r10",
        "jz 3f",
        "sub rsp, r10",
        "xor r11d, r11d",
        "2: mov r12, [rbp + r11 + 16]",
        "mov [rsp + r11], r12",
        "add r11, 8",
        "cmp r11, r10",
        "jb 2b",
        "3: mov byte ptr [r15 + {state}], {foreign}",
        "mov r11, rax",
        // The number of vector registers, for a function that takes any number of arguments.
        "mov eax, 8",
        "call r11",
        "mov byte ptr [r15 + {state}], {runtime}",
        // The extension: 0 none, 1 an unsigned byte, 2 a signed byte, 3 an unsigned half-word, 4 a signed half-word. C leaves the rest of the
        // register as it is.
        "mov r11, rbx",
        "shr r11, 32",
        "jz 9f",
        "cmp r11d, 2",
        "jb 21f",
        "je 22f",
        "cmp r11d, 4",
        "jb 23f",
        "movsx eax, ax",
        "jmp 9f",
        "21: movzx eax, al",
        "jmp 9f",
        "22: movsx eax, al",
        "jmp 9f",
        "23: movzx eax, ax",
        // Only the bytes are left in rbx, as where `icall_thunk` has called.
        "9: mov ebx, ebx",
        "cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        "test byte ptr [rip + {stop}], {stopping} + {asked}",
        "jnz 7f",
        "6:",
        unlink_exit!(),
        "mov rcx, rdx",
        "mov r10, rbx",
        "mov rbx, [rbp - 8]",
        "mov r12, [rbp - 16]",
        "mov rsp, rbp",
        "mov byte ptr [r15 + {state}], {managed}",
        "pop rbp",
        caller_is!(at_sp),
        "test r10, r10",
        "jnz 4f",
        "ret",
        "4: pop r11",
        caller_is!(in_r11),
        "add rsp, r10",
        "jmp r11",
        caller_is!(in_records),
        // The results wait on the stack, which is scanned. What is asked of the thread is served first: it may make an exception pending.
        "7: push rax",
        "push rdx",
        "sub rsp, 32",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "mov rdi, r15",
        "call {serve}",
        "test byte ptr [rip + {stop}], {stopping}",
        "jz 12f",
        "mov rdi, r15",
        "call {park}",
        "12: movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "add rsp, 32",
        "pop rdx",
        "pop rax",
        "cmp qword ptr [r15 + {pending}], 0",
        "je 6b",
        "5: mov rdi, r15",
        "lea rsp, [rbp - 128]",
        to_native_stack!(),
        "jmp {throw}",
        caller_is!(end),
        record = const RECORD,
        native_sp = const NATIVE_SP,
        state = const STATE,
        runtime = const RUNTIME,
        foreign = const FOREIGN,
        managed = const MANAGED,
        pending = const PENDING,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        asked = const ASKED,
        serve = sym upcalls::interrupted_at_return,
        park = sym park,
    )
}

/// The thunk of helpers that preserve every register, so that cold code costs the code around it nothing: `ThreadContext::cold_function` is the function.
/// `$result` says what becomes of what the function returns, `$failed` where the thunk goes on if an exception is pending, and `$served` what it does when it has
/// served what is asked of the thread: it throws, or leaves that to its caller.
///
/// What [`push_exit`] saves lies where it always does. The other registers lie on the native stack, which is scanned too.
macro_rules! preserving_thunk {
    ($(#[$doc:meta])* $name:ident, $result:literal, $failed:literal, $served:literal) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                push_exit_preserving!(),
                "mov byte ptr [r15 + {state}], {runtime}",
                "mov rbx, [r15 + {native_sp}]",
                "test rbx, rbx",
                "cmovz rbx, rsp",
                "mov rsp, rbx",
                "push rax",
                "push r10",
                "push r11",
                "sub rsp, 264",
                store_all_vectors!(),
                "call [r15 + {function}]",
                "cmp qword ptr [r15 + {pending}], 0",
                $failed,
                $result,
                "test byte ptr [rip + {stop}], {stopping} + {asked}",
                "jnz 7f",
                "6:",
                load_all_vectors!(),
                "mov r11, [rsp + 264]",
                "mov r10, [rsp + 272]",
                "mov rax, [rsp + 280]",
                "mov rbx, [rbp - 128]",
                "mov [r15 + {record}], rbx",
                caller_is!(in_frame),
                load_integers!(),
                "mov rbx, [rbp - 8]",
                "mov rsp, rbp",
                "mov byte ptr [r15 + {state}], {managed}",
                "pop rbp",
                caller_is!(at_sp),
                "ret",
                caller_is!(in_records),
                // An exception stays pending: nothing is served over it.
                "8: test byte ptr [rip + {stop}], {stopping}",
                "jz 6b",
                "mov rdi, r15",
                "call {park}",
                "jmp 6b",
                // What is asked of the thread is served first: it may make an exception pending, and may run managed code, which has cold results of its own.
                "7: push qword ptr [r15 + {result}]",
                "push 0",
                "mov rdi, r15",
                "call {serve}",
                "test byte ptr [rip + {stop}], {stopping}",
                "jz 12f",
                "mov rdi, r15",
                "call {park}",
                "12: add rsp, 8",
                "pop qword ptr [r15 + {result}]",
                "cmp qword ptr [r15 + {pending}], 0",
                $served,
                "5: mov rdi, r15",
                "lea rsp, [rbp - 128]",
                to_native_stack!(),
                "jmp {throw}",
                caller_is!(end),
                record = const RECORD,
                native_sp = const NATIVE_SP,
                state = const STATE,
                runtime = const RUNTIME,
                managed = const MANAGED,
                pending = const PENDING,
                function = const COLD_FUNCTION,
                result = const COLD_RESULT,
                throw = sym throw_pending_aligned,
                stop = sym STOP,
                stopping = const STOPPING,
                asked = const ASKED,
                serve = sym upcalls::interrupted_at_return,
                park = sym park,
            )
        }
    };
}

preserving_thunk! {
    /// A helper without a result that preserves every register.
    ///
    /// # Safety
    /// Entered only as its description says, by generated code.
    preserving_thunk, "/* no result: {result} */", "jne 5f", "je 6b"
}
preserving_thunk! {
    /// A helper with a reference as its result that preserves every register.
    ///
    /// # Safety
    /// Entered only as its description says, by generated code.
    preserving_result_thunk, "mov [r15 + {result}], rax", "jne 5f", "je 6b"
}
preserving_thunk! {
    /// As [`preserving_thunk`], for calls that have handlers around them: an exception stays pending, and the caller throws it.
    ///
    /// # Safety
    /// Entered only as its description says, by generated code.
    deferring_thunk, "/* no result: {result} */", "jne 8f", "jmp 6b"
}
preserving_thunk! {
    /// As [`preserving_result_thunk`], likewise.
    ///
    /// # Safety
    /// Entered only as its description says, by generated code.
    deferring_result_thunk, "mov [r15 + {result}], rax", "jne 8f", "jmp 6b"
}

/// A leaf helper: rax = function. Runs with `critical` set. The suspend signal that came meanwhile has had no effect: if the
/// world is to be stopped, the thread leaves managed code as an internal call does and waits, and if it is asked for something it serves that. Otherwise a loop that does
/// little but call a leaf could put the stop off many times.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn leaf_thunk() {
    naked_asm!(
        caller_is!(at_sp),
        "push rbp",
        caller_is!(at_sp_8),
        "mov rbp, rsp",
        caller_is!(in_frame),
        "mov [r15 + {leaf_fp}], rbp",
        "mov byte ptr [r15 + {critical}], {in_leaf}",
        // On one stack for all the stack pointer is as before when the function has returned. To take it from rbp would be to wait for what the function has
        // popped, and that for what it had pushed, once for each of its frames.
        "cmp qword ptr [r15 + {native_sp}], 0",
        "jne 8f",
        "call rax",
        "2: mov byte ptr [r15 + {critical}], 0",
        "test byte ptr [rip + {stop}], {stopping} + {asked}",
        "jnz 3f",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(in_frame),
        "8: mov rsp, [r15 + {native_sp}]",
        "call rax",
        "mov rsp, rbp",
        "jmp 2b",
        // the stack as it was on entry; the results wait on it
        "3: pop rbp",
        caller_is!(at_sp),
        "xor r11d, r11d",
        push_exit!("0"),
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "push rax",
        "push rdx",
        "sub rsp, 16",
        "movups [rsp], xmm0",
        "mov rdi, r15",
        "call {serve}",
        "test byte ptr [rip + {stop}], {stopping}",
        "jz 12f",
        "mov rdi, r15",
        "call {park}",
        "12: movups xmm0, [rsp]",
        "add rsp, 16",
        "pop rdx",
        "pop rax",
        "cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        unlink_exit!(),
        "mov rsp, rbp",
        "mov byte ptr [r15 + {state}], {managed}",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(in_records),
        "5: mov rdi, r15",
        "lea rsp, [rbp - 128]",
        to_native_stack!(),
        "jmp {throw}",
        caller_is!(end),
        critical = const CRITICAL,
        in_leaf = const IN_LEAF,
        leaf_fp = const LEAF_FP,
        native_sp = const NATIVE_SP,
        stop = sym STOP,
        stopping = const STOPPING,
        asked = const ASKED,
        pending = const PENDING,
        serve = sym upcalls::interrupted_at_return,
        throw = sym throw_pending_aligned,
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        park = sym park,
    )
}

/// rsp is 16-aligned here; a function expects it 8 off.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn throw_pending_aligned() {
    naked_asm!("call {f}", "ud2", f = sym upcalls::throw_pending)
}
