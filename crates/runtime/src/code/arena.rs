//! The memory of machine code, and of the slots generated code reaches relative to its own address.
//!
//! # Invariants
//! Code is written through one mapping and runs in another; no page is both. Code addresses given out grow, so
//! a table in order of publication is in order of addresses. The slots lie right behind the code: within the
//! reach of a 32-bit displacement.
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::{LeafLock, dual};

static RW: AtomicUsize = AtomicUsize::new(0);
static RX: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);
static USED: LeafLock<usize> = LeafLock::new(0);
static SLOT_NEXT: AtomicUsize = AtomicUsize::new(0);
static SLOT_END: AtomicUsize = AtomicUsize::new(0);

/// Maps the arena. Called once at start-up.
pub fn initialise(code: usize, slots: usize) -> std::io::Result<()> {
    let views = dual::map(code, slots)?;
    RW.store(views.writable as usize, Ordering::Release);
    RX.store(views.executable as usize, Ordering::Release);
    SIZE.store(code, Ordering::Release);
    SLOT_NEXT.store(views.tail as usize, Ordering::Release);
    SLOT_END.store(views.tail as usize + slots, Ordering::Release);
    Ok(())
}

/// Does the address lie in the code arena?
#[inline]
pub fn contains(pc: usize) -> bool {
    let rx = RX.load(Ordering::Relaxed);
    pc >= rx && pc < rx + SIZE.load(Ordering::Relaxed)
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
    assert!(
        at + bytes.len() <= SIZE.load(Ordering::Relaxed),
        "the code arena is full"
    );
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
