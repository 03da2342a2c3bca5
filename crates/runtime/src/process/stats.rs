//! Counters for `--stats`, the perf map, and the list for `--missing`.
use crate::code::table::{Code, CodeKind};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vervet_jit::Blob;
use vervet_os::LeafLock;
use vervet_types::MethodRef;

static METHODS: AtomicU64 = AtomicU64::new(0);
static IL_BYTES: AtomicU64 = AtomicU64::new(0);
static CLIF: AtomicU64 = AtomicU64::new(0);
static TRANSLATE_NS: AtomicU64 = AtomicU64::new(0);
static CODEGEN_NS: AtomicU64 = AtomicU64::new(0);
static CODE_BYTES: AtomicU64 = AtomicU64::new(0);
static MISSING: LeafLock<Vec<String>> = LeafLock::new(Vec::new());
static PERF: LeafLock<Option<std::fs::File>> = LeafLock::new(None);

/// Counts a compiled method.
pub fn compiled(method: MethodRef, blob: &Blob) {
    METHODS.fetch_add(1, Relaxed);
    IL_BYTES.fetch_add(blob.stats.il_bytes as u64, Relaxed);
    CLIF.fetch_add(blob.stats.clif_insts as u64, Relaxed);
    TRANSLATE_NS.fetch_add(blob.stats.translate_ns, Relaxed);
    CODEGEN_NS.fetch_add(blob.stats.codegen_ns, Relaxed);
    CODE_BYTES.fetch_add(blob.code.len() as u64, Relaxed);
    if let Some(listing) = &blob.listing {
        eprintln!("; {}\n{listing}", method.full_name());
    }
}

/// Notes a method about to be compiled, for `--trace`.
pub fn trace_compile(method: MethodRef) {
    if let Some(t) = &crate::runtime::rt().options.trace {
        let name = method.full_name();
        if t.is_empty() || name.contains(t.as_str()) {
            eprintln!("[compile] {name}");
        }
    }
}

/// Notes an internal call that was wanted and is not there.
pub fn missing_icall(method: MethodRef) {
    if crate::runtime::rt().options.missing {
        let mut m = MISSING.lock();
        let name = method.full_name();
        if !m.contains(&name) {
            m.push(name);
        }
    }
}

/// Opens the perf map.
pub fn open_perf_map() -> std::io::Result<()> {
    *PERF.lock() = Some(std::fs::File::create(format!(
        "/tmp/perf-{}.map",
        std::process::id()
    ))?);
    Ok(())
}

/// Writes a piece of code to the perf map, if it is open.
pub fn perf_map(code: &Code) {
    let mut p = PERF.lock();
    if let Some(f) = p.as_mut() {
        let name = match code.kind {
            CodeKind::Method(m) => m.full_name(),
            CodeKind::Filter(m) => format!("(filter) {}", m.full_name()),
            CodeKind::Wrapper(m) => format!("(wrapper) {}", m.full_name()),
            CodeKind::Stub(s) => format!("(stub) {s}"),
        };
        let _ = writeln!(f, "{:x} {:x} {name}", code.start, code.end - code.start);
    }
}

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
    eprint!("{}", crate::memory::gc::report());
    eprintln!("classes               {}", rt.universe.class_count());
    eprint!("{}", crate::safepoint::histogram::report());
    eprint!("{}", crate::memory::handles::report());
}
