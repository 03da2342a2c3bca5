//! After how many calls quickly compiled code is to be replaced.
//!
//! # Invariants
//! * How a count begins depends on the method and the options only.
//! * Code that is to be replaced at its next call is asked for once: what could not be compiled again is not tried again.
use crate::runtime::rt;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_jit::Tier;
use vervet_types::MethodRef;

/// A counter that will not become zero soon.
pub const NEVER: u32 = i32::MAX as u32;

/// The counter of a method's calls, which code of the method finds by its address.
#[repr(C)]
pub struct CallCounter {
    /// How many are left until the prestub is asked. Generated code changes it with one instruction, which loses counts of other threads at worst.
    pub left: AtomicU32,
    /// Not 0: the thread whose call uses the counter up waits for the new code.
    at_once: AtomicU32,
}
const _: () = assert!(size_of::<CallCounter>() == size_of::<usize>());

impl CallCounter {
    /// That of a method without calls.
    pub fn of(method: MethodRef) -> CallCounter {
        let calls = match rt().compiler.best_tier_for(method) {
            Tier::Optimised => rt().options.hot_calls.clamp(1, NEVER),
            // A smaller frame is all that could be had.
            Tier::Quick | Tier::Compact => NEVER,
        };
        CallCounter {
            left: AtomicU32::new(calls),
            at_once: AtomicU32::new(0),
        }
    }
    /// Whether the thread whose call uses the counter up waits for the new code.
    pub fn is_at_once(&self) -> bool {
        self.at_once.load(Ordering::Acquire) != 0
    }
    /// The next call waits for new code.
    fn end_at_once(&self) {
        if self.at_once.swap(1, Ordering::AcqRel) == 0 {
            self.left.store(0, Ordering::Relaxed);
        }
    }
}

/// The method whose code begins there is to have other code at its next call, if it counts its calls: other code has a smaller frame.
///
/// # Safety
/// Linked code begins there.
pub unsafe fn replace_at_next_call(code: usize) {
    // SAFETY: code begins with at least that many bytes, padding included, and is written before it is linked.
    let bytes = unsafe { &*(code as *const [u8; 16]) };
    if let Some(counter) = vervet_jit::blob::counter_from(bytes, code) {
        // SAFETY: what linked code counts with is a counter, which stays for ever.
        unsafe { &*(counter as *const CallCounter) }.end_at_once();
    }
}
