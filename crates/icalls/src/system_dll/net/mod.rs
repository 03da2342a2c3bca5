//! Native halves of System.Net and System.Net.Sockets, and of System.IOSelector, which tells sockets what is ready.
pub mod address;
pub mod dns;
pub mod options;
pub mod ready;
pub mod selector;
pub mod socket;
pub mod state;
pub mod transfer;
pub mod winsock;

use vervet_runtime::icall::Icall;

/// The tables of these namespaces.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        dns::ICALLS,
        options::ICALLS,
        ready::ICALLS,
        selector::ICALLS,
        socket::EXCEPTION,
        socket::ICALLS,
        transfer::ICALLS,
    ]
}
