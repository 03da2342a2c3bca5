//! The configurations of Cranelift: one that compiles fast, one that optimises.
//!
//! # Invariants
//! * The pinned register (r15) is the thread context. Cranelift never allocates it.
//! * Frame pointers are kept, but for [leaves](super::frameless): the unwinder and the collector walk the frames by them.
//! * Large frames are probed page by page, and stack probes need no library function.
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable, SetResult};
use std::hash::{Hash, Hasher};

/// The ISA of this machine with an optimisation level and a register allocator.
pub fn isa(verify: bool, opt: &str, regalloc: &str) -> OwnedTargetIsa {
    let mut b = settings::builder();
    let verify = if verify { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", opt),
        ("regalloc_algorithm", regalloc),
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "false"),
        ("is_pic", "false"),
        ("enable_verifier", verify),
        // The stack check knows the size of the frame and comes first.
        ("enable_probestack", "false"),
        // Where blocks begin in the machine code: the first of them ends the prologue.
        ("machine_code_cfg_info", "true"),
    ] {
        b.set(name, value)
            .expect("a setting of this Cranelift version");
    }
    cranelift_native::builder()
        .expect("a supported machine")
        .finish(settings::Flags::new(b))
        .expect("valid settings")
}

/// Whether the processor has the instructions that the runtime's helpers of ciphers use.
#[cfg(target_arch = "x86_64")]
pub fn has_aes() -> bool {
    std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("ssse3")
}

/// Whether the processor has the instructions that the runtime's helpers of ciphers use: there are no such helpers for it.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_aes() -> bool {
    false
}

/// Adds to a hash which instructions of this machine are used. Builds no configuration: a process that finds all its code in the cache needs none.
///
/// Cranelift asks the processor and enables a setting for each feature that it finds; here the settings' names are hashed instead.
pub fn hash_machine(hasher: &mut impl Hasher) {
    struct Names<'h, H>(&'h mut H);
    impl<H: Hasher> Configurable for Names<'_, H> {
        fn set(&mut self, name: &str, value: &str) -> SetResult<()> {
            (name, value).hash(self.0);
            Ok(())
        }
        fn enable(&mut self, name: &str) -> SetResult<()> {
            name.hash(self.0);
            Ok(())
        }
    }
    cranelift_native::infer_native_flags(&mut Names(hasher)).expect("a supported machine");
    // Cranelift does not ask for this one; the translator does (`calls/crypto.rs`).
    has_aes().hash(hasher);
}
