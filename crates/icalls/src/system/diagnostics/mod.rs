//! Native halves of System.Diagnostics.
pub mod debugger;
pub mod default_trace_listener;
pub mod file_version_info;
pub mod performance_counter;
pub mod performance_counter_category;
pub mod process;
pub mod process_start;
pub mod stack_trace;
pub mod stopwatch;
