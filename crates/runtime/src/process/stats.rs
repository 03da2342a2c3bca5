//! Lines for `--stats` and `--missing`, at the end of a run.
//!
//! Each line begins with the name of the figure in 22 columns; tests and scripts read them by that name. Counters of other parts of the
//! runtime come as text from those parts (`report`).
use super::counters::*;
use std::sync::atomic::Ordering::Relaxed;

/// Prints what was asked for at exit.
pub fn report() {
    let Some(rt) = crate::runtime::rt_opt() else {
        return;
    };
    if rt.options.missing {
        for m in MISSING.lock().iter() {
            eprintln!("missing: {m}");
        }
    }
    if !rt.options.stats {
        return;
    }
    let (methods, il) = (METHODS.load(Relaxed), IL_BYTES.load(Relaxed));
    let (t, c) = (TRANSLATE_NS.load(Relaxed), CODEGEN_NS.load(Relaxed));
    let per = |ns: u64| {
        if il == 0 {
            0.0
        } else {
            ns as f64 / 1000.0 / il as f64
        }
    };
    eprintln!("methods compiled      {methods}");
    eprintln!("IL bytes              {il}");
    eprintln!("CLIF instructions     {}", CLIF.load(Relaxed));
    eprintln!(
        "code bytes            {} (arena {})",
        CODE_BYTES.load(Relaxed),
        crate::code::arena::used()
    );
    eprintln!(
        "translate             {:.1} ms, {:.2} us per IL byte",
        t as f64 / 1e6,
        per(t)
    );
    eprintln!(
        "generate code         {:.1} ms, {:.2} us per IL byte",
        c as f64 / 1e6,
        per(c)
    );
    eprint!("{}", crate::code::cache::counts::report());
    eprintln!(
        "stubs                 {}, {:.1} ms",
        STUBS.load(Relaxed),
        STUB_NS.load(Relaxed) as f64 / 1e6
    );
    eprint!("{}", crate::code::background::report());
    eprint!("{}", crate::code::hot::report());
    eprint!("{}", crate::code::loops::report());
    eprint!("{}", crate::memory::gc::report());
    eprintln!("classes               {}", rt.universe.class_count());
    eprint!("{}", crate::safepoint::histogram::report());
    eprint!("{}", crate::memory::handles::report());
    eprint!("{}", crate::threads::green::report());
}
