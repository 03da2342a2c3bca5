//! Inlining: which methods are inlined, and how their bodies replace calls.
pub mod decision;
pub mod effect;
pub mod expand;
pub mod limits;
