//! Pins: moments when a green thread kept its carrier, so that another carrier had to take over. They are counted by cause, with the managed
//! stacks of the most frequent ones.
//!
//! | cause | when it is counted |
//! |---|---|
//! | callback | the thread waits while native code that called managed code lies on its stack |
//! | native call | the thread comes back from a native call whose processor the watcher has retaken: it took more than a millisecond, and others needed the processor |
//! | compilation | the same, of the first call of a method, which was compiled; or the thread waits while it compiles |
//!
//! A class constructor is no cause: a thread that waits while it runs one leaves its carrier like any other.
//!
//! # Invariants
//! * Counting costs an addition where a thread has waited in the kernel, or has lost its processor. Stacks are noted only if somebody will
//!   read them ([`note_stacks`]), and beyond the first thousand only one of [`SAMPLE`].
//! * The table holds [`STACKS`] stacks. The events of further ones are counted, and their stacks forgotten.
use crate::exceptions::stack_words::{self, Word};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use vervet_abi::ThreadContext;
use vervet_abi::context::RecordKind;
use vervet_os::LeafLock;

/// Why a green thread kept its carrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    Callback,
    Compilation,
    NativeCall,
}

const NAMES: [&str; 3] = ["callbacks", "compilations", "native calls"];
static COUNTS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// How many stacks are kept, and frames of each.
const STACKS: usize = 64;
const FRAMES: usize = 24;
/// So many events of a cause have their stacks noted, then one of [`SAMPLE`].
const ALL_OF: u64 = 1000;
const SAMPLE: u64 = 16;
/// How many stacks a report shows.
const SHOWN: usize = 10;

struct Stack {
    cause: Cause,
    words: Vec<Word>,
    /// Events, estimated if they were sampled.
    count: u64,
}

static TABLE: LeafLock<Vec<Stack>> = LeafLock::new(Vec::new());
static NOTES: AtomicBool = AtomicBool::new(false);

/// From now on stacks are noted, besides the counts.
pub(crate) fn note_stacks() {
    NOTES.store(true, Relaxed);
}

/// How many events there were.
pub(super) fn count() -> u64 {
    COUNTS.iter().map(|c| c.load(Relaxed)).sum()
}

/// A green thread keeps its carrier, or has kept it.
///
/// # Safety
/// The context is the calling thread's.
#[cold]
pub(super) unsafe fn record(context: *mut ThreadContext, cause: Cause) {
    let before = COUNTS[cause as usize].fetch_add(1, Relaxed);
    if !NOTES.load(Relaxed) {
        return;
    }
    let weight = match before {
        0..ALL_OF => 1,
        n if n % SAMPLE == 0 => SAMPLE,
        _ => return,
    };
    let mut words = Vec::with_capacity(FRAMES);
    // SAFETY: the calling thread's records, which do not change meanwhile.
    unsafe {
        stack_words::collect(context, None, |word| {
            words.push(word);
            words.len() < FRAMES
        });
    }
    let mut table = TABLE.lock();
    let known = table
        .iter()
        .position(|s| s.cause == cause && s.words == words);
    match known {
        Some(at) => table[at].count += weight,
        None if table.len() < STACKS => table.push(Stack {
            cause,
            words,
            count: weight,
        }),
        None => {}
    }
}

/// A green thread comes back from a native call that cost its carrier the processor.
///
/// # Safety
/// The context is the calling thread's.
#[cold]
pub(super) unsafe fn record_native_call(context: *mut ThreadContext) {
    // SAFETY: the caller's promise. The innermost record says how managed code was left: the prestub, which compiles, is entered as a throw is.
    unsafe {
        let compiles = (*context)
            .record
            .as_ref()
            .is_some_and(|r| r.kind == RecordKind::Throw as usize);
        let cause = match compiles {
            true => Cause::Compilation,
            false => Cause::NativeCall,
        };
        record(context, cause);
    }
}

/// The lines of `--stats`.
pub(super) fn report() -> String {
    let mut text = String::new();
    let figures: Vec<String> = NAMES
        .iter()
        .zip(&COUNTS)
        .map(|(name, count)| format!("{name} {}", count.load(Relaxed)))
        .collect();
    let _ = writeln!(text, "{:<22}{}", "green pins", figures.join(", "));
    // The text is made without the lock: it reads tables that have locks of their own.
    let mut stacks = std::mem::take(&mut *TABLE.lock());
    // A method is compiled once, so compilations tell the least.
    stacks.sort_by_key(|s| (s.cause == Cause::Compilation, std::cmp::Reverse(s.count)));
    for stack in stacks.iter().take(SHOWN) {
        let _ = writeln!(text, "  {} {}", NAMES[stack.cause as usize], stack.count);
        for line in stack_words::lines(stack.words.iter().copied()) {
            let _ = writeln!(text, "    at {line}");
        }
        if stack.words.len() == FRAMES {
            text.push_str("    ...\n");
        }
    }
    text
}
