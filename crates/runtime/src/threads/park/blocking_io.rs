//! The park layer's door for input and output: every wait for a descriptor goes through [`block_on`].
//!
//! # How it works
//! An operation is tried by a closure, in Native state. On an OS thread the closure makes the blocking system call itself,
//! so that waiting costs what it costs in C; where the call says that it would block, the door waits until the descriptor
//! is ready and lets it try again. (A scheduler of green threads makes every descriptor of the second kind and parks on a
//! reactor instead.)
//!
//! # Invariants
//! * A thread's word (in its waiter) is INSIDE while it is in the door, with CANCEL or REQUEST when it is to come out; above
//!   them it counts the times it was inside, so a wake-up meant for one operation never ends a later one.
//! * All system calls of the closure that may block are made by [`Calls`], which looks at the word without a race
//!   ([`vervet_os::interruptible`]).
//! * A cancelled operation ends with EINTR; a requested one raises what was asked for, or goes on if nothing was. What has
//!   happened before the wake-up is not undone: an operation that got its result keeps it.
//! * A thread that is to come out does, whatever handlers of a library's the signal finds it in: until its word says that it
//!   is out, the driver ([`crate::threads::interrupts`]) sends the signal again and again. One that comes when no other handler is below
//!   finds the thread before its look, between look and call, or in the call, and each of these ends.
//! * Who makes a request makes it visible before it calls [`interrupt_io`], and the door looks for requests after its
//!   word is INSIDE: one of the two sees the other.
use super::{id, waiter};
use crate::cx::{Cx, Result};
use crate::threads::interrupts;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Instant;
use vervet_os::interruptible;

const INSIDE: u32 = 1;
const CANCEL: u32 = 2;
const REQUEST: u32 = 4;
const ROUND: u32 = 8;
const _: () = assert!(CANCEL | REQUEST == interruptible::STOP);

/// What a descriptor is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// Something to receive or accept, or the end.
    Read,
    /// Room to send, or a connection made.
    Write,
}

/// What makes the system calls of an operation.
pub struct Calls<'a>(&'a AtomicU32);

impl Calls<'_> {
    /// Makes a system call that may block; its errno if it fails. EINTR is to be given to the door as the answer.
    ///
    /// # Safety
    /// As the system call; see [`interruptible::call`].
    pub unsafe fn call(
        &self,
        number: i64,
        arguments: [usize; 6],
    ) -> std::result::Result<usize, i32> {
        // SAFETY: passed on.
        unsafe { interruptible::call(self.0, number, arguments) }
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

/// While it lives the calling thread is in the door.
struct Inside<'a>(&'a AtomicU32);
impl<'a> Inside<'a> {
    fn enter(word: &'a AtomicU32) -> Self {
        // Nobody else changes it while it is not INSIDE.
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

/// Makes an operation on a descriptor that may block. `operation` runs in Native state, as often as needed: it gives its
/// answer (or errno), or Pending if the descriptor is to be waited for. ETIMEDOUT if that is not ready by the deadline,
/// EINTR if the operation was cancelled; what another thread asks of this one is served (an abort, a suspension; an interrupt is
/// for waits of the class library's only, as Mono has it).
pub fn block_on<T>(
    cx: &Cx<'_>,
    descriptor: i32,
    interest: Interest,
    deadline: Option<Instant>,
    mut operation: impl FnMut(&Calls<'_>) -> Poll<std::result::Result<T, i32>>,
) -> Result<std::result::Result<T, i32>> {
    let word = &waiter(id(cx)).io;
    loop {
        let inside = Inside::enter(word);
        if interrupts::is_due(cx) {
            // Serving it may run managed code.
            drop(inside);
            interrupts::serve(cx)?;
            continue;
        }
        let answer = cx.native(|| {
            let calls = Calls(word);
            loop {
                match operation(&calls) {
                    Poll::Ready(Err(libc::EINTR)) => {}
                    Poll::Ready(answer) => return Some(answer),
                    Poll::Pending => match await_ready(&calls, descriptor, interest, deadline) {
                        Ok(()) => continue,
                        Err(libc::EINTR) => {}
                        Err(e) => return Some(Err(e)),
                    },
                }
                // Some other signal: it goes on.
                match word.load(Ordering::SeqCst) & (CANCEL | REQUEST) {
                    0 => {}
                    w if w & CANCEL != 0 => return Some(Err(libc::EINTR)),
                    _ => return None,
                }
            }
        });
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
}

fn await_ready(
    calls: &Calls<'_>,
    descriptor: i32,
    interest: Interest,
    deadline: Option<Instant>,
) -> std::result::Result<(), i32> {
    let events = match interest {
        Interest::Read => libc::POLLIN,
        Interest::Write => libc::POLLOUT,
    };
    let mut one = [libc::pollfd {
        fd: descriptor,
        events,
        revents: 0,
    }];
    match calls.poll(&mut one, deadline)? {
        0 => Err(libc::ETIMEDOUT),
        _ => Ok(()),
    }
}

/// Has a thread that is in the door look for requests. Called after they can be seen.
pub fn interrupt_io(id: u32) {
    wake(id, REQUEST);
}
/// Ends the operation that a thread is in, if it is in one, with EINTR. One that has its result keeps it.
pub fn cancel_io(id: u32) {
    wake(id, CANCEL);
}
fn wake(id: u32, why: u32) {
    let word = &waiter(id).io;
    let seen = word.load(Ordering::SeqCst);
    if seen & INSIDE == 0 {
        return;
    }
    // The same operation, or none.
    let add = |w: u32| (w / ROUND == seen / ROUND && w & INSIDE != 0).then_some(w | why);
    if word
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, add)
        .is_ok()
    {
        crate::safepoint::suspend::signal_owner(id);
        interrupts::driver::kick();
    }
}
/// Is a thread in the door that was asked to come out? Its signal may have found it in a handler of somebody's.
pub(crate) fn is_asked(id: u32) -> bool {
    let word = waiter(id).io.load(Ordering::SeqCst);
    word & INSIDE != 0 && word & (CANCEL | REQUEST) != 0
}
