//! Finding rows by owner (II.22's sorted tables, runs and maps).
//!
//! Invariant: a lookup never trusts the stream's sorted bits. The first lookup
//! in a table checks its key column once; a table that is out of order gets a
//! permutation that sorts it, so that every lookup is a binary search.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use vervet_os::LeafLock;

use crate::growing::RowList;
use crate::image::Image;
use crate::keys::{Key, OWNER};
use crate::tables::{Coded, Table, Tables, schema};
use crate::token::Token;

/// What is known of the order of each key column.
#[derive(Debug)]
pub(crate) struct Indexes([Index; Key::COUNT]);

#[derive(Debug, Default)]
struct Index {
    /// Set once the column is known to be in order; then nothing else matters.
    in_order: AtomicBool,
    /// The row numbers in order of their keys. The lock is held only to read
    /// or to store the pointer.
    order: LeafLock<Option<Arc<[u32]>>>,
}

impl Default for Indexes {
    fn default() -> Indexes {
        Indexes(core::array::from_fn(|_| Index::default()))
    }
}

/// An iterator over one-based row numbers.
#[derive(Clone)]
pub struct Rids<'i> {
    positions: Range<u32>,
    via: Via<'i>,
}

#[derive(Clone)]
enum Via<'i> {
    /// The positions are the row numbers.
    Direct,
    /// The positions index this list (from 0).
    List(Arc<[u32]>),
    /// The same, of an image that grows.
    Rows(RowList),
    /// The positions are rows of an indirection table.
    Ptr(&'i Tables<'i>, Table),
    /// The positions are rows of this table, whose first cell is the answer.
    Cell(&'i Tables<'i>, Option<Arc<[u32]>>, Table),
}

impl Rids<'_> {
    fn rows(rows: RowList) -> Self {
        Rids {
            positions: 0..rows.len(),
            via: Via::Rows(rows),
        }
    }

    fn list(rids: Arc<[u32]>) -> Self {
        Rids {
            positions: 0..rids.len() as u32,
            via: Via::List(rids),
        }
    }

    fn range(positions: Range<u32>) -> Self {
        Rids {
            positions,
            via: Via::Direct,
        }
    }

    fn at(&self, position: u32) -> u32 {
        match &self.via {
            Via::Direct => position,
            Via::List(list) => list.get(position as usize).copied().unwrap_or(0),
            Via::Rows(rows) => rows.get(position).unwrap_or(0),
            Via::Ptr(tables, ptr) => tables.cell(*ptr, position, 0).unwrap_or(0),
            Via::Cell(tables, list, table) => {
                let rid = match list {
                    Some(list) => list.get(position as usize).copied().unwrap_or(0),
                    None => position,
                };
                tables.cell(*table, rid, 0).unwrap_or(0)
            }
        }
    }
}

impl Iterator for Rids<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let position = self.positions.next()?;
        Some(self.at(position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl DoubleEndedIterator for Rids<'_> {
    fn next_back(&mut self) -> Option<u32> {
        let position = self.positions.next_back()?;
        Some(self.at(position))
    }
}

impl ExactSizeIterator for Rids<'_> {}

impl core::fmt::Debug for Rids<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// The first position in `range` for which `before` no longer holds.
fn partition(range: Range<u32>, mut before: impl FnMut(u32) -> bool) -> u32 {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl<'a> Image<'a> {
    fn key_cell(&self, key: Key, rid: u32) -> u32 {
        let (table, column) = key.column();
        self.tables().cell(table, rid, column).unwrap_or(0)
    }

    /// `None` if the column is in order; else the permutation that sorts it.
    /// Two threads may work it out at the same time; both get the same.
    fn order(&self, key: Key) -> Option<Arc<[u32]>> {
        let index = &self.indexes.0[key as usize];
        if index.in_order.load(Ordering::Relaxed) {
            return None;
        }
        let known = index.order.lock().clone();
        if known.is_some() {
            return known;
        }
        let (table, column) = key.column();
        if self.tables().ascends(table, column) {
            index.in_order.store(true, Ordering::Relaxed);
            return None;
        }
        let mut rids: Arc<[u32]> = (1..=self.row_count(table)).collect();
        if let Some(rids) = Arc::get_mut(&mut rids) {
            rids.sort_by_key(|rid| self.key_cell(key, *rid));
        }
        Some(index.order.lock().get_or_insert(rids).clone())
    }

    /// The positions, in the order of `key`, of the rows whose cell is `value`.
    fn equal(&self, key: Key, value: u32) -> (Range<u32>, Option<Arc<[u32]>>) {
        let order = self.order(key);
        let all = match &order {
            None => 1..self.row_count(key.column().0) + 1,
            Some(list) => 0..list.len() as u32,
        };
        let cell = |p: u32| match &order {
            None => self.key_cell(key, p),
            Some(list) => self.key_cell(key, list[p as usize]),
        };
        let start = partition(all.clone(), |p| cell(p) < value);
        let end = partition(start..all.end, |p| cell(p) <= value);
        (start..end, order)
    }

    fn find(&self, key: Key, value: Option<u32>) -> Rids<'_> {
        let Some(value) = value.filter(|v| *v != 0) else {
            return Rids::range(0..0);
        };
        if let Some(g) = self.grows() {
            return Rids::rows(g.find(key, value));
        }
        let (positions, order) = self.equal(key, value);
        Rids {
            positions,
            via: order.map_or(Via::Direct, Via::List),
        }
    }

    fn find_token(&self, key: Key, kind: Coded, token: Token) -> Rids<'_> {
        self.find(key, (!token.is_nil()).then(|| kind.encode(token)).flatten())
    }

    /// The run of `target` rows that row `rid` of the key's table starts.
    pub(crate) fn run(&self, key: Key, rid: u32, target: Table) -> Rids<'_> {
        if let Some(g) = self.grows() {
            return Rids::rows(g.find(key, rid));
        }
        let (owner, column) = key.column();
        let Some(start) = self.tables().cell(owner, rid, column) else {
            return Rids::range(0..0);
        };
        let ptr = schema::ptr_table(target).filter(|t| self.row_count(*t) > 0);
        let limit = self.row_count(ptr.unwrap_or(target)) + 1;
        let end = self
            .tables()
            .cell(owner, rid + 1, column)
            .unwrap_or(limit)
            .min(limit);
        let positions = start.max(1)..end.max(start.max(1));
        match ptr {
            None => Rids::range(positions),
            Some(ptr) => Rids {
                positions,
                via: Via::Ptr(self.tables(), ptr),
            },
        }
    }

    /// The row of the key's table whose run holds `member`.
    fn run_owner(&self, key: Key, ptr_key: Key, member: u32, target: Table) -> Option<u32> {
        if member == 0 || member > self.row_count(target) {
            return None;
        }
        if self.grows().is_some() {
            return self
                .tables()
                .cell(target, member, OWNER)
                .filter(|owner| *owner != 0);
        }
        let (ptr, _) = ptr_key.column();
        let position = match self.row_count(ptr) {
            0 => member,
            _ => self.find(ptr_key, Some(member)).next()?,
        };
        let (owner, _) = key.column();
        let owners = self.row_count(owner);
        let holds = |rid: u32| {
            let end = if rid == owners {
                u32::MAX
            } else {
                self.key_cell(key, rid + 1)
            };
            (self.key_cell(key, rid)..end).contains(&position)
        };
        match self.order(key) {
            None => {
                let after = partition(1..owners + 1, |rid| self.key_cell(key, rid) <= position);
                after.checked_sub(1).filter(|rid| *rid != 0)
            }
            Some(_) => (1..=owners).find(|rid| holds(*rid)),
        }
    }

    /// The fields of a type.
    pub fn type_fields(&self, type_def: u32) -> Rids<'_> {
        self.run(Key::TypeFields, type_def, Table::Field)
    }

    /// The methods of a type.
    pub fn type_methods(&self, type_def: u32) -> Rids<'_> {
        self.run(Key::TypeMethods, type_def, Table::MethodDef)
    }

    /// The parameter rows of a method.
    pub fn method_params(&self, method: u32) -> Rids<'_> {
        self.run(Key::MethodParams, method, Table::Param)
    }

    /// The events of a type.
    pub fn type_events(&self, type_def: u32) -> Rids<'_> {
        match self.find(Key::EventMap, Some(type_def)).next() {
            Some(map) => self.run(Key::MapEvents, map, Table::Event),
            None => Rids::range(0..0),
        }
    }

    /// The properties of a type.
    pub fn type_properties(&self, type_def: u32) -> Rids<'_> {
        match self.find(Key::PropertyMap, Some(type_def)).next() {
            Some(map) => self.run(Key::MapProperties, map, Table::Property),
            None => Rids::range(0..0),
        }
    }

    /// The TypeDef that declares a method.
    pub fn method_owner(&self, method: u32) -> Option<u32> {
        self.run_owner(Key::TypeMethods, Key::MethodPtr, method, Table::MethodDef)
    }

    /// The TypeDef that declares a field.
    pub fn field_owner(&self, field: u32) -> Option<u32> {
        self.run_owner(Key::TypeFields, Key::FieldPtr, field, Table::Field)
    }

    /// The MethodDef that declares a parameter row.
    pub fn param_owner(&self, param: u32) -> Option<u32> {
        self.run_owner(Key::MethodParams, Key::ParamPtr, param, Table::Param)
    }

    /// The TypeDef that declares a property.
    pub fn property_owner(&self, property: u32) -> Option<u32> {
        let target = Table::Property;
        let map = self.run_owner(Key::MapProperties, Key::PropertyPtr, property, target)?;
        self.tables().cell(Table::PropertyMap, map, 0)
    }

    /// The TypeDef that declares an event.
    pub fn event_owner(&self, event: u32) -> Option<u32> {
        let map = self.run_owner(Key::MapEvents, Key::EventPtr, event, Table::Event)?;
        self.tables().cell(Table::EventMap, map, 0)
    }

    /// The CustomAttribute rows on `parent`.
    pub fn custom_attributes_of(&self, parent: Token) -> Rids<'_> {
        self.find_token(Key::CustomAttribute, Coded::HasCustomAttribute, parent)
    }

    /// The Constant row of a Field, Param or Property.
    pub fn constant_of(&self, parent: Token) -> Option<u32> {
        self.find_token(Key::Constant, Coded::HasConstant, parent)
            .next()
    }

    /// The ClassLayout row of a TypeDef.
    pub fn class_layout_of(&self, type_def: u32) -> Option<u32> {
        self.find(Key::ClassLayout, Some(type_def)).next()
    }

    /// The FieldLayout row of a field.
    pub fn field_layout_of(&self, field: u32) -> Option<u32> {
        self.find(Key::FieldLayout, Some(field)).next()
    }

    /// The FieldRva row of a field.
    pub fn field_rva_of(&self, field: u32) -> Option<u32> {
        self.find(Key::FieldRva, Some(field)).next()
    }

    /// The FieldMarshal row of a Field or Param.
    pub fn field_marshal_of(&self, parent: Token) -> Option<u32> {
        self.find_token(Key::FieldMarshal, Coded::HasFieldMarshal, parent)
            .next()
    }

    /// The ImplMap row of a MethodDef or Field.
    pub fn impl_map_of(&self, member: Token) -> Option<u32> {
        self.find_token(Key::ImplMap, Coded::MemberForwarded, member)
            .next()
    }

    /// The TypeDef that encloses a nested one.
    pub fn nested_class_of(&self, type_def: u32) -> Option<u32> {
        let row = self.find(Key::Nested, Some(type_def)).next()?;
        self.tables()
            .cell(Table::NestedClass, row, 1)
            .filter(|rid| *rid != 0)
    }

    /// The TypeDefs nested directly in one.
    pub fn nested_classes_in(&self, enclosing: u32) -> Rids<'_> {
        if enclosing == 0 {
            return Rids::range(0..0);
        }
        if let Some(g) = self.grows() {
            let rows = g.find(Key::Enclosing, enclosing);
            let nested = |row: u32| self.tables().cell(Table::NestedClass, row, 0);
            return Rids::list(rows.iter().filter_map(nested).collect());
        }
        let (positions, order) = self.equal(Key::Enclosing, enclosing);
        Rids {
            positions,
            via: Via::Cell(self.tables(), order, Table::NestedClass),
        }
    }

    /// The GenericParam rows of a TypeDef or MethodDef.
    pub fn generic_params_of(&self, owner: Token) -> Rids<'_> {
        self.find_token(Key::GenericParam, Coded::TypeOrMethodDef, owner)
    }

    /// The GenericParamConstraint rows of a GenericParam.
    pub fn generic_param_constraints_of(&self, generic_param: u32) -> Rids<'_> {
        self.find(Key::GenericParamConstraint, Some(generic_param))
    }

    /// The InterfaceImpl rows of a TypeDef.
    pub fn interface_impls_of(&self, type_def: u32) -> Rids<'_> {
        self.find(Key::InterfaceImpl, Some(type_def))
    }

    /// The MethodImpl rows of a TypeDef.
    pub fn method_impls_of(&self, type_def: u32) -> Rids<'_> {
        self.find(Key::MethodImpl, Some(type_def))
    }

    /// The MethodSemantics rows of an Event or Property.
    pub fn method_semantics_of(&self, association: Token) -> Rids<'_> {
        self.find_token(Key::MethodSemantics, Coded::HasSemantics, association)
    }

    /// The DeclSecurity rows of a TypeDef, MethodDef or Assembly.
    pub fn decl_security_of(&self, parent: Token) -> Rids<'_> {
        self.find_token(Key::DeclSecurity, Coded::HasDeclSecurity, parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cell, Metadata, halves};

    fn type_def(field_list: u16, method_list: u16) -> Vec<Cell> {
        let mut row = vec![Cell::Word(0)];
        row.extend(halves(&[0, 0, 0, field_list, method_list]));
        row
    }

    fn fields(n: usize) -> Vec<Vec<Cell>> {
        vec![halves(&[0, 0, 0]); n]
    }

    #[test]
    fn runs_end_at_the_next_row_or_the_table() {
        let tables = vec![
            (
                Table::TypeDef,
                vec![type_def(1, 1), type_def(1, 1), type_def(3, 1)],
            ),
            (Table::Field, fields(4)),
        ];
        let data = Metadata {
            tables,
            ..Metadata::default()
        }
        .image();
        let image = Image::parse(&data).unwrap();
        assert_eq!(image.type_fields(1).len(), 0);
        assert!(image.type_fields(2).eq([1, 2]));
        assert!(image.type_fields(3).eq([3, 4]));
        assert_eq!(image.type_fields(4).len(), 0);
        let owners: Vec<_> = (0..=5).map(|f| image.field_owner(f)).collect();
        assert_eq!(owners, [None, Some(2), Some(2), Some(3), Some(3), None]);
    }

    #[test]
    fn runs_go_through_the_indirection_table() {
        let tables = vec![
            (Table::TypeDef, vec![type_def(1, 1), type_def(3, 1)]),
            (Table::FieldPtr, [4, 2, 3, 1].map(|f| halves(&[f])).to_vec()),
            (Table::Field, fields(4)),
        ];
        let data = Metadata {
            uncompressed: true,
            tables,
            ..Metadata::default()
        }
        .image();
        let image = Image::parse(&data).unwrap();
        assert!(image.type_fields(1).eq([4, 2]));
        assert!(image.type_fields(2).rev().eq([1, 3]));
        let owners: Vec<_> = (1..=4).map(|f| image.field_owner(f)).collect();
        assert_eq!(owners, [Some(2), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn runs_out_of_order_are_empty_and_end() {
        let tables = vec![
            (
                Table::TypeDef,
                vec![type_def(3, 1), type_def(0xFFFF, 1), type_def(2, 1)],
            ),
            (Table::Field, fields(4)),
        ];
        let data = Metadata {
            tables,
            ..Metadata::default()
        }
        .image();
        let image = Image::parse(&data).unwrap();
        assert!(image.type_fields(1).eq([3, 4]));
        assert_eq!(image.type_fields(2).len(), 0);
        assert!(image.type_fields(3).eq([2, 3, 4]));
        assert_eq!(image.field_owner(1), None);
        assert_eq!(image.field_owner(4), Some(1));
    }

    #[test]
    fn lookups_do_not_need_a_sorted_table() {
        let nested = |n: u16, e: u16| halves(&[n, e]);
        let tables = vec![
            (Table::TypeDef, vec![type_def(1, 1); 5]),
            (
                Table::NestedClass,
                vec![nested(5, 1), nested(2, 4), nested(3, 1), nested(4, 1)],
            ),
        ];
        let data = Metadata {
            tables,
            ..Metadata::default()
        }
        .image();
        let image = Image::parse(&data).unwrap();
        let outer: Vec<_> = (0..=6).map(|t| image.nested_class_of(t)).collect();
        assert_eq!(
            outer,
            [None, None, Some(4), Some(1), Some(1), Some(1), None]
        );
        assert!(image.nested_classes_in(1).eq([5, 3, 4]));
        assert!(image.nested_classes_in(4).eq([2]));
        assert_eq!(image.nested_classes_in(0).len(), 0);
    }

    #[test]
    fn names_of_types_nested_in_a_cycle_are_refused() {
        let tables = vec![
            (Table::TypeDef, vec![type_def(1, 1); 2]),
            (Table::NestedClass, vec![halves(&[1, 2]), halves(&[2, 1])]),
        ];
        let data = Metadata {
            tables,
            ..Metadata::default()
        }
        .image();
        let image = Image::parse(&data).unwrap();
        assert!(image.type_full_name(Token::new(Table::TypeDef, 1)).is_err());
    }
}
