//! Times of the queue machinery alone, without stacks. Run: `cargo bench -p vervet-sched`.
//!
//! Times are CPU time of the thread, so other work on the machine does not count; the best of five.
use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use vervet_os::Chunks;
use vervet_parking::ParkWord;
use vervet_sched::{Carrier, Host, Next, Options, Outcome, Scheduler, Wait};

/// CPU time of the calling thread.
fn cpu_time() -> Duration {
    // SAFETY: fills in a structure of ours.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
        Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
    }
}
/// Prints nanoseconds per operation; `work` does `count` of them.
fn report(what: &str, count: usize, mut work: impl FnMut()) {
    let time = |_| {
        let start = cpu_time();
        work();
        (cpu_time() - start).as_nanos() as f64 / count as f64
    };
    let best = (0..5).map(time).fold(f64::MAX, f64::min);
    println!("{what:44} {best:8.2} ns");
}

/// Prints nanoseconds for each of `count` that were done once, since `start`.
fn once(what: &str, start: Duration, count: u32) {
    let time = (cpu_time() - start).as_nanos() as f64 / f64::from(count);
    println!("{what:44} {time:8.2} ns");
}

#[repr(transparent)]
struct Word(ParkWord);
// SAFETY: all zero bytes are a valid word, which needs no drop.
unsafe impl vervet_os::chunks::Zeroed for Word {}

/// Carriers are not started but kept; the clock stands still.
struct Still {
    words: Chunks<Word>,
    carriers: std::cell::RefCell<Vec<Carrier>>,
    now: std::cell::Cell<u64>,
}
impl Host for Still {
    fn word(&self, id: u32) -> &ParkWord {
        &self.words.at(id).0
    }
    fn now(&self) -> u64 {
        self.now.get()
    }
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier> {
        self.carriers.borrow_mut().push(carrier);
        Ok(())
    }
    fn wake(&self, _: &AtomicU32) {}
    fn preempt(&self, _: u32, _: u32) {}
    fn poll(&self, _: Wait, _: &mut dyn FnMut(u32)) {}
    fn wake_poller(&self) {}
    fn has_waiters(&self) -> bool {
        false
    }
}
fn scheduler(processors: u32) -> Scheduler<Still> {
    let host = Still {
        words: Chunks::new(),
        carriers: Default::default(),
        now: Default::default(),
    };
    let options = Options {
        processors,
        ..Options::default()
    };
    Scheduler::new(host, options)
}
fn carrier(s: &Scheduler<Still>) -> Carrier {
    s.host()
        .carriers
        .borrow_mut()
        .pop()
        .expect("it was started")
}
fn run(s: &Scheduler<Still>, c: &mut Carrier) -> u32 {
    match s.next(c) {
        Next::Run(id) => id,
        other => panic!("{other:?}"),
    }
}

const N: usize = 5_000_000;

/// Yielding, and waking each other.
fn switches() {
    for threads in [1, 2, 200, 10_000] {
        let s = scheduler(1);
        (1..=threads).for_each(|id| s.spawn(None, id));
        let mut c = carrier(&s);
        report(&format!("yield, {threads} threads"), N, || {
            for _ in 0..N {
                let id = run(&s, &mut c);
                s.after(&mut c, black_box(id), Outcome::Yield);
            }
        });
    }
    for processors in [1, 2] {
        let s = scheduler(processors);
        s.spawn(None, 1);
        let mut c = carrier(&s);
        assert_eq!(run(&s, &mut c), 1);
        s.host().word(2).begin();
        s.spawn(Some(&mut c), 2);
        let what = format!("park + unpark (a round trip of two), {processors} proc.");
        // Each wakes the other and parks.
        let mut other = 2;
        s.host().word(1).end();
        s.host().word(2).end();
        s.after(&mut c, 1, Outcome::Yield);
        report(&what, N, || {
            for _ in 0..2 * N {
                let id = run(&s, &mut c);
                s.host().word(id).end();
                other = 3 - id;
                s.unpark(Some(&mut c), other);
                s.host().word(id).begin();
                s.after(&mut c, id, Outcome::Park);
            }
        });
    }
}

/// What a thread does beside switching.
fn operations() {
    let s = scheduler(1);
    s.spawn(None, 1);
    let mut c = carrier(&s);
    report("spawn + run + end", N, || {
        for _ in 0..N {
            s.spawn(Some(&mut c), 2);
            let id = run(&s, &mut c);
            s.after(&mut c, black_box(id), Outcome::End);
        }
    });
    report("native call: enter + leave", N, || {
        for _ in 0..N {
            s.enter_native(&mut c);
            black_box(s.leave_native(&mut c, 1));
        }
    });
    report("timer: set + cancel", N, || {
        for i in 0..N {
            s.set_timer(&mut c, 3, black_box(50_000_000 + i as u64 * 1000));
            s.cancel_timer(3);
        }
    });
    report("timer: set + cancel, 1 M others", N, || {
        if s.stats().timers_set < 6 * N as u64 {
            (100..1_000_100).for_each(|id| s.set_timer(&mut c, id, u64::from(id) * 1_000_000));
        }
        for i in 0..N {
            s.set_timer(&mut c, 3, black_box(50_000_000 + i as u64 * 1000));
            s.cancel_timer(3);
        }
    });
}

/// Stealing.
fn steals() {
    // Two processors, one thief: 128 of 256 threads at a time.
    let s = scheduler(2);
    s.spawn(None, 1);
    let mut owner = carrier(&s);
    run(&s, &mut owner);
    s.spawn(Some(&mut owner), 1);
    let mut thief = carrier(&s);
    run(&s, &mut thief);
    (2..200).for_each(|id| s.spawn(Some(&mut owner), id));
    const STEALS: usize = 20_000;
    report(
        "steal 100 of 200 and put them back, each",
        STEALS * 100,
        || {
            for _ in 0..STEALS {
                for _ in 0..100 {
                    let id = run(&s, &mut thief);
                    s.after(&mut thief, id, Outcome::End);
                    s.spawn(Some(&mut owner), id);
                }
            }
        },
    );
    println!("  {:?}", s.stats());
}

/// Very many timers.
fn million() {
    // A million timers.
    const MANY: u32 = 1_000_000;
    for (what, spread) in [("at once", 1), ("over 1,000 ticks", 1000)] {
        let s = scheduler(1);
        s.spawn(None, 1);
        let mut c = carrier(&s);
        run(&s, &mut c);
        let start = cpu_time();
        for id in 2..MANY + 2 {
            let word = s.host().word(id);
            word.begin();
            word.sleeps();
            let tick = 1000 + u64::from(id.wrapping_mul(0x9E37_79B9)) % spread;
            s.set_timer(&mut c, id, tick * 1_000_000);
        }
        once(&format!("1 M timers {what}: set, each"), start, MANY);
        let start = cpu_time();
        s.after(&mut c, 1, Outcome::End);
        let mut ran = 0;
        for tick in 1000..1000 + spread {
            s.host().now.set(tick * 1_000_000);
            while let Next::Run(id) = s.next(&mut c) {
                s.host().word(id).end();
                s.after(&mut c, id, Outcome::End);
                ran += 1;
            }
        }
        assert_eq!(ran, MANY);
        let what = format!("1 M timers {what}: expire and run, each");
        once(&what, start, MANY);
    }
}

fn main() {
    switches();
    operations();
    steals();
    million();
}
