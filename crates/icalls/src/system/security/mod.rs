//! Native halves of System.Security.
pub mod principal;
pub mod random;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        random::ICALLS,
        principal::IDENTITY,
        principal::IMPERSONATION,
        principal::PRINCIPAL,
    ]
}
