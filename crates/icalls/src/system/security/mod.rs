//! Native halves of System.Security and of the namespaces below it.
pub mod cryptography;
pub mod policy;
pub mod principal;
pub mod security_manager;
