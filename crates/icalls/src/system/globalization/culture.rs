//! Native half of System.Globalization.CultureInfo, CultureData, CalendarData, RegionInfo and CompareInfo.
//!
//! Keeps nothing: what is known of cultures and regions are the constants of `vervet-globalization`. A culture that is not there is
//! unknown, which managed code reports as CultureNotFoundException; the invariant culture never gets here. Managed code passes names
//! of cultures in lower case and those of regions in upper case, and is told nothing of a name in another case.
use crate::support::args::{Chars, Out};
use crate::support::fields::{field_offset, set_i32, set_ref};
use crate::support::text::utf8_z;
use crate::system::environment::variable;
use vervet_globalization::{Culture, Region, Text, Texts, cultures, pool};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

/// Sets a string field.
fn set_text<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, field: &str, text: Text) -> Result<()> {
    set_ref(cx, object, field, cx.alloc_str(text.get())?)
}
/// Sets a field to an array of strings.
fn set_texts<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, field: &str, texts: Texts) -> Result<()> {
    let mut texts = texts.get();
    let array = cx.alloc_ref_array(cx.known(Known::String), texts.len(), |_| {
        cx.alloc_str(texts.next().expect("as many as its length says"))
    })?;
    set_ref(cx, object, field, array)
}
/// Fills a CultureInfo.
fn construct<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>, c: &'static Culture) -> Result<()> {
    for (field, value) in [
        ("cultureID", c.id),
        ("parent_lcid", c.parent),
        ("datetime_index", i32::from(c.index)),
        ("number_index", i32::from(c.index)),
        ("default_calendar_type", c.calendar_type),
    ] {
        set_i32(cx, this, field, value)?;
    }
    for (field, text) in [
        ("m_name", c.name),
        ("englishname", c.english),
        ("nativename", c.native),
        ("iso3lang", c.iso3),
        ("iso2lang", c.iso2),
        ("win3lang", c.win3),
    ] {
        set_text(cx, this, field, text)?;
    }
    if let Some(territory) = c.territory() {
        set_ref(cx, this, "territory", cx.alloc_str(territory)?)?;
    }
    set_texts(cx, this, "native_calendar_names", c.calendars)?;
    this.write(
        field_offset(cx, this.class(), "textinfo_data")?,
        &raw const c.text_info as usize,
    );
    Ok(())
}
/// The culture of a name that managed code passes: what comes after a NUL is no part of it.
fn by_name<'cx>(cx: &'cx Cx<'cx>, name: ObjRef<'cx>) -> Result<Option<&'static Culture>> {
    let name = cx.non_null(name)?.text();
    let end = name.find('\0').unwrap_or(name.len());
    Ok(Culture::by_name(&name[..end]))
}

icalls! {
    /// Fills the object with the culture of this id. False if it is not known.
    "System.Globalization.CultureInfo::construct_internal_locale_from_lcid" fn construct_from_lcid(cx, this: ObjRef<'cx>, lcid: i32) -> bool {
        match Culture::by_id(lcid) {
            Some(c) => construct(cx, this, c).map(|()| true),
            None => Ok(false),
        }
    }
    /// Fills the object with the culture of this name, in lower case. False if it is not known.
    "System.Globalization.CultureInfo::construct_internal_locale_from_name" fn construct_from_name(cx, this: ObjRef<'cx>, name: ObjRef<'cx>) -> bool {
        match by_name(cx, name)? {
            Some(c) => construct(cx, this, c).map(|()| true),
            None => Ok(false),
        }
    }
    /// Lower case, `en-us`; null for the invariant culture.
    "System.Globalization.CultureInfo::get_current_locale_name" fn get_current_locale_name(cx) -> ObjRef<'cx> {
        let named = variable(c"LC_ALL").or_else(|| variable(c"LANG")).or_else(|| {
            // SAFETY: setlocale with a null name only asks; it gives null or a NUL-terminated string.
            unsafe {
                let p = libc::setlocale(libc::LC_ALL, std::ptr::null());
                (!p.is_null()).then(|| utf8_z(p as *const u8))
            }
        });
        let Some(locale) = named.filter(|l| l != "C") else { return Ok(ObjRef::NULL) };
        // Without encoding and modifier. Of underscores the first parts language and territory.
        let end = locale.find(['.', '@']).unwrap_or(locale.len());
        cx.alloc_str(&locale[..end].replacen('_', "-", 1).to_ascii_lowercase())
    }
    /// Slot 0 stays null for the invariant culture, which is neutral.
    "System.Globalization.CultureInfo::internal_get_cultures" fn internal_get_cultures(cx, neutral: bool, specific: bool, installed: bool) -> ObjRef<'cx> {
        let wanted = || cultures().iter().filter(|c| if c.territory().is_some() { specific } else { neutral });
        let first = neutral as usize;
        let class = cx.known(Known::CultureInfo);
        let mut next = wanted();
        cx.alloc_ref_array(class, wanted().count() + first, |i| {
            if i < first {
                return Ok(ObjRef::NULL);
            }
            let c = cx.alloc(class)?;
            construct(cx, c, next.next().expect("as many as were counted"))?;
            c.write(field_offset(cx, class, "m_useUserOverride")?, 1u8);
            c.write(field_offset(cx, class, "constructed")?, 1u8);
            Ok(c)
        })
    }

    /// Fills the object with the texts of a culture, given its index.
    "System.Globalization.CultureData::fill_culture_data" fn fill_culture_data(cx, this: ObjRef<'cx>, index: i32) {
        let dates = at(cx, index)?.dates();
        set_text(cx, this, "sAM1159", dates.am)?;
        set_text(cx, this, "sPM2359", dates.pm)?;
        set_text(cx, this, "sTimeSeparator", dates.time_separator)?;
        set_texts(cx, this, "saLongTimes", dates.long_times)?;
        set_texts(cx, this, "saShortTimes", dates.short_times)?;
        set_i32(cx, this, "iFirstDayOfWeek", dates.first_day)?;
        set_i32(cx, this, "iFirstWeekOfYear", dates.week_rule)
    }
    /// The base of the pool that the texts' offsets refer to.
    "System.Globalization.CultureData::fill_number_data" fn fill_number_data(cx, index: i32, entry: Out<'cx, [i32; 23]>) -> *mut u8 {
        entry.set(*at(cx, index)?.numbers());
        Ok(pool().as_ptr().cast_mut())
    }

    /// False for an unknown culture. The calendar does not matter.
    "System.Globalization.CalendarData::fill_calendar_data" fn fill_calendar_data(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, calendar: i32) -> bool {
        let Some(c) = by_name(cx, name)? else { return Ok(false) };
        let dates = c.dates();
        set_text(cx, this, "sNativeName", c.native)?;
        set_text(cx, this, "sMonthDay", dates.month_day)?;
        for (field, texts) in [
            ("saShortDates", dates.short_dates),
            ("saYearMonths", dates.year_months),
            ("saLongDates", dates.long_dates),
            ("saDayNames", dates.days),
            ("saAbbrevDayNames", dates.abbreviated_days),
            ("saSuperShortDayNames", dates.shortest_days),
            ("saMonthNames", dates.months),
            ("saAbbrevMonthNames", dates.abbreviated_months),
            ("saMonthGenitiveNames", dates.genitive_months),
            ("saAbbrevMonthGenitiveNames", dates.abbreviated_genitive_months),
        ] {
            set_texts(cx, this, field, texts)?;
        }
        Ok(true)
    }

    /// By two letters in upper case. False if they are not known.
    "System.Globalization.RegionInfo::construct_internal_region_from_name" fn construct_region(cx, this: ObjRef<'cx>, name: ObjRef<'cx>) -> bool {
        let name = cx.non_null(name)?.text();
        let Some(r) = Region::by_code(&name) else { return Ok(false) };
        set_i32(cx, this, "regionId", r.geo_id)?;
        for (field, text) in [
            ("iso2Name", r.iso2),
            ("iso3Name", r.iso3),
            ("win3Name", r.win3),
            ("englishName", r.english),
            ("nativeName", r.native),
            ("currencySymbol", r.currency_symbol),
            ("isoCurrencySymbol", r.iso_currency),
            ("currencyEnglishName", r.currency_english),
            ("currencyNativeName", r.currency_native),
        ] {
            set_text(cx, this, field, text)?;
        }
        Ok(true)
    }
}
/// The culture at an index that an object of managed code keeps. Reflection can write another there.
fn at<'cx>(cx: &'cx Cx<'cx>, index: i32) -> Result<&'static Culture> {
    usize::try_from(index)
        .ok()
        .and_then(Culture::at)
        .ok_or_else(|| cx.throw(Known::IndexOutOfRangeException, "no culture has this index"))
}

const IGNORE_CASE: i32 = 1;
/// The units, in lower case if the options say that case is ignored.
fn folded(units: &[u16], options: i32) -> Vec<u16> {
    if options & IGNORE_CASE == 0 {
        return units.to_vec();
    }
    crate::support::text::text(units)
        .to_lowercase()
        .encode_utf16()
        .collect()
}

icalls! {
    /// Used with managed collation switched off only: by units, case folded if asked for.
    "System.Globalization.CompareInfo::internal_compare_icall" fn internal_compare(cx, a: Chars<'cx>, a_length: i32, b: Chars<'cx>, b_length: i32, options: i32) -> i32 {
        Ok(folded(a.take(a_length), options).cmp(&folded(b.take(b_length), options)) as i32)
    }
    /// As above: the index of the first or last occurrence, or -1.
    "System.Globalization.CompareInfo::internal_index_icall" fn internal_index(cx, source: Chars<'cx>, start: i32, count: i32, value: Chars<'cx>, value_length: i32, first: bool) -> i32 {
        let value = value.take(value_length);
        let whole = source.take(start.saturating_add(count.max(1)));
        if first {
            let range = whole.get(start as usize..).unwrap_or(&[]);
            let range = &range[..range.len().min(count.max(0) as usize)];
            let at = if value.is_empty() { Some(0) } else { range.windows(value.len()).position(|w| w == value) };
            return Ok(at.map_or(-1, |i| start + i as i32));
        }
        // Backwards: `count` units that end at `start`.
        let low = start + 1 - count;
        let range = source.take(start + 1);
        let range = range.get(low.max(0) as usize..).unwrap_or(&[]);
        let at = if value.is_empty() { Some(range.len().saturating_sub(1)) } else { range.windows(value.len()).rposition(|w| w == value) };
        Ok(at.map_or(-1, |i| low.max(0) + i as i32))
    }
}
