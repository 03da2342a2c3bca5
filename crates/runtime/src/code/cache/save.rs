//! From entries in memory to files.
//!
//! ```text
//! add       an entry, when its blob is linked
//! at exit   if compiling what is new took 2 ms or more: less is not worth a write
//! idle      in a process older than a second: after 200 ms in which nothing was linked
//! ```
//!
//! # Invariants
//! * Nothing is written after a crash or an internal error.
//! * An error ends the writing for this process, and nothing else. Another process that writes at the same time is no error.
//! * What waits in memory is bounded.
use super::counts;
use super::modules;
use super::record::Entry;
use super::setting::cache;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use vervet_codecache::shelf::New;
use vervet_os::LeafLock;
use vervet_types::ModuleRef;

/// Most bytes that wait.
const MOST: usize = 16 << 20;
/// What is worth a write: microseconds of compiling.
const WORTH: u64 = 2000;
/// A process that is older writes when it is idle.
const OLD: Duration = Duration::from_secs(1);
/// How long nothing is linked in a process that is idle.
const IDLE: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Waiting {
    entries: Vec<(ModuleRef, New)>,
    bytes: usize,
    /// Microseconds.
    cost: u64,
    /// When the first entry of the process was added, and the last one.
    first: Option<Instant>,
    last: Option<Instant>,
    /// Is there a thread that waits for the process to be idle?
    has_writer: bool,
}

static WAITING: LeafLock<Option<Waiting>> = LeafLock::new(None);
/// Writing has failed.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Adds an entry.
pub(super) fn add(entry: Entry) {
    if HAS_FAILED.load(Relaxed) {
        return;
    }
    let now = Instant::now();
    let mut waiting = WAITING.lock();
    let w = waiting.get_or_insert_default();
    let bytes = entry.new.payload.len() + entry.new.set.len();
    if w.bytes + bytes > MOST {
        return;
    }
    w.bytes += bytes;
    w.cost += u64::from(entry.new.cost);
    w.entries.push((entry.home, entry.new));
    w.last = Some(now);
    let first = *w.first.get_or_insert(now);
    let wants_writer = !w.has_writer && now - first > OLD;
    w.has_writer |= wants_writer;
    drop(waiting);
    if wants_writer {
        let spawned = std::thread::Builder::new()
            .name("code cache".into())
            .spawn(when_idle);
        if spawned.is_err() {
            HAS_FAILED.store(true, Relaxed);
        }
    }
}

/// The thread that waits until nothing is linked any more, writes, and ends.
fn when_idle() {
    loop {
        std::thread::sleep(IDLE / 2);
        let mut waiting = WAITING.lock();
        let w = waiting.get_or_insert_default();
        if w.last.is_some_and(|l| l.elapsed() < IDLE) {
            continue;
        }
        // What is added from now on is the next writer's.
        w.has_writer = false;
        drop(waiting);
        write();
        return;
    }
}

/// The ordinary end of the process. In Native state: it may take some milliseconds.
pub fn at_exit() {
    let is_worth = WAITING.lock().as_ref().is_some_and(|w| w.cost >= WORTH);
    if is_worth {
        write();
    }
}

/// Writes all that waits.
fn write() {
    let Some(shelf) = cache().and_then(|c| c.shelf.as_ref()) else {
        return;
    };
    let entries = match WAITING.lock().as_mut() {
        Some(w) => {
            (w.bytes, w.cost) = (0, 0);
            std::mem::take(&mut w.entries)
        }
        None => return,
    };
    let start = Instant::now();
    let mut homes: Vec<(ModuleRef, Vec<New>)> = Vec::new();
    for (home, new) in entries {
        match homes.iter_mut().find(|h| h.0 == home) {
            Some(h) => h.1.push(new),
            None => homes.push((home, vec![new])),
        }
    }
    // Of a file that was written in place meanwhile nobody knows what was compiled.
    if !crate::runtime::rt().loader.is_unchanged() {
        HAS_FAILED.store(true, Relaxed);
        return;
    }
    for (home, new) in homes {
        let Some(subject) = modules::subject(home) else {
            continue;
        };
        match shelf.add(home.name, &subject, &new) {
            Ok(len) => {
                counts::WRITTEN.fetch_add(len as u64, Relaxed);
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(e) => {
                tracing::debug!("compiled code is not kept: {e}");
                HAS_FAILED.store(true, Relaxed);
                break;
            }
        }
    }
    let elapsed = start.elapsed().as_nanos() as u64;
    counts::WRITE_NS.fetch_add(elapsed, Relaxed);
}
