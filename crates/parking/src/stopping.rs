//! The handshake by which one thread, the stopper, stops the others: the stop word, a thread's state, and the words of a thread that is suspended,
//! which means that it waits in the handler of the suspend signal.
//!
//! # How it works
//! The stopper sets the word ([`StopWord::begin`]), makes a process fence, and inspects each thread ([`Suspension::inspect`]) until all are stopped.
//! A thread in Native state counts as stopped; if it leaves that state it finds the word set and goes back ([`leave_native`]). A thread in managed
//! code is sent a signal, whose handler holds it ([`Suspension::hold`]). A single thread is stopped by a word of its own ([`Suspension::request`]),
//! in managed code only.
//!
//! ```text
//!   state      stops how                                          counts as stopped when
//!   ---------  -------------------------------------------------  ------------------------------------
//!   Managed    the suspend signal, anywhere in compiled code      its handler has set `suspended`
//!   Foreign    the suspend signal                                 its handler has set `suspended`
//!   Runtime    at its next poll, or when it leaves the state      (it is waited for)
//!   Native     when it comes back, in `leave_native`              at once
//!   Detached   when it attaches                                   at once
//!   Parked     (no thread runs it)                                (its carrier's words are looked at again)
//!
//!   leaving Native                              stopping the world
//!   -----------------------------------------   -------------------------------------------------
//!   state = RUNTIME                             word |= STOPPING
//!   (the fence is the stopper's)                process fence (membarrier)
//!   load word: not 0? go back to Native         load state: NATIVE? stopped. RUNTIME? look again
//! ```
//!
//! # Invariants
//! * One reading decides. Whether a thread is stopped, and how, is one answer of [`Suspension::inspect`]. For a thread that is known to be stopped
//!   the state alone says how ([`is_suspended`]): the handler does not change it, and a thread that counts as stopped in Native state is in Native
//!   or, for a moment, in Runtime until the world runs. `suspended` says nothing then: a thread that goes from one stop straight into the next
//!   clears it for a moment.
//! * Each side stores its own word and then loads the other's, with a full fence in between: the handler between `suspended` and the words that ask
//!   it to wait, a thread that leaves Native between its state and the stop word, the stopper between the stop word and what it inspects.
//! * The fence of a thread that leaves Native is the stopper's process fence (membarrier), which acts as a full fence in each other thread at some
//!   point after the word was set. If the kernel refuses it, [`FENCE`] is set for ever, and every thread that leaves Native finds the word set and
//!   fences for itself.
//! * A single thread is asked to stop only while it is attached, and a newly attached thread is unasked: one that is attached later with the same
//!   words is not held for a request that was meant for its predecessor.
//!
//! # What generated code and thunks do in place
//! Leaving Native ([`try_leave_native`]): `mov byte [state], RUNTIME; cmp dword [stop], 0; jne slow`, slow calling [`leave_native`]. Going to Native
//! ([`go_native`]): `mov byte [state], NATIVE`, with everything the thread refers to stored before. From Runtime to managed code:
//! `test byte [stop], STOPPING; jnz block; mov byte [state], MANAGED`. x86 keeps the order of stores, and of loads.
//!
//! The models stand for a process fence by a sequentially consistent fence on both sides. That is what an asymmetric pair gives: either the
//! thread's fence lies before its load of the word, or its store of the state lies before it.
use crate::sync::{
    AtomicU8, AtomicU32,
    Ordering::{Acquire, Release, SeqCst},
    fence,
};
use vervet_abi::State;
use vervet_os::perturb;

#[cfg(all(test, feature = "loom"))]
mod models;

/// The world is stopped or about to be.
pub const STOPPING: u32 = 1;
/// There is no process fence: who leaves Native fences.
pub const FENCE: u32 = 2;
/// Some thread is asked for something by an interrupt request: who returns from Runtime to managed code looks whether it is.
pub const ASKED: u32 = 4;

const MANAGED: u8 = State::Managed as u8;
const RUNTIME: u8 = State::Runtime as u8;
const NATIVE: u8 = State::Native as u8;
const FOREIGN: u8 = State::Foreign as u8;
const DETACHED: u8 = State::Detached as u8;

/// The word that says "stop". Thunks test it.
#[derive(Debug)]
#[repr(transparent)]
pub struct StopWord(AtomicU32);

impl StopWord {
    /// Nobody is to stop.
    #[cfg(not(feature = "loom"))]
    #[expect(clippy::new_without_default, reason = "there is one")]
    pub const fn new() -> StopWord {
        StopWord(AtomicU32::new(0))
    }
    /// Nobody is to stop.
    #[cfg(feature = "loom")]
    #[expect(clippy::new_without_default, reason = "there is one")]
    pub fn new() -> StopWord {
        StopWord(AtomicU32::new(0))
    }
    /// There is no process fence. Called before the first thread is attached.
    pub fn set_fence(&self) {
        self.0.fetch_or(FENCE, SeqCst);
    }
    /// Is the world stopped or about to be?
    #[inline]
    pub fn is_stopping(&self) -> bool {
        self.0.load(SeqCst) & STOPPING != 0
    }
    /// The same as a hint, for polls.
    #[inline]
    pub fn may_be_stopping(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) & STOPPING != 0
    }
    /// Says whether some thread is asked for something. A hint: a request that is made at the same time sets it again.
    pub fn set_asked(&self, is_asked: bool) {
        match is_asked {
            true => self.0.fetch_or(ASKED, SeqCst),
            false => self.0.fetch_and(!ASKED, SeqCst),
        };
    }
    /// The stopper stops the world; it makes a process fence before it looks at any thread.
    pub fn begin(&self) {
        self.0.fetch_or(STOPPING, SeqCst);
        in_order();
    }
    /// The world runs; who sleeps on the word has to be woken.
    pub fn end(&self) {
        self.0.fetch_and(!STOPPING, SeqCst);
    }
    /// What a thread sleeps for: the word as it is while the world is to be stopped.
    pub fn stopping(&self) -> Option<u32> {
        let seen = self.0.load(SeqCst);
        (seen & STOPPING != 0).then_some(seen)
    }
    /// What threads sleep on.
    #[cfg(not(feature = "loom"))]
    pub fn futex(&self) -> &AtomicU32 {
        &self.0
    }
}

/// To Native: everything the thread refers to was stored before.
#[inline]
pub fn go_native(state: &AtomicU8) {
    state.store(NATIVE, Release);
}

/// From Native to Runtime. False: the stop word is not zero, and [`leave_native`] has to be called.
///
/// The store of the state and the load of the word have a fence between them that costs nothing here: the compiler keeps their order, and the
/// stopper's process fence does the rest.
#[inline]
pub fn try_leave_native(state: &AtomicU8, stop: &StopWord) -> bool {
    state.store(RUNTIME, Release);
    light_fence();
    stop.0.load(Acquire) == 0
}

/// From Native (or from Runtime, for a poll) to Runtime as soon as the world runs. `rest` tells the stopper that the
/// thread has stopped and sleeps until it has seen that the world runs.
pub fn leave_native(state: &AtomicU8, stop: &StopWord, rest: impl Fn()) {
    loop {
        if stop.is_stopping() {
            go_native(state);
            rest();
        }
        perturb::here();
        state.store(RUNTIME, Release);
        fence(SeqCst);
        perturb::here();
        if !stop.is_stopping() {
            return;
        }
    }
}

/// Why a thread waits in the handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The world is stopped; the stop word has this value.
    World(u32),
    /// The single thread was asked to stop; its `requested` holds 1.
    Thread,
}

/// What the stopper sees of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observed {
    /// Stopped, in native code or between two pieces of ours.
    Stopped,
    /// Suspended in the handler: its registers are in the record of the signal.
    Suspended,
    /// It runs, in that state.
    Runs(u8),
}

/// The words by which one thread is suspended.
#[derive(Debug)]
pub struct Suspension {
    /// 1 while the thread waits in the handler of the signal; 0 for a moment between two stops.
    suspended: AtomicU32,
    /// 1 while this single thread is asked to stop.
    requested: AtomicU32,
}

impl Suspension {
    /// Of a thread that runs.
    #[expect(clippy::new_without_default, reason = "loom's are not const")]
    pub fn new() -> Suspension {
        Suspension {
            suspended: AtomicU32::new(0),
            requested: AtomicU32::new(0),
        }
    }

    /// The thread comes on the list of attached threads, whose lock is held: in Runtime state, and unasked. False: the world
    /// is to be stopped, and it has to wait.
    pub fn attach(&self, state: &AtomicU8, stop: &StopWord) -> bool {
        // A stop that begins from now on finds the thread on the list.
        if stop.is_stopping() {
            return false;
        }
        self.requested.store(0, SeqCst);
        state.store(RUNTIME, Release);
        true
    }

    /// The thread, in Runtime state, leaves the list, whose lock is held.
    pub fn detach(&self, state: &AtomicU8) {
        state.store(DETACHED, Release);
    }

    /// Asks this single thread to stop (`on`), or lets it go. It is on the list of attached threads, whose lock is held.
    pub fn request(&self, on: bool) {
        self.requested.store(u32::from(on), SeqCst);
        in_order();
    }

    /// Does the thread wait in the handler? It may be about to go on.
    pub fn is_held(&self) -> bool {
        self.suspended.load(SeqCst) != 0
    }

    /// Is this single thread asked to stop? Read by whoever may ask.
    pub fn is_requested(&self) -> bool {
        self.requested.load(SeqCst) != 0
    }

    /// Why the thread must wait in the handler, if it must.
    pub fn reason(&self, stop: &StopWord) -> Option<Reason> {
        match stop.stopping() {
            Some(seen) => Some(Reason::World(seen)),
            None if self.requested.load(SeqCst) != 0 => Some(Reason::Thread),
            None => None,
        }
    }

    /// Called by the handler of the signal, in a thread that may be stopped where it is: waits as long as there is a reason. `arrived` tells the stopper;
    /// `sleep` waits for a change, and may return early.
    pub fn hold(&self, stop: &StopWord, arrived: impl Fn(), sleep: impl Fn(Reason)) {
        while self.reason(stop).is_some() {
            perturb::here();
            self.suspended.swap(1, SeqCst);
            in_order();
            perturb::here();
            arrived();
            while let Some(why) = self.reason(stop) {
                sleep(why);
            }
            perturb::here();
            self.suspended.swap(0, SeqCst);
            in_order();
            // Not suspended, and perhaps asked to stop again: the loop looks once more, because the stopper may have seen `suspended`.
            perturb::here();
        }
    }

    /// What the stopper sees of the thread, after it has asked it to stop. The state is loaded before `suspended`: see the first invariant.
    pub fn inspect(&self, state: &AtomicU8) -> Observed {
        let state = state.load(Acquire);
        perturb::here();
        match state {
            NATIVE | DETACHED => Observed::Stopped,
            s if is_suspendable(s) && self.suspended.load(SeqCst) != 0 => Observed::Suspended,
            s => Observed::Runs(s),
        }
    }

    /// What the thread sleeps on when it is stopped alone.
    #[cfg(not(feature = "loom"))]
    pub fn futex(&self) -> &AtomicU32 {
        &self.requested
    }
}

/// Is that a state in which the handler holds a thread?
#[inline]
pub fn is_suspendable(state: u8) -> bool {
    state == MANAGED || state == FOREIGN
}

/// Was a thread that is known to be stopped stopped by the signal?
#[inline]
pub fn is_suspended(state: &AtomicU8) -> bool {
    is_suspendable(state.load(Acquire))
}

/// What is stored before is seen by whoever stores something of its own before it looks. Sequentially consistent accesses
/// say so; loom takes them for acquire and release, and has to be told by a fence.
#[inline]
fn in_order() {
    #[cfg(feature = "loom")]
    fence(SeqCst);
}

/// The fence of a thread that leaves Native: the stopper's.
#[inline]
fn light_fence() {
    #[cfg(feature = "loom")]
    fence(SeqCst);
    #[cfg(not(feature = "loom"))]
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}
