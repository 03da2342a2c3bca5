//! Native halves of the namespace Mono.Profiler.Log.
pub mod log_profiler;
