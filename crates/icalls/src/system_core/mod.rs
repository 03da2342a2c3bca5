//! Native halves of classes of System.Core.dll.
pub mod memory_map;

use vervet_runtime::icall::Icall;

/// The tables of this assembly.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![memory_map::ICALLS]
}
