//! Native half of System.Globalization.CultureInfo, CultureData, CalendarData, RegionInfo and CompareInfo.
//!
//! Keeps nothing: what is known of cultures is in [`crate::system::globalization::data`]. A culture that is not there is unknown, which
//! managed code reports as CultureNotFoundException; the invariant culture never gets here.
use crate::support::args::{Chars, Out};
use crate::support::arrays::string_array;
use crate::support::fields::{field_offset, set_i32, set_ref};
use crate::support::text::utf8_z;
use crate::system::environment::variable;
use crate::system::globalization::data::{self, CULTURES, Culture, english};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

fn set_text<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, field: &str, text: &str) -> Result<()> {
    set_ref(cx, object, field, cx.alloc_str(text)?)
}
fn set_texts<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    field: &str,
    texts: &[&str],
) -> Result<()> {
    set_ref(cx, object, field, string_array(cx, texts)?)
}
/// Fills a CultureInfo.
fn construct<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>, index: usize) -> Result<()> {
    let c = &CULTURES[index];
    set_i32(cx, this, "cultureID", c.lcid)?;
    set_i32(cx, this, "parent_lcid", c.parent)?;
    set_i32(cx, this, "datetime_index", index as i32)?;
    set_i32(cx, this, "number_index", index as i32)?;
    set_i32(cx, this, "default_calendar_type", data::CALENDAR_TYPE)?;
    set_text(cx, this, "m_name", c.name)?;
    set_text(cx, this, "englishname", c.english)?;
    set_text(cx, this, "nativename", c.english)?;
    set_text(cx, this, "iso3lang", c.iso3)?;
    set_text(cx, this, "iso2lang", c.iso2)?;
    set_text(cx, this, "win3lang", c.win3)?;
    if let Some(t) = c.territory {
        set_text(cx, this, "territory", t)?;
    }
    set_texts(
        cx,
        this,
        "native_calendar_names",
        &["Gregorian Calendar", "", "", ""],
    )?;
    this.write(
        field_offset(cx, this.class(), "textinfo_data")?,
        &raw const data::ENGLISH_TEXT as usize,
    );
    Ok(())
}
fn find(by: impl Fn(&Culture) -> bool) -> Option<usize> {
    CULTURES.iter().position(by)
}

icalls! {
    /// Fills the object with the culture of this id. False if it is not known.
    "System.Globalization.CultureInfo::construct_internal_locale_from_lcid" fn construct_from_lcid(cx, this: ObjRef<'cx>, lcid: i32) -> bool {
        match find(|c| c.lcid == lcid) {
            Some(i) => construct(cx, this, i).map(|()| true),
            None => Ok(false),
        }
    }
    /// Fills the object with the culture of this name, in any case. False if it is not known.
    "System.Globalization.CultureInfo::construct_internal_locale_from_name" fn construct_from_name(cx, this: ObjRef<'cx>, name: ObjRef<'cx>) -> bool {
        let name = cx.non_null(name)?.text();
        match find(|c| c.name.eq_ignore_ascii_case(&name)) {
            Some(i) => construct(cx, this, i).map(|()| true),
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
        let end = locale.find('.').or_else(|| locale.find('@')).unwrap_or(locale.len());
        cx.alloc_str(&locale[..end].replace('_', "-").to_ascii_lowercase())
    }
    /// Slot 0 stays null for the invariant culture, which is neutral.
    "System.Globalization.CultureInfo::internal_get_cultures" fn internal_get_cultures(cx, neutral: bool, specific: bool, installed: bool) -> ObjRef<'cx> {
        let wanted: Vec<usize> = (0..CULTURES.len())
            .filter(|i| if CULTURES[*i].territory.is_some() { specific } else { neutral })
            .collect();
        let first = neutral as usize;
        let class = cx.known(Known::CultureInfo);
        cx.alloc_ref_array(class, wanted.len() + first, |i| {
            if i < first {
                return Ok(ObjRef::NULL);
            }
            let c = cx.alloc(class)?;
            construct(cx, c, wanted[i - first])?;
            c.write(field_offset(cx, class, "m_useUserOverride")?, 1u8);
            c.write(field_offset(cx, class, "constructed")?, 1u8);
            Ok(c)
        })
    }

    /// Fills the object with the texts of a culture, given its index in the table.
    "System.Globalization.CultureData::fill_culture_data" fn fill_culture_data(cx, this: ObjRef<'cx>, index: i32) {
        set_text(cx, this, "sAM1159", "AM")?;
        set_text(cx, this, "sPM2359", "PM")?;
        set_text(cx, this, "sTimeSeparator", ":")?;
        set_texts(cx, this, "saLongTimes", english::LONG_TIMES)?;
        set_texts(cx, this, "saShortTimes", english::SHORT_TIMES)?;
        set_i32(cx, this, "iFirstDayOfWeek", 0)?;
        set_i32(cx, this, "iFirstWeekOfYear", 0)
    }
    /// The base of the pool that the strings' offsets refer to.
    "System.Globalization.CultureData::fill_number_data" fn fill_number_data(cx, index: i32, entry: Out<'cx, [i32; 23]>) -> *mut u8 {
        entry.set(data::ENGLISH_NUMBERS);
        Ok(data::POOL.as_ptr().cast_mut())
    }

    /// False for an unknown culture. The calendar does not matter.
    "System.Globalization.CalendarData::fill_calendar_data" fn fill_calendar_data(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, calendar: i32) -> bool {
        let name = cx.non_null(name)?.text();
        let Some(i) = find(|c| c.name.eq_ignore_ascii_case(&name)) else { return Ok(false) };
        set_text(cx, this, "sNativeName", CULTURES[i].english)?;
        set_texts(cx, this, "saShortDates", english::SHORT_DATES)?;
        set_texts(cx, this, "saYearMonths", english::YEAR_MONTHS)?;
        set_texts(cx, this, "saLongDates", english::LONG_DATES)?;
        set_text(cx, this, "sMonthDay", english::MONTH_DAY)?;
        set_texts(cx, this, "saDayNames", english::DAYS)?;
        set_texts(cx, this, "saAbbrevDayNames", english::ABBREVIATED_DAYS)?;
        set_texts(cx, this, "saSuperShortDayNames", english::SHORTEST_DAYS)?;
        set_texts(cx, this, "saMonthNames", english::MONTHS)?;
        set_texts(cx, this, "saAbbrevMonthNames", english::ABBREVIATED_MONTHS)?;
        set_texts(cx, this, "saMonthGenitiveNames", english::MONTHS)?;
        set_texts(cx, this, "saAbbrevMonthGenitiveNames", english::ABBREVIATED_MONTHS)?;
        Ok(true)
    }

    /// By two letters or by a culture's name.
    "System.Globalization.RegionInfo::construct_internal_region_from_name" fn construct_region(cx, this: ObjRef<'cx>, name: ObjRef<'cx>) -> bool {
        let name = cx.non_null(name)?.text();
        let territory = find(|c| c.name.eq_ignore_ascii_case(&name)).and_then(|i| CULTURES[i].territory);
        let code = territory.map_or_else(|| name.to_ascii_uppercase(), str::to_string);
        let Some(r) = data::REGIONS.iter().find(|r| r.iso2 == code) else { return Ok(false) };
        set_i32(cx, this, "regionId", r.geo)?;
        set_text(cx, this, "iso2Name", r.iso2)?;
        set_text(cx, this, "iso3Name", r.iso3)?;
        set_text(cx, this, "win3Name", r.iso3)?;
        set_text(cx, this, "englishName", r.english)?;
        set_text(cx, this, "nativeName", r.english)?;
        set_text(cx, this, "currencySymbol", r.currency_symbol)?;
        set_text(cx, this, "isoCurrencySymbol", r.currency_code)?;
        set_text(cx, this, "currencyEnglishName", r.currency)?;
        set_text(cx, this, "currencyNativeName", r.currency)?;
        Ok(true)
    }
}

const IGNORE_CASE: i32 = 1;
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
