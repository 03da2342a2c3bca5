//! The programs: what the class library's compiler writes, decoded.
//!
//! A program is a vector of integers and a table of strings. An instruction is its number, with bits beside it, and up to two operands. A target is the position of
//! an instruction in the vector.
//!
//! # Invariants
//! * Every target of a decoded program is the index of one of its instructions, and every operand that names a string or a set names one that there is.
//! * The last instruction is [`Op::Stop`], so an instruction that goes on to the next one always has one.
//! * What is not decoded: instructions that go from right to left, groups that take captures of other groups away, the borders of words by ECMAScript's rules, and lazy
//!   loops whose bodies may take nothing. After such a turn the class library's machine has a mark too many, and what it does then depends on what other attempts
//!   have left on its stacks.
use crate::prefix::{self, Prefix};
use crate::sets::Set;

/// A program, ready to be run.
#[derive(Debug)]
pub struct Program {
    pub(crate) ops: Box<[Op]>,
    pub(crate) prefix: Prefix,
    /// The index of the instruction that [`Program::first_run`] has.
    first_run: Option<usize>,
    is_anchored: bool,
    has_case: bool,
}

/// The characters that an instruction takes.
#[derive(PartialEq, Debug)]
pub(crate) struct Chars {
    pub(crate) which: Which,
    /// A character of the text is made lower case before it is compared.
    pub(crate) folds: bool,
}

#[derive(PartialEq, Debug)]
pub(crate) enum Which {
    One(u16),
    NotOne(u16),
    Set(Set),
}

/// An instruction. `usize`s are targets.
#[derive(Debug)]
pub(crate) enum Op {
    /// So many characters.
    Repeat(Chars, u32),
    /// As many as there are, at most so many. False: what follows never takes what this takes, so none is ever given back.
    Greedy(Chars, u32, bool),
    /// As few as the rest needs, at most so many.
    Lazy(Chars, u32),
    /// One character.
    Char(Chars),
    /// A string.
    Multi(Box<[u16]>, bool),
    /// What a group has captured last.
    Reference(u32, bool),
    LineBegin,
    LineEnd,
    /// A border of a word, or (false) none.
    Boundary(bool),
    Begin,
    SearchBegin,
    EndOrLastLine,
    End,
    /// Fails.
    Nothing,
    /// Goes on; the other way is the target.
    Branch(usize),
    /// The end of a loop's body: to the target again, unless the body took nothing.
    LoopEnd(usize),
    LazyLoopEnd(usize),
    /// Begins a loop that counts from so many on, with or (false) without a mark of where it is.
    Count(bool, i32),
    /// The end of the body of a loop that counts up to so many.
    CountedEnd(usize, i32),
    LazyCountedEnd(usize, i32),
    /// Notes where a group or the body of a loop begins: here, or (false) nowhere.
    Mark(bool),
    /// Ends a group.
    Capture(u32),
    /// Goes back to where the mark is.
    ToMark,
    /// Begins a part of the program that is not backtracked into,
    Jump,
    /// fails it as a whole,
    JumpBack,
    /// or ends it.
    JumpOn,
    /// Goes on if a group has captured something.
    IsCaptured(u32),
    Goto(usize),
    Stop,
}

/// How many characters a loop without an end takes at most.
const ALL: u32 = i32::MAX as u32;
/// The bits beside an instruction's number.
const NUMBER: i32 = 63;
const FOLDS: i32 = 512;

/// How many operands the instructions 0 to 40 have.
const OPERANDS: [u8; 41] = [
    2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 0, 0,
    2, 0, 0, 0, 0, 1, 1, 0, 0,
];

impl Program {
    /// Longer programs are not decoded.
    pub const MOST_CODES: usize = 2048;
    /// Nor are those with strings of more characters together.
    pub const MOST_UNITS: usize = 16 << 10;
    /// How many of the first characters of a match are looked at.
    pub const LONGEST_PREFIX: usize = prefix::LONGEST;

    /// Decodes a program. `anchors` are the class library's bits for what each match begins with. None: it has something that this crate does not know.
    pub fn new(codes: &[i32], strings: &[&[u16]], anchors: i32) -> Option<Program> {
        // Beginning, start of the search, and the two ends. The class library then tries one position only.
        const ONE_POSITION: i32 = 1 | 4 | 16 | 32;
        if codes.len() > Self::MOST_CODES {
            return None;
        }
        let mut index_of = vec![usize::MAX; codes.len()];
        let (mut at, mut count) = (0, 0);
        while let Some(code) = codes.get(at) {
            *index_of.get_mut(at)? = count;
            count += 1;
            at += 1 + usize::from(*OPERANDS.get(usize::try_from(code & NUMBER).ok()?)?);
        }
        let decoder = Decoder {
            codes,
            strings,
            index_of,
        };
        let mut ops = Vec::with_capacity(count);
        let mut has_case = false;
        for (at, index) in decoder.index_of.iter().enumerate() {
            if *index != usize::MAX {
                has_case |= codes[at] & FOLDS != 0;
                ops.push(decoder.decode(at)?);
            }
        }
        if !matches!(ops.last(), Some(Op::Stop)) {
            return None;
        }
        if (0..ops.len()).any(|at| is_lazy_and_may_be_empty(&ops, at)) {
            return None;
        }
        let is_anchored = anchors & ONE_POSITION != 0;
        for (at, gives_back) in prefix::give_back(&ops).into_iter().enumerate() {
            if let Op::Greedy(_, _, may_give_back) = &mut ops[at] {
                *may_give_back = gives_back;
            }
        }
        Some(Program {
            prefix: Prefix::of(&ops),
            first_run: first_run(&ops),
            ops: ops.into(),
            is_anchored,
            has_case,
        })
    }
    /// About how many bytes it takes, besides its strings.
    pub fn bytes(&self) -> usize {
        size_of::<Program>() + self.ops.len() * size_of::<Op>()
    }
    /// Is there one position only at which a match can begin?
    pub fn is_anchored(&self) -> bool {
        self.is_anchored
    }
    /// Does it compare without regard to case? The rules are those of any culture but those in which the small letter of I has no dot.
    pub fn has_case(&self) -> bool {
        self.has_case
    }
    /// What a match takes first, if that is all of a run of such characters, of which it gives none back.
    pub(crate) fn first_run(&self) -> Option<&Chars> {
        match &self.ops[self.first_run?] {
            Op::Greedy(chars, _, _) => Some(chars),
            _ => None,
        }
    }
    /// The first position from `from` on at which a match may begin.
    pub fn find(&self, units: &[u16], from: usize, end: usize) -> Option<usize> {
        self.prefix.find(units, from, end)
    }
}

/// Where the program takes one character and then all of the same kind, as the first thing that it does, and where it has begun makes no difference behind that.
fn first_run(ops: &[Op]) -> Option<usize> {
    let has_memory = |op: &Op| {
        matches!(
            op,
            Op::Reference(..) | Op::IsCaptured(_) | Op::SearchBegin | Op::ToMark
        )
    };
    if ops.iter().any(has_memory) {
        return None;
    }
    let at = ops
        .iter()
        .skip(1)
        .position(|op| !matches!(op, Op::Mark(true)))?
        + 1;
    match (ops.get(at)?, ops.get(at + 1)?) {
        (Op::Repeat(one, 1), Op::Greedy(all, ALL, false)) if one == all => Some(at + 1),
        _ => None,
    }
}

/// Is it the end of a lazy loop to which its body may come without a character?
fn is_lazy_and_may_be_empty(ops: &[Op], at: usize) -> bool {
    let Op::LazyLoopEnd(body) = ops[at] else {
        return false;
    };
    // What is taken in front of `ToMark` is given back there.
    let body_ops = ops.get(body..at).unwrap_or(ops);
    if body_ops.iter().any(|op| matches!(op, Op::ToMark)) {
        return true;
    }
    let mut seen = vec![false; ops.len()];
    let mut left = vec![body];
    while let Some(i) = left.pop() {
        if i == at {
            return true;
        }
        if std::mem::replace(&mut seen[i], true) {
            continue;
        }
        match &ops[i] {
            Op::Char(_) | Op::Nothing | Op::JumpBack | Op::Stop => {}
            Op::Repeat(_, count) if *count > 0 => {}
            Op::Multi(string, _) if !string.is_empty() => {}
            Op::Goto(target) => left.push(*target),
            Op::Branch(target)
            | Op::LoopEnd(target)
            | Op::LazyLoopEnd(target)
            | Op::CountedEnd(target, _)
            | Op::LazyCountedEnd(target, _) => left.extend([i + 1, *target]),
            _ => left.push(i + 1),
        }
    }
    false
}

struct Decoder<'p> {
    codes: &'p [i32],
    strings: &'p [&'p [u16]],
    index_of: Vec<usize>,
}

impl Decoder<'_> {
    fn operand(&self, at: usize, which: usize) -> Option<i32> {
        self.codes.get(at + 1 + which).copied()
    }
    fn target(&self, at: usize) -> Option<usize> {
        let position = usize::try_from(self.operand(at, 0)?).ok()?;
        self.index_of
            .get(position)
            .copied()
            .filter(|index| *index != usize::MAX)
    }
    fn string(&self, at: usize) -> Option<&[u16]> {
        let index = usize::try_from(self.operand(at, 0)?).ok()?;
        self.strings.get(index).copied()
    }
    fn number(&self, at: usize, which: usize) -> Option<u32> {
        u32::try_from(self.operand(at, which)?).ok()
    }
    /// `kind` is 0 for one character, 1 for all but one, 2 for a set.
    fn chars(&self, at: usize, kind: i32) -> Option<Chars> {
        let c = || Some(self.operand(at, 0)? as u16);
        Some(Chars {
            which: match kind {
                0 => Which::One(c()?),
                1 => Which::NotOne(c()?),
                _ => Which::Set(Set::new(self.string(at)?)?),
            },
            folds: self.codes[at] & FOLDS != 0,
        })
    }
    fn decode(&self, at: usize) -> Option<Op> {
        let code = self.codes[at];
        if code & !(NUMBER | FOLDS) != 0 {
            return None;
        }
        let folds = code & FOLDS != 0;
        let number = code & NUMBER;
        Some(match number {
            0..=2 => Op::Repeat(self.chars(at, number)?, self.number(at, 1)?),
            3..=5 => Op::Greedy(self.chars(at, number - 3)?, self.number(at, 1)?, true),
            6..=8 => Op::Lazy(self.chars(at, number - 6)?, self.number(at, 1)?),
            9..=11 => Op::Char(self.chars(at, number - 9)?),
            12 => Op::Multi(self.string(at)?.into(), folds),
            13 => Op::Reference(self.number(at, 0)?, folds),
            14 => Op::LineBegin,
            15 => Op::LineEnd,
            16 | 17 => Op::Boundary(number == 16),
            18 => Op::Begin,
            19 => Op::SearchBegin,
            20 => Op::EndOrLastLine,
            21 => Op::End,
            22 => Op::Nothing,
            23 => Op::Branch(self.target(at)?),
            24 => Op::LoopEnd(self.target(at)?),
            25 => Op::LazyLoopEnd(self.target(at)?),
            26 | 27 => Op::Count(number == 27, self.operand(at, 0)?),
            28 => Op::CountedEnd(self.target(at)?, self.operand(at, 1)?),
            29 => Op::LazyCountedEnd(self.target(at)?, self.operand(at, 1)?),
            30 | 31 => Op::Mark(number == 31),
            32 if self.operand(at, 1)? == -1 => Op::Capture(self.number(at, 0)?),
            33 => Op::ToMark,
            34 => Op::Jump,
            35 => Op::JumpBack,
            36 => Op::JumpOn,
            37 => Op::IsCaptured(self.number(at, 0)?),
            38 => Op::Goto(self.target(at)?),
            40 => Op::Stop,
            _ => return None,
        })
    }
}
