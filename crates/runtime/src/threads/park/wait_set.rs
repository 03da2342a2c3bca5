//! Waiting for the first of several descriptors.
//!
//! # How it works
//! On an OS thread the wait is ppoll. A green thread asks poll without waiting, and then waits for one descriptor, which stands for all: the only one of
//! the set, or an epoll of its own, in which the set is registered. An epoll is itself readable when one of its descriptors is ready, so the
//! reactor knows no sets.
//!
//! # Invariants
//! * Whether a descriptor is ready is what poll says at the end, never what woke the thread.
//! * The epoll lives as long as the wait. While the thread has no native stack, its number is in [`Kept`](crate::threads::green::kept::Kept), and the
//!   internal call that is made again closes it.
//! * A set that a green thread waits for is known ([`SETS`]) before the thread's last look, until the wait is over. Whoever closes a
//!   descriptor of it ends the wait ([`closed`]): an epoll forgets what has happened to a descriptor when that is closed. It notes this first, and the thread
//!   looks for the note whenever it has begun to wait (again): one of the two sees the other, whoever has the descriptor's number by then.
//! * A set of one descriptor is waited for in the reactor only if all that the reactor reports of that direction ends the wait; otherwise an event
//!   that stays (bytes to read, for who waits for errors) would wake the thread again and again.
use super::blocking_io::{self, Interest, Limits, Target};
use super::cancel::{self, Operation};
use super::id;
use crate::cx::{Cx, Result};
use crate::threads::green;
use crate::threads::green::kept::Kept;
use crate::threads::green::reentry;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Instant;
use vervet_os::LeafLock;
use vervet_os::epoll::Epoll;

/// Waits until one of the descriptors is as its record says, or the deadline is over: how many are; or errno. EINTR: the wait was cancelled. As for
/// [`blocking_io::block_on`], the thread may leave the native stack in a reentrant call, which makes the same records again.
pub fn poll(
    cx: &Cx<'_>,
    records: &mut [libc::pollfd],
    deadline: Option<Instant>,
) -> Result<std::result::Result<usize, i32>> {
    if !green::is_green(cx) {
        return blocking_io::block_on(cx, Target::none(), |calls| {
            Poll::Ready(calls.poll(records, deadline))
        });
    }
    let resumed = reentry::resumed(cx);
    if resumed.is_none() {
        let ready = look(records);
        if ready > 0 || super::is_over(deadline) {
            return Ok(Ok(ready));
        }
        add(id(cx), records);
    }
    let answer = poll_parked(cx, records, resumed, deadline);
    if !reentry::leaves(cx) {
        remove(id(cx));
    }
    answer
}

/// [`poll`] of a green thread.
fn poll_parked(
    cx: &Cx<'_>,
    records: &mut [libc::pollfd],
    resumed: Option<Kept>,
    deadline: Option<Instant>,
) -> Result<std::result::Result<usize, i32>> {
    // What it noted when it left is the end of the wait, and the epoll's number plus 1.
    let (deadline, noted) = match resumed {
        Some(kept) => (kept.end, blocking_io::done_of(kept)),
        None => (deadline, 0),
    };
    let set = match resumed {
        // SAFETY: the epoll that was noted is this wait's, whose first part gave it up.
        Some(_) => (noted > 0).then(|| unsafe { OwnedFd::from_raw_fd((noted - 1) as i32) }),
        None => needs_epoll(records).then(|| epoll_of(records)).flatten(),
    };
    let target = Target {
        deadline,
        limits: Limits::None,
        is_set: true,
        ..stands_for(records, set.as_ref()).tried()
    };
    let note = Cell::new(set.as_ref().map_or(0, |set| set.as_raw_fd() as u64 + 1));
    let answer = blocking_io::go_on(cx, target, resumed, &note, |calls| {
        if calls.may_wait() {
            return Poll::Ready(calls.poll(records, deadline));
        }
        match look(records) {
            0 => Poll::Pending,
            ready => Poll::Ready(Ok(ready)),
        }
    });
    if reentry::leaves(cx) {
        // The note has it.
        let _ = set.map(OwnedFd::into_raw_fd);
    }
    Ok(match answer? {
        // The time is over, and nothing was ready at the last look.
        Err(libc::ETIMEDOUT) => Ok(0),
        Err(libc::EINTR) => match look_at_the_end(id(cx), records) {
            0 => Err(libc::EINTR),
            ready => Ok(ready),
        },
        answer => answer,
    })
}

/// The sets that green threads wait for.
static SETS: LeafLock<Sets> = LeafLock::new(Sets {
    of_threads: BTreeMap::new(),
    waits: BTreeSet::new(),
});
/// How many sets there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

struct Sets {
    /// By owner id.
    of_threads: BTreeMap<u32, Set>,
    /// Each descriptor of each set, and who waits for it.
    waits: BTreeSet<(i32, u32)>,
}

struct Set {
    descriptors: Vec<i32>,
    /// Those that have been closed since the wait began.
    closed: Vec<i32>,
}

fn add(id: u32, records: &[libc::pollfd]) {
    let descriptors: Vec<i32> = records.iter().map(|record| record.fd).collect();
    let mut sets = SETS.lock();
    sets.waits.extend(descriptors.iter().map(|&fd| (fd, id)));
    let set = Set {
        descriptors,
        closed: Vec::new(),
    };
    sets.of_threads.insert(id, set);
    COUNT.fetch_add(1, Ordering::SeqCst);
}

fn remove(id: u32) {
    let mut sets = SETS.lock();
    if let Some(set) = sets.of_threads.remove(&id) {
        for fd in set.descriptors {
            sets.waits.remove(&(fd, id));
        }
        COUNT.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Has a descriptor of the thread's set been closed since its wait began?
pub(super) fn is_closed(id: u32) -> bool {
    SETS.lock()
        .of_threads
        .get(&id)
        .is_some_and(|set| !set.closed.is_empty())
}

/// The descriptor has been closed: ends the waits for sets that it is in. One that begins meanwhile finds it closed.
pub fn closed(fd: i32) {
    if COUNT.load(Ordering::SeqCst) == 0 {
        return;
    }
    let waits: Vec<(u32, Operation)> = {
        let mut sets = SETS.lock();
        let of_it = sets.waits.range((fd, 0)..=(fd, u32::MAX));
        let ids: Vec<u32> = of_it.map(|wait| wait.1).collect();
        for id in &ids {
            if let Some(set) = sets.of_threads.get_mut(id) {
                set.closed.push(fd);
            }
        }
        // Each of them is in this wait (or between two operations of it): it takes the lock when it leaves.
        let operations = ids.into_iter().map(|id| (id, cancel::operation(id)));
        operations.collect()
    };
    for (id, operation) in waits {
        cancel::cancel(id, operation);
    }
}

/// Which of the descriptors are ready now: how many.
fn look(records: &mut [libc::pollfd]) -> usize {
    // SAFETY: the records live for the length of the call, which does not wait.
    let ready = unsafe { libc::poll(records.as_mut_ptr(), records.len() as libc::nfds_t, 0) };
    usize::try_from(ready).unwrap_or(0)
}

/// [`look`], when the wait has been cancelled: those that were closed meanwhile count as ready, as they did between shutdown and close, whatever
/// has their number now.
fn look_at_the_end(id: u32, records: &mut [libc::pollfd]) -> usize {
    look(records);
    let sets = SETS.lock();
    let closed = sets.of_threads.get(&id).map_or(&[][..], |set| &set.closed);
    for record in records
        .iter_mut()
        .filter(|record| closed.contains(&record.fd))
    {
        record.revents = record.events & (libc::POLLIN | libc::POLLOUT) | libc::POLLHUP;
    }
    records.iter().filter(|record| record.revents != 0).count()
}

/// Is the set other than one descriptor that is to be read or to be written?
fn needs_epoll(records: &[libc::pollfd]) -> bool {
    let simple = |record: &libc::pollfd| matches!(record.events, libc::POLLIN | libc::POLLOUT);
    !matches!(records, [one] if simple(one))
}

/// What a green thread waits for in place of the set.
fn stands_for(records: &[libc::pollfd], set: Option<&OwnedFd>) -> Target {
    match (set, records) {
        (Some(set), _) => Target::new(set.as_raw_fd(), Interest::Read),
        (None, [one]) if !needs_epoll(records) => match one.events {
            libc::POLLOUT => Target::new(one.fd, Interest::Write),
            _ => Target::new(one.fd, Interest::Read),
        },
        // There was no descriptor for an epoll: the thread waits on its carrier.
        (None, _) => Target::none(),
    }
}

/// An epoll with all of the descriptors. None: the system has none to give, or cannot wait for one of them so.
fn epoll_of(records: &[libc::pollfd]) -> Option<OwnedFd> {
    let epoll = Epoll::new().ok()?;
    let mut wanted: Vec<(i32, u32)> = records
        .iter()
        // A negative number is one that poll does not look at.
        .filter(|record| record.fd >= 0)
        .map(|record| {
            // The bits are the same. Errors are always reported.
            let events = (record.events & (libc::POLLIN | libc::POLLOUT)) as u32;
            (record.fd, events)
        })
        .collect();
    wanted.sort_unstable();
    // A descriptor can be in several lists, and in an epoll once.
    wanted.dedup_by(|again, first| {
        let same = again.0 == first.0;
        if same {
            first.1 |= again.1;
        }
        same
    });
    for (fd, events) in wanted {
        epoll.add(fd, events, 0).ok()?;
    }
    Some(epoll.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn record(fd: i32, events: i16) -> libc::pollfd {
        libc::pollfd {
            fd,
            events,
            revents: 0,
        }
    }

    #[test]
    fn an_epoll_is_readable_when_one_of_its_descriptors_is_as_wanted() {
        let (a, mut a2) = UnixStream::pair().unwrap();
        let (b, b2) = UnixStream::pair().unwrap();
        let (a, b) = (a.as_raw_fd(), b.as_raw_fd());
        let errors = libc::POLLERR | libc::POLLHUP;
        let records = [
            record(a, libc::POLLIN),
            record(-1, libc::POLLIN),
            record(b, errors),
            record(a, errors),
        ];
        let set = epoll_of(&records).unwrap();
        let is_ready = || blocking_io::is_ready(set.as_raw_fd(), Interest::Read);
        assert!(!is_ready());
        a2.write_all(b"x").unwrap();
        assert!(is_ready());
        let set = epoll_of(&records[2..3]).unwrap();
        let is_ready = || blocking_io::is_ready(set.as_raw_fd(), Interest::Read);
        assert!(!is_ready(), "it is not to be written");
        drop(b2);
        assert!(is_ready(), "the other side is gone");
    }

    #[test]
    fn only_one_descriptor_of_one_direction_needs_no_epoll() {
        assert!(!needs_epoll(&[record(3, libc::POLLIN)]));
        assert!(!needs_epoll(&[record(3, libc::POLLOUT)]));
        assert!(needs_epoll(&[record(3, libc::POLLERR)]));
        assert!(needs_epoll(&[record(3, libc::POLLIN | libc::POLLOUT)]));
        assert!(needs_epoll(&[
            record(3, libc::POLLIN),
            record(3, libc::POLLIN)
        ]));
        assert!(needs_epoll(&[]));
    }
}
