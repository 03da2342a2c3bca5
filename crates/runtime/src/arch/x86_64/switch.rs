//! Switching between two native stacks: a carrier's and a green thread's.
//!
//! # How it works
//! A stack that is left ends with the address of the code that resumes it; below that address lies what this code needs. Who switches to the stack
//! takes the address off and jumps there.
//!
//! Returns are predicted from a small stack of the processor's, on which each call puts its return address. It knows nothing of a switch. So every jump
//! to a carrier and away from it leaves that stack as the last managed frames of a green thread have left it: the carrier makes no call and
//! no return that are not a pair. A thread that goes on in the same code as the last one finds its returns predicted.
//!
//! # Invariants
//! * A stack that is left has the callee-saved registers at the stack pointer that is stored, so a scan from there finds all that its code has in
//!   registers.
//! * The code that is left sees a call that returns, perhaps on another OS thread.
//! * While a green thread runs, the OS thread has that one's [`FloatModes`]; while the carrier runs, its own. Only [`run_thread`] exchanges
//!   them, and every way from a carrier to a green thread and back leads through it.
use crate::arch::upcalls;
use std::arch::{asm, naked_asm};
use std::mem::offset_of;
use vervet_abi::ThreadContext;
use vervet_sched::{Carrier, Outcome};

/// What is to be switched to.
#[derive(Debug)]
#[repr(C)]
pub struct Target {
    /// The carrier's stack pointer, while the thread runs.
    pub carrier_sp: usize,
    /// The thread's stack pointer.
    pub sp: usize,
    /// How the thread computes: loaded before it runs, stored when it has left.
    pub modes: *mut FloatModes,
    /// How the carrier computes, from its start to its end: its own code computes with integers, and changes nothing.
    pub carrier_modes: FloatModes,
}
const CARRIER_SP: usize = offset_of!(Target, carrier_sp);
const TARGET_SP: usize = offset_of!(Target, sp);
const MODES: usize = offset_of!(Target, modes);
const CARRIER_MXCSR: usize = offset_of!(Target, carrier_modes) + MXCSR;
const CARRIER_X87: usize = offset_of!(Target, carrier_modes) + X87;

/// Leaves this stack, whose pointer is stored at `save`, and goes on where the stack with pointer `to` was left.
///
/// # Safety
/// `to` was stored by a function of this file or made by [`first_frame`], and nobody has gone on there since. The thread is in Runtime state.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(_save: *mut usize, _to: usize) {
    naked_asm!(
        "push rbp",
        push_callee_saved!(),
        "lea rcx, [rip + 2f]",
        "push rcx",
        "mov [rdi], rsp",
        "mov rax, rsi",
        resume_rax!(),
        "2:",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
    )
}

/// Runs green thread `id` on the calling carrier, until it leaves: its modes are loaded, and are stored again when it has left, when the carrier's are
/// loaded. (A load takes longer than a look, and nearly all threads have the same modes.)
///
/// # Safety
/// The calling thread is that carrier, which holds a processor and was told to run the thread.
#[inline(always)]
pub unsafe fn run_thread(carrier: *mut Carrier, id: u32) -> Outcome {
    let outcome: u8;
    // SAFETY: the code preserves what a function of the C convention preserves, and goes on behind the block. What it calls returns an `Outcome`.
    unsafe {
        asm!(
            // A call whose return is a jump: see the module.
            "lea rcx, [rip + 2f]",
            "push rcx",
            "jmp {run}",
            "2:",
            run = sym run_on_stack,
            in("rdi") carrier,
            in("esi") id,
            lateout("al") outcome,
            clobber_abi("C"),
        );
        std::mem::transmute::<u8, Outcome>(outcome)
    }
}

/// The body of [`run_thread`]: rdi = the carrier, esi = the thread, the address to go on at on the stack.
///
/// # Safety
/// Entered only as its description says.
#[unsafe(naked)]
unsafe extern "C" fn run_on_stack() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        push_callee_saved!(),
        "sub rsp, 8",
        "call {enter}",
        "test rax, rax",
        "jz 6f",
        "mov r12, rax",
        "mov r13, [rax + {modes}]",
        "mov eax, [r13 + {mxcsr}]",
        "cmp eax, [r12 + {carrier_mxcsr}]",
        "je 2f",
        "ldmxcsr [r13 + {mxcsr}]",
        "2: movzx eax, word ptr [r13 + {x87}]",
        "cmp ax, [r12 + {carrier_x87}]",
        "je 3f",
        "fldcw [r13 + {x87}]",
        "3: push rbp",
        "push r12",
        "lea rcx, [rip + 4f]",
        "push rcx",
        "mov [r12 + {carrier_sp}], rsp",
        "mov rax, [r12 + {sp}]",
        resume_rax!(),
        "4: pop r12",
        "pop rbp",
        "mov r13, [r12 + {modes}]",
        "stmxcsr [r13 + {mxcsr}]",
        "fnstcw [r13 + {x87}]",
        "mov eax, [r12 + {carrier_mxcsr}]",
        "cmp eax, [r13 + {mxcsr}]",
        "je 5f",
        "ldmxcsr [r12 + {carrier_mxcsr}]",
        "5: movzx eax, word ptr [r12 + {carrier_x87}]",
        "cmp ax, [r13 + {x87}]",
        "je 7f",
        "fldcw [r12 + {carrier_x87}]",
        "7: call {leave}",
        "mov edx, eax",
        "6: mov eax, edx",
        "lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "pop rcx",
        "jmp rcx",
        mxcsr = const MXCSR,
        x87 = const X87,
        modes = const MODES,
        carrier_mxcsr = const CARRIER_MXCSR,
        carrier_x87 = const CARRIER_X87,
        carrier_sp = const CARRIER_SP,
        sp = const TARGET_SP,
        enter = sym upcalls::enter_green,
        leave = sym upcalls::leave_green,
    )
}

/// What native code can set of how a thread computes: MXCSR with its flags, and the control word of the x87 unit. (The x87 unit's flags are not kept.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FloatModes {
    /// All of MXCSR: the rounding and masks of SSE, and the flags that operations have left.
    mxcsr: u32,
    /// The control word of the x87 unit, in the lower half: `fnstcw` stores 16 bits.
    x87: u32,
}
impl FloatModes {
    /// Those of a program that has set none: all exceptions masked, results rounded to the nearest, x87 results to 64 bits.
    pub const DEFAULT: FloatModes = FloatModes {
        mxcsr: 0x1F80,
        x87: 0x037F,
    };
    /// The calling thread's.
    pub fn current() -> FloatModes {
        let mut modes = FloatModes { mxcsr: 0, x87: 0 };
        // SAFETY: it stores two words, which are this function's.
        unsafe { store_modes(&raw mut modes) };
        modes
    }
}
const MXCSR: usize = offset_of!(FloatModes, mxcsr);
const X87: usize = offset_of!(FloatModes, x87);

/// # Safety
/// The words can be written.
#[unsafe(naked)]
unsafe extern "C" fn store_modes(_modes: *mut FloatModes) {
    naked_asm!(
        "stmxcsr [rdi + {mxcsr}]",
        "fnstcw [rdi + {x87}]",
        "ret",
        mxcsr = const MXCSR,
        x87 = const X87,
    )
}

/// Prepares a stack that ends at `high` for a switch to it, which goes on at `main` with the context in r15; the stack pointer to switch to.
///
/// # Safety
/// The stack is the caller's, and mapped. `main` is a function without parameters that does not return.
pub unsafe fn first_frame(high: usize, main: usize, context: *mut ThreadContext) -> usize {
    let high = high & !15;
    let words = [begin_frame as *const () as usize, context as usize, main];
    let at = high - 16 - size_of_val(&words);
    // SAFETY: the words lie on the stack, which is the caller's.
    unsafe { (at as *mut [usize; 3]).write(words) };
    at
}

/// Resumes a stack that [`first_frame`] has made.
///
/// # Safety
/// Entered only as its description says.
#[unsafe(naked)]
unsafe extern "C" fn begin_frame() {
    naked_asm!(
        "pop r15",
        "pop rcx",
        // A return address of 0, where a walk of the frames ends.
        "xor ebp, ebp",
        "push rbp",
        "jmp rcx",
    )
}
