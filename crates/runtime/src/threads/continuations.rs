//! Continuations (`Mono.Tasklets`): a part of a thread's stack is copied, and the thread goes on later where it was copied.
//!
//! # How it works
//! ```text
//!   stack, outermost frame above      mark        store                 restore
//!   entry record                      outer       -                     the same
//!   callers                           noted       -                     the same frames at the same calls
//!   the marked frame                  noted       copied, to here       overwritten, from here
//!   frames that it has called                     copied                overwritten
//!   frame and record of the thunk                 copied                overwritten; its way back to managed code is gone
//!   Rust frames                                   -                     abandoned
//! ```
//! The callers' variables are not copied. Those that the compiler keeps in registers come back as they were at the mark, because the copied frames have saved them;
//! those in the callers' frames are as they are. So a program whose callers have changed their variables since the mark may see old and new ones together,
//! as under mono, and is not safe then: the compiler leaves checks out that hold for each set of values, and not for a mixture.
//!
//! # Invariants
//! * All frames that are copied are managed ones in one piece of stack: no native frame and no record but that of the thunk lies between the marked frame and
//!   the call of `store`.
//! * The copied frames refer to the frames of their callers, by address. So a copy is written back only where those callers are active: in the same
//!   places, at the same calls. What lies in a frame is of the same types whenever the frame is at the same call. Filters that run, and regions
//!   that are protected from aborts, are the same, too.
//! * No memory of the localloc stack has come or gone between the mark and the call of `store` or `restore`: nobody could tell whether it is a caller's, which must stay,
//!   or that of a frame that is abandoned.
//! * The collector scans the copies as it scans stacks. So objects that they refer to are kept, and are not moved.
//! * From the moment that a part of the stack is overwritten to the return from the call of `store` no frame of ours lies in that part.
//! * Green threads have no continuations, nor have threads whose managed frames lie on a stack of their own: their frames would not be in one piece.
use crate::arch;
use crate::code::table::{Code, CodeKind};
use crate::cx::{Cx, Result};
use crate::exceptions::walk::{Frame, Walk};
use crate::safepoint::registry::Thread;
use std::sync::Arc;
use vervet_abi::context::{Record, ThreadContext};
use vervet_heap::Range;
use vervet_jit::LoweredSignature;
use vervet_os::LeafLock;
use vervet_types::{Known, MethodRef};

/// What the runtime keeps of a Continuation object.
#[derive(Clone, Default)]
struct Continuation {
    mark: Option<Arc<Mark>>,
    saved: Option<Arc<Saved>>,
}

/// The frame that a copy begins with.
struct Mark {
    /// The thread, by the number of its attachment: contexts are used again.
    thread: u64,
    domain: u32,
    /// The method of the frame, and its frame pointer.
    method: MethodRef,
    fp: usize,
    /// Behind its arguments on the stack.
    top: usize,
    /// The innermost record when it was marked, but for that of the call.
    outer: usize,
    /// Frame pointer and return address of its callers, the innermost first.
    callers: Vec<(usize, usize)>,
    /// Words of the context at the call of `mark`.
    localloc_next: usize,
    filters: usize,
    protected_regions: u32,
}

/// A copy of a part of the stack.
pub(crate) struct Saved {
    /// The address of the record of the call of `store`, with which the copy begins.
    at: usize,
    words: Box<[usize]>,
    recorded_calls: u32,
}

const STACKALLOC: &str = "Frames behind the mark have memory of stackalloc";

/// All continuations.
struct All {
    by_number: Vec<Option<Continuation>>,
    /// The places of those that were freed.
    free: Vec<usize>,
}

/// By number; numbers count from 1, and those of freed ones are given out again.
static ALL: LeafLock<All> = LeafLock::new(All {
    by_number: Vec::new(),
    free: Vec::new(),
});

/// Makes a continuation; its number.
pub fn alloc() -> usize {
    let mut all = ALL.lock();
    let at = all.free.pop().unwrap_or_else(|| {
        all.by_number.push(None);
        all.by_number.len() - 1
    });
    all.by_number[at] = Some(Continuation::default());
    at + 1
}

/// Forgets a continuation and its copy.
pub fn free(number: usize) {
    let mut all = ALL.lock();
    let at = number.wrapping_sub(1);
    let gone = all.by_number.get_mut(at).and_then(Option::take);
    if gone.is_some() {
        all.free.push(at);
    }
    // The copy may be a large one.
    drop(all);
    drop(gone);
}

/// The address ranges of the copies, which may hold references. The world is stopped.
pub(crate) fn visit_copies(visit: &mut dyn FnMut(&[Range])) {
    let range = |words: &[usize]| {
        let words = words.as_ptr_range();
        (words.start as usize, words.end as usize)
    };
    for saved in ALL
        .lock()
        .by_number
        .iter()
        .flatten()
        .filter_map(|c| c.saved.as_ref())
    {
        visit(&[range(&saved.words)]);
    }
}

fn find(number: usize) -> Option<Continuation> {
    ALL.lock().by_number.get(number.wrapping_sub(1))?.clone()
}

fn update(number: usize, change: impl FnOnce(&mut Continuation)) {
    if let Some(Some(found)) = ALL.lock().by_number.get_mut(number.wrapping_sub(1)) {
        change(found);
    }
}

/// ArgumentException for the parameter `cont`.
fn bad<'cx, T>(cx: &'cx Cx<'cx>, message: &str) -> Result<T> {
    Err(cx.throw2(Known::ArgumentException, message, "cont"))
}

fn unsupported<'cx, T>(cx: &'cx Cx<'cx>, message: &str) -> Result<T> {
    Err(cx.throw(Known::NotSupportedException, message))
}

/// The innermost record of the calling thread, and the one before it: those of the internal call, and of the piece of stack that it was called from.
fn records(cx: &Cx<'_>) -> (usize, usize) {
    // SAFETY: a token's context is the calling thread's; an internal call is under way, whose thunk has linked a record.
    unsafe {
        let record: *mut Record = (*cx.context()).record;
        (record as usize, (*record).previous as usize)
    }
}

fn place(frame: &Frame) -> (usize, usize) {
    (frame.fp, frame.pc)
}

fn method_of(code: &Code) -> Option<MethodRef> {
    match code.kind {
        CodeKind::Method(method) => Some(method),
        _ => None,
    }
}

/// `Mark`: the frame that has called it is the outermost one that is copied.
pub fn mark<'cx>(cx: &'cx Cx<'cx>, number: usize) -> Result<()> {
    match find(number) {
        Some(found) if found.mark.is_none() => {}
        Some(_) => return bad(cx, "Already marked"),
        None => return bad(cx, "Continuation not initialized"),
    }
    let context = cx.context();
    // SAFETY: a token's context is the calling thread's.
    let context: &ThreadContext = unsafe { &*context };
    if context.green != 0 || context.managed_base != 0 {
        return unsupported(
            cx,
            "Continuations need an ordinary thread, whose stack does not grow",
        );
    }
    let (_, outer) = records(cx);
    let mut walk = Walk::here(cx);
    // The first frame is that of `Mark` itself.
    let marked = walk.next().and_then(|_| walk.next());
    let callers: Vec<Frame> = walk.collect();
    let is_here = |frame: &Frame| frame.record as usize == outer;
    let marked = marked.filter(is_here);
    let found = marked.and_then(|frame| Some((frame.fp, method_of(frame.code)?)));
    let Some((fp, method)) = found.filter(|_| callers.first().is_some_and(is_here)) else {
        return unsupported(cx, "Invalid stack frame");
    };
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    let mark = Mark {
        thread: attachment(cx),
        domain: context.domain,
        method,
        fp,
        top: fp + 16 + lowered.stack_arg_bytes as usize,
        outer,
        callers: callers.iter().map(place).collect(),
        localloc_next: context.localloc_next,
        filters: context.filters,
        protected_regions: context.protected_regions,
    };
    update(number, |c| c.mark = Some(Arc::new(mark)));
    Ok(())
}

/// The number of the calling thread's attachment.
fn attachment(cx: &Cx<'_>) -> u64 {
    // SAFETY: a token's context is that of the calling thread, which is attached.
    unsafe { Thread::of(cx.context()) }.own.attachment.get()
}

/// Has the localloc stack as much in use as at the mark?
fn has_same_localloc(cx: &Cx<'_>, mark: &Mark) -> bool {
    // SAFETY: a token's context is the calling thread's.
    unsafe { (*cx.context()).localloc_next == mark.localloc_next }
}

/// The mark, if the continuation belongs to the calling thread and its domain.
fn own_mark<'cx>(cx: &'cx Cx<'cx>, mark: Option<Arc<Mark>>) -> Result<Arc<Mark>> {
    let Some(mark) = mark else {
        return bad(cx, "Continuation not initialized");
    };
    // SAFETY: a token's context is the calling thread's.
    let domain = unsafe { (*cx.context()).domain };
    if mark.thread != attachment(cx) || mark.domain != domain {
        return bad(cx, "Continuation from another thread or domain");
    }
    Ok(mark)
}

/// Are the callers of the marked frame active, in the same places, and at the same calls? `inner` gets the frame that one of them has called.
fn are_callers_active(cx: &Cx<'_>, mark: &Mark, inner: &mut Option<Frame>) -> bool {
    // SAFETY: a token's context is the calling thread's.
    let context: &ThreadContext = unsafe { &*cx.context() };
    let (filters, regions) = (context.filters, context.protected_regions);
    if records(cx).1 != mark.outer || (filters, regions) != (mark.filters, mark.protected_regions) {
        return false;
    }
    let mut walk = Walk::here(cx);
    let mut found = None;
    for frame in walk.by_ref() {
        if frame.record as usize != mark.outer {
            return false;
        }
        if Some(&place(&frame)) == mark.callers.first() {
            found = Some(frame);
            break;
        }
        *inner = Some(frame);
    }
    found.is_some()
        && walk
            .map(|f| place(&f))
            .eq(mark.callers.iter().skip(1).copied())
}

/// The words from an address to another one.
///
/// # Safety
/// They are initialised memory of the calling thread's.
unsafe fn copied(low: usize, high: usize) -> Box<[usize]> {
    // SAFETY: the caller's promise.
    (low..high)
        .step_by(8)
        .map(|at| unsafe { vervet_os::memory::stack_word(at) })
        .collect()
}

/// `Store`: copies the stack from the marked frame to this call.
pub fn store<'cx>(cx: &'cx Cx<'cx>, number: usize) -> Result<()> {
    let mark = own_mark(cx, find(number).unwrap_or_default().mark)?;
    let mut inner = None;
    let is_active = are_callers_active(cx, &mark, &mut inner);
    let is_marked = |f: Frame| f.fp == mark.fp && method_of(f.code) == Some(mark.method);
    if !is_active || !inner.is_some_and(is_marked) {
        return unsupported(
            cx,
            "The marked frame is not active, or native frames lie behind it",
        );
    }
    if !has_same_localloc(cx, &mark) {
        return unsupported(cx, STACKALLOC);
    }
    let at = records(cx).0;
    let context = cx.context();
    // SAFETY: a token's context is the calling thread's. The words lie in its active frames.
    let saved = unsafe {
        Saved {
            at,
            words: copied(at, mark.top),
            recorded_calls: (*context).recorded_calls,
        }
    };
    // Nothing has stopped the thread since the words were read.
    update(number, |c| c.saved = Some(Arc::new(saved)));
    Ok(())
}

/// `Restore`: the call of `store` returns once more, with another result.
pub fn restore<'cx>(cx: &'cx Cx<'cx>, number: usize, state: i32) -> Result<()> {
    let Continuation { mark, saved } = find(number).unwrap_or_default();
    let Some(saved) = saved else {
        return bad(cx, "Continuation not initialized");
    };
    let mark = own_mark(cx, mark)?;
    if !are_callers_active(cx, &mark, &mut None) {
        return unsupported(
            cx,
            "The callers of the marked frame are not at the calls where it was marked",
        );
    }
    if !has_same_localloc(cx, &mark) {
        return unsupported(cx, STACKALLOC);
    }
    let context = cx.context();
    let (at, words) = (saved.at, std::ptr::from_ref(&*saved.words));
    // SAFETY: the context is this thread's, which is in Runtime state and does not poll from here on.
    unsafe { (*context).recorded_calls = saved.recorded_calls };
    let outer = mark.outer as *mut Record;
    // This frame is abandoned: nothing with a destructor may be left.
    drop(mark);
    // SAFETY: the context is that of the calling thread, which is attached.
    drop(
        unsafe { Thread::of(context) }
            .own
            .written_back
            .replace(Some(saved)),
    );
    // SAFETY: the words were copied from there, above are frames that are active as they were then (see the module), and below only frames that hold nothing.
    // The copy lives until this thread writes back another one.
    unsafe {
        // As when an exception lands: the frames behind the record are no more.
        (&raw mut (*context).resuming).write_volatile(1);
        (&raw mut (*context).record).write_volatile(outer);
        arch::write_back(context, at, words.cast(), words.len(), state)
    }
}
