//! The blocks through which generated stubs and the asm thunks hand over native (System V) calls.
//!
//! # Invariants
//! A stub classifies arguments and results; a thunk only moves words. A float argument lies in the low 4 bytes
//! of its word. The blocks lie in the frame of the stub (or of the reverse thunk): the collector scans them
//! conservatively with the rest of the stack, so a reference or interior pointer in one is a root.

/// A call from managed to native code: what a stub hands to the native thunk. `n_stack_words` words of stack
/// arguments follow the struct.
///
/// The thunk is a Tail function `(block, method) -> ()`: Managed to Native, stack to the carrier's, arguments to
/// registers and stack (16-aligned), `al`, the call, results to the block, errno to
/// `ThreadContext::last_error` if `clear_errno` says so, Native to Managed. `method` is the `&'static Method` for the exit record, or 0.
#[repr(C)]
#[derive(Debug)]
pub struct NativeCall {
    /// The function's address.
    pub target: u64,
    /// Number of stack words that follow.
    pub n_stack_words: u64,
    /// rdi, rsi, rdx, rcx, r8, r9.
    pub int_regs: [u64; 6],
    /// xmm0 to xmm7 (the low 8 bytes).
    pub sse_regs: [f64; 8],
    /// How many of `sse_regs` are used (variadic callees read it in al).
    pub al: u64,
    /// Not zero: errno is set to 0 before the call, and stored after it.
    pub clear_errno: u64,
    /// rax after the call.
    pub ret_rax: u64,
    /// rdx after the call.
    pub ret_rdx: u64,
    /// xmm0 (the low 8 bytes) after the call.
    pub ret_xmm0: f64,
    /// xmm1 (the low 8 bytes) after the call.
    pub ret_xmm1: f64,
    /// Stack arguments, the first one lowest.
    pub stack_words: [u64; 0],
}

/// A call from native to managed code: what the reverse thunk hands to a reverse stub, a Tail function
/// `(delegate, block) -> ()`. The thunk loads rax, rdx, xmm0, xmm1 from the block afterwards.
#[repr(C)]
#[derive(Debug)]
pub struct ReverseCall {
    /// rdi, rsi, rdx, rcx, r8, r9.
    pub int_regs: [u64; 6],
    /// xmm0 to xmm7 (the low 8 bytes).
    pub sse_regs: [u64; 8],
    /// Address of the first stack argument.
    pub stack: u64,
    /// rax and rdx to return.
    pub ret_int: [u64; 2],
    /// xmm0 and xmm1 (the low 8 bytes) to return.
    pub ret_sse: [u64; 2],
    /// The delegate that is called, once the thread is in Runtime state. It lies on the thread's stack, so the object stays in place.
    pub delegate: usize,
}

macro_rules! offsets { ($ty:ident: $($name:ident = $field:ident),* $(,)?) => { $(
    #[doc = concat!("Offset of `", stringify!($ty), "::", stringify!($field), "`.")]
    pub const $name: i32 = std::mem::offset_of!($ty, $field) as i32;
)* } }
offsets! { NativeCall:
    TARGET = target, N_STACK_WORDS = n_stack_words, INT_REGS = int_regs, SSE_REGS = sse_regs, AL = al,
    CLEAR_ERRNO = clear_errno, RET_INT = ret_rax, RET_SSE = ret_xmm0, STACK_WORDS = stack_words,
}
offsets! { ReverseCall:
    REVERSE_INT_REGS = int_regs, REVERSE_SSE_REGS = sse_regs, REVERSE_STACK = stack, REVERSE_RET_INT = ret_int,
    REVERSE_RET_SSE = ret_sse,
}
