//! How the collector's threads work together with each other and with the threads of the program.
//!
//! * [`gate`]: what may run beside the collector's thread. [`turn`]: so that it is not kept waiting for ever.
//! * [`workers`]: the threads that help in a pause. [`mark_stack`]: how they share objects to be scanned.
//! * [`affinity`]: which processors they run on.
//! * [`exclusive`]: values that one thread at a time may use.
pub(crate) mod affinity;
pub mod exclusive;
pub mod gate;
pub mod mark_stack;
pub mod turn;
pub mod workers;
