//! The memory of machine code, and of the slots generated code reaches relative to its own address.
//!
//! # Invariants
//! Code is written through one mapping and runs in another; no page is both. Code addresses given out grow, so
//! a table in order of publication is in order of addresses. The slots lie right behind the code: within the
//! reach of a 32-bit displacement. An arena that is full is an error that becomes OutOfMemoryException.
//! Two processes never share an arena: a forked one gets its own before it runs anything ([`separate`]).
use crate::code::area::Area;
use crate::code::perf;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::lock::LeafGuard;
use vervet_os::{LeafLock, dual};
use vervet_types::LoadError;

static RW: AtomicUsize = AtomicUsize::new(0);
static RX: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// Executable address up to which the writable view's pages were taken out of the page tables.
static UNMAPPED: AtomicUsize = AtomicUsize::new(0);
/// Bytes of code that are written before that is done again. Code is never written twice.
const UNMAP_STEP: usize = 256 << 10;
/// Held while code is placed and published.
static PLACING: LeafLock<()> = LeafLock::new(());
/// Executable addresses.
static CODE: Area = Area::empty();
static SLOTS: Area = Area::empty();

/// Maps the arena. Called once at start-up.
pub fn initialise(code: usize, slots: usize) -> std::io::Result<()> {
    let views = dual::map(code, slots)?;
    dual::mark();
    RW.store(views.writable as usize, Ordering::Release);
    RX.store(views.executable as usize, Ordering::Release);
    SIZE.store(code, Ordering::Release);
    UNMAPPED.store(views.executable as usize, Ordering::Release);
    CODE.set(views.executable as usize, code);
    SLOTS.set(views.tail as usize, slots);
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

/// Code that is to be placed: its alignment, and where it is best placed (`Blob::places`).
#[derive(Clone, Copy)]
pub struct Alignment {
    /// The address is a multiple of this.
    pub bytes: usize,
    /// See [`vervet_jit::Blob::places`].
    pub places: u8,
}
impl From<usize> for Alignment {
    fn from(bytes: usize) -> Alignment {
        Alignment { bytes, places: 0 }
    }
}

/// Places `bytes` (fixed up by `patch`, which gets the bytes and their executable address) and lets `publish`
/// register them before anybody else gets a higher address.
pub fn place<R>(
    bytes: &mut [u8],
    align: impl Into<Alignment>,
    patch: impl FnOnce(&mut [u8], usize),
    publish: impl FnOnce(usize) -> R,
) -> Result<R, LoadError> {
    let _placing = PLACING.lock();
    let align = align.into();
    let rx = CODE
        .take_at(bytes.len(), align.bytes, align.places)
        .ok_or(LoadError::OutOfMemory("machine code"))?;
    patch(bytes, rx);
    // SAFETY: the range [rx, rx + len) was never given out before.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), writable(rx), bytes.len()) };
    unmap_written(rx);
    Ok(publish(rx))
}

/// Takes whole pages below `end` out of the writable view, if they are many. The caller holds [`PLACING`].
fn unmap_written(end: usize) {
    let from = UNMAPPED.load(Ordering::Relaxed);
    let to = end & !4095;
    if to - from >= UNMAP_STEP {
        // SAFETY: whole pages of the writable view, which nobody writes: code goes to growing addresses.
        unsafe { dual::unmap_written(writable(from), to - from) };
        UNMAPPED.store(to, Ordering::Relaxed);
    }
}

/// Keeps other threads from placing code while it lives.
pub fn hold() -> LeafGuard<'static, ()> {
    PLACING.lock()
}

/// Gives the calling process, which was forked, an arena of its own with the code of the other one's.
///
/// # Safety
/// The calling thread is the only one, and forked while it [held](hold) the arena.
pub unsafe fn separate() {
    let (rw, rx) = (RW.load(Ordering::Relaxed), RX.load(Ordering::Relaxed));
    if rx == 0 {
        return;
    }
    // SAFETY: `initialise` made the views; the caller's promise. An error has taken the writable view away: the first method that is compiled here
    // ends this process.
    let _ = unsafe {
        dual::separate(
            rw as *mut u8,
            rx as *mut u8,
            SIZE.load(Ordering::Relaxed),
            used(),
        )
    };
}

/// Bytes of code placed so far.
pub fn used() -> usize {
    CODE.next() - RX.load(Ordering::Relaxed)
}

/// A fresh zeroed 8-byte slot near the code.
pub fn new_slot() -> Result<*mut usize, LoadError> {
    SLOTS
        .take(8, 8)
        .map(|at| at as *mut usize)
        .ok_or(LoadError::OutOfMemory("methods"))
}

/// Places a stub: code that belongs to no method's body and has no frame of its own in the table. `perf` calls it by the name.
pub fn place_stub(mut bytes: Vec<u8>, name: impl FnOnce() -> String) -> Result<usize, LoadError> {
    let at = place(&mut bytes, 16, |_, _| {}, |at| at)?;
    perf::stub(at, bytes.len(), name);
    Ok(at)
}
