//! The process: start-up, the program's run, the ends, what is counted.
//!
//! * [`bootstrap`]: from nothing to where managed code can run; [`main`]: the program; [`exit`]: its ordinary end
//! * [`fatal`]: ends that nothing follows, and what is written to standard error
//! * [`fork`]: a program that forks the process
//! * [`dump`]: what all threads do, for SIGQUIT; [`attach`]: for another process that asks; [`thread_stacks`]: for the program itself
//! * [`counters`]: what is counted and listed during a run; [`stats`]: `--stats`; [`regression`]: `--regression`
pub(crate) mod attach;
pub mod bootstrap;
pub mod counters;
pub(crate) mod dump;
pub mod exit;
pub mod fatal;
pub(crate) mod fork;
pub mod host_events;
pub mod main;
pub mod regression;
pub mod stats;
pub mod thread_stacks;
