//! The scheduler of green threads: which thread runs next, on which processor, and who waits for descriptors and deadlines when nothing runs.
//!
//! A *green thread* is an owner id here, a *carrier* an OS thread that runs green threads, a *processor* the right to run one. There are as many
//! processors as green threads may run at once. Stacks, objects and the class library are the runtime's, which implements [`Host`].
//!
//! | where | what |
//! |---|---|
//! | [`Scheduler`] | all of it together: what threads, carriers and the watcher call |
//! | `local_queue`, `injector` | the ready threads of one processor, and those of no processor, urgent ones first |
//! | `owner` | the word that says who holds a processor, and how it is retaken from a carrier in a native call |
//! | `idle` | processors and carriers with nothing to do, and the protocol that loses no wake-up |
//! | `timers` | deadlines: one hierarchical wheel for each processor |
//! | [`reactor`] | which thread waits for which descriptor, and the epoll |
//! | [`watcher`] | the policy of preemption and retaking |
//! | [`stats`] | the counters |
//!
//! # Life of a ready thread
//! ```text
//!   unpark ---> slot ----------.         (the thread that a carrier unparked last)
//!                | displaced    \
//!   spawn -----> local queue ----+---> carrier: Scheduler::next ---> Host::run ---> yields: local queue
//!                | full  ^ stolen|                                             \--> preempted: injector
//!                v       |       |                                              \-> parks: in no queue
//!   others ----> injector -------'
//! ```
//!
//! # Invariants
//! * A ready thread is in exactly one queue, once. A thread that runs or is parked is in none.
//! * No thread is put into a queue before the carrier has left its stack ([`Scheduler::after`]).
//! * A thread that is ready is not left in a queue while all carriers sleep (`idle`).
//! * Nothing here blocks by itself. What sleeps is [`Scheduler::carry`] and [`Scheduler::watch`], or the caller. So the same code runs under loom
//!   and in the simulation, whose clocks and sleeps are their own.
//!
//! `cargo test -p vervet-sched --features loom --lib` runs the models, of the code that ships.
#![cfg_attr(not(test), deny(unsafe_code))]

mod carrier;
mod deadline;
mod host;
mod idle;
mod injector;
mod local_queue;
mod owner;
mod processor;
pub mod reactor;
mod scheduler;
mod spin_budget;
pub mod stats;
mod sync;
mod table;
mod timers;
pub mod watcher;

#[cfg(all(test, feature = "loom"))]
mod models;

pub use carrier::Carrier;
pub use host::{Host, Next, Outcome, Runner, Wait};
pub use scheduler::{Options, Scheduler};
pub use timers::TICK;

/// Owner ids are below this.
pub const MAX_ID: u32 = 1 << 22;
