//! Green threads: managed threads that carriers run in turn.
//!
//! # How it works
//! A green thread has a [context](vervet_abi::ThreadContext) of its own, a managed stack that begins with one small segment, and, from its first step to
//! its end, a native stack for Rust and C frames. A carrier is an attached OS thread that asks the [scheduler](vervet_sched) which green thread
//! is next, and switches to its native stack. A green thread that waits switches back to the carrier's.
//!
//! ```text
//!   carrier (its own context)                       green thread
//!   ---------------------------------------------   ----------------------------------------------
//!   Native: asks the scheduler, sleeps, polls       Parked: its stacks are as it left them
//!   leaves Native: waits while the world is stopped
//!   Runtime: makes the green thread's context the
//!     OS thread's, and switches stacks         -->  Runtime: goes on where it left
//!                                                   ... Managed, Runtime, Native ...
//!                                                   Runtime: begins to park, makes its wait known
//!   Runtime: makes its own context the        <--   switches stacks
//!     OS thread's; the other is Parked
//!   Native: tells the scheduler why it is back
//! ```
//!
//! # Map
//! * [`record`]: what a green thread has, and the free ones; [`stacks`]: where their memory comes from; [`large_localloc`]: what some have besides; [`trim`]: what of it is given back while they wait
//! * [`carrier`]: the OS threads, and the switch of contexts; [`seat`]: what they share with the thread that they run; [`host`]: what the scheduler asks of the runtime
//! * [`put_away`]: the frames of threads that wait for long
//! * [`reentry`]: parks that leave nothing on the native stack
//! * [`wait`]: parking, yielding, native calls; [`descriptor`]: waiting for descriptors; [`run`]: from the start of a green thread to its end
//! * [`pins`]: who kept a carrier; [`report`](mod@report): the lines of `--stats`; [`settings`]: what users choose
//!
//! # Invariants
//! * A green thread is on a carrier, or in one queue of the scheduler, or waits; its context's state is Parked in the last two cases and when it is
//!   free.
//! * It changes carriers in Runtime state only, at a call of [`wait::leave`]. So nothing that belongs to an OS thread (thread-local
//!   variables, errno, handles' slots) is kept across a park: Rust code finds its context by its token or by
//!   [`current_context`](super::current_context), which is never inlined.
//! * A green thread does not leave its carrier while native code that called managed code lies on its stack, or while it compiles: it is bound, and
//!   the carrier's processor goes to another carrier.
mod carrier;
pub(in crate::threads) mod descriptor;
mod host;
pub(crate) mod kept;
mod large_localloc;
mod pins;
mod put_away;
mod record;
pub(crate) mod reentry;
mod report;
mod run;
pub(crate) mod seat;
pub mod settings;
mod stacks;
mod trim;
pub(crate) mod wait;

pub(crate) use host::{scheduler, scheduler_in_use};
pub(crate) use pins::note_stacks as note_stacks_of_pins;
pub(crate) use record::{is_free, is_new, is_off_carrier};
pub(crate) use report::report;
pub use report::statistics;
pub use run::spawn;
pub(in crate::threads) use run::{spawn_thread, spawn_work};
pub use wait::is_green;
pub(crate) use wait::{make_ready, others_ready};

/// Chooses how many bytes the next segment of the calling thread's managed stack has, and the most of the whole stack; 0 chooses nothing. Nothing
/// happens on a thread that is not green.
pub fn choose_stack(cx: &crate::cx::Cx<'_>, hint: usize, most: usize) {
    if is_green(cx) {
        super::managed_stack::choose(cx.context(), hint, most);
    }
}
