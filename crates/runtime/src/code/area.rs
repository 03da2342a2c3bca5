//! A range of addresses that is given out from its start and never taken back.
//!
//! # Invariants
//! * What is given out lies between `next` of before and after; no two threads get the same bytes.
//! * The last quarter is kept back for those who handle the error: each refusal frees a quarter of that. So a program that is told
//!   it has no room can still run its handlers, whose methods may not have been compiled yet, and print a trace.
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module.
#[derive(Debug)]
pub struct Area {
    next: AtomicUsize,
    /// Where giving out ends for now.
    soft: AtomicUsize,
    end: AtomicUsize,
    step: AtomicUsize,
}

impl Area {
    /// One with no room.
    pub const fn empty() -> Area {
        Area {
            next: AtomicUsize::new(0),
            soft: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            step: AtomicUsize::new(0),
        }
    }
    /// Gives it `[start, start + size)`. Called once, by one thread.
    pub fn set(&self, start: usize, size: usize) {
        let step = size / 16;
        self.step.store(step, Ordering::Release);
        self.end.store(start + size, Ordering::Release);
        self.soft.store(start + size - 4 * step, Ordering::Release);
        self.next.store(start, Ordering::Release);
    }
    /// Where what has been given out ends.
    #[inline]
    pub fn next(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }
    /// `size` bytes at a multiple of `align`, a power of two. None: there is no room.
    pub fn take(&self, size: usize, align: usize) -> Option<usize> {
        self.take_at(size, align, 0)
    }
    /// The same, at one of the places that the bits stand for: bit n for addresses that are n * `align` more than a multiple of four times `align`; 0 for any.
    pub fn take_at(&self, size: usize, align: usize, places: u8) -> Option<usize> {
        let soft = self.soft.load(Ordering::Relaxed);
        let aligned = |at: usize| {
            let at = (at + align - 1) & !(align - 1);
            let is_good = |at: &usize| places >> (at / align % 4) & 1 != 0;
            let mut four = (0..4).map(|n| at + n * align);
            four.find(is_good).unwrap_or(at)
        };
        let taken = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| {
                let end = aligned(at).checked_add(size)?;
                (end <= soft).then_some(end)
            });
        match taken {
            Ok(before) => Some(aligned(before)),
            Err(_) => {
                let step = self.step.load(Ordering::Relaxed);
                let more = (soft + step).min(self.end.load(Ordering::Relaxed));
                self.soft.fetch_max(more, Ordering::Relaxed);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_makes_room_for_who_handles_it_and_the_end_is_the_end() {
        let area = Area::empty();
        assert_eq!(area.take(1, 1), None, "no room before there is an area");
        area.set(4096, 1600);
        let (mut given, mut refused) = (Vec::new(), 0);
        for _ in 0..200 {
            match area.take(20, 16) {
                Some(at) => given.push(at),
                None => refused += 1,
            }
        }
        assert!(refused > 4, "{refused}");
        assert!(
            given
                .iter()
                .all(|at| at % 16 == 0 && at + 20 <= 4096 + 1600)
        );
        assert!(given.windows(2).all(|w| w[0] + 20 <= w[1]));
        assert_eq!(given.len(), 1600 / 32);
        assert_eq!(area.take(usize::MAX, 16), None);
    }

    #[test]
    fn what_is_given_out_lies_at_one_of_the_places() {
        let area = Area::empty();
        area.set(4096, 1 << 20);
        let mut end = 4096;
        for n in 0..200usize {
            let places = (n % 16) as u8;
            let at = area.take_at(20 + n, 16, places).expect("room");
            assert!(at >= end && at < end + 80 && at.is_multiple_of(16));
            assert!(places == 0 || places >> (at / 16 % 4) & 1 != 0);
            end = at + 20 + n;
        }
    }
}
