//! What happened to look-ups, for `--stats`.
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Methods whose code came from a file.
pub static HITS: AtomicU64 = AtomicU64::new(0);
/// Methods of which there was no entry.
pub static MISSES: AtomicU64 = AtomicU64::new(0);
/// Entries that were not used because a class is not initialised yet.
pub static REJECTED_INIT: AtomicU64 = AtomicU64::new(0);
/// Entries that were not used because a class is initialised by now.
pub static REJECTED_LESS: AtomicU64 = AtomicU64::new(0);
/// Entries that were not used because a module is another one, or not bound yet.
pub static REJECTED_MODULES: AtomicU64 = AtomicU64::new(0);
/// Entries that could not be read.
pub static REJECTED_DAMAGED: AtomicU64 = AtomicU64::new(0);
/// Nanoseconds of look-ups, hits and others.
pub static LOOKUP_NS: AtomicU64 = AtomicU64::new(0);
/// Compiled methods that could not be kept.
pub static NOT_KEPT: AtomicU64 = AtomicU64::new(0);
/// Bytes of files written.
pub static WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Nanoseconds of writing.
pub static WRITE_NS: AtomicU64 = AtomicU64::new(0);
/// Hits that were compiled again and compared.
pub static VERIFIED: AtomicU64 = AtomicU64::new(0);

/// Adds one.
pub fn count(what: &AtomicU64) {
    what.fetch_add(1, Relaxed);
}

/// The lines of `--stats`.
pub fn report() -> String {
    let mut text = String::new();
    if crate::runtime::rt().options.cache == super::setting::Mode::Off {
        return text;
    }
    if let Some(why) = super::setting::why_off() {
        let _ = writeln!(text, "code cache            off: {why}");
        return text;
    }
    let n = |a: &AtomicU64| a.load(Relaxed);
    let (hits, misses) = (n(&HITS), n(&MISSES));
    let rejected = [
        &REJECTED_INIT,
        &REJECTED_LESS,
        &REJECTED_MODULES,
        &REJECTED_DAMAGED,
    ]
    .map(n);
    let looked = hits + misses + rejected.iter().sum::<u64>();
    let _ = writeln!(text, "methods from cache    {hits}, {misses} not there");
    let [init, less, modules, damaged] = rejected;
    let _ = writeln!(
        text,
        "cache rejected        {init} class not initialised, {less} class initialised, {modules} other modules, {damaged} damaged"
    );
    let _ = writeln!(
        text,
        "cache look-ups        {:.2} us each",
        n(&LOOKUP_NS) as f64 / 1000.0 / looked.max(1) as f64
    );
    let _ = writeln!(
        text,
        "cache written         {} bytes in {:.1} ms, {} methods cannot be kept",
        n(&WRITTEN),
        n(&WRITE_NS) as f64 / 1e6,
        n(&NOT_KEPT)
    );
    if n(&VERIFIED) > 0 {
        let _ = writeln!(text, "cache verified        {}", n(&VERIFIED));
    }
    text
}
