//! Where fields lie: instances and statics (II.10.7).
//!
//! # Invariants
//! Offsets count from the start of the value; the object header is not part of it. The layout of a class needs the
//! *instance* layout of the value types among its fields and its parent's, and nothing of its reference fields: what
//! a field is, its signature's first byte says. A value type that contains itself ends at [`MAX_DEPTH`].
use crate::*;
use smallvec::SmallVec;

/// What one leaf of a small value type is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "each is the memory of that name")]
pub enum LeafKind {
    I1,
    U1,
    I2,
    U2,
    I4,
    I8,
    R4,
    R8,
    Ref,
    Ptr,
}
/// A primitive or reference within a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Leaf {
    /// From the start of the value.
    pub offset: u32,
    /// What it is.
    pub kind: LeafKind,
}

/// The instance part of a layout.
#[derive(Debug)]
pub struct InstanceLayout {
    /// Bytes of the value without header, at least 1 for value types: instance data of reference types, the value of value types.
    pub size: u32,
    /// Alignment: 1, 2, 4 or 8.
    pub align: u32,
    /// Word offsets (`offset / 8`) of the references within the value, sorted.
    pub ref_map: Vec<u32>,
    /// A value type of at most 16 bytes and 4 aligned, non-overlapping leaves travels as scalars; others, explicit and
    /// packed ones among them, do not.
    pub leaves: Option<SmallVec<[Leaf; 4]>>,
    /// Is the same in native memory.
    pub blittable: bool,
    /// Contains a managed pointer: lives on the stack only.
    pub has_by_ref_like: bool,
    /// Offset of each field of the class, by index (statics: unused).
    pub(crate) offsets: Vec<u32>,
}

/// The whole layout; the instance part by dereference.
#[derive(Debug)]
pub struct Layout {
    pub(crate) instance: &'static InstanceLayout,
    /// Bytes of the statics that contain references.
    pub statics_refs_size: u32,
    /// Word offsets of the references in them.
    pub statics_refs_map: Vec<u32>,
    /// Bytes of the other statics.
    pub statics_values_size: u32,
    /// Bytes of a thread's block.
    pub thread_statics_size: u32,
    /// Word offsets of the references in it.
    pub thread_statics_map: Vec<u32>,
    /// Kind and offset of each static field, by index.
    pub(crate) statics: Vec<Option<(StaticKind, u32)>>,
}
impl std::ops::Deref for Layout {
    type Target = InstanceLayout;
    fn deref(&self) -> &InstanceLayout {
        self.instance
    }
}

impl Class {
    /// Where its fields lie.
    pub fn layout(&'static self) -> R<&'static Layout> {
        todo!()
    }
}
impl Field {
    /// Its type, in its class's context.
    pub fn ty(&'static self) -> R<ClassRef> {
        todo!()
    }
    /// Offset; see the module and [`StaticKind`].
    pub fn offset(&'static self) -> R<u32> {
        todo!()
    }
    /// Where a static field lives.
    pub fn static_kind(&'static self) -> R<StaticKind> {
        todo!()
    }
    /// The initial data of an RVA field, as many bytes as its type has.
    pub fn rva_data(&'static self) -> R<&'static [u8]> {
        todo!()
    }
    /// `static`.
    pub fn is_static(&self) -> bool {
        self.flags & 0x10 != 0
    }
    /// `const`.
    pub fn is_literal(&self) -> bool {
        self.flags & 0x40 != 0
    }
    /// `readonly`.
    pub fn is_init_only(&self) -> bool {
        self.flags & 0x20 != 0
    }
    /// Has initial data in the image.
    pub fn has_rva(&self) -> bool {
        self.flags & 0x100 != 0
    }
    /// `[ThreadStatic]`.
    pub fn is_thread_static(&self) -> bool {
        todo!()
    }
    /// `volatile`.
    pub fn is_volatile(&self) -> bool {
        todo!()
    }
    /// `0x04......`.
    pub fn token(&self) -> Token {
        Token::new(vervet_metadata::Table::Field, self.rid)
    }
    /// `Namespace.Type:name`.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.class.full_name(), self.name)
    }
}
