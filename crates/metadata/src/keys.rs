//! The columns that rows are found by (II.22's sorted tables, runs and maps).
//!
//! Invariant: a file's image and one that grows have the same keys; [`Key::column`] is where a file has them, [`Key::table_by`] and
//! [`Key::cell_by`] where an image that grows has them.
use crate::tables::schema::Table;

/// The cell of a row of an image that grows, behind its columns: the row that owns it, or 0.
pub(crate) const OWNER: usize = 9;

/// The key columns that rows are found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    InterfaceImpl,
    Constant,
    CustomAttribute,
    FieldMarshal,
    DeclSecurity,
    ClassLayout,
    FieldLayout,
    EventMap,
    PropertyMap,
    MethodSemantics,
    MethodImpl,
    ImplMap,
    FieldRva,
    Nested,
    Enclosing,
    GenericParam,
    GenericParamConstraint,
    FieldPtr,
    MethodPtr,
    ParamPtr,
    EventPtr,
    PropertyPtr,
    TypeFields,
    TypeMethods,
    MethodParams,
    MapEvents,
    MapProperties,
    TypeName,
}

impl Key {
    pub(crate) const COUNT: usize = Key::TypeName as usize + 1;
    /// The keys that an image that grows has its rows by.
    pub(crate) const ALL: [Key; 22] = [
        Key::InterfaceImpl,
        Key::Constant,
        Key::CustomAttribute,
        Key::FieldMarshal,
        Key::ClassLayout,
        Key::FieldLayout,
        Key::EventMap,
        Key::PropertyMap,
        Key::MethodSemantics,
        Key::MethodImpl,
        Key::ImplMap,
        Key::FieldRva,
        Key::Nested,
        Key::Enclosing,
        Key::GenericParam,
        Key::GenericParamConstraint,
        Key::TypeFields,
        Key::TypeMethods,
        Key::MethodParams,
        Key::MapEvents,
        Key::MapProperties,
        Key::TypeName,
    ];

    /// Of an image that grows: the table whose rows are found by this key.
    pub(crate) fn table_by(self) -> Table {
        match self {
            Key::TypeFields => Table::Field,
            Key::TypeMethods => Table::MethodDef,
            Key::MethodParams => Table::Param,
            Key::MapEvents => Table::Event,
            Key::MapProperties => Table::Property,
            _ => self.column().0,
        }
    }
    /// Of an image that grows: the cell by which they are found. Runs are lists by owner there.
    pub(crate) fn cell_by(self) -> usize {
        match self {
            Key::TypeFields
            | Key::TypeMethods
            | Key::MethodParams
            | Key::MapEvents
            | Key::MapProperties => OWNER,
            _ => self.column().1,
        }
    }

    pub(crate) const fn column(self) -> (Table, usize) {
        match self {
            Key::InterfaceImpl => (Table::InterfaceImpl, 0),
            Key::Constant => (Table::Constant, 1),
            Key::CustomAttribute => (Table::CustomAttribute, 0),
            Key::FieldMarshal => (Table::FieldMarshal, 0),
            Key::DeclSecurity => (Table::DeclSecurity, 1),
            Key::ClassLayout => (Table::ClassLayout, 2),
            Key::FieldLayout => (Table::FieldLayout, 1),
            Key::EventMap => (Table::EventMap, 0),
            Key::PropertyMap => (Table::PropertyMap, 0),
            Key::MethodSemantics => (Table::MethodSemantics, 2),
            Key::MethodImpl => (Table::MethodImpl, 0),
            Key::ImplMap => (Table::ImplMap, 1),
            Key::FieldRva => (Table::FieldRva, 1),
            Key::Nested => (Table::NestedClass, 0),
            Key::Enclosing => (Table::NestedClass, 1),
            Key::GenericParam => (Table::GenericParam, 2),
            Key::GenericParamConstraint => (Table::GenericParamConstraint, 0),
            Key::FieldPtr => (Table::FieldPtr, 0),
            Key::MethodPtr => (Table::MethodPtr, 0),
            Key::ParamPtr => (Table::ParamPtr, 0),
            Key::EventPtr => (Table::EventPtr, 0),
            Key::PropertyPtr => (Table::PropertyPtr, 0),
            Key::TypeFields => (Table::TypeDef, 4),
            Key::TypeMethods => (Table::TypeDef, 5),
            Key::MethodParams => (Table::MethodDef, 5),
            Key::MapEvents => (Table::EventMap, 1),
            Key::MapProperties => (Table::PropertyMap, 1),
            Key::TypeName => (Table::TypeDef, 1),
        }
    }
}
