//! Native halves of System.IO.
pub mod drive_info;
pub mod find;
pub mod mono_io;
pub mod path;
pub mod share;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        mono_io::ICALLS,
        mono_io::LEGACY,
        find::ICALLS,
        path::ICALLS,
        drive_info::ICALLS,
    ]
}
