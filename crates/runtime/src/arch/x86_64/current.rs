//! The thread-local word that holds the context of the calling thread.
//!
//! # How it works
//! A *TLS descriptor* says where the word lies: the linker makes it a constant in an executable, and so does the dynamic linker, behind a call of two
//! instructions, for a library that is linked or finds room in the static block of each thread. Elsewhere the call does what `__tls_get_addr` does, which is
//! what each access costs in the model that shared libraries usually have. Each function of the embedding API begins with such an access.
//!
//! # Invariants
//! * No function keeps the address of the word: after a park it would be that of an OS thread which the green thread has left. Each access begins
//!   with the descriptor, and the compiler neither merges nor drops accesses.
//! * The dynamic linker gives a library that is opened at run time 512 bytes of the static block: all thread-local variables together take less
//!   (`tests/embedding.sh` looks).
use vervet_abi::ThreadContext;

std::arch::global_asm!(
    ".pushsection .tbss.vervet_current_context,\"awT\",@nobits",
    ".globl vervet_current_context",
    ".hidden vervet_current_context",
    ".type vervet_current_context, @object",
    ".size vervet_current_context, 8",
    ".p2align 3",
    "vervet_current_context:",
    ".zero 8",
    ".popsection",
);

/// What the calling thread's word holds.
#[inline]
pub fn context_word() -> *mut ThreadContext {
    let context;
    // SAFETY: reads the calling thread's own word, which is initialized with 0. The descriptor's function changes rax and flags; where it has to make the
    // thread's block, some versions of glibc also change vector registers.
    unsafe {
        std::arch::asm!(
            "lea rax, [rip + vervet_current_context@TLSDESC]",
            "call qword ptr [rax + vervet_current_context@TLSCALL]",
            "mov rax, qword ptr fs:[rax]",
            out("rax") context,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
        );
    }
    context
}

/// Stores into the calling thread's word.
pub fn set_context_word(context: *mut ThreadContext) {
    // SAFETY: writes the calling thread's own word; the rest is as above.
    unsafe {
        std::arch::asm!(
            "lea rax, [rip + vervet_current_context@TLSDESC]",
            "call qword ptr [rax + vervet_current_context@TLSCALL]",
            "mov qword ptr fs:[rax], {context}",
            context = in(reg) context,
            out("rax") _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
        );
    }
}
