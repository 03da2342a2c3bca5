//! The cultures that are known: English. The invariant culture is managed code's own.

/// What managed code is told of a culture.
pub struct Culture {
    /// Locale id.
    pub lcid: i32,
    /// That of its parent.
    pub parent: i32,
    /// Name, `en-US`.
    pub name: &'static str,
    /// Its name in English, and in itself.
    pub english: &'static str,
    /// Three-letter ISO 639-2.
    pub iso3: &'static str,
    /// Two-letter ISO 639-1.
    pub iso2: &'static str,
    /// Three-letter Windows name.
    pub win3: &'static str,
    /// ISO 3166 code, None for a neutral culture.
    pub territory: Option<&'static str>,
}
/// All of them, sorted by locale id; the index is the one managed code passes back.
pub const CULTURES: &[Culture] = &[
    Culture {
        lcid: 0x0009,
        parent: 0x7f,
        name: "en",
        english: "English",
        iso3: "eng",
        iso2: "en",
        win3: "ENU",
        territory: None,
    },
    Culture {
        lcid: 0x0409,
        parent: 0x0009,
        name: "en-US",
        english: "English (United States)",
        iso3: "eng",
        iso2: "en",
        win3: "ENU",
        territory: Some("US"),
    },
];
/// The type of the default calendar: localized Gregorian.
pub const CALENDAR_TYPE: i32 = 257;

/// Dates and times in English.
pub mod english {
    /// First is the default.
    pub const SHORT_DATES: &[&str] = &[
        "M/d/yyyy",
        "M/d/yy",
        "MM/dd/yy",
        "MM/dd/yyyy",
        "yy/MM/dd",
        "yyyy-MM-dd",
        "dd-MMM-yy",
    ];
    /// First is the default.
    pub const LONG_DATES: &[&str] = &[
        "dddd, MMMM d, yyyy",
        "MMMM d, yyyy",
        "dddd, d MMMM, yyyy",
        "d MMMM, yyyy",
    ];
    /// First is the default.
    pub const YEAR_MONTHS: &[&str] = &["MMMM yyyy"];
    /// First is the default.
    pub const SHORT_TIMES: &[&str] = &["h:mm tt", "hh:mm tt", "H:mm", "HH:mm"];
    /// First is the default.
    pub const LONG_TIMES: &[&str] = &["h:mm:ss tt", "hh:mm:ss tt", "H:mm:ss", "HH:mm:ss"];
    /// Month and day.
    pub const MONTH_DAY: &str = "MMMM d";
    /// From Sunday.
    pub const DAYS: &[&str] = &[
        "Sunday",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
    ];
    /// From Sunday.
    pub const ABBREVIATED_DAYS: &[&str] = &["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    /// From Sunday.
    pub const SHORTEST_DAYS: &[&str] = &["S", "M", "T", "W", "T", "F", "S"];
    /// With a thirteenth, empty one.
    pub const MONTHS: &[&str] = &[
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "",
    ];
    /// As above.
    pub const ABBREVIATED_MONTHS: &[&str] = &[
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "",
    ];
}

/// Strings of the number formats, NUL-terminated.
pub const POOL: &[u8] = b"\0.\0,\0$\0NaN\0-Infinity\0-\0\xe2\x80\xb0\0%\0Infinity\0+\0";
const DOT: i32 = 1;
const COMMA: i32 = 3;
const DOLLAR: i32 = 5;
const NAN: i32 = 7;
const NEGATIVE_INFINITY: i32 = 11;
const MINUS: i32 = 21;
const PER_MILLE: i32 = 23;
const PERCENT: i32 = 27;
const INFINITY: i32 = 29;
const PLUS: i32 = 38;
/// CultureData.NumberFormatEntryManaged: 23 ints, of which the strings are offsets into [`POOL`].
pub const ENGLISH_NUMBERS: [i32; 23] = [
    2,
    DOT,
    COMMA,
    3,
    -1,
    0,
    0,
    DOLLAR,
    NAN,
    NEGATIVE_INFINITY,
    MINUS,
    2,
    DOT,
    COMMA,
    3,
    -1,
    1,
    PER_MILLE,
    0,
    0,
    PERCENT,
    INFINITY,
    PLUS,
];

/// The record behind CultureInfo.textinfo_data.
#[repr(C)]
pub struct TextInfo {
    ansi: i32,
    ebcdic: i32,
    mac: i32,
    oem: i32,
    is_right_to_left: u8,
    list_separator: u8,
}
/// Code pages of English.
pub static ENGLISH_TEXT: TextInfo = TextInfo {
    ansi: 1252,
    ebcdic: 37,
    mac: 10000,
    oem: 437,
    is_right_to_left: 0,
    list_separator: b',',
};

/// A region.
pub struct Region {
    /// GeoId.
    pub geo: i32,
    /// Two letters.
    pub iso2: &'static str,
    /// Three letters.
    pub iso3: &'static str,
    /// Its name in English, and in its own language.
    pub english: &'static str,
    /// Sign of its currency.
    pub currency_symbol: &'static str,
    /// ISO 4217 code.
    pub currency_code: &'static str,
    /// Its currency's name.
    pub currency: &'static str,
}
/// All of them.
pub const REGIONS: &[Region] = &[Region {
    geo: 244,
    iso2: "US",
    iso3: "USA",
    english: "United States",
    currency_symbol: "$",
    currency_code: "USD",
    currency: "US Dollar",
}];

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn offsets_into_the_pool_are_right() {
        let at = |o: i32| {
            std::ffi::CStr::from_bytes_until_nul(&POOL[o as usize..])
                .unwrap()
                .to_str()
                .unwrap()
        };
        let all = [
            DOT,
            COMMA,
            DOLLAR,
            NAN,
            NEGATIVE_INFINITY,
            MINUS,
            PER_MILLE,
            PERCENT,
            INFINITY,
            PLUS,
        ];
        assert_eq!(
            all.map(at),
            [
                ".",
                ",",
                "$",
                "NaN",
                "-Infinity",
                "-",
                "\u{2030}",
                "%",
                "Infinity",
                "+"
            ]
        );
    }
}
