//! Native halves of the namespaces below Microsoft.
pub mod win32;
