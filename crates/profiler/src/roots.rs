//! Which memory holds roots of the heap, as the file has been told.
//!
//! # Invariants
//! The ranges do not overlap: one that is told takes the place of those that it overlaps, whose memory was given back meanwhile.
use std::collections::BTreeMap;

/// What a root is, in the file's numbers.
pub mod source {
    /// A stack; the key is the thread.
    pub const STACK: u8 = 1;
    /// Objects that wait for their finalizers.
    pub const FINALIZER_QUEUE: u8 = 2;
    /// Static fields; the key is the VTable.
    pub const STATIC: u8 = 3;
    /// Thread statics; the key is the thread.
    pub const THREAD_STATIC: u8 = 4;
    /// GC handles.
    pub const HANDLE: u8 = 6;
    /// What the runtime keeps of a thread; the key is the thread.
    pub const THREADING: u8 = 8;
    /// What a domain keeps: literals, Type objects.
    pub const DOMAIN: u8 = 9;
    /// Values of ephemerons.
    pub const EPHEMERON: u8 = 15;

    /// What the file calls it.
    pub(crate) fn name(source: u8) -> &'static str {
        match source {
            STACK => "Thread Stack",
            FINALIZER_QUEUE => "Finalizer Queue",
            STATIC => "Static Fields",
            THREAD_STATIC => "ThreadStatic Fields",
            HANDLE => "GC Handles",
            THREADING => "Thread",
            DOMAIN => "Domain",
            EPHEMERON => "Ephemerons",
            _ => "",
        }
    }
}

/// Roots without addresses of their own have these in the file.
pub mod pseudo_slot {
    /// Objects that wait for ordinary finalizers.
    pub const FINALIZER_QUEUE: u64 = 1;
    /// Objects that wait for critical finalizers.
    pub const CRITICAL_FINALIZER_QUEUE: u64 = 2;
    /// Values of ephemerons.
    pub const EPHEMERONS: u64 = 3;
}

/// A range of memory with roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub start: u64,
    pub bytes: u64,
    pub source: u8,
    pub key: u64,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Ranges(BTreeMap<u64, Range>);

impl Ranges {
    /// There are roots in a range. None: that is known. Otherwise the starts of the ranges whose place it takes.
    pub fn tell(&mut self, range: Range) -> Option<Vec<u64>> {
        if self.0.get(&range.start) == Some(&range) {
            return None;
        }
        let end = range.start + range.bytes;
        let before = self.0.range(..end).rev();
        let overlaps = before.take_while(|(_, r)| r.start + r.bytes > range.start);
        let gone: Vec<u64> = overlaps.map(|(start, _)| *start).collect();
        for start in &gone {
            self.0.remove(start);
        }
        self.0.insert(range.start, range);
        Some(gone)
    }
    /// Does a range cover the address?
    pub fn covers(&self, address: u64) -> bool {
        let last = self.0.range(..=address).next_back();
        last.is_some_and(|(_, r)| address - r.start < r.bytes)
    }
    /// A thread ends: the starts of its ranges, which are forgotten.
    pub fn end_thread(&mut self, thread: u64) -> Vec<u64> {
        let is_its = |r: &Range| {
            let sources = [source::STACK, source::THREAD_STATIC, source::THREADING];
            r.key == thread && sources.contains(&r.source)
        };
        let gone = self.0.extract_if(.., |_, r| is_its(r));
        gone.map(|(start, _)| start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, bytes: u64, key: u64) -> Range {
        Range {
            start,
            bytes,
            source: source::STACK,
            key,
        }
    }

    #[test]
    fn a_range_takes_the_place_of_those_that_it_overlaps() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.tell(range(0x100, 0x10, 1)), Some(vec![]));
        assert_eq!(ranges.tell(range(0x100, 0x10, 1)), None);
        assert_eq!(ranges.tell(range(0x110, 0x10, 1)), Some(vec![]));
        assert_eq!(ranges.tell(range(0x200, 0x10, 2)), Some(vec![]));
        assert_eq!(ranges.tell(range(0x108, 0x10, 3)), Some(vec![0x110, 0x100]));
        assert_eq!(ranges.tell(range(0x108, 0x10, 4)), Some(vec![0x108]));
    }

    #[test]
    fn an_address_is_covered_up_to_the_end_of_a_range() {
        let mut ranges = Ranges::default();
        ranges.tell(range(0x100, 0x10, 1));
        let covered = [0xFF, 0x100, 0x10F, 0x110].map(|at| ranges.covers(at));
        assert_eq!(covered, [false, true, true, false]);
    }

    #[test]
    fn the_ranges_of_a_thread_end_with_it() {
        let mut ranges = Ranges::default();
        ranges.tell(range(0x100, 8, 1));
        ranges.tell(range(0x200, 8, 2));
        ranges.tell(range(0x300, 8, 1));
        assert_eq!(ranges.end_thread(1), [0x100, 0x300]);
        assert_eq!(ranges.end_thread(1), [0u64; 0]);
        assert!(ranges.covers(0x200));
    }
}
