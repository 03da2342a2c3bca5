//! Roots: words of stacks and registers, which may be references, and root memory, which holds references.
pub mod conservative;
pub mod static_area;
pub mod statics;
