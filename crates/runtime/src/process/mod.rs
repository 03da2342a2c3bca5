//! The process: start-up, the end, what is counted.
//!
//! * [`bootstrap`]: from nothing to `Main`, and from its end to the exit code
//! * [`stats`]: `--stats`, `--trace`, the map for perf; [`regression`]: `--regression`
pub mod bootstrap;
pub mod regression;
pub mod stats;
