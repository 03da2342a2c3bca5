//! Native halves of the namespaces below Mono.Security.
pub mod cryptography;
