//! Native halves of System.Runtime and of the namespaces below it.
pub mod compiler_services;
pub mod interop_services;
pub mod remoting;
pub mod runtime_imports;
pub mod versioning;
