//! Switching between two native stacks: a carrier's and a green thread's.
//!
//! # Invariants
//! * A stack that is left has the callee-saved registers at the stack pointer that is stored, so a scan from there finds all that its code has in
//!   registers.
//! * The code that is left sees a call that returns, perhaps on another OS thread.
//! * While a green thread runs, the OS thread has that one's [`FloatModes`]; while the carrier runs, its own. Only [`switch_with_modes`] exchanges
//!   them, and every way from a carrier to a green thread and back leads through it.
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::ThreadContext;

/// Words that [`switch`] pushes below the return address: rbp and the callee-saved registers.
const SAVED: usize = 6;

/// Leaves this stack, whose pointer is stored at `save`, and goes on where the stack with pointer `to` was left.
///
/// # Safety
/// `to` was stored by this function or made by [`first_frame`], and nobody has gone on there since. The thread is in Runtime state.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(_save: *mut usize, _to: usize) {
    naked_asm!(
        "push rbp",
        push_callee_saved!(),
        "mov [rdi], rsp",
        "mov rsp, rsi",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
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

/// As [`switch`], from a carrier to a green thread, for which `modes` are loaded. When the green thread has left, they are what it has set meanwhile, and
/// the carrier's are loaded again. (A load takes longer than a look, and nearly all threads have the same modes.)
///
/// # Safety
/// As for [`switch`]. `modes` are the green thread's, and are valid.
#[unsafe(naked)]
pub unsafe extern "C" fn switch_with_modes(_save: *mut usize, _to: usize, _modes: *mut FloatModes) {
    naked_asm!(
        "push rbx",
        "sub rsp, 16",
        "mov rbx, rdx",
        // The carrier's own modes lie at rsp.
        "stmxcsr [rsp + {mxcsr}]",
        "fnstcw [rsp + {x87}]",
        "mov eax, [rbx + {mxcsr}]",
        "cmp eax, [rsp + {mxcsr}]",
        "je 2f",
        "ldmxcsr [rbx + {mxcsr}]",
        "2: movzx eax, word ptr [rbx + {x87}]",
        "cmp ax, [rsp + {x87}]",
        "je 3f",
        "fldcw [rbx + {x87}]",
        "3: call {switch}",
        "stmxcsr [rbx + {mxcsr}]",
        "fnstcw [rbx + {x87}]",
        "mov eax, [rsp + {mxcsr}]",
        "cmp eax, [rbx + {mxcsr}]",
        "je 4f",
        "ldmxcsr [rsp + {mxcsr}]",
        "4: movzx eax, word ptr [rsp + {x87}]",
        "cmp ax, [rbx + {x87}]",
        "je 5f",
        "fldcw [rsp + {x87}]",
        "5: add rsp, 16",
        "pop rbx",
        "ret",
        mxcsr = const MXCSR,
        x87 = const X87,
        switch = sym switch,
    )
}

/// Leaves this stack for good, and goes on where the stack with pointer `to` was left.
///
/// # Safety
/// As for [`switch`]. Nothing on this stack has to be dropped.
#[unsafe(naked)]
pub unsafe extern "C" fn switch_for_good(_to: usize) -> ! {
    naked_asm!("mov rsp, rdi", pop_callee_saved!(), "pop rbp", "ret",)
}

/// Prepares a stack that ends at `high` for a [`switch`] to it, which calls `main` with the context in r15; the stack pointer to switch to.
///
/// # Safety
/// The stack is the caller's, and mapped. `main` is a function without parameters that does not return.
pub unsafe fn first_frame(high: usize, main: usize, context: *mut ThreadContext) -> usize {
    let high = high & !15;
    // A function begins 8 bytes below a multiple of 16, where its return address lies: here 0, so a walk of the frames ends.
    let words: [usize; SAVED + 3] = [context as usize, 0, 0, 0, 0, 0, main, 0, 0];
    let at = high - 32 - SAVED * 8;
    // SAFETY: the words lie on the stack, which is the caller's.
    unsafe { (at as *mut [usize; SAVED + 3]).write(words) };
    at
}
