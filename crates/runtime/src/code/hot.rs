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
//! A method that is optimised from the start, as one with a loop that cannot be left, does not count its calls for this. It is compiled again only if calls in it note
//! their callees: the code makes the counter zero itself when there were many such calls (`jit/translate/calls/profile.rs`), or the method is called as often as others.
//! A loop that runs for long in code of before is left for other code: [`super::loops`].
//!
//! A method whose frames fill a stack that has become deep is compiled again at its next call, and the thread whose call that is waits for it
//! (`exceptions/deep_stacks.rs`).
//!
//! # Invariants
//! * The new code does what the code of before does, stack traces included: it differs in its tier, in what is inlined, in which receivers are guessed, and in which
//!   classes are known to be initialised. Classes do not become uninitialised.
//! * Nothing that a program can see happens because of it: no assembly is loaded for it, and what goes wrong is no exception. The code of before stays.
//! * A frame of the code of before goes on in it. New calls, also through delegates and function pointers, which hold the stub, reach the new code.
//! * The background compiler gets only methods of the root domain, and methods that all domains share: types of other domains may go away while it is at
//!   work. A thread that runs in a domain keeps it.
use crate::code::background::{self, Again, Hot};
use crate::code::cache;
use crate::code::call_counts::{CallCounter, NEVER};
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
    let calls = entry.calls()?;
    // The prestub is also entered by calls that came before there was code.
    if calls.left.load(Ordering::Relaxed) as i32 > 0 {
        return None;
    }
    if entry.is_replaced() {
        calls.left.store(NEVER, Ordering::Relaxed);
        return None;
    }
    if calls.is_at_once() {
        return at_once(cx, entry, calls);
    }
    calls.left.store(
        rt().options.hot_calls.clamp(8, NEVER) / 8,
        Ordering::Relaxed,
    );
    let again = match entry.claim() {
        true => begin(cx, entry, || background::ask_again(Hot::Method(entry.id()))),
        false => background::made_again(Hot::Method(entry.id())),
    };
    publish(cx, entry, calls, again)
}

/// The frames of the method fill a stack. Its count stays used up until there is other code: who calls it meanwhile comes here too and waits, since each thread
/// would otherwise make as many large frames again. What the background compiler was asked for and has not made is made here.
fn at_once<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, calls: &CallCounter) -> Option<usize> {
    loop {
        if entry.is_replaced() {
            return Some(entry.code());
        }
        if !calls.is_at_once() {
            return None; // It could not be compiled again.
        }
        let Some(_compiling) = compiling::begin(cx, entry, Patience::Unlimited) else {
            continue;
        };
        // (Another thread may have ended its compile since the look above.)
        if entry.is_replaced() {
            continue;
        }
        let again = match entry.claim() {
            true => begin(cx, entry, || false),
            false => match background::made_again(Hot::Method(entry.id())) {
                Again::Later => compile_here(cx, entry),
                made => made,
            },
        };
        return publish(cx, entry, calls, again);
    }
}

/// Links the new code, if there is some, and puts it in place of the code of before.
fn publish<'cx>(
    cx: &'cx Cx<'cx>,
    entry: &'static Entry,
    calls: &CallCounter,
    again: Again,
) -> Option<usize> {
    let code = match again {
        Again::Later => return None,
        Again::Ready(blob) => link(cx, entry, *blob),
        Again::Failed => None,
    };
    match code {
        Some(code) => {
            REPLACED.fetch_add(1, Ordering::Relaxed);
            Some(entry.replace(code))
        }
        None => {
            calls.give_up();
            None
        }
    }
}

/// The first thread that comes: takes what a process before has kept, or has the method compiled, by another thread if `ask` finds one.
fn begin<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, ask: impl FnOnce() -> bool) -> Again {
    if entry.domain.is_root()
        && let Some(blob) = cache::find_again(cx, entry.method)
    {
        FROM_CACHE.fetch_add(1, Ordering::Relaxed);
        return Again::Ready(Box::new(blob));
    }
    if may_be_asked(entry) && ask() {
        return Again::Later;
    }
    compile_here(cx, entry)
}

/// Whether the background compiler may be asked for code of the entry.
pub(super) fn may_be_asked(entry: &Entry) -> bool {
    entry.domain.is_root() || neutral::is_shared(entry.method)
}

/// The calling thread compiles the method.
fn compile_here<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry) -> Again {
    cx.native(|| on_service_stack(|| background::compile_again(entry)))
}

/// Links the new code. None: it is not to be used.
pub(super) fn link<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, blob: Blob) -> Option<usize> {
    blob.check_classes().ok()?;
    let kind = CodeKind::Method(entry.method);
    crate::process::counters::trace_code("optimise", entry.method);
    crate::process::counters::list(entry.method, &blob);
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
