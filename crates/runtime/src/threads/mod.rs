//! Threads: attached OS threads and the managed threads they run.
//!
//! # Map
//! * the calling thread: [`current`] (its context), [`native_state`] (blocking calls), [`service_stack`] (where it compiles),
//!   [`stack_guard`] (the end of its stack), [`managed_stack`] (a stack for managed frames alone)
//! * [`foreign`]: the code of a host that embeds the runtime
//! * attaching and detaching: [`attach`] the OS thread, [`adopt`] the managed thread; [`start`]: from `Thread.Start` to the end
//! * the managed thread: [`identity`], [`state`] (the word of ThreadState), [`lifetime`] (what outlives it), [`name`]
//! * requests of other threads: [`requests`] (making them), [`interrupts`] (serving them), [`retry_thread`], [`abort`]
//! * waiting: [`park`] (the layer below every wait), [`wait`] (waits of managed code), [`monitor`], [`wait_handles`]
//! * [`green`]: green threads, which carriers run in turn; [`continuations`]: parts of a stack, copied and written back
//! * [`pool`]: the thread pool; [`shutdown`]: background threads at the end of the process
//!
//! # Invariants
//! * Attached threads only have `Thread` and `InternalThread` objects; those are words of the context, never addresses
//!   in Rust memory: a thread being started gets them through GC handles.
//! * An InternalThread of a thread that has run has a [`lifetime::ThreadLifetime`] behind `handle`, one reference of it.
//! * Managed ids count up from 1 and are never used again; owner ids (locks, parking) are, so nothing but locks and
//!   parking goes by them.
pub mod abort;
pub mod adopt;
pub mod attach;
pub mod continuations;
pub mod current;
pub mod foreign;
pub mod green;
pub mod identity;
pub mod interrupts;
pub mod lifetime;
pub(crate) mod managed_stack;
pub mod monitor;
pub mod name;
pub mod native_state;
pub mod park;
pub mod pool;
pub mod requests;
pub(crate) mod retry_thread;
pub mod service_stack;
pub mod shutdown;
pub mod stack_guard;
pub(crate) mod stack_limit;
pub mod start;
pub mod state;
pub mod step_out;
pub mod wait;
pub mod wait_handles;

pub use adopt::{adopt, new_internal};
pub use current::current_context;
pub use green::is_green;
pub use identity::{current_internal, owner_of};
pub use native_state::{blocking, native};
