//! Native halves of System.Net.Sockets.
pub mod options;
pub mod ready;
pub mod socket;
pub mod state;
pub mod transfer;
pub mod winsock;
