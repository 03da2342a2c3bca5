//! After how many calls quickly compiled code is to be replaced.
//!
//! # Invariants
//! * How a count begins depends on the method and the options only.
//! * A count that a thread ends may be overwritten by what another one counts at that moment; whoever ends it does so again while it matters.
//! * What could not be compiled again is not tried again.
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
    /// [`AT_ONCE`], [`GIVEN_UP`], or 0.
    state: AtomicU32,
}
/// The thread whose call uses the counter up waits for the new code.
const AT_ONCE: u32 = 1;
/// The method cannot be compiled again.
const GIVEN_UP: u32 = 2;

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
            state: AtomicU32::new(0),
        }
    }
    /// Whether the thread whose call uses the counter up waits for the new code.
    pub fn is_at_once(&self) -> bool {
        self.state.load(Ordering::Acquire) == AT_ONCE
    }
    /// The next call waits for new code.
    fn end_at_once(&self) {
        if self.state.load(Ordering::Acquire) != GIVEN_UP {
            self.state.fetch_or(AT_ONCE, Ordering::AcqRel);
            self.left.store(0, Ordering::Relaxed);
        }
    }
    /// There will be no other code.
    pub fn give_up(&self) {
        self.state.store(GIVEN_UP, Ordering::Release);
        self.left.store(NEVER, Ordering::Relaxed);
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
