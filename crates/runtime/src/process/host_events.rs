//! What a host that embeds the runtime wants to be told of.
//!
//! # Invariants
//! The functions are called in Runtime state without a lock, and are set once, before managed code runs on a second thread.
use crate::code::table::Code;
use crate::cx::Cx;
use crate::domain::Domain;
use vervet_os::Published;
use vervet_types::MethodRef;

/// See the module.
#[derive(Debug)]
pub struct HostEvents {
    /// A method has code.
    pub jit_done: fn(&Cx<'_>, MethodRef, &'static Code),
    /// A thread has begun, with that id.
    pub thread_started: fn(&Cx<'_>, u64),
    /// A domain has been made.
    pub domain_made: fn(&'static Domain),
}
static EVENTS: Published<HostEvents> = Published::new();

/// The functions, from now on.
pub fn set(events: HostEvents) {
    EVENTS.put(events);
}
/// The functions, if there is a host.
#[inline]
pub fn get() -> Option<&'static HostEvents> {
    EVENTS.get()
}
