//! The sampler: a thread that samples all others by real time.
//!
//! # How it works
//! | the thread is in state | what the sampler does |
//! |---|---|
//! | Managed, Runtime, or Native and runs | queues a signal to it, whose handler takes the sample |
//! | Native, and does not run | walks it from its innermost exit record, without a signal: the thread is not woken, and its system calls go on |
//! | Native, and has not run since | repeats the stack that it found then |
//! | Foreign, and hardly runs | notes a sample without frames: its system calls go on |
//! | Foreign, and runs | queues a signal to it |
//!
//! A thread that was asked and has not run since is not asked again; the periods that have
//! passed are the weight of the sample that it takes then.
//!
//! # Invariants
//! * Threads are looked at under the lock of their list: a thread that is on it exists.
//! * A stack of a thread that may run meanwhile is read by the kernel ([`Other`]), so that
//!   memory which is gone is an error and no fault. What was read counts only if the thread has not
//!   run meanwhile: what its words say then is no proof, since it may have been elsewhere and come back.
//! * The sampler is not attached, and takes no signals.
//! * While the process is forked the sampler holds no lock: [`pause`] waits until it looks at
//!   nobody, and it looks at nobody while somebody forks.
use super::follow::{ANYWHERE, Follow};
use super::lane::{self, Lane};
use super::signal::{SI_TIMER, green_id};
use super::walk::{Memory, Walked, walk};
use super::{FRAMES, PERIOD, RUNS, timers};
use crate::safepoint::registry::{self, Thread};
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::State;
use vervet_os::clock;
use vervet_profiler::sample::{FRAMELESS, FrameWord, IN_NATIVE, MOST_FRAMES, Sample};

/// Counts starts and stops: a sampler runs as long as the number is its own.
static ROUND: AtomicU32 = AtomicU32::new(0);
/// Periods after which a thread that has not answered is asked again.
const PATIENCE: u32 = 64;

/// How many threads are about to fork the process.
static PAUSED: AtomicU32 = AtomicU32::new(0);
/// How many samplers hold the lock of the list of threads, or are about to look whether they may: one that was stopped may still be in its last period beside
/// the next one.
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// The calling thread is about to fork the process: the sampler, which the new process does not
/// have, must not hold a lock meanwhile. [`go_on`] follows.
pub(super) fn pause() {
    PAUSED.fetch_add(1, Ordering::SeqCst);
    while LOOKS.load(Ordering::SeqCst) != 0 {
        std::thread::yield_now();
    }
}

/// The process was forked.
pub(super) fn go_on() {
    PAUSED.fetch_sub(1, Ordering::SeqCst);
}

/// The calling process was forked.
pub(super) fn has_forked() {
    PAUSED.store(0, Ordering::SeqCst);
    LOOKS.store(0, Ordering::SeqCst);
    stop();
}

/// Starts the sampler.
pub(super) fn start() -> io::Result<()> {
    let round = ROUND.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
    vervet_os::thread::spawn_detached(256 << 10, move || run(round))
}

/// The sampler ends after its next period.
pub(super) fn stop() {
    ROUND.fetch_add(1, Ordering::SeqCst);
}

fn run(round: u32) {
    // SAFETY: a set of this frame; a name that ends.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NAME, c"sampler".as_ptr());
    }
    let period = u64::from(PERIOD.load(Ordering::SeqCst));
    let mut follow = Follow::new();
    let mut due = clock::now() + period;
    let goes_on = || ROUND.load(Ordering::SeqCst) == round && RUNS.load(Ordering::SeqCst);
    while goes_on() {
        let at = libc::timespec {
            tv_sec: (due / 1_000_000_000) as i64,
            tv_nsec: (due % 1_000_000_000) as i64,
        };
        // SAFETY: a record of this frame.
        unsafe {
            let flags = libc::TIMER_ABSTIME;
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, flags, &at, std::ptr::null_mut());
        }
        let late = clock::now().saturating_sub(due) / period;
        let ticks = 1 + late;
        due += ticks * period;
        LOOKS.fetch_add(1, Ordering::SeqCst);
        // Where the first two threads run that were asked.
        let (mut asked, mut count) = ([ANYWHERE; 2], 0);
        if PAUSED.load(Ordering::SeqCst) == 0 {
            registry::visit(|thread| {
                if goes_on()
                    && let Some(processor) = look_at(thread, ticks as u32)
                    && count < asked.len()
                {
                    asked[count] = processor;
                    count += 1;
                }
            });
        }
        LOOKS.fetch_sub(1, Ordering::SeqCst);
        follow.period(asked[..count].iter().copied());
    }
}

/// Samples a thread of the list, for so many periods. If it is asked, because it runs or could, the processor on which it was last.
fn look_at(thread: &Thread, ticks: u32) -> Option<i32> {
    let sampled = &thread.sampled;
    let lane = sampled.lane()?;
    if !sampled.is_open.load(Ordering::SeqCst) {
        return None;
    }
    let context = thread.context();
    // SAFETY: contexts are never freed.
    let state = unsafe { registry::state(context) }.load(Ordering::Acquire);
    if state == State::Native as u8 {
        if look_from_outside(thread, lane, context, ticks) {
            return None;
        }
    } else if state == State::Foreign as u8 {
        if waits_in_host(thread, lane, context, ticks) {
            return None;
        }
    } else if state == State::Parked as u8 || state == State::Detached as u8 {
        return None;
    }
    let before = lane.asked.fetch_add(ticks, Ordering::Relaxed);
    if before == 0 || before / PATIENCE != (before + ticks) / PATIENCE {
        ask(thread);
    }
    Some(lane.processor.load(Ordering::Relaxed))
}

/// Queues the signal to a thread.
fn ask(thread: &Thread) {
    let tid = thread.tid.load(Ordering::Relaxed);
    /// The parts of the kernel's record that count here.
    #[repr(C)]
    struct Info {
        signal: i32,
        errno: i32,
        code: i32,
        _align: i32,
        timer: i32,
        overruns: i32,
        value: usize,
        _rest: [usize; 12],
    }
    const _: () = assert!(size_of::<Info>() == size_of::<libc::siginfo_t>());
    // SAFETY: a complete record.
    unsafe {
        let info = Info {
            signal: libc::SIGPROF,
            errno: 0,
            code: SI_TIMER,
            _align: 0,
            timer: 0,
            overruns: 0,
            value: std::ptr::from_ref(thread) as usize,
            _rest: [0; 12],
        };
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            libc::getpid(),
            tid,
            libc::SIGPROF,
            &raw const info,
        );
    }
}

/// Samples a thread in Native state without a signal; false: it is there no more.
fn look_from_outside(
    thread: &Thread,
    lane: &Lane,
    context: *mut ThreadContext,
    ticks: u32,
) -> bool {
    // SAFETY: the sampler's alone.
    let last = unsafe { &mut *lane.last.get() };
    let tid = thread.tid.load(Ordering::Relaxed);
    let Some(ran) = time_of(tid) else {
        return true;
    };
    if last.context != context || last.ran != ran || ran == 0 {
        let mut frames = [FrameWord(0); MOST_FRAMES];
        let room = FRAMES.load(Ordering::Relaxed).min(MOST_FRAMES);
        // SAFETY: contexts are never freed.
        let record = || unsafe { (&raw const (*context).record).read_volatile() };
        let before = record();
        // SAFETY: contexts are never freed; the memory is the kernel's to check.
        let walked = unsafe { walk(context, &Other::new(), None, &mut frames[..room]) };
        // SAFETY: contexts are never freed.
        let state = unsafe { registry::state(context) }.load(Ordering::Acquire);
        let stayed = state == State::Native as u8
            && record() == before
            && thread.context() == context
            && walked.flags & FRAMELESS == 0
            // The same record can be another one at the same place.
            && time_of(tid) == Some(ran);
        if !stayed {
            last.context = std::ptr::null_mut();
            return false;
        }
        let Walked { count, flags } = walked;
        (last.context, last.count, last.flags) = (context, count, flags);
        (last.frames, last.ran) = (frames, ran);
    }
    let sample = Sample {
        time_ns: clock::now(),
        thread: tid as u64,
        ip: 0,
        weight: ticks,
        flags: last.flags,
        // SAFETY: contexts are never freed.
        green: unsafe { green_id(context) },
        frames: &last.frames[..last.count],
    };
    lane::put(&lane.seen, &sample);
    true
}

/// A thread in a host's code that hardly runs: it is not asked, because a system call with a time limit would begin its time anew each period, and might
/// never end. Its sample has no frames. False: it runs.
///
/// The handler of the signal is all that such a thread runs if it was asked, so a little time counts for nothing.
fn waits_in_host(thread: &Thread, lane: &Lane, context: *mut ThreadContext, ticks: u32) -> bool {
    /// Nanoseconds that the handler and what is around it may take.
    const HANDLER: u64 = 100_000;
    // SAFETY: the sampler's alone.
    let last = unsafe { &mut *lane.last.get() };
    let tid = thread.tid.load(Ordering::Relaxed);
    let Some(ran) = time_of(tid) else {
        return true;
    };
    let period = u64::from(ticks) * u64::from(PERIOD.load(Ordering::Relaxed));
    let little = HANDLER.min(period / 8);
    let waits = last.host == context && ran.saturating_sub(last.host_ran) <= little;
    (last.host, last.host_ran) = (context, ran);
    if waits {
        let sample = Sample {
            time_ns: clock::now(),
            thread: tid as u64,
            ip: 0,
            weight: ticks,
            flags: FRAMELESS | IN_NATIVE,
            // SAFETY: contexts are never freed.
            green: unsafe { green_id(context) },
            frames: &[],
        };
        lane::put(&lane.seen, &sample);
    }
    waits
}

/// Nanoseconds that a thread has run; None: there is no such thread.
fn time_of(tid: i32) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a record of this frame.
    let failed = unsafe { libc::clock_gettime(timers::clock_of(tid), &mut time) };
    (failed == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The memory of a thread that may run: read by the kernel, some words at a time.
struct Other {
    from: Cell<usize>,
    count: Cell<usize>,
    words: Cell<[usize; Other::WORDS]>,
    pid: i32,
}

impl Other {
    const WORDS: usize = 64;
    fn new() -> Other {
        Other {
            from: Cell::new(0),
            count: Cell::new(0),
            words: Cell::new([0; Other::WORDS]),
            // SAFETY: a plain query.
            pid: unsafe { libc::getpid() },
        }
    }
}

impl Memory for Other {
    fn word(&self, at: usize) -> Option<usize> {
        if !at.is_multiple_of(8) {
            return None;
        }
        let have = |at: usize| {
            let i = at.wrapping_sub(self.from.get()) / 8;
            (i < self.count.get()).then(|| self.words.as_array_of_cells()[i].get())
        };
        if let Some(word) = have(at) {
            return Some(word);
        }
        // Up to the end of the page: what lies behind it may be gone.
        let bytes = (4096 - at % 4096).min(Other::WORDS * 8);
        let local = libc::iovec {
            iov_base: self.words.as_ptr().cast(),
            iov_len: bytes,
        };
        let remote = libc::iovec {
            iov_base: at as *mut libc::c_void,
            iov_len: bytes,
        };
        // SAFETY: the kernel writes into the words, and checks the address that is read.
        let read = unsafe { libc::process_vm_readv(self.pid, &local, 1, &remote, 1, 0) };
        self.from.set(at);
        self.count.set(read.max(0) as usize / 8);
        have(at)
    }
}
