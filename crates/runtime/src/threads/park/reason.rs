//! Why a thread waits: what reports say of it.
//!
//! # Invariants
//! * A thread stores its reason before it parks, and [`park`](super::park) clears it at its end; who stores one and does not park clears it, as does
//!   the end of an operation on a descriptor. A reason says something only of a thread
//!   whose park word is not TOKEN, or, for a descriptor, whose I/O word says that it is inside an operation.
//! * An address of an object in a reason is valid while the thread waits and the world is stopped: the waiting code has the reference on
//!   its stack, so the object is neither freed nor moved.
//! * A reason costs three stores into the waiter, whose cache line the park writes anyway.
use super::waiter::{INSIDE, Waiter, waiter};
use crate::cx::Cx;
use crate::profiler::sampling::off_cpu;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use vervet_abi::ThreadContext;
use vervet_os::{Published, clock};
use vervet_parking::Seen;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// None was given.
    Unknown,
    /// The monitor of the object at that address.
    Monitor(usize),
    /// A pulse of that monitor.
    Pulse(usize),
    /// One wait handle or all of them; the first handle, and how many there are.
    Handles {
        /// The value of the first handle.
        first: usize,
        /// How many there are.
        count: u8,
        /// All of them, not one.
        all: bool,
    },
    /// The end of a time.
    Sleep,
    /// The end of the thread whose `ThreadLifetime` lies at that address.
    Join(usize),
    /// A descriptor, and whether to write.
    Descriptor(i32, bool),
    /// The end of the class constructor that another thread runs; the address of the VTable.
    Constructor(usize),
    /// A thread that resumes this one.
    Suspended,
    /// A callback for a worker of the pool, or another wait of the runtime's own threads.
    Work,
    /// The end of the foreground threads.
    Foreground,
    /// A helper thread that makes a call for this one.
    Helper,
    /// Another thread that compiles the method which this one calls.
    Code,
}

impl Reason {
    /// What threads do in waits of that [kind](Reason::kind), for a recording.
    pub(crate) fn name_of_kind(kind: u8) -> &'static str {
        match kind {
            1 => "[waits for a monitor]",
            2 => "[waits for a pulse]",
            3 => "[waits for a handle]",
            4 => "[sleeps]",
            5 => "[joins a thread]",
            6 => "[waits for a descriptor]",
            7 => "[waits for a class constructor]",
            8 => "[is suspended]",
            off_cpu::NO_WORK => "[waits for work]",
            10 => "[waits for the foreground]",
            11 => "[waits for a helper]",
            12 => "[waits for code]",
            _ => "[waits]",
        }
    }
    /// A number for each kind of wait.
    pub(crate) fn kind(self) -> u8 {
        (self.pack() >> KIND) as u8
    }
}

/// A reason in a word: the kind in the highest byte, a small number below it, and an address of 48 bits.
#[derive(Debug)]
struct Packed(u64);

const NUMBER: u32 = 48;
const KIND: u32 = 56;
const ALL: u64 = 0x80;

impl Packed {
    fn new(kind: u64, number: u64, address: usize) -> Packed {
        debug_assert!(number < 256 && address >> NUMBER == 0);
        Packed(kind << KIND | number << NUMBER | address as u64)
    }
}

impl Reason {
    fn pack(self) -> u64 {
        let packed = match self {
            Reason::Unknown => Packed::new(0, 0, 0),
            Reason::Monitor(object) => Packed::new(1, 0, object),
            Reason::Pulse(object) => Packed::new(2, 0, object),
            Reason::Handles { first, count, all } => {
                let count = u64::from(count.min(0x7f)) | if all { ALL } else { 0 };
                Packed::new(3, count, first & ((1 << NUMBER) - 1))
            }
            Reason::Sleep => Packed::new(4, 0, 0),
            Reason::Join(lifetime) => Packed::new(5, 0, lifetime),
            Reason::Descriptor(fd, writes) => Packed::new(6, u64::from(writes), fd as u32 as usize),
            Reason::Constructor(vtable) => Packed::new(7, 0, vtable),
            Reason::Suspended => Packed::new(8, 0, 0),
            Reason::Work => Packed::new(off_cpu::NO_WORK.into(), 0, 0),
            Reason::Foreground => Packed::new(10, 0, 0),
            Reason::Helper => Packed::new(11, 0, 0),
            Reason::Code => Packed::new(12, 0, 0),
        };
        packed.0
    }
    fn unpack(word: u64) -> Reason {
        let number = word >> NUMBER & 0xff;
        let address = (word & ((1 << NUMBER) - 1)) as usize;
        match word >> KIND {
            1 => Reason::Monitor(address),
            2 => Reason::Pulse(address),
            3 => Reason::Handles {
                first: address,
                count: (number & !ALL) as u8,
                all: number & ALL != 0,
            },
            4 => Reason::Sleep,
            5 => Reason::Join(address),
            6 => Reason::Descriptor(address as u32 as i32, number != 0),
            7 => Reason::Constructor(address),
            8 => Reason::Suspended,
            9 => Reason::Work,
            10 => Reason::Foreground,
            11 => Reason::Helper,
            12 => Reason::Code,
            _ => Reason::Unknown,
        }
    }
}

/// The calling thread is about to wait for that, until the deadline.
#[inline]
pub fn set(cx: &Cx<'_>, reason: Reason, deadline: Option<Instant>) {
    let w = waiter(super::id(cx));
    w.why.store(reason.pack(), Relaxed);
    w.until.store(deadline.map_or(0, nanoseconds), Relaxed);
}

/// The calling thread does not wait after all.
pub(crate) fn forget(cx: &Cx<'_>) {
    clear(waiter(super::id(cx)));
}

/// The kind of a waiter's reason.
pub(super) fn kind_of(waiter: &Waiter) -> u8 {
    (waiter.why.load(Relaxed) >> KIND) as u8
}

/// The kind of the reason of the thread with that context.
///
/// # Safety
/// The context is the calling thread's.
pub(crate) unsafe fn own_kind(context: *mut ThreadContext) -> u8 {
    // SAFETY: the caller's promise.
    kind_of(waiter(unsafe { (*context).owner_id }))
}

/// The thread goes on.
#[inline]
pub(super) fn clear(waiter: &Waiter) {
    waiter.why.store(0, Relaxed);
}

/// A moment in nanoseconds of [`clock::now`], at least 1. Only the first call reads a clock.
fn nanoseconds(at: Instant) -> u64 {
    static SAME: Published<(Instant, u64)> = Published::new();
    let (instant, ns) = *SAME
        .get()
        .unwrap_or_else(|| SAME.put((Instant::now(), clock::now())));
    let ns = match at.checked_duration_since(instant) {
        Some(later) => ns.saturating_add(later.as_nanos() as u64),
        None => ns.saturating_sub(instant.duration_since(at).as_nanos() as u64),
    };
    ns.max(1)
}

/// A wait, as another thread sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// What is waited for.
    pub reason: Reason,
    /// The end in nanoseconds of [`clock::now`]; 0: none.
    pub until: u64,
}

/// What the thread with that owner id waits for; None: it waits for nothing, or has been made ready. Whoever relies on the answer, or looks at an object that it
/// names, has stopped the world, so that the thread does not begin or end a wait; it may still be unparked.
pub(crate) fn of(id: u32) -> Option<Wait> {
    let w = waiter(id);
    let wait = Wait {
        reason: Reason::unpack(w.why.load(Relaxed)),
        until: w.until.load(Relaxed),
    };
    let in_io = w.io.load(Relaxed) & INSIDE != 0;
    let waits = match w.word.seen() {
        Seen::Parked => true,
        // It makes its wait known, or its carrier is about to say that it sleeps.
        Seen::Running => match wait.reason {
            Reason::Unknown => false,
            Reason::Descriptor(..) => in_io,
            _ => true,
        },
        Seen::Unparked => false,
    };
    waits.then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_packed_reason_is_the_same() {
        let all = [
            Reason::Unknown,
            Reason::Monitor(0x7fff_1234_5678),
            Reason::Pulse(8),
            Reason::Handles {
                first: 0x1000_0010,
                count: 64,
                all: true,
            },
            Reason::Handles {
                first: 0x1000_0000,
                count: 1,
                all: false,
            },
            Reason::Sleep,
            Reason::Join(0x5555_0000_1110),
            Reason::Descriptor(77, true),
            Reason::Descriptor(-1, false),
            Reason::Constructor(16),
            Reason::Suspended,
            Reason::Work,
            Reason::Foreground,
            Reason::Helper,
            Reason::Code,
        ];
        for reason in all {
            assert_eq!(Reason::unpack(reason.pack()), reason);
        }
    }

    #[test]
    fn a_deadline_is_in_nanoseconds_of_the_clock() {
        let (now, instant) = (clock::now(), Instant::now());
        let later = nanoseconds(instant + Duration::from_secs(5));
        let off = later.abs_diff(now + 5_000_000_000);
        assert!(off < 1_000_000_000, "{off} ns");
        assert!(nanoseconds(instant) <= later - 5_000_000_000);
    }
}
