//! The frame of a method: its variables, what its prologue does and what `ret` undoes.
pub mod location;
pub mod prologue;
pub mod variables;
