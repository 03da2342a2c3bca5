//! The memory of machine code, and of the slots generated code reaches relative to its own address.
//!
//! # Invariants
//! Code is written through one mapping and runs in another; no page is both. Code addresses given out grow, so
//! a table in order of publication is in order of addresses. The slots lie right behind the code: within the
//! reach of a 32-bit displacement.
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::{LeafLock, memory};

const CODE_SIZE: usize = 512 << 20;
const SLOTS_SIZE: usize = 256 << 20;

static RW: AtomicUsize = AtomicUsize::new(0);
static RX: AtomicUsize = AtomicUsize::new(0);
static USED: LeafLock<usize> = LeafLock::new(0);
static SLOT_NEXT: AtomicUsize = AtomicUsize::new(0);
static SLOT_END: AtomicUsize = AtomicUsize::new(0);

/// Maps the arena. Called once at start-up.
pub fn initialise() -> std::io::Result<()> {
    let (rw, rx, slots) = memory::dual_map_with_tail(CODE_SIZE, SLOTS_SIZE)?;
    RW.store(rw as usize, Ordering::Release);
    RX.store(rx as usize, Ordering::Release);
    SLOT_NEXT.store(slots as usize, Ordering::Release);
    SLOT_END.store(slots as usize + SLOTS_SIZE, Ordering::Release);
    Ok(())
}

/// Does the address lie in the code arena?
#[inline]
pub fn contains(pc: usize) -> bool {
    let rx = RX.load(Ordering::Relaxed);
    pc >= rx && pc < rx + CODE_SIZE
}

/// Where code written at executable address `rx` is to be written.
fn writable(rx: usize) -> *mut u8 {
    (rx - RX.load(Ordering::Relaxed) + RW.load(Ordering::Relaxed)) as *mut u8
}

/// Places `bytes` (fixed up by `patch`, which gets the bytes and their executable address) and lets `publish`
/// register them before anybody else gets a higher address.
pub fn place<R>(
    bytes: &mut [u8],
    align: usize,
    patch: impl FnOnce(&mut [u8], usize),
    publish: impl FnOnce(usize) -> R,
) -> R {
    let mut used = USED.lock();
    let at = (*used + align - 1) & !(align - 1);
    assert!(at + bytes.len() <= CODE_SIZE, "the code arena is full");
    let rx = RX.load(Ordering::Relaxed) + at;
    patch(bytes, rx);
    // SAFETY: the range [at, at + len) was never given out before.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), writable(rx), bytes.len()) };
    *used = at + bytes.len();
    publish(rx)
}

/// Bytes of code placed so far.
pub fn used() -> usize {
    *USED.lock()
}

/// A fresh zeroed 8-byte slot near the code.
pub fn new_slot() -> *mut usize {
    let at = SLOT_NEXT.fetch_add(8, Ordering::Relaxed);
    assert!(
        at < SLOT_END.load(Ordering::Relaxed),
        "the area of slots is full"
    );
    at as *mut usize
}
