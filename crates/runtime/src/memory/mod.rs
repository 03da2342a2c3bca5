//! Managed memory and the rest of what is sized once: the heap, handles, statics, roots, the plan of the address space.
//!
//! * [`address_plan`]: how much of each is reserved
//! * [`heap`]: allocation, copying, cards; [`gc`]: the binding of the collector; [`finalizer`]: the thread that runs finalizers
//! * [`roots`]: words where Rust code keeps references; [`handles`]: GC handles; [`statics`]: static fields
//! * [`localloc_stack`]: memory of `localloc`, and arguments of calls into managed code
pub mod address_plan;
pub mod finalizer;
pub mod gc;
pub mod handles;
pub mod heap;
pub mod localloc_stack;
pub mod roots;
pub mod statics;
