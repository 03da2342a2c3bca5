//! The two passes.
//!
//! # How it works
//! Pass one walks from the throw, collects the trace, and asks each call site's handlers, innermost first: a
//! catch by its class, a filter by running it, a catch-all (an invoke stub) always. Pass two walks the same
//! frames and enters each finally and fault on the way as a landing pad; the handler ends in
//! [`continue_unwind`], which goes on from there. The unwind record that travels with the exception is one word:
//! the target's frame pointer and clause (frame pointers are 16-aligned).
use crate::code::table::Code;
use crate::cx::Cx;
use crate::exceptions::trace;
use crate::exceptions::walk::{Frame, Walk};
use crate::object::ObjRef;
use vervet_abi::context::{Record, ThreadContext};
use vervet_jit::{ClauseKind, Handler};
use vervet_types::ClassRef;

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

/// How a throw treats the trace that the exception may carry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TraceMode {
    /// `throw`: the trace starts anew.
    Fresh,
    /// On from our own code: the trace goes on.
    Continue,
    /// `rethrow`: the trace goes on from the frame that caught it.
    Rethrow,
}

/// From an icall or the prestub: raises what is in `ThreadContext::pending`, from the managed frame that called.
pub extern "C" fn throw_pending(context: *mut ThreadContext) -> ! {
    let cx = Cx::current();
    // SAFETY: the context belongs to this thread.
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
    let class = exception.class();
    let old = trace::base(exception, mode);
    let mut frames = Vec::new();
    let mut found = None;
    let mut walk = Walk::new(context);
    if let Some(m) = walk.take_wrapper() {
        frames.push(trace::RawFrame::wrapper(m));
    }
    'search: while let Some(frame) = walk.next() {
        let wrapper = walk.take_wrapper().map(trace::RawFrame::wrapper);
        let left = trace::MOST_FRAMES.saturating_sub(frames.len());
        frames.extend(trace::RawFrame::of(&frame).chain(wrapper).take(left));
        for h in handlers(&frame) {
            if is_filter(&frame, h) {
                // Filters see the trace up to their frame.
                trace::record(cx, exception, old, &frames, mode);
            }
            if matches(cx, &frame, h, class, exception) {
                found = Some(Target {
                    fp: frame.fp,
                    clause: h.clause,
                });
                break 'search;
            }
        }
    }
    trace::record(cx, exception, old, &frames, mode);
    // Nothing with a destructor may be left: this frame is abandoned.
    drop(frames);
    let Some(target) = found else {
        // No invoke stub below us: a thread of native code's called managed code, and there is nobody to catch it.
        crate::process::bootstrap::unhandled(cx, exception);
        crate::process::bootstrap::internal_error(
            "an unhandled exception did not end the process",
            context,
        );
    };
    // SAFETY: the record list is this thread's.
    let start = unsafe { (*context).record };
    second_pass(cx, Walk::from_record(start), exception, target)
}

fn handlers(frame: &Frame) -> &'static [Handler] {
    let code: &'static Code = frame.code;
    if frame.exact {
        return &[];
    }
    match code.call_site(frame.pc) {
        Some(s) => {
            &code.handlers[s.first_handler as usize..(s.first_handler + s.handler_count) as usize]
        }
        None => &[],
    }
}

fn is_filter(frame: &Frame, h: &Handler) -> bool {
    h.clause != CATCH_ALL
        && matches!(
            frame.code.clauses[h.clause as usize].kind,
            ClauseKind::Filter(_)
        )
}

fn matches(
    cx: &Cx<'_>,
    frame: &Frame,
    h: &Handler,
    class: ClassRef,
    exception: ObjRef<'_>,
) -> bool {
    if h.clause == CATCH_ALL {
        return true;
    }
    match frame.code.clauses[h.clause as usize].kind {
        ClauseKind::Catch(c) => {
            crate::classes::casts::is_assignable(cx.universe(), class, c).unwrap_or(false)
        }
        ClauseKind::Filter(i) => {
            crate::code::invoke::run_filter(cx, frame.code.filters[i as usize], frame.fp, exception)
        }
        ClauseKind::Finally | ClauseKind::Fault => false,
    }
}

/// After a finally or fault: goes on with pass two behind the call in the innermost frame.
pub extern "C" fn continue_unwind(exception: usize, word: usize) {
    let cx = Cx::current();
    // SAFETY: the landing pad got this reference from us.
    let exception = unsafe { ObjRef::from_addr(exception) };
    second_pass(
        &cx,
        Walk::new(cx.context()),
        exception,
        Target::unpack(word),
    )
}

fn second_pass(cx: &Cx<'_>, walk: Walk, exception: ObjRef<'_>, target: Target) -> ! {
    let context = cx.context();
    for frame in walk {
        for h in handlers(&frame) {
            let here = frame.fp == target.fp && h.clause == target.clause;
            let runs = here
                || h.clause != CATCH_ALL
                    && matches!(
                        frame.code.clauses[h.clause as usize].kind,
                        ClauseKind::Finally | ClauseKind::Fault
                    );
            if runs {
                land(context, &frame, h, exception, target.pack());
            }
        }
    }
    crate::process::bootstrap::internal_error("the second pass did not find its target", context)
}

fn land(
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
        crate::threads::abort::caught(context, exception, frame.fp);
    }
    if frame.fp == Target::unpack(word).fp {
        crate::threads::stack_guard::take_back(context);
    }
    let site = frame
        .code
        .call_site(frame.pc)
        .expect("a frame with handlers is at a call site");
    let sp = frame.fp - site.frame_offset as usize;
    crate::safepoint::poll(context);
    // SAFETY: pc, sp and fp are those of a landing pad of a frame that is still active; the records above it are
    // cut; frames of ours between here and there hold nothing.
    unsafe {
        cut_records(context, frame.record);
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

/// Makes `record` the innermost record.
unsafe fn cut_records(context: *mut ThreadContext, record: *mut Record) {
    // SAFETY: the context belongs to this thread.
    unsafe { (*context).record = record };
}
