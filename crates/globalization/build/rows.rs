//! Reading a table of facts: columns parted by tabs, `|` between the items of a list, `\u1234` for what cannot be seen, `\0` for null.
use std::path::Path;

/// A row, read from left to right.
pub struct Row<'a> {
    table: &'a str,
    line: usize,
    columns: std::str::Split<'a, char>,
}
impl<'a> Row<'a> {
    /// The next column as it is written.
    fn raw(&mut self) -> &'a str {
        self.columns
            .next()
            .unwrap_or_else(|| panic!("{}:{}: too few columns", self.table, self.line))
    }
    /// The next column, a number.
    pub fn number(&mut self) -> i32 {
        let raw = self.raw();
        raw.parse()
            .unwrap_or_else(|_| panic!("{}:{}: '{raw}' is no number", self.table, self.line))
    }
    /// The next column, a text that may be null.
    pub fn nullable(&mut self) -> Option<String> {
        let raw = self.raw();
        (raw != "\\0").then(|| unescaped(raw))
    }
    /// The next column, a text.
    pub fn text(&mut self) -> String {
        let (table, line) = (self.table, self.line);
        self.nullable()
            .unwrap_or_else(|| panic!("{table}:{line}: null where a text belongs"))
    }
    /// The next column, a list of texts.
    pub fn list(&mut self) -> Vec<String> {
        self.raw().split('|').map(unescaped).collect()
    }
    /// Ends the row.
    pub fn end(mut self) {
        assert!(
            self.columns.next().is_none(),
            "{}:{}: too many columns",
            self.table,
            self.line
        );
    }
}

/// Without escapes.
fn unescaped(raw: &str) -> String {
    let mut parts = raw.split("\\u");
    let mut text = parts.next().expect("split gives a part").to_string();
    for part in parts {
        let (unit, rest) = part.split_at(4);
        let unit = u32::from_str_radix(unit, 16).expect("four hexadecimal digits");
        text.push(char::from_u32(unit).expect("no half of a surrogate pair"));
        text.push_str(rest);
    }
    assert!(!text.contains(['\0', '\\']), "{raw}");
    text
}

/// One value for each row of a table. The first line names the columns.
pub fn read<T>(folder: &Path, table: &str, mut of: impl FnMut(&mut Row) -> T) -> Vec<T> {
    let text =
        std::fs::read_to_string(folder.join(table)).expect("the facts are part of the sources");
    text.lines()
        .enumerate()
        .skip(1)
        .map(|(i, line)| {
            let mut row = Row {
                table,
                line: i + 1,
                columns: line.split('\t'),
            };
            let value = of(&mut row);
            row.end();
            value
        })
        .collect()
}
