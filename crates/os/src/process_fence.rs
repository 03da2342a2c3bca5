//! A fence that one thread makes for all threads of the process.
//!
//! # Invariants
//! When [`process_fence`] returns, every other thread has executed a full fence since the call began: what it stored
//! before is visible to the caller, and what it loads afterwards sees what the caller stored before. So the frequent
//! side of a protocol gets along with plain loads and stores.
use std::sync::atomic::{AtomicBool, Ordering, fence};

const PRIVATE_EXPEDITED: i32 = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;

static REGISTERED: AtomicBool = AtomicBool::new(false);

fn membarrier(command: i32) -> bool {
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Registers the process. `false`: the kernel refuses, and the frequent side must fence for itself.
pub fn register() -> bool {
    let ok = membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED);
    REGISTERED.store(ok, Ordering::Release);
    ok
}

/// See the module. Without [`register`] having said yes it is a fence of the calling thread only.
pub fn process_fence() {
    fence(Ordering::SeqCst);
    if REGISTERED.load(Ordering::Relaxed) {
        let ok = membarrier(PRIVATE_EXPEDITED);
        debug_assert!(ok, "membarrier worked when it was registered");
    }
}
