//! The configurations of Cranelift: one that compiles fast, one that optimises.
//!
//! # Invariants
//! * The pinned register (r15) is the thread context. Cranelift never allocates it.
//! * Frame pointers are kept: the unwinder and the collector walk the frames by them.
//! * Large frames are probed page by page, and stack probes need no library function.
use crate::options::Options;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

/// The ISA of this machine with an optimisation level and a register allocator.
pub fn isa(options: &Options, opt: &str, regalloc: &str) -> OwnedTargetIsa {
    let mut b = settings::builder();
    let verify = if options.verify { "true" } else { "false" };
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
    ] {
        b.set(name, value)
            .expect("a setting of this Cranelift version");
    }
    cranelift_native::builder()
        .expect("a supported machine")
        .finish(settings::Flags::new(b))
        .expect("valid settings")
}
