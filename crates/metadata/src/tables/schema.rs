//! The shape of the table stream (II.22, II.24.2.6): which tables there are,
//! what kind of cell each column holds and how wide the cells of an image are.
//!
//! Invariant: a layout is computed once per image from the row counts and heap
//! size bits alone; cells never exceed four bytes.

use crate::token::Token;

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident = $value:literal,)*) => {
        /// A metadata table, numbered as in ECMA-335 (and, from 0x30, as in
        /// the portable PDB format).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the names are the specification's")]
        pub enum Table { $($(#[$doc])* $name = $value,)* }

        impl Table {
            /// Every table, in numeric order.
            pub const ALL: &'static [Table] = &[$(Table::$name,)*];

            /// The table with this number.
            #[inline]
            pub const fn from_u8(value: u8) -> Option<Table> {
                match value { $($value => Some(Table::$name),)* _ => None }
            }
        }
    };
}

tables! {
    Module = 0x00,
    TypeRef = 0x01,
    TypeDef = 0x02,
    FieldPtr = 0x03,
    Field = 0x04,
    MethodPtr = 0x05,
    MethodDef = 0x06,
    ParamPtr = 0x07,
    Param = 0x08,
    InterfaceImpl = 0x09,
    MemberRef = 0x0A,
    Constant = 0x0B,
    CustomAttribute = 0x0C,
    FieldMarshal = 0x0D,
    DeclSecurity = 0x0E,
    ClassLayout = 0x0F,
    FieldLayout = 0x10,
    StandAloneSig = 0x11,
    EventMap = 0x12,
    EventPtr = 0x13,
    Event = 0x14,
    PropertyMap = 0x15,
    PropertyPtr = 0x16,
    Property = 0x17,
    MethodSemantics = 0x18,
    MethodImpl = 0x19,
    ModuleRef = 0x1A,
    TypeSpec = 0x1B,
    ImplMap = 0x1C,
    FieldRva = 0x1D,
    EncLog = 0x1E,
    EncMap = 0x1F,
    Assembly = 0x20,
    AssemblyProcessor = 0x21,
    AssemblyOs = 0x22,
    AssemblyRef = 0x23,
    AssemblyRefProcessor = 0x24,
    AssemblyRefOs = 0x25,
    File = 0x26,
    ExportedType = 0x27,
    ManifestResource = 0x28,
    NestedClass = 0x29,
    GenericParam = 0x2A,
    MethodSpec = 0x2B,
    GenericParamConstraint = 0x2C,
    Document = 0x30,
    MethodDebugInformation = 0x31,
    LocalScope = 0x32,
    LocalVariable = 0x33,
    LocalConstant = 0x34,
    ImportScope = 0x35,
    StateMachineMethod = 0x36,
    CustomDebugInformation = 0x37,
}

/// How many table numbers a table stream can name.
pub(crate) const TABLE_SLOTS: usize = 64;
/// The widest table has nine columns (`Assembly`).
pub(crate) const MAX_COLUMNS: usize = 9;
/// Row numbers have 24 bits.
pub(crate) const MAX_ROWS: u32 = 0x00FF_FFFF;

/// What a column's cells hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// One byte of value and one of padding.
    U8,
    /// A 16-bit value.
    U16,
    /// A 32-bit value.
    U32,
    /// An index into `#Strings`.
    Str,
    /// An index into `#GUID`.
    Guid,
    /// An index into `#Blob`.
    Blob,
    /// A row number.
    Rid(Table),
    /// The first row of a run, perhaps through the table's `Ptr` table.
    List(Table),
    /// A coded index.
    Coded(Coded),
}

/// The kinds of coded index (II.24.2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum Coded {
    TypeDefOrRef,
    HasConstant,
    HasCustomAttribute,
    HasFieldMarshal,
    HasDeclSecurity,
    MemberRefParent,
    HasSemantics,
    MethodDefOrRef,
    MemberForwarded,
    Implementation,
    CustomAttributeType,
    ResolutionScope,
    TypeOrMethodDef,
    HasCustomDebugInformation,
}

impl Coded {
    /// How many low bits hold the tag.
    pub const fn tag_bits(self) -> u32 {
        match self {
            Coded::HasFieldMarshal
            | Coded::HasSemantics
            | Coded::MethodDefOrRef
            | Coded::MemberForwarded
            | Coded::TypeOrMethodDef => 1,
            Coded::TypeDefOrRef
            | Coded::HasConstant
            | Coded::HasDeclSecurity
            | Coded::Implementation
            | Coded::ResolutionScope => 2,
            Coded::MemberRefParent | Coded::CustomAttributeType => 3,
            Coded::HasCustomAttribute | Coded::HasCustomDebugInformation => 5,
        }
    }

    /// The table of each tag.
    pub const fn tables(self) -> &'static [Option<Table>] {
        use Table::*;
        const HAS_CUSTOM: [Option<Table>; 27] = [
            Some(MethodDef),
            Some(Field),
            Some(TypeRef),
            Some(TypeDef),
            Some(Param),
            Some(InterfaceImpl),
            Some(MemberRef),
            Some(Module),
            Some(DeclSecurity),
            Some(Property),
            Some(Event),
            Some(StandAloneSig),
            Some(ModuleRef),
            Some(TypeSpec),
            Some(Assembly),
            Some(AssemblyRef),
            Some(File),
            Some(ExportedType),
            Some(ManifestResource),
            Some(GenericParam),
            Some(GenericParamConstraint),
            Some(MethodSpec),
            Some(Document),
            Some(LocalScope),
            Some(LocalVariable),
            Some(LocalConstant),
            Some(ImportScope),
        ];
        match self {
            Coded::TypeDefOrRef => &[Some(TypeDef), Some(TypeRef), Some(TypeSpec)],
            Coded::HasConstant => &[Some(Field), Some(Param), Some(Property)],
            Coded::HasCustomAttribute => HAS_CUSTOM.split_at(22).0,
            Coded::HasFieldMarshal => &[Some(Field), Some(Param)],
            Coded::HasDeclSecurity => &[Some(TypeDef), Some(MethodDef), Some(Assembly)],
            Coded::MemberRefParent => &[
                Some(TypeDef),
                Some(TypeRef),
                Some(ModuleRef),
                Some(MethodDef),
                Some(TypeSpec),
            ],
            Coded::HasSemantics => &[Some(Event), Some(Property)],
            Coded::MethodDefOrRef => &[Some(MethodDef), Some(MemberRef)],
            Coded::MemberForwarded => &[Some(Field), Some(MethodDef)],
            Coded::Implementation => &[Some(File), Some(AssemblyRef), Some(ExportedType)],
            Coded::CustomAttributeType => &[None, None, Some(MethodDef), Some(MemberRef)],
            Coded::ResolutionScope => &[
                Some(Module),
                Some(ModuleRef),
                Some(AssemblyRef),
                Some(TypeRef),
            ],
            Coded::TypeOrMethodDef => &[Some(TypeDef), Some(MethodDef)],
            Coded::HasCustomDebugInformation => &HAS_CUSTOM,
        }
    }

    /// The token a raw cell stands for; `None` for a tag the specification
    /// does not assign or a row number over 24 bits.
    #[inline]
    pub fn decode(self, raw: u32) -> Option<Token> {
        let bits = self.tag_bits();
        let rid = raw >> bits;
        let tag = (raw & ((1 << bits) - 1)) as usize;
        match self.tables().get(tag).copied().flatten() {
            Some(table) if rid <= MAX_ROWS => Some(Token::new(table, rid)),
            // A wholly zero cell is "none" whatever its tag means.
            None if raw == 0 => Some(Token::NIL),
            _ => None,
        }
    }

    /// The raw cell for a token; `None` if this kind cannot name its table.
    #[inline]
    pub fn encode(self, token: Token) -> Option<u32> {
        let table = token.table()?;
        let tag = self.tables().iter().position(|t| *t == Some(table))?;
        Some(token.rid() << self.tag_bits() | tag as u32)
    }
}

/// Where a table's rows and cells lie.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layout {
    /// Offset of row 1 from the start of the rows.
    pub offset: usize,
    /// How many rows there are.
    pub rows: u32,
    /// How many bytes a row takes.
    pub row_size: u8,
    /// Where each column starts; one more entry closes the last, and another the cell behind the columns of rows that
    /// [`crate::growing`] has.
    pub starts: [u8; MAX_COLUMNS + 2],
}

impl Layout {
    /// How many entries `starts` has.
    pub(crate) const STARTS: usize = MAX_COLUMNS + 2;
}

/// The indirection table of a list column's target, if it can have one.
pub(crate) const fn ptr_table(table: Table) -> Option<Table> {
    match table {
        Table::Field => Some(Table::FieldPtr),
        Table::MethodDef => Some(Table::MethodPtr),
        Table::Param => Some(Table::ParamPtr),
        Table::Event => Some(Table::EventPtr),
        Table::Property => Some(Table::PropertyPtr),
        _ => None,
    }
}

/// How many bytes a cell takes, given the row counts that indices refer to
/// and the heap size bits (1: strings, 2: GUIDs, 4: blobs are wide).
pub(crate) fn cell_width(column: Column, rows: &[u32; TABLE_SLOTS], heap_sizes: u8) -> u8 {
    let count = |t: Table| rows[t as usize];
    let wide = |is_wide: bool| if is_wide { 4 } else { 2 };
    match column {
        Column::U8 | Column::U16 => 2,
        Column::U32 => 4,
        Column::Str => wide(heap_sizes & 1 != 0),
        Column::Guid => wide(heap_sizes & 2 != 0),
        Column::Blob => wide(heap_sizes & 4 != 0),
        Column::Rid(t) => wide(count(t) > 0xFFFF),
        Column::List(t) => {
            let n = match ptr_table(t).map(count) {
                Some(n) if n > 0 => n,
                _ => count(t),
            };
            wide(n > 0xFFFF)
        }
        Column::Coded(kind) => {
            let most = kind
                .tables()
                .iter()
                .flatten()
                .map(|t| count(*t))
                .max()
                .unwrap_or(0);
            wide(most >= 1 << (16 - kind.tag_bits()))
        }
    }
}
