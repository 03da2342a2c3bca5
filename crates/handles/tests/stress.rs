//! Threads that allocate, set, read, free each other's handles, end, and stop for visits.
#![cfg(not(feature = "loom"))]
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_handles::{Hint, Kind, Tables};

const THREADS: usize = 8;
/// Miri is a few hundred times slower.
const ROUNDS: usize = if cfg!(miri) { 2 } else { 20 };
const STEPS: usize = if cfg!(miri) { 100 } else { 5_000 };
const MANY: usize = if cfg!(miri) { 700 } else { 20_000 };

fn tables() -> Tables {
    let t = Tables::new();
    if cfg!(miri) {
        // Miri holds all memory that is reserved.
        t.limit(14);
    }
    t
}

/// A small random generator, so that a failure is repeatable but for the schedule.
struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Every handle that a thread owns refers to an object whose address names the thread; others only pass handles on through
/// mailboxes, so an owner's target is known exactly.
#[test]
fn owners_see_what_they_stored() {
    let t = tables();
    let mailboxes: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (t, mailboxes, barrier) = (&t, &mailboxes, &barrier);
            scope.spawn(move || {
                let mut random = Random(0x9e37_79b9 + thread as u64);
                let mut owned: Vec<(u32, usize)> = Vec::new();
                for round in 0..ROUNDS {
                    let mut hint = Hint::new();
                    for step in 0..STEPS {
                        let object = (thread + 1) << 40 | (round * STEPS + step) << 3;
                        match random.below(8) {
                            0..=2 => {
                                let kind = Kind::ALL[random.below(4)];
                                let h = t.alloc(&mut hint, kind, object, thread as u32).unwrap();
                                owned.push((h, object));
                            }
                            3 | 4 if !owned.is_empty() => {
                                let (h, object) = owned.swap_remove(random.below(owned.len()));
                                assert_eq!(t.target(h), Some(object));
                                assert_eq!(t.domain(h), Some(thread as u32));
                                assert!(t.free(&mut hint, h));
                            }
                            5 if !owned.is_empty() => {
                                let i = random.below(owned.len());
                                assert!(t.set_target(owned[i].0, object));
                                owned[i].1 = object;
                            }
                            6 if !owned.is_empty() => {
                                // Given away: whoever takes it out frees it, once.
                                let (h, _) = owned.swap_remove(random.below(owned.len()));
                                let old = mailboxes[random.below(64)].swap(h, Ordering::AcqRel);
                                assert!(old == 0 || t.free(&mut hint, old));
                            }
                            _ => {
                                let h = random.below(1 << 17) as u32;
                                if let Some(object) = t.target(h) {
                                    assert!(object == 0 || (1..=THREADS).contains(&(object >> 40)));
                                }
                            }
                        }
                    }
                    t.retire(&mut hint);
                    // The world stops: one thread visits everything.
                    if barrier.wait().is_leader() {
                        t.visit_strong(round % 2 == 0, |o| (o, o & 8 != 0));
                        t.update_weak(Kind::Weak, round % 2 == 0, |o| Some((o, o & 8 != 0)));
                    }
                    barrier.wait();
                }
                for (h, object) in owned {
                    assert_eq!(t.target(h), Some(object));
                    assert!(t.free(&mut Hint::new(), h));
                }
            });
        }
    });
    let mut hint = Hint::new();
    for m in mailboxes {
        let h = m.into_inner();
        assert!(h == 0 || t.free(&mut hint, h));
    }
    for kind in Kind::ALL {
        assert_eq!(t.count(kind).used, 0);
    }
}

/// All threads free the same handles: each is freed once.
#[test]
fn every_handle_is_freed_once() {
    let t = tables();
    let mut hint = Hint::new();
    let handles: Vec<u32> = (0..MANY)
        .map(|i| t.alloc(&mut hint, Kind::Normal, i * 8, 0).unwrap())
        .collect();
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let mut hint = Hint::new();
                    handles.iter().filter(|&&h| t.free(&mut hint, h)).count()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(won, handles.len());
}
