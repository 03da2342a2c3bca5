//! The counters of a recording: the runtime's own, and the system's of this process.
//!
//! Those that mono has too have mono's names, so that its reports show them.
//!
//! | section | counters | where the values come from |
//! |---|---|---|
//! | JIT | methods compiled and found in the cache, bytes of IL and of code, time | `process::counters`, `code::cache::counts` |
//! | GC | collections and their time, size of the heap, bytes allocated and promoted | the heap's statistics |
//! | Metadata | classes made | the universe of types |
//! | System | processor time, memory, page faults, load | getrusage, getloadavg, `/proc/self/statm` |
//!
//! # How it works
//! The writer asks once a second, and once more when a recording ends. It writes a description of each counter before its first value, and later only the
//! values that changed, as differences.
//!
//! # Invariants
//! * All of it runs on the writer's thread, which is not attached: nothing here touches an object, waits for the collector or takes a lock that a stopped
//!   thread may hold.
//! * The order and number of counters are the same at each call, once the runtime is there: the writer tells counters apart by their places.
//! * A value that is read while others change it may be a little old. None is torn, because each is one atomic word.
use std::sync::atomic::Ordering::Relaxed;
use vervet_profiler::host::{Counter, CounterValue, section, unit, variance};

struct List(Vec<Counter>);

impl List {
    /// A counter of any type; its unit and variance are mono's constants.
    fn add(&mut self, section: u32, name: &str, value: CounterValue, unit: u32, variance: u32) {
        self.0.push(Counter {
            section,
            name: name.to_owned(),
            value,
            unit,
            variance,
        });
    }
    /// A number that only grows.
    fn count(&mut self, section: u32, name: &str, value: u64) {
        self.add(
            section,
            name,
            CounterValue::ULong(value),
            unit::COUNT,
            variance::MONOTONIC,
        );
    }
    /// A number of bytes that grows and shrinks.
    fn bytes(&mut self, section: u32, name: &str, value: u64) {
        self.add(
            section,
            name,
            CounterValue::Long(value as i64),
            unit::BYTES,
            variance::VARIABLE,
        );
    }
    /// A time that only grows, in nanoseconds; the file has units of 100 of them.
    fn time(&mut self, section: u32, name: &str, ns: u64) {
        let value = CounterValue::Time(ns as i64 / 100);
        self.add(section, name, value, unit::TIME, variance::MONOTONIC);
    }
}

/// The counters with their values.
pub(super) fn all() -> Vec<Counter> {
    let mut list = List(Vec::new());
    runtime(&mut list);
    system(&mut list);
    list.0
}

/// What the runtime counts anyway, for `--stats`.
fn runtime(list: &mut List) {
    let compiled = crate::process::counters::compiled_so_far();
    list.count(
        section::JIT,
        "Methods JITted using mono JIT",
        compiled.methods,
    );
    list.count(
        section::JIT,
        "Methods from AOT",
        crate::code::cache::counts::HITS.load(Relaxed),
    );
    list.count(section::JIT, "Compiled CIL code size", compiled.il_bytes);
    list.bytes(section::JIT, "Native code size", compiled.code_bytes);
    list.time(section::JIT, "Total time spent JITting", compiled.ns);
    let heap = crate::memory::gc::heap();
    list.count(
        section::GC,
        "Minor GC collections",
        heap.stats.minor.count(),
    );
    list.count(
        section::GC,
        "Major GC collections",
        heap.stats.major.count(),
    );
    list.time(section::GC, "Minor GC time", heap.stats.minor.total());
    list.time(section::GC, "Major GC time", heap.stats.major.total());
    list.bytes(section::GC, "Heap size", heap.committed() as u64);
    list.count(
        section::GC,
        "Bytes allocated",
        heap.stats.allocated.load(Relaxed),
    );
    list.count(
        section::GC,
        "Bytes promoted",
        heap.stats.promoted.load(Relaxed),
    );
    if let Some(rt) = crate::runtime::rt_opt() {
        list.count(
            section::METADATA,
            "Classes loaded",
            rt.universe.class_count() as u64,
        );
    }
}

/// What the system knows of this process. What cannot be read is 0.
fn system(list: &mut List) {
    // SAFETY: records of this frame, which the calls fill.
    let (usage, load) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        let mut load = [0f64; 3];
        libc::getloadavg(load.as_mut_ptr(), 3);
        (usage, load)
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    let (user, system) = (ns(usage.ru_utime), ns(usage.ru_stime));
    list.time(section::SYSTEM, "User Time", user);
    list.time(section::SYSTEM, "System Time", system);
    list.time(section::SYSTEM, "Total Time", user + system);
    // Pages: size, resident, shared, text, libraries, data.
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Vec<u64> = text
        .split_whitespace()
        .map(|n| n.parse().unwrap_or(0))
        .collect();
    let bytes = |at: usize| pages.get(at).copied().unwrap_or(0) * 4096;
    list.bytes(section::SYSTEM, "Working Set", bytes(1));
    list.bytes(
        section::SYSTEM,
        "Private Bytes",
        bytes(1).saturating_sub(bytes(2)),
    );
    list.bytes(section::SYSTEM, "Virtual Bytes", bytes(0));
    list.bytes(section::SYSTEM, "Page File Bytes", bytes(5));
    list.count(
        section::SYSTEM,
        "Page Faults",
        (usage.ru_minflt + usage.ru_majflt) as u64,
    );
    for (value, name) in load.into_iter().zip(["1min", "5min", "15min"]) {
        let name = format!("CPU Load Average - {name}");
        list.add(
            section::SYSTEM,
            &name,
            CounterValue::Double(value),
            unit::RAW,
            variance::VARIABLE,
        );
    }
}
