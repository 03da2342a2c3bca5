//! A class: its identity, and the cells that its other levels are published in.
//!
//! # How it works
//! ```text
//! kind           example           element, arguments            created by
//! Def            List`1, String    its own parameters            Module::type_def
//! Inst           List`1<int>       args                          Universe::instantiate
//! SzArray        int[]             element                       Universe::sz_array
//! Array          int[,]            element, rank                 Universe::array
//! Ptr            int*              element                       Universe::ptr
//! ByRef          int&              element                       Universe::byref
//! FnPtr          method int *()    signature                     Universe::fn_ptr
//! GenericParam   T of List`1       owner, index                  Class::params
//! Position       !0, !!0           index                         Universe::position
//! ```
//!
//! # Invariants
//! * There is exactly one `Class` for a type, so types are compared by address.
//! * A plain field never changes. A cell is set once and never changes afterwards, so a reference
//!   into it stays valid.
//! * Asking for a level takes no lock, and never needs a level of a class that may need this one in
//!   turn (ECMA-335 II.10, and the table in the crate's documentation).
use crate::vtable::ImplCache;
use crate::*;
use vervet_metadata::Table;
use vervet_os::Published;

/// Primitive kinds, by what the JIT and marshalling do with them; the number is the ELEMENT_TYPE byte (II.23.1.16).
/// Enums answer with their own class's `prim == None`; ask [`Class::stack_prim`] for the underlying one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is the element type of that name")]
pub enum Prim {
    Void = 1,
    Bool = 2,
    Char = 3,
    I1 = 4,
    U1 = 5,
    I2 = 6,
    U2 = 7,
    I4 = 8,
    U4 = 9,
    I8 = 10,
    U8 = 11,
    R4 = 12,
    R8 = 13,
    IntPtr = 0x18,
    UIntPtr = 0x19,
}
impl Prim {
    /// Bytes in memory (Void: 1).
    pub fn size(self) -> u32 {
        match self {
            Prim::Void | Prim::Bool | Prim::I1 | Prim::U1 => 1,
            Prim::Char | Prim::I2 | Prim::U2 => 2,
            Prim::I4 | Prim::U4 | Prim::R4 => 4,
            _ => 8,
        }
    }
    /// The primitive that a type of namespace `System` in the core library is.
    pub(crate) fn of_name(name: &str) -> Option<Prim> {
        Some(match name {
            "Void" => Prim::Void,
            "Boolean" => Prim::Bool,
            "Char" => Prim::Char,
            "SByte" => Prim::I1,
            "Byte" => Prim::U1,
            "Int16" => Prim::I2,
            "UInt16" => Prim::U2,
            "Int32" => Prim::I4,
            "UInt32" => Prim::U4,
            "Int64" => Prim::I8,
            "UInt64" => Prim::U8,
            "Single" => Prim::R4,
            "Double" => Prim::R8,
            "IntPtr" => Prim::IntPtr,
            "UIntPtr" => Prim::UIntPtr,
            _ => return None,
        })
    }
    /// The well-known class of the primitive.
    pub fn known(self) -> Known {
        match self {
            Prim::Void => Known::Void,
            Prim::Bool => Known::Boolean,
            Prim::Char => Known::Char,
            Prim::I1 => Known::SByte,
            Prim::U1 => Known::Byte,
            Prim::I2 => Known::Int16,
            Prim::U2 => Known::UInt16,
            Prim::I4 => Known::Int32,
            Prim::U4 => Known::UInt32,
            Prim::I8 => Known::Int64,
            Prim::U8 => Known::UInt64,
            Prim::R4 => Known::Single,
            Prim::R8 => Known::Double,
            Prim::IntPtr => Known::IntPtr,
            Prim::UIntPtr => Known::UIntPtr,
        }
    }
}

/// What sort of type a class is.
pub enum ClassKind {
    /// A TypeDef; open if it has generic parameters.
    Def {
        /// Row of the TypeDef table.
        rid: u32,
        /// Its generic parameters ([`ClassKind::GenericParam`]), empty if it is not generic.
        params: Published<Vec<ClassRef>>,
    },
    /// An instantiation of a generic definition (closed, or open in somebody's parameters).
    Inst {
        /// The definition.
        def: ClassRef,
        /// One per parameter.
        args: &'static [ClassRef],
    },
    /// `T[]`.
    SzArray(ClassRef),
    /// `T[,]`, or `T[*]` for rank 1.
    Array {
        /// Element type.
        elem: ClassRef,
        /// Rank, at least 1.
        rank: u32,
    },
    /// `T*`.
    Ptr(ClassRef),
    /// `T&`.
    ByRef(ClassRef),
    /// A function pointer.
    FnPtr(&'static MethodSig),
    /// A generic parameter of a type or method definition, as reflection sees it.
    GenericParam {
        /// Row of the GenericParam table.
        rid: u32,
        /// Position.
        index: u32,
        /// The declaring type (for a method's parameter: the method's class).
        owner: ClassRef,
        /// Token of the owner: a TypeDef or MethodDef token.
        owner_token: Token,
    },
    /// A parameter by position only, for comparing signatures: `!n` or `!!n`.
    Position {
        /// Position.
        index: u32,
        /// Of the method rather than the type.
        of_method: bool,
    },
}

/// What a definition's `extends` column says it is, by name (II.10.1.7 without loading the parent).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nature {
    Reference,
    Value,
    Enum,
    Delegate,
}

/// See the module.
pub struct Class {
    /// What sort of type it is.
    pub kind: ClassKind,
    /// Dense process-wide id.
    pub id: u32,
    /// The module that declares it (arrays and the like: the element's module; instantiations: the definition's).
    pub module: ModuleRef,
    /// TypeAttributes (instantiations: the definition's; arrays: public sealed serializable class).
    pub flags: u32,
    /// Namespace, "" if none.
    pub namespace: &'static str,
    /// Simple name, with the `` `n `` suffix, with `[]`, `*`, `&` for constructed types.
    pub name: &'static str,
    /// The primitive that it is (System.Int32 ...), by name in the core library.
    pub prim: Option<Prim>,
    /// Contains a generic parameter somewhere: has no instances, is never compiled.
    pub is_open: bool,
    /// Nesting depth of instantiation (0 for definitions).
    pub inst_depth: u32,
    /// Number of types it is written with: bounds every walk of it.
    pub(crate) weight: u32,
    pub(crate) nature: Nature,
    /// Further levels. Private to this crate: use the methods.
    pub(crate) cells: Cells,
}

/// The levels of a class, each set once.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) parent: Published<Option<ClassRef>>,
    pub(crate) supers: Published<Vec<ClassRef>>,
    pub(crate) declared_interfaces: Published<Vec<ClassRef>>,
    pub(crate) interfaces: Published<Vec<ClassRef>>,
    pub(crate) fields: Published<Vec<FieldRef>>,
    pub(crate) methods: Published<Vec<MethodRef>>,
    pub(crate) method_cells: Published<Vec<Published<Method>>>,
    pub(crate) method_names: Published<find::NameIndex>,
    pub(crate) field_names: Published<find::NameIndex>,
    pub(crate) properties: Published<Vec<Property>>,
    pub(crate) events: Published<Vec<Event>>,
    pub(crate) enum_underlying: Published<Option<ClassRef>>,
    pub(crate) cctor: Published<Option<MethodRef>>,
    pub(crate) finalizer: Published<Option<MethodRef>>,
    pub(crate) instance_layout: Published<layout::InstanceLayout>,
    pub(crate) layout: Published<Layout>,
    pub(crate) vtable: Published<VTableLayout>,
    pub(crate) checked: Published<bool>,
    /// See [`Class::check_rows`].
    pub(crate) rows: std::sync::atomic::AtomicU8,
    /// [`Class::check_asked`] has found no error.
    pub(crate) asked: std::sync::atomic::AtomicBool,
    /// The same of [`Class::check_methods`].
    pub(crate) listed: std::sync::atomic::AtomicBool,
    pub(crate) method_impls: Published<Vec<vtable::MethodImpl>>,
    pub(crate) impls: ImplCache,
    pub(crate) sz_array: Published<Class>,
    pub(crate) byref: Published<Class>,
    pub(crate) ptr: Published<Class>,
    /// See [`Class::stable_hash`]; 0 before it is asked for.
    pub(crate) stable_hash: std::sync::atomic::AtomicU64,
    /// See [`facts`].
    pub(crate) facts: std::sync::atomic::AtomicU64,
    /// See [`Class::has_flags_attribute`]: 0 before anyone has asked, 1 for no, 2 for yes.
    pub(crate) flags_attribute: std::sync::atomic::AtomicU8,
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Class {}
impl std::hash::Hash for Class {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u32(self.id);
    }
}
impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}
impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// What reflection asks of a class most, in one word that generated code reads; 0 until it is filled. The lower half are the TypeAttributes.
pub mod facts {
    /// Where the word lies in a class.
    pub const OFFSET: usize = std::mem::offset_of!(super::Class, cells.facts);
    /// How far the element-type byte (ELEMENT_TYPE_*) is shifted.
    pub const ELEMENT_TYPE_SHIFT: u32 = 32;
    /// It is a generic parameter.
    pub const GENERIC_VARIABLE: u64 = 1 << 40;
    /// It is a generic type, open or not.
    pub const INSTANTIATION: u64 = 1 << 41;
    /// It is the definition of a generic type.
    pub const GENERIC_DEFINITION: u64 = 1 << 42;
    /// The word is filled.
    pub const KNOWN: u64 = 1 << 63;
}

/// Bits of TypeAttributes (II.23.1.15) that are used here.
pub mod type_flags {
    #![expect(missing_docs, reason = "named as in the specification")]
    pub const VISIBILITY_MASK: u32 = 7;
    pub const PUBLIC: u32 = 1;
    pub const NESTED_PUBLIC: u32 = 2;
    pub const NESTED_PRIVATE: u32 = 3;
    pub const NESTED_FAMILY: u32 = 4;
    pub const NESTED_ASSEMBLY: u32 = 5;
    pub const NESTED_FAM_AND_ASSEM: u32 = 6;
    pub const NESTED_FAM_OR_ASSEM: u32 = 7;
    pub const LAYOUT_MASK: u32 = 0x18;
    pub const SEQUENTIAL: u32 = 0x08;
    pub const EXPLICIT: u32 = 0x10;
    pub const INTERFACE: u32 = 0x20;
    pub const ABSTRACT: u32 = 0x80;
    pub const SEALED: u32 = 0x100;
    pub const IMPORT: u32 = 0x1000;
    pub const SERIALIZABLE: u32 = 0x2000;
    pub const BEFORE_FIELD_INIT: u32 = 0x10_0000;
}

impl Class {
    /// Fills the word of [`facts`], unless it is.
    pub fn note_facts(&self, find: impl FnOnce() -> Option<u64>) {
        use std::sync::atomic::Ordering::Relaxed;
        if self.cells.facts.load(Relaxed) == 0
            && let Some(word) = find()
        {
            self.cells.facts.store(word | facts::KNOWN, Relaxed);
        }
    }
    /// Whether an enum has FlagsAttribute, or one derived from it. None: nobody has found out yet.
    pub fn has_flags_attribute(&self) -> Option<bool> {
        use std::sync::atomic::Ordering::Relaxed;
        match self.cells.flags_attribute.load(Relaxed) {
            0 => None,
            known => Some(known == 2),
        }
    }
    /// Notes for [`Class::has_flags_attribute`] what reflection has found.
    pub fn note_flags_attribute(&self, has: bool) {
        use std::sync::atomic::Ordering::Relaxed;
        self.cells.flags_attribute.store(1 + u8::from(has), Relaxed);
    }
    /// The universe it lives in.
    pub fn universe(&self) -> &'static Universe {
        self.module.universe()
    }
    /// The generic definition of an instantiation, else itself.
    pub fn def(&'static self) -> ClassRef {
        match self.kind {
            ClassKind::Inst { def, .. } => def,
            _ => self,
        }
    }
    /// Row of the TypeDef table of a definition or an instantiation; 0 for other kinds.
    pub fn rid(&self) -> u32 {
        match self.kind {
            ClassKind::Def { rid, .. } => rid,
            ClassKind::Inst { def, .. } => def.rid(),
            _ => 0,
        }
    }
    /// `0x02......` of a definition or an instantiation, `0x2A......` of a generic parameter, else `0x02000000`.
    pub fn token(&self) -> Token {
        match self.kind {
            ClassKind::GenericParam { rid, .. } => Token::new(Table::GenericParam, rid),
            _ => Token::new(Table::TypeDef, self.rid()),
        }
    }
    /// Arguments of an instantiation; the own parameters of a generic definition; else empty.
    pub fn args(&'static self) -> &'static [ClassRef] {
        match &self.kind {
            ClassKind::Inst { args, .. } => args,
            ClassKind::Def { .. } => self.params().unwrap_or(&[]),
            _ => &[],
        }
    }
    /// A generic definition that is not instantiated.
    pub fn is_generic_def(&'static self) -> bool {
        matches!(self.kind, ClassKind::Def { .. }) && self.is_open
    }
    /// An instantiation.
    pub fn is_inst(&self) -> bool {
        matches!(self.kind, ClassKind::Inst { .. })
    }
    /// A generic definition or an instantiation.
    pub fn is_generic(&'static self) -> bool {
        self.is_inst() || self.is_generic_def()
    }
    /// Element of an array, pointer or byref.
    pub fn element(&self) -> Option<ClassRef> {
        match self.kind {
            ClassKind::SzArray(e)
            | ClassKind::Ptr(e)
            | ClassKind::ByRef(e)
            | ClassKind::Array { elem: e, .. } => Some(e),
            _ => None,
        }
    }
    /// Rank of an array.
    pub fn rank(&self) -> Option<u32> {
        match self.kind {
            ClassKind::SzArray(_) => Some(1),
            ClassKind::Array { rank, .. } => Some(rank),
            _ => None,
        }
    }
    /// `T[]`.
    pub fn is_sz_array(&self) -> bool {
        matches!(self.kind, ClassKind::SzArray(_))
    }
    /// Any array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, ClassKind::SzArray(_) | ClassKind::Array { .. })
    }
    /// `T*`.
    pub fn is_ptr(&self) -> bool {
        matches!(self.kind, ClassKind::Ptr(_))
    }
    /// `T&`.
    pub fn is_byref(&self) -> bool {
        matches!(self.kind, ClassKind::ByRef(_))
    }
    /// A function pointer.
    pub fn is_fn_ptr(&self) -> bool {
        matches!(self.kind, ClassKind::FnPtr(_))
    }
    /// A generic parameter (not a position).
    pub fn is_generic_param(&self) -> bool {
        matches!(self.kind, ClassKind::GenericParam { .. })
    }
    /// A generic parameter or a position.
    pub(crate) fn is_variable(&self) -> bool {
        matches!(
            self.kind,
            ClassKind::GenericParam { .. } | ClassKind::Position { .. }
        )
    }
    /// An interface.
    pub fn is_interface(&self) -> bool {
        self.flags & type_flags::INTERFACE != 0
    }
    /// Abstract.
    pub fn is_abstract(&self) -> bool {
        self.flags & type_flags::ABSTRACT != 0
    }
    /// Sealed.
    pub fn is_sealed(&self) -> bool {
        self.flags & type_flags::SEALED != 0
    }
    /// Its class constructor may run early.
    pub fn is_before_field_init(&self) -> bool {
        self.flags & type_flags::BEFORE_FIELD_INIT != 0
    }
    /// A value type: a primitive, enum or struct (pointers and generic parameters are not).
    pub fn is_value_type(&self) -> R<bool> {
        Ok(matches!(self.nature, Nature::Value | Nature::Enum))
    }
    /// An enum.
    pub fn is_enum(&self) -> R<bool> {
        Ok(self.nature == Nature::Enum)
    }
    /// A delegate class (not System.Delegate or MulticastDelegate).
    pub fn is_delegate(&self) -> R<bool> {
        Ok(self.nature == Nature::Delegate)
    }
    /// `Nullable<T>`, instantiated or not.
    pub fn is_nullable(&'static self) -> bool {
        self.nature == Nature::Value && self.def() == self.universe().known(Known::Nullable)
    }
    /// The `T` of a `Nullable<T>`.
    pub fn nullable_arg(&'static self) -> Option<ClassRef> {
        if self.is_inst() && self.is_nullable() {
            self.args().first().copied()
        } else {
            None
        }
    }
    /// The fields of a Nullable: whether there is a value, and the value.
    pub fn nullable_fields(&'static self) -> R<(FieldRef, FieldRef)> {
        let missing = |name| LoadError::missing_field(self, name);
        // The name differs between versions of the class library.
        let flag = match self.find_field("hasValue")? {
            None => self.find_field("has_value")?,
            found => found,
        };
        let flag = flag.ok_or_else(|| missing("hasValue"))?;
        let value = self.find_field("value")?.ok_or_else(|| missing("value"))?;
        Ok((flag, value))
    }
    /// Is a reference on the stack: a class, interface, array, string, object. An error for generic parameters.
    pub fn is_reference_type(&'static self) -> R<bool> {
        Ok(match self.kind {
            ClassKind::Def { .. } | ClassKind::Inst { .. } => {
                matches!(self.nature, Nature::Reference | Nature::Delegate)
            }
            ClassKind::SzArray(_) | ClassKind::Array { .. } => true,
            ClassKind::Ptr(_) | ClassKind::ByRef(_) | ClassKind::FnPtr(_) => false,
            _ => {
                return Err(LoadError::type_load(
                    self,
                    "a generic parameter is of no kind yet",
                ));
            }
        })
    }
    /// The primitive it travels as: its own, or its underlying one if it is an enum.
    pub fn stack_prim(&'static self) -> R<Option<Prim>> {
        match self.nature {
            Nature::Value => Ok(self.prim),
            Nature::Enum => Ok(self.enum_underlying()?.and_then(|u| u.prim)),
            _ => Ok(None),
        }
    }
    /// The scope its own metadata is resolved in: its module and its arguments.
    pub fn scope(&'static self) -> Scope {
        Scope {
            module: self.module,
            context: GenericContext {
                class_args: self.args(),
                method_args: &[],
            },
            dynamic: None,
        }
    }
}
