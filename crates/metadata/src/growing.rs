//! The rows and heap items of an image that grows while it is read: what Reflection.Emit defines.
//!
//! # How it works
//! ```text
//! rows      by table and row number, each a complete row behind one pointer; a row may be replaced, numbers may be skipped
//! heaps     by ordinal: index n is the nth item, not an offset
//! data      method bodies and initial values of fields, by ordinal: what an RVA is in a file
//! keys      (key column, value) -> rows, in order of their addition
//! promises  row -> owner, for members that have been mentioned and have no row yet
//! ```
//! A row has four bytes for each column, and behind the columns the row that owns it (`OWNER`), where a file has runs: methods of types are
//! added in any order, so the rows of one type need not lie together. A TypeDef has [`COMPLETE`] there once all of it has been added; before,
//! the type can be named and nothing else.
//!
//! # Invariants
//! * A row, a heap item and a list of rows are complete before they are published, and are never changed afterwards, so readers
//!   need no lock but the leaf lock of `keys`, under which a list's pointer is copied.
//! * An index is handed out after its item was published: whoever has got it, by whatever synchronization, finds the item.
//! * A table's count is the greatest row number that has a row. Rows below it may be missing; reading one that is missing is an error, as
//!   reading beyond a table is.
use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::HashMap;
use std::sync::Arc;

use vervet_os::{Chunks, LeafLock, Published, Replaceable};

use crate::error::Error;
use crate::keys::{Key, OWNER};
use crate::tables::cells::Cells;
use crate::tables::schema::{Layout, MAX_ROWS, TABLE_SLOTS, Table};

/// The owner of a TypeDef row all of whose members have rows.
pub const COMPLETE: u32 = 1;
const CELLS: usize = OWNER + 1;

/// A row as [`Cells`] reads it.
type Row = [u8; 4 * CELLS];

/// The layout of every growing table: each column takes four bytes.
static WIDE: Layout = {
    let mut starts = [0; Layout::STARTS];
    let mut i = 0;
    while i < starts.len() {
        starts[i] = 4 * i as u8;
        i += 1;
    }
    Layout {
        offset: 0,
        rows: 0,
        row_size: 4 * CELLS as u8,
        starts,
    }
};

/// Items by ordinal, from 1.
struct Items {
    cells: Chunks<Published<Box<[u8]>>>,
    count: AtomicU32,
    /// The ordinals of what was added, so that an item is added once.
    known: LeafLock<HashMap<&'static [u8], u32>>,
}

impl Items {
    fn new() -> Items {
        Items {
            cells: Chunks::new(),
            count: AtomicU32::new(0),
            known: LeafLock::default(),
        }
    }
    fn get(&self, index: u32) -> Option<&'static [u8]> {
        Some(self.cells.get(index)?.get()?)
    }
    /// Adds an item whether or not there is an equal one.
    fn push(&self, bytes: &[u8]) -> Result<(u32, &'static [u8]), Error> {
        let index = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if index > MAX_ROWS {
            return Err(Error::format("a heap is full", 0));
        }
        Ok((index, self.cells.at(index).put(bytes.into())))
    }
    /// The ordinal of an item, which is added if there is none.
    fn add(&self, bytes: &[u8]) -> Result<u32, Error> {
        // Held until the item is stored, so that there is one ordinal for it.
        let mut known = self.known.lock();
        if let Some(index) = known.get(bytes) {
            return Ok(*index);
        }
        let (index, kept) = self.push(bytes)?;
        known.insert(kept, index);
        Ok(index)
    }
}

/// Rows in order of addition. Whoever has cloned it sees the first `len` cells, which do not change: cells behind them are filled, and
/// a list that is full or loses a row gets cells of its own.
#[derive(Clone, Default)]
pub(crate) struct RowList {
    cells: Arc<[AtomicU32]>,
    len: u32,
}

impl RowList {
    fn of(rows: impl Iterator<Item = u32>, room: usize) -> RowList {
        let mut cells: Vec<AtomicU32> = rows.map(AtomicU32::new).collect();
        let len = cells.len() as u32;
        cells.resize_with(cells.len() + room, AtomicU32::default);
        RowList {
            cells: cells.into(),
            len,
        }
    }
    /// Adds a row. Only the list in `keys` is added to, under its lock.
    fn push(&mut self, rid: u32) {
        if self.len as usize == self.cells.len() {
            *self = RowList::of(self.iter(), (self.len as usize).max(1));
        }
        self.cells[self.len as usize].store(rid, Ordering::Relaxed);
        self.len += 1;
    }
    fn remove(&mut self, rid: u32) {
        *self = RowList::of(self.iter().filter(|r| *r != rid), 0);
    }
    /// The number of rows.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }
    /// The row at a position, counted from 0.
    pub(crate) fn get(&self, position: u32) -> Option<u32> {
        let cell = self.cells[..self.len as usize].get(position as usize)?;
        Some(cell.load(Ordering::Relaxed))
    }
    /// The rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let cells = self.cells[..self.len as usize].iter();
        cells.map(|c| c.load(Ordering::Relaxed))
    }
}

/// Rows by the key column (its number) and the value there.
type Keys = HashMap<(u8, u32), RowList>;

/// See the module.
pub struct Growing {
    rows: [Chunks<Replaceable<Row>>; TABLE_SLOTS],
    counts: [AtomicU32; TABLE_SLOTS],
    /// The greatest row numbers that [`Growing::reserve_row`] has given out.
    reserved: [AtomicU32; TABLE_SLOTS],
    strings: Items,
    blobs: Items,
    user_strings: Items,
    guids: Items,
    data: Items,
    keys: LeafLock<Keys>,
    /// The owners of rows that will be there ([`Growing::promise`]).
    promises: LeafLock<HashMap<(u8, u32), u32>>,
}

impl core::fmt::Debug for Growing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Growing")
    }
}

impl Growing {
    /// An image without rows. It lives for ever, as everything that is read from it does.
    pub fn leak() -> &'static Growing {
        Box::leak(Box::new(Growing {
            rows: [const { Chunks::new() }; TABLE_SLOTS],
            counts: [const { AtomicU32::new(0) }; TABLE_SLOTS],
            reserved: [const { AtomicU32::new(0) }; TABLE_SLOTS],
            strings: Items::new(),
            blobs: Items::new(),
            user_strings: Items::new(),
            guids: Items::new(),
            data: Items::new(),
            keys: LeafLock::default(),
            promises: LeafLock::default(),
        }))
    }

    // ---- adding --------------------------------------------------------------------------------------------

    /// The index of a string of `#Strings`.
    ///
    /// # Errors
    /// The heap is full; so for the other heaps.
    pub fn add_string(&self, text: &[u8]) -> Result<u32, Error> {
        if text.is_empty() {
            return Ok(0);
        }
        self.strings.add(text)
    }
    /// The index of a blob.
    pub fn add_blob(&self, bytes: &[u8]) -> Result<u32, Error> {
        self.blobs.add(bytes)
    }
    /// The index of a user string, given as UTF-16LE bytes.
    pub fn add_user_string(&self, bytes: &[u8]) -> Result<u32, Error> {
        self.user_strings.add(bytes)
    }
    /// The index of a GUID.
    pub fn add_guid(&self, guid: [u8; 16]) -> Result<u32, Error> {
        self.guids.add(&guid)
    }
    /// The address, as rows have it, of a method body or of the initial value of a field.
    pub fn add_data(&self, bytes: &[u8]) -> Result<u32, Error> {
        self.data.push(bytes).map(|d| d.0)
    }
    /// A row number that nobody else gets. A table is numbered either by this or by who calls [`Growing::put_row`].
    pub fn reserve_row(&self, table: Table) -> Result<u32, Error> {
        let rid = self.reserved[table as usize].fetch_add(1, Ordering::Relaxed) + 1;
        if rid > MAX_ROWS {
            return Err(Error::format("a table is full", 0));
        }
        Ok(rid)
    }
    /// Adds a row with the next number: see [`Growing::put_row`].
    pub fn add_row(&self, table: Table, cells: &[u32], owner: u32) -> Result<u32, Error> {
        let rid = self.reserve_row(table)?;
        self.put_row(table, rid, cells, owner)?;
        Ok(rid)
    }
    /// Stores row `rid`, in place of the one that has this number if there is one. `cells` are the raw values of the columns, coded tokens
    /// encoded. `owner` is the row that owns it: of fields and methods the TypeDef, of parameters the MethodDef, of properties and events
    /// the row of their map; of a TypeDef [`COMPLETE`] if it is; else 0.
    ///
    /// # Errors
    /// There are no rows of that number.
    pub fn put_row(&self, table: Table, rid: u32, cells: &[u32], owner: u32) -> Result<(), Error> {
        let bad = |reason| Error::Row { table, rid, reason };
        if rid == 0 || rid > MAX_ROWS {
            return Err(bad("no such row"));
        }
        if cells.len() != table.columns().len() {
            return Err(bad("a wrong number of cells"));
        }
        let mut row: Row = [0; 4 * CELLS];
        let all = cells.iter().chain(core::iter::repeat(&0)).take(OWNER);
        for (to, cell) in row.chunks_exact_mut(4).zip(all.chain([&owner])) {
            to.copy_from_slice(&cell.to_le_bytes());
        }
        let place = self.rows[table as usize].at(rid);
        // Held until the row and its keys are stored, so that of two threads that store one row the keys are those of the last.
        let mut keys = self.keys.lock();
        let old = place.get();
        let new = place.replace(row);
        for key in Key::ALL.iter().filter(|k| k.table_by() == table) {
            let cell = |row: &'static Row| Cells::new(row, &WIDE).get(key.cell_by());
            let (before, after) = (old.map(cell), cell(new));
            if before == Some(after) {
                continue;
            }
            if let Some(list) = before.and_then(|value| keys.get_mut(&(*key as u8, value))) {
                list.remove(rid);
            }
            if after != 0 {
                keys.entry((*key as u8, after)).or_default().push(rid);
            }
        }
        self.counts[table as usize].fetch_max(rid, Ordering::Release);
        Ok(())
    }

    // ---- reading -------------------------------------------------------------------------------------------

    /// The greatest row number in use.
    pub(crate) fn row_count(&self, table: Table) -> u32 {
        self.counts[table as usize].load(Ordering::Acquire)
    }
    /// The TypeDef rows of that name, whatever their namespace, in order of addition.
    pub fn types_named(&self, name: &str) -> Vec<u32> {
        let index = self.strings.known.lock().get(name.as_bytes()).copied();
        match index {
            Some(index) => self.find(Key::TypeName, index).iter().collect(),
            None => Vec::new(),
        }
    }
    /// Says that row `rid`, whose number is known already, will belong to the row `owner`.
    pub fn promise(&self, table: Table, rid: u32, owner: u32) {
        self.promises.lock().insert((table as u8, rid), owner);
    }
    /// The owner of a row that was promised and is not there.
    pub fn promised(&self, table: Table, rid: u32) -> Option<u32> {
        let owner = self.promises.lock().get(&(table as u8, rid)).copied()?;
        (!self.has_row(table, rid)).then_some(owner)
    }
    /// Has the table a row of that number?
    pub fn has_row(&self, table: Table, rid: u32) -> bool {
        self.row(table, rid).is_some()
    }
    fn row(&self, table: Table, rid: u32) -> Option<&'static Row> {
        self.rows[table as usize].get(rid)?.get()
    }
    /// The cells of a row.
    pub(crate) fn cells(&self, table: Table, rid: u32) -> Option<Cells<'static, 'static>> {
        Some(Cells::new(self.row(table, rid)?, &WIDE))
    }
    /// The rows whose cell in that key column is `value`, in order of addition.
    pub(crate) fn find(&self, key: Key, value: u32) -> RowList {
        let list = self.keys.lock().get(&(key as u8, value)).cloned();
        list.unwrap_or_default()
    }
    pub(crate) fn string(&self, index: u32) -> Option<&'static [u8]> {
        self.strings.get(index)
    }
    pub(crate) fn blob(&self, index: u32) -> Option<&'static [u8]> {
        self.blobs.get(index)
    }
    pub(crate) fn user_string(&self, index: u32) -> Option<&'static [u8]> {
        self.user_strings.get(index)
    }
    pub(crate) fn guid(&self, index: u32) -> Option<[u8; 16]> {
        self.guids.get(index)?.try_into().ok()
    }
    pub(crate) fn data(&self, index: u32) -> Option<&'static [u8]> {
        self.data.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Image, Token};

    fn image() -> (&'static Growing, Image<'static>) {
        let growing = Growing::leak();
        (growing, Image::growing(growing))
    }

    #[test]
    fn rows_are_found_by_number_owner_and_key() {
        let (g, image) = image();
        let name = g.add_string(b"T").unwrap();
        assert_eq!(g.add_string(b"T").unwrap(), name);
        for rid in [1, 3] {
            g.put_row(Table::TypeDef, rid, &[1, name, 0, 0, 0, 0], 0)
                .unwrap();
        }
        // Methods of the two types, interleaved.
        for (rid, owner) in [(1, 3), (2, 1), (3, 3)] {
            g.put_row(Table::MethodDef, rid, &[0, 0, 6, name, 0, 0], owner)
                .unwrap();
        }
        assert_eq!(image.row_count(Table::TypeDef), 3);
        assert!(image.type_def(2).is_err() && image.type_def(4).is_err());
        assert_eq!(image.string(image.type_def(3).unwrap().name), Ok("T"));
        assert!(image.type_methods(3).eq([1, 3]) && image.type_methods(1).eq([2]));
        assert_eq!(image.method_owner(3), Some(3));
        assert_eq!(image.method_owner(4), None);
        g.put_row(Table::NestedClass, 1, &[3, 1], 0).unwrap();
        assert!(image.nested_classes_in(1).eq([3]));
        assert_eq!(image.nested_class_of(3), Some(1));
        assert_eq!(image.nested_class_of(1), None);
    }

    #[test]
    fn a_row_that_is_replaced_is_found_by_its_new_keys() {
        let (g, image) = image();
        let field = |rid| Token::new(Table::Field, rid);
        let parent = |rid| {
            crate::tables::Coded::HasConstant
                .encode(field(rid))
                .unwrap()
        };
        g.put_row(Table::Constant, 1, &[8, parent(1), 0], 0)
            .unwrap();
        g.put_row(Table::Constant, 1, &[8, parent(2), 0], 0)
            .unwrap();
        assert_eq!(image.constant_of(field(1)), None);
        assert_eq!(image.constant_of(field(2)), Some(1));
        assert!(g.put_row(Table::Constant, 0, &[8, 0, 0], 0).is_err());
        assert!(g.put_row(Table::Constant, 1, &[8], 0).is_err());
        assert!(g.put_row(Table::Constant, 1 << 24, &[8, 0, 0], 0).is_err());
    }

    #[test]
    fn lists_of_rows_that_were_handed_out_do_not_change() {
        let (g, image) = image();
        for rid in 1..=5 {
            g.put_row(Table::MethodDef, rid, &[0, 0, 0, 0, 0, 0], 1)
                .unwrap();
        }
        let before = image.type_methods(1);
        g.put_row(Table::MethodDef, 6, &[0, 0, 0, 0, 0, 0], 1)
            .unwrap();
        g.put_row(Table::MethodDef, 2, &[0, 0, 0, 0, 0, 0], 3)
            .unwrap();
        g.put_row(Table::MethodDef, 7, &[0, 0, 0, 0, 0, 0], 1)
            .unwrap();
        assert!(before.eq(1..=5));
        assert!(image.type_methods(1).eq([1, 3, 4, 5, 6, 7]));
        assert!(image.type_methods(3).eq([2]));
    }

    #[test]
    fn a_promise_holds_until_the_row_is_there() {
        let (g, _) = image();
        g.promise(Table::Field, 3, 1);
        assert_eq!(g.promised(Table::Field, 3), Some(1));
        assert_eq!(g.promised(Table::MethodDef, 3), None);
        g.put_row(Table::Field, 3, &[0, 0, 0], 1).unwrap();
        assert_eq!(g.promised(Table::Field, 3), None);
    }

    #[test]
    fn heap_items_are_found_by_ordinal() {
        let (g, image) = image();
        let blob = g.add_blob(&[1, 2]).unwrap();
        assert_eq!(image.blob(blob), Ok(&[1, 2][..]));
        assert!(image.blob(blob + 1).is_err());
        assert_eq!(image.blob(0), Ok(&[][..]));
        let text = g.add_user_string(&[b'h', 0, b'i', 0]).unwrap();
        assert_eq!(
            image.user_string(0x7000_0000 | text).unwrap().to_string(),
            "hi"
        );
        let guid = g.add_guid([7; 16]).unwrap();
        assert_eq!(image.guid(guid), Ok([7; 16]));
        let body = g.add_data(&[0x06, 0x2A]).unwrap();
        assert_eq!(image.method_body(body).unwrap().code, [0x2A]);
        assert!(image.method_body(body + 1).is_err());
    }

    #[test]
    fn readers_find_complete_rows_while_others_add() {
        let (g, image) = image();
        let (writers, each) = (2, if cfg!(miri) { 20 } else { 3000 });
        std::thread::scope(|scope| {
            for writer in 1..=writers {
                scope.spawn(move || {
                    for n in 0..each {
                        let name = g.add_string(format!("m{writer}-{n}").as_bytes()).unwrap();
                        let blob = g.add_blob(&[writer as u8, n as u8]).unwrap();
                        g.add_row(Table::MethodDef, &[0, 0, 0, name, blob, 0], writer)
                            .unwrap();
                    }
                });
            }
            scope.spawn(|| {
                let mut seen = 0;
                while seen < writers * each {
                    seen = 0;
                    for owner in 1..=writers {
                        for (n, rid) in image.type_methods(owner).enumerate() {
                            let row = image.method_def(rid).unwrap();
                            assert_eq!(image.string(row.name).unwrap(), format!("m{owner}-{n}"));
                            assert_eq!(image.blob(row.signature).unwrap()[0] as u32, owner);
                            assert_eq!(image.method_owner(rid), Some(owner));
                            seen += 1;
                        }
                    }
                }
            });
        });
        assert_eq!(image.row_count(Table::MethodDef), writers * each);
    }
}
