//! Moving and filling blocks without references (`cpblk`, `initblk`, large structs), of any length.
//!
//! A leaf helper runs with `critical` set, so a stop waits for it: these stubs call libc for [`STEP`] bytes at a time
//! and drop the flag in between. Between two steps the thread can be stopped at any instruction. While the world is being stopped it stays there, and behind the
//! last step as well: in a program that copies all the time the signal would hardly find it otherwise. The ends of the block
//! are then in callee-saved registers, as addresses inside the objects or one past them, which pins those.
//!
//! # Invariants
//! Entered and left in Managed state with r15 the context; the frame chain through rbp holds. A stub changes what the
//! C calling convention lets it change.
use crate::safepoint::stop_word::{STOP, STOPPING};
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::ThreadContext;

/// Bytes between two moments at which the thread can be stopped: well under 10 us.
const STEP: usize = 16 << 10;
const CRITICAL: usize = offset_of!(ThreadContext, critical);
const LEAF_FP: usize = offset_of!(ThreadContext, leaf_fp);
const IN_LEAF: usize = vervet_abi::context::IN_LEAF as usize;

/// The code address of MemMove: rdi to, rsi from, rdx bytes.
pub fn move_stub() -> usize {
    stub(move_block as *const () as usize, "MemMove")
}
/// The code address of MemSet: rdi to, esi byte, rdx bytes.
pub fn set_stub() -> usize {
    stub(set_block as *const () as usize, "MemSet")
}
fn stub(target: usize, name: &str) -> usize {
    // jmp [rip]: generated code reaches the arena only.
    let mut code = vec![0xFF, 0x25, 0, 0, 0, 0];
    code.extend(target.to_le_bytes());
    crate::code::arena::place_stub(code, || format!("(helper) {name}")).expect("room at start-up")
}

/// Backward if `to` lies inside `[from, from + bytes)`, forward otherwise.
///
/// ```text
/// critical = IN_LEAF
/// memmove(a step)
/// critical = 0
/// while the world is being stopped { pause }      ; the signal finds the thread here
/// ```
///
/// The wait ends with the stop: the handler holds the thread until the world runs, and the word is 0 then.
///
/// # Safety
/// Entered only by generated code, with two valid ranges.
#[unsafe(naked)]
unsafe extern "C" fn move_block() {
    naked_asm!(
        caller_is!(at_sp),
        "push rbp",
        caller_is!(at_sp_8),
        "mov rbp, rsp",
        caller_is!(in_frame),
        "mov [r15 + {leaf_fp}], rbp",
        "cmp rdx, {step}",
        "ja 2f",
        "mov byte ptr [r15 + {critical}], {in_leaf}",
        "call {memmove}",
        "mov byte ptr [r15 + {critical}], 0",
        "20: test byte ptr [rip + {stop}], {stopping}",
        "jz 21f",
        "pause",
        "jmp 20b",
        "21:",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(in_frame),
        "2:",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "mov rbx, rdi",
        "mov r12, rsi",
        "mov r13, rdx",
        "mov rax, rdi",
        "sub rax, rsi",
        "cmp rax, rdx",
        "jb 4f",
        // Forward: rbx, r12 the next bytes, r13 how many are left.
        "3:",
        "mov r14d, {step}",
        "cmp r13, r14",
        "cmovb r14, r13",
        "mov rdi, rbx",
        "mov rsi, r12",
        "mov rdx, r14",
        "mov byte ptr [r15 + {critical}], {in_leaf}",
        "call {memmove}",
        "mov byte ptr [r15 + {critical}], 0",
        "6: test byte ptr [rip + {stop}], {stopping}",
        "jz 7f",
        "pause",
        "jmp 6b",
        "7:",
        "add rbx, r14",
        "add r12, r14",
        "sub r13, r14",
        "jnz 3b",
        "jmp 5f",
        // Backward: rbx, r12 the ranges, r13 how many are left.
        "4:",
        "mov r14d, {step}",
        "cmp r13, r14",
        "cmovb r14, r13",
        "sub r13, r14",
        "lea rdi, [rbx + r13]",
        "lea rsi, [r12 + r13]",
        "mov rdx, r14",
        "mov byte ptr [r15 + {critical}], {in_leaf}",
        "call {memmove}",
        "mov byte ptr [r15 + {critical}], 0",
        "8: test byte ptr [rip + {stop}], {stopping}",
        "jz 9f",
        "pause",
        "jmp 8b",
        "9:",
        "test r13, r13",
        "jnz 4b",
        "5:",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(end),
        leaf_fp = const LEAF_FP,
        in_leaf = const IN_LEAF,
        step = const STEP,
        critical = const CRITICAL,
        memmove = sym move_step,
        stop = sym STOP,
        stopping = const STOPPING,
    )
}

/// From the start to the end, with the same wait between two steps as [`move_block`] has.
///
/// # Safety
/// Entered only by generated code, with a valid range.
#[unsafe(naked)]
unsafe extern "C" fn set_block() {
    naked_asm!(
        caller_is!(at_sp),
        "push rbp",
        caller_is!(at_sp_8),
        "mov rbp, rsp",
        caller_is!(in_frame),
        "mov [r15 + {leaf_fp}], rbp",
        "cmp rdx, {step}",
        "ja 2f",
        "mov byte ptr [r15 + {critical}], {in_leaf}",
        "call {memset}",
        "mov byte ptr [r15 + {critical}], 0",
        "20: test byte ptr [rip + {stop}], {stopping}",
        "jz 21f",
        "pause",
        "jmp 20b",
        "21:",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(in_frame),
        "2:",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "mov rbx, rdi",
        "mov r12d, esi",
        "mov r13, rdx",
        "3:",
        "mov r14d, {step}",
        "cmp r13, r14",
        "cmovb r14, r13",
        "mov rdi, rbx",
        "mov esi, r12d",
        "mov rdx, r14",
        "mov byte ptr [r15 + {critical}], {in_leaf}",
        "call {memset}",
        "mov byte ptr [r15 + {critical}], 0",
        "6: test byte ptr [rip + {stop}], {stopping}",
        "jz 7f",
        "pause",
        "jmp 6b",
        "7:",
        "add rbx, r14",
        "sub r13, r14",
        "jnz 3b",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        caller_is!(at_sp),
        "ret",
        caller_is!(end),
        leaf_fp = const LEAF_FP,
        in_leaf = const IN_LEAF,
        step = const STEP,
        critical = const CRITICAL,
        memset = sym set_step,
        stop = sym STOP,
        stopping = const STOPPING,
    )
}

unsafe extern "C" fn move_step(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: a part of the ranges that generated code passed.
    unsafe { std::ptr::copy(from, to, n) }
}
unsafe extern "C" fn set_step(to: *mut u8, byte: i32, n: usize) {
    // SAFETY: a part of the range that generated code passed, which it may write.
    unsafe { to.write_bytes(byte as u8, n) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::asm;

    /// Calls a stub as generated code does, with a context of zeros in the pinned register.
    fn call(code: unsafe extern "C" fn(), to: *mut u8, second: usize, n: usize) {
        // SAFETY: a context of zeros is valid; the callers pass valid ranges.
        unsafe {
            let mut context: ThreadContext = std::mem::zeroed();
            asm!(
                "push r15", "push r15", "mov r15, rcx", "call rax", "pop r15", "pop r15",
                inout("rcx") &raw mut context => _, inout("rax") code => _,
                inout("rdi") to => _, inout("rsi") second => _, inout("rdx") n => _,
                clobber_abi("C"),
            );
            assert_eq!(context.critical, 0);
        }
    }

    #[test]
    fn blocks_of_any_length_move_in_the_right_direction() {
        for n in [0, 1, STEP, STEP + 1, 3 * STEP, 3 * STEP + 77] {
            for (from, to) in [
                (0, 5),
                (5, 0),
                (0, 2 * STEP),
                (2 * STEP, 0),
                (9, 9),
                (0, STEP),
            ] {
                let mut memory: Vec<u8> = (0..8 * STEP).map(|i| (i * 7 % 251) as u8).collect();
                let mut want = memory.clone();
                want.copy_within(from..from + n, to);
                let p = memory.as_mut_ptr();
                // SAFETY: both ranges lie inside.
                call(
                    move_block,
                    unsafe { p.add(to) },
                    unsafe { p.add(from) } as usize,
                    n,
                );
                assert!(memory == want, "{n} bytes from {from} to {to}");
            }
        }
    }

    #[test]
    fn blocks_of_any_length_are_filled() {
        for n in [0, 1, STEP, STEP + 1, 3 * STEP + 77] {
            let mut memory = vec![1u8; 5 * STEP];
            call(set_block, memory.as_mut_ptr(), 0x1AB, n);
            assert!(memory[..n].iter().all(|b| *b == 0xAB) && memory[n..].iter().all(|b| *b == 1));
        }
    }
}
