//! Stopping the world: which threads there are, how they pass between managed code, ours and native code, and how one
//! of them stops all the others.
//!
//! # Map
//! * [`registry`]: the attached threads
//! * [`transitions`]: the word that says "stop", and what a thread does when it finds it set
pub mod registry;
pub mod transitions;
