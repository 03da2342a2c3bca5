//! The Native state: blocking calls of Rust code, P/Invokes, and native code that calls managed code.
//!
//! # Invariants
//! * Whoever goes to Native first pushes its callee-saved registers and stores `scan_sp`, so everything that the thread refers to lies on
//!   its stack at that address or above. The collector then needs nothing else of the thread.
//! * Whoever leaves Native stores Runtime and then tests the stop word; the stopper sets the word, makes a process fence and then reads
//!   the state. So one of the two sees the other.
use super::exits::throw_pending_aligned;
use super::{
    GREEN, HIDDEN, LAST_ERROR, MANAGED, MANAGED_BASE, NATIVE, NATIVE_SP, PENDING, RECORD, RUNTIME,
    SCAN_SP, STATE,
};
use crate::arch::upcalls;
use crate::safepoint::stop_word::STOP;
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::context::{RecordKind, ThreadContext};
use vervet_abi::native_call::{NativeCall, ReverseCall};

/// Waits until the world runs: to Native, with the callee-saved registers where they are scanned, and back to Runtime.
/// The thread is in Runtime state and has found the stop word set.
///
/// # Safety
/// The context is the calling thread's.
#[unsafe(naked)]
pub unsafe extern "C" fn park(_ctx: *mut ThreadContext) {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 8",
        // Everything that this thread refers to lies at rsp or above: it may be scanned from there.
        "mov [rdi + {scan_sp}], rsp",
        "call {leave}",
        "lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        scan_sp = const SCAN_SP,
        leave = sym upcalls::leave_native,
    )
}

/// Calls `f(arg)` in Native state and comes back to Runtime. `f` must not unwind.
///
/// # Safety
/// The context is the calling thread's, in Runtime state; `f(arg)` touches no object.
#[unsafe(naked)]
pub unsafe extern "C" fn call_native(
    _f: extern "C" fn(*mut u8),
    _arg: *mut u8,
    _ctx: *mut ThreadContext,
) {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 8",
        "mov rbx, rdx",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov [rbx + {scan_sp}], rsp",
        // From here on the thread counts as stopped.
        "mov byte ptr [rbx + {state}], {native}",
        "call rax",
        // The state first, then the word: the stopper does it in the other order, with a process fence in between.
        "mov byte ptr [rbx + {state}], {runtime}",
        "cmp dword ptr [rip + {stop}], 0",
        "jne 3f",
        "2: lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        // A stop is under way, or the kernel gives no process fence.
        "3: mov [rbx + {scan_sp}], rsp",
        "mov rdi, rbx",
        "call {leave}",
        "jmp 2b",
        scan_sp = const SCAN_SP,
        state = const STATE,
        native = const NATIVE,
        runtime = const RUNTIME,
        stop = sym STOP,
        leave = sym upcalls::leave_native,
    )
}

/// Calls `f(arg)` with the callee-saved registers on the stack at `scan_sp` and above. `f` must not unwind.
///
/// # Safety
/// The context is the calling thread's.
#[unsafe(naked)]
pub unsafe extern "C" fn call_with_registers_saved(
    _f: extern "C" fn(*mut u8),
    _arg: *mut u8,
    _ctx: *mut ThreadContext,
) {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 8",
        "mov [rdx + {scan_sp}], rsp",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        scan_sp = const SCAN_SP,
    )
}

/// For native code that holds no reference and may block, below frames of ours that may hold some: the thread goes to
/// Native until [`leave_safe_region`](crate::threads::native_state::leave_safe_region) gets the word this returns.
///
/// # Safety
/// Called by native code only.
#[unsafe(naked)]
pub unsafe extern "C" fn enter_safe_region() -> usize {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "push rbp",
        // [rsp + 8, rsp + 48) and the caller's rbp above them
        "lea rdi, [rsp + 8]",
        "lea rsi, [rbp + 16]",
        "call {f}",
        "lea rsp, [rbp]",
        "pop rbp",
        "ret",
        f = sym upcalls::enter_native,
    )
}

/// Calls native code as the block says: rdi = block, rsi = method. State is Native during the call; errno goes to
/// the context, if the block says so, before Native is left.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn native_thunk() {
    naked_asm!(
        caller_is!(at_sp),
        "mov r11, rsi",
        push_exit!("1"),
        to_native_stack!(),
        "mov rbx, rdi",
        "cmp qword ptr [r15 + {green}], 0",
        "jne 8f",
        "9: cmp qword ptr [rbx + {clear_errno}], 0",
        "je 6f",
        "mov byte ptr [r15 + {state}], {runtime}",
        "call {errno}",
        "mov dword ptr [rax], 0",
        "6: mov rcx, [rbx + {n_stack}]",
        "lea rax, [rcx + 1]",
        "and rax, -2",
        "shl rax, 3",
        "sub rsp, rax",
        "xor eax, eax",
        "2: cmp rax, rcx",
        "jae 3f",
        "mov rdx, [rbx + rax * 8 + {stack}]",
        "mov [rsp + rax * 8], rdx",
        "inc rax; jmp 2b",
        "3: mov rdi, [rbx + {ints}]",
        "mov rsi, [rbx + {ints} + 8]",
        "mov rdx, [rbx + {ints} + 16]",
        "mov rcx, [rbx + {ints} + 24]",
        "mov r8, [rbx + {ints} + 32]",
        "mov r9, [rbx + {ints} + 40]",
        "cmp qword ptr [rbx + {al}], 0",
        "je 13f",
        "movsd xmm0, [rbx + {sse}]; movsd xmm1, [rbx + {sse} + 8]",
        "movsd xmm2, [rbx + {sse} + 16]; movsd xmm3, [rbx + {sse} + 24]",
        "movsd xmm4, [rbx + {sse} + 32]; movsd xmm5, [rbx + {sse} + 40]",
        "movsd xmm6, [rbx + {sse} + 48]; movsd xmm7, [rbx + {sse} + 56]",
        "13: mov rax, [rbx + {al}]",
        "mov r11, [rbx + {target}]",
        "mov [r15 + {scan_sp}], rsp",
        "mov byte ptr [r15 + {state}], {native}",
        "call r11",
        "mov [rbx + {rax}], rax",
        "mov [rbx + {rdx}], rdx",
        "movsd [rbx + {xmm0}], xmm0",
        "movsd [rbx + {xmm1}], xmm1",
        "lea rsp, [rbp - 128]",
        to_native_stack!(),
        "cmp qword ptr [rbx + {clear_errno}], 0",
        "je 14f",
        "call {errno}",
        "mov eax, [rax]",
        "mov [r15 + {last_error}], eax",
        "14: cmp qword ptr [r15 + {green}], 0",
        "jne 11f",
        "12: mov byte ptr [r15 + {state}], {runtime}",
        "cmp dword ptr [rip + {stop}], 0",
        "jne 7f",
        "4: cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        unlink_exit!(),
        "mov rbx, [rbp - 8]",
        "mov rsp, rbp",
        "mov byte ptr [r15 + {state}], {managed}",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(in_records),
        leave_native_slowly!(),
        "5: mov rdi, r15",
        "jmp {throw}",
        green_native_call!(),
        caller_is!(end),
        green = const GREEN,
        enter_green = sym upcalls::green_enter_native,
        leave_green = sym upcalls::green_leave_native,
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        native = const NATIVE,
        pending = const PENDING,
        last_error = const LAST_ERROR,
        n_stack = const offset_of!(NativeCall, n_stack_words),
        stack = const offset_of!(NativeCall, stack_words),
        ints = const offset_of!(NativeCall, int_regs),
        sse = const offset_of!(NativeCall, sse_regs),
        al = const offset_of!(NativeCall, al),
        target = const offset_of!(NativeCall, target),
        clear_errno = const offset_of!(NativeCall, clear_errno),
        rax = const offset_of!(NativeCall, ret_rax),
        rdx = const offset_of!(NativeCall, ret_rdx),
        xmm0 = const offset_of!(NativeCall, ret_xmm0),
        xmm1 = const offset_of!(NativeCall, ret_xmm1),
        native_sp = const NATIVE_SP,
        errno = sym libc::__errno_location,
        throw = sym throw_pending_aligned,
        scan_sp = const SCAN_SP,
        stop = sym STOP,
        leave = sym upcalls::leave_native,
    )
}

/// A thunk that calls native code whose arguments are in registers.
macro_rules! plain_native_thunk {
    ($(#[$doc:meta])* $name:ident, $push:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                caller_is!(at_sp),
                "mov r11, [r15 + {hidden}]",
                $push,
                // Native code keeps this register, so the record before need not be read from the stack, where it has just been written.
                "mov rbx, r11",
                to_native_stack!(),
                "cmp qword ptr [r15 + {green}], 0",
                "jne 8f",
                // For functions with variable arguments: at most so many are in vector registers.
                "9: mov eax, 8",
                "mov [r15 + {scan_sp}], rsp",
                "mov byte ptr [r15 + {state}], {native}",
                "call r9",
                "cmp qword ptr [r15 + {green}], 0",
                "jne 11f",
                "12: mov byte ptr [r15 + {state}], {runtime}",
                "cmp dword ptr [rip + {stop}], 0",
                "jne 7f",
                "4: cmp qword ptr [r15 + {pending}], 0",
                "jne 5f",
                "mov [r15 + {record}], rbx",
                caller_is!(in_frame),
                "mov rbx, [rbp - 8]",
                "mov rsp, rbp",
                "mov byte ptr [r15 + {state}], {managed}",
                "pop rbp",
                caller_is!(at_sp),
                "ret",
                caller_is!(in_records),
                "7:",
                save_result!(),
                "mov rdi, r15",
                "mov [r15 + {scan_sp}], rsp",
                "call {leave}",
                restore_result!(),
                "jmp 4b",
                "5: mov rdi, r15",
                "jmp {throw}",
                "8: mov byte ptr [r15 + {state}], {runtime}",
                "sub rsp, 112",
                "mov [rsp + 64], rdi; mov [rsp + 72], rsi; mov [rsp + 80], rdx",
                "mov [rsp + 88], rcx; mov [rsp + 96], r8; mov [rsp + 104], r9",
                "movsd [rsp], xmm0; movsd [rsp + 8], xmm1",
                "movsd [rsp + 16], xmm2; movsd [rsp + 24], xmm3",
                "movsd [rsp + 32], xmm4; movsd [rsp + 40], xmm5",
                "movsd [rsp + 48], xmm6; movsd [rsp + 56], xmm7",
                "mov rdi, r15",
                "call {enter_green}",
                "movsd xmm0, [rsp]; movsd xmm1, [rsp + 8]",
                "movsd xmm2, [rsp + 16]; movsd xmm3, [rsp + 24]",
                "movsd xmm4, [rsp + 32]; movsd xmm5, [rsp + 40]",
                "movsd xmm6, [rsp + 48]; movsd xmm7, [rsp + 56]",
                "mov rdi, [rsp + 64]; mov rsi, [rsp + 72]; mov rdx, [rsp + 80]",
                "mov rcx, [rsp + 88]; mov r8, [rsp + 96]; mov r9, [rsp + 104]",
                "add rsp, 112",
                "jmp 9b",
                "11:",
                save_result!(),
                "mov rdi, r15",
                "call {leave_green}",
                restore_result!(),
                "jmp 12b",
                caller_is!(end),
                hidden = const HIDDEN,
                green = const GREEN,
                enter_green = sym upcalls::green_enter_native,
                leave_green = sym upcalls::green_leave_native,
                record = const RECORD,
                state = const STATE,
                runtime = const RUNTIME,
                managed = const MANAGED,
                native = const NATIVE,
                pending = const PENDING,
                native_sp = const NATIVE_SP,
                throw = sym throw_pending_aligned,
                scan_sp = const SCAN_SP,
                stop = sym STOP,
                leave = sym upcalls::leave_native,
            )
        }
    };
}

plain_native_thunk! {
    /// Calls native code whose arguments are in registers, as managed code passes them, too: r9 = its address, `hidden` = method. The result is where C leaves it.
    /// errno is not kept. The argument registers lie on the stack meanwhile: what they point to stays in place while native code runs.
    ///
    /// # Safety
    /// Entered only as its description says, by generated code. No argument is in r9 or on the stack.
    plain_native_thunk, push_exit!("1")
}

plain_native_thunk! {
    /// As [`plain_native_thunk`], where no argument is as wide as an address.
    ///
    /// # Safety
    /// As of [`plain_native_thunk`].
    scalar_native_thunk, push_exit_of_scalars!("1")
}

/// Native code calls a delegate: r10 = the delegate's [`Record`](crate::interop::marshal::reverse::Record). The record this
/// pushes lets pass one go on below the native frames.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn reverse_entry() {
    naked_asm!(
        caller_is!(in_records),
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 184",
        "mov [rsp + {ints}], rdi",
        "mov [rsp + {ints} + 8], rsi",
        "mov [rsp + {ints} + 16], rdx",
        "mov [rsp + {ints} + 24], rcx",
        "mov [rsp + {ints} + 32], r8",
        "mov [rsp + {ints} + 40], r9",
        "movsd [rsp + {sse}], xmm0",
        "movsd [rsp + {sse} + 8], xmm1",
        "movsd [rsp + {sse} + 16], xmm2",
        "movsd [rsp + {sse} + 24], xmm3",
        "movsd [rsp + {sse} + 32], xmm4",
        "movsd [rsp + {sse} + 40], xmm5",
        "movsd [rsp + {sse} + 48], xmm6",
        "movsd [rsp + {sse} + 56], xmm7",
        "lea rax, [rbp + 16]",
        "mov [rsp + {stack}], rax",
        "mov r12, r10",
        "mov rdi, r10",
        "mov rsi, rsp",
        "call {prepare}",
        "test rax, rax",
        "jz 6f",
        "mov r15, rax",
        // the state to go back to, and what the native frames below were to be scanned from
        "mov [rbp - 56], rdx",
        "mov rax, [r15 + {scan_sp}]",
        "mov [rbp - 48], rax",
        "mov rax, [r15 + {native_sp}]",
        "mov [rbp - 64], rax",
        "push 0",
        "push 0",
        "push rbp",
        "push rbp",
        "push {kind}",
        "push qword ptr [r15 + {record}]",
        "mov [r15 + {record}], rsp",
        "mov rdi, [rsp + 48 + {delegate}]",
        "lea rsi, [rsp + 48]",
        to_managed_stack!(),
        "mov byte ptr [r15 + {state}], {managed}",
        "call qword ptr [r12]",
        // The stack pointer first: a thread in Managed state that is stopped on the managed stack is scanned from `native_sp` up.
        "lea rsp, [rbp - 272]",
        "mov rax, [rbp - 64]",
        "mov [r15 + {native_sp}], rax",
        "mov rax, [rbp - 48]",
        "mov [r15 + {scan_sp}], rax",
        "mov rax, [rbp - 56]",
        "mov byte ptr [r15 + {state}], al",
        "mov r11, [rsp]",
        "mov [r15 + {record}], r11",
        "add rsp, 48",
        "test eax, {for_the_call}",
        "jnz 7f",
        "6: mov rax, [rsp + {ret_int}]",
        "mov rdx, [rsp + {ret_int} + 8]",
        "movsd xmm0, [rsp + {ret_sse}]",
        "movsd xmm1, [rsp + {ret_sse} + 8]",
        "lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        "7: mov rdi, rax",
        "call {finish}",
        "jmp 6b",
        caller_is!(end),
        ints = const offset_of!(ReverseCall, int_regs),
        sse = const offset_of!(ReverseCall, sse_regs),
        stack = const offset_of!(ReverseCall, stack),
        delegate = const offset_of!(ReverseCall, delegate),
        ret_int = const offset_of!(ReverseCall, ret_int),
        ret_sse = const offset_of!(ReverseCall, ret_sse),
        kind = const RecordKind::NativeEntry as usize,
        record = const RECORD,
        state = const STATE,
        managed = const MANAGED,
        scan_sp = const SCAN_SP,
        managed_base = const MANAGED_BASE,
        native_sp = const NATIVE_SP,
        prepare = sym upcalls::prepare_reverse_call,
        finish = sym upcalls::finish_reverse_call,
        for_the_call = const upcalls::FOR_THE_CALL | upcalls::OF_GREEN | upcalls::OF_DOMAIN,
    )
}
