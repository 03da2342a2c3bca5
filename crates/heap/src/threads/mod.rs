//! Threads: the gate between collections and the collector's thread, the helpers, and where all of these run.
pub(crate) mod affinity;
pub mod exclusive;
pub mod gate;
pub mod turn;
pub mod workers;
