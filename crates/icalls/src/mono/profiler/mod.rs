//! Native halves of the namespaces below Mono.Profiler.
pub mod log;
