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
pub mod string_hash;
pub mod vtable;

pub use context::{State, ThreadContext};
pub use helpers::{
    CipherStep, Declared, Effect, HashStep, Helper, HelperSig, MathFunction, ThrowKind, Ty, call,
};
pub use object::*;
pub use short_functions::ShortFunction;

/// What a helper that compares texts says if it does not know.
pub const UNKNOWN_ORDER: i32 = i32::MIN;

/// Words of the block of a plain call through reflection: six for registers, then [`PLAIN_RESULT`] and [`PLAIN_NEW`].
pub const PLAIN_CALL_WORDS: usize = 8;
/// The word of the block that says what the result becomes.
pub const PLAIN_RESULT: usize = 6;
/// The word of the block with the VTable of the object to be made, or 0.
pub const PLAIN_NEW: usize = 7;
/// A plain call through reflection whose caller has found the code already: what the argument of `InternalInvoke` for the exception refers to then.
pub mod ready_call {
    /// The lowest bit of the argument: it is the address of such words and not that of a reference.
    pub const TAG: u64 = 1;
    /// The word with the address of the reference for the exception.
    pub const EXCEPTION: usize = 0;
    /// The word with the code to be called.
    pub const CODE: usize = 1;
    /// The first word of the block.
    pub const BLOCK: usize = 2;
    /// How many words there are.
    pub const WORDS: usize = BLOCK + super::PLAIN_CALL_WORDS;
}
/// What the result of a plain call through reflection becomes. A greater number is the address of the VTable of a box of one word.
pub mod plain_result {
    /// The method returns nothing, the call null.
    pub const NOTHING: usize = 0;
    /// The object that the method returns.
    pub const REFERENCE: usize = 1;
    /// The object that a constructor was called on.
    pub const MADE: usize = 2;
}
pub use sizes::TableSizes;
pub use vtable::VTable;
