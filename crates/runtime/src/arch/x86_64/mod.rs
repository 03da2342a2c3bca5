//! The thunks between managed code and ours, x86-64.
//!
//! Managed code keeps the context in r15, passes arguments as `CallConv::Tail` does (rdi rsi rdx rcx r8 r9,
//! xmm0-7, the rest on the stack, popped by the callee) and may have live values in rbx, r12-r14 only where the
//! callee preserves them.
//!
//! # Invariants
//! * Every thunk that leaves managed code pushes the callee-saved and the integer argument registers, then a
//!   [`Record`](vervet_abi::context::Record), and links it, before it changes the state; the record's sp, fp and
//!   pc are those of the managed frame that left.
//! * Frame pointers chain through every thunk.
//! * State changes are plain stores. Who goes from Runtime to Managed tests the stop word first; who leaves Native stores
//!   Runtime and then tests it (`world/transitions.rs`). What the thunk has in registers then lies on the stack.
//! * `ThreadContext::scan_sp` is stored before the state becomes Native.
//! * A stub that reads `ThreadContext::hidden` reads it first.
//!
//! [`stubs`]: the small pieces of code that lead to a thunk; [`blocks`]: block moves and fills.
pub mod blocks;
mod interrupts;
mod stubs;

pub use interrupts::*;
pub use stubs::*;

use crate::safepoint::transitions::{STOP, STOPPING, leave_native};
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::context::{RecordKind, State, ThreadContext};
use vervet_abi::native_call::{NativeCall, ReverseCall};

const STATE: usize = offset_of!(ThreadContext, state);
const RECORD: usize = offset_of!(ThreadContext, record);
const PENDING: usize = offset_of!(ThreadContext, pending);
const CRITICAL: usize = offset_of!(ThreadContext, critical);
const HIDDEN: usize = offset_of!(ThreadContext, hidden);
const SCAN_SP: usize = offset_of!(ThreadContext, scan_sp);
const LAST_ERROR: usize = offset_of!(ThreadContext, last_error);
const MANAGED: usize = State::Managed as usize;
const RUNTIME: usize = State::Runtime as usize;
const NATIVE: usize = State::Native as usize;
/// A frame of so many bytes is left before StackOverflowException is made: an eighth of the stack guard.
const LARGE_FRAME: usize = 32 << 10;

/// Pushes what every exit pushes: rbp frame, callee-saved registers, integer argument registers (rdi at
/// [rbp-80]), and the record (at rbp-128). r11 = method.
macro_rules! push_exit {
    ($kind:literal) => {
        concat!(
            "
    push rbp
    mov rbp, rsp
    push rbx
    push r12
    push r13
    push r14
    push r9
    push r8
    push rcx
    push rdx
    push rsi
    push rdi
    push r11
    push qword ptr [rbp + 8]
    push qword ptr [rbp]
    lea r11, [rbp + 16]
    push r11
    push ",
            $kind,
            "
    push qword ptr [r15 + {record}]
    mov [r15 + {record}], rsp
"
        )
    };
}

/// Pushes the callee-saved registers of the C calling convention, but for rbp.
macro_rules! push_callee_saved {
    () => {
        "
    push rbx
    push r12
    push r13
    push r14
    push r15
"
    };
}
/// Undoes [`push_callee_saved`].
macro_rules! pop_callee_saved {
    () => {
        "
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbx
"
    };
}

/// Saves the vector argument registers at rsp (128 bytes).
macro_rules! save_vectors {
    () => {
        "
    movups [rsp], xmm0
    movups [rsp + 16], xmm1
    movups [rsp + 32], xmm2
    movups [rsp + 48], xmm3
    movups [rsp + 64], xmm4
    movups [rsp + 80], xmm5
    movups [rsp + 96], xmm6
    movups [rsp + 112], xmm7
"
    };
}

/// Undoes [`save_vectors`] and [`push_exit`], becomes managed and goes on at the code in rax with the registers as the
/// caller left them; label 5 raises what is pending instead.
macro_rules! go_on_at_rax {
    () => {
        "
    test byte ptr [rip + {stop}], {stopping}
    jz 6f
    push rax
    push rax
    mov rdi, r15
    call {park}
    pop rax
    pop rax
    6: movups xmm0, [rsp]
    movups xmm1, [rsp + 16]
    movups xmm2, [rsp + 32]
    movups xmm3, [rsp + 48]
    movups xmm4, [rsp + 64]
    movups xmm5, [rsp + 80]
    movups xmm6, [rsp + 96]
    movups xmm7, [rsp + 112]
    mov rdi, [rbp - 80]
    mov rsi, [rbp - 72]
    mov rdx, [rbp - 64]
    mov rcx, [rbp - 56]
    mov r8, [rbp - 48]
    mov r9, [rbp - 40]
    mov r11, [rbp - 128]
    mov [r15 + {record}], r11
    mov byte ptr [r15 + {state}], {managed}
    mov rsp, rbp
    pop rbp
    jmp rax
    5: mov rdi, r15
    lea rsp, [rbp - 128]
    jmp {throw}
"
    };
}

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
        "cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        "test byte ptr [rip + {stop}], {stopping}",
        "jnz 7f",
        "6: mov r11, [rbp - 128]",
        "mov [r15 + {record}], r11",
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rcx, rdx",
        "mov r10, rbx",
        "mov rbx, [rbp - 8]",
        "mov r12, [rbp - 16]",
        "mov rsp, rbp",
        "pop rbp",
        "test r10, r10",
        "jnz 4f",
        "ret",
        "4: pop r11",
        "add rsp, r10",
        "jmp r11",
        // the results wait on the stack
        "7: push rax",
        "push rdx",
        "sub rsp, 32",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "mov rdi, r15",
        "call {park}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "add rsp, 32",
        "pop rdx",
        "pop rax",
        "jmp 6b",
        "5: mov rdi, r15",
        "lea rsp, [rbp - 128]",
        "jmp {throw}",
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        pending = const PENDING,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}

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
        "mov [rdi + {scan_sp}], rsp",
        "call {leave}",
        "lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        scan_sp = const SCAN_SP,
        leave = sym leave_native,
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
        "mov byte ptr [rbx + {state}], {native}",
        "call rax",
        "mov byte ptr [rbx + {state}], {runtime}",
        "cmp dword ptr [rip + {stop}], 0",
        "jne 3f",
        "2: lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        "3: mov [rbx + {scan_sp}], rsp",
        "mov rdi, rbx",
        "call {leave}",
        "jmp 2b",
        scan_sp = const SCAN_SP,
        state = const STATE,
        native = const NATIVE,
        runtime = const RUNTIME,
        stop = sym STOP,
        leave = sym leave_native,
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
/// Native until [`leave_safe_region`](crate::threads::attach::leave_safe_region) gets the word this returns.
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
        f = sym crate::threads::attach::enter_native,
    )
}

/// rsp is 16-aligned here; a function expects it 8 off.
#[unsafe(naked)]
unsafe extern "C" fn throw_pending_aligned() {
    naked_asm!("call {f}", "ud2", f = sym crate::exceptions::throw::throw_pending)
}

/// A leaf helper: rax = function. Runs with `critical` set. The suspend signal that came meanwhile has had no effect: if the
/// world is to be stopped, the thread leaves managed code as an internal call does and waits. Otherwise a loop that does
/// little but call a leaf could put the stop off many times.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn leaf_thunk() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov byte ptr [r15 + {critical}], 1",
        "call rax",
        "mov byte ptr [r15 + {critical}], 0",
        "test byte ptr [rip + {stop}], {stopping}",
        "jnz 3f",
        "pop rbp",
        "ret",
        // the stack as it was on entry; the results wait on it
        "3: pop rbp",
        "xor r11d, r11d",
        push_exit!("0"),
        "mov byte ptr [r15 + {state}], {runtime}",
        "push rax",
        "push rdx",
        "sub rsp, 16",
        "movups [rsp], xmm0",
        "mov rdi, r15",
        "call {park}",
        "movups xmm0, [rsp]",
        "add rsp, 16",
        "pop rdx",
        "pop rax",
        "mov r11, [rbp - 128]",
        "mov [r15 + {record}], r11",
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        critical = const CRITICAL,
        stop = sym STOP,
        stopping = const STOPPING,
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        park = sym park,
    )
}

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
        "sub rsp, 144",
        save_vectors!(),
        "mov r11, [r15 + {hidden}]",
        "mov [rsp + 128], r11",
        "mov byte ptr [r15 + {state}], {runtime}",
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
        f = sym crate::code::prestub::compile_for_call,
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
        "sub rsp, 128",
        save_vectors!(),
        "mov byte ptr [r15 + {state}], {runtime}",
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
        f = sym crate::code::prestub::resolve_interface_call,
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
        "and rsp, -16",
        "mov esi, [rbp - 80]",
        "mov rdi, r15",
        "call {f}",
        "ud2",
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        f = sym crate::exceptions::traps::throw_trap,
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
        "mov rdi, r15",
        "and rsp, -16",
        "call {overflow}",
        "ud2",
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        overflow = sym crate::exceptions::traps::stack_overflow,
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
        "sub rsp, 144",
        save_vectors!(),
        "mov r11, [r15 + {hidden}]",
        "mov [rsp + 128], r11",
        "call {serve}",
        "test rax, rax",
        "jz 5f",
        "mov rax, [rsp + 128]",
        go_on_at_rax!(),
        "4: and rsp, -16",
        "call {overflow}",
        "ud2",
        record = const RECORD,
        hidden = const HIDDEN,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        true_limit = const offset_of!(ThreadContext, true_limit),
        large = const LARGE_FRAME,
        overflowed = sym overflowed,
        serve = sym crate::threads::interrupts::at_prologue,
        overflow = sym crate::exceptions::traps::stack_overflow,
        throw = sym throw_pending_aligned,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}

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
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 8",
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
        "2: mov byte ptr [r15 + {state}], {managed}",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov rcx, r15",
        "call rax",
        "mov byte ptr [r15 + {state}], {runtime}",
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
        record = const RECORD,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        entry = const RecordKind::Entry as usize,
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
        "mov rsp, rsi",
        "mov rbp, rdx",
        "mov rax, rcx",
        "mov rdx, r8",
        "mov r15, r9",
        "mov byte ptr [r15 + {state}], {managed}",
        "jmp rdi",
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

/// Calls native code as the block says: rdi = block, rsi = method. State is Native during the call; errno goes to
/// the context before Native is left.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn native_thunk() {
    naked_asm!(
        "mov r11, rsi",
        push_exit!("1"),
        "mov rbx, rdi",
        "cmp qword ptr [rbx + {clear_errno}], 0",
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
        "inc rax",
        "jmp 2b",
        "3: mov rdi, [rbx + {ints}]",
        "mov rsi, [rbx + {ints} + 8]",
        "mov rdx, [rbx + {ints} + 16]",
        "mov rcx, [rbx + {ints} + 24]",
        "mov r8, [rbx + {ints} + 32]",
        "mov r9, [rbx + {ints} + 40]",
        "movsd xmm0, [rbx + {sse}]",
        "movsd xmm1, [rbx + {sse} + 8]",
        "movsd xmm2, [rbx + {sse} + 16]",
        "movsd xmm3, [rbx + {sse} + 24]",
        "movsd xmm4, [rbx + {sse} + 32]",
        "movsd xmm5, [rbx + {sse} + 40]",
        "movsd xmm6, [rbx + {sse} + 48]",
        "movsd xmm7, [rbx + {sse} + 56]",
        "mov rax, [rbx + {al}]",
        "mov r11, [rbx + {target}]",
        "mov [r15 + {scan_sp}], rsp",
        "mov byte ptr [r15 + {state}], {native}",
        "call r11",
        "mov [rbx + {rax}], rax",
        "mov [rbx + {rdx}], rdx",
        "movsd [rbx + {xmm0}], xmm0",
        "movsd [rbx + {xmm1}], xmm1",
        "lea rsp, [rbp - 128]",
        "call {errno}",
        "mov eax, [rax]",
        "mov [r15 + {last_error}], eax",
        "mov byte ptr [r15 + {state}], {runtime}",
        "cmp dword ptr [rip + {stop}], 0",
        "jne 7f",
        "4: cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        "mov r11, [rbp - 128]",
        "mov [r15 + {record}], r11",
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rbx, [rbp - 8]",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        "7: mov rdi, r15",
        "mov [r15 + {scan_sp}], rsp",
        "call {leave}",
        "jmp 4b",
        "5: mov rdi, r15",
        "jmp {throw}",
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
        errno = sym libc::__errno_location,
        throw = sym throw_pending_aligned,
        scan_sp = const SCAN_SP,
        stop = sym STOP,
        leave = sym leave_native,
    )
}

/// Native code calls a delegate: r10 = the delegate's [`Record`](crate::interop::marshal::reverse::Record). The record this
/// pushes lets pass one go on below the native frames.
///
/// # Safety
/// Entered only as its description says, by generated code or by the runtime.
#[unsafe(naked)]
pub unsafe extern "C" fn reverse_entry() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 168",
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
        "push 0",
        "push 0",
        "push rbp",
        "push rbp",
        "push {kind}",
        "push qword ptr [r15 + {record}]",
        "mov [r15 + {record}], rsp",
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rdi, [r12]",
        "mov rdi, [rdi]",
        "lea rsi, [rsp + 48]",
        "call qword ptr [r12 + 8]",
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
        "7: call {finish}",
        "jmp 6b",
        ints = const offset_of!(ReverseCall, int_regs),
        sse = const offset_of!(ReverseCall, sse_regs),
        stack = const offset_of!(ReverseCall, stack),
        ret_int = const offset_of!(ReverseCall, ret_int),
        ret_sse = const offset_of!(ReverseCall, ret_sse),
        kind = const RecordKind::NativeEntry as usize,
        record = const RECORD,
        state = const STATE,
        managed = const MANAGED,
        scan_sp = const SCAN_SP,
        prepare = sym crate::interop::marshal::reverse::prepare,
        finish = sym crate::interop::marshal::reverse::finish,
        for_the_call = const crate::interop::marshal::reverse::FOR_THE_CALL,
    )
}
