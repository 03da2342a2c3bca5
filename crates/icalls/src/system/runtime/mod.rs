//! Native halves of System.Runtime and the namespaces below it.
pub mod async_result;
pub mod imports;
pub mod marshal;
pub mod runtime_information;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        async_result::ICALLS,
        imports::ICALLS,
        marshal::ICALLS,
        marshal::STRUCTURES,
        marshal::COM,
        runtime_information::ICALLS,
    ]
}
