//! Regular expressions: the class library's `RegexInterpreter`, which is asked here before its IL runs.
//!
//! # How it works
//! `RegexRunner.Scan` asks in turn for the next position at which a match may begin (`FindFirstChar`) and for a match there (`Go`). The runner has the text, the
//! position and the match that is filled in. Its program is decoded once ([`vervet_regex`]) and kept for all runners whose programs are equal:
//!
//! ```text
//!   runner._code    the number, or 0: not looked at yet   --KNOWN-->            Known { what it was made from, the program }
//!                   Codes, Strings, Anchors               --ALL, by content-->  its number
//! ```
//!
//! The number lies in the `RegexCode` itself, in a hole that the layout leaves behind its last field: it moves with the object, and no program sees it.
//!
//! # Invariants
//! * Nobody writes to a program when its compiler has made it, so a number stays right. (What reflection writes later is not seen here.)
//! * What is decoded while other threads wait for this one to stop is bounded ([`Program::MOST_CODES`]), and so is what is kept.
//! * A call changes a runner and its match only when its answer is known, and then all at once. Without one the runner is what it was.
//! * Searches with a time limit are the class library's: it looks at the clock meanwhile.
use crate::cx::{Cx, Result};
use crate::memory::allocate;
use crate::object::ObjRef;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_abi::HEADER_SIZE;
use vervet_os::LeafLock;
use vervet_regex::{Capture, Matcher, Outcome, Program, Text};
use vervet_types::ClassRef;

/// Where the fields are that are used here.
struct Layout {
    /// The class that has been looked at.
    interpreter: ClassRef,
    /// Of the runner: the whole text, a string.
    text: usize,
    /// The part of it that is looked at, from
    begin: usize,
    /// to.
    end: usize,
    /// Where the search has begun, for `\G`.
    search_begin: usize,
    /// Where the runner is.
    at: usize,
    /// The `Match` that is filled in.
    found: usize,
    /// Has the search no limit of time?
    has_no_limit: usize,
    /// The `RegexCode`.
    code: usize,
    /// Whose small letters are compared.
    culture: usize,
    /// Of the code: the program.
    codes: usize,
    /// The strings and sets that it names.
    strings: usize,
    /// What each match begins with, as bits.
    anchors: usize,
    /// Does it search from right to left?
    goes_left: usize,
    /// The hole for the number of the program: 16 bits.
    number: usize,
    /// Of the match: for each group the vector of its captures' starts and lengths.
    captures: usize,
    /// How many captures each group has.
    counts: usize,
    /// Of the culture, if it is of the class that is declared and of none that derives from it,
    culture_class: ClassRef,
    /// its name.
    culture_name: usize,
}

/// The layout of the class that was asked about last. Another one replaces it: each assembly of the class library has one such class.
static LAYOUT: AtomicPtr<Layout> = AtomicPtr::new(null_mut());

/// The offset in its objects of an instance field of a class, or of one that it derives from.
fn offset(class: ClassRef, name: &str) -> Option<usize> {
    let mut at = Some(class);
    while let Some(c) = at {
        if let Some(field) = c.find_field(name).ok()? {
            return Some((field.offset().ok()? + HEADER_SIZE) as usize);
        }
        at = c.parent().ok()?;
    }
    None
}

/// The class of an instance field.
fn class_of(class: ClassRef, name: &str) -> Option<ClassRef> {
    let mut at = Some(class);
    while let Some(c) = at {
        if let Some(field) = c.find_field(name).ok()? {
            return field.ty().ok();
        }
        at = c.parent().ok()?;
    }
    None
}

/// The offset of 16 bits of a `RegexCode` that are behind its last field, a bool, and belong to none.
fn hole(code: ClassRef) -> Option<usize> {
    const FIELDS: [&str; 8] = [
        "Codes",
        "Strings",
        "TrackCount",
        "Caps",
        "CapSize",
        "FCPrefix",
        "BMPrefix",
        "Anchors",
    ];
    let last = offset(code, "RightToLeft")?;
    for field in FIELDS {
        if offset(code, field)? >= last {
            return None;
        }
    }
    let is_all = code
        .fields()
        .ok()?
        .iter()
        .filter(|f| !f.is_static())
        .count()
        == FIELDS.len() + 1;
    let size = (HEADER_SIZE + code.layout().ok()?.size) as usize;
    (is_all && last % 4 == 0 && last + 4 <= size).then_some(last + 2)
}

impl Layout {
    /// None: the class has not the fields of the interpreter.
    fn new(interpreter: ClassRef) -> Option<Layout> {
        let of = |name| offset(interpreter, name);
        let code = class_of(interpreter, "_code")?;
        let found = class_of(interpreter, "runmatch")?;
        let culture = class_of(interpreter, "_culture")?;
        Some(Layout {
            interpreter,
            text: of("runtext")?,
            begin: of("runtextbeg")?,
            end: of("runtextend")?,
            search_begin: of("runtextstart")?,
            at: of("runtextpos")?,
            found: of("runmatch")?,
            has_no_limit: of("_ignoreTimeout")?,
            code: of("_code")?,
            culture: of("_culture")?,
            codes: offset(code, "Codes")?,
            strings: offset(code, "Strings")?,
            anchors: offset(code, "Anchors")?,
            goes_left: offset(code, "RightToLeft")?,
            number: hole(code)?,
            culture_class: culture,
            captures: offset(found, "_matches")?,
            counts: offset(found, "_matchcount")?,
            culture_name: offset(culture, "m_name")?,
        })
    }
    /// The layout of a runner; None: it has none that is known here.
    fn of(runner: ObjRef<'_>) -> Option<&'static Layout> {
        let class = runner.class();
        // SAFETY: what was stored there is never freed.
        if let Some(layout) = unsafe { LAYOUT.load(Ordering::Acquire).as_ref() }
            && std::ptr::eq(layout.interpreter, class)
        {
            return Some(layout);
        }
        static MADE: LeafLock<Vec<&'static Layout>> = LeafLock::new(Vec::new());
        let mut made = MADE.lock();
        let layout = match made.iter().find(|l| std::ptr::eq(l.interpreter, class)) {
            Some(layout) => *layout,
            None => {
                let layout: &'static Layout = Box::leak(Box::new(Layout::new(class)?));
                made.push(layout);
                layout
            }
        };
        LAYOUT.store(std::ptr::from_ref(layout).cast_mut(), Ordering::Release);
        Some(layout)
    }
}

/// A program, and what it was made from.
struct Known {
    /// The vector of integers.
    codes: Box<[i32]>,
    /// The table of strings, all of them characters.
    strings: Box<[Box<[u16]>]>,
    /// The class library's bits for what each match begins with.
    anchors: i32,
    /// What runs.
    program: Program,
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
    fn of(runner: ObjRef<'_>, layout: &Layout) -> Option<&'static Known> {
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
    /// Counts an attempt that was given up, or was not.
    fn note(&self, is_given_up: bool) {
        // (Of two threads that count at once one may be lost.)
        let count = self.given_up.load(Ordering::Relaxed);
        let count = match is_given_up {
            true => count + PART,
            false => count.saturating_sub(1),
        };
        self.given_up.store(count, Ordering::Relaxed);
    }
}

/// A search that is done here.
struct Search<'cx> {
    runner: ObjRef<'cx>,
    layout: &'static Layout,
    known: &'static Known,
    text: Text<'cx>,
    /// Where the runner was at the call: not behind the end of the text's part.
    at: usize,
}

impl<'cx> Search<'cx> {
    /// None: the class library is to do it.
    fn of(runner: ObjRef<'cx>) -> Option<Search<'cx>> {
        let runner = runner.non_null()?;
        let layout = Layout::of(runner)?;
        if runner.read::<u8>(layout.has_no_limit) == 0 {
            return None;
        }
        let known = Known::of(runner, layout)?;
        if known.given_up.load(Ordering::Relaxed) >= TOO_OFTEN * PART
            || known.program.has_case() && !has_common_small_letters(runner, layout)
        {
            return None;
        }
        let units = runner.read_ref(layout.text).non_null()?.units();
        let number = |at| usize::try_from(runner.read::<i32>(at)).ok();
        let text = Text {
            units,
            begin: number(layout.begin)?,
            end: number(layout.end)?,
            search_begin: number(layout.search_begin)?,
        };
        let at = number(layout.at)?;
        let fits = text.begin <= at && at <= text.end && text.end <= units.len();
        fits.then_some(Search {
            runner,
            layout,
            known,
            text,
            at,
        })
    }
    /// The runner goes on from there.
    fn move_to(&self, at: usize) {
        self.runner.write(self.layout.at, at as i32);
    }
    /// Fills the runner's match in. False: it has not the shape that it should have.
    fn fill(&self, cx: &'cx Cx<'cx>, captures: &[Capture]) -> Result<bool> {
        let Some(found) = self.runner.read_ref(self.layout.found).non_null() else {
            return Ok(false);
        };
        let counts = found.read_ref(self.layout.counts);
        let all = found.read_ref(self.layout.captures);
        let most = counts.array_len().min(all.array_len());
        if captures.iter().any(|c| c.group as usize >= most) {
            return Ok(false);
        }
        for capture in captures {
            let group = capture.group as usize;
            let count = counts.elements::<i32>()[group].max(0) as usize;
            let mut of_group = all.element_ref(group);
            // (The collector may run here. What it moves lies in objects, and these are pinned by the references on this frame.)
            if of_group.is_null() || of_group.array_len() < 2 * count + 2 {
                // As many as the class library makes room for.
                let room = allocate::alloc_array(cx, counts.vtable(), (8 * count).max(2) as i64)?;
                if !of_group.is_null() {
                    let before = &of_group.elements::<i32>()[..2 * count];
                    room.elements::<i32>()[..2 * count].copy_from_slice(before);
                }
                all.set_element_ref(group, room);
                of_group = room;
            }
            of_group.elements::<i32>()[2 * count..][..2]
                .copy_from_slice(&[capture.start as i32, capture.length as i32]);
            counts.elements::<i32>()[group] = count as i32 + 1;
        }
        Ok(true)
    }
}

/// Has the runner's culture the small letters that most have? Turkish and Azeri make another one of I, and a program's own culture may do anything.
fn has_common_small_letters(runner: ObjRef<'_>, layout: &Layout) -> bool {
    let culture = runner.read_ref(layout.culture);
    // (Its text info is a virtual property.)
    if culture.is_null() || !std::ptr::eq(culture.class(), layout.culture_class) {
        return false;
    }
    culture
        .read_ref(layout.culture_name)
        .non_null()
        .is_some_and(|name| {
            let language = name.units().get(..2).map(String::from_utf16_lossy);
            !matches!(language.as_deref(), Some("tr" | "az"))
        })
}

/// `RegexInterpreter.FindFirstChar`: 1 or 0, or -1: the class library is to do it.
pub(super) fn find(runner: ObjRef<'_>) -> i32 {
    /// So many characters are looked at in one call.
    const MOST: usize = 1 << 20;
    let Some(search) = Search::of(runner).filter(|s| !s.known.program.is_anchored()) else {
        return -1;
    };
    let (at, end) = (search.at, search.text.end);
    let most = end.min(at.saturating_add(MOST));
    match search.known.program.find(search.text.units, at, most) {
        Some(next) => {
            search.move_to(next);
            1
        }
        None if most == end => {
            search.move_to(end);
            0
        }
        // A match may begin near the end of what was looked at. `Go` finds out.
        None => {
            search.move_to(most - Program::LONGEST_PREFIX);
            1
        }
    }
}

/// `RegexInterpreter.Go`: 1, or -1: the class library is to do it.
pub(super) fn go<'cx>(cx: &'cx Cx<'cx>, runner: ObjRef<'cx>) -> Result<i32> {
    let Some(search) = Search::of(runner) else {
        return Ok(-1);
    };
    let Some(mut matcher) = Matcher::new(&search.known.program, search.text) else {
        return Ok(-1);
    };
    let outcome = matcher.search(search.at);
    search.known.note(matches!(outcome, Outcome::GivenUp(_)));
    match outcome {
        Outcome::Matched(end) if search.fill(cx, matcher.captures())? => search.move_to(end),
        Outcome::Matched(_) => return Ok(-1),
        Outcome::Failed(at) => search.move_to(at),
        Outcome::GivenUp(at) => {
            search.move_to(at);
            return Ok(-1);
        }
    }
    Ok(1)
}
