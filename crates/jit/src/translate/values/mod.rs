//! Values during translation: on the IL stack and in memory.
pub mod block_copy;
pub mod convert;
pub mod exposure;
pub mod memory;
pub mod stack;
pub mod temps;
