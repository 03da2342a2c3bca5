//! What one worker of a minor collection owns, and what becomes of survivors.
//!
//! # Invariants
//! * A [`MinorWorker`] belongs to one thread at a time ([`Exclusive`](crate::threads::exclusive::Exclusive)); its lists keep their memory
//!   between collections and are empty there.
//! * An entry of the local stack is an object that is kept and whose fields have not been scanned. It is on one stack only.
use crate::memory::{List, UNBOUNDED};
use crate::references::ephemerons::EphemeronRange;
use crate::space::old::OldAllocator;

/// What one worker has: kept between collections.
pub struct MinorWorker {
    /// Kept objects whose fields have not been looked at.
    pub local_stack: List<usize>,
    pub(crate) card_prefetch: CardPrefetch,
    /// Where promoted objects go.
    pub old: OldAllocator,
    pub(super) survivors_next: usize,
    pub(super) survivors_end: usize,
    /// Bytes of objects copied within the nursery.
    pub copied: usize,
    /// Bytes of objects that become old where they are.
    pub stayed: usize,
    /// Old objects that promoted ones refer to and nobody has marked: the marker has to look at them.
    pub(super) for_marker: List<usize>,
    /// Fields of promoted objects that refer into blocks that will be evacuated.
    pub(super) fields: List<usize>,
    /// Pairs that were met, of tables that are kept.
    pub(crate) ephemerons: List<EphemeronRange>,
}

impl MinorWorker {
    /// An idle one.
    pub fn new() -> std::io::Result<MinorWorker> {
        Ok(MinorWorker {
            local_stack: List::new(UNBOUNDED)?,
            card_prefetch: CardPrefetch::default(),
            old: OldAllocator::new()?,
            survivors_next: 0,
            survivors_end: 0,
            copied: 0,
            stayed: 0,
            for_marker: List::new(UNBOUNDED)?,
            fields: List::new(UNBOUNDED)?,
            ephemerons: List::new(UNBOUNDED)?,
        })
    }
}

/// What becomes of objects that live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EvacuationMode {
    /// They are copied: once within the nursery, then out of it.
    Age,
    /// They are copied out of the nursery.
    Promote,
    /// They become old where they are.
    InPlace,
}

/// Marked cards whose memory is on its way before they are looked at.
pub(super) const DISTANCE: usize = 4;

/// Marked cards of old blocks that are to be looked at soon, or 0.
#[derive(Default)]
pub(crate) struct CardPrefetch {
    pub(super) cards: [usize; DISTANCE],
    pub(super) next: usize,
}
