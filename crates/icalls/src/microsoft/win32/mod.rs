//! Native halves of Microsoft.Win32.
pub mod native_methods;
