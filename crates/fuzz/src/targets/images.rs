//! Target `image`: PE headers, metadata roots, tables, heaps, resources, signatures, attributes, bodies.
//!
//! Images are real ones with changed cells, blobs, strings, bodies and headers, or are built from random rows.
//! Oracles: reading all of it ends; an error names its table and row, heap, address or offset.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::{EDGES, Random};
use crate::target::Target;
use std::ops::Range;
use std::path::Path;
use vervet_metadata::testing::{Cell, Metadata, cell_place, place};
use vervet_metadata::walk::{Budget, walk};
use vervet_metadata::write::{Options, write};
use vervet_metadata::{Column, Error, Image, Table, fuzz_image};

pub(super) const IMAGE: Target = Target {
    name: "image",
    about: "PE, metadata tables and heaps: reading ends, errors say where",
    run,
    generate,
    corpus: || with_installed(Corpus::read("image"), INSTALLED),
    memory: 8 << 20,
    missing: || None,
};

pub(super) const WRITE: Target = Target {
    name: "write",
    about: "images that are read and written: what was written is read as the same",
    run: run_write,
    generate,
    corpus: || with_installed(Corpus::read("image"), INSTALLED),
    memory: 64 << 20,
    missing: || None,
};

/// Installed images that are small enough to be copied for every case.
const INSTALLED: &[&str] = &[
    "Facades/System.Runtime.dll",
    "cert-sync.exe",
    "System.Configuration.Install.dll",
    "Mono.Posix.dll",
    "System.Numerics.dll",
];

/// Adds images of the installed class library, if there is one.
pub(super) fn with_installed(mut corpus: Corpus, names: &[&str]) -> Corpus {
    let folder = Path::new("/usr/lib/mono/4.5");
    names.iter().for_each(|n| corpus.also(&folder.join(n)));
    corpus
}

/// An error says where it is; heaps, addresses and offsets are places, reasons without one are not.
fn says_where(error: &Error, table: Table, rid: u32) {
    let text = error.to_string();
    match error {
        Error::Row { table, rid, .. } => {
            assert!(text.contains(&format!("{table:?}")) && text.contains(&rid.to_string()));
        }
        Error::Heap { heap, .. } => assert!(text.contains(heap)),
        _ => assert!(text.contains(|c: char| c.is_ascii_digit()), "{text}"),
    }
    assert!(rid > 0, "an error of {table:?} without a row: {text}");
}

fn run(data: &[u8]) {
    fuzz_image(data);
    if let Ok(image) = Image::parse(data) {
        let budget = Budget {
            fuel: 100_000,
            rows_per_table: 100,
        };
        let stats = walk(&image, budget, &mut |table, rid, error| {
            says_where(&error, table, rid);
        });
        assert!(stats.attributes_decoded <= stats.attributes);
        for resource in image.resources().take(1000).flatten() {
            let _ = (resource.is_public(), resource.name.len());
        }
    }
}

/// An image that can be written is read back, and written again and again as the same bytes.
fn run_write(data: &[u8]) {
    // What is written is a copy: more would take the time of a case.
    const MOST_ROWS: u32 = 100_000;
    let Ok(image) = Image::parse(data) else {
        return;
    };
    if Table::ALL.iter().map(|t| image.row_count(*t)).sum::<u32>() > MOST_ROWS {
        return;
    }
    fn options<'o>(image: &Image<'o>) -> Options<'o> {
        Options {
            entry_point: image.entry_point().unwrap_or_default(),
            resources: image.resources_directory(),
            ..Options::default()
        }
    }
    let Ok(written) = write(&image, &options(&image)) else {
        return;
    };
    let again = Image::parse(&written.bytes).expect("what was written can be read");
    for table in Table::ALL {
        assert!(again.row_count(*table) <= image.row_count(*table));
    }
    // The first writing sorts tables, so items of heaps may come in another order once more; then nothing changes.
    let twice = write(&again, &options(&again)).expect("what was read can be written");
    if image.row_count(Table::FieldRva) != 0 {
        // The size of a field may be wrong, and then what comes behind it is copied, too.
        return;
    }
    assert_eq!(written.bytes.len(), twice.bytes.len());
    let sorted = Image::parse(&twice.bytes).expect("what was written can be read");
    let thrice = write(&sorted, &options(&sorted)).expect("what was read can be written");
    let differs = twice
        .bytes
        .iter()
        .zip(&thrice.bytes)
        .position(|(a, b)| a != b);
    assert_eq!((None, twice.bytes.len()), (differs, thrice.bytes.len()));
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    if random.once_in(4) || corpus.inputs.is_empty() {
        return built(random);
    }
    let mut data = random.of(&corpus.inputs).1.clone();
    for _ in 0..=random.below(6) {
        change(&mut data, random);
    }
    data
}

/// An image of random rows; most cells are small, so that many name each other.
fn built(random: &mut Random) -> Vec<u8> {
    let mut metadata = Metadata {
        uncompressed: random.once_in(4),
        strings: (0..random.below(64))
            .map(|_| b"\0Ab."[random.below(4)])
            .collect(),
        blobs: (0..random.below(64))
            .map(|_| random.number() as u8)
            .collect(),
        ..Metadata::default()
    };
    for table in Table::ALL {
        if !random.once_in(3) {
            continue;
        }
        let rows = (0..random.below(5))
            .map(|_| {
                let cell = |column: &Column| {
                    let n = random.number();
                    match column {
                        Column::U32 => Cell::Word(n),
                        _ => Cell::Half(n as u16),
                    }
                };
                table.columns().iter().map(cell).collect()
            })
            .collect();
        metadata.tables.push((*table, rows));
    }
    let mut image = metadata.image();
    if random.once_in(2) {
        change(&mut image, random);
    }
    image
}

/// Parts of an image that a change may aim at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A cell of a row.
    Cell,
    /// The bytes of a blob that a row names.
    Blob,
    /// The bytes of a name.
    Name,
    /// The header and clauses of a method's body.
    Body,
}

/// A random row of a random table that has some.
fn random_row(image: &Image<'_>, random: &mut Random) -> Option<(Table, u32)> {
    let tables: Vec<Table> = Table::ALL
        .iter()
        .copied()
        .filter(|t| image.row_count(*t) > 0)
        .collect();
    if tables.is_empty() {
        return None;
    }
    let table = *random.of(&tables);
    Some((
        table,
        1 + random.below(image.row_count(table) as usize) as u32,
    ))
}

/// Where a part of a random row lies, and what kind of column it is.
pub(super) fn target_of(
    data: &[u8],
    part: Part,
    wanted: &dyn Fn(Table, usize) -> bool,
    random: &mut Random,
) -> Option<(Table, Column, Range<usize>)> {
    let image = Image::parse(data).ok()?;
    let (table, rid) = if part == Part::Body {
        let methods = image.row_count(Table::MethodDef) as usize;
        (Table::MethodDef, 1 + random.below(methods) as u32)
    } else {
        random_row(&image, random)?
    };
    let columns = table.columns();
    let matching: Vec<usize> = (0..columns.len())
        .filter(|i| match (part, columns[*i]) {
            (Part::Blob, Column::Blob) | (Part::Name, Column::Str) | (Part::Cell, _) => {
                wanted(table, *i)
            }
            (Part::Body, Column::U32) => true,
            _ => false,
        })
        .collect();
    if matching.is_empty() {
        return None;
    }
    let i = *random.of(&matching);
    let cell = cell_place(&image, table, rid, i)?;
    let index = data[cell.clone()]
        .iter()
        .rev()
        .fold(0u32, |v, b| v << 8 | u32::from(*b));
    let place = match part {
        Part::Cell => cell,
        Part::Blob => {
            let blob = place(&image, image.blob(index).ok()?)?;
            // The length stands before the bytes.
            blob.start.saturating_sub(usize::from(random.once_in(8)))..blob.end
        }
        Part::Name => place(&image, image.string_bytes(index).ok()?)?,
        Part::Body => {
            let body = place(&image, image.rva_data(index).ok()?)?;
            let fat = data[body.start] & 3 == 3;
            let code = image.method_body(index).ok()?.code.len();
            let head = if fat { 12 } else { 1 };
            if random.once_in(2) || !fat {
                body.start..body.start + head
            } else {
                let clauses = body.start + head + code;
                clauses..(clauses + 40).min(body.end)
            }
        }
    };
    (!place.is_empty()).then_some((table, columns[i], place))
}

/// Writes a number that is likely to be a row, an index or an edge to a cell.
pub(super) fn change_cell(cell: &mut [u8], random: &mut Random) {
    let old = cell.iter().rev().fold(0u32, |v, b| v << 8 | u32::from(*b));
    let new = match random.below(5) {
        0 => *random.of(EDGES),
        1 => old ^ 1 << random.below(8 * cell.len()),
        2 => old.wrapping_add(random.below(9) as u32).wrapping_sub(4),
        3 => random.below(64) as u32,
        _ => random.number(),
    };
    let len = cell.len();
    cell.copy_from_slice(&new.to_le_bytes()[..len]);
}

fn change(data: &mut Vec<u8>, random: &mut Random) {
    let part = match random.below(8) {
        0..=2 => Part::Cell,
        3 | 4 => Part::Blob,
        5 => Part::Name,
        6 => Part::Body,
        _ => return change_headers(data, random),
    };
    match target_of(data, part, &|_, _| true, random) {
        Some((_, _, at)) if part == Part::Cell => change_cell(&mut data[at], random),
        Some((_, _, at)) => mutate::in_place(data, (at.start, at.len()), random),
        None => anywhere(data, 0, usize::MAX, random),
    }
}

/// Changes the PE headers, the metadata root, the table stream's header, or the length.
fn change_headers(data: &mut Vec<u8>, random: &mut Random) {
    let root = data.windows(4).position(|w| w == b"BSJB").unwrap_or(0);
    match random.below(8) {
        0 => data.truncate(random.below(data.len() + 1)),
        1..=3 => anywhere(data, 0, 0x400, random),
        _ => anywhere(data, root, 0x100, random),
    }
}

/// Changes bytes of at most `most` from `start` on.
fn anywhere(data: &mut [u8], start: usize, most: usize, random: &mut Random) {
    let len = most.min(data.len().saturating_sub(start));
    mutate::in_place(data, (start, len), random);
}
