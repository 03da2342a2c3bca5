//! From the Unicode character database to the six arrays that System.Text.Normalization reads.
//!
//! The class library finds a place in an array by *windows*: ranges of code points (for one array: of places in another) that it has in
//! its code, laid end to end. What is outside of them shares place 0, so place 0 says 'nothing' everywhere but for one character ([`SHARED`]). Managed code decomposes
//! step by step and composes pairs:
//!
//! * `mapped` has the decompositions, each a run of UTF-16 units with a 0 behind it; `char_map` says where that of a character begins.
//! * A pair that composes lies in a window of `composite`, beside the other pairs with its first unit and before a 0; `helper` says
//!   where the pairs of a first unit begin, `composite` what the pair at a place becomes.
//! * A character of which the windows do not admit the decomposition is one without a decomposition.
use std::collections::BTreeMap;
use unicode_normalization::IsNormalized;
use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible,
};
use unicode_normalization::{is_nfc_quick, is_nfkc_quick};

/// Ranges, from the first to before the last.
type Windows = &'static [(usize, usize)];
const PROPERTIES: Windows = &[
    (0, 0x6e0),
    (0x910, 0x1200),
    (0x1b00, 0x2330),
    (0x2460, 0x2600),
    (0x2980, 0x2ae0),
    (0x2c70, 0x2c80),
    (0x2d60, 0x2d70),
    (0x2e90, 0x3400),
    (0xa770, 0xa780),
    (0xa7f0, 0xa800),
    (0xf900, 0x10000),
];
const CHAR_MAP: Windows = &[
    (0x90, 0x6e0),
    (0x920, 0x1100),
    (0x1d20, 0x2330),
    (0x2460, 0x24a0),
    (0x24a0, 0x24f0),
    (0x2a00, 0x2ae0),
    (0x2d60, 0x2d70),
    (0x2e90, 0x3400),
    (0xf900, 0x10000),
];
const COMBINING: Windows = &[
    (0x2f0, 0x360),
    (0x480, 0x490),
    (0x590, 0x750),
    (0x930, 0x960),
    (0x9b0, 0x9d0),
    (0xa30, 0xa50),
    (0xab0, 0xad0),
    (0xb30, 0xb50),
    (0xbc0, 0xbd0),
    (0xc40, 0xc60),
    (0xcb0, 0xcd0),
    (0xd40, 0xd50),
    (0xdc0, 0xdd0),
    (0xe30, 0xe50),
    (0xeb0, 0xed0),
    (0xf00, 0xfd0),
    (0x1030, 0x1040),
    (0x1350, 0x1360),
    (0x1710, 0x1740),
    (0x17d0, 0x17e0),
    (0x18a0, 0x18b0),
    (0x1930, 0x1940),
    (0x1a10, 0x1a20),
    (0x1dc0, 0x1dd0),
    (0x20d0, 0x20f0),
    (0x3020, 0x3030),
    (0x3090, 0x30a0),
    (0xa800, 0xa810),
    (0xfb10, 0xfb20),
    (0xfe20, 0xfe30),
];
/// The character outside of the windows that has place 0 of `char_map`, as in mono. Its bits say that it decomposes; those of the others say
/// that they do not, so nobody else asks for the decomposition at that place.
const SHARED: char = '\u{a770}';
/// Of places in `mapped`.
const COMPOSITE: Windows = &[(0x480, 0x1080), (0x1410, 0x1580), (0x1670, 0x21b0)];
const HELPER: Windows = &[
    (0, 0x700),
    (0x900, 0x1200),
    (0x1d00, 0x2300),
    (0x2500, 0x2600),
    (0x3000, 0x3160),
    (0x3b90, 0x3ba0),
    (0x4010, 0x4030),
    (0x4e00, 0xa000),
    (0xfb40, 0xfb50),
];

/// Bits of `properties`.
mod bit {
    pub const NO_NFD: u8 = 1;
    pub const NO_NFKD: u8 = 2;
    pub const NO_NFC: u8 = 4;
    pub const MAYBE_NFC: u8 = 8;
    pub const NO_NFKC: u8 = 16;
    pub const MAYBE_NFKC: u8 = 32;
    pub const COMPOSITION_EXCLUSION: u8 = 64;
}

/// How many places windows make.
fn length(windows: Windows) -> usize {
    windows.iter().map(|(start, end)| end - start).sum()
}
/// The place of a code point, None outside of the windows.
fn place(windows: Windows, at: usize) -> Option<usize> {
    let mut before = 0;
    for (start, end) in windows {
        if (*start..*end).contains(&at) {
            return Some(before + at - start);
        }
        before += end - start;
    }
    None
}

/// The units that a character becomes.
fn decomposed(c: char, full: fn(char, &mut dyn FnMut(char))) -> Vec<u16> {
    let mut text = String::new();
    full(c, &mut |part| text.push(part));
    text.encode_utf16().collect()
}
/// The two characters that compose a character, None if no two do.
fn pair(c: char) -> Option<(char, char)> {
    let mut parts = Vec::new();
    decompose_canonical(c, |part| parts.push(part));
    let last = parts.pop()?;
    let first = parts
        .into_iter()
        .map(Some)
        .reduce(|a, b| compose(a?, b?))??;
    (compose(first, last) == Some(c)).then_some((first, last))
}

/// The arrays, growing.
struct Arrays {
    properties: Vec<u8>,
    mapped: Vec<u16>,
    char_map: Vec<usize>,
    helper: Vec<usize>,
    composite: Vec<u16>,
    combining: Vec<u8>,
}
impl Arrays {
    /// Adds a decomposition; gives its place.
    fn run(&mut self, units: &[u16]) -> usize {
        let at = self.mapped.len();
        self.mapped.extend_from_slice(units);
        self.mapped.push(0);
        at
    }
    /// Says where the decomposition of a character is.
    fn map(&mut self, c: char, at: usize) {
        let place = place(CHAR_MAP, c as usize).or((c == SHARED).then_some(0));
        self.char_map[place.expect("only admitted characters are mapped")] = at;
    }
    /// Sets the bits of a character that decomposes, if it does, or may be composed with what is before it.
    fn set_properties(&mut self, c: char, decomposes: bool) {
        let Some(at) = place(PROPERTIES, c as usize) else {
            return;
        };
        let text = || std::iter::once(c);
        let mut bits = 0;
        let mut set = |b, on| bits |= if on { b } else { 0 };
        if decomposes {
            let canonical = decomposed(c, |c, f| decompose_canonical(c, f)) != [c as u16];
            set(bit::NO_NFD, canonical);
            set(bit::NO_NFKD, true);
            set(bit::NO_NFC, is_nfc_quick(text()) == IsNormalized::No);
            set(bit::NO_NFKC, is_nfkc_quick(text()) == IsNormalized::No);
            set(bit::COMPOSITION_EXCLUSION, canonical && pair(c).is_none());
        }
        set(bit::MAYBE_NFC, is_nfc_quick(text()) == IsNormalized::Maybe);
        set(
            bit::MAYBE_NFKC,
            is_nfkc_quick(text()) == IsNormalized::Maybe,
        );
        self.properties[at] = bits;
    }
}

/// The characters that have one UTF-16 unit. Hangul syllables are left out: managed code reckons them.
fn characters() -> impl Iterator<Item = char> {
    ('\u{1}'..='\u{ffff}').filter(|c| !('\u{ac00}'..='\u{d7a3}').contains(c))
}
/// Whether the windows admit the decomposition of a character, and that it is composed again of what it was decomposed to.
fn admitted(c: char) -> bool {
    let has = |windows, c: char| place(windows, c as usize).is_some_and(|at| at > 0);
    let composes = pair(c).is_none_or(|(first, last)| has(HELPER, first) && has(PROPERTIES, last));
    (has(CHAR_MAP, c) || c == SHARED) && has(PROPERTIES, c) && composes
}

/// The six arrays.
fn arrays() -> Arrays {
    let mut arrays = Arrays {
        properties: vec![0; length(PROPERTIES)],
        mapped: vec![0],
        char_map: vec![0; length(CHAR_MAP)],
        helper: vec![0; length(HELPER)],
        composite: vec![0; length(COMPOSITE)],
        combining: vec![0; length(COMBINING)],
    };
    let mut pairs: BTreeMap<char, Vec<(char, char)>> = BTreeMap::new();
    let mut others = Vec::new();
    for c in characters() {
        if let Some(at) = place(COMBINING, c as usize) {
            arrays.combining[at] = canonical_combining_class(c);
        }
        let units = decomposed(c, |c, f| decompose_compatible(c, f));
        let decomposes = admitted(c) && units != [c as u16];
        arrays.set_properties(c, decomposes);
        match pair(c).filter(|_| decomposes) {
            Some((first, last)) => pairs.entry(first).or_default().push((last, c)),
            None if decomposes => others.push(c),
            None => {}
        }
    }
    let mut others = others.into_iter();
    let mut add_other = |arrays: &mut Arrays| -> bool {
        let Some(c) = others.next() else { return false };
        // What decomposes canonically is decomposed further step by step, where compatible parts are asked for.
        let canonical = decomposed(c, |c, f| decompose_canonical(c, f));
        let compatible = decomposed(c, |c, f| decompose_compatible(c, f));
        let at = arrays.run(if canonical == [c as u16] {
            &compatible
        } else {
            &canonical
        });
        arrays.map(c, at);
        true
    };
    let mut pairs = pairs.into_iter().peekable();
    for (start, end) in COMPOSITE {
        // A run has at most 18 units, so none reaches far into the window; place 0 of the first window stays empty.
        while arrays.mapped.len() <= *start && add_other(&mut arrays) {}
        let room = |used: usize, group: &Vec<(char, char)>| used + 3 * group.len() < *end;
        while let Some((first, group)) =
            pairs.next_if(|(_, group)| room(arrays.mapped.len(), group))
        {
            let at = place(HELPER, first as usize).expect("only admitted pairs are here");
            arrays.helper[at] = arrays.mapped.len();
            for (last, c) in group {
                let at = arrays.run(&[first as u16, last as u16]);
                arrays.map(c, at);
                let place = place(COMPOSITE, at).expect("there was room in the window");
                arrays.composite[place] = c as u16;
            }
            arrays.mapped.push(0);
        }
    }
    assert!(
        pairs.next().is_none(),
        "the windows are too small for the pairs"
    );
    while add_other(&mut arrays) {}
    arrays
}

/// The source of the arrays.
pub fn source() -> String {
    let a = arrays();
    assert!(
        a.mapped.len() <= i16::MAX as usize,
        "places are 16-bit numbers"
    );
    format!(
        "/// Bits of characters.\npub static PROPERTIES: [u8; {}] = {:?};\n\
         /// Decompositions.\npub static MAPPED: [i32; {}] = {:?};\n\
         /// Where the decomposition of a character is.\npub static CHAR_MAP: [i16; {}] = {:?};\n\
         /// Where the pairs of a first character are.\npub static HELPER: [i16; {}] = {:?};\n\
         /// What a pair composes.\npub static COMPOSITE: [u16; {}] = {:?};\n\
         /// Canonical combining classes.\npub static COMBINING: [u8; {}] = {:?};\n",
        a.properties.len(),
        a.properties,
        a.mapped.len(),
        a.mapped,
        a.char_map.len(),
        a.char_map,
        a.helper.len(),
        a.helper,
        a.composite.len(),
        a.composite,
        a.combining.len(),
        a.combining,
    )
}
