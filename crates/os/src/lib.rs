//! Linux behind safe names, and the two kinds of runtime lock.
//!
//! Nothing here knows of objects, types or managed code.
#![cfg_attr(
    vervet_sanitizers,
    feature(sanitize),
    allow(stable_features, reason = "the toolchain may be any")
)]
pub mod allocator;
mod arch;
pub mod build_id;
mod c_library;
pub mod chained;
pub mod chunks;
pub mod clock;
pub mod dual;
pub mod epoll;
pub mod futex;
pub mod interruptible;
pub mod lock;
pub mod mapping;
pub mod memory;
pub mod perturb;
pub mod process_fence;
pub mod published;
pub mod rendezvous;
pub mod replaceable;
pub mod restart;
pub mod scheduling;
pub mod signal;
pub mod thread;
pub mod user;

pub use chunks::Chunks;
pub use lock::{LeafLock, SafeLock};
pub use published::Published;
pub use replaceable::Replaceable;
