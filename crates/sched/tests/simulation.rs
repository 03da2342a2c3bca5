//! The scheduler in a simulated world: thousands of green threads, a clock that leaps, and an order of events that a seed chooses.
//!
//! `VERVET_TEST_SEED=N` runs one seed of the random programs, which a failed run has printed.
#![cfg(not(feature = "loom"))]
#[path = "simulation/world.rs"]
mod world;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use world::{MS, Simulation, Step};

const US: u64 = 1_000;

/// Runs a case, and prints its seed if it fails.
fn run(seed: u64, processors: u32, bound: u64, scripts: Vec<Vec<Step>>) -> Simulation {
    struct Print(u64);
    impl Drop for Print {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the seed was {}: VERVET_TEST_SEED={0}", self.0);
            }
        }
    }
    let _print = Print(seed);
    let mut simulation = Simulation::new(seed, processors, bound, scripts);
    simulation.run();
    simulation
}
/// Seeds: those that are cases, and fresh ones.
fn seeds(fresh: u64) -> Vec<u64> {
    if let Ok(seed) = std::env::var("VERVET_TEST_SEED") {
        return vec![seed.parse().expect("VERVET_TEST_SEED is a number")];
    }
    let time = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a clock");
    let from = time.as_nanos() as u64;
    (1..=8)
        .chain((0..fresh).map(|i| from.wrapping_add(i)))
        .collect()
}

#[test]
fn a_thread_that_computes_is_preempted_within_10_ms_and_2_ticks() {
    for processors in [1, 2, 3] {
        // One more than there are processors: each waits for one slice of another.
        let scripts = vec![vec![Step::Compute(100 * MS)]; processors as usize + 1];
        let simulation = run(1, processors, 12 * MS * u64::from(processors), scripts);
        assert!(simulation.stats().preempted > 5);
    }
}

#[test]
fn a_processor_held_in_a_native_call_is_another_carriers_within_1_ms_and_2_ticks() {
    for processors in [1, 2, 3] {
        let mut scripts = vec![vec![Step::Native(50 * MS)]; processors as usize];
        scripts.extend(vec![vec![Step::Compute(10 * US)]; 20]);
        let simulation = run(2, processors, 3 * MS + 500 * US, scripts);
        assert!(simulation.stats().retaken > 0);
    }
}

#[test]
fn a_processor_is_handed_over_at_once_before_a_call_that_blocks() {
    for processors in [1, 2] {
        let mut scripts = vec![vec![Step::Block(50 * MS)]; 30];
        scripts.extend(vec![vec![Step::Compute(10 * US)]; 20]);
        let simulation = run(3, processors, 500 * US, scripts);
        assert_eq!(simulation.stats().handed_over, 30);
    }
}

#[test]
fn a_thread_with_frames_below_goes_on_where_they_are() {
    let scripts = vec![
        vec![
            Step::Bound(MS),
            Step::Compute(MS),
            Step::Bound(MS),
            Step::Yield,
            Step::Compute(MS)
        ];
        40
    ];
    let simulation = run(4, 2, 200 * MS, scripts);
    assert!(
        simulation.stats().lost > 0,
        "some had to wait for a processor"
    );
}

#[test]
fn sleepers_wake_at_their_deadlines_whoever_computes() {
    for processors in [1, 2, 4] {
        let mut scripts = vec![vec![Step::Compute(300 * MS)]; processors as usize];
        let sleeper = |i: u64| vec![Step::Sleep(i * 137 * US), Step::Sleep(i * 211 * US)];
        scripts.extend((1..300).map(sleeper));
        // Behind one that computes, for what is left of its slice, but not behind that again.
        let simulation = run(5, processors, 13 * MS, scripts);
        assert!(simulation.latest_timer <= 2 * MS);
    }
}

#[test]
fn sleepers_wake_at_their_deadlines_when_nobody_else_runs() {
    let sleeper = |i: u64| vec![Step::Sleep(i * i * 137 * US), Step::Sleep(70_000 * MS / i)];
    let scripts = (1..300).map(sleeper).collect();
    let simulation = run(6, 2, MS, scripts);
    assert!(
        simulation.latest_timer <= MS,
        "the poller wakes at the tick"
    );
}

/// Two threads that wake each other all the time stay in the slot. The others get their turns all the same.
#[test]
fn a_chain_of_wake_ups_starves_nobody() {
    let mut scripts = Vec::new();
    let turn = [Step::Wake(2), Step::Compute(50 * US), Step::Wait];
    scripts.push(turn.repeat(2000));
    let turn = [Step::Wait, Step::Compute(50 * US), Step::Wake(1)];
    scripts.push(turn.repeat(2000));
    scripts.extend(vec![[Step::Compute(50 * US), Step::Yield].repeat(20); 10]);
    let simulation = run(7, 1, 5 * MS, scripts);
    assert!(simulation.stats().slot_runs > 2000);
}

/// The thread in the slot of one that goes on computing is run by an idle processor.
#[test]
fn a_thread_in_a_slot_does_not_wait_for_its_waker_to_end() {
    let scripts = vec![
        vec![Step::Sleep(5 * MS), Step::Wake(2), Step::Compute(100 * MS)],
        vec![Step::Wait, Step::Compute(MS)],
    ];
    let simulation = run(8, 2, 3 * MS, scripts);
    assert_eq!(simulation.stats().slots_flushed, 1);
}

#[test]
fn descriptors_are_noticed_while_all_compute() {
    let mut scripts = vec![vec![Step::Compute(200 * MS)]; 2];
    scripts.extend((1..100).map(|i| vec![Step::Read(i * 700 * US), Step::Compute(10 * US)]));
    run(9, 2, 13 * MS, scripts);
}

/// One that only yields leaves its carrier now and then, however little there is to run beside it: timers and descriptors do not wait for the watcher.
#[test]
fn one_that_only_yields_keeps_nobody_waiting() {
    let yields = [Step::Compute(US), Step::Yield].repeat(50_000);
    let sleeps = (0..20).map(|i| vec![Step::Sleep(i * 2 * MS + MS / 2), Step::Compute(US)]);
    let reads = (0..20).map(|i| vec![Step::Read(i * 2 * MS + MS / 3), Step::Compute(US)]);
    let simulation = run(
        12,
        1,
        3 * MS,
        std::iter::once(yields).chain(sleeps).chain(reads).collect(),
    );
    let stays = 50_000 - simulation.stats().yields;
    assert!(stays > 45_000, "{stays} of 50,000 stayed");
}

/// A thousand threads that yield all the time run in turn: none is ready for longer than all others take.
#[test]
fn threads_in_the_injector_have_their_turns_beside_a_full_queue() {
    let scripts = vec![[Step::Compute(20 * US), Step::Yield].repeat(10); 1000];
    run(11, 1, 45 * MS, scripts);
}

/// What one thread starts is spread over all processors.
#[test]
fn work_is_stolen() {
    let mut scripts = vec![(2..=2000).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![vec![Step::Compute(100 * US)]; 1999]);
    let simulation = run(10, 4, 60 * MS, scripts);
    let stats = simulation.stats();
    assert!(stats.steals > 3 && stats.overflows > 0, "{stats:?}");
}

/// A carrier prepares only when it has nothing to run, and rests when there is nothing to prepare.
#[test]
fn carriers_without_work_prepare() {
    // The only carrier has no rest before its threads end, and then it runs out of them.
    let mut simulation = Simulation::new(12, 1, 60 * MS, vec![vec![Step::Compute(100 * US)]; 50]);
    simulation.to_prepare(1000);
    simulation.run();
    assert_eq!(simulation.left_to_prepare(), 1000);
    // One of two carriers has nothing to run while the other one computes.
    let mut simulation = Simulation::new(
        13,
        2,
        60 * MS,
        vec![
            vec![Step::Sleep(MS), Step::Compute(20 * MS)],
            vec![Step::Sleep(2 * MS)],
        ],
    );
    simulation.to_prepare(1000);
    simulation.run();
    assert_eq!(simulation.left_to_prepare(), 0);
}

/// A random program: every wait has its wake-up, and no cycle of waits.
fn program(random: &mut Xoshiro256PlusPlus) -> Vec<Vec<Step>> {
    let pairs = 1 + random.next_u32() % 400;
    let spawners = random.next_u32() % 20;
    let rounds = 1 + random.next_u32() % 8;
    let kinds = random.next_u32();
    let filler = |random: &mut Xoshiro256PlusPlus| {
        let time = |r: &mut Xoshiro256PlusPlus, max: u64| 1 + r.next_u64() % (max * US);
        let mut steps = Vec::new();
        for _ in 0..random.next_u32() % 4 {
            let kind = random.next_u32() % 12;
            // Programs differ in what they do at all.
            if kinds >> kind & 1 == 0 {
                continue;
            }
            steps.push(match kind {
                0 | 1 => Step::Yield,
                2 | 3 => Step::Compute(time(random, 100)),
                4 => Step::Compute(time(random, 2_000)),
                5 if random.next_u32().is_multiple_of(20) => Step::Compute(time(random, 40_000)),
                6 => Step::Sleep(time(random, 30_000)),
                7 => Step::WaitFor(time(random, 5_000)),
                8 => Step::Native(time(random, 20)),
                9 if random.next_u32().is_multiple_of(4) => Step::Native(time(random, 5_000)),
                10 if random.next_u32().is_multiple_of(4) => Step::Block(time(random, 3_000)),
                10 if random.next_u32().is_multiple_of(4) => Step::Bound(time(random, 3_000)),
                11 => Step::Read(time(random, 10_000)),
                _ => continue,
            });
        }
        steps
    };
    let mut scripts = Vec::new();
    for pair in 0..pairs {
        let (a, b) = (pair * 2 + 1, pair * 2 + 2);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            first.extend(filler(random));
            first.extend([Step::Wake(b), Step::Wait]);
            second.push(Step::Wait);
            second.extend(filler(random));
            second.push(Step::Wake(a));
        }
        scripts.extend([first, second]);
    }
    for _ in 0..spawners {
        let children = random.next_u32() % 100;
        let from = scripts.len() as u32 + 2;
        scripts.push((from..from + children).map(Step::Spawn).collect());
        scripts.extend((0..children).map(|_| filler(random)));
    }
    scripts
}

/// The system refuses most OS threads. The watcher tries again, and those that there are do the work.
#[test]
fn carriers_that_cannot_be_started_delay_but_lose_nothing() {
    for seed in seeds(10) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let scripts = program(&mut random);
        let mut simulation = Simulation::new(seed, 1 + random.next_u32() % 4, 10_000 * MS, scripts);
        simulation.refuse_carriers(5);
        simulation.run();
    }
}

#[test]
fn random_programs_end() {
    let (mut threads, mut longest) = (0, 0);
    for seed in seeds(60) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let processors = [1, 1, 2, 2, 3, 4, 8][random.next_u32() as usize % 7];
        let scripts = program(&mut random);
        threads += scripts.len();
        // All threads may be ready at once. Each may keep a processor for 10 ms and two ticks before the last one's turn, or for 1 ms and two
        // ticks by a native call.
        let busy = |s: &Step| match s {
            Step::Compute(time) => *time,
            Step::Native(time) => (*time).min(3 * MS),
            _ => 5 * US,
        };
        let turn = |s: &Vec<Step>| s.iter().map(busy).sum::<u64>().min(12 * MS);
        let load: u64 = scripts.iter().map(turn).sum();
        let bound = 2 * load / u64::from(processors) + 30 * MS;
        let simulation = run(seed, processors, bound, scripts);
        longest = longest.max(simulation.longest_wait * 100 / bound);
    }
    println!("{threads} threads; the longest wait was {longest} % of its bound");
}
