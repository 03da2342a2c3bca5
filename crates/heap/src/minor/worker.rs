//! What one worker of a minor collection owns, and what becomes of survivors.
//!
//! # Invariants
//! * A [`MinorWorker`] belongs to one thread at a time ([`Exclusive`](crate::threads::exclusive::Exclusive)); its lists keep their memory
//!   between collections and are empty there.
//! * An entry of the local stack is an object that is kept and whose fields have not been scanned. It is on one stack only.
use crate::memory::{List, UNBOUNDED};
use crate::object::Slot;
use crate::references::ephemerons::EphemeronRange;
use crate::space::Card;
use crate::space::old::OldAllocator;

/// What one worker owns; it is kept between collections.
pub struct MinorWorker {
    /// Kept objects whose fields have not been scanned. The lowest bit of an entry says that the object is old.
    pub local_stack: List<usize>,
    /// Cards whose memory was requested.
    pub(crate) card_prefetch: CardPrefetch,
    /// Where promoted objects go.
    pub old: OldAllocator,
    /// The unused part of the Survivors block that takes copies within the nursery: its first byte, and the byte behind it.
    pub(super) survivors_next: usize,
    pub(super) survivors_end: usize,
    /// Bytes of objects copied within the nursery.
    pub copied: usize,
    /// Bytes of objects that become old in place.
    pub stayed: usize,
    /// While marking runs: unmarked old objects that promoted ones refer to, and promoted tables of ephemerons. The marker has to mark or
    /// scan them.
    pub(super) for_marker: List<usize>,
    /// While marking runs: fields of promoted objects that refer into blocks to be evacuated.
    pub(super) fields: List<Slot>,
    /// Ephemerons that were met, of tables that are kept.
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

/// What becomes of young objects that are reachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EvacuationMode {
    /// They are copied: at their first survival within the nursery, at the second to the old generation.
    Age,
    /// They are copied to the old generation.
    Promote,
    /// They become old where they are, together with their blocks.
    InPlace,
}

/// How many cards are requested before the first of them is scanned.
pub(super) const DISTANCE: usize = 4;

/// A ring of marked cards of old blocks whose memory was requested and that will be scanned soon.
#[derive(Default)]
pub(crate) struct CardPrefetch {
    pub(super) cards: [Option<Card>; DISTANCE],
    pub(super) next: usize,
}
