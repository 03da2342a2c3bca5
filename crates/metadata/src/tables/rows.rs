//! One plain struct and one accessor per table (II.22).
//!
//! Invariant: a row's columns are written down once, here, in the order of the
//! specification; the layout and the accessors both come from this list. Heap
//! and row indices are handed out as they are and are checked where used.

use super::Tables;
use super::cells::Cells;
use super::schema::{Coded, Column, Table};
use crate::error::Error;
use crate::image::Image;
use crate::token::Token;

macro_rules! column {
    (U8) => {
        Column::U8
    };
    (U16) => {
        Column::U16
    };
    (U32) => {
        Column::U32
    };
    (Str) => {
        Column::Str
    };
    (Guid) => {
        Column::Guid
    };
    (Blob) => {
        Column::Blob
    };
    (Rid $arg:ident) => {
        Column::Rid(Table::$arg)
    };
    (List $arg:ident) => {
        Column::List(Table::$arg)
    };
    (Coded $arg:ident) => {
        Column::Coded(Coded::$arg)
    };
}

macro_rules! cell_type {
    (U8) => {
        u8
    };
    (U16) => {
        u16
    };
    (Coded) => {
        Token
    };
    ($other:ident) => {
        u32
    };
}

macro_rules! cell_value {
    (U8, $raw:expr, $bad:expr) => {
        ($raw & 0xFF) as u8
    };
    (U16, $raw:expr, $bad:expr) => {
        ($raw & 0xFFFF) as u16
    };
    (Coded $arg:ident, $raw:expr, $bad:expr) => {
        Coded::$arg.decode($raw).ok_or($bad)?
    };
    ($kind:ident $($arg:ident)?, $raw:expr, $bad:expr) => {
        $raw
    };
}

macro_rules! rows {
    ($(
        $(#[$doc:meta])*
        $table:ident $row:ident $accessor:ident {
            $( $(#[$fdoc:meta])* $field:ident : $kind:ident $(($arg:ident))? ),* $(,)?
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $row { $( $(#[$fdoc])* pub $field: cell_type!($kind), )* }

            impl $row {
                const COLUMNS: &'static [Column] = &[$( column!($kind $($arg)?) ),*];

                #[inline]
                fn read(cells: Cells<'_, '_>, rid: u32) -> Result<$row, Error> {
                    let _bad = Error::Row {
                        table: Table::$table,
                        rid,
                        reason: "a coded index has an unassigned tag",
                    };
                    let mut i = 0usize;
                    $(
                        let raw = cells.get(i);
                        let $field = cell_value!($kind $($arg)?, raw, _bad);
                        i += 1;
                    )*
                    let _ = i;
                    Ok($row { $($field),* })
                }
            }
        )*

        impl Table {
            /// The table's columns, in order.
            pub const fn columns(self) -> &'static [Column] {
                match self { $( Table::$table => $row::COLUMNS, )* }
            }
        }

        impl<'a> Tables<'a> {
            $(
                #[doc = concat!("Row `rid` (from 1) of the `", stringify!($table), "` table.")]
                #[inline]
                pub fn $accessor(&self, rid: u32) -> Result<$row, Error> {
                    $row::read(self.cells(Table::$table, rid)?, rid)
                }
            )*

            /// Decodes a row of any table only to see whether it can be.
            pub fn check_row(&self, table: Table, rid: u32) -> Result<(), Error> {
                match table { $( Table::$table => self.$accessor(rid).map(drop), )* }
            }
        }

        impl<'a> Image<'a> {
            $(
                #[doc = concat!("Row `rid` (from 1) of the `", stringify!($table), "` table.")]
                #[inline]
                pub fn $accessor(&self, rid: u32) -> Result<$row, Error> {
                    self.tables().$accessor(rid)
                }
            )*
        }
    };
}

rows! {
    /// II.22.30
    Module ModuleRow module {
        /// Reserved.
        generation: U16,
        /// Name (`#Strings`).
        name: Str,
        /// Version identifier (`#GUID`).
        mvid: Guid,
        /// Reserved.
        enc_id: Guid,
        /// Reserved.
        enc_base_id: Guid,
    }
    /// II.22.38
    TypeRef TypeRefRow type_ref {
        /// Module, ModuleRef, AssemblyRef or enclosing TypeRef; nil: exported.
        resolution_scope: Coded(ResolutionScope),
        /// Name (`#Strings`).
        name: Str,
        /// Namespace (`#Strings`).
        namespace: Str,
    }
    /// II.22.37
    TypeDef TypeDefRow type_def {
        /// TypeAttributes.
        flags: U32,
        /// Name (`#Strings`).
        name: Str,
        /// Namespace (`#Strings`).
        namespace: Str,
        /// Base type: TypeDef, TypeRef, TypeSpec or nil.
        extends: Coded(TypeDefOrRef),
        /// First field; see [`Image::type_fields`].
        field_list: List(Field),
        /// First method; see [`Image::type_methods`].
        method_list: List(MethodDef),
    }
    /// Indirection of `#-` streams.
    FieldPtr FieldPtrRow field_ptr {
        /// The field.
        field: Rid(Field),
    }
    /// II.22.15
    Field FieldRow field {
        /// FieldAttributes.
        flags: U16,
        /// Name (`#Strings`).
        name: Str,
        /// FieldSig (`#Blob`).
        signature: Blob,
    }
    /// Indirection of `#-` streams.
    MethodPtr MethodPtrRow method_ptr {
        /// The method.
        method: Rid(MethodDef),
    }
    /// II.22.26
    MethodDef MethodDefRow method_def {
        /// Where the body is, or 0.
        rva: U32,
        /// MethodImplAttributes.
        impl_flags: U16,
        /// MethodAttributes.
        flags: U16,
        /// Name (`#Strings`).
        name: Str,
        /// MethodDefSig (`#Blob`).
        signature: Blob,
        /// First parameter; see [`Image::method_params`].
        param_list: List(Param),
    }
    /// Indirection of `#-` streams.
    ParamPtr ParamPtrRow param_ptr {
        /// The parameter.
        param: Rid(Param),
    }
    /// II.22.33
    Param ParamRow param {
        /// ParamAttributes.
        flags: U16,
        /// Position from 1; 0 is the return value.
        sequence: U16,
        /// Name (`#Strings`).
        name: Str,
    }
    /// II.22.23
    InterfaceImpl InterfaceImplRow interface_impl {
        /// The TypeDef that implements.
        class: Rid(TypeDef),
        /// The interface.
        interface: Coded(TypeDefOrRef),
    }
    /// II.22.25
    MemberRef MemberRefRow member_ref {
        /// TypeDef, TypeRef, ModuleRef, MethodDef or TypeSpec.
        class: Coded(MemberRefParent),
        /// Name (`#Strings`).
        name: Str,
        /// MethodRefSig or FieldSig (`#Blob`).
        signature: Blob,
    }
    /// II.22.9
    Constant ConstantRow constant {
        /// Element type of the value.
        kind: U8,
        /// Field, Param or Property.
        parent: Coded(HasConstant),
        /// The value (`#Blob`).
        value: Blob,
    }
    /// II.22.10
    CustomAttribute CustomAttributeRow custom_attribute {
        /// What is annotated.
        parent: Coded(HasCustomAttribute),
        /// MethodDef or MemberRef.
        constructor: Coded(CustomAttributeType),
        /// The arguments (`#Blob`).
        value: Blob,
    }
    /// II.22.17
    FieldMarshal FieldMarshalRow field_marshal {
        /// Field or Param.
        parent: Coded(HasFieldMarshal),
        /// MarshalSpec (`#Blob`).
        native_type: Blob,
    }
    /// II.22.11
    DeclSecurity DeclSecurityRow decl_security {
        /// SecurityAction.
        action: U16,
        /// TypeDef, MethodDef or Assembly.
        parent: Coded(HasDeclSecurity),
        /// The permissions (`#Blob`).
        permission_set: Blob,
    }
    /// II.22.8
    ClassLayout ClassLayoutRow class_layout {
        /// Alignment of fields.
        packing_size: U16,
        /// Least size.
        class_size: U32,
        /// The TypeDef.
        parent: Rid(TypeDef),
    }
    /// II.22.16
    FieldLayout FieldLayoutRow field_layout {
        /// Byte offset.
        offset: U32,
        /// The field.
        field: Rid(Field),
    }
    /// II.22.36
    StandAloneSig StandAloneSigRow stand_alone_sig {
        /// Locals, method or field signature (`#Blob`).
        signature: Blob,
    }
    /// II.22.12
    EventMap EventMapRow event_map {
        /// The TypeDef.
        parent: Rid(TypeDef),
        /// First event; see [`Image::type_events`].
        event_list: List(Event),
    }
    /// Indirection of `#-` streams.
    EventPtr EventPtrRow event_ptr {
        /// The event.
        event: Rid(Event),
    }
    /// II.22.13
    Event EventRow event {
        /// EventAttributes.
        flags: U16,
        /// Name (`#Strings`).
        name: Str,
        /// The delegate type.
        event_type: Coded(TypeDefOrRef),
    }
    /// II.22.35
    PropertyMap PropertyMapRow property_map {
        /// The TypeDef.
        parent: Rid(TypeDef),
        /// First property; see [`Image::type_properties`].
        property_list: List(Property),
    }
    /// Indirection of `#-` streams.
    PropertyPtr PropertyPtrRow property_ptr {
        /// The property.
        property: Rid(Property),
    }
    /// II.22.34
    Property PropertyRow property {
        /// PropertyAttributes.
        flags: U16,
        /// Name (`#Strings`).
        name: Str,
        /// PropertySig (`#Blob`).
        signature: Blob,
    }
    /// II.22.28
    MethodSemantics MethodSemanticsRow method_semantics {
        /// MethodSemanticsAttributes.
        semantics: U16,
        /// The MethodDef.
        method: Rid(MethodDef),
        /// Event or Property.
        association: Coded(HasSemantics),
    }
    /// II.22.27
    MethodImpl MethodImplRow method_impl {
        /// The TypeDef.
        class: Rid(TypeDef),
        /// MethodDef or MemberRef that implements.
        body: Coded(MethodDefOrRef),
        /// MethodDef or MemberRef that is implemented.
        declaration: Coded(MethodDefOrRef),
    }
    /// II.22.31
    ModuleRef ModuleRefRow module_ref {
        /// Name (`#Strings`).
        name: Str,
    }
    /// II.22.39
    TypeSpec TypeSpecRow type_spec {
        /// TypeSpec signature (`#Blob`).
        signature: Blob,
    }
    /// II.22.22
    ImplMap ImplMapRow impl_map {
        /// PInvokeAttributes.
        flags: U16,
        /// Field or MethodDef.
        member: Coded(MemberForwarded),
        /// Name of the native entry (`#Strings`).
        import_name: Str,
        /// The ModuleRef.
        import_scope: Rid(ModuleRef),
    }
    /// II.22.18
    FieldRva FieldRvaRow field_rva {
        /// Where the initial value is.
        rva: U32,
        /// The field.
        field: Rid(Field),
    }
    /// Edit-and-continue log.
    EncLog EncLogRow enc_log {
        /// A token.
        token: U32,
        /// What was done.
        func_code: U32,
    }
    /// Edit-and-continue map.
    EncMap EncMapRow enc_map {
        /// A token.
        token: U32,
    }
    /// II.22.2
    Assembly AssemblyRow assembly {
        /// AssemblyHashAlgorithm.
        hash_alg: U32,
        /// Version, first part.
        major: U16,
        /// Version, second part.
        minor: U16,
        /// Version, third part.
        build: U16,
        /// Version, fourth part.
        revision: U16,
        /// AssemblyFlags.
        flags: U32,
        /// Public key (`#Blob`).
        public_key: Blob,
        /// Name (`#Strings`).
        name: Str,
        /// Culture (`#Strings`).
        culture: Str,
    }
    /// II.22.4
    AssemblyProcessor AssemblyProcessorRow assembly_processor {
        /// Unused.
        processor: U32,
    }
    /// II.22.3
    AssemblyOs AssemblyOsRow assembly_os {
        /// Unused.
        platform_id: U32,
        /// Unused.
        major: U32,
        /// Unused.
        minor: U32,
    }
    /// II.22.5
    AssemblyRef AssemblyRefRow assembly_ref {
        /// Version, first part.
        major: U16,
        /// Version, second part.
        minor: U16,
        /// Version, third part.
        build: U16,
        /// Version, fourth part.
        revision: U16,
        /// AssemblyFlags.
        flags: U32,
        /// Public key or its token (`#Blob`).
        public_key_or_token: Blob,
        /// Name (`#Strings`).
        name: Str,
        /// Culture (`#Strings`).
        culture: Str,
        /// Hash (`#Blob`).
        hash: Blob,
    }
    /// II.22.7
    AssemblyRefProcessor AssemblyRefProcessorRow assembly_ref_processor {
        /// Unused.
        processor: U32,
        /// The AssemblyRef.
        assembly_ref: Rid(AssemblyRef),
    }
    /// II.22.6
    AssemblyRefOs AssemblyRefOsRow assembly_ref_os {
        /// Unused.
        platform_id: U32,
        /// Unused.
        major: U32,
        /// Unused.
        minor: U32,
        /// The AssemblyRef.
        assembly_ref: Rid(AssemblyRef),
    }
    /// II.22.19
    File FileRow file {
        /// FileAttributes.
        flags: U32,
        /// Name (`#Strings`).
        name: Str,
        /// Hash (`#Blob`).
        hash: Blob,
    }
    /// II.22.14
    ExportedType ExportedTypeRow exported_type {
        /// TypeAttributes.
        flags: U32,
        /// A hint: the TypeDef in the other module.
        type_def_id: U32,
        /// Name (`#Strings`).
        name: Str,
        /// Namespace (`#Strings`).
        namespace: Str,
        /// File, AssemblyRef or enclosing ExportedType.
        implementation: Coded(Implementation),
    }
    /// II.22.24
    ManifestResource ManifestResourceRow manifest_resource {
        /// Offset in the resources directory.
        offset: U32,
        /// ManifestResourceAttributes.
        flags: U32,
        /// Name (`#Strings`).
        name: Str,
        /// File, AssemblyRef or nil (this file).
        implementation: Coded(Implementation),
    }
    /// II.22.32
    NestedClass NestedClassRow nested_class {
        /// The nested TypeDef.
        nested: Rid(TypeDef),
        /// The enclosing TypeDef.
        enclosing: Rid(TypeDef),
    }
    /// II.22.20
    GenericParam GenericParamRow generic_param {
        /// Position from 0.
        number: U16,
        /// GenericParamAttributes.
        flags: U16,
        /// TypeDef or MethodDef.
        owner: Coded(TypeOrMethodDef),
        /// Name (`#Strings`).
        name: Str,
    }
    /// II.22.29
    MethodSpec MethodSpecRow method_spec {
        /// The generic MethodDef or MemberRef.
        method: Coded(MethodDefOrRef),
        /// MethodSpec signature (`#Blob`).
        instantiation: Blob,
    }
    /// II.22.21
    GenericParamConstraint GenericParamConstraintRow generic_param_constraint {
        /// The GenericParam.
        owner: Rid(GenericParam),
        /// The type.
        constraint: Coded(TypeDefOrRef),
    }
    /// Portable PDB.
    Document DocumentRow document {
        /// Name (`#Blob`, a list of parts).
        name: Blob,
        /// Hash algorithm (`#GUID`).
        hash_algorithm: Guid,
        /// Hash (`#Blob`).
        hash: Blob,
        /// Language (`#GUID`).
        language: Guid,
    }
    /// Portable PDB: one row per MethodDef.
    MethodDebugInformation MethodDebugInformationRow method_debug_information {
        /// The Document, or 0 when there are several or none.
        document: Rid(Document),
        /// The points (`#Blob`).
        sequence_points: Blob,
    }
    /// Portable PDB.
    LocalScope LocalScopeRow local_scope {
        /// The MethodDef.
        method: Rid(MethodDef),
        /// The ImportScope.
        import_scope: Rid(ImportScope),
        /// First variable.
        variable_list: List(LocalVariable),
        /// First constant.
        constant_list: List(LocalConstant),
        /// First IL offset.
        start_offset: U32,
        /// Length in IL bytes.
        length: U32,
    }
    /// Portable PDB.
    LocalVariable LocalVariableRow local_variable {
        /// Flags.
        attributes: U16,
        /// Slot.
        index: U16,
        /// Name (`#Strings`).
        name: Str,
    }
    /// Portable PDB.
    LocalConstant LocalConstantRow local_constant {
        /// Name (`#Strings`).
        name: Str,
        /// Type and value (`#Blob`).
        signature: Blob,
    }
    /// Portable PDB.
    ImportScope ImportScopeRow import_scope {
        /// The enclosing ImportScope.
        parent: Rid(ImportScope),
        /// The imports (`#Blob`).
        imports: Blob,
    }
    /// Portable PDB.
    StateMachineMethod StateMachineMethodRow state_machine_method {
        /// The MethodDef of the machine.
        move_next_method: Rid(MethodDef),
        /// The MethodDef that starts it.
        kickoff_method: Rid(MethodDef),
    }
    /// Portable PDB.
    CustomDebugInformation CustomDebugInformationRow custom_debug_information {
        /// What it is about.
        parent: Coded(HasCustomDebugInformation),
        /// Kind (`#GUID`).
        kind: Guid,
        /// Value (`#Blob`).
        value: Blob,
    }
}
