//! The decoded programs: each is found by a number in its `RegexCode`, and by what it was made from if that has none yet.
//!
//! ```text
//!   runner._code    the number, or 0: not looked at yet   --KNOWN-->            Known { what it was made from, the program }
//!                   Codes, Strings, Anchors               --ALL, by content-->  its number
//! ```
//!
//! The number lies in a hole that the layout leaves behind the last field: it moves with the object, and no program sees it.
//!
//! # Invariants
//! * Nobody writes to a program when its compiler has made it, so a number stays right. (What reflection writes later is not seen here.)
//! * What is decoded while other threads wait for this one to stop is bounded ([`Program::MOST_CODES`]), and so is what is kept.
use super::layout::Layout;
use crate::object::ObjRef;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_os::LeafLock;
use vervet_regex::Program;

/// A program, and what it was made from.
pub(super) struct Known {
    /// The vector of integers.
    codes: Box<[i32]>,
    /// The table of strings, all of them characters.
    strings: Box<[Box<[u16]>]>,
    /// The class library's bits for what each match begins with.
    anchors: i32,
    /// What runs.
    pub(super) program: Program,
    /// How often a match was left to the class library, less a part of how often one was not.
    given_up: AtomicU32,
}

/// From so many on a program is left to the class library.
const TOO_OFTEN: u32 = 256;
/// A search that was not given up makes up for a part of one that was.
const PART: u32 = 16;

/// The most programs that are kept, for ever: a process may make expressions without end.
const MOST: usize = 4096;
/// The most bytes that they take together.
const MOST_BYTES: usize = 8 << 20;
/// The programs, by their numbers less one.
static KNOWN: [AtomicPtr<Known>; MOST] = [const { AtomicPtr::new(null_mut()) }; MOST];
/// The number of a program that is left to the class library.
const LEFT: u16 = u16::MAX;

/// All programs that were looked at.
#[derive(Default)]
struct All {
    /// Their numbers, by the hashes of what they were made from.
    numbers: HashMap<u64, Vec<u16>>,
    /// How many they are.
    count: usize,
    /// About how many bytes they take.
    bytes: usize,
}
static ALL: LeafLock<Option<All>> = LeafLock::new(None);

impl Known {
    /// Was it made from this?
    fn is(&self, codes: &[i32], strings: &[&[u16]], anchors: i32) -> bool {
        self.anchors == anchors
            && *self.codes == *codes
            && self.strings.len() == strings.len()
            && self.strings.iter().zip(strings).all(|(a, b)| **a == **b)
    }
    /// The one with that number.
    fn at(number: u16) -> Option<&'static Known> {
        let known = KNOWN.get(usize::from(number).checked_sub(1)?)?;
        // SAFETY: what was stored there is never freed.
        unsafe { known.load(Ordering::Acquire).as_ref() }
    }
    /// The program of a runner.
    pub(super) fn of(runner: ObjRef<'_>, layout: &Layout) -> Option<&'static Known> {
        let code = runner.read_ref(layout.code).non_null()?;
        match code.read::<u16>(layout.number) {
            0 => {
                let known = Known::look_at(code, layout);
                let number = known.map_or(LEFT, |known| known.0);
                code.write(layout.number, number);
                known.map(|known| known.1)
            }
            number => Known::at(number),
        }
    }
    /// Decodes a program, or finds it among those that there are. None: it has something that the class library alone knows, or there is no room.
    fn look_at(code: ObjRef<'_>, layout: &Layout) -> Option<(u16, &'static Known)> {
        // (A program that searches from right to left may have no instruction that goes left.)
        if code.read::<u8>(layout.goes_left) != 0 {
            return None;
        }
        let codes: &[i32] = code.read_ref(layout.codes).non_null()?.elements();
        let table = code.read_ref(layout.strings).non_null()?;
        let anchors = code.read(layout.anchors);
        if codes.len() > Program::MOST_CODES || table.array_len() > codes.len() {
            return None;
        }
        let string = |i| Some(table.element_ref(i)).filter(|s| s.is_string());
        let strings: Vec<&[u16]> = (0..table.array_len())
            .map(|i| string(i).map(ObjRef::units))
            .collect::<Option<_>>()?;
        let units: usize = strings.iter().map(|s| s.len()).sum();
        if units > Program::MOST_UNITS {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (codes, &strings, anchors).hash(&mut hasher);
        let hash = hasher.finish();
        let is_it = |number: &u16| {
            let known = Known::at(*number)?;
            known
                .is(codes, &strings, anchors)
                .then_some((*number, known))
        };
        let find = |all: &All| all.numbers.get(&hash)?.iter().find_map(is_it);
        if let Some(found) = ALL.lock().as_ref().and_then(find) {
            return Some(found);
        }
        let program = Program::new(codes, &strings, anchors)?;
        // The integers and the strings are kept twice, here and in the program.
        let bytes = 8 * codes.len() + 4 * units + program.bytes() + size_of::<Known>();
        let mut all = ALL.lock();
        let all = all.get_or_insert_default();
        if let Some(found) = find(all) {
            return Some(found);
        }
        if all.count == MOST || all.bytes + bytes > MOST_BYTES {
            return None;
        }
        let known: &'static Known = Box::leak(Box::new(Known {
            codes: codes.into(),
            strings: strings.iter().map(|s| (*s).into()).collect(),
            anchors,
            program,
            given_up: AtomicU32::new(0),
        }));
        KNOWN[all.count].store(std::ptr::from_ref(known).cast_mut(), Ordering::Release);
        all.count += 1;
        all.bytes += bytes;
        let number = all.count as u16;
        all.numbers.entry(hash).or_default().push(number);
        Some((number, known))
    }
    /// Is it better left to the class library, which had to do most of its searches?
    pub(super) fn is_given_up_often(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) >= TOO_OFTEN * PART
    }
    /// Counts an attempt that was given up, or was not.
    pub(super) fn note(&self, is_given_up: bool) {
        // (Of two threads that count at once one may be lost.)
        let count = self.given_up.load(Ordering::Relaxed);
        let count = match is_given_up {
            true => count + PART,
            false => count.saturating_sub(1),
        };
        self.given_up.store(count, Ordering::Relaxed);
    }
}
