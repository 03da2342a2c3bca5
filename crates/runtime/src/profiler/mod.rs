//! The log profiler's part of the runtime.
//!
//! | where | what |
//! |---|---|
//! | [`recording`] | whether events are recorded, and their way to the writer |
//! | [`hooks`] | one function for each event, which the module calls that the event happens in |
//! | [`heapshot`] | when a heapshot is due; what it has is in `memory/gc/report.rs` |
//! | [`trace`] | the frames of the calling thread, as numbers |
//! | [`call_spec`] | which methods' calls are recorded |
//! | [`sampling`] | samples of the threads |
//! | [`control`] | starting a recording |
//! | [`live`] | what the program changes of it while it runs |
//! | `names`, `counters` | what the writer asks of the runtime |
//!
//! A hook is called on slow paths only, and tests first whether its set of events is recorded. If so, it takes the numbers of the event and
//! pushes them as a record ([`vervet_profiler::stream`]). The writer's thread turns numbers into names.
pub mod call_spec;
pub mod control;
mod counters;
pub mod heapshot;
pub mod hooks;
pub mod live;
mod names;
pub mod recording;
pub mod sampling;
pub mod trace;
