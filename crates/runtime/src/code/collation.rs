//! The order of two texts by the rules of a culture, where both are of ASCII: what the class library's collator would say.
//!
//! # How it works
//! The collator compares in levels. The first level knows letters without their case, digits and signs, and ignores hyphens and apostrophes; if it finds no difference
//! anywhere, the third level decides, in which a small letter comes before its capital. Between characters of ASCII the second and the fourth level find nothing. Hyphens and
//! apostrophes count in the fifth.
//!
//! The methods that this is asked for are the JIT's (`calls/collation.rs` in `vervet-jit`).
//!
//! # Invariants
//! * A culture is known by the number that its collator has; only by reflection can a program make a collator that has another culture's rules.
//! * Nothing is said of a text whose order could depend on anything but [`ORDER`]: of characters that are no ASCII or are control characters before the first difference, or
//!   right behind it; of texts that differ in hyphens or apostrophes alone; of options but `IgnoreCase`; of cultures with an order of their own ([`OWN_ORDER`]).
//! * Each is a leaf: it takes no lock and no memory, and looks at 32,768 characters at most.
use crate::object::ObjRef;
use vervet_abi::UNKNOWN_ORDER;

/// Characters of ASCII in the order of the first level, small letters only; ahead of the digits are all signs that it does not ignore.
const ORDER: &[u8] = b" !\"#$%&()*,./:;?@[\\]^_`{|}~+<=>0123456789abcdefghijklmnopqrstuvwxyz";
/// Primary languages, by the lower ten bits of a culture's number, that order characters of ASCII in another way, alone or in groups: Czech, Danish, Finnish, Hungarian, Japanese,
/// Korean, Norwegian, Swedish, Turkish, Estonian, Lithuanian, Vietnamese, Azeri. 0: a culture without a number.
const OWN_ORDER: &[i32] = &[
    0, 0x05, 0x06, 0x0b, 0x0e, 0x11, 0x12, 0x14, 0x1d, 0x1f, 0x25, 0x27, 0x2a, 0x2c,
];
/// How many characters a leaf looks at.
const MOST: usize = 32_768;
/// `CompareOptions.IgnoreCase`.
const IGNORE_CASE: i32 = 1;

/// The weight of a character that the first level ignores.
const IGNORED: u8 = 0xFF;
/// Weights in the first level; 0: not known here.
const WEIGHTS: [u8; 128] = {
    let mut weights = [0; 128];
    let mut i = 0;
    while i < ORDER.len() {
        weights[ORDER[i] as usize] = i as u8 + 1;
        weights[ORDER[i].to_ascii_uppercase() as usize] = i as u8 + 1;
        i += 1;
    }
    weights[b'-' as usize] = IGNORED;
    weights[b'\'' as usize] = IGNORED;
    weights
};

/// The weight of a character, which may be any.
fn weight(c: u16) -> u8 {
    WEIGHTS.get(usize::from(c)).copied().unwrap_or(0)
}

/// A part of a string: its index is in the upper half of the word, its length in the lower.
fn part<'a>(string: ObjRef<'a>, range: u64) -> Option<&'a [u16]> {
    let (index, count) = ((range >> 32) as usize, range as u32 as usize);
    string
        .non_null()?
        .units()
        .get(index..index + count)
        .filter(|units| units.len() <= MOST)
}

/// Whether case is ignored, by rules that have `CompareOptions` and the number of a culture. None: they are not known here.
fn ignores_case(rules: u64) -> Option<bool> {
    let (options, lcid) = ((rules >> 32) as i32, rules as i32);
    let is_known = (options == 0 || options == IGNORE_CASE) && !OWN_ORDER.contains(&(lcid & 0x3FF));
    is_known.then_some(options == IGNORE_CASE)
}

/// The helper `CompareTexts`.
pub(super) fn compare(
    (a, range_a): (ObjRef<'_>, u64),
    (b, range_b): (ObjRef<'_>, u64),
    rules: u64,
) -> i32 {
    let known = || order(part(a, range_a)?, part(b, range_b)?, ignores_case(rules)?);
    known().unwrap_or(UNKNOWN_ORDER)
}

/// The helper `IsPrefixText`.
pub(super) fn is_prefix((text, range): (ObjRef<'_>, u64), start: ObjRef<'_>, rules: u64) -> i32 {
    let known = || {
        let start = start.non_null()?.units();
        let is_short = start.len() <= MOST;
        begins(part(text, range)?, start, ignores_case(rules)?).filter(|_| is_short)
    };
    known().map_or(UNKNOWN_ORDER, i32::from)
}

/// Whether what follows a character, if anything does, leaves the character what it is.
fn stands_alone(next: Option<&u16>) -> bool {
    next.is_none_or(|c| *c < 0x80 && *c >= 0x20)
}

/// The order of two characters that differ in case alone: the capital has the smaller number and the greater weight.
fn by_case(x: u16, y: u16) -> i32 {
    if x > y { -1 } else { 1 }
}

/// The order of two texts: -1, 0 or 1. None: not known here.
fn order(a: &[u16], b: &[u16], ignores_case: bool) -> Option<i32> {
    let mut case = 0;
    let is_same = |(x, y): &(&u16, &u16)| {
        let (of_x, of_y) = (weight(**x), weight(**y));
        if of_x != of_y || matches!(of_x, 0 | IGNORED) {
            return false;
        }
        if x != y && case == 0 {
            case = by_case(**x, **y);
        }
        true
    };
    let mut i = a.iter().zip(b).take_while(is_same).count();
    let mut j = i;
    let mut has_ignored = false;
    loop {
        while a.get(i).is_some_and(|c| weight(*c) == IGNORED) {
            i += 1;
            has_ignored = true;
        }
        while b.get(j).is_some_and(|c| weight(*c) == IGNORED) {
            j += 1;
            has_ignored = true;
        }
        let (x, y) = match (a.get(i), b.get(j)) {
            (None, None) => break,
            (x, y) => (x.copied(), y.copied()),
        };
        let (of_x, of_y) = (x.map_or(0, weight), y.map_or(0, weight));
        if (x.is_some() && of_x == 0) || (y.is_some() && of_y == 0) {
            return None;
        }
        if of_x != of_y {
            let is_alone = stands_alone(a.get(i + 1)) && stands_alone(b.get(j + 1));
            return is_alone.then_some(if of_x < of_y { -1 } else { 1 });
        }
        if let (Some(x), Some(y)) = (x, y)
            && x != y
            && case == 0
        {
            case = by_case(x, y);
        }
        i += 1;
        j += 1;
    }
    match has_ignored && a != b {
        true => None,
        false if ignores_case => Some(0),
        false => Some(case),
    }
}

/// Whether a text begins with another. None: not known here.
fn begins(text: &[u16], start: &[u16], ignores_case: bool) -> Option<bool> {
    let is_plain = |c: &u16| !matches!(weight(*c), 0 | IGNORED);
    let here = &text[..text.len().min(start.len())];
    let is_known = !start.is_empty()
        && start.iter().all(is_plain)
        && here.iter().all(is_plain)
        && text.get(start.len()).is_none_or(is_plain);
    if !is_known {
        return None;
    }
    let is_same = |(a, b): (&u16, &u16)| match ignores_case {
        true => weight(*a) == weight(*b),
        false => a == b,
    };
    Some(here.len() == start.len() && here.iter().zip(start).all(is_same))
}

#[cfg(test)]
mod tests {
    use super::{begins, order};

    fn of(a: &str, b: &str, ignores_case: bool) -> Option<i32> {
        let units = |s: &str| s.encode_utf16().collect::<Vec<_>>();
        order(&units(a), &units(b), ignores_case)
    }

    #[test]
    fn levels_decide_in_turn() {
        assert_eq!(of("apple", "Banana", false), Some(-1));
        assert_eq!(of("apple", "Apple", false), Some(-1));
        assert_eq!(of("apple", "Apple", true), Some(0));
        assert_eq!(of("Applf", "apple", false), Some(1));
        assert_eq!(of("a", "", false), Some(1));
        assert_eq!(of("co-op", "cooq", false), Some(-1));
        assert_eq!(of("a_", "a0", false), Some(-1));
    }

    #[test]
    fn what_else_counts_is_left_to_the_class_library() {
        assert_eq!(of("co-op", "coop", false), None);
        assert_eq!(of("co-op", "co-op", false), Some(0));
        assert_eq!(of("a\u{e4}", "ab", false), None);
        assert_eq!(of("ab\u{301}", "ac", false), None);
        assert_eq!(of("a\0", "a", false), None);
    }

    #[test]
    fn beginnings() {
        let units = |s: &str| s.encode_utf16().collect::<Vec<_>>();
        let of = |a: &str, b: &str, i| begins(&units(a), &units(b), i);
        assert_eq!(of("abc", "ab", false), Some(true));
        assert_eq!(of("abc", "Ab", false), Some(false));
        assert_eq!(of("abc", "Ab", true), Some(true));
        assert_eq!(of("a", "ab", false), Some(false));
        assert_eq!(of("ab\u{301}", "ab", false), None);
        assert_eq!(of("a-b", "a", false), None);
        assert_eq!(of("abc", "", false), None);
    }
}
