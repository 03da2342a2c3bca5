//! The lock-free files of the heap under loom: the files that ship, compiled once more with loom's atomics and locks.
//!
//! `cargo test -p vervet-heap --features loom --test models` tries every interleaving, and every value that the memory model lets a load return.
//! Objects' memory is loom's cells: who looks at it while another writes it ends the model.
#![allow(
    dead_code,
    reason = "a file's whole surface is compiled, of which a model uses a part"
)]

#[path = "../src/space/block_bits.rs"]
mod block_bits;
#[path = "../src/space/card_marks.rs"]
mod card_marks;
#[path = "../src/threads/gate.rs"]
mod gate;
#[path = "../src/threads/turn.rs"]
mod turn;

use Ordering::*;
use block_bits::CardBits;
use gate::Gate;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use sync::*;

/// What `src/sync.rs` has of the system, of loom's.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
    use loom::sync::{Mutex, MutexGuard};

    #[derive(Default)]
    pub(crate) struct LeafLock<T>(Mutex<T>);
    pub(crate) type LeafGuard<'a, T> = MutexGuard<'a, T>;
    impl<T> LeafLock<T> {
        pub(crate) fn lock(&self) -> LeafGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
    pub(crate) fn in_order() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    /// The models say what time it is.
    pub(crate) mod clock {
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
        pub(crate) static NOW: AtomicU64 = AtomicU64::new(0);
        pub(crate) fn now() -> u64 {
            NOW.load(Relaxed)
        }
    }

    /// The kernel looks at the word and puts the thread to sleep in one step. A wait with a limit may be over at once.
    pub(crate) mod futex {
        use super::*;
        use loom::sync::Condvar;
        use std::collections::BTreeMap;
        use std::time::Duration;

        loom::lazy_static! {
            /// How often each word was woken.
            static ref WOKEN: Mutex<BTreeMap<usize, u32>> = Mutex::new(BTreeMap::new());
            static ref CHANGED: Condvar = Condvar::new();
        }
        fn key(word: &AtomicU32) -> usize {
            std::ptr::from_ref(word) as usize
        }
        pub(crate) fn wait(word: &AtomicU32, seen: u32, limit: Option<Duration>) {
            if limit.is_some() {
                return loom::thread::yield_now();
            }
            let mut woken = WOKEN.lock().unwrap();
            if word.load(Ordering::SeqCst) != seen {
                return;
            }
            let before = *woken.entry(key(word)).or_default();
            while woken[&key(word)] == before {
                woken = CHANGED.wait(woken).unwrap();
            }
        }
        pub(crate) fn wake(word: &AtomicU32, _: i32) {
            *WOKEN.lock().unwrap().entry(key(word)).or_default() += 1;
            CHANGED.notify_all();
        }
    }
}

fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(f);
}

/// A block of two cards. On each a live object begins at bit 0; on the first a dead one at bit 1, whose memory is `hole`.
struct Block {
    unswept: AtomicU8,
    start: [AtomicU64; 2],
    mark: [AtomicU64; 2],
    card: AtomicU8,
    hole: UnsafeCell<u32>,
    /// The sweeper's word that the block has room, as the list of such blocks gives it.
    listed: Mutex<bool>,
}
const LIVE: u64 = 1;
const DEAD: u64 = 2;
/// What is put into the hole.
const NEW: u64 = 4;
/// What the dead object's memory holds, and the new one's.
const OLD_HEADER: u32 = 1;
const NEW_HEADER: u32 = 2;
/// The mark of a mutator's store, which tells it from that of a worker (0). If it was this that the cleaning took, then a worker's comes later and
/// stays. (Loom would let a load at the end read either.)
const MUTATORS: u8 = 0x40;

impl Block {
    /// As a cycle's end leaves it.
    fn new() -> Arc<Block> {
        Arc::new(Block {
            unswept: AtomicU8::new(1),
            start: [AtomicU64::new(LIVE | DEAD), AtomicU64::new(LIVE)],
            mark: [AtomicU64::new(LIVE), AtomicU64::new(LIVE)],
            card: AtomicU8::new(MUTATORS),
            hole: UnsafeCell::new(OLD_HEADER),
            listed: Mutex::new(false),
        })
    }
    fn bits(&self, card: usize) -> CardBits<'_> {
        CardBits {
            unswept: &self.unswept,
            start: &self.start[card],
            mark: &self.mark[card],
        }
    }
    /// The sweeper: [`block_bits::sweep`], then the block is listed.
    fn sweep(&self) {
        block_bits::sweep(&self.unswept, (0..2).map(|c| self.bits(c)));
        *self.listed.lock().unwrap() = true;
    }
    /// Who promotes: takes the block if it is listed, writes an object into the hole, sets its bit, marks the card.
    fn fill(&self) {
        if std::mem::take(&mut *self.listed.lock().unwrap()) {
            // SAFETY: loom's cell checks that nobody else looks.
            self.hole.with_mut(|p| unsafe { *p = NEW_HEADER });
            block_bits::add_starts(&self.start[0], NEW);
            card_marks::mark(&self.card);
        }
    }
    /// A reader: the bits are those of the live, and what they name is there.
    fn look(&self, card: usize) -> u64 {
        let bits = self.bits(card).live_starts();
        let known = if card == 0 { LIVE | NEW } else { LIVE };
        assert!(bits & LIVE != 0, "a live object is not found");
        assert_eq!(bits & !known, 0, "a dead object is found");
        if bits & NEW != 0 {
            // SAFETY: loom ends the model if another thread writes the cell meanwhile: the start bit orders the write of the header before.
            assert_eq!(self.hole.with(|p| unsafe { *p }), NEW_HEADER);
        }
        bits
    }
}

/// Whoever looks at a block beside the sweeper sees what lives.
#[test]
fn readers_beside_the_sweeper_see_the_live_only() {
    model(None, || {
        let block = Block::new();
        let b = block.clone();
        let sweeper = thread::spawn(move || b.sweep());
        // As `Space::last_start` does: from a card back to the one before.
        block.look(1);
        block.look(0);
        sweeper.join().unwrap();
        assert_eq!(block.look(0) & NEW, 0);
    });
}

/// ... also while another fills the block's holes.
#[test]
fn readers_beside_the_sweeper_and_who_fills_holes_see_the_live_only() {
    model(Some(3), || {
        let block = Block::new();
        let [b, c] = [0; 2].map(|_| block.clone());
        let sweeper = thread::spawn(move || b.sweep());
        let filler = thread::spawn(move || c.fill());
        block.look(0);
        sweeper.join().unwrap();
        filler.join().unwrap();
        block.look(0);
    });
}

/// Two readers beside the sweeper, who lists the block and fills it himself: as much order between the writes as there can be.
#[test]
fn two_readers_beside_one_who_sweeps_and_fills_see_the_live_only() {
    model(Some(3), || {
        let block = Block::new();
        let [b, c] = [0; 2].map(|_| block.clone());
        let writer = thread::spawn(move || {
            b.sweep();
            b.fill();
        });
        let reader = thread::spawn(move || c.look(0));
        block.look(0);
        writer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(block.look(0), LIVE | NEW);
    });
}

/// A card that is cleaned beside one who promotes onto it is dirty afterwards, or its new object was found.
#[test]
fn a_card_is_dirty_or_what_was_promoted_onto_it_is_found() {
    model(Some(3), || {
        let block = Block::new();
        block.sweep();
        let b = block.clone();
        let filler = thread::spawn(move || b.fill());
        let mark = card_marks::clean(&block.card, false);
        let seen = block.look(0);
        filler.join().unwrap();
        assert!(
            mark == MUTATORS || seen & NEW != 0,
            "nobody looks at the new object"
        );
    });
}

/// ... also beside the sweeper, who is still at the block when the card is cleaned.
#[test]
fn a_card_is_dirty_or_found_beside_the_sweeper_too() {
    model(Some(3), || {
        let block = Block::new();
        let [b, c] = [0; 2].map(|_| block.clone());
        let sweeper = thread::spawn(move || b.sweep());
        let filler = thread::spawn(move || c.fill());
        let mark = card_marks::clean(&block.card, false);
        let seen = block.look(0);
        sweeper.join().unwrap();
        filler.join().unwrap();
        assert!(
            mark == MUTATORS || seen & NEW != 0,
            "nobody looks at the new object"
        );
    });
}

/// A nursery block that becomes old while marking runs, is marked on and then swept: its bits are what was marked, at each step.
#[test]
fn a_block_promoted_in_place_keeps_its_objects() {
    model(None, || {
        let block = Block::new();
        block.unswept.store(0, Relaxed);
        // The stop of a minor collection.
        for card in 0..2 {
            assert_eq!(block.bits(card).start_at_marks(true), LIVE);
        }
        let b = block.clone();
        let reader = thread::spawn(move || b.look(0));
        assert_eq!(block.look(0), LIVE);
        assert_eq!(reader.join().unwrap(), LIVE);
        // The stop that ends the cycle.
        block.unswept.store(1, Release);
        let b = block.clone();
        let sweeper = thread::spawn(move || b.sweep());
        assert_eq!(block.look(0), LIVE);
        sweeper.join().unwrap();
        assert_eq!(
            block.bits(0).start_at_marks(false),
            0,
            "swept blocks have no marks"
        );
    });
}

/// What was stored before a card was recorded is seen by whoever takes the record; nobody takes it unseen. The card was recorded before, so
/// the bit of the record is set already.
#[test]
fn a_recorded_store_is_seen_or_still_recorded() {
    model(None, || {
        const BIT: u8 = 2;
        let shared = Arc::new((AtomicU8::new(BIT), AtomicU64::new(0)));
        let s = shared.clone();
        let marker = thread::spawn(move || match card_marks::take(&s.0) & BIT {
            0 => 0,
            _ => s.1.load(Relaxed),
        });
        // The mutator's store; the stop orders it before what the collector does.
        shared.1.store(1, Relaxed);
        card_marks::record(&shared.0, BIT);
        let seen = marker.join().unwrap();
        let recorded = card_marks::take(&shared.0) & BIT != 0;
        assert!(recorded || seen == 1, "the marker has lost a store");
    });
}

/// The heap as a step and a stop see it: `step` changes it in steps, and who has the gate shut changes it too.
struct Gated {
    gate: Gate,
    heap: UnsafeCell<u32>,
}
impl Gated {
    fn new() -> Arc<Gated> {
        Arc::new(Gated {
            gate: Gate::default(),
            heap: UnsafeCell::new(0),
        })
    }
    fn change(&self) {
        // SAFETY: loom's cell checks that nobody else looks.
        self.heap.with_mut(|p| unsafe { *p += 1 });
    }
    fn stop(&self) {
        let request = self.gate.request_yield();
        let mut stop = self.gate.stop();
        drop(request);
        stop.shut();
        stop.shut();
        self.change();
        stop.open();
        stop.shut();
        self.change();
    }
}

/// No step runs while the gate is shut, and a step that waited goes on.
#[test]
fn steps_and_stops_take_turns() {
    model(Some(4), || {
        let shared = Gated::new();
        let s = shared.clone();
        let collector = thread::spawn(move || {
            for _ in 0..2 {
                s.gate.step(|| s.change());
            }
        });
        shared.stop();
        collector.join().unwrap();
        // SAFETY: loom ends the model if another thread writes the cell meanwhile: all have been joined.
        assert_eq!(shared.heap.with(|p| unsafe { *p }), 4);
    });
}

/// ... whichever of two threads stops the world.
#[test]
fn steps_and_stops_of_two_take_turns() {
    model(Some(2), || {
        let shared = Gated::new();
        let [s, t] = [0; 2].map(|_| shared.clone());
        let collector = thread::spawn(move || {
            for _ in 0..2 {
                s.gate.step(|| s.change());
            }
        });
        let other = thread::spawn(move || t.stop());
        shared.stop();
        collector.join().unwrap();
        other.join().unwrap();
        // SAFETY: loom ends the model if another thread writes the cell meanwhile: all have been joined.
        assert_eq!(shared.heap.with(|p| unsafe { *p }), 6);
    });
}

/// What is done between stops is done during none.
#[test]
fn between_stops_is_beside_none() {
    model(Some(3), || {
        let shared = Gated::new();
        let s = shared.clone();
        let collector = thread::spawn(move || {
            s.gate.between_stops(|| s.change());
            s.gate.step(|| s.change());
        });
        {
            let mut stop = shared.gate.stop();
            // Open: a step may run, but nothing between stops; so this is not beside it.
            stop.shut();
            shared.change();
        }
        collector.join().unwrap();
        // SAFETY: loom ends the model if another thread writes the cell meanwhile: all have been joined.
        assert_eq!(shared.heap.with(|p| unsafe { *p }), 3);
    });
}

/// However the end of a stop and the collector's thread meet: who waits for a turn to end goes on, and no turn is left behind.
#[test]
fn a_turn_is_given_to_who_waits_and_ends() {
    model(None, || {
        let turn = Arc::new(turn::Turn::default());
        let t = turn.clone();
        let collector = thread::spawn(move || {
            for _ in 0..2 {
                t.wait_begins();
                thread::yield_now();
                t.wait_ends();
                t.worked(1);
            }
            t.end();
        });
        clock::NOW.fetch_add(1 << 40, Relaxed);
        turn.offer();
        turn.let_pass();
        collector.join().unwrap();
        assert!(!turn.is_taken(), "nobody would end it");
    });
}
