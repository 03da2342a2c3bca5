//! What the runtime remembers of a socket besides what the kernel knows.
//!
//! # Invariants
//! A descriptor's word is cleared when a socket gets that descriptor. Words never move, so they are read and written without
//! locks; managed code that uses one socket from several threads gets no order from the kernel either.
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::Chunks;
use vervet_runtime::threads::park::blocking_io;

/// The program has shut it down for receiving.
const SHUT: usize = 1;
/// It is in non-blocking mode because the runtime wants so; to the program it blocks.
const MODE_IS_OURS: usize = 2;
/// Another descriptor of the program leads to the same connection.
const DUPLICATED: usize = 4;
const FLAGS: usize = SHUT | MODE_IS_OURS | DUPLICATED;
/// The bits of a word from here on are a pending error.
const ERROR_SHIFT: u32 = 16;

/// A word for each descriptor, 0 at first.
static WORDS: Chunks<AtomicUsize> = Chunks::new();

/// The word of a descriptor; None for a negative number.
fn word(fd: i32) -> Option<&'static AtomicUsize> {
    u32::try_from(fd).ok().map(|fd| WORDS.at(fd))
}

/// A new socket has that descriptor.
pub fn begin(fd: i32) {
    blocking_io::forget(fd);
    if let Some(w) = word(fd) {
        w.store(0, Ordering::Relaxed);
    }
}
/// The program shuts it down for receiving.
pub fn set_shut(fd: i32) {
    if let Some(w) = word(fd) {
        w.fetch_or(SHUT, Ordering::Relaxed);
    }
}
/// Has the program done that?
pub fn is_shut(fd: i32) -> bool {
    word(fd).is_some_and(|w| w.load(Ordering::Relaxed) & SHUT != 0)
}
/// Two descriptors lead to one connection.
pub fn set_duplicated(fds: [i32; 2]) {
    for w in fds.into_iter().filter_map(word) {
        w.fetch_or(DUPLICATED, Ordering::Relaxed);
    }
}
/// May another descriptor lead to its connection?
pub fn is_duplicated(fd: i32) -> bool {
    word(fd).is_some_and(|w| w.load(Ordering::Relaxed) & DUPLICATED != 0)
}
/// Notes whether the runtime has put it into non-blocking mode.
pub fn set_mode_is_ours(fd: i32, is_ours: bool) {
    if let Some(w) = word(fd) {
        match is_ours {
            true => w.fetch_or(MODE_IS_OURS, Ordering::Relaxed),
            false => w.fetch_and(!MODE_IS_OURS, Ordering::Relaxed),
        };
    }
}
/// Has the runtime done that?
pub fn mode_is_ours(fd: i32) -> bool {
    word(fd).is_some_and(|w| w.load(Ordering::Relaxed) & MODE_IS_OURS != 0)
}
/// Remembers the Winsock number of an error, which the kernel reports once only.
pub fn save_error(fd: i32, number: i32) {
    if let Some(w) = word(fd) {
        let set = |s: usize| Some(s & FLAGS | (number as usize) << ERROR_SHIFT);
        let _ = w.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
    }
}
/// The last one remembered, or 0.
pub fn saved_error(fd: i32) -> i32 {
    word(fd).map_or(0, |w| (w.load(Ordering::Relaxed) >> ERROR_SHIFT) as i32)
}
