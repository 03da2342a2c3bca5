//! Native halves of the namespaces below Mono.Net.
pub mod security;
