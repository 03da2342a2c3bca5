//! Native halves of classes of the grafts assembly, and of Vervet.Threading.
pub mod green_scheduler;
pub mod threading;
