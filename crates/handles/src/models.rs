//! The protocol under loom: groups of one slot, so that the second handle grows the table, and lanes that hand over early.
//!
//! Loom tries every interleaving, and every value that the memory model lets a load return, of the code that ships and of [`inlined`]. An
//! account of claimed slots ends a model if a slot has two owners.
//!
//! | invariant of the crate | models |
//! |---|---|
//! | a free slot has one owner | `growing_twice_at_once`, `retiring_while_allocating`, `handing_over_at_once`, `retiring_what_was_freed_in_place` |
//! | of two frees one wins | `freeing_twice_at_once`, `freeing_in_place_twice_at_once` |
//! | a set that loses against a free stores nothing | `setting_while_freeing`, `freeing_in_place_while_setting`, `exchanging_at_once` |
//! | a reader sees a whole handle or none | `reading_while_growing`, `reading_while_expiring`, `making_in_place_while_reading`, `reading_while_remade_in_place` |
//! | a link of a queue is never taken for a domain | `domain_while_reused` |
use crate::{Hint, Kind, Tables, inlined};
use loom::sync::Arc;
use loom::thread;

/// Addresses of two objects. Nothing is ever read there.
const A: usize = 0x1000;
const B: usize = 0x2000;

/// Tries every interleaving of the threads that `f` starts.
fn model(f: impl Fn() + Sync + Send + 'static) {
    loom::model::Builder::new().check(f);
}

/// Two threads grow the table at once: both get slots of their own.
#[test]
fn growing_twice_at_once() {
    model(|| {
        let t = Arc::new(Tables::new());
        let t2 = t.clone();
        let other = thread::spawn(move || t2.alloc(&mut Hint::new(), Kind::Weak, B, 2).unwrap());
        let mine = t.alloc(&mut Hint::new(), Kind::Weak, A, 1).unwrap();
        let theirs = other.join().unwrap();
        assert_ne!(mine, theirs);
        assert_eq!((t.target(mine), t.target(theirs)), (Some(A), Some(B)));
        assert_eq!((t.domain(mine), t.domain(theirs)), (Some(1), Some(2)));
    });
}

/// A reader that guesses an index while its group is being given out sees a handle or none, and no half of one.
#[test]
fn reading_while_growing() {
    model(|| {
        let t = Arc::new(Tables::new());
        let guess = 1 << 3 | (Kind::Normal as u32 + 1);
        let t2 = t.clone();
        let reader = thread::spawn(move || {
            let seen = t2.target(guess);
            assert!(matches!(seen, None | Some(A)), "{seen:?}");
            if seen.is_some() {
                assert_eq!(t2.domain(guess), Some(3));
            }
        });
        let mut hint = Hint::new();
        t.alloc(&mut hint, Kind::Normal, B, 3).unwrap();
        assert_eq!(t.alloc(&mut hint, Kind::Normal, A, 3), Some(guess));
        reader.join().unwrap();
    });
}

/// Two threads free one handle: one wins, and the slot is in one queue, so the next two handles differ.
#[test]
fn freeing_twice_at_once() {
    model(|| {
        let t = Arc::new(Tables::new());
        let h = t.alloc(&mut Hint::new(), Kind::Normal, A, 1).unwrap();
        let free_and_alloc = move |t: &Tables| {
            let mut hint = Hint::new();
            let won = t.free(&mut hint, h);
            (won, t.alloc(&mut hint, Kind::Normal, B, 1).unwrap())
        };
        let t2 = t.clone();
        let other = thread::spawn(move || free_and_alloc(&t2));
        let mine = free_and_alloc(&t);
        let theirs = other.join().unwrap();
        // Both may win if the loser came after the winner had used the slot again: then it freed that.
        assert!(mine.0 || theirs.0);
        if !(mine.0 && theirs.0) {
            assert_ne!(mine.1, theirs.1);
            assert_eq!((t.target(mine.1), t.target(theirs.1)), (Some(B), Some(B)));
        }
    });
}

/// A set that races with a free stores into the handle or nowhere: the free slot stays free.
#[test]
fn setting_while_freeing() {
    model(|| {
        let t = Arc::new(Tables::new());
        let h = t.alloc(&mut Hint::new(), Kind::Normal, A, 1).unwrap();
        let t2 = t.clone();
        let setter = thread::spawn(move || t2.set_target(h, B));
        assert!(t.free(&mut Hint::new(), h));
        setter.join().unwrap();
        assert_eq!(t.target(h), None);
        assert!(!t.set_target(h, B));
    });
}

/// Two threads exchange the target from the same value: one wins, and the other is told the winner's object.
#[test]
fn exchanging_at_once() {
    model(|| {
        let t = Arc::new(Tables::new());
        let h = t.alloc(&mut Hint::new(), Kind::Normal, 0, 1).unwrap();
        let t2 = t.clone();
        let other = thread::spawn(move || t2.compare_exchange_target(h, 0, B).unwrap());
        let mine = t.compare_exchange_target(h, 0, A).unwrap();
        let theirs = other.join().unwrap();
        assert_eq!((mine == 0) as u8 + (theirs == 0) as u8, 1);
        assert_eq!(t.target(h), Some(if mine == 0 { A } else { B }));
    });
}

/// A reader beside an expiry (in the runtime the world is stopped; the protocol does not need it) sees the object or null.
#[test]
fn reading_while_expiring() {
    model(|| {
        let t = Arc::new(Tables::new());
        let h = t.alloc(&mut Hint::new(), Kind::Weak, A, 5).unwrap();
        let t2 = t.clone();
        let reader = thread::spawn(move || {
            assert!(matches!(t2.target(h), Some(A | 0)));
            assert_eq!(t2.domain(h), Some(5));
        });
        t.update_weak(Kind::Weak, true, |_| None);
        reader.join().unwrap();
        assert_eq!((t.target(h), t.domain(h)), (Some(0), Some(5)));
        assert_eq!(t.count(Kind::Weak).expired, 1);
        assert_eq!(t.free_domain(5), 1);
        assert_eq!(t.target(h), None);
    });
}

/// The domain read beside a free and a reuse is that of the old handle or of the new one, never a link of a queue.
#[test]
fn domain_while_reused() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = Hint::new();
        // Three slots: freed ones get links other than 7 and 8 (indices 0 to 2).
        let h = t.alloc(&mut hint, Kind::Normal, A, 7).unwrap();
        let other = t.alloc(&mut hint, Kind::Normal, A, 7).unwrap();
        let t2 = t.clone();
        let reader = thread::spawn(move || {
            let seen = t2.domain(h);
            assert!(matches!(seen, None | Some(7 | 8)), "{seen:?}");
        });
        t.free(&mut hint, h);
        t.free(&mut hint, other);
        // The slot is linked now: its side word is not a domain any more.
        t.retire(&mut hint);
        t.alloc(&mut hint, Kind::Normal, B, 8).unwrap();
        reader.join().unwrap();
    });
}

/// A thread that ends hands its slots over while another allocates: no slot is lost or given out twice.
#[test]
fn retiring_while_allocating() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = Hint::new();
        let h = t.alloc(&mut hint, Kind::Normal, A, 1).unwrap();
        t.free(&mut hint, h);
        let t2 = t.clone();
        let other = thread::spawn(move || {
            let mut hint = Hint::new();
            [0; 2].map(|_| t2.alloc(&mut hint, Kind::Normal, B, 1).unwrap())
        });
        t.retire(&mut hint);
        let [a, b] = other.join().unwrap();
        assert_ne!(a, b);
        let c = t.alloc(&mut Hint::new(), Kind::Normal, A, 1).unwrap();
        assert!(c != a && c != b);
        assert!(t.count(Kind::Normal).given_out <= 3);
    });
}

/// Two threads hand over at once (each frees as many as make it), and what they handed over is found.
#[test]
fn handing_over_at_once() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = Hint::new();
        let [a, b, c] = [0; 3].map(|_| t.alloc(&mut hint, Kind::Normal, A, 1).unwrap());
        let t2 = t.clone();
        let other = thread::spawn(move || {
            let mut hint = Hint::new();
            assert!(t2.free(&mut hint, a) && t2.free(&mut hint, b));
            t2.retire(&mut hint);
        });
        assert!(t.free(&mut hint, c));
        t.retire(&mut hint);
        other.join().unwrap();
        let mut again = [0; 3].map(|_| t.alloc(&mut hint, Kind::Normal, B, 1).unwrap());
        again.sort();
        assert_eq!(again, [a, b, c]);
    });
}

/// A thread's hint with one slot that generated code may take without a call.
fn with_own_slot(t: &Tables, kind: Kind) -> Hint {
    let mut hint = Hint::new();
    let h = t.alloc(&mut hint, kind, B, 9).unwrap();
    assert!(t.free(&mut hint, h));
    // As `Table::refill` does when what waits has waited long enough.
    let lane = &mut hint.lanes[kind as usize];
    lane.ready = lane.end;
    hint
}

/// Generated code makes a handle beside a reader that guesses it: none, or all of it.
#[test]
fn making_in_place_while_reading() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = with_own_slot(&t, Kind::Weak);
        let guess = Kind::Weak as u32 + 1;
        let t2 = t.clone();
        let reader = thread::spawn(move || {
            let seen = inlined::read(&t2, guess);
            assert!(matches!(seen, None | Some(A)), "{seen:?}");
            if seen.is_some() {
                assert_eq!(t2.domain(guess), Some(3));
            }
        });
        assert_eq!(inlined::make(&t, &mut hint, Kind::Weak, A, 3), Some(guess));
        assert_eq!(inlined::make(&t, &mut hint, Kind::Weak, A, 3), None);
        reader.join().unwrap();
        let mut young = 0;
        t.update_weak(Kind::Weak, true, |o| {
            young += 1;
            Some((o, false))
        });
        assert_eq!(
            young, 1,
            "the group's byte says that it may hold a young object"
        );
    });
}

/// Generated code and the runtime free one handle at once: the slot goes to one of them.
#[test]
fn freeing_in_place_twice_at_once() {
    for both_in_place in [false, true] {
        model(move || {
            let t = Arc::new(Tables::new());
            let mut hint = with_own_slot(&t, Kind::Normal);
            let h = inlined::make(&t, &mut hint, Kind::Normal, A, 1).unwrap();
            let t2 = t.clone();
            let other = thread::spawn(move || {
                let mut hint = Hint::new();
                let won = match both_in_place {
                    true => inlined::free(&t2, &mut hint, h),
                    false => t2.free(&mut hint, h),
                };
                (won, t2.alloc(&mut hint, Kind::Normal, B, 1).unwrap())
            });
            let won = inlined::free(&t, &mut hint, h);
            let mine = t.alloc(&mut hint, Kind::Normal, B, 1).unwrap();
            let (they_won, theirs) = other.join().unwrap();
            assert!(won || they_won);
            if !(won && they_won) {
                assert_ne!(mine, theirs);
                let both = (t.target(mine), t.target(theirs));
                assert_eq!(both, (Some(B), Some(B)));
            }
        });
    }
}

/// Generated code frees a handle that another thread sets: free is free, and the slot is given out once more.
#[test]
fn freeing_in_place_while_setting() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = with_own_slot(&t, Kind::Normal);
        let h = inlined::make(&t, &mut hint, Kind::Normal, A, 1).unwrap();
        let t2 = t.clone();
        let setter = thread::spawn(move || t2.set_target(h, B));
        assert!(inlined::free(&t, &mut hint, h));
        setter.join().unwrap();
        assert_eq!((inlined::read(&t, h), t.target(h)), (None, None));
        assert_eq!(t.alloc(&mut hint, Kind::Normal, A, 2), Some(h));
        assert_eq!(inlined::read(&t, h), Some(A));
    });
}

/// Generated code reads a handle while another thread frees it and makes it anew in place: the one object, or the other, or none.
#[test]
fn reading_while_remade_in_place() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = with_own_slot(&t, Kind::Normal);
        let h = inlined::make(&t, &mut hint, Kind::Normal, A, 1).unwrap();
        let t2 = t.clone();
        let reader = thread::spawn(move || {
            let seen = inlined::read(&t2, h);
            assert!(matches!(seen, None | Some(A | B)), "{seen:?}");
        });
        assert!(inlined::free(&t, &mut hint, h));
        let lane = &mut hint.lanes[Kind::Normal as usize];
        lane.ready = lane.end;
        assert_eq!(inlined::make(&t, &mut hint, Kind::Normal, B, 2), Some(h));
        reader.join().unwrap();
    });
}

/// What a thread freed in place it hands over when it ends, while another allocates.
#[test]
fn retiring_what_was_freed_in_place() {
    model(|| {
        let t = Arc::new(Tables::new());
        let mut hint = with_own_slot(&t, Kind::Normal);
        let h = inlined::make(&t, &mut hint, Kind::Normal, A, 1).unwrap();
        let t2 = t.clone();
        let other = thread::spawn(move || {
            let mut hint = Hint::new();
            [0; 2].map(|_| t2.alloc(&mut hint, Kind::Normal, B, 1).unwrap())
        });
        assert!(inlined::free(&t, &mut hint, h));
        t.retire(&mut hint);
        let [a, b] = other.join().unwrap();
        assert_ne!(a, b);
    });
}
