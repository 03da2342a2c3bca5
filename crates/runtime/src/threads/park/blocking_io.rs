//! Blocking I/O: every wait for a descriptor goes through [`block_on`].
//!
//! # How it works
//! An operation is tried by a closure, in Native state. On an OS thread the closure makes the blocking system call itself,
//! so that waiting costs what it costs in C; where the call says that it would block, [`block_on`] waits until the descriptor
//! is ready and tries again. A green thread tries the operation without waiting where that can be done (`can_try`), or asks first whether the
//! descriptor is ready, and parks until it is. What was only asked for may block after all (the data went to another thread): then the carrier's
//! processor goes to another carrier.
//!
//! What a green thread finds out of a socket when it waits is remembered (`green::descriptor`), so that most waits make no system call. Such a wait lasts for
//! [`RECHECK`] at most; then the thread looks anew. So what others change behind the runtime's back is seen with that delay.
//!
//! An operation of several steps (a message that is sent in parts) notes in [`Calls::done`] how far it is. The note outlives the native stack.
//!
//! # Invariants
//! * The I/O word of the thread's waiter says whether it is inside an operation, and whether it is to leave it. `waiter.rs` has the table
//!   of its bits.
//! * All system calls of the closure that may block are made by [`Calls`], which tests the word without a race
//!   ([`vervet_os::interruptible`]).
//! * A cancelled operation ends with EINTR. A requested one raises what was asked for, or goes on if nothing was. What has
//!   happened before the wake-up is not undone: an operation that got its result keeps it.
//! * A thread that is asked to leave does, whatever handlers of a library the signal finds it in: until its word says that it
//!   is out, the retry thread ([`crate::threads::retry_thread`]) repeats the signal. A signal that comes when no other handler is below
//!   finds the thread before its test of the word, between test and call, or in the call, and each of these ends.
//! * The requester makes its request visible before it calls `interrupt_io`, and [`block_on`] looks for requests after the
//!   word is INSIDE: one of the two sees the other.
use super::reason::{self, Reason};
use super::waiter::{CANCEL, INSIDE, REQUEST, ROUND, Waiter, waiter};
use super::{Leaves, id, is_over, wait_set};
use crate::cx::{Cx, Result, Throw};
use crate::threads::green::descriptor::Verified;
pub use crate::threads::green::descriptor::forget;
use crate::threads::green::kept::Kept;
use crate::threads::green::reentry;
use crate::threads::{green, interrupts};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use vervet_os::interruptible;
use vervet_sched::reactor::Direction;

/// What a descriptor is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// Something to receive or accept, or the end.
    Read,
    /// Room to send, or a connection made.
    Write,
}

/// What makes the system calls of an operation.
pub struct Calls<'a> {
    word: &'a AtomicU32,
    may_wait: bool,
    done: &'a Cell<u64>,
}

impl Calls<'_> {
    /// May a call wait? If not, and it would, the operation says Pending.
    pub fn may_wait(&self) -> bool {
        self.may_wait
    }
    /// How far the operation is, as it has noted itself; 0 at first.
    pub fn done(&self) -> u64 {
        self.done.get()
    }
    /// Notes how far the operation is: less than 2^56.
    pub fn set_done(&self, done: u64) {
        debug_assert!(done < 1 << (u64::BITS - DONE));
        self.done.set(done);
    }
    /// Makes a system call that may block; its errno if it fails. The closure returns EINTR to [`block_on`] as its answer.
    ///
    /// # Safety
    /// As the system call; see [`interruptible::call`].
    pub unsafe fn call(
        &self,
        number: i64,
        arguments: [usize; 6],
    ) -> std::result::Result<usize, i32> {
        // SAFETY: the caller answers for the system call; the word lives as long as the process.
        unsafe { interruptible::call(self.word, number, arguments) }
    }
    /// Waits until one of the descriptors is as its record says, or the deadline has passed (0).
    pub fn poll(
        &self,
        descriptors: &mut [libc::pollfd],
        deadline: Option<Instant>,
    ) -> std::result::Result<usize, i32> {
        let time = deadline.map(|d| {
            let left = d.saturating_duration_since(Instant::now());
            libc::timespec {
                tv_sec: left.as_secs().min(i64::MAX as u64) as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            }
        });
        // The kernel writes what is left into it.
        let mut time = time;
        let time = time
            .as_mut()
            .map_or(std::ptr::null_mut(), std::ptr::from_mut);
        let (at, count) = (descriptors.as_mut_ptr() as usize, descriptors.len());
        // SAFETY: the records and the time live for the length of the call.
        unsafe { self.call(libc::SYS_ppoll, [at, count, time as usize, 0, 0, 0]) }
    }
}

/// While it lives the calling thread is inside an operation.
struct Inside<'a>(&'a Waiter);
impl<'a> Inside<'a> {
    fn enter(waiter: &'a Waiter) -> Self {
        let word = &waiter.io;
        // No other thread changes the word while INSIDE is not set, so a load and a store are enough.
        let round = word.load(Ordering::Relaxed);
        debug_assert!(round & INSIDE == 0, "an operation inside of an operation");
        word.store(round | INSIDE, Ordering::SeqCst);
        Inside(waiter)
    }
}
impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let change = |w: u32| Some((w & !(INSIDE | CANCEL | REQUEST)).wrapping_add(ROUND));
        reason::clear(self.0);
        let _ = self
            .0
            .io
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
    }
}

/// What of the descriptor itself limits a green thread's wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limits {
    /// In non-blocking mode it is not waited for; and a socket's time limit ends the wait.
    Own,
    /// A socket's time limit. The program wants to wait, whatever the mode is.
    Time,
    /// Nothing.
    None,
}

/// What an operation waits for.
#[derive(Clone, Copy)]
pub struct Target {
    /// The descriptor; -1: none that a green thread could wait for.
    pub descriptor: i32,
    /// What it is to be ready for.
    pub interest: Interest,
    /// When the operation ends with ETIMEDOUT.
    pub deadline: Option<Instant>,
    /// The operation asks [`Calls::may_wait`], and says Pending rather than wait.
    pub can_try: bool,
    /// What else ends the wait of a green thread.
    pub limits: Limits,
    /// The descriptor is a socket, whose numbers the class library gives out and closes: waits may rely on what earlier ones have found.
    pub may_rely: bool,
    /// It stands for a set of descriptors, of which each ends the operation when it is closed ([`wait_set`]).
    pub is_set: bool,
}

impl Target {
    /// A descriptor that is waited for as its mode and its time limit say.
    pub fn new(descriptor: i32, interest: Interest) -> Target {
        Target {
            descriptor,
            interest,
            deadline: None,
            can_try: false,
            limits: Limits::Own,
            may_rely: false,
            is_set: false,
        }
    }
    /// What is not waited for, but by the operation's own calls.
    pub fn none() -> Target {
        Target::new(-1, Interest::Read)
    }
    /// The operation asks [`Calls::may_wait`].
    pub fn tried(self) -> Target {
        Target {
            can_try: true,
            ..self
        }
    }
    /// Waits may rely on what earlier ones have found.
    pub fn relying(self) -> Target {
        Target {
            may_rely: true,
            ..self
        }
    }
    /// With other limits.
    pub fn with_limits(self, limits: Limits) -> Target {
        Target { limits, ..self }
    }
}

/// How far a thread that leaves the native stack is: the lowest byte is the errno of a wait that is over, the rest [`Calls::done`].
const DONE: u32 = 8;
/// Instead of an errno: the wait relies on what was verified of the descriptor, and its end is that of this reliance.
const RELIES: u64 = 0;
/// For how long a wait may rely on what was verified of a descriptor.
const RECHECK: Duration = Duration::from_secs(1);

/// Makes an operation on a descriptor that may block. `operation` runs in Native state, as often as needed: it gives its
/// answer (or errno), or Pending if the descriptor is to be waited for. ETIMEDOUT if that is not ready by the deadline,
/// EINTR if the operation was cancelled; what another thread asks of this one is served (an abort, a suspension; an interrupt is
/// for waits of the class library's only, as Mono has it).
///
/// In a reentrant internal call the thread may leave the native stack: then the caller returns the error at once, and calls again.
pub fn block_on<T>(
    cx: &Cx<'_>,
    target: Target,
    operation: impl FnMut(&Calls<'_>) -> Poll<std::result::Result<T, i32>>,
) -> Result<std::result::Result<T, i32>> {
    block_on_noting(cx, target, &Cell::new(0), operation)
}

/// As [`block_on`]; how far the operation is, is in `done`, also if it ended with an error.
pub fn block_on_noting<T>(
    cx: &Cx<'_>,
    target: Target,
    done: &Cell<u64>,
    operation: impl FnMut(&Calls<'_>) -> Poll<std::result::Result<T, i32>>,
) -> Result<std::result::Result<T, i32>> {
    go_on(cx, target, reentry::resumed(cx), done, operation)
}

/// What [`Calls::done`] was when the thread left the native stack.
pub(super) fn done_of(kept: Kept) -> u64 {
    kept.note >> DONE
}

/// As [`block_on_noting`], for a caller that has asked how the internal call [begins](reentry::resumed).
pub(super) fn go_on<T>(
    cx: &Cx<'_>,
    target: Target,
    resumed: Option<Kept>,
    done: &Cell<u64>,
    mut operation: impl FnMut(&Calls<'_>) -> Poll<std::result::Result<T, i32>>,
) -> Result<std::result::Result<T, i32>> {
    let me = waiter(id(cx));
    let word = &me.io;
    if let Some(kept) = resumed {
        done.set(done_of(kept));
    }
    let mut wait = Wait::new(target, resumed, done);
    let mut parks = green::is_green(cx) && target.descriptor >= 0;
    // An operation that can be tried says itself whether the descriptor is ready.
    let mut waits_first = !target.can_try || wait.was_parked;
    loop {
        let inside = match wait.was_parked {
            true => Inside(me),
            false => Inside::enter(me),
        };
        if !wait.was_parked && interrupts::is_due(cx) {
            // Serving it may run managed code.
            drop(inside);
            interrupts::serve(cx)?;
            continue;
        }
        // (A thread that was parked has been inside since it looked for that.)
        if target.is_set && !wait.was_parked && wait_set::is_closed(id(cx)) {
            return Ok(Err(libc::EINTR));
        }
        let is_write = target.interest == Interest::Write;
        reason::set(
            cx,
            Reason::Descriptor(target.descriptor, is_write),
            target.deadline,
        );
        if parks && waits_first {
            match wait.until_ready(cx, word) {
                Ready::Perhaps => {}
                Ready::Ended(error) => return Ok(Err(error)),
                Ready::Asked => continue,
                Ready::CannotPark => parks = false,
                Ready::Leaves => {
                    // The thread is inside until the call is made again.
                    std::mem::forget(inside);
                    return Err(Throw(()));
                }
            }
        }
        let waited = std::mem::replace(&mut waits_first, true);
        if parks {
            wait.take_verified();
        }
        let mut would_wait = false;
        let calls = Calls {
            word,
            may_wait: !(parks && target.can_try),
            done,
        };
        let answer = cx.native(|| {
            loop {
                match operation(&calls) {
                    Poll::Ready(Err(libc::EINTR)) => {}
                    Poll::Ready(answer) => return Some(answer),
                    // A green thread waits above.
                    Poll::Pending if parks => {
                        would_wait = true;
                        return None;
                    }
                    Poll::Pending => match await_ready(&calls, &target) {
                        Ok(()) => continue,
                        Err(libc::EINTR) => {}
                        Err(e) => return Some(Err(e)),
                    },
                }
                // Some other signal: it goes on.
                match asked(word) {
                    Asked::Nothing => {}
                    Asked::ToEnd => return Some(Err(libc::EINTR)),
                    Asked::ToLook => return None,
                }
            }
        });
        if let Some(answer) = answer {
            return Ok(answer);
        }
        // It counts as ready and is not: there is room in a Unix datagram socket, but not in the one that is sent to. Waits would end at once for ever, so the call waits itself.
        if would_wait && waited && is_ready(target.descriptor, target.interest) {
            parks = false;
        }
    }
}

/// What others ask of a thread inside an operation.
enum Asked {
    Nothing,
    /// To end the operation.
    ToEnd,
    /// To look for interrupt requests.
    ToLook,
}

fn asked(word: &AtomicU32) -> Asked {
    match word.load(Ordering::SeqCst) & (CANCEL | REQUEST) {
        0 => Asked::Nothing,
        w if w & CANCEL != 0 => Asked::ToEnd,
        _ => Asked::ToLook,
    }
}

/// A green thread's waiting for a descriptor.
struct Wait<'a> {
    target: Target,
    done: &'a Cell<u64>,
    /// What ends it, once known.
    until: Option<Until>,
    /// The thread comes from a park in which it left the native stack.
    was_parked: bool,
    /// What the next wait may rely on, taken before the operation is tried.
    verified: Option<Verified>,
    /// Until when waits may rely on what was verified; None: there was no such wait.
    relies: Option<Instant>,
}

/// How [`Wait::until_ready`] ends.
enum Ready {
    /// The operation is to be tried.
    Perhaps,
    /// The operation has ended with that errno.
    Ended(i32),
    /// The thread is asked to look for interrupt requests.
    Asked,
    /// This cannot be waited for here: the operation blocks.
    CannotPark,
    /// The thread leaves the native stack.
    Leaves,
}

impl<'a> Wait<'a> {
    fn new(target: Target, resumed: Option<Kept>, done: &'a Cell<u64>) -> Wait<'a> {
        let mut wait = Wait {
            target,
            done,
            until: None,
            was_parked: resumed.is_some(),
            verified: None,
            relies: None,
        };
        if let Some(kept) = resumed {
            match kept.note & ((1 << DONE) - 1) {
                RELIES => wait.relies = kept.end,
                error => wait.until = Some(Until::Deadline(kept.end, error as i32)),
            }
        }
        wait
    }
    fn direction(&self) -> Direction {
        match self.target.interest {
            Interest::Read => Direction::Read,
            Interest::Write => Direction::Write,
        }
    }
    /// The operation is going to be tried: takes what the wait after it may rely on.
    fn take_verified(&mut self) {
        let Target {
            can_try,
            limits,
            deadline,
            may_rely,
            ..
        } = self.target;
        // A wait that had to look, or that relied on it for too long, goes on by what it finds.
        let may_rely = may_rely
            && can_try
            && limits == Limits::Own
            && deadline.is_none()
            && self.until.is_none()
            && !self.relies.is_some_and(|end| is_over(Some(end)));
        self.verified = match may_rely {
            true => Verified::of(self.target.descriptor, self.direction()),
            false => None,
        };
    }
    fn keep(&self, end: Option<Instant>, error: u64) -> Kept {
        Kept {
            end,
            note: error | self.done.get() << DONE,
        }
    }
    fn until_ready(&mut self, cx: &Cx<'_>, word: &AtomicU32) -> Ready {
        let Target {
            descriptor,
            interest,
            deadline,
            can_try,
            limits,
            may_rely,
            ..
        } = self.target;
        let direction = self.direction();
        let mut was_parked = std::mem::take(&mut self.was_parked);
        if was_parked {
            green::descriptor::end_wait(cx);
        }
        loop {
            match asked(word) {
                Asked::ToEnd => return Ready::Ended(libc::EINTR),
                Asked::ToLook => return Ready::Asked,
                Asked::Nothing if was_parked && can_try => return Ready::Perhaps,
                Asked::Nothing => {}
            }
            if let Some(verified) = self.verified.take() {
                let end = *self.relies.get_or_insert_with(|| Instant::now() + RECHECK);
                match verified.wait(cx, self.keep(Some(end), RELIES)) {
                    Ok(true) => was_parked = true,
                    // It is closed: the look below says more.
                    Ok(false) => {}
                    Err(Leaves) => return Ready::Leaves,
                }
                continue;
            }
            let seen = green::descriptor::seen(descriptor);
            if !can_try && is_ready(descriptor, interest) {
                return Ready::Perhaps;
            }
            let looked = self.until.is_none();
            let until = *self.until.get_or_insert_with(|| {
                // A wait that relied began without limits, and goes on so if the program has set one since. What native code has changed counts.
                match self.relies.is_some() && !Verified::holds(descriptor, direction) {
                    true => Until::Deadline(None, libc::ETIMEDOUT),
                    false => Until::of(descriptor, interest, deadline, limits),
                }
            });
            let Until::Deadline(end, error) = until else {
                return Ready::CannotPark;
            };
            if is_over(end) {
                return Ready::Ended(error);
            }
            // (Without a limit of its own and of the caller's.)
            let found =
                seen.filter(|_| looked && may_rely && limits == Limits::Own && end.is_none());
            let kept = self.keep(end, error as u64);
            match green::descriptor::wait(cx, descriptor, direction, kept, found) {
                Ok(true) => was_parked = true,
                Ok(false) => return Ready::CannotPark,
                Err(Leaves) => return Ready::Leaves,
            }
        }
    }
}

/// How long a green thread waits for a descriptor that is not ready.
#[derive(Clone, Copy)]
enum Until {
    /// Not at all: it is in non-blocking mode, and the operation says so.
    Never,
    /// Until then, and what the operation ends with if it is over.
    Deadline(Option<Instant>, i32),
}

impl Until {
    /// A socket's own time limit ends the operation as it ends a blocking call.
    fn of(descriptor: i32, interest: Interest, deadline: Option<Instant>, limits: Limits) -> Until {
        if limits == Limits::Own && is_non_blocking(descriptor) {
            return Until::Never;
        }
        let own = match limits {
            Limits::None => None,
            Limits::Own | Limits::Time => time_limit(descriptor, interest),
        };
        let own = own.map(|limit| Instant::now() + limit);
        match (own, deadline) {
            (Some(own), None) => Until::Deadline(Some(own), libc::EAGAIN),
            (Some(own), Some(given)) if own < given => Until::Deadline(Some(own), libc::EAGAIN),
            _ => Until::Deadline(deadline, libc::ETIMEDOUT),
        }
    }
}

/// Is the descriptor in non-blocking mode?
pub fn is_non_blocking(descriptor: i32) -> bool {
    // SAFETY: the command takes numbers only; a number that is no descriptor is an error.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags & libc::O_NONBLOCK != 0
}

/// The time limit of a socket for this direction, if it has one.
pub fn time_limit(descriptor: i32, interest: Interest) -> Option<Duration> {
    let option = match interest {
        Interest::Read => libc::SO_RCVTIMEO,
        Interest::Write => libc::SO_SNDTIMEO,
    };
    let mut time = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut size = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: the record is filled; what is no socket is an error.
    let error = unsafe {
        libc::getsockopt(
            descriptor,
            libc::SOL_SOCKET,
            option,
            (&raw mut time).cast(),
            &mut size,
        )
    };
    let limit =
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64);
    (error == 0 && !limit.is_zero()).then_some(limit)
}

/// Is the descriptor ready now, or broken? An error says that the operation will tell more.
pub fn is_ready(descriptor: i32, interest: Interest) -> bool {
    let mut one = [record(descriptor, interest)];
    // SAFETY: the record lives for the length of the call, which does not wait.
    unsafe { libc::poll(one.as_mut_ptr(), 1, 0) != 0 }
}

fn record(descriptor: i32, interest: Interest) -> libc::pollfd {
    let events = match interest {
        Interest::Read => libc::POLLIN,
        Interest::Write => libc::POLLOUT,
    };
    libc::pollfd {
        fd: descriptor,
        events,
        revents: 0,
    }
}

fn await_ready(calls: &Calls<'_>, target: &Target) -> std::result::Result<(), i32> {
    let mut one = [record(target.descriptor, target.interest)];
    match calls.poll(&mut one, target.deadline)? {
        0 => Err(libc::ETIMEDOUT),
        _ => Ok(()),
    }
}
