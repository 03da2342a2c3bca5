//! Native halves of System.Globalization.
pub mod culture;
pub mod data;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        culture::CULTURE_INFO,
        culture::CULTURE_DATA,
        culture::CALENDAR_DATA,
        culture::REGION_INFO,
        culture::COMPARE_INFO,
    ]
}
