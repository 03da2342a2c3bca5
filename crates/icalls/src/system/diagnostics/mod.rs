//! Native halves of System.Diagnostics.
pub mod file_version_info;
pub mod process;
pub mod process_start;
pub mod small;
pub mod stack_trace;
