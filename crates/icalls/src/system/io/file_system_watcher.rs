//! Native half of System.IO.FileSystemWatcher.
//!
//! Keeps nothing. A user may have only so many instances of inotify (`/proc/sys/fs/inotify/max_user_instances`, 128 by default). The class library's inotify watcher
//! throws when there are no more, so the question is asked of the kernel anew for each watcher, as in mono: without an instance it polls.
use vervet_runtime::icalls;

/// The class library's numbers of its backends.
const POLLING: i32 = 0;
const INOTIFY: i32 = 6;

icalls! {
    /// The inotify backend, if the kernel gives one more instance now.
    "System.IO.FileSystemWatcher::InternalSupportsFSW" fn internal_supports_fsw(cx) -> i32 {
        // SAFETY: takes numbers only.
        let instance = unsafe { libc::inotify_init1(libc::IN_CLOEXEC) };
        if instance < 0 {
            return Ok(POLLING);
        }
        // SAFETY: the descriptor is this function's own.
        unsafe { libc::close(instance) };
        Ok(INOTIFY)
    }
}
