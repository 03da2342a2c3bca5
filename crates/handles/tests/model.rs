//! Random histories of several threads' worth of hints against a map.
#![cfg(not(feature = "loom"))]
use proptest::prelude::*;
use std::collections::HashMap;
use vervet_handles::{Hint, Kind, Tables};

const HINTS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Alloc {
        hint: usize,
        kind: usize,
        object: usize,
        domain: u32,
        times: usize,
    },
    Free {
        hint: usize,
        nth: usize,
    },
    FreeKind {
        hint: usize,
        kind: usize,
    },
    Set {
        nth: usize,
        object: usize,
    },
    Exchange {
        nth: usize,
        current: usize,
        new: usize,
    },
    Garbage {
        value: u32,
    },
    Retire {
        hint: usize,
    },
    /// Objects divisible by `alive` live; the living move by `by`; the young are those with an odd number.
    Collect {
        young_only: bool,
        alive: usize,
        by: usize,
    },
    FreeDomain {
        domain: u32,
    },
}

/// A few objects, so that histories meet them again; 0 is null.
fn object() -> impl Strategy<Value = usize> {
    (0usize..64).prop_map(|n| n * 8)
}

fn step() -> impl Strategy<Value = Step> {
    let hint = 0..HINTS;
    prop_oneof![
        6 => (hint.clone(), 0usize..4, object(), 0u32..3, prop_oneof![Just(1usize), 1usize..900])
            .prop_map(|(hint, kind, object, domain, times)| Step::Alloc { hint, kind, object, domain, times }),
        4 => (hint.clone(), any::<usize>()).prop_map(|(hint, nth)| Step::Free { hint, nth }),
        1 => (hint.clone(), 0usize..4).prop_map(|(hint, kind)| Step::FreeKind { hint, kind }),
        3 => (any::<usize>(), object()).prop_map(|(nth, object)| Step::Set { nth, object }),
        2 => (any::<usize>(), object(), object()).prop_map(|(nth, current, new)| Step::Exchange { nth, current, new }),
        2 => prop_oneof![any::<u32>(), 0u32..20_000].prop_map(|value| Step::Garbage { value }),
        1 => hint.prop_map(|hint| Step::Retire { hint }),
        2 => (any::<bool>(), 1usize..4, 0usize..3).prop_map(|(young_only, alive, by)| Step::Collect { young_only, alive, by: by * 8 }),
        1 => (0u32..3).prop_map(|domain| Step::FreeDomain { domain }),
    ]
}

fn young(object: usize) -> bool {
    object / 8 % 2 == 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 3 } else { 200 }, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn tables_are_a_map(steps in proptest::collection::vec(step(), 1..80)) {
        let t = Tables::new();
        if cfg!(miri) {
            t.limit(14);
        }
        let mut hints: [Hint; HINTS] = Default::default();
        // handle -> (object, domain, may be young: stored or called young since the last visit)
        let mut model: HashMap<u32, (usize, u32, bool)> = HashMap::new();
        let pick = |model: &HashMap<u32, _>, nth: usize| {
            let mut all: Vec<u32> = model.keys().copied().collect();
            all.sort();
            all.get(nth % all.len().max(1)).copied()
        };
        for step in steps {
            match step {
                Step::Alloc { hint, kind, object, domain, times } => for _ in 0..times {
                    let h = t.alloc(&mut hints[hint], Kind::ALL[kind], object, domain).unwrap();
                    prop_assert_eq!(Kind::of(h), Some(Kind::ALL[kind]));
                    prop_assert!(model.insert(h, (object, domain, true)).is_none(), "given out twice");
                },
                Step::Free { hint, nth } => if let Some(h) = pick(&model, nth) {
                    prop_assert!(t.free(&mut hints[hint], h));
                    prop_assert!(!t.free(&mut hints[hint], h));
                    model.remove(&h);
                },
                Step::FreeKind { hint, kind } => {
                    let of_kind: Vec<u32> = model.keys().copied().filter(|&h| Kind::of(h) == Some(Kind::ALL[kind])).collect();
                    for h in of_kind {
                        prop_assert!(t.free(&mut hints[hint], h));
                        model.remove(&h);
                    }
                }
                Step::Set { nth, object } => if let Some(h) = pick(&model, nth) {
                    prop_assert!(t.set_target(h, object));
                    let m = model.get_mut(&h).unwrap();
                    (m.0, m.2) = (object, true);
                },
                Step::Exchange { nth, current, new } => if let Some(h) = pick(&model, nth) {
                    let m = model.get_mut(&h).unwrap();
                    prop_assert_eq!(t.compare_exchange_target(h, current, new), Some(m.0));
                    if m.0 == current {
                        (m.0, m.2) = (new, true);
                    }
                },
                Step::Garbage { value } => {
                    prop_assert_eq!(t.target(value), model.get(&value).map(|m| m.0));
                    if !model.contains_key(&value) {
                        prop_assert!(!t.set_target(value, 8) && !t.free(&mut hints[0], value));
                    }
                }
                Step::Retire { hint } => t.retire(&mut hints[hint]),
                Step::Collect { young_only, alive, by } => {
                    // A visit of young groups sees at least those stored to; it may see and move others, as long as it says so.
                    let mut seen = HashMap::<usize, usize>::new();
                    t.visit_strong(young_only, |o| {
                        *seen.entry(o).or_default() += 1;
                        (o, young(o))
                    });
                    let mut due = HashMap::<usize, usize>::new();
                    for (h, m) in &mut model {
                        if matches!(Kind::of(*h), Some(Kind::Normal | Kind::Pinned)) && m.0 != 0 {
                            if !young_only || m.2 {
                                *due.entry(m.0).or_default() += 1;
                            }
                            m.2 = young(m.0);
                        }
                    }
                    for (o, n) in due {
                        let got = seen.get(&o).copied().unwrap_or(0);
                        prop_assert!(got >= n && (young_only || got == n));
                    }
                    for kind in [Kind::Weak, Kind::WeakTrackResurrection] {
                        t.update_weak(kind, false, |o| (o / 8 % alive == 0).then_some((o + by, young(o + by))));
                        for (h, m) in &mut model {
                            if Kind::of(*h) == Some(kind) && m.0 != 0 {
                                m.0 = if m.0 / 8 % alive == 0 { m.0 + by } else { 0 };
                            }
                        }
                    }
                }
                Step::FreeDomain { domain } => {
                    let before = model.len();
                    model.retain(|_, m| m.1 != domain);
                    prop_assert_eq!(t.free_domain(domain), before - model.len());
                }
            }
        }
        for (&h, m) in &model {
            prop_assert_eq!((t.target(h), t.domain(h)), (Some(m.0), Some(m.1)));
        }
        let used: usize = Kind::ALL.iter().map(|&k| t.count(k).used).sum();
        prop_assert_eq!(used, model.len());
    }
}
