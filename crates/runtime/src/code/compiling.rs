//! Which methods are being compiled by threads that call them. Others that call such a method meanwhile wait for its code: a thousand threads that begin
//! with the same method would otherwise compile it a thousand times, each on a carrier of its own.
//!
//! # Invariants
//! * A compile never waits for a thread that waits here for longer than [`LONGEST`]: a compile may raise a resolve event, whose handler may wait for whatever
//!   the waiting thread holds. Then two threads compile the method, and the first to publish its code wins.
//! * Whoever is noted as compiling a method takes the note back, and unparks who waits, whether it has made code or has failed.
use crate::code::entries::Entry;
use crate::cx::Cx;
use crate::threads::park;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};
use vervet_os::LeafLock;

/// How long a thread waits for another one's compile.
const LONGEST: Duration = Duration::from_millis(100);

/// A thread that compiles a method, and those that wait for it.
struct Running {
    by: u32,
    waiters: Vec<u32>,
}

/// By id of the entry.
static RUNNING: LeafLock<Option<FxHashMap<u32, Running>>> = LeafLock::new(None);

/// The calling thread compiles the method of an entry, until this is dropped.
pub(super) struct Compiling {
    /// The entry for which there is a note of this thread's; None: another thread's stands.
    noted: Option<u32>,
}

impl Drop for Compiling {
    fn drop(&mut self) {
        let Some(entry) = self.noted else { return };
        let running = RUNNING.lock().as_mut().and_then(|all| all.remove(&entry));
        let waiters = running.map_or_else(Vec::new, |running| running.waiters);
        waiters.into_iter().for_each(park::unpark);
    }
}

/// What a look at the notes finds.
enum Found {
    Nobody,
    Myself,
    Another,
}

/// The calling thread wants the code of an entry that has none. If another thread compiles it, waits until that has ended, for some time. None: the code may
/// be there now.
pub(super) fn begin(cx: &Cx<'_>, entry: &Entry) -> Option<Compiling> {
    let me = park::id(cx);
    let until = Instant::now() + LONGEST;
    let mut has_waited = false;
    loop {
        match look(entry.id(), me, has_waited) {
            Found::Nobody if has_waited => return None,
            Found::Nobody => {
                return Some(Compiling {
                    noted: Some(entry.id()),
                });
            }
            Found::Another if !park::is_over(Some(until)) => {
                park::park(cx, || {}, Some(until));
                has_waited = true;
            }
            Found::Myself | Found::Another => return Some(Compiling { noted: None }),
        }
    }
}

/// Notes that thread `me` compiles the method if nobody does (and it has not waited for who did), or that it waits.
fn look(entry: u32, me: u32, has_waited: bool) -> Found {
    let mut all = RUNNING.lock();
    let all = all.get_or_insert_default();
    match all.get_mut(&entry) {
        None => {
            if !has_waited {
                let waiters = Vec::new();
                all.insert(entry, Running { by: me, waiters });
            }
            Found::Nobody
        }
        Some(running) if running.by == me => Found::Myself,
        Some(running) => {
            if !running.waiters.contains(&me) {
                running.waiters.push(me);
            }
            Found::Another
        }
    }
}
