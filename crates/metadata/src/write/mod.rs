//! Writing an image: the rows and heap items of a file, or of what grows, as the bytes of a file (ECMA-335 II.22, II.24, II.25).
//!
//! # How it works
//! ```text
//! rows      every row of the image, and those that the caller adds; members in the order of the runs of their types
//! numbers   old row number -> new: identity for what signatures name, new for members and for tables that are sorted
//! cells     row numbers and coded indices renumbered, heap items copied
//! bodies    tokens of members and of user strings renumbered in the code
//! file      one section of code, data and metadata (`container`), one of Win32 resources if there are any (`win32`)
//! ```
//!
//! # Invariants
//! * Types, references and specifications keep their row numbers, so signatures are copied as they are.
//! * A reference to a row that is not there is an error; a token in code that names nothing becomes one that names nothing, because code that
//!   is not called need not be right.
//! * What was written is read back as the same rows.
mod bodies;
mod container;
mod heaps;
mod win32;

pub use win32::Win32Resource;

use crate::error::Error;
use crate::image::Image;
use crate::keys::Key;
use crate::tables::schema::{Column, MAX_COLUMNS, MAX_ROWS, TABLE_SLOTS, Table, cell_width};
use crate::token::Token;
use heaps::NewHeaps;

/// What a file has beside rows.
#[derive(Debug, Clone, Default)]
pub struct Options<'o> {
    /// It is a library.
    pub library: bool,
    /// It is a program with windows.
    pub windows: bool,
    /// The flags of the CLI header.
    pub flags: u32,
    /// Where a program begins: a MethodDef or File token, or nil.
    pub entry_point: Token,
    /// COFF time stamp.
    pub timestamp: u32,
    /// The managed resources, as ManifestResource rows refer to them.
    pub resources: &'o [u8],
    /// The Win32 resources.
    pub win32: &'o [Win32Resource],
    /// How many bytes are kept free for a strong-name signature.
    pub signature_size: u32,
    /// The file is a module without a manifest: the Assembly row, and what hangs on it, is left out.
    pub without_assembly: bool,
    /// Rows that replace others, or come behind them: table, row number or 0 for a further row, cells with heap indices of the image.
    pub rows: &'o [(Table, u32, Vec<u32>)],
}

/// A file.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The new row number of each MethodDef, by the old one; 0 for what is not there.
    pub methods: Vec<u32>,
}

/// A row that has a number in the image, or 0.
#[derive(Debug, Clone)]
struct Row {
    old: u32,
    cells: [u32; MAX_COLUMNS],
}

/// All rows, in the order in which they are written.
struct Rows {
    tables: Vec<Vec<Row>>,
    /// Old row number -> new.
    numbers: Vec<Vec<u32>>,
}

/// The tables that are sorted (II.22), with the columns that they are sorted by.
const SORTED: [(Table, usize, Option<usize>); 14] = [
    // By the interface too, says II.22.23; readers do not need it, and the order of interfaces is the program's.
    (Table::InterfaceImpl, 0, None),
    (Table::Constant, 1, None),
    (Table::FieldMarshal, 0, None),
    (Table::DeclSecurity, 1, None),
    (Table::ClassLayout, 2, None),
    (Table::FieldLayout, 1, None),
    (Table::MethodSemantics, 2, None),
    (Table::MethodImpl, 0, None),
    (Table::ImplMap, 1, None),
    (Table::FieldRva, 1, None),
    (Table::NestedClass, 0, None),
    (Table::GenericParam, 2, Some(0)),
    // These two refer to rows of tables that are sorted themselves, so they come last.
    (Table::GenericParamConstraint, 0, None),
    (Table::CustomAttribute, 0, None),
];

/// Is the table one that a file has which nobody has edited?
fn is_written(table: Table) -> bool {
    use Table::*;
    !matches!(
        table,
        FieldPtr | MethodPtr | ParamPtr | EventPtr | PropertyPtr | EncLog | EncMap
    ) && (table as u8) < Document as u8
}

/// Writes an image.
///
/// # Errors
/// A row refers to one that is not there, an item of a heap is too long, or something does not fit.
pub fn write(image: &Image<'_>, options: &Options<'_>) -> Result<Written, Error> {
    let mut rows = Rows::collect(image, options)?;
    let mut heaps = NewHeaps::default();
    let late = [Table::GenericParamConstraint, Table::CustomAttribute];
    for table in Table::ALL.iter().filter(|t| !late.contains(t)) {
        rows.renumber(image, *table, &mut heaps)?;
    }
    for table in late {
        rows.renumber(image, table, &mut heaps)?;
    }
    rows.set_runs(image)?;
    let mut text = container::Text::new();
    bodies::write(image, &mut rows, &mut heaps, &mut text)?;
    let entry = match options.entry_point {
        token if token.is(Table::MethodDef) => {
            let rid = rows.number(Table::MethodDef, token.rid());
            Token::new(
                Table::MethodDef,
                rid.ok_or(missing(Table::MethodDef, token.rid()))?,
            )
        }
        token => token,
    };
    let tables = rows.stream(&heaps);
    let methods = rows.numbers.swap_remove(Table::MethodDef as usize);
    let bytes = container::file(
        text,
        &tables,
        heaps,
        entry,
        image.metadata_version(),
        options,
    )?;
    Ok(Written { bytes, methods })
}

fn missing(table: Table, rid: u32) -> Error {
    Error::Row {
        table,
        rid,
        reason: "it is referred to and not there",
    }
}

impl Rows {
    fn table(&mut self, table: Table) -> &mut Vec<Row> {
        &mut self.tables[table as usize]
    }
    /// The new number of a row.
    fn number(&self, table: Table, old: u32) -> Option<u32> {
        let new = self.numbers[table as usize].get(old as usize).copied();
        new.filter(|n| *n != 0)
    }

    /// Reads all rows, and numbers them anew.
    fn collect(image: &Image<'_>, options: &Options<'_>) -> Result<Rows, Error> {
        let mut rows = Rows {
            tables: vec![Vec::new(); TABLE_SLOTS],
            numbers: vec![Vec::new(); TABLE_SLOTS],
        };
        for table in Table::ALL.iter().copied().filter(|t| is_written(*t)) {
            let most = image.row_count(table) as usize;
            let order: Vec<u32> = order(image, table).take(most + 1).collect();
            if order.len() > most {
                return Err(Error::format("a member belongs to several types", most));
            }
            let list = rows.table(table);
            for rid in order {
                if let Some(cells) = cells(image, table, rid) {
                    list.push(Row { old: rid, cells });
                } else if keeps_numbers(table) {
                    return Err(missing(table, rid));
                }
            }
        }
        if options.without_assembly {
            let coded =
                |row: &Row, kind: crate::Coded, column: usize| kind.decode(row.cells[column]);
            let of_assembly = |t: Option<Token>| t.is_some_and(|t| t.is(Table::Assembly));
            rows.table(Table::Assembly).clear();
            rows.table(Table::CustomAttribute)
                .retain(|r| !of_assembly(coded(r, crate::Coded::HasCustomAttribute, 0)));
            rows.table(Table::DeclSecurity)
                .retain(|r| !of_assembly(coded(r, crate::Coded::HasDeclSecurity, 1)));
        }
        for (table, rid, given) in options.rows {
            let mut cells = [0; MAX_COLUMNS];
            if given.len() != table.columns().len() {
                return Err(Error::Row {
                    table: *table,
                    rid: *rid,
                    reason: "a wrong number of cells",
                });
            }
            cells[..given.len()].copy_from_slice(given);
            let list = rows.table(*table);
            match list.iter_mut().find(|r| *rid != 0 && r.old == *rid) {
                Some(row) => row.cells = cells,
                None => {
                    let old = list.len() as u32 + 1;
                    list.push(Row { old, cells });
                }
            }
        }
        for table in Table::ALL {
            rows.count(*table)?;
        }
        Ok(rows)
    }
    /// Numbers the rows of a table as they stand.
    fn count(&mut self, table: Table) -> Result<(), Error> {
        let list = &self.tables[table as usize];
        if list.len() > MAX_ROWS as usize {
            return Err(Error::format("a table is full", 0));
        }
        let most = list.iter().map(|r| r.old).max().unwrap_or(0);
        let mut numbers = vec![0; most as usize + 1];
        for (row, new) in list.iter().zip(1..) {
            numbers[row.old as usize] = new;
        }
        self.numbers[table as usize] = numbers;
        Ok(())
    }

    /// Renumbers what the rows of a table refer to, and sorts them if they are to be.
    fn renumber(
        &mut self,
        image: &Image<'_>,
        table: Table,
        heaps: &mut NewHeaps,
    ) -> Result<(), Error> {
        let mut list = std::mem::take(self.table(table));
        for row in &mut list {
            for (cell, column) in row.cells.iter_mut().zip(table.columns()) {
                let bad = |reason| Error::Row {
                    table,
                    rid: row.old,
                    reason,
                };
                *cell = match column {
                    Column::U8 | Column::U16 | Column::U32 | Column::List(_) => *cell,
                    Column::Str => heaps.string(image.string_bytes(*cell)?),
                    Column::Blob => heaps.blob(image.blob(*cell)?)?,
                    Column::Guid if *cell == 0 => 0,
                    Column::Guid => heaps.guid(image.guid(*cell)?),
                    Column::Rid(_) if *cell == 0 => 0,
                    Column::Rid(to) => self.number(*to, *cell).ok_or(missing(*to, *cell))?,
                    Column::Coded(kind) => {
                        let token = kind.decode(*cell).ok_or(bad("a coded index of no table"))?;
                        match token.table() {
                            Some(to) if token.rid() != 0 => {
                                let new = self
                                    .number(to, token.rid())
                                    .ok_or(missing(to, token.rid()))?;
                                let new = kind.encode(Token::new(to, new));
                                new.ok_or(bad("a coded index of no table"))?
                            }
                            _ => 0,
                        }
                    }
                };
            }
        }
        let key = SORTED.iter().find(|s| s.0 == table);
        if let Some((_, first, second)) = key {
            list.sort_by_key(|r| (r.cells[*first], second.map_or(0, |s| r.cells[s])));
        }
        *self.table(table) = list;
        if key.is_some() {
            self.count(table)?;
        }
        Ok(())
    }

    /// Sets the cells where runs begin.
    fn set_runs(&mut self, image: &Image<'_>) -> Result<(), Error> {
        use Table::*;
        let runs = [
            (TypeDef, 4, Key::TypeFields, Field),
            (TypeDef, 5, Key::TypeMethods, MethodDef),
            (MethodDef, 5, Key::MethodParams, Param),
            (EventMap, 1, Key::MapEvents, Event),
            (PropertyMap, 1, Key::MapProperties, Property),
        ];
        for (owner, column, key, target) in runs {
            let mut next = 1;
            let mut owners = std::mem::take(self.table(owner));
            for row in &mut owners {
                row.cells[column] = next;
                next += image.run(key, row.old, target).len() as u32;
            }
            *self.table(owner) = owners;
            if next as usize != self.table(target).len() + 1 {
                return Err(Error::format("a member belongs to several types", 0));
            }
        }
        Ok(())
    }

    /// The table stream.
    fn stream(&self, heaps: &NewHeaps) -> Vec<u8> {
        let mut counts = [0; TABLE_SLOTS];
        let (mut valid, mut sorted) = (0u64, 0u64);
        for (slot, list) in self.tables.iter().enumerate() {
            counts[slot] = list.len() as u32;
            valid |= u64::from(!list.is_empty()) << slot;
        }
        for (table, ..) in SORTED {
            sorted |= 1 << table as u8;
        }
        let sizes = heaps.sizes();
        let mut out = vec![0, 0, 0, 0, 2, 0, sizes, 1];
        out.extend(valid.to_le_bytes());
        out.extend(sorted.to_le_bytes());
        for count in counts.iter().filter(|c| **c != 0) {
            out.extend(count.to_le_bytes());
        }
        for table in Table::ALL {
            let widths: Vec<u8> = table
                .columns()
                .iter()
                .map(|c| cell_width(*c, &counts, sizes))
                .collect();
            for row in &self.tables[*table as usize] {
                for (cell, width) in row.cells.iter().zip(&widths) {
                    out.extend(&cell.to_le_bytes()[..usize::from(*width)]);
                }
            }
        }
        out
    }
}

/// Do signatures name rows of this table, or does code name them by numbers that stay?
fn keeps_numbers(table: Table) -> bool {
    use Table::*;
    matches!(
        table,
        TypeDef
            | TypeRef
            | TypeSpec
            | StandAloneSig
            | MemberRef
            | MethodSpec
            | ModuleRef
            | AssemblyRef
    )
}

/// The raw cells of a row.
fn cells(image: &Image<'_>, table: Table, rid: u32) -> Option<[u32; MAX_COLUMNS]> {
    let mut cells = [0; MAX_COLUMNS];
    let row = image.tables().cells(table, rid).ok()?;
    for (i, cell) in cells.iter_mut().enumerate().take(table.columns().len()) {
        *cell = row.get(i);
    }
    Some(cells)
}

/// The rows of a table in the order in which a file has them: members by their owners.
fn order<'i>(image: &'i Image<'_>, table: Table) -> Box<dyn Iterator<Item = u32> + 'i> {
    let all = |t: Table| 1..=image.row_count(t);
    match table {
        Table::Field => Box::new(all(Table::TypeDef).flat_map(|t| image.type_fields(t))),
        Table::MethodDef => Box::new(all(Table::TypeDef).flat_map(|t| image.type_methods(t))),
        Table::Param => {
            Box::new(order(image, Table::MethodDef).flat_map(|m| image.method_params(m)))
        }
        Table::Event => {
            Box::new(all(Table::EventMap).flat_map(|m| image.run(Key::MapEvents, m, Table::Event)))
        }
        Table::Property => Box::new(
            all(Table::PropertyMap).flat_map(|m| image.run(Key::MapProperties, m, Table::Property)),
        ),
        table => Box::new(all(table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growing::Growing;
    use crate::il::{Instructions, Operand};

    /// Compares two images of the same numbering, row by row and item by item.
    fn same(a: &Image<'_>, b: &Image<'_>) {
        for table in Table::ALL.iter().copied().filter(|t| is_written(*t)) {
            assert_eq!(a.row_count(table), b.row_count(table), "{table:?}");
            for rid in 1..=a.row_count(table) {
                let (x, y) = (cells(a, table, rid).unwrap(), cells(b, table, rid).unwrap());
                for (i, column) in table.columns().iter().enumerate() {
                    let at = format!("{table:?} {rid} column {i}");
                    let is_address = i == 0 && matches!(table, Table::MethodDef | Table::FieldRva);
                    match column {
                        Column::Str => assert_eq!(
                            a.string_bytes(x[i]).unwrap(),
                            b.string_bytes(y[i]).unwrap(),
                            "{at}"
                        ),
                        Column::Blob => {
                            assert_eq!(a.blob(x[i]).unwrap(), b.blob(y[i]).unwrap(), "{at}");
                        }
                        Column::Guid => {
                            assert_eq!(a.guid(x[i]).unwrap(), b.guid(y[i]).unwrap(), "{at}");
                        }
                        _ if is_address && table == Table::MethodDef && x[i] != 0 => {
                            same_body(a, b, x[i], y[i], &at);
                        }
                        _ if is_address && x[i] != 0 => {
                            let (p, q) = (a.rva_data(x[i]).unwrap(), b.rva_data(y[i]).unwrap());
                            let field = a.field_rva(rid).unwrap().field;
                            let size = bodies::field_size(a, field).unwrap();
                            assert_eq!(p[..size], q[..size], "{at}");
                        }
                        _ => assert_eq!(x[i], y[i], "{at}"),
                    }
                }
            }
        }
        assert_eq!(a.resources_directory(), b.resources_directory());
    }
    fn same_body(a: &Image<'_>, b: &Image<'_>, x: u32, y: u32, at: &str) {
        let (x, y) = (a.method_body(x).unwrap(), b.method_body(y).unwrap());
        assert_eq!(
            (x.max_stack, x.init_locals, x.local_sig, &x.clauses),
            (y.max_stack, y.init_locals, y.local_sig, &y.clauses),
            "{at}"
        );
        assert_eq!(x.code.len(), y.code.len(), "{at}");
        for (i, j) in Instructions::new(x.code).zip(Instructions::new(y.code)) {
            let (i, j) = (i.unwrap(), j.unwrap());
            match (i.operand, j.operand) {
                (Operand::Token(s), Operand::Token(t)) if s.0 >> 24 == 0x70 => {
                    assert_eq!(a.user_string(s.0).unwrap(), b.user_string(t.0).unwrap());
                }
                // Not the operands: a number may be none.
                _ => {
                    let (from, to) = (i.offset as usize, i.end() as usize);
                    assert_eq!(x.code[from..to], y.code[from..to], "{at}");
                }
            }
        }
    }
    fn options<'o>(image: &Image<'o>) -> Options<'o> {
        Options {
            library: image.pe_info().characteristics & 0x2000 != 0,
            flags: image.cli_flags(),
            entry_point: image.entry_point().unwrap_or_default(),
            resources: image.resources_directory(),
            ..Options::default()
        }
    }

    #[test]
    fn the_class_library_is_read_back_as_it_was_written() {
        let names = match cfg!(miri) {
            true => &[][..],
            false => &["mscorlib.dll", "System.dll", "System.Core.dll", "mcs.exe"],
        };
        for name in names {
            let Ok(data) = std::fs::read(format!("/usr/lib/mono/4.5/{name}")) else {
                println!("skipped: no {name}");
                continue;
            };
            let image = Image::parse(&data).unwrap();
            let written = write(&image, &options(&image)).unwrap();
            let again = Image::parse(&written.bytes).unwrap();
            same(&image, &again);
            assert_eq!(image.entry_point(), again.entry_point());
            // What was written is written again to the byte.
            let twice = write(&again, &options(&again)).unwrap();
            assert_eq!(written.bytes, twice.bytes, "{name}");
        }
    }

    #[test]
    fn members_in_any_order_are_written_type_by_type() {
        let g = Growing::leak();
        let image = Image::growing(g);
        let name = g.add_string(b"a").unwrap();
        g.put_row(Table::Module, 1, &[0, name, 0, 0, 0], 0).unwrap();
        for rid in 1..=3 {
            g.put_row(Table::TypeDef, rid, &[0, name, 0, 0, 0, 0], 0)
                .unwrap();
        }
        let text = g.add_user_string(&[b'h', 0]).unwrap();
        // ldstr; call method 1; ret
        let mut code = vec![0x32, 0x72];
        code.extend((0x7000_0000 | text).to_le_bytes());
        code.push(0x28);
        code.extend(0x0600_0001u32.to_le_bytes());
        code.push(0x2A);
        code[0] = ((code.len() - 1) as u8) << 2 | 2;
        let body = g.add_data(&code).unwrap();
        // The same with a fat header.
        let mut fat = vec![0x13, 0x30, 1, 0];
        fat.extend((code.len() as u32 - 1).to_le_bytes());
        fat.extend([0; 4]);
        fat.extend(&code[1..]);
        let fat = g.add_data(&fat).unwrap();
        let signature = g.add_blob(&[0, 0, 1]).unwrap();
        for (rid, owner, body) in [(1, 3, body), (2, 2, body), (4, 3, fat)] {
            let own = g.add_string(format!("m{rid}").as_bytes()).unwrap();
            g.put_row(
                Table::MethodDef,
                rid,
                &[body, 0, 0, own, signature, 0],
                owner,
            )
            .unwrap();
        }
        // Attributes that are not in order.
        for rid in [4, 1] {
            let parent = crate::Coded::HasCustomAttribute
                .encode(Token::new(Table::MethodDef, rid))
                .unwrap();
            let constructor = crate::Coded::CustomAttributeType
                .encode(Token::new(Table::MethodDef, 2))
                .unwrap();
            g.add_row(Table::CustomAttribute, &[parent, constructor, 0], 0)
                .unwrap();
        }
        let written = write(&image, &Options::default()).unwrap();
        assert_eq!(written.methods, [0, 2, 1, 0, 3]);
        let read = Image::parse(&written.bytes).unwrap();
        assert!(read.type_methods(1).eq([]) && read.type_methods(2).eq([1]));
        assert!(read.type_methods(3).eq([2, 3]));
        let row = read.method_def(3).unwrap();
        assert_eq!(read.string(row.name), Ok("m4"));
        let body = read.method_body(row.rva).unwrap();
        let operands: Vec<_> = Instructions::new(body.code)
            .map(|i| i.unwrap().operand)
            .collect();
        let Operand::Token(text) = operands[0] else {
            panic!("no string")
        };
        assert_eq!(read.user_string(text.0).unwrap().to_string(), "h");
        assert_eq!(operands[1], Operand::Token(Token(0x0600_0002)));
        for method in [2, 3] {
            let token = Token::new(Table::MethodDef, method);
            assert_eq!(read.custom_attributes_of(token).len(), 1);
        }
    }

    #[test]
    fn what_refers_to_nothing_is_not_written() {
        let g = Growing::leak();
        g.put_row(Table::InterfaceImpl, 1, &[7, 0], 0).unwrap();
        assert!(write(&Image::growing(g), &Options::default()).is_err());
        let g = Growing::leak();
        g.put_row(Table::TypeDef, 2, &[0; 6], 0).unwrap();
        assert!(write(&Image::growing(g), &Options::default()).is_err());
        let entry_point = Token::new(Table::MethodDef, 1);
        let options = Options {
            entry_point,
            ..Options::default()
        };
        assert!(write(&Image::growing(Growing::leak()), &options).is_err());
    }

    #[test]
    fn win32_resources_are_found_by_their_numbers() {
        let resource = |kind, id, data: &[u8]| Win32Resource {
            kind,
            id,
            language: 0,
            data: data.to_vec(),
        };
        let list = [
            resource(16, 1, &[1, 2, 3]),
            resource(3, 2, &[4]),
            resource(3, 1, &[5]),
        ];
        let options = Options {
            win32: &list,
            ..Options::default()
        };
        let written = write(&Image::growing(Growing::leak()), &options).unwrap();
        let found = |kind, id| crate::version::win32_resource(&written.bytes, kind, Some(id));
        assert_eq!(found(16, 1), Some(&[1, 2, 3][..]));
        assert_eq!(found(3, 1), Some(&[5][..]));
        assert_eq!(found(3, 9), None);
    }
}
