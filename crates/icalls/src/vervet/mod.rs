//! Native halves of classes of the grafts assembly.
pub mod green_scheduler;
