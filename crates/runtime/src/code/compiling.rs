//! Which methods are being compiled by threads that call them. Others that call such a method meanwhile wait for its code: a thousand threads that begin
//! with the same method would otherwise compile it a thousand times, each on a carrier of its own.
//!
//! # Invariants
//! * A compile never waits for ever for a thread that waits here: a compile may raise a resolve event, whose handler may wait for whatever the waiting thread
//!   holds. After [`LONGEST`] one of those that wait takes the note over and compiles, too; the others wait for it. The first to publish its code wins.
//! * Whoever is noted takes the note back, whether it has made code or has failed, and unparks all that wait, also if another thread has taken it over.
//! * The child of a fork, in which other threads' notes and the lock may be left, does without.
use crate::code::entries::Entry;
use crate::cx::Cx;
use crate::threads::park::{self, Reason};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vervet_os::LeafLock;

/// How long threads wait for a compile that may raise events, before one of them compiles as well.
const LONGEST: Duration = Duration::from_millis(100);

/// A thread that compiles a method, since when, and those that wait for it.
struct Running {
    by: u32,
    since: Instant,
    waiters: Vec<u32>,
}

/// By id of the entry.
static RUNNING: LeafLock<Option<FxHashMap<u32, Running>>> = LeafLock::new(None);
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// The process is the child of a fork.
pub(crate) fn has_forked() {
    HAS_FORKED.store(true, Ordering::Relaxed);
}

/// For how long a thread waits for another one's compile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// For [`LONGEST`]: the compile may raise events.
    Limited,
    /// Until it has ended: it raises none.
    Unlimited,
}

/// The calling thread compiles the method of an entry, until this is dropped.
pub(super) struct Compiling {
    entry: u32,
    by: u32,
    /// Is there a note of the calling thread's?
    is_noted: bool,
}

impl Drop for Compiling {
    fn drop(&mut self) {
        if self.is_noted && !HAS_FORKED.load(Ordering::Relaxed) {
            end(self.entry, self.by).into_iter().for_each(park::unpark);
        }
    }
}

/// Thread `by` compiles the method no more: takes its note back, unless another thread has taken that over. The threads that waited.
fn end(entry: u32, by: u32) -> Vec<u32> {
    let mut all = RUNNING.lock();
    let all = all.get_or_insert_default();
    let waiters = all
        .get_mut(&entry)
        .map(|running| (running.by, std::mem::take(&mut running.waiters)));
    let Some((noted, waiters)) = waiters else {
        return Vec::new();
    };
    if noted == by {
        all.remove(&entry);
    }
    waiters
}

/// What a look at the notes finds.
enum Found {
    /// The calling thread is noted now.
    Noted,
    /// Nobody compiles it any more.
    Ended,
    /// The calling thread was noted before.
    Myself,
    /// Another thread compiles it. Until when to wait.
    Another(Option<Instant>),
}

/// The calling thread wants other code of an entry. If another thread compiles it, waits until that has ended. None: the code may be there now.
pub(super) fn begin(cx: &Cx<'_>, entry: &Entry, patience: Patience) -> Option<Compiling> {
    let me = park::id(cx);
    let compiling = |is_noted| {
        Some(Compiling {
            entry: entry.id(),
            by: me,
            is_noted,
        })
    };
    if HAS_FORKED.load(Ordering::Relaxed) {
        return compiling(false);
    }
    let mut has_waited = false;
    loop {
        match look(entry.id(), me, patience, has_waited) {
            Found::Noted => return compiling(true),
            Found::Ended => return None,
            Found::Myself => return compiling(false),
            Found::Another(until) => {
                park::reason::set(cx, Reason::Code, until);
                park::park(cx, || {}, until);
                has_waited = true;
            }
        }
    }
}

/// Notes that thread `me` compiles the method if nobody does and it has not waited for who did, or if who does has taken too long; otherwise that it waits.
fn look(entry: u32, me: u32, patience: Patience, has_waited: bool) -> Found {
    let mut all = RUNNING.lock();
    let all = all.get_or_insert_default();
    match all.get_mut(&entry) {
        None if has_waited => Found::Ended,
        None => {
            let running = Running {
                by: me,
                since: Instant::now(),
                waiters: Vec::new(),
            };
            all.insert(entry, running);
            Found::Noted
        }
        Some(running) if running.by == me => Found::Myself,
        Some(running) => {
            let until = (patience == Patience::Limited).then(|| running.since + LONGEST);
            if park::is_over(until) {
                running.by = me;
                running.since = Instant::now();
                return Found::Noted;
            }
            if !running.waiters.contains(&me) {
                running.waiters.push(me);
            }
            Found::Another(until)
        }
    }
}
