//! Native halves of the namespace Mono and of the namespaces below it.
pub mod runtime;
pub mod safe_string_marshal;
pub mod security;
