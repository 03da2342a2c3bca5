//! Native halves of the namespaces below System.Runtime.Remoting.
pub mod messaging;
