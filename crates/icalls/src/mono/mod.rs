//! Native halves of the namespace Mono in mscorlib.
pub mod key_pair_persistence;
pub mod safe_string_marshal;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![safe_string_marshal::ICALLS, key_pair_persistence::ICALLS]
}
