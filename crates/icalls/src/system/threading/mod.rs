//! Native halves of System.Threading.
pub mod interlocked;
pub mod monitor;
pub mod thread;
pub mod thread_pool;
pub mod timer;
pub mod volatile;
pub mod wait_handle;
