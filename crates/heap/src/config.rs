//! What a heap can be told when it is made.
//!
//! # Invariants
//! A configuration does not change once the heap exists, so every thread reads it without synchronisation.

/// The configuration of a heap. Sizes are in bytes.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address space to reserve. [`crate::address_space`] says what that takes with the tables beside it.
    pub reserve: usize,
    /// Young objects allocated between two minor collections.
    pub nursery: usize,
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
    /// Bytes of sparse blocks that one major collection moves at most.
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

impl Default for Config {
    fn default() -> Config {
        Config {
            reserve: 256 << 30,
            nursery: 4 << 20,
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
