//! Allocation: what mutators call when generated code has not found room in the thread's window.
use crate::Heap;
use crate::collect::Tracing;
use crate::minor::nursery;
use crate::model::{Model, Window, World};
use std::sync::atomic::Ordering::*;
use vervet_os::perturb;

/// Objects larger than this are large objects.
pub const SMALL: usize = 8 << 10;

impl<M: Model, W: World> Heap<M, W> {
    /// Memory for an object of `size` bytes (header included, any number), zeroed but for its header. None: the heap is
    /// full. The thread is one of the world's and can be stopped here; `window` is its window.
    pub fn allocate(&self, window: &Window, size: usize, header: u64) -> Option<usize> {
        let size = size.checked_add(7)? & !7;
        if self.config.debug.collect_every > 0 {
            self.count_down();
        }
        if size > SMALL {
            let at = self.allocate_large(size, header)?;
            window.taken.set(window.taken.get() + size);
            return Some(at);
        }
        if window.room() < size {
            self.refill(window, size)?;
        }
        let at = window.next.get();
        // SAFETY: the window is this thread's; there is room.
        unsafe { *(at as *mut u64) = header };
        window.next.set(at + size);
        if self.config.debug.no_windows || self.config.debug.collect_every > 0 {
            self.close(window);
        }
        Some(at)
    }
    /// Gives the rest of a window back: its thread ends, or is to come here for each allocation. A thread that is not one of
    /// the world's has no window.
    pub fn close(&self, window: &Window) {
        if window.room() > 0 {
            let mut n = self.nursery.lock();
            nursery::terminate(window.next.get());
            if window.room() >= nursery::FRAGMENT {
                n.handed_out -= window.room();
                n.fragments.push((window.next.get(), window.end.get()));
            }
        }
        window.give_up();
    }
    fn count_down(&self) {
        if self.countdown.fetch_sub(1, Relaxed) == 1 {
            self.countdown
                .store(self.config.debug.collect_every as usize, Relaxed);
            if self.minors.load(Relaxed) % 16 == 15 {
                if self.config.debug.concurrent_marking {
                    // The program is to go on meanwhile.
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
    /// Gives the window another piece, with room for so many bytes.
    #[cold]
    fn refill(&self, window: &Window, size: usize) -> Option<()> {
        loop {
            if self.room.is_to_be_looked_at(self.config.nursery) && !self.make_room(0) {
                return None;
            }
            let seen = self.minors.load(Acquire);
            if self.take_piece(window, size) {
                return Some(());
            }
            // Who collects takes its piece before the world goes on: the other threads may leave nothing.
            self.minor_unless_after(seen, Tracing::AsNeeded, || {
                if !self.is_strained() {
                    self.take_piece(window, size);
                }
            });
            self.room.look_at_next();
            // Unless another collection has taken it back since.
            if window.room() >= size {
                return Some(());
            }
        }
    }
    /// Gives the window a piece of the nursery, if there is one.
    fn take_piece(&self, window: &Window, size: usize) -> bool {
        let Some((from, to)) = self.nursery.lock().take(&self.space, size) else {
            return false;
        };
        self.room.handed_out(to - from);
        // The piece is handed out, and has no start bit yet.
        perturb::here();
        // SAFETY: the piece is nobody else's.
        unsafe { std::ptr::write_bytes(from as *mut u8, 0, to - from) };
        self.space.set_start(from);
        self.stats.allocated.fetch_add((to - from) as u64, Relaxed);
        window.give_up();
        window.next.set(from);
        window.end.set(to);
        window.taken.set(window.taken.get() + to - from);
        true
    }
    fn allocate_large(&self, size: usize, header: u64) -> Option<usize> {
        if !self.make_room(size) {
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
