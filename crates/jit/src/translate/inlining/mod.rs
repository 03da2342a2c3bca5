//! Inlining: which methods are inlined, and how their bodies replace calls.
pub mod decision;
pub mod expand;
pub mod limits;
