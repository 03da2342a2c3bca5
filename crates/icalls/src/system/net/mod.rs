//! Native halves of System.Net and of the namespace below it.
pub mod dns;
pub mod socket_address;
pub mod sockets;
