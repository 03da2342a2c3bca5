//! Times of alloc+free and of reading a target, with 1, 2 and 8 threads. Run: `cargo bench -p vervet-handles`.
//!
//! Times are CPU time of the thread, so other work on the machine and more threads than cores do not count.
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Duration;
use vervet_handles::{Hint, Kind, Tables};

const OPERATIONS: usize = 20_000_000;

/// CPU time of the calling thread.
fn cpu_time() -> Duration {
    // SAFETY: fills in a structure of ours.
    unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
        Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
    }
}

/// Nanoseconds per operation, if each of `threads` does `OPERATIONS` at once: the mean of the threads, best of five.
fn time(threads: usize, work: impl Fn() + Sync) -> f64 {
    let (barrier, work) = (&Barrier::new(threads), &work);
    let run = || {
        barrier.wait();
        let start = cpu_time();
        work();
        (cpu_time() - start).as_nanos() as f64 / OPERATIONS as f64
    };
    (0..5)
        .map(|_| {
            std::thread::scope(|scope| {
                let all: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
                all.into_iter().map(|t| t.join().expect("ran")).sum::<f64>() / threads as f64
            })
        })
        .fold(f64::MAX, f64::min)
}

fn main() {
    let tables = Tables::new();
    for threads in [1, 2, 8] {
        let report = |what: &str, ns: f64| println!("{what:12} {threads} threads  {ns:6.2} ns");
        let ns = time(threads, || {
            let mut hint = Hint::new();
            for i in 0..OPERATIONS {
                let h = tables
                    .alloc(&mut hint, Kind::Normal, black_box(8 * i), 0)
                    .unwrap();
                black_box(tables.free(&mut hint, black_box(h)));
            }
            tables.retire(&mut hint);
        });
        report("alloc+free", ns);
        let mut hint = Hint::new();
        let handles: Vec<u32> = (0..1000)
            .map(|i| tables.alloc(&mut hint, Kind::Weak, 8 * i, 0).unwrap())
            .collect();
        let ns = time(threads, || {
            for _ in 0..OPERATIONS / handles.len() {
                let sum = black_box(&handles)
                    .iter()
                    .fold(0, |sum, &h| sum + tables.target(h).unwrap_or(0));
                black_box(sum);
            }
        });
        report("target", ns);
        for h in handles {
            tables.free(&mut hint, h);
        }
        tables.retire(&mut hint);
    }

    // Tables that are large: 1.6 million handles of all kinds, read, visited, freed.
    let mut hint = Hint::new();
    let phase = |what: &str, start: Duration, n: usize| {
        let t = cpu_time() - start;
        println!(
            "{what:24} {:8.2} ms  {:6.2} ns each",
            t.as_secs_f64() * 1e3,
            t.as_nanos() as f64 / n as f64
        );
    };
    const MANY: usize = 1_600_000;
    let start = cpu_time();
    let handles: Vec<u32> = (0..MANY)
        .map(|i| {
            tables
                .alloc(&mut hint, Kind::ALL[i & 3], 8 * i + 8, 0)
                .unwrap()
        })
        .collect();
    phase("1.6 M alloc", start, MANY);
    let start = cpu_time();
    black_box(
        handles
            .iter()
            .map(|&h| tables.target(h).unwrap())
            .fold(0, usize::wrapping_add),
    );
    phase("1.6 M target", start, MANY);
    let start = cpu_time();
    tables.visit_strong(false, |o| (o, false));
    tables.update_weak(Kind::Weak, false, |o| Some((o, false)));
    tables.update_weak(Kind::WeakTrackResurrection, false, |o| Some((o, false)));
    phase("full visit", start, MANY);
    let start = cpu_time();
    tables.visit_strong(true, |o| (o, false));
    tables.update_weak(Kind::Weak, true, |o| Some((o, false)));
    tables.update_weak(Kind::WeakTrackResurrection, true, |o| Some((o, false)));
    phase("young visit, all old", start, MANY);
    let start = cpu_time();
    for h in handles {
        tables.free(&mut hint, h);
    }
    phase("1.6 M free", start, MANY);
}
