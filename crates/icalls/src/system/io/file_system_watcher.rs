//! Native half of System.IO.FileSystemWatcher.
//!
//! Keeps nothing.
use vervet_runtime::icalls;

icalls! {
    /// The inotify backend.
    "System.IO.FileSystemWatcher::InternalSupportsFSW" fn internal_supports_fsw(cx) -> i32 { Ok(6) }
}
