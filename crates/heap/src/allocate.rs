//! Allocation: what mutators call when generated code has not found space in the thread's TLAB.
//!
//! ```text
//!   generated code: next + size <= end?  -- yes --> bump, done
//!         | no
//!   allocate: larger than SMALL? -- yes --> allocate_large: blocks of its own
//!         | no
//!   refill: a piece of the nursery? -- yes --> the TLAB is that piece
//!         | no: collect, and the collecting thread takes its piece before the world runs again
//! ```
//!
//! # Invariants
//! * A TLAB changes only by its own thread, or while that thread is stopped.
//! * A piece of young memory is zeroed and has its `start` bit before the TLAB's `next` and `end` name it: the collector may stop the thread
//!   between any two steps, and walks the nursery by `start` bits and headers.
use crate::Heap;
use crate::collect::Tracing;
use crate::minor::nursery;
use crate::model::{Model, Tlab, World};
use std::sync::atomic::Ordering::*;
use vervet_os::perturb;

/// Objects larger than this are large objects. A bit more than 8 KiB: an array of 8,192 bytes, which is what buffers of programs are, is none, so
/// that it does not take a block of 64 KiB.
pub const SMALL: usize = (8 << 10) + 64;

impl<M: Model, W: World> Heap<M, W> {
    /// Memory for an object of `size` bytes (header included, any number), zeroed but for its header. None: the heap is
    /// full. The thread is one of the world's and can be stopped here; `tlab` is its tlab.
    pub fn allocate(&self, tlab: &Tlab, size: usize, header: u64) -> Option<usize> {
        let size = size.checked_add(7)? & !7;
        if self.config.debug.collect_every > 0 {
            self.count_down();
        }
        if size > SMALL {
            let at = self.allocate_large(size, header)?;
            tlab.taken.set(tlab.taken.get() + size);
            return Some(at);
        }
        if tlab.remaining() < size {
            self.refill(tlab, size)?;
        }
        let at = tlab.next.get();
        // SAFETY: the tlab is this thread's; there is room.
        unsafe { *(at as *mut u64) = header };
        tlab.next.set(at + size);
        if self.sees_all.load(Relaxed) || self.config.debug.collect_every > 0 {
            self.close(tlab);
        }
        Some(at)
    }
    /// Gives the rest of a TLAB back: its thread ends, or must come here for each allocation. A thread that is not one of the world's has no
    /// TLAB.
    pub fn close(&self, tlab: &Tlab) {
        if tlab.remaining() > 0 {
            let mut n = self.nursery.lock();
            // SAFETY: the TLAB is this thread's, or that of a stopped one, and has unused memory from `next` on.
            unsafe { nursery::terminate(tlab.next.get()) };
            if tlab.remaining() >= nursery::FRAGMENT {
                n.handed_out -= tlab.remaining();
                n.fragments.push((tlab.next.get(), tlab.end.get()));
            }
        }
        self.retire(tlab);
    }
    /// From now on every allocation of the program calls [`Heap::allocate`], whatever code makes it: threads have no TLABs. With false they
    /// have TLABs again. The calling thread is one of the world's.
    pub fn see_all_allocations(&self, on: bool) {
        let on = on || self.config.debug.no_tlabs;
        let before = self.sees_all.swap(on, SeqCst);
        if on && !before {
            // A thread that is on its way to a TLAB gives it back when it has its object.
            self.world.stopped(&mut || {
                self.world.mutators(&mut |mutator| self.close(mutator.tlab));
            });
        }
    }
    /// The thread has no TLAB any more.
    pub(crate) fn retire(&self, tlab: &Tlab) {
        self.stats
            .unused
            .fetch_add(tlab.remaining() as u64, Relaxed);
        tlab.retire();
    }
    /// Bytes that were handed out, less those of TLABs that their threads gave back unused.
    pub fn taken(&self) -> u64 {
        // What is given back was handed out before: in this order the difference is not negative.
        let unused = self.stats.unused.load(Acquire);
        self.stats.allocated.load(Acquire).saturating_sub(unused)
    }
    fn count_down(&self) {
        if self.countdown.fetch_sub(1, Relaxed) == 1 {
            self.countdown
                .store(self.config.debug.collect_every as usize, Relaxed);
            if self.minors.load(Relaxed) % 16 == 15 {
                if self.config.debug.concurrent_marking {
                    // The program goes on while it marks.
                    self.ask_for_major();
                    self.collect_minor();
                } else {
                    self.collect_all();
                }
            } else {
                self.collect_minor();
            }
        }
    }
    /// Gives the TLAB another piece, of at least `size` bytes. None: the heap is full.
    #[cold]
    fn refill(&self, tlab: &Tlab, size: usize) -> Option<()> {
        loop {
            if self.reserve.check_is_due(self.config.nursery) && !self.ensure_space(0) {
                return None;
            }
            let seen = self.minors.load(Acquire);
            if self.refill_tlab(tlab, size) {
                return Some(());
            }
            // The thread that collects takes its piece before the world goes on: other threads might leave nothing.
            self.minor_unless_after(seen, Tracing::AsNeeded, || {
                if !self.is_strained() {
                    self.refill_tlab(tlab, size);
                }
            });
            self.reserve.check_next();
            // Unless another collection has taken it back since.
            if tlab.remaining() >= size {
                return Some(());
            }
        }
    }
    /// Gives the TLAB a piece of the nursery. Returns false if there is none.
    fn refill_tlab(&self, tlab: &Tlab, size: usize) -> bool {
        let Some((from, to)) = self.nursery.lock().take_piece(&self.space, size) else {
            return false;
        };
        self.reserve.handed_out(to - from);
        // A thread that is stopped here has a piece without a start bit.
        perturb::here();
        // SAFETY: the piece is nobody else's.
        unsafe { std::ptr::write_bytes(from as *mut u8, 0, to - from) };
        self.space.set_start(from);
        self.stats.allocated.fetch_add((to - from) as u64, Relaxed);
        self.retire(tlab);
        tlab.next.set(from);
        tlab.end.set(to);
        tlab.taken.set(tlab.taken.get() + to - from);
        true
    }
    fn allocate_large(&self, size: usize, header: u64) -> Option<usize> {
        if !self.ensure_space(size) {
            return None;
        }
        self.consider_major();
        self.stats.allocated.fetch_add(size as u64, Relaxed);
        self.place_large(size, header).or_else(|| {
            self.collect_all();
            self.place_large(size, header)
        })
    }
}
