//! Where the parts meet: heap, domain, code, exceptions, threads, start-up.
//!
//! # Map
//! * what managed memory looks like to Rust: [`object`], [`cx`], [`icall`]
//! * memory: [`heap`] (allocation, cards), [`roots`] (slots Rust keeps references in), [`handles`] (GC handles), [`gc`] (what the
//!   class library asks of the collector), [`finalizer`] (the thread that runs finalizers)
//! * per domain: [`domain`] (interned strings, Type objects, caches), [`vtables`], [`statics`]
//! * code: [`code`] (arena, linking, entries, lookup by address), [`prestub`], [`ahead`], [`helpers`], [`arch`] (asm)
//! * exceptions: [`exceptions`] (making, walking, two passes, traps, traces)
//! * running: [`invoke`], [`class_init`], [`startup`]
//! * threads: [`thread`] (contexts), [`threads`] (managed threads), [`park`] (waiting), [`monitor`] (locks), [`pool`],
//!   [`wait_handles`] (events, semaphores, mutexes, processes)
//! * stopping everybody: [`world`]
#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "a context pointer is always that of the calling thread: thunks and `Cx` pass nothing else"
)]

pub mod abort;
pub mod address_plan;
mod ahead;
pub mod arch;
pub mod casts;
pub mod class_init;
pub mod code;
pub mod cx;
pub mod delegates;
pub mod domain;
pub mod exceptions;
pub mod finalizer;
pub mod gc;
pub mod handles;
pub mod heap;
pub mod helpers;
pub mod icall;
pub mod invoke;
pub mod layout_check;
pub mod loader;
pub mod marshal;
pub mod monitor;
pub mod object;
pub mod park;
pub mod pinvoke;
pub mod pool;
pub mod prestub;
mod red_zone;
pub mod regression;
pub mod roots;
pub mod runtime;
pub mod side_stack;
pub mod startup;
pub mod statics;
pub mod stats;
pub mod thread;
pub mod threads;
pub mod vtables;
pub mod wait_handles;
pub mod world;

pub use cx::{Cx, Throw, Value};
pub use icall::RefSlot;
pub use object::ObjRef;
pub use runtime::{Runtime, rt};
