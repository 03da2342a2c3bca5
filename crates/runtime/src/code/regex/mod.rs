//! Regular expressions: the class library's `RegexInterpreter`, which is asked here before its IL runs.
//!
//! # How it works
//! `RegexRunner.Scan` asks in turn for the next position at which a match may begin (`FindFirstChar`) and for a match there (`Go`). The runner has the text, the
//! position and the match that is filled in. Its program is decoded once ([`vervet_regex`]) and [kept](known) for all runners whose programs are equal.
//!
//! # Invariants
//! * A call changes a runner and its match only when its answer is known, and then all at once. Without one the runner is what it was.
//! * Searches with a time limit are the class library's: it looks at the clock meanwhile.
mod known;
mod layout;

use crate::cx::{Cx, Result};
use crate::memory::allocate;
use crate::object::ObjRef;
use known::Known;
use layout::Layout;
use vervet_regex::{Capture, Matcher, Outcome, Program, Text};

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
        if known.is_given_up_often()
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
    const AT_ONCE: usize = 1 << 20;
    let Some(search) = Search::of(runner).filter(|s| !s.known.program.is_anchored()) else {
        return -1;
    };
    let (at, end) = (search.at, search.text.end);
    let most = end.min(at.saturating_add(AT_ONCE));
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
