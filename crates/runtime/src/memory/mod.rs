//! Managed memory and the rest of what is sized once: the heap, handles, statics, roots, the plan of the address space.
//!
//! * [`address_plan`]: how much of each is reserved
//! * [`allocate`]: making objects; [`copy`](mod@copy): copying what they hold; [`cards`]: the card table
//! * [`gc`]: the binding of the collector; [`finalizer`]: the thread that runs finalizers
//! * [`roots`]: words where Rust code keeps references; [`handles`]: GC handles; [`statics`], [`context_statics`]: static fields
//! * [`localloc_stack`]: memory of `localloc`, and arguments of calls into managed code
pub mod address_plan;
pub mod allocate;
pub mod cards;
pub mod context_statics;
pub mod copy;
pub mod finalizer;
mod finalizer_requests;
pub mod gc;
pub mod handles;
pub mod localloc_stack;
pub mod root_slot;
pub mod roots;
pub mod statics;
pub(crate) mod thread_static_classes;
pub mod vtable_area;
