//! Throwing an exception, in two passes over the managed frames of the thread.
//!
//! # How it works
//! 1. The first pass walks from the throw outwards, collects the trace, and asks each call site's handlers, innermost first: a catch
//!    by its class, a filter by running it on top of the stack, a catch-all (that of an invoke stub) always. It changes no frame.
//! 2. The second pass walks the same frames and enters each finally and fault on the way as a landing pad. The handler ends in
//!    [`continue_unwind`], which goes on from there. The pass ends at the catch that the first pass found.
//!
//! ```text
//!   frames, innermost first     first pass             second pass
//!   throw                       trace                  -
//!   try/finally                 trace                  landing pad, then continue_unwind
//!   try/catch of another class  trace, no match        -
//!   try/catch                   trace, match: target   landing pad: the exception is caught
//! ```
//!
//! # Invariants
//! * The word that travels with the exception through landing pads names the target: its frame pointer (16-aligned) and its clause.
//! * Rust frames between the throw and a landing pad are abandoned without unwinding. Whoever raises holds no value with a destructor.
//! * If no frame catches, the exception is unhandled and the process ends; no finally runs.
use crate::code::table::Code;
use crate::cx::Cx;
use crate::exceptions::trace::{self, TraceMode};
use crate::exceptions::unhandled::unhandled;
use crate::exceptions::walk::{Frame, Walk};
use crate::exceptions::wrapped::Thrown;
use crate::object::ObjRef;
use crate::process::fatal::internal_error;
use crate::profiler::hooks::{self, Clause};
use crate::safepoint::registry;
use crate::threads::managed_stack;
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use vervet_abi::context::interrupts::RAISED;
use vervet_abi::context::{Record, ThreadContext};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_jit::{ClauseKind, Handler};

const CATCH_ALL: u32 = u32::MAX;

/// Where pass two ends.
#[derive(Clone, Copy)]
struct Target {
    fp: usize,
    clause: u32,
}
impl Target {
    fn pack(self) -> usize {
        ((self.fp >> 3) << 16) | (self.clause & 0xFFFF) as usize
    }
    fn unpack(word: usize) -> Target {
        let clause = (word & 0xFFFF) as u32;
        Target {
            fp: (word >> 16) << 3,
            clause: if clause == 0xFFFF { CATCH_ALL } else { clause },
        }
    }
}

/// From an icall or the prestub: raises what is in `ThreadContext::pending`, from the managed frame that called.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state and has an exception pending.
#[unsafe(export_name = "vervet_throw_pending")]
pub unsafe extern "C" fn throw_pending(context: *mut ThreadContext) -> ! {
    let cx = Cx::current();
    // SAFETY: the thunk passes the context of the calling thread. The word is a live object; from here on this frame pins it.
    let exception = unsafe {
        let addr = (*context).pending;
        (*context).pending = 0;
        ObjRef::from_addr(addr)
    };
    raise(&cx, exception, TraceMode::Continue)
}

/// Raises an exception from the innermost exit record. Never returns.
pub fn raise(cx: &Cx<'_>, exception: ObjRef<'_>, mode: TraceMode) -> ! {
    let context = cx.context();
    assert!(!exception.is_null(), "raise of null");
    let thrown = Thrown::of(cx, exception);
    let exception = thrown.exception;
    // An abort may have met the frame before it took the result of a helper out of the context. It will not any more, and the word is a root.
    // SAFETY: a token's context is that of the calling thread.
    unsafe { (*context).cold_result = 0 };
    hooks::thrown(exception.addr());
    let old = trace::base(exception, mode);
    let mut frames = Vec::new();
    let mut recent = trace::Recent::default();
    let mut found = None;
    let mut walk = Walk::here(cx);
    'search: while let Some(frame) = walk.next() {
        let wrapper = walk
            .take_wrapper_beside(&frame)
            .map(trace::RawFrame::wrapper);
        let left = trace::MOST_FRAMES.saturating_sub(frames.len());
        let own = recent.of(&frame).iter().copied();
        let inner_first = wrapper.into_iter().chain(own);
        frames.extend(inner_first.take(left));
        for h in handlers(&frame) {
            if is_filter(&frame, h) {
                // Filters see the trace up to their frame.
                trace::record(cx, exception, old, &frames, mode);
            }
            if matches(cx, &frame, h, &thrown) {
                let target = Target {
                    fp: frame.fp,
                    clause: h.clause,
                };
                found = Some((target, caught_in(&frame, h, &thrown)));
                break 'search;
            }
        }
    }
    trace::record(cx, exception, old, &frames, mode);
    // Nothing with a destructor may be left: this frame is abandoned.
    drop((frames, recent));
    let Some((target, exception)) = found else {
        // No invoke stub below us: a thread of native code's called managed code, and there is nobody to catch it.
        unhandled(cx, exception);
        internal_error("an unhandled exception did not end the process");
    };
    // SAFETY: the token's context is the calling thread's, and only that thread changes its record list.
    let walk = unsafe { Walk::from_record((*context).record) };
    second_pass(cx, walk, exception, target)
}

fn handlers(frame: &Frame) -> &'static [Handler] {
    let code: &'static Code = frame.code;
    if frame.exact {
        return &[];
    }
    code.handlers(frame.pc)
}

fn is_filter(frame: &Frame, h: &Handler) -> bool {
    h.clause != CATCH_ALL && matches!(*frame.code.clause(h.clause), ClauseKind::Filter(_))
}

/// What a clause of the frame catches. Rust code that called managed code reads the fields of what comes out of it.
fn caught_in<'a>(frame: &Frame, h: &Handler, thrown: &Thrown<'a>) -> ObjRef<'a> {
    match h.clause == CATCH_ALL {
        true => thrown.exception,
        false => thrown.seen_by(frame.code.method()),
    }
}

fn matches(cx: &Cx<'_>, frame: &Frame, h: &Handler, thrown: &Thrown<'_>) -> bool {
    if h.clause == CATCH_ALL {
        return true;
    }
    let exception = caught_in(frame, h, thrown);
    match *frame.code.clause(h.clause) {
        ClauseKind::Catch(c) => {
            crate::classes::casts::is_assignable(cx.universe(), exception.class(), c)
                .unwrap_or(false)
        }
        ClauseKind::Filter(i) => {
            note_clause(Clause::Filter, frame, h, exception);
            crate::code::invoke::run_filter(cx, frame.code.filter(i), frame.fp, exception)
        }
        ClauseKind::Finally | ClauseKind::Fault => false,
    }
}

/// After a finally or fault: goes on with pass two behind the call in the innermost frame.
pub extern "C" fn continue_unwind(exception: usize, word: usize) {
    let cx = Cx::current();
    // SAFETY: `land` gave the reference to the landing pad, which kept it where the collector updates or pins it.
    let exception = unsafe { ObjRef::from_addr(exception) };
    second_pass(&cx, Walk::here(&cx), exception, Target::unpack(word))
}

fn second_pass(cx: &Cx<'_>, walk: Walk, exception: ObjRef<'_>, target: Target) -> ! {
    let context = cx.context();
    for frame in walk {
        for h in handlers(&frame) {
            let here = frame.fp == target.fp && h.clause == target.clause;
            let runs = here
                || h.clause != CATCH_ALL
                    && matches!(
                        *frame.code.clause(h.clause),
                        ClauseKind::Finally | ClauseKind::Fault
                    );
            if runs {
                // SAFETY: a handler of a frame that the walk has just met, on this thread's stack.
                unsafe { land(context, &frame, h, exception, target.pack()) };
            }
        }
        hooks::left_by_exception(cx, frame.code);
    }
    internal_error("the second pass did not find its target")
}

/// Tells the profiler of a clause.
fn note_clause(what: Clause, frame: &Frame, h: &Handler, exception: ObjRef<'_>) {
    hooks::clause(what, h.clause, frame.code.method(), exception.addr());
}

/// Goes on at a handler of a frame, with the exception and the word of [`Target::pack`]. The frames below it are abandoned.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state; the frame is active on its stack, and `h` is a handler of the code of
/// the frame.
unsafe fn land(
    context: *mut ThreadContext,
    frame: &Frame,
    h: &Handler,
    exception: ObjRef<'_>,
    word: usize,
) -> ! {
    if h.clause != CATCH_ALL
        && frame.fp == Target::unpack(word).fp
        && h.clause == Target::unpack(word).clause
    {
        // SAFETY: the context is this thread's.
        unsafe { note_abort_catch(context, exception, frame.fp) };
    }
    let is_caught = frame.fp == Target::unpack(word).fp;
    if h.clause != CATCH_ALL {
        let kind = match *frame.code.clause(h.clause) {
            ClauseKind::Catch(_) | ClauseKind::Filter(_) => Clause::Catch,
            ClauseKind::Finally => Clause::Finally,
            ClauseKind::Fault => Clause::Fault,
        };
        note_clause(kind, frame, h, exception);
    }
    let below = frame
        .code
        .handler_frame(frame.pc)
        .expect("a frame with handlers is at a call site");
    // A frame has a fixed size at its call sites; `localloc` memory lies elsewhere.
    let sp = frame.fp - below;
    // On the way from Runtime to Managed.
    // SAFETY: the context is this thread's, which is in Runtime state.
    unsafe { crate::safepoint::poll(context) };
    // SAFETY: pc, sp and fp are those of a landing pad of a frame that is still active; the records above it are
    // cut; frames of ours between here and there hold nothing.
    unsafe {
        cut_records(context, frame.record);
        managed_stack::return_to(context, sp);
        if is_caught {
            crate::threads::stack_guard::take_back(context);
        }
        crate::threads::stack_limit::raise_if_asked(context);
        crate::arch::resume(
            frame.code.start + h.code as usize,
            sp,
            frame.fp,
            exception.addr(),
            word,
            context,
        )
    }
}

/// Makes `record` the innermost record. The native frames above the entry record before it are abandoned.
///
/// # Safety
/// The context is the calling thread's, and `record` was the innermost one of a frame that is still active.
unsafe fn cut_records(context: *mut ThreadContext, record: *mut Record) {
    // SAFETY: the caller passes the context of the calling thread and a record of a frame that is still active.
    unsafe {
        // A sampler that comes before the landing pad would miss the frames whose records are gone.
        (&raw mut (*context).resuming).write_volatile(1);
        (&raw mut (*context).record).write_volatile(record);
        if (*context).native_sp != 0 {
            let mut entry = record;
            while let Some(r) = entry.as_ref()
                && !r.is_entry()
            {
                entry = r.previous;
            }
            (*context).native_sp = match entry.is_null() {
                // The first frames of a green thread.
                true => (*context).stack_base & !15,
                false => entry as usize,
            };
        }
    }
}

/// A catch at `fp` is about to get `exception`.
///
/// # Safety
/// The context is the calling thread's.
unsafe fn note_abort_catch(context: *mut ThreadContext, exception: ObjRef<'_>, fp: usize) {
    // SAFETY: the context is this thread's.
    if unsafe { registry::interrupts(context) }.load(Ordering::Relaxed) & RAISED == 0 {
        return;
    }
    // SAFETY: the context belongs to this thread; its field is 0 or an InternalThread.
    let thread: ObjRef<'_> = unsafe { ObjRef::from_addr((*context).internal_thread) };
    if !thread.is_null() && thread.read_ref(offset_of!(Internal, abort_exc)) == exception {
        // SAFETY: the context belongs to this thread.
        unsafe { (*context).abort_caught_at = managed_stack::depth(context, fp) };
    }
}

/// Is the frame at `fp` the one that caught the abort under way last, or one of its callers?
pub(crate) fn is_outside_abort_catch(context: *mut ThreadContext, fp: usize) -> bool {
    // SAFETY: the context belongs to this thread.
    managed_stack::depth(context, fp) <= unsafe { (*context).abort_caught_at }
}
/// A new abort is under way: no frame has caught it.
pub(crate) fn forget_abort_catch(context: *mut ThreadContext) {
    // SAFETY: the context belongs to this thread.
    unsafe { (*context).abort_caught_at = 0 };
}
