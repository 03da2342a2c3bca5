//! Native halves of the namespace Mono and of the namespaces below it.
pub mod interop;
pub mod net;
pub mod profiler;
pub mod runtime;
pub mod runtime_handles;
pub mod runtime_marshal;
pub mod safe_string_marshal;
pub mod security;
pub mod tasklets;
