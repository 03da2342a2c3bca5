//! Comparisons of strings without case and searches in them, by the numbers of the characters, which generated code asks before the class library's IL.
//!
//! # How it works
//! Both look at [`GROUP`] characters at once, by the vector instructions that every processor of the kind has. The last group of a comparison reaches back over
//! characters that are known to be the same, so that texts of any length from one group on are compared in groups alone. A search looks for the places that have
//! the first character of what is sought, and its last at the right distance: in most texts that is one place.
//!
//! | asked for | answered | left to the class library |
//! |---|---|---|
//! | the order without case | ASCII, and characters beyond it that are equal | two characters beyond ASCII that differ |
//! | a search by the numbers | everything | a text whose beginning is found too often |
//! | a search by a culture | ASCII without the character 0 | everything else, and the empty text |
//!
//! The methods that these are asked for are the JIT's (`calls/ordinal.rs` in `vervet-jit`).
//!
//! # Invariants
//! * What is answered is what the IL would return, to the number. [`UNKNOWN_ORDER`] stands for everything that it would throw, and for what needs the tables of
//!   characters.
//! * Each is a leaf: it takes no lock and no memory, looks at [`MOST`] characters at most, and compares [`MOST`] pairs at most.
use crate::object::ObjRef;
use vervet_abi::UNKNOWN_ORDER;

/// How many characters a leaf looks at.
const MOST: usize = 32 << 10;
/// Characters that are looked at at once.
const GROUP: usize = 8;

/// A part of a string, short enough for a leaf.
fn part(string: ObjRef<'_>, from: i32, count: i32) -> Option<&[u16]> {
    let (from, count) = (usize::try_from(from).ok()?, usize::try_from(count).ok()?);
    let units = string.non_null()?.units().get(from..from + count)?;
    (count <= MOST).then_some(units)
}

/// The helper `CompareIgnoringCase`.
pub(super) fn compare_ignoring_case(
    (a, from_a, count_a): (ObjRef<'_>, i32, i32),
    (b, from_b, count_b): (ObjRef<'_>, i32, i32),
) -> i32 {
    let known = || order(part(a, from_a, count_a)?, part(b, from_b, count_b)?);
    known().unwrap_or(UNKNOWN_ORDER)
}

/// The helper `IndexOfText`.
pub(super) fn index_of(text: ObjRef<'_>, sought: ObjRef<'_>, from: i32, count: i32) -> i32 {
    let known = || {
        let sought = sought.non_null()?.units();
        let range = part(text, from, count)?;
        Some(match find(range, sought)? {
            Some(at) => from + at as i32,
            None => -1,
        })
    };
    known().unwrap_or(UNKNOWN_ORDER)
}

/// The helper `IndexOfAsciiText`: as above, if all characters that decide are of ASCII and none is 0. An empty text is left to the class library.
pub(super) fn index_of_ascii(text: ObjRef<'_>, sought: ObjRef<'_>, from: i32, count: i32) -> i32 {
    let are_plain = |units: &[u16]| {
        // Without a branch: 0 wraps around to the greatest number.
        units
            .iter()
            .fold(true, |all, c| all & (c.wrapping_sub(1) < 0x7F))
    };
    let known = || {
        let sought = sought.non_null()?.units();
        let range = part(text, from, count)?;
        if sought.is_empty() || sought.len() > range.len() || !are_plain(sought) {
            return None;
        }
        let found = find(range, sought)?;
        let seen = found.map_or(range.len(), |at| at + sought.len());
        are_plain(&range[..seen]).then_some(found.map_or(-1, |at| from + at as i32))
    };
    known().unwrap_or(UNKNOWN_ORDER)
}

/// The helper `HashIgnoringCase`: what `CompareInfo.GetIgnoreCaseHash` returns, as an unsigned number; -1 if the class library is to answer.
///
/// The class library writes the capitals of the text to a buffer and hashes their bytes with Marvin, which takes eight bytes at a time. Four characters of ASCII are
/// made capitals in one word, without a buffer. The seed is the process's, so no program knows a hash before it has asked for it.
pub(super) fn hash_ignoring_case(text: ObjRef<'_>, seed: u64) -> i64 {
    let known = || {
        let text = text.non_null()?.units();
        (1..=MOST / 4)
            .contains(&text.len())
            .then(|| hash(text, seed))?
    };
    known().map_or(-1, i64::from)
}

/// Marvin's hash of the capitals of a text. None: a character is not ASCII.
///
/// ```text
/// characters left    blocks of four bytes       then always
/// 0                  80                          0
/// 1                  c0 80                       0
/// 2                  c0 c1, 80                   0
/// 3                  c0 c1, c2 80                0
/// ```
fn hash(text: &[u16], seed: u64) -> Option<u32> {
    const BEYOND_ASCII: u64 = 0xFF80_FF80_FF80_FF80;
    let (words, rest) = text.as_chunks::<4>();
    let mut state = (seed as u32, (seed >> 32) as u32);
    for c in words {
        let word = word(*c);
        if word & BEYOND_ASCII != 0 {
            return None;
        }
        let word = word ^ small(word);
        state = mix(state, word as u32);
        state = mix(state, (word >> 32) as u32);
    }
    // (A copy of that length would be a call.)
    let word = word(match *rest {
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c] => [a, b, c, 0],
        _ => [0; 4],
    });
    if word & BEYOND_ASCII != 0 {
        return None;
    }
    // Behind the last byte stands 0x80.
    let word = (word ^ small(word)) | 0x80 << (16 * rest.len());
    if rest.len() >= 2 {
        state = mix(state, word as u32);
    }
    let end = match rest.len() {
        0 | 1 => word as u32,
        _ => (word >> 32) as u32,
    };
    let (low, high) = mix(mix(state, end), 0);
    Some(low ^ high)
}

/// A step of Marvin over four bytes.
#[inline]
fn mix((low, high): (u32, u32), block: u32) -> (u32, u32) {
    let low = low.wrapping_add(block);
    let high = high ^ low;
    let low = low.rotate_left(20).wrapping_add(high);
    let high = high.rotate_left(9) ^ low;
    let low = low.rotate_left(27).wrapping_add(high);
    (low, high.rotate_left(19))
}

/// Four characters in one word, the first in the lowest bits.
#[inline]
fn word(c: [u16; 4]) -> u64 {
    u64::from(c[0]) | u64::from(c[1]) << 16 | u64::from(c[2]) << 32 | u64::from(c[3]) << 48
}

/// The bit 5 of each of four characters of ASCII that is a small letter.
#[inline]
fn small(word: u64) -> u64 {
    const ONES: u64 = 0x0001_0001_0001_0001;
    // The bit 7 says whether a character is at least the first letter, or beyond the last; no sum reaches the next character.
    let from_a = word + ONES * (0x80 - b'a' as u64);
    let beyond_z = word + ONES * (0x7F - b'z' as u64);
    (from_a & !beyond_z & (ONES * 0x80)) >> 2
}

/// How many characters from the first on differ in nothing but case and are of ASCII, or a few less. The texts have one length.
#[inline]
fn same_before(a: &[u16], b: &[u16]) -> usize {
    let mut at = 0;
    while let (Some(x), Some(y)) = (a[at..].first_chunk(), b[at..].first_chunk()) {
        if !groups::are_same(x, y) {
            return at;
        }
        at += GROUP;
    }
    // What is left is the end of a group, of which the beginning is known.
    match (a.last_chunk(), b.last_chunk()) {
        (Some(x), Some(y)) if groups::are_same(x, y) => a.len(),
        _ => at,
    }
}

/// The capital of a character of ASCII.
#[inline]
fn capital(c: u16) -> u16 {
    let is_small = c.wrapping_sub(u16::from(b'a')) < 26;
    c ^ (u16::from(is_small) << 5)
}

/// `CompareInfo.CompareOrdinalIgnoreCase`. The class library compares characters of ASCII until one of a pair is none. From there on texts of which one is the
/// beginning of the other differ by 1, before by the difference of their lengths. None: characters that are not ASCII differ.
pub(super) fn order(a: &[u16], b: &[u16]) -> Option<i32> {
    let common = a.len().min(b.len());
    let (a, b) = ((&a[..common], a.len()), (&b[..common], b.len()));
    let at = same_before(a.0, b.0);
    // From here on one character after the other: behind what is the same there are either a few, or a pair that decides.
    let mut was_ascii = true;
    for i in at..common {
        let (x, y) = (a.0[i], b.0[i]);
        let is_ascii = (x | y) < 0x80;
        was_ascii &= is_ascii;
        if x == y {
            continue;
        }
        if !is_ascii {
            return None;
        }
        let (x, y) = (i32::from(capital(x)), i32::from(capital(y)));
        if x != y {
            return Some(x - y);
        }
    }
    let difference = a.1 as i32 - b.1 as i32;
    Some(match was_ascii {
        true => difference,
        false => difference.signum(),
    })
}

/// Where a text is found first. The outer None: it would take too long.
///
/// The work that counts is that of the comparisons at places that look like a start; that of the groups is bounded by the length of the text.
fn find(text: &[u16], sought: &[u16]) -> Option<Option<usize>> {
    let [first, rest @ ..] = sought else {
        return Some(Some(0));
    };
    let Some(last_start) = text.len().checked_sub(sought.len()) else {
        return Some(None);
    };
    let last = *sought.last().unwrap_or(first);
    let mut work = 0;
    let mut at = 0;
    while at <= last_start {
        // Starts in a group: characters that are the first of the text, with its last at the right distance.
        let (mut starts, step) = match (
            text[at..].first_chunk(),
            text[at + rest.len()..].first_chunk(),
        ) {
            (Some(x), Some(y)) => (groups::both(x, y, *first, last), GROUP),
            _ => (
                u32::from(text[at] == *first && text[at + rest.len()] == last),
                1,
            ),
        };
        while starts != 0 {
            let start = at + starts.trailing_zeros() as usize;
            if text[start..start + sought.len()] == *sought {
                return Some(Some(start));
            }
            work += sought.len();
            starts &= starts - 1;
        }
        if work > MOST {
            return None;
        }
        at += step;
    }
    Some(None)
}

/// Questions about groups of characters, in a few instructions each.
///
/// They are written with the instructions themselves, because a search needs the number of the place: what the compiler makes of a loop that collects
/// such bits takes several times as long.
///
/// Vectors are made of what is read once, so another thread that writes the characters meanwhile changes an answer at most.
#[cfg(target_arch = "x86_64")]
mod groups {
    use super::GROUP;
    use std::arch::x86_64::*;

    #[inline]
    fn load(group: &[u16; GROUP]) -> __m128i {
        // SAFETY: a group is 16 bytes, and every processor of this kind has SSE2.
        unsafe { _mm_loadu_si128(group.as_ptr().cast()) }
    }

    /// Whether both are of ASCII, and differ in nothing but case.
    #[inline]
    pub(super) fn are_same(a: &[u16; GROUP], b: &[u16; GROUP]) -> bool {
        let (a, b) = (load(a), load(b));
        // SAFETY: every processor of this kind has SSE2.
        unsafe {
            let (zero, case) = (_mm_setzero_si128(), _mm_set1_epi16(0x20));
            let (before_a, beyond_z) = (_mm_set1_epi16(0x60), _mm_set1_epi16(0x7B));
            // Signed comparisons: what is beyond ASCII is refused, whatever they say of it.
            let capital = |c: __m128i| {
                let is_small =
                    _mm_and_si128(_mm_cmpgt_epi16(c, before_a), _mm_cmplt_epi16(c, beyond_z));
                _mm_xor_si128(c, _mm_and_si128(is_small, case))
            };
            let beyond = _mm_and_si128(_mm_or_si128(a, b), _mm_set1_epi16(0xFF80u16 as i16));
            let other = _mm_or_si128(beyond, _mm_xor_si128(capital(a), capital(b)));
            _mm_movemask_epi8(_mm_cmpeq_epi16(other, zero)) == 0xFFFF
        }
    }

    /// The bits of the places at which the first group has one character and the second the other.
    #[inline]
    pub(super) fn both(a: &[u16; GROUP], b: &[u16; GROUP], first: u16, last: u16) -> u32 {
        let (a, b) = (load(a), load(b));
        // SAFETY: every processor of this kind has SSE2.
        unsafe {
            let a = _mm_cmpeq_epi16(a, _mm_set1_epi16(first as i16));
            let b = _mm_cmpeq_epi16(b, _mm_set1_epi16(last as i16));
            let found = _mm_packs_epi16(_mm_and_si128(a, b), _mm_setzero_si128());
            _mm_movemask_epi8(found) as u32
        }
    }
}

/// The same for other processors.
#[cfg(not(target_arch = "x86_64"))]
mod groups {
    use super::{GROUP, capital};

    pub(super) fn are_same(a: &[u16; GROUP], b: &[u16; GROUP]) -> bool {
        let is_same = |(x, y): (&u16, &u16)| (x | y) < 0x80 && capital(*x) == capital(*y);
        a.iter().zip(b).all(is_same)
    }

    pub(super) fn both(a: &[u16; GROUP], b: &[u16; GROUP], first: u16, last: u16) -> u32 {
        let is = |i: usize| u32::from((a[i] == first) & (b[i] == last)) << i;
        (0..GROUP).fold(0, |bits, i| bits | is(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(s: &str) -> Vec<u16> {
        s.encode_utf16().collect()
    }

    #[test]
    fn a_small_letter_is_its_capital_and_nothing_else_is() {
        for x in 0..0x80u16 {
            for y in 0..0x80u16 {
                let want = i32::from(capital(x)) - i32::from(capital(y));
                for length in 1..10 {
                    for at in 0..length {
                        let (mut a, mut b) = (vec![b'q' as u16; length], vec![b'Q' as u16; length]);
                        (a[at], b[at]) = (x, y);
                        assert_eq!(order(&a, &b), Some(want));
                    }
                }
            }
        }
    }

    #[test]
    fn four_characters_are_made_capitals_at_once() {
        for c in 0..0x80u16 {
            for at in 0..4 {
                let mut four = [b'a' as u16 + at as u16, b'Z' as u16, 0x7F, b'z' as u16];
                four[at] = c;
                let got = word(four) ^ small(word(four));
                assert_eq!(got, word(four.map(capital)));
            }
        }
        assert_eq!(hash(&units("\u{e4}"), 1), None);
        assert_eq!(hash(&units("abcd\u{e4}"), 1), None);
        for text in ["a", "ab", "abc", "abcd", "abcde"] {
            let capitals = units(&text.to_uppercase());
            assert_eq!(hash(&units(text), 99), hash(&capitals, 99));
            assert_ne!(hash(&units(text), 99), hash(&capitals, 98));
        }
    }

    #[test]
    fn beyond_ascii_only_equal_characters_are_compared() {
        let of = |a: &str, b: &str| order(&units(a), &units(b));
        assert_eq!(of("abc\u{e4}de", "ABC\u{e4}DE"), Some(0));
        assert_eq!(of("abc\u{e4}de", "ABC\u{e4}DEFG"), Some(-1));
        assert_eq!(of("abcdefg", "ABCDE"), Some(2));
        assert_eq!(of("abc\u{e4}", "abc\u{c4}"), None);
        assert_eq!(
            of("abx\u{e4}", "abc\u{c4}"),
            Some(b'X' as i32 - b'C' as i32)
        );
    }

    #[test]
    fn the_first_occurrence_is_found() {
        for length in 0..70usize {
            let text: Vec<u16> = (0..length).map(|i| b'a' as u16 + (i % 3) as u16).collect();
            for from in 0..=length {
                for to in from..=length {
                    let sought = &text[from..to];
                    let want = (0..=length).find(|at| text[*at..].starts_with(sought));
                    assert_eq!(find(&text, sought), Some(want));
                }
            }
            assert_eq!(find(&text, &units("abd")), Some(None));
        }
        let long = vec![b'a' as u16; MOST];
        let mut sought = vec![b'a' as u16; 1000];
        sought[500] = b'b' as u16;
        assert_eq!(find(&long, &sought), None);
    }
}
