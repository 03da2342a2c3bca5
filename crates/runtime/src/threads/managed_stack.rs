//! The managed stack: where the managed frames of a thread lie, if they do not lie on its native stack.
//!
//! # How it works
//! A managed stack is a list of segments, each larger than the one before. A function whose frame has no room on the current segment is
//! entered on the next one by the `grow` thunk, which comes back to the current segment when the function returns. Segments are kept, so
//! a loop that crosses an edge again and again pays for the thunk only.
//!
//! ```text
//!   first segment           second segment
//!   +------------------+    +-------------------------+
//!   | header           |    | header                  |   <- top (what lies above is the header)
//!   | frames           |    | frames                  |
//!   | grow's frame     |    | frames                  |
//!   | exit record      |    |                         |
//!   | segment record <-+----+- the record before      |
//!   +- live_low -------+    |                         |
//!   |                  |    +- sp --------------------+
//!   +- limit ----------+    +- limit -----------------+
//!   | guard            |    | guard                   |
//!   +- low ------------+    +- low -------------------+
//! ```
//!
//! An OS thread has one stack for managed, Rust and C frames, unless `VERVET_DEBUG_SPLIT_STACKS` asks for two: 1 for a managed stack of one
//! segment that does not grow, a larger number for one whose first segment has so many bytes. Programs give the same results with it as
//! without: the test suites that run so show that the thunks switch stacks wherever they must.
//!
//! # Invariants
//! * `ThreadContext::managed_base` does not change while the thread is attached.
//! * Managed frames are on the managed stack only, and all other frames on the native stack only. What a thunk pushes on its way out
//!   of managed code, the exit record included, is on the managed stack; entry records are on the native stack.
//! * While a thread runs managed code and may be stopped, its stack pointer lies on the segment that `ThreadContext::segment` names.
//!   [`may_stop_at`](crate::safepoint::registry::Thread::may_stop_at) refuses the moments in between.
//! * Below the limit of a segment lies a guard, in which thunks, stubs and frames of functions that check nothing have room
//!   ([`GUARD`]).
//! * A segment belongs to one thread's list, or to the spare ones, of which there are [`MOST_SPARE`].
//! * A managed stack belongs to a [`Thread`], so the next OS thread that uses the same [`Thread`] gets it.
use crate::safepoint::registry::{self, Thread};
use crate::threads::stack_limit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::{SMALL_FRAME, UNCHECKED_FRAME};
use vervet_abi::stack::{COLD_CALL_FRAME, Segment};
use vervet_os::LeafLock;

/// Bytes below the limit of a segment: a small frame, a frame that is not checked below it, and below that what thunks push. A thunk takes
/// up to 208 bytes, and up to three follow each other, each entered through an invoke stub without a check, before a function checks again: a
/// class constructor's thunk, the prestub, `grow`. In front of them may be the stub of a call that preserves all registers.
const GUARD: usize = 2 << 10;
const _: () = assert!(
    SMALL_FRAME as usize
        + COLD_CALL_FRAME
        + UNCHECKED_FRAME as usize
        + 3 * (208 + UNCHECKED_FRAME as usize + 64)
        <= GUARD
);
/// Each segment is at least so many times as large as the one before.
const GROWTH: usize = 8;
/// What handlers of StackOverflowException get beyond the cap.
const EXTRA: usize = 256 << 10;

/// What `VERVET_DEBUG_SPLIT_STACKS` says: 0: one stack for all.
static SPLIT: AtomicUsize = AtomicUsize::new(0);

/// Reads the environment. Called once, before the first thread is attached.
pub(crate) fn initialise() {
    let split = std::env::var("VERVET_DEBUG_SPLIT_STACKS").ok();
    let split = split.and_then(|v| v.parse().ok()).unwrap_or(0);
    SPLIT.store(split, Ordering::Relaxed);
}

/// Gives a thread that is being attached its managed stack, of `size` bytes at most, or none.
pub(super) fn adopt(thread: &Thread, size: usize) {
    let first = match SPLIT.load(Ordering::Relaxed) {
        0 => return,
        1 => size,
        bytes => bytes.clamp(4 << 10, size),
    };
    let have = thread.own.segment.get();
    // SAFETY: segments of a thread that is not attached are used by nobody else.
    let fits = unsafe { have.as_ref() }.is_some_and(|s| s.size() + 4096 >= first);
    let segment = if fits {
        have
    } else {
        // (A smaller one that is left over stays mapped: debugging only.)
        make(first, null_mut())
            .unwrap_or_else(|| vervet_os::allocator::no_memory("a managed stack", first))
    };
    thread.own.segment.set(segment);
    let context = thread.base;
    // SAFETY: the segment and these words of the context are this thread's.
    unsafe {
        (*segment).limit = match first == size {
            true => stack_limit::limit((*segment).low, (*segment).top()),
            false => (*segment).low + GUARD,
        };
        (*segment).cap = if first == size { 0 } else { size };
        // The last thread may have ended beyond the cap.
        (*segment).extra = false;
        // The later segments have the cap of the thread that had the stack before.
        release(std::mem::replace(&mut (*segment).next, null_mut()));
        (*context).segment = segment as usize;
        (*context).managed_base = (*segment).top();
    }
}

/// The most bytes of a green thread's managed stack.
static GREEN_CAP: AtomicUsize = AtomicUsize::new(256 << 20);

/// The managed stacks of green threads that are made from now on have so many bytes at most.
pub(super) fn set_green_cap(bytes: usize) {
    GREEN_CAP.store(bytes, Ordering::Relaxed);
}

/// Lets the managed stack of the calling green thread, which has no frame on it yet, have so many bytes. The option's number stands if it is greater: segments that are not needed are not made.
pub(super) fn allow(context: *mut ThreadContext, bytes: usize) {
    if let Some(first) = current(context) {
        first.cap = first.cap.max(bytes);
        // SAFETY: the next segment of the calling thread's, if any, which is not in use.
        if let Some(next) = unsafe { first.next.as_mut() } {
            next.cap = first.cap;
        }
    }
}

/// Gives a new green thread `[low, high)` as the first segment of its managed stack.
///
/// # Safety
/// The context is the caller's alone, and so is the memory, which reads as zero.
pub(super) unsafe fn give_first(context: *mut ThreadContext, low: usize, high: usize) {
    let segment = (high - size_of::<Segment>()) as *mut Segment;
    // SAFETY: the caller's promise.
    unsafe {
        segment.write(Segment {
            previous: null_mut(),
            limit: low + GUARD,
            live_low: 0,
            next: null_mut(),
            low,
            total: high - low,
            cap: GREEN_CAP.load(Ordering::Relaxed),
            extra: false,
        });
        (*context).segment = segment as usize;
        (*context).managed_base = (*segment).top();
        (*context).true_limit = (*segment).limit;
        registry::limit(context).store((*segment).limit, Ordering::Relaxed);
    }
}

/// Chooses how many bytes the next segment of the calling green thread has, and the most of the whole stack; 0 chooses nothing. [`trim`] forgets the
/// choice.
pub(super) fn choose(context: *mut ThreadContext, hint: usize, most: usize) {
    let Some(segment) = current(context) else {
        return;
    };
    if most != 0 {
        let cap = most.clamp(LEAST_CAP, GREEN_CAP.load(Ordering::Relaxed));
        segment.cap = cap;
        let mut at = segment.previous;
        // SAFETY: the segments of the calling thread.
        while let Some(s) = unsafe { at.as_mut() } {
            s.cap = cap;
            at = s.previous;
        }
    }
    // SAFETY: the next segment of the calling thread's, if any, which is not in use.
    if let Some(next) = unsafe { segment.next.as_mut() } {
        if next.size() >= hint && next.total <= segment.cap {
            next.cap = segment.cap;
            release(std::mem::replace(&mut next.next, null_mut()));
            return;
        }
        release(std::mem::replace(&mut segment.next, null_mut()));
    }
    let left = segment.cap.saturating_sub(segment.total) & !4095;
    let size = (hint + GUARD + size_of::<Segment>()).next_multiple_of(4096);
    if hint > segment.size() * GROWTH && size <= left {
        // Without memory it grows as usual, or not.
        segment.next = make(size, segment).unwrap_or(null_mut());
    }
}

/// The least cap that can be chosen.
const LEAST_CAP: usize = 64 << 10;

/// Bytes of the segments that stacks have grown by.
pub(super) fn further_bytes() -> u64 {
    FURTHER.load(Ordering::Relaxed)
}

static FURTHER: AtomicU64 = AtomicU64::new(0);

/// Takes the segments of a green thread that has ended away, but for those that most threads come to.
///
/// # Safety
/// The context is the caller's alone, and the first segment is current.
pub(super) unsafe fn trim(context: *mut ThreadContext) {
    // SAFETY: the caller's promise: later segments are not in use.
    unsafe {
        let first = (*context).segment as *mut Segment;
        (*first).cap = GREEN_CAP.load(Ordering::Relaxed);
        if let Some(second) = (*first).next.as_mut() {
            second.cap = (*first).cap;
            let mut at = std::mem::replace(&mut second.next, null_mut());
            while let Some(segment) = at.as_ref() {
                let after = segment.next;
                spare(at);
                at = after;
            }
            if second.size() > LARGEST_KEPT {
                release(std::mem::replace(&mut (*first).next, null_mut()));
            }
        }
    }
}

/// The largest second segment that the record of a green thread keeps.
const LARGEST_KEPT: usize = 256 << 10;

/// Segments that no thread uses, from their lowest address to their end: of green threads that have ended, for those that become as deep. A thread
/// that recursed that deep once does so again with its next task, or another does; each time the system would map the memory and fill it with
/// zeros.
static SPARE: LeafLock<Vec<(usize, usize)>> = LeafLock::new(Vec::new());
/// So many are kept at most,
const MOST_SPARE: usize = 16;
/// and of them none larger than this: 32 MiB in all. The third segment of a green thread has a megabyte.
const LARGEST_SPARE: usize = 2 << 20;

/// Keeps a segment that is not in use, and is in no list, for another thread; or unmaps it.
///
/// # Safety
/// [`make`] has made it, and nobody knows it any more.
unsafe fn spare(segment: *mut Segment) {
    // SAFETY: the caller's promise.
    let bounds = unsafe { (*segment).bounds() };
    if bounds.1 - bounds.0 <= LARGEST_SPARE {
        let mut spare = SPARE.lock();
        if spare.len() < MOST_SPARE {
            spare.push(bounds);
            return;
        }
    }
    FURTHER.fetch_sub((bounds.1 - bounds.0) as u64, Ordering::Relaxed);
    // SAFETY: the whole mapping that `make` made.
    unsafe { vervet_os::memory::free_stack(bounds.0, bounds.1) };
}

/// A spare segment of just that many bytes. Sizes come from the sizes before them, so nearly all third segments have the same.
fn take_spare(size: usize) -> Option<(usize, usize)> {
    let mut spare = SPARE.lock();
    let at = spare.iter().rposition(|(low, high)| high - low == size)?;
    Some(spare.swap_remove(at))
}

/// A segment of that many bytes in all; None: there is no memory.
fn make(size: usize, previous: *mut Segment) -> Option<*mut Segment> {
    let (low, high) = match take_spare(size) {
        Some(bounds) => bounds,
        None => {
            let bounds = vervet_os::memory::stack(size).ok()?;
            FURTHER.fetch_add((bounds.1 - bounds.0) as u64, Ordering::Relaxed);
            bounds
        }
    };
    let segment = (high - size_of::<Segment>()) as *mut Segment;
    // SAFETY: memory that was just mapped; the previous segment is the calling thread's.
    unsafe {
        let before = previous.as_ref();
        segment.write(Segment {
            previous,
            limit: low + GUARD,
            live_low: 0,
            next: null_mut(),
            low,
            total: before.map_or(0, |p| p.total) + (high - low),
            cap: before.map_or(0, |p| p.cap),
            extra: before.is_some_and(|p| p.extra),
        });
    }
    Some(segment)
}

/// The current segment of the calling thread, or None if it has one stack for all.
fn current<'a>(context: *mut ThreadContext) -> Option<&'a mut Segment> {
    // SAFETY: the context is the calling thread's, which alone changes its segments; no two references are held at once.
    unsafe { ((*context).segment as *mut Segment).as_mut() }
}

/// Has the thread a managed stack that grows?
pub(crate) fn grows(context: *mut ThreadContext) -> bool {
    current(context).is_some_and(|s| s.cap != 0)
}

/// The bounds of the only segment of a managed stack that does not grow.
pub(crate) fn only_segment(context: *mut ThreadContext) -> Option<(usize, usize)> {
    current(context)
        .filter(|s| s.cap == 0)
        .map(|s| (s.low, s.top()))
}

/// The limit of the first segment.
pub(crate) fn first_limit(context: *mut ThreadContext) -> usize {
    let mut segment = current(context).expect("a managed stack");
    // SAFETY: the segments of the calling thread.
    while let Some(previous) = unsafe { segment.previous.as_mut() } {
        segment = previous;
    }
    segment.limit
}

/// Bytes that the stack may still grow by.
pub(crate) fn growth_left(context: *mut ThreadContext) -> usize {
    current(context).map_or(0, |s| s.cap.saturating_sub(s.total))
}

/// What a stack has grown to.
pub(crate) struct Grown {
    /// The top of the segment that is current now.
    pub(crate) top: usize,
    /// Bytes of the segment that was current, if the next one was made for this, and the stack is deep.
    pub(crate) filled: Option<usize>,
}

/// From so many bytes on a stack that grows is deep.
const DEEP: usize = 128 << 10;

/// Makes the next segment current, with room for `bytes`. What is live on the current one begins at `live_low`.
/// None: the stack has reached its cap, or there is no memory.
pub(crate) fn grow(context: *mut ThreadContext, bytes: usize, live_low: usize) -> Option<Grown> {
    let segment = current(context)?;
    let need = (bytes + GUARD + size_of::<Segment>()).next_multiple_of(4096);
    // SAFETY: the next segment of the calling thread's, if any, which is not in use.
    if unsafe { segment.next.as_ref() }.is_some_and(|n| n.size() < need || segment.extra != n.extra)
    {
        release(segment.next);
        segment.next = null_mut();
    }
    let mut filled = None;
    if segment.next.is_null() {
        filled = (segment.total >= DEEP).then(|| segment.size());
        let cap = segment.cap + if segment.extra { EXTRA } else { 0 };
        let left = cap.saturating_sub(segment.total);
        if left < need {
            return None;
        }
        let size = (segment.size() * GROWTH).clamp(need, left) & !4095;
        segment.next = make(size, segment)?;
    }
    segment.live_low = live_low;
    let next = segment.next;
    enter(context, next);
    Some(Grown {
        top: next as usize,
        filled,
    })
}

/// Makes a segment of the calling thread current.
fn enter(context: *mut ThreadContext, segment: *mut Segment) {
    // SAFETY: the context is the calling thread's, and the segment one of its own.
    unsafe {
        (*context).segment = segment as usize;
        stack_limit::set(context, (*segment).limit);
    }
}

/// Makes the segment current that a stack pointer lies on, to which the calling thread is about to return.
pub(crate) fn return_to(context: *mut ThreadContext, sp: usize) {
    let Some(mut segment) = current(context) else {
        return;
    };
    if segment.contains(sp) {
        return;
    }
    while !segment.contains(sp) {
        // SAFETY: segments before the current one are the thread's; the frame lies on one of them.
        segment = unsafe { segment.previous.as_mut() }.expect("a frame lies on a segment");
    }
    enter(context, segment);
}

/// Lets handlers of StackOverflowException run beyond the cap. False if they do already.
pub(crate) fn give_extra(context: *mut ThreadContext) -> bool {
    let Some(segment) = current(context) else {
        return false;
    };
    !std::mem::replace(&mut segment.extra, true)
}

/// The exception is caught, in a frame on the current segment.
pub(crate) fn take_extra_back(context: *mut ThreadContext) {
    if let Some(segment) = current(context)
        && segment.extra
    {
        let mut at: *mut Segment = segment;
        // SAFETY: the segments of the calling thread.
        while let Some(s) = unsafe { at.as_mut() } {
            s.extra = false;
            at = s.previous;
        }
    }
}

/// Unmaps a segment that is not in use, and those after it.
fn release(mut segment: *mut Segment) {
    // SAFETY: the caller has taken it out of the list; nobody else knows it.
    while let Some(s) = unsafe { segment.as_ref() } {
        segment = s.next;
        let (low, high) = s.bounds();
        FURTHER.fetch_sub((high - low) as u64, Ordering::Relaxed);
        // SAFETY: the whole mapping that `make` made.
        unsafe { vervet_os::memory::free_stack(low, high) };
    }
}

/// Visits the parts of a stopped thread's managed stack that are in use, [low, high), innermost first. `low` is the lowest address
/// in use, which lies on the current segment or, while that is being entered, on the one before.
///
/// # Safety
/// The thread is stopped, or is the calling one.
pub(crate) unsafe fn visit(
    context: *mut ThreadContext,
    low: usize,
    mut visit: impl FnMut(usize, usize),
) {
    // SAFETY: the segments of a stopped thread do not change.
    unsafe {
        let Some(current) = ((*context).segment as *const Segment).as_ref() else {
            return;
        };
        if current.contains(low) {
            visit(low, current.top());
        }
        let mut at = current.previous;
        while let Some(segment) = at.as_ref() {
            visit(segment.live_low, segment.top());
            at = segment.previous;
        }
    }
}

/// Calls `visit` with the parts of a parked thread's managed stack that are not in use, `[low, high)`: what lies below the frames on the current segment, and
/// the segments behind it. `ranges` are what is in use of all its stacks.
///
/// # Safety
/// The thread does not run meanwhile.
pub(super) unsafe fn visit_unused(
    context: *mut ThreadContext,
    ranges: &[(usize, usize)],
    mut visit: impl FnMut(usize, usize),
) {
    // SAFETY: the segments of a thread that does not run do not change.
    unsafe {
        let Some(current) = ((*context).segment as *const Segment).as_ref() else {
            return;
        };
        let lowest = ranges
            .iter()
            .map(|range| range.0)
            .filter(|low| current.contains(*low))
            .min()
            .unwrap_or(current.top());
        visit(current.low, lowest);
        let mut at = current.next;
        while let Some(segment) = at.as_ref() {
            visit(segment.low, segment.top());
            at = segment.next;
        }
    }
}

/// How deep a frame lies on the calling thread's stack: inner frames lie deeper. Always above 0.
pub(crate) fn depth(context: *mut ThreadContext, fp: usize) -> usize {
    let mut at = current(context).map_or(null_mut(), std::ptr::from_mut);
    // SAFETY: the segments of the calling thread.
    while let Some(segment) = unsafe { at.as_ref() } {
        if segment.contains(fp) {
            return segment.total - (fp - segment.low);
        }
        at = segment.previous;
    }
    // SAFETY: the context belongs to this thread.
    unsafe { (*context).stack_base.saturating_sub(fp).max(1) }
}

/// Does an address lie on the managed stack of a thread?
///
/// # Safety
/// The thread is the calling one.
pub(crate) unsafe fn contains(context: *mut ThreadContext, address: usize) -> bool {
    let mut at = current(context).map_or(null_mut(), std::ptr::from_mut);
    // SAFETY: the segments of the calling thread.
    while let Some(segment) = unsafe { at.as_ref() } {
        if segment.contains(address) {
            return true;
        }
        at = segment.previous;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a thread used that went through three segments is what the next one gets; what is larger goes back to the system.
    #[test]
    fn a_deep_thread_leaves_its_third_segment_to_the_next() {
        const FIRST: usize = 16 << 10;
        let deep = || {
            let low = vervet_os::memory::reserve(FIRST).expect("memory") as usize;
            // SAFETY: a context of zeros is valid.
            let context: &mut ThreadContext = Box::leak(Box::new(unsafe { std::mem::zeroed() }));
            let context: *mut ThreadContext = context;
            // SAFETY: the context and the memory are this test's.
            unsafe {
                give_first(context, low, low + FIRST);
                let first = (*context).segment;
                let tops: Vec<usize> = (0..3)
                    .map(|_| {
                        let limit = current(context).expect("one").limit;
                        grow(context, 100, limit).expect("memory").top
                    })
                    .collect();
                (*context).segment = first;
                trim(context);
                tops
            }
        };
        let (a, b) = (deep(), deep());
        assert_ne!(a[0], b[0], "the second segment stays with the thread");
        assert_eq!(a[1], b[1], "the third one goes to the next thread");
        assert!(
            SPARE
                .lock()
                .iter()
                .all(|(low, high)| high - low <= LARGEST_SPARE)
        );
    }
}
