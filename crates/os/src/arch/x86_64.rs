//! The system call of [`crate::interruptible`].
//!
//! # Invariants
//! From `vervet_os_call_begin` to `vervet_os_call_end` every register holds what it has at the beginning, but for the flags, and
//! rax, which the kernel puts back when it restarts a call; so a handler may send the thread from any place in between
//! back to the beginning. rbx, which the kernel leaves alone, holds the word's address.
use std::sync::atomic::AtomicU32;

std::arch::global_asm!(
    ".pushsection .text.vervet_os_call,\"ax\",@progbits",
    ".globl vervet_os_call",
    ".hidden vervet_os_call",
    ".type vervet_os_call,@function",
    ".balign 16",
    "vervet_os_call:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    ".cfi_offset rbx, -24",
    "mov rbx, rdi",
    "mov r11, rsi",
    "mov rax, [r11]",
    "mov rdi, [r11 + 8]",
    "mov rsi, [r11 + 16]",
    "mov rdx, [r11 + 24]",
    "mov r10, [r11 + 32]",
    "mov r8, [r11 + 40]",
    "mov r9, [r11 + 48]",
    ".hidden vervet_os_call_begin",
    ".globl vervet_os_call_begin",
    "vervet_os_call_begin:",
    "test dword ptr [rbx], {stop}",
    "jnz 2f",
    "syscall",
    ".hidden vervet_os_call_end",
    ".globl vervet_os_call_end",
    "vervet_os_call_end:",
    "3:",
    "pop rbx",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    "2:",
    "mov rax, -{eintr}",
    "jmp 3b",
    ".cfi_endproc",
    ".size vervet_os_call, .-vervet_os_call",
    ".popsection",
    stop = const crate::interruptible::STOP,
    eintr = const libc::EINTR,
);

unsafe extern "C" {
    /// Makes the call `call[0](call[1..])` unless the word has a bit of STOP; what the kernel gives.
    pub(crate) fn vervet_os_call(word: *const AtomicU32, call: *const [usize; 7]) -> isize;
    static vervet_os_call_begin: u8;
    static vervet_os_call_end: u8;
}

/// Sends an interrupted thread that has not made its call yet, or is to make it again, back to the beginning.
///
/// # Safety
/// `uc` is the record that the kernel passed to a handler on this thread.
pub(crate) unsafe fn begin_again(uc: *mut libc::c_void) {
    // SAFETY: the caller's promise; the symbols are labels of the code above.
    unsafe {
        let pc = &mut (*(uc as *mut libc::ucontext_t)).uc_mcontext.gregs[libc::REG_RIP as usize];
        let (begin, end) = (
            &raw const vervet_os_call_begin as i64,
            &raw const vervet_os_call_end as i64,
        );
        if *pc > begin && *pc < end {
            *pc = begin;
        }
    }
}
