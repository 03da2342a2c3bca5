//! Blocking I/O: every wait for a descriptor goes through [`block_on`].
//!
//! # How it works
//! An operation is tried by a closure, in Native state. On an OS thread the closure makes the blocking system call itself,
//! so that waiting costs what it costs in C; where the call says that it would block, [`block_on`] waits until the descriptor
//! is ready and tries again. A green thread asks first whether the descriptor is ready, or tries the operation without waiting where that can be
//! done, and parks until it is; so the call that follows does not block. If it does after all (the data went to another thread, or there
//! is room for a part only), the carrier's processor goes to another carrier.
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
use super::waiter::{CANCEL, INSIDE, REQUEST, ROUND, waiter};
use super::{Leaves, id, is_over};
use crate::cx::{Cx, Result, Throw};
use crate::threads::green::kept::Kept;
use crate::threads::green::reentry;
use crate::threads::{green, interrupts};
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
}

impl Calls<'_> {
    /// May a call wait? If not, and it would, the operation says Pending.
    pub fn may_wait(&self) -> bool {
        self.may_wait
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
struct Inside<'a>(&'a AtomicU32);
impl<'a> Inside<'a> {
    fn enter(word: &'a AtomicU32) -> Self {
        // No other thread changes the word while INSIDE is not set, so a load and a store are enough.
        let round = word.load(Ordering::Relaxed);
        debug_assert!(round & INSIDE == 0, "an operation inside of an operation");
        word.store(round | INSIDE, Ordering::SeqCst);
        Inside(word)
    }
}
impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let change = |w: u32| Some((w & !(INSIDE | CANCEL | REQUEST)).wrapping_add(ROUND));
        let _ = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
    }
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
}

/// Makes an operation on a descriptor that may block. `operation` runs in Native state, as often as needed: it gives its
/// answer (or errno), or Pending if the descriptor is to be waited for. ETIMEDOUT if that is not ready by the deadline,
/// EINTR if the operation was cancelled; what another thread asks of this one is served (an abort, a suspension; an interrupt is
/// for waits of the class library's only, as Mono has it).
///
/// In a reentrant internal call the thread may leave the native stack: then the caller returns the error at once, and calls again.
pub fn block_on<T>(
    cx: &Cx<'_>,
    target: Target,
    mut operation: impl FnMut(&Calls<'_>) -> Poll<std::result::Result<T, i32>>,
) -> Result<std::result::Result<T, i32>> {
    let word = &waiter(id(cx)).io;
    let resumed = reentry::resumed(cx);
    let mut wait = Wait {
        until: resumed.map(|kept| Until::Deadline(kept.end, kept.note as i32)),
        was_parked: resumed.is_some(),
        target,
    };
    let mut parks = green::is_green(cx) && target.descriptor >= 0;
    // An operation that can be tried says itself whether the descriptor is ready.
    let mut waits_first = !target.can_try || wait.was_parked;
    loop {
        let inside = match wait.was_parked {
            true => Inside(word),
            false => Inside::enter(word),
        };
        if !wait.was_parked && interrupts::is_due(cx) {
            // Serving it may run managed code.
            drop(inside);
            interrupts::serve(cx)?;
            continue;
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
        waits_first = true;
        let calls = Calls {
            word,
            may_wait: !(parks && target.can_try),
        };
        let answer = cx.native(|| {
            loop {
                match operation(&calls) {
                    Poll::Ready(Err(libc::EINTR)) => {}
                    Poll::Ready(answer) => return Some(answer),
                    // A green thread waits above.
                    Poll::Pending if parks => return None,
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
struct Wait {
    target: Target,
    /// What ends it, once known.
    until: Option<Until>,
    /// The thread comes from a park in which it left the native stack.
    was_parked: bool,
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

impl Wait {
    fn until_ready(&mut self, cx: &Cx<'_>, word: &AtomicU32) -> Ready {
        let Target {
            descriptor,
            interest,
            deadline,
            can_try,
        } = self.target;
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
            if !can_try && is_ready(descriptor, interest) {
                return Ready::Perhaps;
            }
            let until = *self
                .until
                .get_or_insert_with(|| Until::of(descriptor, interest, deadline));
            let Until::Deadline(end, error) = until else {
                return Ready::CannotPark;
            };
            if is_over(end) {
                return Ready::Ended(error);
            }
            let direction = match interest {
                Interest::Read => Direction::Read,
                Interest::Write => Direction::Write,
            };
            let kept = Kept {
                end,
                note: error as u64,
            };
            match green::descriptor::wait(cx, descriptor, direction, kept) {
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
    fn of(descriptor: i32, interest: Interest, deadline: Option<Instant>) -> Until {
        if is_non_blocking(descriptor) {
            return Until::Never;
        }
        let own = time_limit(descriptor, interest).map(|limit| Instant::now() + limit);
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
fn is_ready(descriptor: i32, interest: Interest) -> bool {
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
