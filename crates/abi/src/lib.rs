//! Facts that generated code, the runtime and the collector share. Plain data: nothing here runs.
pub mod context;
pub mod handles;
pub mod helpers;
pub mod layouts;
pub mod native_call;
pub mod object;
pub mod profile;
pub mod short_functions;
pub mod sizes;
pub mod stack;
pub mod vtable;

pub use context::{State, ThreadContext};
pub use helpers::{
    CipherStep, Declared, Effect, HashStep, Helper, HelperSig, MathFunction, ThrowKind, Ty, call,
};
pub use object::*;
pub use short_functions::ShortFunction;

/// What a helper that compares texts says if it does not know.
pub const UNKNOWN_ORDER: i32 = i32::MIN;
pub use sizes::TableSizes;
pub use vtable::VTable;
