//! Native halves of System.Runtime.InteropServices.
pub mod gc_handle;
pub mod marshal;
pub mod runtime_information;
pub mod windows_runtime;
