//! Cultures, found by name, by id, or listed.
use crate::tables::{BY_ID, BY_NAME, CULTURES, DATES, NUMBERS};
use crate::text::{Text, Texts};

/// What is known of a culture.
pub struct Culture {
    /// `en-US`.
    pub name: Text,
    /// Locale id. Two cultures may share one: `zh-Hans` and `zh-CHS`.
    pub id: i32,
    /// Locale id of its parent.
    pub parent: i32,
    /// The kind of its default calendar in the second byte, of which option in the first.
    pub calendar_type: i32,
    /// Its name in English.
    pub english: Text,
    /// Its name in its own language.
    pub native: Text,
    /// Three-letter code of the language (ISO 639-2).
    pub iso3: Text,
    /// Two-letter code of the language (ISO 639-1), or three letters if there is none.
    pub iso2: Text,
    /// Three-letter name under Windows.
    pub win3: Text,
    /// Two-letter code of the territory (ISO 3166), empty for a neutral culture.
    pub(crate) territory: Text,
    /// What its calendars are called, by kind.
    pub calendars: Texts,
    /// Code pages and the like.
    pub text_info: TextInfo,
    /// Its place among all of them.
    pub index: u16,
    pub(crate) dates: u16,
    pub(crate) numbers: u16,
}

/// Code pages, direction and the separator of lists, as managed code reads them from memory.
#[repr(C)]
pub struct TextInfo {
    /// Windows code page, 0 if there is none.
    pub ansi: i32,
    /// EBCDIC code page.
    pub ebcdic: i32,
    /// Macintosh code page.
    pub mac: i32,
    /// Code page of the console.
    pub oem: i32,
    /// 1 if text runs from right to left.
    pub right_to_left: u8,
    /// An ASCII character.
    pub list_separator: u8,
}

/// How dates and times are written. Of patterns the first is the default one; days begin with Sunday; of months there are thirteen.
pub struct Dates {
    /// Before noon.
    pub am: Text,
    /// After noon.
    pub pm: Text,
    /// Between hours and minutes.
    pub time_separator: Text,
    /// The week's first day, 0 for Sunday.
    pub first_day: i32,
    /// System.Globalization.CalendarWeekRule.
    pub week_rule: i32,
    /// Pattern of a month and a day.
    pub month_day: Text,
    /// Patterns.
    pub short_dates: Texts,
    /// Patterns.
    pub long_dates: Texts,
    /// Patterns.
    pub short_times: Texts,
    /// Patterns.
    pub long_times: Texts,
    /// Patterns of a year and a month.
    pub year_months: Texts,
    /// Names.
    pub days: Texts,
    /// Abbreviated names.
    pub abbreviated_days: Texts,
    /// The shortest names.
    pub shortest_days: Texts,
    /// Names.
    pub months: Texts,
    /// Abbreviated names.
    pub abbreviated_months: Texts,
    /// Names beside a day.
    pub genitive_months: Texts,
    /// Abbreviated names beside a day.
    pub abbreviated_genitive_months: Texts,
}

impl Culture {
    /// The culture of a name in lower case.
    pub fn by_name(name: &str) -> Option<&'static Culture> {
        let lower = |i: &u16| {
            let name = CULTURES[*i as usize].name.get();
            name.bytes().map(|b| b.to_ascii_lowercase())
        };
        let at = BY_NAME
            .binary_search_by(|i| lower(i).cmp(name.bytes()))
            .ok()?;
        Some(&CULTURES[BY_NAME[at] as usize])
    }
    /// The culture that a locale id means.
    pub fn by_id(id: i32) -> Option<&'static Culture> {
        let at = BY_ID
            .binary_search_by_key(&id, |i| CULTURES[*i as usize].id)
            .ok()?;
        Some(&CULTURES[BY_ID[at] as usize])
    }
    /// The culture at an [`index`](Self::index).
    pub fn at(index: usize) -> Option<&'static Culture> {
        CULTURES.get(index)
    }
    /// Two-letter code of its territory, None for a neutral culture.
    pub fn territory(&self) -> Option<&'static str> {
        Some(self.territory.get()).filter(|t| !t.is_empty())
    }
    /// How it writes dates and times.
    pub fn dates(&self) -> &'static Dates {
        &DATES[self.dates as usize]
    }
    /// How it writes numbers: the 23 ints of CultureData.NumberFormatEntryManaged, of which texts are offsets into [`crate::pool`].
    pub fn numbers(&self) -> &'static [i32; 23] {
        &NUMBERS[self.numbers as usize]
    }
}

/// All cultures, in the order in which CultureInfo.GetCultures lists them.
pub fn cultures() -> &'static [Culture] {
    &CULTURES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_culture_is_found_by_its_name_and_at_its_index() {
        assert_eq!(cultures().len(), 339);
        for (i, c) in (0..).zip(cultures()) {
            let name = c.name.get().to_ascii_lowercase();
            assert_eq!(Culture::by_name(&name).map(|c| c.index), Some(i), "{name}");
            assert_eq!(c.index, i);
        }
    }
    #[test]
    fn names_are_matched_whole_and_in_lower_case() {
        for name in ["", "e", "en-", "en-US", "EN", "zzz", "en-us-x"] {
            assert!(Culture::by_name(name).is_none(), "{name}");
        }
    }
    #[test]
    fn of_two_cultures_with_one_id_the_older_and_the_newer_chinese_are_meant() {
        let name = |id| Culture::by_id(id).map(|c| c.name.get());
        assert_eq!(name(4), Some("zh-CHS"));
        assert_eq!(name(0x7c04), Some("zh-Hant"));
        assert_eq!(name(0x409), Some("en-US"));
        assert_eq!([0x7f, 0, -1, i32::MAX, 0x10409].map(name), [None; 5]);
    }
    #[test]
    fn every_record_leads_to_whole_texts() {
        for c in cultures() {
            let d = c.dates();
            for list in [
                d.months,
                d.abbreviated_months,
                d.genitive_months,
                d.abbreviated_genitive_months,
            ] {
                assert_eq!(list.get().len(), 13);
            }
            for list in [d.days, d.abbreviated_days, d.shortest_days] {
                assert_eq!(list.get().len(), 7);
            }
            assert_eq!(c.calendars.get().len(), 4);
            assert!(
                !c.native.get().is_empty() || c.name.get().starts_with("th"),
                "{}",
                c.name.get()
            );
            for list in [
                d.short_dates,
                d.long_dates,
                d.short_times,
                d.long_times,
                d.year_months,
            ] {
                assert!(list.get().all(|p| !p.is_empty()) && list.get().len() > 0);
            }
            for i in [1, 2, 7, 8, 9, 10, 12, 13, 17, 20, 21, 22] {
                let at = c.numbers()[i] as usize;
                assert!(
                    at == 0 || crate::pool()[at - 1] == 0,
                    "an offset of a text begins one"
                );
            }
        }
    }
}
