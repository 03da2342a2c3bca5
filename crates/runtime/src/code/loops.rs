//! Loops that run for long in quickly compiled code get other code, for which they leave it (`jit/translate/control/replacement.rs`).
//!
//! # How it works
//! Code at the head of a loop asks at the end of each thousand iterations:
//!
//! ```text
//!   code_at: the loop has code                                          -> it
//!            the first that comes: ask the background compiler          -> 0
//!            a later one: it is at work on it                           -> 0
//!                         it has the blob                               -> link it
//! ```
//! Without a background compiler the calling thread compiles at once. The method is asked for as well, as if it had been called often: its next call begins in optimised
//! code, and so does its first in the next process, since that code is kept.
//!
//! # Invariants
//! * What was asked for is compiled once, and linked once.
//! * Nothing that a program can see happens because of it: no assembly is loaded for it, and what goes wrong is no exception. The loop goes on in the code of
//!   before.
//! * Code of a loop stays for ever, as all code of its domain.
use crate::code::background::{self, Again, Hot};
use crate::code::entries::{self, Entry};
use crate::code::hot;
use crate::cx::Cx;
use crate::threads::service_stack::on_service_stack;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_os::LeafLock;
use vervet_types::MethodRef;

/// How it stands with the code of a loop.
#[derive(Clone, Copy)]
enum State {
    /// Somebody has asked for it.
    Asked,
    /// It is there, at this address.
    Code(usize),
    /// It cannot be made.
    None,
}

/// By id of the entry and IL offset of the head.
static LOOPS: LeafLock<Option<FxHashMap<(u32, u32), State>>> = LeafLock::new(None);

/// How many loops have code of their own, for `--stats`.
static REPLACED: AtomicU32 = AtomicU32::new(0);

/// Where a thread goes on that has run for long in the method's loop with that head, whose variables it passes; 0: where it is.
pub fn code_at<'cx>(cx: &'cx Cx<'cx>, method: MethodRef, head: u32) -> usize {
    let Some(entry) = entries::existing(cx.domain(), method) else {
        return 0;
    };
    let key = (entry.id(), head);
    let known = {
        let mut all = LOOPS.lock();
        let all = all.get_or_insert_default();
        let known = all.get(&key).copied();
        if known.is_none() {
            all.insert(key, State::Asked);
        }
        known
    };
    let made = match known {
        Some(State::Code(code)) => return code,
        Some(State::None) => return 0,
        Some(State::Asked) => background::made_again(Hot::Loop(entry.id(), head)),
        None => begin(cx, entry, head),
    };
    ask_at_next_call(entry);
    let code = match made {
        Again::Later => return 0,
        Again::Ready(blob) => hot::link(cx, entry, *blob),
        Again::Failed => None,
    };
    let state = code.map_or(State::None, State::Code);
    LOOPS.lock().get_or_insert_default().insert(key, state);
    REPLACED.fetch_add(u32::from(code.is_some()), Ordering::Relaxed);
    code.unwrap_or(0)
}

/// The first thread that comes: has the code made, by another thread if there is one for it.
fn begin<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, head: u32) -> Again {
    let id = entry.id();
    match hot::may_be_asked(entry) && background::ask_again(Hot::Loop(id, head)) {
        true => {
            if entry.claim() {
                background::ask_again(Hot::Method(id));
            }
            Again::Later
        }
        false => cx.native(|| on_service_stack(|| background::compile_loop(entry, head))),
    }
}

/// The next call of the method asks for other code, too.
fn ask_at_next_call(entry: &Entry) {
    let Some(calls) = entry.calls().filter(|_| !entry.is_replaced()) else {
        return;
    };
    // What other threads count meanwhile may be lost.
    if calls.left.load(Ordering::Relaxed) as i32 > 1 {
        calls.left.store(1, Ordering::Relaxed);
    }
}

/// A line for `--stats`.
pub fn report() -> String {
    let replaced = REPLACED.load(Ordering::Relaxed);
    format!("long loops            {replaced} compiled to be entered in their middle\n")
}
