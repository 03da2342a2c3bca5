//! Which characters a match can begin with, and the search for a position that has them.
//!
//! # Invariants
//! * A match that begins at a position has, at each of the first [`Prefix::len`] characters from there, one that the table allows. The table may allow more.
use crate::program::{Chars, Op, Which};
use smallvec::SmallVec;

/// What is known of the first characters of a match.
#[derive(Debug)]
pub(crate) struct Prefix {
    /// Of how many characters something is known.
    len: usize,
    /// For each character of ASCII: bit i says whether it may be the one at i.
    ascii: [u8; 128],
    /// The same for all other characters.
    other: u8,
}

/// So many characters are looked at.
pub(crate) const LONGEST: usize = 6;
/// With more places in the program where a match may be, nothing more is found out.
const MOST_PLACES: usize = 64;

/// A place in the program: an instruction, and how many characters it has taken.
type Place = (usize, usize);

impl Prefix {
    /// What is known of the matches of a program.
    pub(crate) fn of(ops: &[Op]) -> Prefix {
        let mut prefix = Prefix {
            len: 0,
            ascii: [0; 128],
            other: 0,
        };
        // The first instruction leads to `Stop` if the match fails.
        let mut places: SmallVec<[Place; 16]> = SmallVec::new();
        places.push((usize::from(matches!(ops[0], Op::Branch(_))), 0));
        let mut narrow = 0;
        while prefix.len < LONGEST {
            let Some(taking) = reach(ops, &places, false) else {
                break;
            };
            places.clear();
            let bit = 1 << prefix.len;
            for (at, taken) in taking {
                let next = match &ops[at] {
                    Op::Char(chars) => {
                        prefix.allow(bit, Taken::by(chars));
                        (at + 1, 0)
                    }
                    Op::Greedy(chars, ..) | Op::Lazy(chars, _) => {
                        prefix.allow(bit, Taken::by(chars));
                        (at, 0)
                    }
                    Op::Repeat(chars, count) => {
                        prefix.allow(bit, Taken::by(chars));
                        step(at, taken, *count as usize)
                    }
                    Op::Multi(string, folds) => {
                        prefix.allow(bit, Taken::one(string[taken], *folds));
                        step(at, taken, string.len())
                    }
                    _ => unreachable!("`reach` gives instructions that take characters"),
                };
                if !places.contains(&next) {
                    places.push(next);
                }
            }
            prefix.len += 1;
            if prefix.other & bit == 0 || prefix.ascii.iter().any(|bits| bits & bit == 0) {
                narrow = prefix.len;
            }
        }
        // What allows every character says nothing but how long the text is at least.
        prefix.len = narrow;
        prefix
    }
    fn allow(&mut self, bit: u8, taken: Taken) {
        if taken.other {
            self.other |= bit;
        }
        for (at, bits) in self.ascii.iter_mut().enumerate() {
            if taken.ascii >> at & 1 != 0 {
                *bits |= bit;
            }
        }
    }
    /// The first position from `from` on at which a match may begin.
    pub(crate) fn find(&self, units: &[u16], from: usize, end: usize) -> Option<usize> {
        if self.len == 0 {
            return (from <= end).then_some(from);
        }
        let text = units.get(from..end)?;
        let last = 1u8 << (self.len - 1);
        // Bit i: the last i + 1 characters may be the first ones of a match.
        let mut begun = 0u8;
        for (at, c) in text.iter().enumerate() {
            let allowed = self.ascii.get(usize::from(*c)).copied();
            begun = (begun << 1 | 1) & allowed.unwrap_or(self.other);
            if begun & last != 0 {
                return Some(from + at + 1 - self.len);
            }
        }
        None
    }
}

/// Characters that an instruction may take.
#[derive(Clone, Copy)]
struct Taken {
    ascii: u128,
    /// Are there others?
    other: bool,
}

impl Taken {
    fn by(chars: &Chars) -> Taken {
        let of = |is: &dyn Fn(u8) -> bool| {
            let folded = |c: &u8| is(lower(*c, chars.folds));
            (0..128).filter(folded).fold(0, |bits, c| bits | 1u128 << c)
        };
        match &chars.which {
            Which::One(c) => Taken::one(*c, chars.folds),
            Which::NotOne(one) => Taken {
                ascii: of(&|c| u16::from(c) != *one),
                other: true,
            },
            Which::Set(set) => Taken {
                ascii: of(&|c| set.ascii() >> c & 1 != 0),
                other: chars.folds || !set.is_ascii(),
            },
        }
    }
    fn one(one: u16, folds: bool) -> Taken {
        let is = |c: &u8| u16::from(lower(*c, folds)) == one;
        Taken {
            ascii: (0..128).filter(is).fold(0, |bits, c| bits | 1u128 << c),
            // Two characters that are not ASCII have a small letter that is.
            other: one >= 128 || folds,
        }
    }
}

/// For each instruction: is it a greedy loop that may have to give back what it has taken, so that what follows can take it?
///
/// It need not if every way on takes a character, and never one that the loop takes.
pub(crate) fn give_back(ops: &[Op]) -> Vec<bool> {
    // What each instruction takes first. Within a string each character is another: what lies behind a loop is at its beginning.
    let taken: Vec<Option<Taken>> = ops
        .iter()
        .map(|op| match op {
            Op::Multi(string, folds) => string.first().map(|c| Taken::one(*c, *folds)),
            Op::Char(chars) | Op::Repeat(chars, _) | Op::Greedy(chars, ..) | Op::Lazy(chars, _) => {
                Some(Taken::by(chars))
            }
            _ => None,
        })
        .collect();
    let may = |at: usize| {
        let (Op::Greedy(chars, ..), Some(own)) = (&ops[at], taken[at]) else {
            return true;
        };
        // Where the loop has no answer for a character, the match is given up.
        let ascii_only = match &chars.which {
            _ if chars.folds => true,
            Which::One(c) => *c < 128,
            Which::NotOne(_) => false,
            Which::Set(set) => set.takes_ascii_only(),
        };
        let takes_same = |next: Taken| own.ascii & next.ascii != 0 || !ascii_only && next.other;
        reach(ops, &[(at + 1, 0)], true).is_none_or(|taking| {
            taking
                .into_iter()
                .any(|(i, _)| taken[i].is_none_or(takes_same))
        })
    };
    (0..ops.len()).map(may).collect()
}

fn step(at: usize, taken: usize, of: usize) -> Place {
    match taken + 1 < of {
        true => (at, taken + 1),
        false => (at + 1, 0),
    }
}

fn lower(c: u8, folds: bool) -> u8 {
    match folds {
        true => c.to_ascii_lowercase(),
        false => c,
    }
}

/// The instructions that take the next character, of a match that is at one of the places. None: a match may end, or go back, without another character; or there
/// are too many.
///
/// The end of what must not follow is one for the part alone: then the whole fails, which counts only if the `part_counts`.
fn reach(ops: &[Op], places: &[Place], part_counts: bool) -> Option<SmallVec<[Place; 16]>> {
    let mut taking: SmallVec<[Place; 16]> = SmallVec::new();
    let mut seen: SmallVec<[Place; 32]> = SmallVec::new();
    let mut left: SmallVec<[Place; 16]> = places.into();
    while let Some(place) = left.pop() {
        if seen.contains(&place) {
            continue;
        }
        if seen.len() == MOST_PLACES {
            return None;
        }
        seen.push(place);
        let (at, _) = place;
        let next = (at + 1, 0);
        match &ops[at] {
            Op::Char(_) => taking.push(place),
            Op::Multi(string, _) if string.is_empty() => left.push(next),
            Op::Repeat(_, 0) => left.push(next),
            Op::Multi(..) | Op::Repeat(..) => taking.push(place),
            Op::Greedy(_, most, _) | Op::Lazy(_, most) => {
                if *most != 0 {
                    taking.push(place);
                }
                left.push(next);
            }
            Op::Branch(target)
            | Op::LoopEnd(target)
            | Op::LazyLoopEnd(target)
            | Op::CountedEnd(target, _)
            | Op::LazyCountedEnd(target, _) => left.extend([next, (*target, 0)]),
            Op::Goto(target) => left.push((*target, 0)),
            Op::JumpBack if part_counts => return None,
            Op::Nothing | Op::JumpBack => {}
            Op::Reference(..) | Op::ToMark | Op::Stop => return None,
            Op::LineBegin
            | Op::LineEnd
            | Op::Boundary(_)
            | Op::Begin
            | Op::SearchBegin
            | Op::EndOrLastLine
            | Op::End
            | Op::Count(..)
            | Op::Mark(_)
            | Op::Capture(_)
            | Op::Jump
            | Op::JumpOn
            | Op::IsCaptured(_) => left.push(next),
        }
    }
    Some(taking)
}
