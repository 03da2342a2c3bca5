//! A field, and where it lies.
//!
//! # Invariants
//! A field belongs to one class: each instantiation has its own. Its offset is known once its class has a layout
//! and never changes; offsets of instance fields count from the start of the value, so that in the heap every field
//! is at `HEADER_SIZE + offset`, those of value types included.
use crate::*;
use vervet_metadata::SigType;
use vervet_os::Published;

/// Where a static field lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StaticKind {
    /// In the class's memory that holds references (value types that contain references too).
    Refs,
    /// In the class's memory without references.
    Values,
    /// In a block per thread.
    Thread,
    /// In the image: initial data at an RVA.
    Rva,
}

/// A field of a class.
pub struct Field {
    /// Dense process-wide id.
    pub id: u32,
    /// The class it belongs to (the instantiation, not the definition).
    pub class: ClassRef,
    /// Row of the Field table of `class.module`.
    pub rid: u32,
    /// Index among the fields of its class.
    pub index: u32,
    /// Name.
    pub name: &'static str,
    /// FieldAttributes.
    pub flags: u32,
    pub(crate) ty: Published<Class>,
    pub(crate) raw: Published<SigType>,
}
impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Field {}
impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.class.full_name(), self.name)
    }
}
