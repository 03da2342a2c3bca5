//! Waiting for a descriptor without holding the carrier.
//!
//! # Invariants
//! * A descriptor's number is registered with the reactor when a green thread first waits for it, and stays registered. The runtime does not know of
//!   every `close`, so [`wait`] renews the registration: if the number is another descriptor's now, that is registered in its place.
//! * The thread is in the queue of the registration before that is renewed, so a descriptor that is ready by then wakes it.
//! * A direction of a descriptor is *verified* when a wait has found that it is registered, that it blocks and that no time limit ends its waits.
//!   [`forget`] follows each change of these that the runtime makes or sees. A wait that relies on it ([`Verified::wait`]) makes no system call; it must
//!   end after a while and be followed by one that does not, because others may have changed the descriptor behind the runtime's back.
//! * A wait that relies on it has no renewal to report what came before. So its thread takes the [`Verified`] before it tries its operation.
use super::host::scheduler;
use super::kept::Kept;
use crate::cx::Cx;
use crate::threads::park::{self, Leaves};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use vervet_os::Chunks;
use vervet_os::chunks::Zeroed;
use vervet_sched::reactor::{Direction, Reactor, Registration, Ticket, Waits};

/// What the runtime remembers of a descriptor's number.
#[derive(Default)]
struct Registered {
    /// The registration, packed, plus 1; 0: none.
    registration: AtomicU64,
    /// A bit for each direction that is verified, and above them ([`FORGOTTEN`]) how often it was forgotten.
    verified: AtomicU32,
}
// SAFETY: atomics of zero, which need no drop.
unsafe impl Zeroed for Registered {}

/// One more time that a descriptor was forgotten.
const FORGOTTEN: u32 = 1 << 2;

fn bit(direction: Direction) -> u32 {
    1 << direction as u32
}

static REGISTERED: Chunks<Registered> = Chunks::new();

/// What was remembered of a descriptor before its mode was asked for.
#[derive(Clone, Copy)]
pub(in crate::threads) struct Seen(u32);

/// What is remembered now. What is found out of the descriptor after this may be passed to [`wait`].
pub(in crate::threads) fn seen(fd: i32) -> Option<Seen> {
    let cell = REGISTERED.at(u32::try_from(fd).ok()?);
    Some(Seen(cell.verified.load(Ordering::Acquire)))
}

/// The descriptor's number is given up, is a new descriptor's, or its mode or its time limits have changed: what was found out of it counts no more.
pub fn forget(fd: i32) {
    let Ok(number) = u32::try_from(fd) else {
        return;
    };
    let next = |verified: u32| Some((verified & !(FORGOTTEN - 1)).wrapping_add(FORGOTTEN));
    let _ = REGISTERED
        .at(number)
        .verified
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
}

/// A direction of a descriptor that is verified, and what had happened to it by then.
#[derive(Clone, Copy)]
pub(in crate::threads) struct Verified {
    of: Registration,
    direction: Direction,
    ticket: Ticket,
}

impl Verified {
    /// What a thread takes before it tries. None: the direction is not verified.
    pub(in crate::threads) fn of(fd: i32, direction: Direction) -> Option<Verified> {
        let cell = REGISTERED.at(u32::try_from(fd).ok()?);
        if cell.verified.load(Ordering::Acquire) & bit(direction) == 0 {
            return None;
        }
        let of = Registration::unpack(cell.registration.load(Ordering::Acquire))?;
        let ticket = scheduler().host().reactor()?.ticket(of, direction)?;
        Some(Verified {
            of,
            direction,
            ticket,
        })
    }
    /// Does that still hold, as far as the runtime knows? Not if [`forget`] followed a change since.
    pub(in crate::threads) fn holds(fd: i32, direction: Direction) -> bool {
        let cell = u32::try_from(fd).map(|fd| REGISTERED.at(fd));
        cell.is_ok_and(|c| c.verified.load(Ordering::Acquire) & bit(direction) != 0)
    }
    /// As [`wait`], without a look at the descriptor itself.
    pub(in crate::threads) fn wait(self, cx: &Cx<'_>, kept: Kept) -> Result<bool, Leaves> {
        let Some(reactor) = scheduler().host().reactor() else {
            return Ok(false);
        };
        let id = park::id(cx);
        match reactor.begin_wait(self.of, self.direction, self.ticket, id) {
            Waits::Queued => {}
            Waits::Again => return Ok(true),
            Waits::Closed => return Ok(false),
        }
        park::park_reentrant(cx, || {}, kept.end, kept)?;
        reactor.end_wait(id);
        Ok(true)
    }
}

/// Waits until a descriptor may be ready, the end is over, or somebody unparks the thread, which is a green one. False: it cannot be waited for here. If
/// the thread leaves the native stack, the call that is made again calls [`end_wait`]. `found`: since then the descriptor was found to block without a
/// time limit.
pub(in crate::threads) fn wait(
    cx: &Cx<'_>,
    fd: i32,
    direction: Direction,
    kept: Kept,
    found: Option<Seen>,
) -> Result<bool, Leaves> {
    let Some(reactor) = scheduler().host().reactor() else {
        return Ok(false);
    };
    let Some(of) = registration(reactor, fd) else {
        return Ok(false);
    };
    let id = park::id(cx);
    let waits = reactor
        .ticket(of, direction)
        .map(|ticket| reactor.begin_wait(of, direction, ticket, id));
    match waits {
        Some(Waits::Queued) => {}
        Some(Waits::Again) => return Ok(true),
        Some(Waits::Closed) | None => return Ok(false),
    }
    let looks = reactor.look_again(fd, of).is_ok();
    if looks {
        if let Some(Seen(verified)) = found {
            // (Another thread may have found the other direction to be verified, or have forgotten the descriptor: then the next wait may note it.)
            let _ = REGISTERED.at(fd as u32).verified.compare_exchange(
                verified,
                verified | bit(direction),
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
        park::park_reentrant(cx, || {}, kept.end, kept)?;
    }
    reactor.end_wait(id);
    Ok(looks)
}

/// The calling thread waits no more.
pub(in crate::threads) fn end_wait(cx: &Cx<'_>) {
    if let Some(reactor) = scheduler().host().reactor() {
        reactor.end_wait(park::id(cx));
    }
}

/// The registration of a descriptor. None: the system does not register it.
fn registration(reactor: &Reactor, fd: i32) -> Option<Registration> {
    let cell = REGISTERED.at(u32::try_from(fd).ok()?);
    if let Some(of) = Registration::unpack(cell.registration.load(Ordering::Acquire)) {
        return Some(of);
    }
    // (It takes a moment only; nobody waits without end for what another thread does.)
    for _ in 0..1000 {
        match reactor.add(fd) {
            Ok(made) => {
                let stored = cell.registration.compare_exchange(
                    0,
                    made.pack(),
                    Ordering::AcqRel,
                    Ordering::Acquire,
                );
                return match stored {
                    Ok(_) => Some(made),
                    // Another thread was first. (The kernel knows the descriptor by this one's number until the next look.)
                    Err(first) => Registration::unpack(first),
                };
            }
            // Another thread has just added it, and stores its registration.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if let Some(of) = Registration::unpack(cell.registration.load(Ordering::Acquire)) {
                    return Some(of);
                }
                std::thread::yield_now();
            }
            Err(_) => return None,
        }
    }
    None
}
