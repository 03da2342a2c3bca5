//! Regular expressions: the class library's `RegexInterpreter`, which is asked here before its IL runs.
//!
//! # How it works
//! `RegexRunner.Scan` asks in turn for the next position at which a match may begin (`FindFirstChar`) and for a match there (`Go`). The runner has the text, the
//! position and the match that is filled in. Its program is decoded once ([`vervet_regex`]) and kept for all runners whose programs are equal:
//!
//! ```text
//!   runner._code.Codes, .Strings, .Anchors  --NEAR, by the address of Codes-->  Known { what it was made from, the program }
//!                                           --ALL, by content-->
//! ```
//!
//! # Invariants
//! * What is found by an address is compared with the runner's program before it is used: the collector moves vectors, and others take their places.
//! * A call changes a runner and its match only when its answer is known, and then all at once. Without one the runner is what it was.
//! * Searches with a time limit are the class library's: it looks at the clock meanwhile.
use crate::cx::{Cx, Result};
use crate::memory::allocate;
use crate::object::ObjRef;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
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
    /// Of the match: for each group the vector of its captures' starts and lengths.
    captures: usize,
    /// How many captures each group has.
    counts: usize,
    /// Of the culture.
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
    /// None: it has something that the class library alone knows.
    program: Option<Program>,
    /// How often a match was left to the class library, less a part of how often one was not.
    given_up: AtomicU32,
}

/// From so many on a program is left to the class library.
const TOO_OFTEN: u32 = 256;
/// A search that was not given up makes up for a part of one that was.
const PART: u32 = 16;

/// The programs that were found last, by the addresses of their vectors.
static NEAR: [AtomicPtr<Known>; 256] = [const { AtomicPtr::new(null_mut()) }; 256];
/// All programs, by their contents. They are kept for ever.
static ALL: LeafLock<Option<HashMap<u64, Vec<&'static Known>>>> = LeafLock::new(None);
/// Bytes of what programs were made from.
static KEPT: AtomicUsize = AtomicUsize::new(0);
/// No more programs are decoded when there are so many bytes: a process may make expressions without end.
const MOST_KEPT: usize = 4 << 20;

impl Known {
    /// Was it made from this?
    fn is(&self, codes: &[i32], strings: ObjRef<'_>, anchors: i32) -> bool {
        self.anchors == anchors
            && *self.codes == *codes
            && self.strings.len() == strings.array_len()
            && (0..self.strings.len()).all(|i| *strings.element_ref(i).units() == *self.strings[i])
    }
    /// The program of a runner.
    fn of(runner: ObjRef<'_>, layout: &Layout) -> Option<&'static Known> {
        let code = runner.read_ref(layout.code).non_null()?;
        // (A program that searches from right to left may have no instruction that goes left.)
        if code.read::<u8>(layout.goes_left) != 0 {
            return None;
        }
        let codes = code.read_ref(layout.codes).non_null()?;
        let strings = code.read_ref(layout.strings).non_null()?;
        let anchors = code.read(layout.anchors);
        let near = &NEAR[codes.addr() / 16 % NEAR.len()];
        let codes: &[i32] = codes.elements();
        // (The compiler writes no null; a program may by reflection.)
        if (0..strings.array_len()).any(|i| !strings.element_ref(i).is_string()) {
            return None;
        }
        // SAFETY: what was stored there is never freed.
        let found = unsafe { near.load(Ordering::Acquire).as_ref() };
        if let Some(known) = found.filter(|known| known.is(codes, strings, anchors)) {
            return Some(known);
        }
        let known = Known::kept(codes, strings, anchors)?;
        near.store(std::ptr::from_ref(known).cast_mut(), Ordering::Release);
        Some(known)
    }
    /// The one that is kept for that content, or a new one. None: there are too many.
    fn kept(codes: &[i32], strings: ObjRef<'_>, anchors: i32) -> Option<&'static Known> {
        let mut hasher = DefaultHasher::new();
        (codes, anchors).hash(&mut hasher);
        let hash = hasher.finish();
        let mut all = ALL.lock();
        let all = all.get_or_insert_default();
        let same_hash = all.get(&hash).into_iter().flatten();
        if let Some(known) = same_hash.copied().find(|k| k.is(codes, strings, anchors)) {
            return Some(known);
        }
        let strings: Box<[Box<[u16]>]> = (0..strings.array_len())
            .map(|i| strings.element_ref(i).units().into())
            .collect();
        let units: usize = strings.iter().map(|s| s.len()).sum();
        let bytes = 4 * codes.len() + 2 * units;
        if KEPT.fetch_add(bytes, Ordering::Relaxed) > MOST_KEPT {
            KEPT.fetch_sub(bytes, Ordering::Relaxed);
            return None;
        }
        let slices: Vec<&[u16]> = strings.iter().map(|s| &**s).collect();
        let program = Program::new(codes, &slices, anchors);
        let known: &'static Known = Box::leak(Box::new(Known {
            codes: codes.into(),
            program,
            strings,
            anchors,
            given_up: AtomicU32::new(0),
        }));
        all.entry(hash).or_default().push(known);
        Some(known)
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
    /// Its program.
    program: &'static Program,
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
        let program = known.program.as_ref()?;
        if known.given_up.load(Ordering::Relaxed) >= TOO_OFTEN * PART
            || program.has_case() && has_letter_i_without_dot(runner, layout)
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
            program,
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

/// Does the runner's culture make another small letter of I? Turkish and Azeri do.
fn has_letter_i_without_dot(runner: ObjRef<'_>, layout: &Layout) -> bool {
    let name = runner
        .read_ref(layout.culture)
        .non_null()
        .map(|culture| culture.read_ref(layout.culture_name));
    name.and_then(ObjRef::non_null).is_none_or(|name| {
        let language = name.units().get(..2).map(String::from_utf16_lossy);
        matches!(language.as_deref(), Some("tr" | "az"))
    })
}

/// `RegexInterpreter.FindFirstChar`: 1 or 0, or -1: the class library is to do it.
pub(super) fn find(runner: ObjRef<'_>) -> i32 {
    /// So many characters are looked at in one call.
    const MOST: usize = 1 << 20;
    let Some(search) = Search::of(runner).filter(|s| !s.program.is_anchored()) else {
        return -1;
    };
    let (at, end) = (search.at, search.text.end);
    let most = end.min(at.saturating_add(MOST));
    match search.program.find(search.text.units, at, most) {
        Some(next) => {
            search.move_to(next);
            1
        }
        None if most == end => {
            search.move_to(end);
            0
        }
        None => -1,
    }
}

/// `RegexInterpreter.Go`: 1, or -1: the class library is to do it.
pub(super) fn go<'cx>(cx: &'cx Cx<'cx>, runner: ObjRef<'cx>) -> Result<i32> {
    let Some(search) = Search::of(runner) else {
        return Ok(-1);
    };
    let Some(mut matcher) = Matcher::new(search.program, search.text) else {
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
