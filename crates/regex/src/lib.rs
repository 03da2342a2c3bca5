//! Matches the programs that the class library's compiler of regular expressions makes, in place of its interpreter.
//!
//! The class library parses a pattern, writes a program for a machine that backtracks, and interprets that program in IL. This crate knows the same machine. It
//! decodes a program once ([`Program`]), finds out which characters a match can begin with ([`Prefix`](prefix)), and runs it over a text.
//!
//! # Invariants
//! * A match has the same bounds and the same captures as in the class library, in the same order. Where this crate cannot be sure of that, it [gives up](GiveUp)
//!   and has changed nothing, so the class library's interpreter begins at the same position.
//! * Time is bounded: a call does a limited amount of work ([`matcher`]), because its thread cannot be stopped meanwhile.
//! * The crate knows no objects and has no `unsafe`: texts and programs are slices.

mod matcher;
mod prefix;
mod program;
pub mod sets;

pub use matcher::{Capture, Captures, Matcher, Outcome, Text};
pub use program::Program;

/// The class library is to do this itself: the program, a character of the text or the amount of work is beyond this crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GiveUp;
