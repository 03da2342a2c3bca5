//! Native halves of System.Runtime.InteropServices.WindowsRuntime, which Windows alone has.
pub mod unsafe_native_methods;
