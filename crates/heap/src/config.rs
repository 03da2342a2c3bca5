//! What a heap can be told when it is made, and how that is fitted to the heap's range.
//!
//! # Invariants
//! A configuration does not change once the heap exists, so every thread reads it without synchronisation. `Heap::start` takes what it is
//! given as upper bounds, and makes what is too large for the heap smaller.
use crate::space::BLOCK;
use std::io;

/// How many nurseries a program may fill beyond the limit, so that it can report that the heap is full.
pub(crate) const GRACE: usize = 1;
/// Blocks that one worker may leave partly filled: of survivors, of promoted objects, and the overflow block.
const PARTLY: usize = 3;
/// The nursery is not made smaller than this many bytes.
const LEAST_NURSERY: usize = 4 * BLOCK;
/// The nursery is at most one part in so many of the range. Between four and five times its bytes are kept free: the grace, what mutators may
/// be handed, and copies of that and of what the last collection left young.
const NURSERY_SHARE: usize = 8;
/// The nursery grows to one part in so many of the range, and of the limit of the heap: what it may have is kept free.
const GROWN_SHARE: usize = 64;
const GROWN_SHARE_OF_LIMIT: usize = 32;
/// One major collection evacuates at most one part in so many of the range.
const EVACUATE_SHARE: usize = 16;

/// The configuration of a heap. Sizes are in bytes.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address space to reserve. [`crate::address_space`] says what that takes with the tables beside it.
    pub reserve: usize,
    /// Young objects allocated between two minor collections, unless these take much of the time. At least 256 KiB; at most an eighth of `reserve` and half of
    /// `max_heap`.
    pub nursery: usize,
    /// The same where minor collections take much of the time. What is less than `nursery` counts as `nursery`; at most one in 64 bytes of `reserve` and
    /// one in 32 of `max_heap`.
    pub nursery_most: usize,
    /// When the heap is larger than this, allocation fails.
    pub max_heap: usize,
    /// A major collection begins when the old generation has grown by this percentage of what survived the last.
    pub growth_percent: usize,
    /// The same for what survived beyond 256 MiB: a large heap should not waste memory.
    pub growth_percent_beyond: usize,
    /// No major collection begins while the old generation is smaller than this.
    pub min_major: usize,
    /// If the old generation is not larger than this, a major collection is one pause.
    pub stop_below: usize,
    /// Bytes of sparse blocks that one major collection moves at most; not more than a sixteenth of `reserve`.
    pub evacuate: usize,
    /// Called when the collector cannot go on, with a sentence. It does not return.
    pub fail: fn(&str) -> !,
    /// Threads of the collector besides the one that collects.
    pub helpers: usize,
    /// Base of the card table.
    pub cards: usize,
    /// Number of its cards, less one: a power of two, less one.
    pub card_mask: usize,
    /// For finding bugs.
    pub debug: Debug,
}

/// Options that find bugs, and cost time.
#[derive(Clone, Debug, Default)]
pub struct Debug {
    /// Check every reference, card and bit before each collection.
    pub verify_before: bool,
    /// Check the same after each collection.
    pub verify_after: bool,
    /// Collect at every n-th allocation (0: not). Every `n * 16`-th collection is a major one.
    pub collect_every: u32,
    /// Every n-th minor collection promotes in place, alternately the survivors and everything, whatever survived before (0: none).
    pub promote_in_place: u32,
    /// Fill freed memory with a pattern that is no reference.
    pub poison: bool,
    /// Every major collection marks while the program runs, however small the heap is.
    pub concurrent_marking: bool,
    /// If not 0: the marker does little in a step, and waits this many microseconds after each.
    pub slow_marker: u32,
    /// Threads get no TLABs: every allocation takes the slow path.
    pub no_tlabs: bool,
    /// Print a line for each collection.
    pub log: bool,
    /// Print what is alive, by class, after each major collection.
    pub heap_shot: bool,
}

impl Config {
    /// The configuration for a heap whose range has `range` bytes: this one, with a nursery and a budget of evacuation that leave space for
    /// objects.
    ///
    /// # Errors
    /// InvalidInput: what a collection may need leaves nothing of the range.
    pub(crate) fn fit(self, range: usize) -> io::Result<Config> {
        let nursery = self
            .nursery
            .min((range / NURSERY_SHARE) & !(BLOCK - 1))
            .min((self.max_heap / 2) & !(BLOCK - 1))
            .max(LEAST_NURSERY);
        let grown = self
            .nursery_most
            .min(range / GROWN_SHARE)
            .min(self.max_heap / GROWN_SHARE_OF_LIMIT);
        let config = Config {
            nursery,
            nursery_most: (grown & !(BLOCK - 1)).max(nursery),
            evacuate: self.evacuate.min(range / EVACUATE_SHARE),
            ..self
        };
        // A collection may leave all of the nursery young.
        let most = config.nursery_most;
        let kept_free = config.needed(most) + GRACE * most;
        if range <= kept_free {
            let (range, kept_free) = (range >> 10, kept_free >> 10);
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a heap of {range} KiB is too small: collections need {kept_free} KiB"),
            ));
        }
        Ok(config)
    }
    /// Bytes of the address range that may be handed out until the next collection, plus what that collection may need. The last one has left
    /// nursery blocks of `young` bytes.
    pub(crate) fn needed(&self, young: usize) -> usize {
        let copied = self.nursery_most + young;
        let workers = self.helpers + 1;
        // At least seven objects fit into a block: at worst an eighth of it stays empty.
        const { assert!(BLOCK / crate::SMALL == 7) };
        self.nursery_most + copied / 7 * 8 + self.evacuate + workers * PARTLY * BLOCK
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            reserve: 256 << 30,
            nursery: 4 << 20,
            nursery_most: 0,
            max_heap: usize::MAX,
            growth_percent: 40,
            growth_percent_beyond: 8,
            min_major: 16 << 20,
            stop_below: 4 << 20,
            evacuate: 4 << 20,
            fail: |what| panic!("{what}"),
            helpers: (vervet_os::thread::processors() as usize - 1).min(7),
            cards: 0,
            card_mask: (1 << 29) - 1,
            debug: Debug::default(),
        }
    }
}
