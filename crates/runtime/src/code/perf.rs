//! The files by which Linux `perf` names generated code: the perf map and the jitdump.
//!
//! | | perf map | jitdump |
//! |---|---|---|
//! | file | `/tmp/perf-PID.map`: a line for each piece of code | `/tmp/jit-PID.dump`: records with names, times and the code itself |
//! | read by | `perf report`, by address | `perf inject --jit`, which makes an ELF file of each piece; `perf annotate` then shows instructions |
//!
//! `perf` finds the jitdump by a mapping of the file that it sees while it records.
//!
//! # Invariants
//! * Nothing is named, and no name is made, unless a file is open.
//! * Code is named when it is in the table and before it runs; a stub when it is placed.
use crate::code::table::{Code, CodeKind};
use crate::profiler::recording;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use vervet_os::{LeafLock, clock, signal};

static IS_OPEN: AtomicBool = AtomicBool::new(false);
static MAP: LeafLock<Option<File>> = LeafLock::new(None);
static DUMP: LeafLock<Option<File>> = LeafLock::new(None);
/// Pieces of code in the jitdump.
static PIECES: AtomicU64 = AtomicU64::new(0);

/// Opens the files that are wanted. Called once at start-up, before the first stub is placed.
///
/// # Errors
/// A file cannot be made or written.
pub fn open(map: bool, dump: bool) -> io::Result<()> {
    let id = std::process::id();
    if map {
        *MAP.lock() = Some(File::create(format!("/tmp/perf-{id}.map"))?);
    }
    if dump {
        *DUMP.lock() = Some(open_dump(&format!("/tmp/jit-{id}.dump"))?);
    }
    IS_OPEN.store(map || dump, Ordering::Relaxed);
    Ok(())
}

fn open_dump(path: &str) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    /// "JiTD"; the machine is EM_X86_64.
    const MAGIC: u32 = 0x4A69_5444;
    const VERSION: u32 = 1;
    const HEADER: u32 = 40;
    const MACHINE: u32 = 62;
    let mut options = File::options();
    let mut file = options
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(path)?;
    let mut header = Vec::new();
    for word in [MAGIC, VERSION, HEADER, MACHINE, 0, std::process::id()] {
        header.extend(word.to_le_bytes());
    }
    header.extend(clock::now().to_le_bytes());
    header.extend(0u64.to_le_bytes());
    file.write_all(&header)?;
    // SAFETY: a private mapping of a file of ours, which stays.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_EXEC,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
            0,
        )
    };
    match mapped == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(file),
    }
}

/// Names a piece of code.
pub fn code(code: &Code) {
    stub(code.start, code.end - code.start, || match code.kind {
        CodeKind::Method(m) => m.full_name(),
        CodeKind::Filter(m) => format!("(filter) {}", m.full_name()),
        CodeKind::Wrapper(m) | CodeKind::Callback(m) => format!("(wrapper) {}", m.full_name()),
        CodeKind::Stub(s) => format!("(stub) {s}"),
    });
}

/// Names the `bytes` bytes of a stub at `at`, here and in a recording of the log profiler.
pub fn stub(at: usize, bytes: usize, name: impl FnOnce() -> String) {
    let (is_open, records) = (
        IS_OPEN.load(Ordering::Relaxed),
        recording::is_on(recording::JIT),
    );
    if !is_open && !records {
        return;
    }
    let name = name();
    if records {
        recording::stub_made(at, bytes, &name);
    }
    if let Some(file) = MAP.lock().as_mut() {
        let _ = writeln!(file, "{at:x} {bytes:x} {name}");
    }
    if let Some(file) = DUMP.lock().as_mut() {
        let _ = file.write_all(&loaded(at, bytes, &name));
    }
}

/// The record of a piece of code, `JIT_CODE_LOAD`.
fn loaded(at: usize, bytes: usize, name: &str) -> Vec<u8> {
    const FIXED: usize = 56;
    const LOAD: u32 = 0;
    let total = FIXED + name.len() + 1 + bytes;
    let mut record = Vec::with_capacity(total);
    record.extend(LOAD.to_le_bytes());
    record.extend((total as u32).to_le_bytes());
    record.extend(clock::now().to_le_bytes());
    record.extend(std::process::id().to_le_bytes());
    record.extend((signal::thread_id() as u32).to_le_bytes());
    let piece = PIECES.fetch_add(1, Ordering::Relaxed);
    for word in [at as u64, at as u64, bytes as u64, piece] {
        record.extend(word.to_le_bytes());
    }
    record.extend(name.as_bytes());
    record.push(0);
    // SAFETY: code that was placed, which is never written again.
    record.extend(unsafe { std::slice::from_raw_parts(at as *const u8, bytes) });
    record
}
