//! From the tables of facts to the source of records.
use crate::pool::Pool;
use crate::rows::{Row, read};
use std::fmt::Write;
use std::path::Path;

/// The fields of `Dates` that are lists, as the columns are ordered.
const DATE_LISTS: [&str; 12] = [
    "short_dates",
    "long_dates",
    "short_times",
    "long_times",
    "year_months",
    "days",
    "abbreviated_days",
    "shortest_days",
    "months",
    "abbreviated_months",
    "genitive_months",
    "abbreviated_genitive_months",
];
/// Which of the 23 columns of numbers are texts.
const NUMBER_TEXTS: [usize; 12] = [1, 2, 7, 8, 9, 10, 12, 13, 17, 20, 21, 22];

/// A date format.
fn dates(pool: &mut Pool, row: &mut Row) -> String {
    row.number();
    let mut source = String::from("Dates { ");
    for field in ["am", "pm", "time_separator"] {
        let text = row.text();
        write!(source, "{field}: {}, ", pool.text(&text)).expect("a String grows");
    }
    for field in ["first_day", "week_rule"] {
        write!(source, "{field}: {}, ", row.number()).expect("a String grows");
    }
    let month_day = row.text();
    write!(source, "month_day: {}, ", pool.text(&month_day)).expect("a String grows");
    for field in DATE_LISTS {
        let list = row.list();
        write!(source, "{field}: {}, ", pool.list(&list)).expect("a String grows");
    }
    source + "}"
}
/// A number format: 23 ints, of which texts are offsets.
fn numbers(pool: &mut Pool, row: &mut Row) -> String {
    row.number();
    let ints: Vec<String> = (0..23)
        .map(|i| {
            if NUMBER_TEXTS.contains(&i) {
                format!("{}.0 as i32", pool.text(&row.text()))
            } else {
                row.number().to_string()
            }
        })
        .collect();
    format!("[{}]", ints.join(", "))
}
/// A culture without its index; its name, its id, and whether it is the one that the id means.
fn culture(pool: &mut Pool, row: &mut Row) -> (String, i32, bool, String) {
    let name = row.text();
    let (id, by_id) = (row.number(), row.number() == 1);
    let mut source = format!("Culture {{ name: {}, id: {id}, ", pool.text(&name));
    for field in ["parent", "calendar_type"] {
        write!(source, "{field}: {}, ", row.number()).expect("a String grows");
    }
    for field in ["english", "native", "iso3", "iso2", "win3"] {
        let text = row.text();
        write!(source, "{field}: {}, ", pool.text(&text)).expect("a String grows");
    }
    let territory = row.nullable().unwrap_or_default();
    let calendars = row.list();
    write!(
        source,
        "territory: {}, calendars: {}, text_info: TextInfo {{ ",
        pool.text(&territory),
        pool.list(&calendars)
    )
    .expect("a String grows");
    for field in ["ansi", "ebcdic", "mac", "oem", "right_to_left"] {
        write!(source, "{field}: {}, ", row.number()).expect("a String grows");
    }
    let separator = row.text();
    let [separator] = separator.as_bytes() else {
        panic!("a list separator is a byte, not '{separator}'")
    };
    write!(source, "list_separator: {separator} }}, ").expect("a String grows");
    write!(
        source,
        "dates: {}, numbers: {} }}",
        row.number(),
        row.number()
    )
    .expect("a String grows");
    (name, id, by_id, source)
}
/// A region.
fn region(pool: &mut Pool, row: &mut Row) -> String {
    let mut source = format!("Region {{ geo_id: {}, ", row.number());
    for field in [
        "iso2",
        "iso3",
        "win3",
        "english",
        "native",
        "currency_symbol",
        "iso_currency",
        "currency_english",
        "currency_native",
    ] {
        let text = row.text();
        write!(source, "{field}: {}, ", pool.text(&text)).expect("a String grows");
    }
    source + "}"
}

/// Adds a table.
fn table(source: &mut String, doc: &str, name: &str, of: &str, rows: &[String]) {
    writeln!(
        source,
        "/// {doc}\npub static {name}: [{of}; {}] = [\n{},\n];",
        rows.len(),
        rows.join(",\n")
    )
    .expect("a String grows");
}

/// All tables.
pub fn source(facts: &Path) -> String {
    let mut pool = Pool::new();
    let dates = read(facts, "dates.tsv", |row| dates(&mut pool, row));
    let numbers = read(facts, "numbers.tsv", |row| numbers(&mut pool, row));
    let cultures = read(facts, "cultures.tsv", |row| culture(&mut pool, row));
    let regions = read(facts, "regions.tsv", |row| region(&mut pool, row));

    let mut by_name: Vec<usize> = (0..cultures.len()).collect();
    by_name.sort_by_key(|i| cultures[*i].0.to_ascii_lowercase());
    let mut by_id: Vec<usize> = (0..cultures.len()).filter(|i| cultures[*i].2).collect();
    by_id.sort_by_key(|i| cultures[*i].1);
    let indices = |indices: &[usize]| indices.iter().map(usize::to_string).collect::<Vec<_>>();
    let records: Vec<String> = cultures
        .into_iter()
        .enumerate()
        .map(|(i, c)| c.3.replacen("{ ", &format!("{{ index: {i}, "), 1))
        .collect();

    let mut source = pool.source();
    table(&mut source, "Date formats.", "DATES", "Dates", &dates);
    table(
        &mut source,
        "Number formats.",
        "NUMBERS",
        "[i32; 23]",
        &numbers,
    );
    table(
        &mut source,
        "Cultures, in the order in which they are listed.",
        "CULTURES",
        "Culture",
        &records,
    );
    table(
        &mut source,
        "Cultures by name in lower case.",
        "BY_NAME",
        "u16",
        &indices(&by_name),
    );
    table(
        &mut source,
        "Cultures by id. Two ids belong to two cultures, of which one is here.",
        "BY_ID",
        "u16",
        &indices(&by_id),
    );
    table(
        &mut source,
        "Regions by their two letters.",
        "REGIONS",
        "Region",
        &regions,
    );
    source
}
