//! Roots: words of stacks and registers that may be references ([`conservative`]), and root memory, whose references are known ([`statics`],
//! [`static_area`]).
pub mod conservative;
pub mod static_area;
pub mod statics;
