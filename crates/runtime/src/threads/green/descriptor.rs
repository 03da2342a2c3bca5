//! Waiting for a descriptor without holding the carrier.
//!
//! # Invariants
//! * A descriptor's number is registered with the reactor when a green thread first waits for it, and stays registered. The runtime does not know of
//!   every `close`, so the registration is renewed at each wait: if the number is another descriptor's now, that is registered in its place.
//! * The thread is in the queue of the registration before that is renewed, so a descriptor that is ready by then wakes it.
use super::host::scheduler;
use super::kept::Kept;
use crate::cx::Cx;
use crate::threads::park::{self, Leaves};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use vervet_os::Chunks;
use vervet_os::chunks::Zeroed;
use vervet_sched::reactor::{Direction, Reactor, Registration, Waits};

/// The registration of a descriptor's number, packed, plus 1; 0: none.
#[derive(Default)]
struct Registered(AtomicU64);
// SAFETY: an atomic of zero, which needs no drop.
unsafe impl Zeroed for Registered {}

static REGISTERED: Chunks<Registered> = Chunks::new();

/// Waits until a descriptor may be ready, the end is over, or somebody unparks the thread, which is a green one. False: it cannot be waited for here. If
/// the thread leaves the native stack, the call that is made again calls [`end_wait`].
pub(in crate::threads) fn wait(
    cx: &Cx<'_>,
    fd: i32,
    direction: Direction,
    kept: Kept,
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
    if let Some(of) = Registration::unpack(cell.0.load(Ordering::Acquire)) {
        return Some(of);
    }
    // (It takes a moment only; nobody waits without end for what another thread does.)
    for _ in 0..1000 {
        match reactor.add(fd) {
            Ok(made) => {
                let stored =
                    cell.0
                        .compare_exchange(0, made.pack(), Ordering::AcqRel, Ordering::Acquire);
                return match stored {
                    Ok(_) => Some(made),
                    // Another thread was first. (The kernel knows the descriptor by this one's number until the next look.)
                    Err(first) => Registration::unpack(first),
                };
            }
            // Another thread has just added it, and stores its registration.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if let Some(of) = Registration::unpack(cell.0.load(Ordering::Acquire)) {
                    return Some(of);
                }
                std::thread::yield_now();
            }
            Err(_) => return None,
        }
    }
    None
}
