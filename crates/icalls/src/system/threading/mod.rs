//! Native halves of System.Threading.
pub mod interlocked;
pub mod monitor;
pub mod thread;
pub mod thread_pool;
pub mod volatile;
pub mod wait_handle;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        interlocked::ICALLS,
        monitor::ICALLS,
        thread::THREAD,
        thread::INTERNAL_THREAD,
        thread::CONTEXT,
        thread::TIMER,
        thread_pool::ICALLS,
        volatile::VOLATILE,
        volatile::THREAD,
        wait_handle::WAIT_HANDLE,
        wait_handle::EVENTS,
        wait_handle::MUTEXES,
        wait_handle::SEMAPHORES,
    ]
}
