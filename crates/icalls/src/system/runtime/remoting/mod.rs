//! Native halves of the namespaces below System.Runtime.Remoting.
pub mod activation;
pub mod contexts;
pub mod messaging;
pub mod proxies;
pub mod remoting_services;
