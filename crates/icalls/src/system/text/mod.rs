//! Native halves of System.Text.
pub mod encoding_helper;
pub mod normalization;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![encoding_helper::ICALLS, normalization::ICALLS]
}
