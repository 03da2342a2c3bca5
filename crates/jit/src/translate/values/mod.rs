//! Values during translation: on the IL stack and in memory.
pub mod block_copy;
pub mod memory;
pub mod stack;
