//! The metadata tables and heaps as they lie in the file.
use crate::support::{ClassP, ImageP, SigP, set, supplied};
use rustc_hash::FxHashMap;
use std::ffi::{c_char, c_int};
use vervet_metadata::Table;
use vervet_os::LeafLock;
use vervet_types::{GenericContext, Module, Scope, Token};

/// A `MonoTableInfo`.
pub struct Info {
    module: &'static Module,
    table: Table,
}
static ALL: LeafLock<Option<FxHashMap<(u32, c_int), &'static Info>>> = LeafLock::new(None);

fn table(id: c_int) -> Option<Table> {
    Table::ALL.iter().copied().find(|t| *t as c_int == id)
}
fn info(module: &'static Module, id: c_int) -> Option<&'static Info> {
    let table = table(id)?;
    let mut all = ALL.lock();
    Some(
        *all.get_or_insert_default()
            .entry((module.id, id))
            .or_insert_with(|| Box::leak(Box::new(Info { module, table }))),
    )
}
fn rows(info: &Info) -> c_int {
    info.module.image.row_count(info.table) as c_int
}
/// A cell; the row counts from 0.
fn cell(info: &Info, row: c_int, column: usize) -> u32 {
    info.module
        .image
        .tables()
        .raw_cell(info.table, row as u32 + 1, column)
        .unwrap_or(0)
}
fn row_start(image: ImageP, id: c_int, row: u32) -> *const u8 {
    let row = image.and_then(|i| i.image.tables().row_bytes(table(id)?, row));
    row.map_or(c"".as_ptr().cast(), |bytes| bytes.as_ptr())
}
/// # Safety
/// `out` has room for so many cells.
unsafe fn decode(info: &Info, row: c_int, out: *mut u32, size: c_int) {
    for i in 0..size.max(0) as usize {
        // SAFETY: the caller's promise.
        unsafe { out.add(i).write(cell(info, row, i)) };
    }
}

/// A compressed number (ECMA-335 II.23.2), and how long it is.
///
/// # Safety
/// It lies there.
pub unsafe fn compressed(at: *const u8) -> (u32, usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let b = |i: usize| u32::from(*at.add(i));
        match b(0) {
            x if x & 0x80 == 0 => (x, 1),
            x if x & 0x40 == 0 => ((x & 0x3f) << 8 | b(1), 2),
            x => ((x & 0x1f) << 24 | b(1) << 16 | b(2) << 8 | b(3), 4),
        }
    }
}
/// Where the contents of a blob begin, less the length before them.
pub fn blob_start(bytes: &'static [u8]) -> *const c_char {
    let length = match bytes.len() {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        _ => 4,
    };
    bytes.as_ptr().wrapping_sub(length).cast()
}
static GUIDS: LeafLock<Option<FxHashMap<[u8; 16], &'static [u8; 16]>>> = LeafLock::new(None);

/// The first row, from 1, whose column has the value, and how many follow each other.
fn rows_with(image: ImageP, table: Table, column: usize, value: u32) -> Option<(u32, u32)> {
    let image = &image?.image;
    let fits = |rid: &u32| image.tables().raw_cell(table, *rid, column) == Some(value);
    first_and_count((1..=image.row_count(table)).filter(fits))
}
/// # Safety
/// `end` is null or a variable.
unsafe fn semantics(image: ImageP, owner: u32, end: *mut u32) -> u32 {
    let (first, count) = rows_with(image, Table::MethodSemantics, 2, owner).unwrap_or((1, 0));
    // SAFETY: the caller's promise.
    unsafe { set(end, first - 1 + count) };
    first - 1
}
fn first_and_count(rids: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
    let all: Vec<u32> = rids.collect();
    Some((*all.first()?, all.len() as u32))
}

query_api! {
    /// A row in the file, from 1; an empty text if there is no such row, as in mono.
    fn mono_metadata_locate(image: ImageP, id: c_int, row: u32) -> *const u8 { row_start(image, id, row) }
    fn mono_metadata_locate_token(image: ImageP, token: u32) -> *const u8 { row_start(image, (token >> 24) as c_int, token & 0xff_ffff) }
    /// Bytes of a row; for each column one less than its bytes, in two bits, and the number of columns above.
    fn mono_metadata_compute_size(image: ImageP, id: c_int, columns: *mut u32) -> c_int {
        let (Some(image), Some(table)) = (image, table(id)) else { return 0 };
        let sizes: Vec<u32> = image.image.tables().column_sizes(table).collect();
        let bits = sizes.iter().enumerate().fold(0, |bits, (i, size)| bits | size.wrapping_sub(1) << (2 * i));
        set(columns, bits | (sizes.len() as u32) << 24);
        sizes.iter().sum::<u32>() as c_int
    }
    fn mono_metadata_init() {}
    fn mono_image_get_table_info(image: ImageP, id: c_int) -> Option<&'static Info> { info(image?, id) }
    fn mono_image_get_table_rows(image: ImageP, id: c_int) -> c_int { image.and_then(|i| info(i, id)).map_or(0, rows) }
    fn mono_table_info_get_rows(table: Option<&'static Info>) -> c_int { table.map_or(0, rows) }
    fn mono_metadata_decode_row(table: Option<&'static Info>, row: c_int, out: *mut u32, size: c_int) {
        if let Some(table) = table { decode(table, row, out, size); }
    }
    fn mono_metadata_decode_row_col(table: Option<&'static Info>, row: c_int, column: u32) -> u32 { table.map_or(0, |t| cell(t, row, column as usize)) }
    fn mono_metadata_decode_table_row(image: ImageP, id: c_int, row: c_int, out: *mut u32, size: c_int) {
        if let Some(table) = image.and_then(|i| info(i, id)) { decode(table, row, out, size); }
    }
    fn mono_metadata_decode_table_row_col(image: ImageP, id: c_int, row: c_int, column: u32) -> u32 {
        image.and_then(|i| info(i, id)).map_or(0, |t| cell(t, row, column as usize))
    }
    fn mono_metadata_string_heap(image: ImageP, index: u32) -> *const c_char {
        image.and_then(|i| i.image.string_bytes(index).ok()).map_or(std::ptr::null(), |b| b.as_ptr().cast())
    }
    fn mono_metadata_guid_heap(image: ImageP, index: u32) -> *const u8 {
        let Some(guid) = image.and_then(|i| i.image.guid(index).ok()) else { return std::ptr::null() };
        let mut all = GUIDS.lock();
        let kept = all.get_or_insert_default().entry(guid).or_insert_with(|| Box::leak(Box::new(guid)));
        kept.as_ptr()
    }
    /// The first row, from 0, whose owner is the event, and behind the last.
    fn mono_metadata_methods_from_event(image: ImageP, index: u32, end: *mut u32) -> u32 { semantics(image, (index + 1) << 1, end) }
    fn mono_metadata_methods_from_property(image: ImageP, index: u32, end: *mut u32) -> u32 { semantics(image, (index + 1) << 1 | 1, end) }
    /// The first attribute's row, from 1, of a coded owner; 0 if there is none.
    fn mono_metadata_custom_attrs_from_index(image: ImageP, owner: u32) -> u32 {
        rows_with(image, Table::CustomAttribute, 0, owner).map_or(0, |(first, _)| first)
    }
    /// The first row, from 0, of a coded owner; all ones if there is none.
    fn mono_metadata_declsec_from_index(image: ImageP, owner: u32) -> u32 {
        rows_with(image, Table::DeclSecurity, 1, owner).map_or(u32::MAX, |(first, _)| first - 1)
    }
    /// The blob with its length before it.
    fn mono_metadata_blob_heap(image: ImageP, index: u32) -> *const c_char {
        image.and_then(|i| i.image.blob(index).ok()).map_or(std::ptr::null(), blob_start)
    }
    fn mono_metadata_user_string(image: ImageP, index: u32) -> *const c_char {
        let Some(s) = image.and_then(|i| i.image.user_string(index & 0xff_ffff).ok()) else { return std::ptr::null() };
        let bytes = s.bytes();
        // The last byte says whether there are special characters; it is counted, and lies behind the units.
        let length = match bytes.len() + 1 { 0..0x80 => 1, 0x80..0x4000 => 2, _ => 4 };
        bytes.as_ptr().wrapping_sub(length).cast()
    }
    fn mono_metadata_decode_value(at: *const u8, next: *mut *const u8) -> u32 {
        let (value, length) = compressed(at);
        set(next, at.add(length));
        value
    }
    fn mono_metadata_decode_blob_size(at: *const u8, next: *mut *const u8) -> u32 {
        let (value, length) = compressed(at);
        set(next, at.add(length));
        value
    }
    fn mono_metadata_decode_signed_value(at: *const u8, next: *mut *const u8) -> i32 {
        let (value, length) = compressed(at);
        set(next, at.add(length));
        let bits = match length { 1 => 7, 2 => 14, _ => 29 };
        let rest = (value >> 1) as i32;
        if value & 1 != 0 { rest - (1 << (bits - 1)) } else { rest }
    }
    fn mono_metadata_encode_value(value: u32, at: *mut u8, end: *mut *mut u8) {
        let bytes: &[u8] = &match value {
            0..0x80 => vec![value as u8],
            0x80..0x4000 => vec![(value >> 8) as u8 | 0x80, value as u8],
            _ => vec![(value >> 24) as u8 & 0x1f | 0xc0, (value >> 16) as u8, (value >> 8) as u8, value as u8],
        };
        bytes.as_ptr().copy_to_nonoverlapping(at, bytes.len());
        set(end, at.add(bytes.len()));
    }
    fn mono_metadata_token_from_dor(index: u32) -> u32 {
        match index & 3 { 0 => 0x0200_0000 | index >> 2, 1 => 0x0100_0000 | index >> 2, 2 => 0x1b00_0000 | index >> 2, _ => 0 }
    }
    fn mono_metadata_typedef_from_field(image: ImageP, index: u32) -> u32 { image.and_then(|i| i.image.field_owner(index)).unwrap_or(0) }
    fn mono_metadata_typedef_from_method(image: ImageP, index: u32) -> u32 { image.and_then(|i| i.image.method_owner(index & 0xff_ffff)).unwrap_or(0) }
    fn mono_metadata_nested_in_typedef(image: ImageP, index: u32) -> u32 {
        let outer = image.and_then(|i| i.image.nested_class_of(index & 0xff_ffff));
        outer.map_or(0, |rid| Token::new(Table::TypeDef, rid).0)
    }
    fn mono_metadata_nesting_typedef(image: ImageP, index: u32, start: u32) -> u32 {
        let Some(image) = image else { return 0 };
        let count = image.image.row_count(Table::NestedClass);
        (start..=count).find(|&rid| {
            rid > 0 && image.image.tables().raw_cell(Table::NestedClass, rid, 1) == Some(index & 0xff_ffff)
        }).unwrap_or(0)
    }
    fn mono_metadata_events_from_typedef(image: ImageP, index: u32, end: *mut u32) -> u32 {
        let found = image.and_then(|i| first_and_count(i.image.type_events(index + 1)));
        set(end, found.map_or(0, |(first, count)| first - 1 + count));
        found.map_or(0, |(first, _)| first - 1)
    }
    fn mono_metadata_properties_from_typedef(image: ImageP, index: u32, end: *mut u32) -> u32 {
        let found = image.and_then(|i| first_and_count(i.image.type_properties(index + 1)));
        set(end, found.map_or(0, |(first, count)| first - 1 + count));
        found.map_or(0, |(first, _)| first - 1)
    }
    fn mono_metadata_packing_from_typedef(image: ImageP, index: u32, packing: *mut u32, size: *mut u32) -> u32 {
        let Some((image, rid)) = image.and_then(|i| Some((i, i.image.class_layout_of(index & 0xff_ffff)?))) else { return 0 };
        let tables = image.image.tables();
        set(packing, tables.raw_cell(Table::ClassLayout, rid, 0).unwrap_or(0));
        set(size, tables.raw_cell(Table::ClassLayout, rid, 1).unwrap_or(0));
        rid
    }
    fn mono_metadata_implmap_from_method(image: ImageP, index: u32) -> u32 {
        image.and_then(|i| i.image.impl_map_of(Token::new(Table::MethodDef, index + 1))).unwrap_or(0)
    }
    fn mono_metadata_get_constant_index(image: ImageP, token: u32, _hint: u32) -> u32 {
        image.and_then(|i| i.image.constant_of(Token(token))).unwrap_or(0)
    }
    fn mono_metadata_translate_token_index(_image: ImageP, _table: c_int, index: u32) -> u32 { index }
    fn mono_type_create_from_typespec(image: ImageP, token: u32) -> ClassP { crate::classes::by_token(image?, token) }
    fn mono_metadata_parse_signature(image: ImageP, token: u32) -> SigP {
        let scope = Scope { module: image?, context: GenericContext::default(), dynamic: None };
        scope.stand_alone_sig(Token(token)).ok()
    }
    fn mono_guid_to_string(guid: *const u8) -> *mut c_char {
        let b = std::slice::from_raw_parts(guid, 16);
        let hex = |r: &[usize]| r.iter().map(|&i| format!("{:02X}", b[i])).collect::<String>();
        crate::support::new_text(&format!("{}-{}-{}-{}-{}", hex(&[3, 2, 1, 0]), hex(&[5, 4]), hex(&[7, 6]), hex(&[8, 9]), hex(&[10, 11, 12, 13, 14, 15])))
    }
    fn mono_guid_to_string_minimal(guid: *const u8) -> *mut c_char {
        let b = std::slice::from_raw_parts(guid, 16);
        crate::support::new_text(&[3usize, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].iter().map(|&i| format!("{:02x}", b[i])).collect::<String>())
    }
}

object_api! {
    /// The interfaces that a type declares, which the host frees with `mono_free`; null if there are none.
    fn mono_metadata_interfaces_from_typedef(cx; image: ImageP, index: u32, count: *mut u32) -> *mut ClassP {
        set(count, 0);
        let Some(image) = image else { return std::ptr::null_mut() };
        let Some((first, n)) = rows_with(Some(image), Table::InterfaceImpl, 0, index & 0xff_ffff) else { return std::ptr::null_mut() };
        let declared = crate::classes::by_token(image, Token::new(Table::TypeDef, index & 0xff_ffff).0);
        let scope = declared.map(|class| class.scope());
        let list = libc::malloc(n as usize * size_of::<ClassP>()).cast::<ClassP>();
        for i in 0..n {
            let coded = image.image.tables().raw_cell(Table::InterfaceImpl, first + i, 1).unwrap_or(0);
            let table = [Table::TypeDef, Table::TypeRef, Table::TypeSpec][(coded & 3).min(2) as usize];
            let interface = scope.as_ref().and_then(|s| supplied(cx, || s.type_(Token::new(table, coded >> 2))));
            list.add(i as usize).write(interface);
        }
        set(count, n);
        list
    }
}
