//! How a thread that was stopped between two instructions is made to call the runtime from there.
//!
//! # Invariants
//! * The stub saves whatever managed code may have in registers, and the flags, where the collector looks, and restores
//!   all of it: the code goes on as if nothing had happened, unless an exception is raised.
//! * Its record says that the pc is an instruction's address, not a return address (`method` is 1).
use super::native::park;
use super::{MANAGED, NATIVE_SP, PENDING, RECORD, RUNTIME, STATE};
use crate::arch::upcalls;
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;

/// Where the thread was stopped.
///
/// # Safety
/// The registers are those of a thread in a handler of the runtime's.
pub unsafe fn program_counter(uc: &libc::ucontext_t) -> usize {
    uc.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

/// Where its stack ended.
pub fn stack_pointer(uc: &libc::ucontext_t) -> usize {
    uc.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

/// Says whether the processor raises SIGTRAP behind the next instruction.
pub fn set_trap_flag(uc: &mut libc::ucontext_t, is_on: bool) {
    const TRAP_FLAG: i64 = 0x100;
    let flags = &mut uc.uc_mcontext.gregs[libc::REG_EFL as usize];
    *flags = if is_on {
        *flags | TRAP_FLAG
    } else {
        *flags & !TRAP_FLAG
    };
}

/// Changes the registers so that the thread calls [`interrupt_stub`] from where it was stopped.
///
/// # Safety
/// The thread is in a handler of the runtime's that interrupted managed code, which keeps nothing below its stack pointer; its frame is whole.
pub unsafe fn call_interrupt_stub(uc: &mut libc::ucontext_t) {
    // The stub would save the flag, and set it again at its end.
    set_trap_flag(uc, false);
    let regs = &mut uc.uc_mcontext.gregs;
    let sp = regs[libc::REG_RSP as usize] as usize - 8;
    // SAFETY: the word below the stack pointer is free, and the stub has room under it.
    unsafe { *(sp as *mut usize) = regs[libc::REG_RIP as usize] as usize };
    regs[libc::REG_RSP as usize] = sp as i64;
    regs[libc::REG_RIP as usize] = interrupt_stub as *const () as i64;
}

/// "Called" between any two instructions of managed code, with the address of the second as return address.
///
/// # Safety
/// Entered only as its description says.
#[unsafe(naked)]
unsafe extern "C" fn interrupt_stub() {
    naked_asm!(
        caller_is!(exact_at_sp),
        "push rbp",
        caller_is!(exact_at_sp_8),
        "mov rbp, rsp",
        caller_is!(exact_in_frame),
        "pushfq",
        "cld",
        "push rax",
        "push rbx",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "push r12",
        "push r13",
        "push r14",
        // the record: method, pc, fp, sp, kind, previous
        "push 1",
        "push qword ptr [rbp + 8]",
        "push qword ptr [rbp]",
        "lea rax, [rbp + 16]",
        "push rax",
        "push 2",
        "push qword ptr [r15 + {record}]",
        "mov [r15 + {record}], rsp",
        caller_is!(in_records),
        "mov rbx, rsp",
        "mov byte ptr [r15 + {state}], {runtime}",
        to_native_stack!(),
        "sub rsp, 256",
        "and rsp, -16",
        store_all_vectors!(),
        "mov rdi, r15",
        "call {serve}",
        "cmp qword ptr [r15 + {pending}], 0",
        "jne 5f",
        "test byte ptr [rip + {stop}], {stopping}",
        "jz 6f",
        "mov rdi, r15",
        "call {park}",
        "6:",
        load_all_vectors!(),
        "mov rax, [rbx]",
        "mov [r15 + {record}], rax",
        caller_is!(exact_in_frame),
        "lea rsp, [rbx + 48]",
        "mov byte ptr [r15 + {state}], {managed}",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rbx",
        "pop rax",
        "popfq",
        "pop rbp",
        caller_is!(exact_at_sp),
        "ret",
        caller_is!(in_records),
        "5: mov rdi, r15",
        "call {throw}",
        "ud2",
        caller_is!(end),
        record = const RECORD,
        pending = const PENDING,
        state = const STATE,
        runtime = const RUNTIME,
        managed = const MANAGED,
        native_sp = const NATIVE_SP,
        serve = sym upcalls::interrupted_at_instruction,
        throw = sym upcalls::throw_pending,
        stop = sym STOP,
        stopping = const STOPPING,
        park = sym park,
    )
}
