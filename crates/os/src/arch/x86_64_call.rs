//! The system call that an interrupted thread has just ended, or is about to begin, as its registers and the code around its program counter show it.
//!
//! # Invariants
//! * Code is read by the kernel where it may lie on another page than the program counter, which the thread is about to execute: that page may be gone.
//! * The number of a call that has ended is told from the C library's code only, whose ways of writing a call are known: elsewhere the same bytes may be the end
//!   of a longer instruction, and the thread would make another call than the one it made.
use crate::c_library;

const SYSCALL: [u8; 2] = [0x0F, 0x05];
/// Bytes in front of `syscall` that are looked at.
const BEFORE: usize = 10;
const PAGE: usize = 4096;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    number: i64,
}

impl Call {
    /// The call that the thread has just ended, if its number can be told.
    ///
    /// # Safety
    /// The context is that of the calling handler.
    pub(crate) unsafe fn just_ended(context: &libc::ucontext_t) -> Option<Call> {
        let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        if !c_library::contains(pc) {
            return None;
        }
        let mut code = [0; BEFORE + SYSCALL.len()];
        read(pc.checked_sub(code.len())?, &mut code)?;
        let before = code.strip_suffix(&SYSCALL)?;
        let number = number(before)?;
        Some(Call { number })
    }
    /// What the call that the thread has just ended gave, whichever it was. None: it has ended none.
    ///
    /// # Safety
    /// The context is that of the calling handler.
    pub(crate) unsafe fn has_ended(context: &libc::ucontext_t) -> Option<i64> {
        let gregs = &context.uc_mcontext.gregs;
        let mut code = [0; SYSCALL.len()];
        read(
            (gregs[libc::REG_RIP as usize] as usize).checked_sub(code.len())?,
            &mut code,
        )?;
        (code == SYSCALL).then_some(gregs[libc::REG_RAX as usize])
    }
    /// The call that the thread is about to begin.
    ///
    /// # Safety
    /// The context is that of the calling handler.
    pub(crate) unsafe fn about_to_begin(context: &libc::ucontext_t) -> Option<Call> {
        let gregs = &context.uc_mcontext.gregs;
        let mut code = [0; SYSCALL.len()];
        read(gregs[libc::REG_RIP as usize] as usize, &mut code)?;
        let number = gregs[libc::REG_RAX as usize];
        (code == SYSCALL).then_some(Call { number })
    }
    /// Its number.
    pub(crate) fn number(self) -> i64 {
        self.number
    }
    /// Its second argument.
    pub(crate) fn second(self, context: &libc::ucontext_t) -> i64 {
        context.uc_mcontext.gregs[libc::REG_RSI as usize]
    }
    /// What a call that has ended gave.
    pub(crate) fn result(self, context: &libc::ucontext_t) -> i64 {
        context.uc_mcontext.gregs[libc::REG_RAX as usize]
    }
    /// The thread makes the call that it has just ended again: its arguments are still in the registers.
    pub(crate) fn put_back(self, context: &mut libc::ucontext_t) {
        let gregs = &mut context.uc_mcontext.gregs;
        gregs[libc::REG_RAX as usize] = self.number;
        gregs[libc::REG_RIP as usize] -= SYSCALL.len() as i64;
    }
    /// The call that the thread is about to begin ends at once with that result.
    pub(crate) fn end(self, context: &mut libc::ucontext_t, result: i64) {
        let gregs = &mut context.uc_mcontext.gregs;
        gregs[libc::REG_RAX as usize] = result;
        gregs[libc::REG_RIP as usize] += SYSCALL.len() as i64;
    }
}

/// Program counter and stack pointer of the interrupted code.
pub(crate) fn place(context: &libc::ucontext_t) -> (usize, usize) {
    let gregs = &context.uc_mcontext.gregs;
    let at = |register: i32| gregs[register as usize] as usize;
    (at(libc::REG_RIP), at(libc::REG_RSP))
}

/// The number of the call whose `syscall` follows these bytes.
///
/// ```text
/// b8 NN NN NN NN                    mov eax, N
/// 31 c0                             xor eax, eax
/// b8 NN NN NN NN  8b 7c 24 dd       mov eax, N;  mov edi, [rsp + d]
/// b8 NN NN NN NN  48 8b 74 24 dd    mov eax, N;  mov rsi, [rsp + d]
/// ```
fn number(before: &[u8]) -> Option<i64> {
    let without_load = match before {
        [front @ .., 0x8B, 0x7C, 0x24, _] if !ends_in_mov(before) => match front {
            // REX.W in front makes it another instruction.
            [.., 0x48] => return None,
            front => front,
        },
        [front @ .., 0x48, 0x8B, 0x74, 0x24, _] if !ends_in_mov(before) => front,
        all => all,
    };
    // A REX prefix in front makes it a load of r8, or one of 64 bits.
    match *without_load {
        [.., prefix, 0xB8, _, _, _, _] | [.., prefix, 0x31, 0xC0] if prefix & 0xF0 == 0x40 => None,
        [.., 0xB8, a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
        [.., 0x31, 0xC0] => Some(0),
        _ => None,
    }
}

/// Do the bytes end in `mov eax, N`, with a number that a call may have?
fn ends_in_mov(before: &[u8]) -> bool {
    matches!(before, [.., 0xB8, _, _, 0, 0])
}

/// Reads code; None: it is not there.
fn read(at: usize, into: &mut [u8]) -> Option<()> {
    if at % PAGE + into.len() < PAGE {
        // SAFETY: the program counter lies behind the bytes, at most at the page's last byte, or at their beginning: the page is there.
        unsafe { std::ptr::copy_nonoverlapping(at as *const u8, into.as_mut_ptr(), into.len()) };
        return Some(());
    }
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: at as *mut libc::c_void,
        iov_len: into.len(),
    };
    // SAFETY: the kernel writes into the slice only, and checks what it reads.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    (read == into.len() as isize).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_call_is_that_of_the_code_in_front() {
        let poll = [0xC3, 0x90, 0x90, 0x90, 0x90, 0xB8, 7, 0, 0, 0];
        assert_eq!(number(&poll), Some(7));
        let read = [0xB8, 7, 0, 0, 0, 0x90, 0x90, 0x90, 0x31, 0xC0];
        assert_eq!(number(&read), Some(0));
        let epoll_pwait = [0x90, 0xB8, 0x19, 1, 0, 0, 0x8B, 0x7C, 0x24, 4];
        assert_eq!(number(&epoll_pwait), Some(0x119));
        let send = [0xB8, 0x2C, 0, 0, 0, 0x48, 0x8B, 0x74, 0x24, 8];
        assert_eq!(number(&send), Some(0x2C));
        let wide = [0xB8, 0x2C, 0, 0, 0, 0x48, 0x8B, 0x7C, 0x24, 8];
        assert_eq!(number(&wide), None);
        let unknown = [0xB8, 7, 0, 0, 0, 0x44, 0x89, 0xC0, 0x89, 0xC0];
        assert_eq!(number(&unknown), None);
    }

    /// `xor r8d, r8d` and `mov r8d, N` end in the bytes that set eax.
    #[test]
    fn a_register_with_a_prefix_is_not_the_number() {
        let xor_r8 = [0xB8, 44, 0, 0, 0, 0x90, 0x90, 0x45, 0x31, 0xC0];
        assert_eq!(number(&xor_r8), None);
        let xor_r8_wide = [0xB8, 44, 0, 0, 0, 0x90, 0x90, 0x4D, 0x31, 0xC0];
        assert_eq!(number(&xor_r8_wide), None);
        let mov_r8 = [0x90, 0x90, 0x90, 0x90, 0x41, 0xB8, 7, 0, 0, 0];
        assert_eq!(number(&mov_r8), None);
        let before_load = [0x41, 0xB8, 7, 0, 0, 0, 0x8B, 0x7C, 0x24, 8];
        assert_eq!(number(&before_load), None);
    }
}
