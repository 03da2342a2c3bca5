//! Methods that are called often are compiled again, optimised.
//!
//! # How it works
//! Code that was compiled quickly counts its calls (`jit/emit/front.rs`). The call that makes the counter zero goes to the prestub instead:
//!
//! ```text
//!   prestub -> called_often: set the counter to what it takes to be asked again
//!                | the first that comes: the cache has the blob?                     -> link it
//!                |                       else ask the background compiler            -> the code of before
//!                | a later one: it is at work on it                                  -> the code of before
//!                |              it has the blob                                      -> link it
//!                  link, publish in place of the code of before                      -> the new code
//! ```
//! Without a background compiler the calling thread compiles at once.
//!
//! The single-pass register allocator gives each value a place of its own in the frame: one of a long method has tens of kilobytes, a hundred times what
//! the other allocator makes of it. So a method with a large frame is compiled again after few calls, and the thread whose call that is waits for it.
//!
//! # Invariants
//! * The new code does what the code of before does, stack traces included: it differs in its tier, in what is inlined, and in which classes are known
//!   to be initialised. Classes do not become uninitialised.
//! * Nothing that a program can see happens because of it: no assembly is loaded for it, and what goes wrong is no exception. The code of before stays.
//! * A frame of the code of before goes on in it. New calls, also through delegates and function pointers, which hold the stub, reach the new code.
//! * Before the code of a method with a large frame is replaced, about [`LARGE_FRAME_CALLS`](crate::code::call_counts::LARGE_FRAME_CALLS) of its frames are
//!   made, by all threads together. (Calls are not counted by atomic instructions.)
//! * The background compiler gets only methods of the root domain, and methods that all domains share: types of other domains may go away while it is at
//!   work. A thread that runs in a domain keeps it.
use crate::code::background::{self, Again};
use crate::code::cache;
use crate::code::call_counts::NEVER;
use crate::code::compiling::{self, Patience};
use crate::code::entries::Entry;
use crate::code::table::CodeKind;
use crate::code::{link, neutral};
use crate::cx::Cx;
use crate::runtime::rt;
use crate::threads::service_stack::on_service_stack;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_jit::Blob;

/// After how many calls a method is compiled again, unless an option says otherwise.
pub const CALLS: u32 = 3000;

/// How many methods got other code, for `--stats`.
static REPLACED: AtomicU32 = AtomicU32::new(0);
/// How many of them got code that was kept.
static FROM_CACHE: AtomicU32 = AtomicU32::new(0);

/// The counter of the entry's calls may be used up: the code to go on at, if there is other code now.
pub fn called_often<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry) -> Option<usize> {
    let left = entry.calls_left()?;
    // The prestub is also entered by calls that came before there was code.
    if left.load(Ordering::Relaxed) as i32 > 0 {
        return None;
    }
    if entry.is_replaced() {
        left.store(NEVER, Ordering::Relaxed);
        return None;
    }
    if entry.is_replaced_at_once() {
        return at_once(cx, entry, left);
    }
    left.store(
        rt().options.hot_calls.clamp(8, NEVER) / 8,
        Ordering::Relaxed,
    );
    let again = match entry.claim() {
        true => begin(cx, entry),
        false => background::made_again(entry),
    };
    publish(cx, entry, left, again)
}

/// The calls of a method with a large frame are used up. Its count stays so until there is other code: who calls it meanwhile comes here too and waits, since
/// each thread would otherwise make as many large frames again.
fn at_once<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, left: &AtomicU32) -> Option<usize> {
    loop {
        if entry.is_replaced() {
            return Some(entry.code());
        }
        if left.load(Ordering::Relaxed) as i32 > 0 {
            return None; // It could not be compiled again.
        }
        let Some(_compiling) = compiling::begin(cx, entry, Patience::Unlimited) else {
            continue;
        };
        if entry.claim() {
            let again = begin(cx, entry);
            return publish(cx, entry, left, again);
        }
        if !entry.is_replaced() {
            // No other thread compiles it now: whoever claimed it has ended without code.
            left.store(NEVER, Ordering::Relaxed);
        }
    }
}

/// Links the new code, if there is some, and puts it in place of the code of before.
fn publish<'cx>(
    cx: &'cx Cx<'cx>,
    entry: &'static Entry,
    left: &AtomicU32,
    again: Again,
) -> Option<usize> {
    let code = match again {
        Again::Later => return None,
        Again::Ready(blob) => link(cx, entry, *blob),
        Again::Failed => None,
    };
    match code {
        Some(code) => {
            entry.replace(code);
            REPLACED.fetch_add(1, Ordering::Relaxed);
        }
        None => left.store(NEVER, Ordering::Relaxed),
    }
    code
}

/// The first thread that comes: takes what a process before has kept, or has the method compiled.
fn begin<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry) -> Again {
    if entry.domain.is_root()
        && let Some(blob) = cache::find_again(cx, entry.method)
    {
        FROM_CACHE.fetch_add(1, Ordering::Relaxed);
        return Again::Ready(Box::new(blob));
    }
    let may_wait = !entry.is_replaced_at_once()
        && (entry.domain.is_root() || neutral::is_shared(entry.method));
    if may_wait && background::ask_again(entry) {
        return Again::Later;
    }
    cx.native(|| on_service_stack(|| background::compile_again(entry)))
}

/// Links the new code. None: it is not to be used.
fn link<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, blob: Blob) -> Option<usize> {
    blob.check_classes().ok()?;
    let kind = CodeKind::Method(entry.method);
    crate::process::counters::trace_code("optimise", entry.method);
    match link::link(cx, entry.domain, blob, kind) {
        Ok(code) => {
            link::tell_host(cx, entry.method, code);
            Some(code.start)
        }
        Err(throw) => {
            let _ = cx.take_pending(throw);
            None
        }
    }
}

/// A line for `--stats`.
pub fn report() -> String {
    let [replaced, kept] = [&REPLACED, &FROM_CACHE].map(|n| n.load(Ordering::Relaxed));
    format!("called often          {replaced} methods compiled again, {kept} of them from cache\n")
}
