//! The memory of green threads: first segments and localloc stacks from slabs, native stacks from a pool.
//!
//! # Invariants
//! * A slab is one mapping for many threads, because a process may have some 65,000 mappings only. A first segment needs no guard page: functions
//!   compare with the limit before they make a frame.
//! * A native stack has a guard page, because C code compares with nothing. It belongs to one green thread at a time.
//! * Slabs are never unmapped: a thread's memory goes to the next thread with its record.
use crate::memory::address_plan;
use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vervet_abi::stack::FIRST_SEGMENT;
use vervet_os::{LeafLock, memory};

/// Bytes of a localloc stack.
const LOCALLOC: usize = 4 << 20;
/// Bytes of a localloc stack where address space is limited.
const LOCALLOC_LIMITED: usize = 64 << 10;
/// Threads of the first slab. Each later one is for as many as there are threads already, so a million threads need few mappings.
const SLAB: usize = 256;
const LARGEST_SLAB: usize = 64 << 10;
/// Threads of a slab where address space is limited.
const SLAB_LIMITED: usize = 16;
/// Bytes of a native stack.
pub(super) const NATIVE: usize = 8 << 20;
/// Bytes of a native stack where address space is limited.
const NATIVE_LIMITED: usize = 256 << 10;

/// The memory that a green thread has for good: the lowest addresses.
pub(super) struct Memory {
    /// What the runtime has of the thread. It reads as zero.
    pub(super) home: usize,
    pub(super) segment: usize,
    pub(super) localloc: usize,
    pub(super) localloc_end: usize,
}

/// What is left of the last slab.
struct Slab {
    homes: usize,
    segments: usize,
    localloc: usize,
    left: usize,
    /// Threads of all slabs.
    threads: usize,
}

static LAST: LeafLock<Slab> = LeafLock::new(Slab {
    homes: 0,
    segments: 0,
    localloc: 0,
    left: 0,
    threads: 0,
});

/// Bytes of the localloc stack that a thread's memory has.
pub(super) fn localloc() -> usize {
    match address_plan::is_limited() {
        true => LOCALLOC_LIMITED,
        false => LOCALLOC,
    }
}

/// The memory of a new thread, of which the runtime has `home` bytes.
///
/// # Errors
/// The system's: there is no memory.
pub(super) fn memory(home: usize) -> io::Result<Memory> {
    let is_limited = address_plan::is_limited();
    let localloc = localloc();
    let mut slab = LAST.lock();
    if slab.left == 0 {
        let count = match is_limited {
            true => SLAB_LIMITED,
            false => slab.threads.clamp(SLAB, LARGEST_SLAB),
        };
        let size = count * FIRST_SEGMENT;
        let segments = memory::reserve(size)? as usize;
        // A page of 2 MiB would hold the first segments of many threads, each of which uses one page of its four.
        // SAFETY: the whole mapping.
        unsafe { memory::avoid_huge_pages(segments, segments + size) };
        let lowest = memory::reserve(count * localloc)? as usize;
        // (These lie densely: segments of threads that wait for long are given back.)
        *slab = Slab {
            homes: memory::reserve(count * home)? as usize,
            segments,
            localloc: lowest,
            left: count,
            threads: slab.threads + count,
        };
    }
    slab.left -= 1;
    Ok(Memory {
        home: slab.homes + slab.left * home,
        segment: slab.segments + slab.left * FIRST_SEGMENT,
        localloc: slab.localloc + slab.left * localloc,
        localloc_end: slab.localloc + (slab.left + 1) * localloc,
    })
}

/// A native stack, from its lowest address to its end. The page below is a guard.
#[derive(Clone, Copy)]
pub(super) struct NativeStack {
    pub(super) low: NonZeroUsize,
    pub(super) high: usize,
}

/// The native stacks that nobody uses, and the threads that wait for one. See [`take_native`].
struct Pool {
    free: Vec<NativeStack>,
    /// How many are in use.
    used: usize,
    /// Threads that go on, and threads that have not begun.
    waiting: [VecDeque<u32>; 2],
}

static POOL: LeafLock<Pool> = LeafLock::new(Pool {
    free: Vec::new(),
    used: 0,
    waiting: [VecDeque::new(), VecDeque::new()],
});

impl Pool {
    /// May another stack be used, by a thread that goes on or by one that begins? What those that begin do not get is kept for those that go on, because
    /// the former may wait for the latter with their stacks in use.
    fn may_use(&self, begins: bool) -> bool {
        let most = most();
        self.used < if begins { most - most / 8 } else { most }
    }
    /// The next thread that is to be made ready.
    fn next(&mut self) -> Option<u32> {
        let [goes_on, begins] = [false, true].map(|begins| self.may_use(begins));
        let [going_on, beginning] = &mut self.waiting;
        goes_on
            .then(|| going_on.pop_front())
            .flatten()
            .or_else(|| begins.then(|| beginning.pop_front()).flatten())
    }
}

/// A native stack that nobody uses: the one that was given back last, or a new one. None: there is none, and can be none for want of memory or of
/// mappings; green thread `id`, which begins or goes on, waits for one, and is [to be made ready](give_native) when another thread gives its own back.
pub(super) fn take_native(id: u32, begins: bool) -> Option<NativeStack> {
    {
        let mut pool = POOL.lock();
        if !pool.may_use(begins) {
            return wait(&mut pool, id, begins);
        }
        pool.used += 1;
        if let Some(stack) = pool.free.pop() {
            return Some(stack);
        }
    }
    let made = make_native();
    let mut pool = POOL.lock();
    match made {
        Ok(stack) => Some(stack),
        // One was given back meanwhile.
        Err(_) if !pool.free.is_empty() => pool.free.pop(),
        Err(error) => {
            pool.used -= 1;
            if pool.used == 0 {
                // Nobody can give one back.
                let what = format!("the native stack of a green thread ({error})");
                vervet_os::allocator::no_memory(&what, NATIVE);
            }
            wait(&mut pool, id, begins)
        }
    }
}

fn wait(pool: &mut Pool, id: u32, begins: bool) -> Option<NativeStack> {
    SCARCE.store(true, Ordering::Relaxed);
    pool.waiting[usize::from(begins)].push_back(id);
    None
}

/// Has a thread waited for a native stack? From then on carriers keep none for themselves.
pub(super) fn are_scarce() -> bool {
    SCARCE.load(Ordering::Relaxed)
}

static SCARCE: AtomicBool = AtomicBool::new(false);

/// Nobody uses the stack any more. The thread that is to be made ready, if one waits.
#[must_use]
pub(super) fn give_native(stack: NativeStack) -> Option<u32> {
    let mut pool = POOL.lock();
    pool.free.push(stack);
    pool.used -= 1;
    pool.next()
}

fn make_native() -> io::Result<NativeStack> {
    let size = match address_plan::is_limited() {
        true => NATIVE_LIMITED,
        false => NATIVE,
    };
    let (low, high) = memory::stack(size)?;
    let low = NonZeroUsize::new(low).ok_or(io::ErrorKind::OutOfMemory)?;
    Ok(NativeStack { low, high })
}

/// How many may be in use. Where a guard page is a mapping, each takes two of the process's mappings, and as many are left for further segments and for
/// everybody else.
fn most() -> usize {
    if memory::has_guard_regions() {
        return usize::MAX;
    }
    /// What Linux allows unless it is told otherwise.
    const USUAL: usize = 65_530;
    static MOST: AtomicUsize = AtomicUsize::new(0);
    match MOST.load(Ordering::Relaxed) {
        0 => {
            let mappings = std::fs::read_to_string("/proc/sys/vm/max_map_count")
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(USUAL);
            let most = (mappings / 4).max(1);
            MOST.store(most, Ordering::Relaxed);
            most
        }
        most => most,
    }
}
