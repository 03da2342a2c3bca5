//! Whether a character is in a set of a regular expression, which generated code asks in place of the class library's IL.
//!
//! A set is a string, as `RegexCharClass` makes it:
//!
//! ```text
//! negated?  ranges  categories   borders of ranges, sorted   numbers of categories   a set of what is excluded, if any
//! 0 or 1    length  length       ..                          ..                      ..
//! ```
//!
//! Borders come in turn: the first of a range, the first behind it. A category is one more than its number, negative if it is not to be that one; 100 is white space.
//! Between two zeros is a group: of one of the categories, or of none of them.
//!
//! # Invariants
//! * The answer is that of `RegexCharClass.CharInClass`. What it would throw for is not answered.
//! * It is a leaf: a set has at most [`LONGEST`] characters.

use crate::GiveUp;

/// The longest set that is looked at.
const LONGEST: usize = 4096;
/// The most sets of which one is excluded from the other.
const DEEPEST: u32 = 8;
/// What stands for white space in place of a category.
const SPACE: i16 = 100;

/// Categories of the characters of ASCII, by the numbers of `System.Globalization.UnicodeCategory`.
const CATEGORIES: [u8; 128] = {
    let mut all = [14; 128];
    let mut c = 32;
    while c < 127 {
        all[c] = match c as u8 {
            b'A'..=b'Z' => 0,
            b'a'..=b'z' => 1,
            b'0'..=b'9' => 8,
            b' ' => 11,
            b'_' => 18,
            b'-' => 19,
            b'(' | b'[' | b'{' => 20,
            b')' | b']' | b'}' => 21,
            b'+' | b'<' | b'=' | b'>' | b'|' | b'~' => 25,
            b'$' => 26,
            b'^' | b'`' => 27,
            _ => 24,
        };
        c += 1;
    }
    all
};

/// Is the character in the set? None: the class library is to answer.
pub fn is_in(set: &[u16], c: u16) -> Option<bool> {
    if set.len() > LONGEST || c >= 128 {
        return None;
    }
    is_in_part(set, 0, c, DEEPEST)
}

/// A set of a program, with the answers for ASCII at hand.
#[derive(PartialEq, Debug)]
pub(crate) struct Set {
    ascii: u128,
    /// What it has of other characters; None: that depends on their categories.
    others: Option<Others>,
}

#[derive(PartialEq, Debug)]
enum Others {
    None,
    /// As `RegexCharClass` has them.
    Ranges(Box<[u16]>),
}

impl Set {
    /// None: a character of ASCII has no answer.
    pub(crate) fn new(set: &[u16]) -> Option<Set> {
        let mut ascii = 0;
        for c in 0..128 {
            ascii |= u128::from(is_in(set, c)?) << c;
        }
        // Categories, and what is excluded, follow the ranges.
        let has_more = set[2] != 0 || set.len() > 3 + usize::from(set[1]);
        let borders = set.get(3..3 + usize::from(set[1]))?;
        let is_ascii = set[0] == 0 && set[1].is_multiple_of(2) && borders.iter().all(|c| *c <= 128);
        Some(Set {
            ascii,
            others: match (has_more, is_ascii) {
                (true, _) => None,
                (false, true) => Some(Others::None),
                (false, false) => Some(Others::Ranges(set.into())),
            },
        })
    }
    /// Has it characters of ASCII only?
    pub(crate) fn is_ascii(&self) -> bool {
        matches!(self.others, Some(Others::None))
    }
    /// Is no character taken for one of it but those of ASCII? (Of others there may be no answer.)
    pub(crate) fn takes_ascii_only(&self) -> bool {
        !matches!(self.others, Some(Others::Ranges(_)))
    }
    /// The bits of its characters of ASCII.
    pub(crate) fn ascii(&self) -> u128 {
        self.ascii
    }
    /// Is a character in it?
    #[inline]
    pub(crate) fn has(&self, c: u16) -> Result<bool, GiveUp> {
        match c < 128 {
            true => Ok(self.ascii >> c & 1 != 0),
            false => self.has_other(c),
        }
    }
    #[cold]
    fn has_other(&self, c: u16) -> Result<bool, GiveUp> {
        match &self.others {
            None => Err(GiveUp),
            Some(Others::None) => Ok(false),
            Some(Others::Ranges(set)) => is_in_part(set, 0, c, 0).ok_or(GiveUp),
        }
    }
}

/// Is a character part of a word, for its borders?
pub(crate) fn is_word(c: u16) -> Result<bool, GiveUp> {
    match c {
        0..128 => Ok((c as u8).is_ascii_alphanumeric() || c == 0x5f),
        // Two characters without width join letters or keep them apart.
        0x200c | 0x200d => Ok(true),
        _ => Err(GiveUp),
    }
}

/// Is it in the set that begins at `start`, and in none that is excluded from it?
///
/// What follows the set's own part is the set that is excluded, and so on. `depth` says how many may follow.
fn is_in_part(set: &[u16], start: usize, c: u16, depth: u32) -> Option<bool> {
    let ranges = usize::from(*set.get(start + 1)?);
    let categories = usize::from(*set.get(start + 2)?);
    let first = start + 3;
    let end = first + ranges + categories;
    let is_excluded = end < set.len() && is_in_part(set, end, c, depth.checked_sub(1)?)?;
    // Step for step the class library's search, so that borders which a program has not sorted give the same.
    // What counts is on which side of how many borders the character is.
    let (mut at, mut behind) = (first, first + ranges);
    while at != behind {
        let middle = usize::midpoint(at, behind);
        match c < *set.get(middle)? {
            true => behind = middle,
            false => at = middle + 1,
        }
    }
    let is_listed = at % 2 == start % 2
        || categories != 0 && is_in_categories(set.get(first + ranges..end)?, c)?;
    Some((is_listed != (set[start] == 1)) && !is_excluded)
}

/// Is it in one of the categories? They are looked at in their order, and the first that fits decides.
fn is_in_categories(categories: &[u16], c: u16) -> Option<bool> {
    let own = i16::from(CATEGORIES[usize::from(c)]);
    let is_space = matches!(c, 9..=13 | 32);
    let mut rest = categories.iter().map(|category| *category as i16);
    while let Some(category) = rest.next() {
        let is_in = match category {
            0 => is_in_group(&mut rest, own)?,
            SPACE => is_space,
            category if category == -SPACE => !is_space,
            1.. => category - 1 == own,
            ..0 => -1 - category != own,
        };
        if is_in {
            return Some(true);
        }
    }
    Some(false)
}

/// Is a category one of a group, or none of it? The sign of the first says which; an empty group
/// is one of none. Takes the group and the zero behind it.
fn is_in_group(rest: &mut impl Iterator<Item = i16>, own: i16) -> Option<bool> {
    let first = rest.next()?;
    let is_positive = first > 0;
    let mut found = false;
    let mut category = first;
    while category != 0 {
        found |= own
            == if is_positive {
                category.wrapping_sub(1)
            } else {
                (-1i16).wrapping_sub(category)
            };
        category = rest.next()?;
    }
    Some(found == is_positive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(set: &[u16]) -> String {
        let is_member = |c: &u16| is_in(set, *c).expect("an answer");
        (0..128)
            .filter(is_member)
            .map(|c| c as u8 as char)
            .collect()
    }

    #[test]
    fn ranges_categories_groups_and_exclusions_are_those_of_the_class_library() {
        let (a, c, z) = (u16::from(b'a'), u16::from(b'c'), u16::from(b'z'));
        assert_eq!(members(&[0, 2, 0, a, c]), "ab");
        assert_eq!(members(&[1, 2, 0, 0, 126]), "~\x7f");
        // An odd number of borders: the last range has no end.
        assert_eq!(members(&[0, 1, 0, z]), "z{|}~\x7f");
        assert_eq!(members(&[0, 0, 1, 9]), "0123456789");
        assert_eq!(members(&[0, 0, 1, 100]), "\t\n\x0b\x0c\r ");
        assert_eq!(members(&[1, 0, 1, (-9i16) as u16]), "0123456789");
        // Numbers or hyphens; neither of them.
        assert_eq!(members(&[0, 0, 4, 0, 9, 20, 0]), "-0123456789");
        let none = [1, 0, 4, 0, (-9i16) as u16, (-20i16) as u16, 0];
        assert_eq!(members(&none), "-0123456789");
        // Lower case without vowels.
        let vowels = [0, 6, 0, a, a + 1, a + 4, a + 5, a + 8, a + 9];
        let consonants = [&[0, 2, 0, a, a + 10][..], &vowels].concat();
        assert_eq!(members(&consonants), "bcdfghj");
    }

    #[test]
    fn what_would_throw_is_not_answered() {
        assert_eq!(is_in(&[], 65), None);
        assert_eq!(is_in(&[0, 4, 0, 65], 70), None);
        assert_eq!(is_in(&[0, 0, 3, 0, 9, 9], 65), None);
        assert_eq!(is_in(&[0, 0, 1, 9], 128), None);
    }
}
