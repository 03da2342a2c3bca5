//! Whether events are recorded, which, and the way of an event to the writer. Everything in the runtime may depend on this.
//!
//! ```text
//!   IDLE ── begin_start ──> STARTING ── enable ──> RUNNING ── stop ──> STOPPING ── the writer's end ──> IDLE
//!                              └─ Starting is dropped: IDLE
//! ```
//!
//! # Invariants
//! * One writer at a time takes from the transport and the samples: whoever starts one has brought the phase from IDLE to STARTING, and it is IDLE
//!   again only when that writer has ended, however long that takes.
//! * Who ends a recording waits for the writer's end, whoever else does so at the same time: the end of the process waits for a stop that is under way.
//! * With no recording, a hook is a load of [`ENABLED`] and a branch.
//! * The transport is there before an event is enabled, and stays.
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use vervet_os::lock::LeafGuard;
use vervet_os::{LeafLock, Published};
use vervet_profiler::options::Options;
pub use vervet_profiler::options::sets::JIT;
use vervet_profiler::record::{Kind, text_words};
use vervet_profiler::stream::Transport;
use vervet_profiler::writer::Recording;

/// Events that every recording has: threads, assemblies, VTables, methods.
pub const ANY: u32 = 1 << 31;
/// Every call and return.
pub const CALLS: u32 = 1 << 30;
/// An allocation every so many bytes.
pub const ALLOCATION_SAMPLES: u32 = 1 << 29;
/// How long the end of a recording waits for a writer that writes nothing and whose output is no command that runs.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a thread that has stopped the world waits for a writer that makes no progress.
const PATIENCE_IN_STOP: Duration = Duration::from_millis(200);

/// The events that are recorded now: bits of [`vervet_profiler::options::sets`], and [`ANY`].
static ENABLED: AtomicU32 = AtomicU32::new(0);
/// The sets of events that were chosen: as [`ENABLED`], but the end of the recording leaves it as it is.
static CHOSEN: AtomicU32 = AtomicU32::new(0);
/// The recording is that of the process which forked this one.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Frames of a backtrace.
static MAX_FRAMES: AtomicU32 = AtomicU32::new(0);
/// Calls that lie deeper are not recorded.
static CALL_DEPTH: AtomicU32 = AtomicU32::new(0);
/// Bytes between two sampled allocations, on average.
static ALLOCATION_PERIOD: AtomicU64 = AtomicU64::new(0);
/// Nothing is recorded, and there is no writer.
const IDLE: u32 = 0;
/// A thread starts a recording: a writer may be there.
const STARTING: u32 = 1;
/// Events are recorded.
const RUNNING: u32 = 2;
/// The recording was ended; the writer writes the rest.
const STOPPING: u32 = 3;
static PHASE: AtomicU32 = AtomicU32::new(IDLE);
static TRANSPORT: Published<Transport> = Published::new();
/// The last recording; it stays here when it has ended.
static RECORDING: LeafLock<Option<Recording>> = LeafLock::new(None);
/// Runs its argument in Native state.
static NATIVE: Published<fn(&mut dyn FnMut())> = Published::new();

/// Ends what was started beside the recording.
static AT_STOP: Published<fn()> = Published::new();

/// Is one of these sets of events recorded?
#[inline(always)]
pub fn is_on(events: u32) -> bool {
    ENABLED.load(Ordering::Relaxed) & events != 0
}
/// Frames of a backtrace; 0: none is recorded.
pub fn max_frames() -> u32 {
    MAX_FRAMES.load(Ordering::Relaxed)
}
/// Calls that lie deeper are not recorded.
pub fn call_depth() -> u32 {
    CALL_DEPTH.load(Ordering::Relaxed)
}
/// Bytes between two sampled allocations, on average.
pub(super) fn allocation_period() -> u64 {
    ALLOCATION_PERIOD.load(Ordering::Relaxed)
}
fn transport() -> &'static Transport {
    TRANSPORT.get().expect("made before an event is enabled")
}
/// The transport, made if need be. The error is a sentence for the user.
pub(crate) fn make_transport() -> Result<&'static Transport, String> {
    TRANSPORT
        .get_or_try(Transport::reserve)
        .map_err(|e| format!("cannot reserve memory for the profiler's events: {e}"))
}
/// While it lives, the calling thread is the one that starts a recording.
pub(super) struct Starting(());

/// The calling thread wants to start a recording. The error is a sentence for the user.
pub(super) fn begin_start() -> Result<Starting, String> {
    if FORKED.load(Ordering::Acquire) {
        return Err("the process was forked from one that is recorded".into());
    }
    match PHASE.compare_exchange(IDLE, STARTING, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(Starting(())),
        Err(STOPPING) => Err("the last recording is still being written".into()),
        Err(_) => Err("a recording is under way".into()),
    }
}
impl Drop for Starting {
    fn drop(&mut self) {
        PHASE.store(IDLE, Ordering::Release);
    }
}
/// The writer has ended.
pub(super) fn writer_ended() {
    PHASE.store(IDLE, Ordering::Release);
}

/// A recording was started: from now on events are recorded. `native` runs its argument in Native state, `at_stop` ends what was started beside
/// the recording; both are the same each time.
pub(super) fn enable(
    starting: Starting,
    recording: Recording,
    options: &Options,
    native: fn(&mut dyn FnMut()),
    at_stop: fn(),
) {
    NATIVE.put(native);
    AT_STOP.put(at_stop);
    MAX_FRAMES.store(options.max_frames, Ordering::Relaxed);
    *RECORDING.lock() = Some(recording);
    CALL_DEPTH.store(options.call_depth, Ordering::Relaxed);
    let period = options.allocation_period.unwrap_or(0);
    ALLOCATION_PERIOD.store(period, Ordering::Relaxed);
    let mut more = if options.calls { CALLS } else { 0 };
    if period != 0 {
        more |= ALLOCATION_SAMPLES;
    }
    CHOSEN.store(options.events, Ordering::Relaxed);
    // The writer gives the phase back.
    std::mem::forget(starting);
    PHASE.store(RUNNING, Ordering::Release);
    ENABLED.store(options.events | more | ANY, Ordering::Release);
}
/// The sets of events that were chosen when the recording started and since.
pub fn chosen() -> u32 {
    CHOSEN.load(Ordering::Relaxed)
}
/// Switches sets of events on or off. Nothing happens when nothing is recorded any more.
pub(super) fn switch(events: u32, on: bool) {
    let apply = |all: u32| match on {
        true => all | events,
        false => all & !events,
    };
    let _ = CHOSEN.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |all| Some(apply(all)));
    let _ = ENABLED.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |all| {
        (all & ANY != 0).then(|| apply(all))
    });
}
/// Sets how many frames a backtrace has.
pub(super) fn set_max_frames(frames: u32) {
    MAX_FRAMES.store(frames, Ordering::Relaxed);
}
/// Sets how deep calls are recorded.
pub(super) fn set_call_depth(depth: u32) {
    CALL_DEPTH.store(depth, Ordering::Relaxed);
}
/// Is a recording under way?
pub fn is_recording() -> bool {
    FORKED.load(Ordering::Acquire) || PHASE.load(Ordering::Acquire) == RUNNING
}

/// A stub was made, which the table of code does not have. (It is the writer's event, whoever makes the stub.)
pub(crate) fn stub_made(at: usize, bytes: usize, name: &str) {
    push(
        Kind::Stub,
        0,
        0,
        [&[at as u64, bytes as u64], &text_words(name)],
    );
}
/// Pushes a record of the thread that the file calls `thread`.
pub(super) fn push(kind: Kind, extra: u32, thread: u64, payload: [&[u64]; 2]) {
    transport().push(kind, extra, thread, payload);
}
/// If the writer has much to do, waits while it makes progress. The calling thread has stopped the world, so the writer may wait for a thread that is
/// stopped.
pub(super) fn pace() {
    if transport().is_crowded() {
        transport().wait_while_room_is_made(PATIENCE_IN_STOP);
    }
}
/// Waits in Native state until the writer has made room, if it has much to do. The calling thread is in Runtime state and holds no lock.
#[inline]
pub(super) fn wait_for_room() {
    if transport().is_crowded() {
        let mut wait = || transport().wait_for_room(|| !is_on(ANY));
        match NATIVE.get() {
            Some(native) => native(&mut wait),
            None => wait(),
        }
    }
}

/// While it lives, no recording begins or ends.
pub(crate) struct Held {
    _recording: LeafGuard<'static, Option<Recording>>,
}

/// The calling thread is about to fork the process.
pub(crate) fn hold() -> Held {
    Held {
        _recording: RECORDING.lock(),
    }
}

/// The calling process was forked: the writer is not there. Nothing is recorded, and nobody waits. (It takes no lock: a thread that is not there any more may
/// hold it.)
pub(crate) fn has_forked() {
    ENABLED.store(0, Ordering::Release);
    let had_writer = PHASE.load(Ordering::Acquire) != IDLE;
    FORKED.fetch_or(had_writer, Ordering::AcqRel);
}

/// Ends the recording, if there is one, and waits until it is written, for a while. False: it is still being written. The calling thread is in Native state, or ends the
/// process.
pub fn stop() -> bool {
    ENABLED.store(0, Ordering::Release);
    if FORKED.load(Ordering::Acquire) {
        return true;
    }
    let (from, to) = (Ordering::AcqRel, Ordering::Acquire);
    let ends = PHASE.compare_exchange(RUNNING, STOPPING, from, to).is_ok();
    if ends && let Some(at_stop) = AT_STOP.get() {
        at_stop();
    }
    // Another thread may have ended it, and wait as well.
    let recording = RECORDING.lock().clone();
    let is_written = recording.is_none_or(|recording| recording.stop(PATIENCE));
    if !is_written {
        eprintln!(
            "vervet: the recording is not written to its end: nothing was written for {PATIENCE:?}"
        );
    }
    is_written
}
