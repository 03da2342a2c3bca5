//! Control flow: the plan of a body, the walk over its blocks, and exception handling.
pub mod blocks;
pub mod carried;
pub mod control_flow;
pub mod exceptions;
mod fork;
mod home;
pub mod join;
pub mod liveness;
mod loops;
pub mod replacement;
pub mod state;
