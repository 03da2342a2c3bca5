//! What of the command can be tested without a process: its options.
pub mod options;
pub mod plan;
