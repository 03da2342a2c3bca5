//! A field, and where it lies.
//!
//! # Invariants
//! * A field belongs to one class. Each instantiation has fields of its own, because their types
//!   and offsets differ.
//! * The offset of a field is known once its class has a layout, and never changes.
//! * Offsets of instance fields count from the start of the value, without the object header. In
//!   the heap every field is at `HEADER_SIZE + offset`; this includes the fields of boxed value
//!   types.
//! * What memory a field takes is read from the first bytes of its signature where these decide it
//!   ([`FieldForm`]). The types of reference fields are therefore not loaded for a layout, and
//!   classes may refer to each other.
use crate::resolve::open_field_type;
use crate::*;
use vervet_metadata::{SigReader, SigType, Table, parse_field_sig};
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
    /// In a block per remoting context.
    Context,
    /// In the image: initial data at an RVA.
    Rva,
}

/// What a field's signature says of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldForm {
    /// A reference.
    Ref,
    /// A primitive.
    Prim(Prim),
    /// An unmanaged pointer or a function pointer.
    Ptr,
    /// A managed pointer.
    ByRef,
    /// A value type or type variable: look at the class.
    Class,
}

impl FieldForm {
    /// Reads a FieldSig (II.23.2.4) as far as needed.
    pub(crate) fn read(blob: &[u8]) -> FieldForm {
        let mut at = blob.get(1..).unwrap_or_default();
        while let [0x1F | 0x20, rest @ ..] = at {
            let mut reader = SigReader::new(rest);
            if reader.compressed_u32().is_err() {
                return FieldForm::Class;
            }
            at = reader.rest();
        }
        match at {
            [0x02, ..] => FieldForm::Prim(Prim::Bool),
            [0x03, ..] => FieldForm::Prim(Prim::Char),
            [0x04, ..] => FieldForm::Prim(Prim::I1),
            [0x05, ..] => FieldForm::Prim(Prim::U1),
            [0x06, ..] => FieldForm::Prim(Prim::I2),
            [0x07, ..] => FieldForm::Prim(Prim::U2),
            [0x08, ..] => FieldForm::Prim(Prim::I4),
            [0x09, ..] => FieldForm::Prim(Prim::U4),
            [0x0A, ..] => FieldForm::Prim(Prim::I8),
            [0x0B, ..] => FieldForm::Prim(Prim::U8),
            [0x0C, ..] => FieldForm::Prim(Prim::R4),
            [0x0D, ..] => FieldForm::Prim(Prim::R8),
            [0x18, ..] => FieldForm::Prim(Prim::IntPtr),
            [0x19, ..] => FieldForm::Prim(Prim::UIntPtr),
            [0x0F | 0x1B, ..] => FieldForm::Ptr,
            [0x10, ..] => FieldForm::ByRef,
            [0x0E | 0x12 | 0x14 | 0x1C | 0x1D, ..] | [0x15, 0x12, ..] => FieldForm::Ref,
            _ => FieldForm::Class,
        }
    }
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
    pub(crate) form: FieldForm,
    pub(crate) blob: &'static [u8],
    /// The same field of the generic type definition, if the class is an instantiation.
    pub(crate) typical: Option<FieldRef>,
    pub(crate) ty: Published<Class>,
    pub(crate) open_ty: Published<Class>,
}
impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Field {}
impl std::hash::Hash for Field {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u32(self.id);
    }
}
impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// Bits of FieldAttributes (II.23.1.5).
pub mod field_flags {
    #![expect(missing_docs, reason = "named as in the specification")]
    pub const STATIC: u32 = 0x10;
    pub const INIT_ONLY: u32 = 0x20;
    pub const LITERAL: u32 = 0x40;
    pub const HAS_RVA: u32 = 0x100;
}

impl Field {
    /// Its type, in its class's context.
    pub fn ty(&'static self) -> R<ClassRef> {
        if let Some(c) = self.ty.get() {
            return Ok(c);
        }
        let open = self.open_ty()?;
        let context = GenericContext {
            class_args: self.class.args(),
            method_args: &[],
        };
        let class = context.substitute(open)?;
        if self.form == FieldForm::Ref && class.is_value_type()? {
            return Err(LoadError::type_load(
                self.class,
                format!("field {} calls a value type a class", self.name),
            ));
        }
        Ok(self.ty.set(class))
    }
    /// Its type in terms of positions.
    pub fn open_ty(&'static self) -> R<ClassRef> {
        if let Some(c) = self.open_ty.get() {
            return Ok(c);
        }
        Ok(self.open_ty.set(match self.typical {
            Some(f) => f.open_ty()?,
            None => open_field_type(self.class.module, self.blob)
                .map_err(|e| e.in_row(self.class.module, self.token()))?,
        }))
    }
    /// The field of the generic type definition (itself if there is none).
    pub fn definition(&'static self) -> FieldRef {
        self.typical.unwrap_or(self)
    }
    /// Offset; see the module and [`StaticKind`]. Literals have none; that of an RVA field is 0.
    pub fn offset(&'static self) -> R<u32> {
        if self.is_static() {
            return Ok(self.static_place()?.1);
        }
        let offsets = &self.class.instance_layout()?.offsets;
        offsets
            .get(self.index as usize)
            .copied()
            .ok_or_else(|| LoadError::missing_field(self.class, self.name))
    }
    fn static_place(&'static self) -> R<(StaticKind, u32)> {
        let place = self
            .class
            .layout()?
            .statics
            .get(self.index as usize)
            .copied()
            .flatten();
        place.ok_or_else(|| LoadError::missing_field(self.class, self.name))
    }
    /// Where a static field lives. An error for literals and instance fields.
    pub fn static_kind(&'static self) -> R<StaticKind> {
        Ok(self.static_place()?.0)
    }
    /// The initial data of an RVA field, as many bytes as its type has.
    pub fn rva_data(&'static self) -> R<&'static [u8]> {
        let module = self.class.module;
        let none = || LoadError::missing_field(self.class, self.name);
        let rid = module.image.field_rva_of(self.rid).ok_or_else(none)?;
        let row = module.image.field_rva(rid).map_err(|e| module.bad(e))?;
        if self.form == FieldForm::Class && !self.ty()?.layout()?.ref_map.is_empty() {
            // The bytes of an image are no references.
            return Err(LoadError::type_load(
                self.class,
                format!("field {} has an RVA and holds references", self.name),
            ));
        }
        let size = self.memory_size()? as usize;
        let data = module.image.rva_data(row.rva).map_err(|e| module.bad(e))?;
        data.get(..size).ok_or_else(|| {
            LoadError::bad_image(
                module,
                format!("the data of {} is truncated", self.full_name()),
            )
        })
    }
    /// Bytes that a value of its type takes as a field.
    pub fn memory_size(&'static self) -> R<u32> {
        Ok(match self.form {
            FieldForm::Prim(p) => p.size(),
            FieldForm::Ref | FieldForm::Ptr | FieldForm::ByRef => 8,
            FieldForm::Class => match self.ty()? {
                c if c.is_value_type()? => c.instance_layout()?.size,
                _ => 8,
            },
        })
    }
    /// `static`.
    pub fn is_static(&self) -> bool {
        self.flags & field_flags::STATIC != 0
    }
    /// `const`.
    pub fn is_literal(&self) -> bool {
        self.flags & field_flags::LITERAL != 0
    }
    /// Has initial data in the image.
    pub fn has_rva(&self) -> bool {
        self.flags & field_flags::HAS_RVA != 0
    }
    /// Of a static field that is `[ThreadStatic]` or `[ContextStatic]`: which. Of both attributes the first counts.
    pub fn block_kind(&self) -> Option<StaticKind> {
        let module = self.class.module;
        let mut attributes = module.image.custom_attributes_of(self.token());
        attributes.find_map(|rid| {
            let is = |name| module.attribute_is(rid, "System", name).unwrap_or(false);
            if is("ThreadStaticAttribute") {
                return Some(StaticKind::Thread);
            }
            is("ContextStaticAttribute").then_some(StaticKind::Context)
        })
    }
    /// `volatile`: has a required modifier IsVolatile.
    pub fn is_volatile(&self) -> bool {
        if !matches!(self.blob.get(1), Some(0x1F | 0x20)) {
            return false;
        }
        let Ok(mut ty) = parse_field_sig(self.blob) else {
            return false;
        };
        while let SigType::Modified {
            required,
            modifier,
            inner,
        } = ty
        {
            if required
                && self
                    .class
                    .module
                    .image
                    .type_name(modifier)
                    .is_ok_and(|n| n.name == "IsVolatile")
            {
                return true;
            }
            ty = *inner;
        }
        false
    }
    /// `0x04......`.
    pub fn token(&self) -> Token {
        Token::new(Table::Field, self.rid)
    }
    /// `Namespace.Type:name`.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.class.full_name(), self.name)
    }
}

impl Module {
    /// Whether a row has a custom attribute of a class of that name: read, not loaded.
    pub fn has_attribute(&self, parent: Token, namespace: &str, name: &str) -> bool {
        self.image
            .custom_attributes_of(parent)
            .any(|rid| self.attribute_is(rid, namespace, name).unwrap_or(false))
    }
    pub(crate) fn attribute_is(
        &self,
        rid: u32,
        namespace: &str,
        name: &str,
    ) -> Result<bool, vervet_metadata::Error> {
        let constructor = self.image.custom_attribute(rid)?.constructor;
        let class = match constructor.table() {
            Some(Table::MethodDef) => match self.image.method_owner(constructor.rid()) {
                Some(rid) => Token::new(Table::TypeDef, rid),
                None => return Ok(false),
            },
            Some(Table::MemberRef) => self.image.member_ref(constructor.rid())?.class,
            _ => return Ok(false),
        };
        if !class.is(Table::TypeDef) && !class.is(Table::TypeRef) {
            return Ok(false);
        }
        let found = self.image.type_name(class)?;
        Ok(found.name == name && found.namespace == namespace)
    }
}
