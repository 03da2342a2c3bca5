//! The machine that backtracks.
//!
//! # How it works
//! Besides the position in the text the machine has three stacks:
//!
//! ```text
//!   track      what to do if the match fails from here on: the numbers that an instruction needs to go back, and its index, doubled; plus one if it
//!              goes back a second time
//!   marks      where groups and the bodies of loops have begun, and how often loops that count have run
//!   captures   what groups have captured so far, in order
//! ```
//!
//! An instruction that fails takes the last entry of the track, and the instruction that is named there undoes what it did, and goes on another way or fails in turn.
//!
//! # Invariants
//! * What instructions push, and in which order, is what the class library's machine does: a part that is not backtracked into and loops whose bodies take nothing
//!   depend on it.
//! * A match that fails leaves nothing. One that is given up too.
//! * An attempt does [`WORK`] units at most, and a call begins no other attempt after so many: a unit is an instruction, or 16 characters. No instruction looks at more
//!   than [`LONGEST`] characters.
use crate::program::{Chars, Op, Program, Which};
use crate::{GiveUp, sets};
use smallvec::SmallVec;

/// What is matched.
#[derive(Clone, Copy, Debug)]
pub struct Text<'t> {
    /// All characters.
    pub units: &'t [u16],
    /// The part that is looked at begins here,
    pub begin: usize,
    /// and ends here.
    pub end: usize,
    /// Where the search has begun.
    pub search_begin: usize,
}

/// What a group has captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capture {
    /// The group.
    pub group: u32,
    /// The first character.
    pub start: usize,
    /// The number of characters.
    pub length: usize,
}

/// What a match has captured, in the order in which the class library notes it.
pub type Captures = SmallVec<[Capture; 8]>;

/// How a search has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A match ends here.
    Matched(usize),
    /// There is no match that begins at a position up to this one.
    Failed(usize),
    /// The class library is to match from here.
    GivenUp(usize),
}

/// Units of work of an attempt at one position.
const WORK: usize = 50_000;
/// The most characters that an instruction looks at.
const LONGEST: usize = 16 * WORK;
/// The most entries of a stack.
const DEEPEST: usize = 100_000;

/// A run of a program.
pub struct Matcher<'p> {
    program: &'p Program,
    text: Text<'p>,
    at: usize,
    track: SmallVec<[i32; 64]>,
    marks: SmallVec<[i32; 16]>,
    captures: Captures,
    work: usize,
}

impl<'p> Matcher<'p> {
    /// None: the bounds do not lie in the text, or the text is too long.
    pub fn new(program: &'p Program, text: Text<'p>) -> Option<Matcher<'p>> {
        let fits = text.begin <= text.end && text.end <= text.units.len();
        (fits && i32::try_from(text.units.len()).is_ok()).then(|| Matcher {
            program,
            text,
            at: 0,
            track: SmallVec::new(),
            marks: SmallVec::new(),
            captures: SmallVec::new(),
            work: 0,
        })
    }
    /// Searches for the first match that begins at `from` or behind it; at `from` alone if the program is [anchored](Program::is_anchored).
    pub fn search(&mut self, from: usize) -> Outcome {
        self.work = 0;
        let mut start = from;
        loop {
            match self.run(start) {
                Err(GiveUp) => return Outcome::GivenUp(start),
                Ok(true) => return Outcome::Matched(self.at),
                Ok(false) => {}
            }
            let end = self.text.end;
            if start >= end || self.work > WORK || self.program.is_anchored() {
                return Outcome::Failed(start);
            }
            let failed = start + self.same_failures(start);
            // So many characters may still be looked at, and some more.
            let most = end
                .min(failed + 1 + 16 * (WORK - self.work.min(WORK)) + 2 * Program::LONGEST_PREFIX);
            let found = self.program.find(self.text.units, failed + 1, most);
            self.work += (found.unwrap_or(most) - failed) / 16;
            match found {
                Some(next) => start = next,
                // (What begins before `most` and needs characters behind it was not found.)
                None if most < end => return Outcome::Failed(most - Program::LONGEST_PREFIX),
                None => return Outcome::Failed(end),
            }
        }
    }
    /// How many positions behind `start`, at which a match has failed, fail as well: those at which the program would take the rest of the same run of characters,
    /// and be where it has failed.
    fn same_failures(&mut self, start: usize) -> usize {
        let Some(chars) = self.program.first_run() else {
            return 0;
        };
        self.at = start;
        let run = self.run_of(chars, self.text.end - start);
        run.unwrap_or(0).saturating_sub(1)
    }
    /// What the match has captured.
    pub fn captures(&self) -> &[Capture] {
        &self.captures
    }

    fn run(&mut self, start: usize) -> Result<bool, GiveUp> {
        self.track.clear();
        self.marks.clear();
        self.captures.clear();
        self.at = start;
        let program = self.program;
        let most = self.work + WORK;
        let mut pc = 0;
        loop {
            self.work += 1;
            if self.work > most || self.track.len() > DEEPEST || self.marks.len() > DEEPEST {
                return Err(GiveUp);
            }
            let op = &program.ops[pc];
            if matches!(op, Op::Stop) {
                // A match captures itself as group 0.
                return match self.captures.iter().any(|c| c.group == 0) {
                    false if !self.captures.is_empty() => Err(GiveUp),
                    is_match => Ok(is_match),
                };
            }
            let mut next = self.forward(op, pc)?;
            while next.is_none() {
                self.work += 1;
                let Some(entry) = self.track.pop() else {
                    return Err(GiveUp);
                };
                pc = (entry >> 1) as usize;
                next = self.back(&program.ops[pc], pc, entry & 1 != 0)?;
            }
            pc = next.unwrap_or(pc);
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of instructions")]
    /// Does an instruction. The index of the next one; None: it fails.
    #[inline]
    fn forward(&mut self, op: &Op, pc: usize) -> Result<Option<usize>, GiveUp> {
        let next = Some(pc + 1);
        let left = self.text.end - self.at;
        Ok(match op {
            Op::Char(chars) => match left > 0 && chars.fits(self.text.units[self.at])? {
                true => {
                    self.at += 1;
                    next
                }
                false => None,
            },
            Op::Multi(string, folds) => match self.has(string, *folds)? {
                true => {
                    self.at += string.len();
                    next
                }
                false => None,
            },
            Op::Repeat(chars, count) => {
                let count = *count as usize;
                if left < count || self.run_of(chars, count)? < count {
                    return Ok(None);
                }
                self.at += count;
                next
            }
            Op::Greedy(chars, most, may_give_back) => {
                let taken = self.run_of(chars, left.min(*most as usize))?;
                self.at += taken;
                if taken > 0 && *may_give_back {
                    self.push(pc, [taken as i32 - 1, self.at as i32 - 1]);
                }
                next
            }
            Op::Lazy(_, most) => {
                let most = left.min(*most as usize);
                if most > 0 {
                    self.push(pc, [most as i32 - 1, self.at as i32]);
                }
                next
            }
            Op::Reference(group, folds) => match self.has_captured_again(*group, *folds)? {
                true => next,
                false => None,
            },
            Op::LineBegin => next.filter(|_| self.before().is_none_or(|c| c == NEW_LINE)),
            Op::LineEnd => next.filter(|_| left == 0 || self.here() == Some(NEW_LINE)),
            Op::Boundary(is) => match self.is_boundary()? == *is {
                true => next,
                false => None,
            },
            Op::Begin => next.filter(|_| self.at == self.text.begin),
            Op::SearchBegin => next.filter(|_| self.at == self.text.search_begin),
            Op::EndOrLastLine => {
                next.filter(|_| left == 0 || left == 1 && self.here() == Some(NEW_LINE))
            }
            Op::End => next.filter(|_| left == 0),
            Op::Nothing => None,
            Op::Branch(_) => {
                self.push(pc, [self.at as i32]);
                next
            }
            Op::Goto(target) => Some(*target),
            Op::IsCaptured(group) => next.filter(|_| self.last_of(*group).is_some()),
            Op::Mark(is_here) => {
                self.marks.push(if *is_here { self.at as i32 } else { -1 });
                self.push(pc, []);
                next
            }
            Op::Capture(group) => {
                let mark = self.mark()?;
                let (from, to) = (mark.min(self.at as i32), mark.max(self.at as i32));
                self.captures.push(Capture {
                    group: *group,
                    start: usize::try_from(from).map_err(|_| GiveUp)?,
                    length: (to - from) as usize,
                });
                self.push(pc, [mark]);
                next
            }
            Op::ToMark => {
                let mark = self.mark()?;
                self.push(pc, [mark]);
                self.go_to(mark)?;
                next
            }
            Op::Jump => {
                self.marks
                    .extend([self.track.len() as i32, self.captures.len() as i32]);
                self.push(pc, []);
                next
            }
            Op::JumpBack => {
                self.leave_jump()?;
                None
            }
            Op::JumpOn => {
                let captures = self.leave_jump_on()?;
                self.push(pc, [captures]);
                next
            }
            Op::LoopEnd(target) => {
                let mark = self.mark()?;
                if mark == self.at as i32 {
                    self.push_second(pc, [mark]);
                    return Ok(next);
                }
                self.push(pc, [mark, self.at as i32]);
                self.marks.push(self.at as i32);
                Some(*target)
            }
            Op::LazyLoopEnd(_) => {
                let mark = self.mark()?;
                let here = self.at as i32;
                match mark {
                    _ if mark == here => {
                        self.marks.push(mark);
                        self.push_second(pc, [mark]);
                    }
                    -1 => self.push(pc, [here, here]),
                    _ => self.push(pc, [mark, here]),
                }
                next
            }
            Op::Count(is_here, from) => {
                let mark = if *is_here { self.at as i32 } else { -1 };
                self.marks.extend([mark, *from]);
                self.push(pc, []);
                next
            }
            Op::CountedEnd(target, most) => {
                let (mark, count) = self.counted()?;
                if count >= *most || self.at as i32 == mark && count >= 0 {
                    self.push_second(pc, [mark, count]);
                    return Ok(next);
                }
                self.push(pc, [mark]);
                self.marks.extend([self.at as i32, count + 1]);
                Some(*target)
            }
            Op::LazyCountedEnd(target, _) => {
                let (mark, count) = self.counted()?;
                if count >= 0 {
                    self.push(pc, [mark, count, self.at as i32]);
                    return Ok(next);
                }
                self.push_second(pc, [mark]);
                self.marks.extend([self.at as i32, count + 1]);
                Some(*target)
            }
            Op::Stop => None,
        })
    }

    #[expect(clippy::too_many_lines, reason = "a table of instructions")]
    /// Goes back in an instruction, for the first or the `second` way. The index of the next one; None: it fails.
    #[inline]
    fn back(&mut self, op: &Op, pc: usize, second: bool) -> Result<Option<usize>, GiveUp> {
        let next = Some(pc + 1);
        Ok(match op {
            Op::Greedy(..) => {
                let [more, at] = self.take()?;
                self.go_to(at)?;
                if more > 0 {
                    self.push(pc, [more - 1, at - 1]);
                }
                next
            }
            Op::Lazy(chars, _) => {
                let [more, at] = self.take()?;
                self.go_to(at)?;
                if !chars.fits(self.here().ok_or(GiveUp)?)? {
                    return Ok(None);
                }
                self.at += 1;
                if more > 0 {
                    self.push(pc, [more - 1, at + 1]);
                }
                next
            }
            Op::Branch(target) => {
                let [at] = self.take()?;
                self.go_to(at)?;
                Some(*target)
            }
            Op::Mark(_) => {
                self.mark()?;
                None
            }
            Op::Capture(_) => {
                let [mark] = self.take()?;
                self.marks.push(mark);
                self.captures.pop();
                None
            }
            Op::ToMark => {
                let [mark] = self.take()?;
                self.marks.push(mark);
                None
            }
            Op::Count(..) | Op::Jump => {
                self.counted()?;
                None
            }
            Op::JumpOn => {
                let [captures] = self.take()?;
                self.captures.truncate(captures as usize);
                None
            }
            Op::LoopEnd(_) if second => {
                let [mark] = self.take()?;
                self.marks.push(mark);
                None
            }
            Op::LoopEnd(_) => {
                let [mark, at] = self.take()?;
                self.mark()?;
                self.go_to(at)?;
                self.push_second(pc, [mark]);
                next
            }
            Op::LazyLoopEnd(_) if second => {
                self.mark()?;
                let [mark] = self.take()?;
                self.marks.push(mark);
                None
            }
            Op::LazyLoopEnd(target) => {
                let [mark, at] = self.take()?;
                self.push_second(pc, [mark]);
                self.marks.push(at);
                self.go_to(at)?;
                Some(*target)
            }
            Op::CountedEnd(..) if second => {
                let [mark, count] = self.take()?;
                self.marks.extend([mark, count]);
                None
            }
            Op::CountedEnd(..) => {
                let [outer] = self.take()?;
                let (mark, count) = self.counted()?;
                if count > 0 {
                    self.go_to(mark)?;
                    self.push_second(pc, [outer, count - 1]);
                    return Ok(next);
                }
                self.marks.extend([outer, count - 1]);
                None
            }
            Op::LazyCountedEnd(..) if second => {
                let [mark] = self.take()?;
                let (_, count) = self.counted()?;
                self.marks.extend([mark, count - 1]);
                None
            }
            Op::LazyCountedEnd(target, most) => {
                let [mark, count, at] = self.take()?;
                if count < *most && at != mark {
                    self.go_to(at)?;
                    self.marks.extend([at, count + 1]);
                    self.push_second(pc, [mark]);
                    return Ok(Some(*target));
                }
                self.marks.extend([mark, count]);
                None
            }
            _ => return Err(GiveUp),
        })
    }

    // ---- stacks ----------------------------------------------------------------------------------------------------

    #[inline]
    fn push<const N: usize>(&mut self, pc: usize, numbers: [i32; N]) {
        self.push_entry(numbers, (pc as i32) << 1);
    }
    #[inline]
    fn push_second<const N: usize>(&mut self, pc: usize, numbers: [i32; N]) {
        self.push_entry(numbers, (pc as i32) << 1 | 1);
    }
    #[inline]
    fn push_entry<const N: usize>(&mut self, numbers: [i32; N], entry: i32) {
        // (One after the other: a copy of a slice is a call.)
        for number in numbers {
            self.track.push(number);
        }
        self.track.push(entry);
    }
    /// The numbers of an entry of the track, in the order in which they were pushed.
    fn take<const N: usize>(&mut self) -> Result<[i32; N], GiveUp> {
        let at = self.track.len().checked_sub(N).ok_or(GiveUp)?;
        let numbers = self.track[at..].try_into().map_err(|_| GiveUp);
        self.track.truncate(at);
        numbers
    }
    fn mark(&mut self) -> Result<i32, GiveUp> {
        self.marks.pop().ok_or(GiveUp)
    }
    /// The mark and the count of a loop.
    fn counted(&mut self) -> Result<(i32, i32), GiveUp> {
        let count = self.mark()?;
        Ok((self.mark()?, count))
    }
    /// Forgets what the part since [`Op::Jump`] has done.
    fn leave_jump(&mut self) -> Result<(), GiveUp> {
        let captures = self.leave_jump_on()?;
        self.captures.truncate(captures as usize);
        Ok(())
    }
    /// Forgets how to go back into the part since [`Op::Jump`]. The number of captures before it.
    fn leave_jump_on(&mut self) -> Result<i32, GiveUp> {
        let (track, captures) = self.counted()?;
        self.track.truncate(track as usize);
        Ok(captures)
    }

    // ---- text ------------------------------------------------------------------------------------------------------

    fn go_to(&mut self, at: i32) -> Result<(), GiveUp> {
        let at = usize::try_from(at).map_err(|_| GiveUp)?;
        self.at = (at <= self.text.end).then_some(at).ok_or(GiveUp)?;
        Ok(())
    }
    fn here(&self) -> Option<u16> {
        (self.at < self.text.end).then(|| self.text.units[self.at])
    }
    fn before(&self) -> Option<u16> {
        (self.at > self.text.begin).then(|| self.text.units[self.at - 1])
    }
    /// How many of the next `most` characters fit, up to the first that does not.
    fn run_of(&mut self, chars: &Chars, most: usize) -> Result<usize, GiveUp> {
        if most > LONGEST {
            // What is taken may be short all the same.
            return match self.run_of(chars, LONGEST)? {
                LONGEST => Err(GiveUp),
                length => Ok(length),
            };
        }
        let text = &self.text.units[self.at..self.at + most];
        let mut length = most;
        match (&chars.which, chars.folds) {
            (Which::One(one), false) => {
                length = text.iter().position(|c| c != one).unwrap_or(most);
            }
            (Which::NotOne(one), false) => {
                length = text.iter().position(|c| c == one).unwrap_or(most);
            }
            (Which::Set(set), false) => {
                for (at, c) in text.iter().enumerate() {
                    if !set.has(*c)? {
                        length = at;
                        break;
                    }
                }
            }
            _ => {
                for (at, c) in text.iter().enumerate() {
                    if !chars.fits(*c)? {
                        length = at;
                        break;
                    }
                }
            }
        }
        self.work += length / 16;
        Ok(length)
    }
    /// Does a string follow?
    fn has(&mut self, string: &[u16], folds: bool) -> Result<bool, GiveUp> {
        let Some(text) = self.text.units[self.at..self.text.end].get(..string.len()) else {
            return Ok(false);
        };
        self.work += string.len() / 16;
        if !folds {
            return Ok(text == string);
        }
        for (c, of) in text.iter().zip(string) {
            if lower(*c)? != *of {
                return Ok(false);
            }
        }
        Ok(true)
    }
    /// What the group has captured last; None: nothing.
    fn last_of(&self, group: u32) -> Option<Capture> {
        self.captures
            .iter()
            .rev()
            .find(|c| c.group == group)
            .copied()
    }
    /// Takes what the group has captured last, if it follows.
    fn has_captured_again(&mut self, group: u32, folds: bool) -> Result<bool, GiveUp> {
        // (Whether a group that has captured nothing fails is an option of the expression.)
        let Capture { start, length, .. } = self.last_of(group).ok_or(GiveUp)?;
        if self.text.end - self.at < length {
            return Ok(false);
        }
        if length > LONGEST {
            return Err(GiveUp);
        }
        self.work += length / 16;
        let units = self.text.units;
        let pairs = units[start..start + length].iter().zip(&units[self.at..]);
        for (a, b) in pairs {
            if a != b && !(folds && lower(*a)? == lower(*b)?) {
                return Ok(false);
            }
        }
        self.at += length;
        Ok(true)
    }
    fn is_boundary(&self) -> Result<bool, GiveUp> {
        let is_word = |c: Option<u16>| c.map_or(Ok(false), sets::is_word);
        Ok(is_word(self.before())? != is_word(self.here())?)
    }
}

const NEW_LINE: u16 = 10;

/// The small letter of a character of ASCII.
fn lower(c: u16) -> Result<u16, GiveUp> {
    match c {
        0x41..=0x5a => Ok(c + 32),
        0..128 => Ok(c),
        _ => Err(GiveUp),
    }
}

impl Chars {
    #[inline]
    fn fits(&self, c: u16) -> Result<bool, GiveUp> {
        let c = match self.folds {
            true => lower(c)?,
            false => c,
        };
        match &self.which {
            Which::One(one) => Ok(c == *one),
            Which::NotOne(one) => Ok(c != *one),
            Which::Set(set) => set.has(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BRANCH: i32 = 23;
    const MARK: i32 = 31;
    const CAPTURE: i32 = 32;
    const STOP: i32 = 40;

    /// The program of a pattern whose own instructions are `body`, without targets in them.
    fn program(body: &[i32], strings: &[&str]) -> Program {
        let stop = 2 + 1 + body.len() as i32 + 3;
        let codes = [&[BRANCH, stop, MARK], body, &[CAPTURE, 0, -1, STOP]].concat();
        let strings: Vec<Vec<u16>> = strings.iter().map(|s| s.encode_utf16().collect()).collect();
        let strings: Vec<&[u16]> = strings.iter().map(|s| &**s).collect();
        Program::new(&codes, &strings, 0).expect("a program")
    }
    fn search(program: &Program, text: &str) -> (Outcome, Captures) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let text = Text {
            units: &units,
            begin: 0,
            end: units.len(),
            search_begin: 0,
        };
        let mut matcher = Matcher::new(program, text).expect("bounds that lie in the text");
        let outcome = matcher.search(0);
        (outcome, matcher.captures().into())
    }

    #[test]
    fn a_string_is_found_behind_a_failure() {
        let program = program(&[12, 0], &["aab"]);
        let (outcome, captures) = search(&program, "aaab");
        assert_eq!(outcome, Outcome::Matched(4));
        let whole = Capture {
            group: 0,
            start: 1,
            length: 3,
        };
        assert_eq!(captures[..], [whole]);
        assert_eq!(search(&program, "aaa").0, Outcome::Failed(3));
    }

    #[test]
    fn a_loop_gives_back_what_the_rest_needs() {
        // a+ab: one a, as many as there are, the string.
        let a = i32::from(b'a');
        let program = program(&[0, a, 1, 3, a, i32::MAX, 12, 0], &["ab"]);
        assert_eq!(search(&program, "xaaab").0, Outcome::Matched(5));
        assert_eq!(search(&program, "ab").0, Outcome::Failed(2));
    }

    #[test]
    fn what_has_no_answer_is_given_up_and_keeps_its_place() {
        // \p{Lu}+x: the category of capital letters is number 0.
        let capitals = "\u{0}\u{0}\u{1}\u{1}";
        let x = i32::from(b'x');
        let program = program(&[2, 0, 1, 5, 0, i32::MAX, 9, x], &[capitals]);
        assert_eq!(search(&program, "--\u{e9}x").0, Outcome::GivenUp(2));
        assert_eq!(search(&program, "--Ex").0, Outcome::Matched(4));
        assert_eq!(search(&program, "--EE").0, Outcome::Failed(4));
    }

    #[test]
    fn programs_with_targets_outside_are_not_decoded() {
        let new = |codes: &[i32]| Program::new(codes, &[], 0).is_some();
        assert!(new(&[STOP]));
        assert!(!new(&[]));
        assert!(!new(&[BRANCH, 1, STOP]));
        assert!(!new(&[BRANCH, 9, STOP]));
        assert!(!new(&[BRANCH]));
        assert!(!new(&[12, 0, STOP]));
        assert!(!new(&[63, STOP]));
        assert!(!new(&[64 | 14, STOP]));
    }

    proptest! {
        /// Whatever the numbers are, a program is refused, or a search ends.
        #[test]
        fn no_program_does_harm(
            codes in prop::collection::vec(prop_oneof![0..44i32, -1..12i32, any::<i32>()], 0..40),
            text in "[ab\n\u{e9}]{0,20}",
        ) {
            let strings: [&[u16]; 3] = [&[0, 2, 0, 97, 98], &[97, 98], &[]];
            let codes = [&codes[..], &[STOP]].concat();
            if let Some(program) = Program::new(&codes, &strings, 0) {
                search(&program, &text);
            }
        }
        /// The table that a search looks into leaves no match out.
        #[test]
        fn a_prefix_leaves_no_match_out(set in "[a-d]{1,3}", rest in "[a-d]{1,4}", text in "[a-d]{0,30}") {
            // The set, once or more often, and a string.
            let borders: String = ('a'..='e')
                .filter(|c| set.contains(*c) != set.contains((*c as u8 - 1) as char))
                .collect();
            let chars = format!("\0{}\0{borders}", char::from(borders.len() as u8));
            let program = program(&[2, 0, 1, 5, 0, i32::MAX, 12, 1], &[&chars, &rest]);
            let is_match = |at: usize| {
                let of_set = text[at..].chars().take_while(|c| set.contains(*c)).count();
                (1..=of_set).rev().find(|n| text[at + n..].starts_with(&*rest)).map(|n| at + n + rest.len())
            };
            let expected = (0..=text.len()).find_map(is_match);
            match search(&program, &text).0 {
                Outcome::Matched(end) => prop_assert_eq!(Some(end), expected),
                outcome => prop_assert_eq!((outcome, None), (Outcome::Failed(text.len()), expected)),
            }
        }
    }
}
