//! From entries in memory to files.
//!
//! ```text
//! add       an entry, when its blob is linked
//! at exit   if compiling what is new took 2 ms or more: less is not worth a write
//! much      the background compiler, between two methods, if what waits takes 8 MiB: a program that is busy for long compiles more than may wait
//! idle      the background compiler has had nothing to do for a while ([`crate::code::background`]). Without one: a thread of its own, which the first
//!           entry starts
//! ```
//!
//! # Invariants
//! * What is worth it is written some time, however the process goes on: servers end by a signal.
//! * Nothing is written after a crash or an internal error.
//! * An error ends the writing for this process, and nothing else. Another process that writes at the same time is no error.
//! * What waits in memory is bounded, and so is the time that a process waits at its end for its own thread that writes.
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
/// So many bytes are written as soon as somebody may take the time.
const MUCH: usize = 8 << 20;
/// What is worth a write: microseconds of compiling.
const WORTH: u64 = 2000;
/// How often a thread that has nothing else to do looks whether the process is idle.
const IDLE: Duration = Duration::from_secs(2);
/// How long the end of the process waits for a thread that writes.
const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Waiting {
    entries: Vec<(ModuleRef, New)>,
    bytes: usize,
    /// Microseconds.
    cost: u64,
    /// How many entries were ever added.
    added: u64,
    /// There is a thread that writes when the process is idle.
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
    let mut waiting = WAITING.lock();
    let w = waiting.get_or_insert_default();
    let bytes = entry.new.payload.len() + entry.new.set.len();
    if w.bytes + bytes > MOST {
        return;
    }
    w.bytes += bytes;
    let before = w.cost;
    w.cost += u64::from(entry.new.cost);
    w.entries.push((entry.home, entry.new));
    w.added += 1;
    let is_now_worth = before < WORTH && w.cost >= WORTH;
    drop(waiting);
    if is_now_worth && !crate::code::background::watch_for_idleness() {
        begin_writer();
    }
}

/// Whether enough waits to be worth a write.
pub fn has_new() -> bool {
    let is_worth = |w: &Waiting| w.cost >= WORTH;
    cache().is_some() && !HAS_FAILED.load(Relaxed) && WAITING.lock().as_ref().is_some_and(is_worth)
}

/// Whether so much waits that it should be written before the process is idle.
pub fn has_much() -> bool {
    let is_much = WAITING.lock().as_ref().is_some_and(|w| w.bytes >= MUCH);
    is_much && has_new()
}

/// Starts the thread that writes in a process without a background compiler, once.
fn begin_writer() {
    let mut waiting = WAITING.lock();
    let had_writer = std::mem::replace(&mut waiting.get_or_insert_default().has_writer, true);
    drop(waiting);
    if !had_writer {
        let spawned = std::thread::Builder::new()
            .name("code cache".into())
            .spawn(write_when_idle);
        if spawned.is_err() {
            HAS_FAILED.store(true, Relaxed);
        }
    }
}

/// The thread of a process without a background compiler: writes whenever nothing was added for a while.
fn write_when_idle() {
    let mut before = 0;
    loop {
        std::thread::sleep(IDLE);
        let added = WAITING.lock().as_ref().map_or(0, |w| w.added);
        if added == before || has_much() {
            when_idle();
        }
        before = added;
    }
}

/// The process is idle. On a thread that may take its time.
pub fn when_idle() {
    if has_new() {
        write();
    }
}

/// The ordinary end of the process. In Native state: it may take some milliseconds.
pub fn at_exit() {
    let start = Instant::now();
    while vervet_codecache::trust::is_busy() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    when_idle();
}

/// What waits, for who writes it himself.
pub(super) fn take() -> Vec<(ModuleRef, New)> {
    let waiting = WAITING.lock().take();
    waiting.map(|w| w.entries).unwrap_or_default()
}

/// Entries by the file that they go to.
pub(super) fn by_home(entries: Vec<(ModuleRef, New)>) -> Vec<(ModuleRef, Vec<New>)> {
    let mut homes: Vec<(ModuleRef, Vec<New>)> = Vec::new();
    for (home, new) in entries {
        match homes.iter_mut().find(|h| h.0 == home) {
            Some(h) => h.1.push(new),
            None => homes.push((home, vec![new])),
        }
    }
    homes
}

/// Writes all that waits.
fn write() {
    let Some(place) = cache().and_then(|c| c.own()) else {
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
    // Of a file that was written in place meanwhile nobody knows what was compiled. And a program that has limited its memory gets all of it.
    let is_unchanged =
        crate::runtime::rt().root.loader.is_unchanged() && modules::are_contents_same();
    if !is_unchanged || super::setting::is_memory_limited() {
        HAS_FAILED.store(true, Relaxed);
        return;
    }
    for (home, new) in by_home(entries) {
        let Some(subject) = modules::subject(home, place.telling) else {
            continue;
        };
        match place.shelf.add(home.name, &subject, &new) {
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
