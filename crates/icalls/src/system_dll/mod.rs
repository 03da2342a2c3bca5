//! Native halves of classes of System.dll.
pub mod configuration;
pub mod file_version;
pub mod net;
pub mod process;
pub mod small;
pub mod start;

use vervet_runtime::icall::Icall;

/// The tables of this assembly.
pub fn tables() -> Vec<&'static [Icall]> {
    let mut all = vec![
        configuration::DEFAULT_CONFIG,
        configuration::INTERNAL_CONFIGURATION_HOST,
        configuration::WEB,
        file_version::ICALLS,
        process::ICALLS,
        start::ICALLS,
        small::STOPWATCH,
        small::TRACE_LISTENER,
        small::FILE_SYSTEM_WATCHER,
        small::TLS,
        small::SYS,
        small::COUNTER_CATEGORY,
    ];
    all.extend(net::tables());
    all
}
