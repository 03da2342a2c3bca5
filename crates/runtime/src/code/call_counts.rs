//! After how many calls quickly compiled code is to be replaced.
//!
//! # Invariants
//! The answer depends on the method, the size of the code's frame and the options only.
use crate::runtime::rt;
use vervet_jit::Tier;
use vervet_types::MethodRef;

/// A frame of more bytes than this is large.
const LARGE_FRAME: u32 = 8 << 10;
/// After how many calls a method with a large frame is compiled again.
pub const LARGE_FRAME_CALLS: u32 = 16;
/// A counter that will not become zero soon.
pub const NEVER: u32 = i32::MAX as u32;

/// How a method begins to count its calls.
pub struct Counted {
    /// After how many the prestub is asked.
    pub calls: u32,
    /// Whether the thread whose call that is waits for the new code.
    pub at_once: bool,
}

/// How a method counts whose code has a frame of that many bytes.
pub fn counted(method: MethodRef, frame_size: u32) -> Counted {
    let usual = rt().options.hot_calls.clamp(1, NEVER);
    let at_once = frame_size > LARGE_FRAME;
    let calls = match rt().compiler.best_tier_for(method) {
        _ if at_once => usual.min(LARGE_FRAME_CALLS),
        Tier::Optimised => usual,
        // A smaller frame is all that could be had.
        Tier::Quick | Tier::Compact => NEVER,
    };
    Counted { calls, at_once }
}
