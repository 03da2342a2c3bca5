//! What the compiler and the linker count and list during a run: `--stats`, `--trace`, `--missing`.
//!
//! Invariant: counting costs a relaxed addition for each method that is compiled, never for one that is called. Times are nanoseconds.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vervet_jit::Blob;
use vervet_os::LeafLock;
use vervet_types::MethodRef;

pub(super) static METHODS: AtomicU64 = AtomicU64::new(0);
pub(super) static IL_BYTES: AtomicU64 = AtomicU64::new(0);
pub(super) static CLIF: AtomicU64 = AtomicU64::new(0);
pub(super) static TRANSLATE_NS: AtomicU64 = AtomicU64::new(0);
pub(super) static CODEGEN_NS: AtomicU64 = AtomicU64::new(0);
pub(super) static CODE_BYTES: AtomicU64 = AtomicU64::new(0);
pub(super) static STUBS: AtomicU64 = AtomicU64::new(0);
pub(super) static STUB_NS: AtomicU64 = AtomicU64::new(0);
pub(super) static MISSING: LeafLock<Vec<String>> = LeafLock::new(Vec::new());

/// How many methods were compiled, and how many bytes of IL they had.
pub fn jitted() -> (u64, u64) {
    (METHODS.load(Relaxed), IL_BYTES.load(Relaxed))
}
/// What was compiled so far.
pub struct Compiled {
    /// Methods.
    pub methods: u64,
    /// Bytes of their IL.
    pub il_bytes: u64,
    /// Bytes of their code.
    pub code_bytes: u64,
    /// Nanoseconds that it took.
    pub ns: u64,
}
/// See [`Compiled`].
pub fn compiled_so_far() -> Compiled {
    Compiled {
        methods: METHODS.load(Relaxed),
        il_bytes: IL_BYTES.load(Relaxed),
        code_bytes: CODE_BYTES.load(Relaxed),
        ns: TRANSLATE_NS.load(Relaxed) + CODEGEN_NS.load(Relaxed),
    }
}
/// Counts a compiled method.
pub fn compiled(method: MethodRef, blob: &Blob) {
    METHODS.fetch_add(1, Relaxed);
    IL_BYTES.fetch_add(blob.stats.il_bytes as u64, Relaxed);
    CLIF.fetch_add(blob.stats.clif_insts as u64, Relaxed);
    TRANSLATE_NS.fetch_add(blob.stats.translate_ns, Relaxed);
    CODEGEN_NS.fetch_add(blob.stats.codegen_ns, Relaxed);
    CODE_BYTES.fetch_add(blob.code.len() as u64, Relaxed);
    list(method, blob);
}

/// Prints the listing of code that is linked, if one was asked for.
pub fn list(method: MethodRef, blob: &Blob) {
    if let Some(listing) = &blob.listing {
        eprintln!("; {}\n{listing}", method.full_name());
    }
}

/// Counts a stub that was generated from the key of a signature.
pub fn stub(blob: &Blob) {
    STUBS.fetch_add(1, Relaxed);
    STUB_NS.fetch_add(blob.stats.translate_ns + blob.stats.codegen_ns, Relaxed);
}

/// Notes a method that is about to be compiled, or whose code was kept, for `--trace`.
pub fn trace_code(what: &str, method: MethodRef) {
    if let Some(t) = &crate::runtime::rt().options.trace {
        let name = method.full_name();
        if t.is_empty() || name.contains(t.as_str()) {
            eprintln!("[{what}] {name}");
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
