//! The Foreign state of the calling thread: code of a host that embeds the runtime, and that keeps references to objects in its frames.
//!
//! ```text
//!   host                          embedding API                      managed code
//!   Foreign  -- enter: store -->  Runtime  -- Cx::invoke ... ----->  Managed
//!            <-- leave: store --           <----------------------
//!   Foreign  <-- outside: a callback of the host's, and back --> Runtime
//! ```
//!
//! # Invariants
//! * A thread leaves Foreign as it leaves Native: it looks at the stop word after it has stored its state, and waits while the world is stopped.
//!   A thread in Foreign state may be held with a lock of the C library, so none of ours may run on the way to a poll while such a thread is held.
//! * Code of a host never runs in Runtime state, which no signal stops, and code of ours never in Foreign: it might be held with a lock that the
//!   stopper takes.
//! * A native call of a green thread, in which the carrier may lose its processor, is over for the scheduler while a function of ours runs, whichever state the
//!   host's code is in.
//! * A thread is not detached while a function of ours waits for the host's to return.
//! * A native function that managed code calls runs in Native state. Once it has called the embedding API it may keep references, so it is in
//!   Foreign state until it returns. The thunk that called it stores the next state, whatever this one is.
use crate::cx::{Cx, Result};
use crate::safepoint::registry;
use crate::threads::native_state::{self, leave_native};
use crate::threads::{adopt, attach, current_context, green, lifetime, state};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use vervet_abi::{State, ThreadContext};

/// The calling thread is in Runtime state until this is dropped; it goes back to the host's code then. Without a context (a thread that is not
/// attached) nothing changes.
#[derive(Debug)]
pub struct Entered {
    context: *mut ThreadContext,
    before: u8,
    /// A green thread was in a native call, and is again behind this one.
    in_native_call: bool,
}

/// Enters the runtime from the code of a host.
#[inline]
pub fn enter() -> Entered {
    let context = current_context();
    if context.is_null() {
        return Entered {
            context,
            before: 0,
            in_native_call: false,
        };
    }
    // SAFETY: the context belongs to this thread, and so does its state.
    unsafe {
        let state = registry::state(context);
        let before = state.load(Ordering::Relaxed);
        let in_native_call = (*context).green != 0 && green::wait::is_in_native_call(context);
        if before == State::Foreign as u8 {
            native_state::leave_foreign(context);
            if in_native_call {
                native_state::wait_for_processor(context);
            }
        } else if before == State::Native as u8 {
            if (*context).green != 0 {
                green::wait::leave_native(context);
            }
            leave_native(context);
        }
        Entered {
            context,
            before,
            in_native_call,
        }
    }
}

impl Entered {
    /// The token of the thread; None: it is not attached.
    #[inline]
    pub fn token<'cx>(&self) -> Option<Cx<'cx>> {
        // SAFETY: the context was the calling thread's when this was made, which is in Runtime state since.
        self.is_attached().then(|| unsafe { Cx::of(self.context) })
    }
    /// Is the thread attached?
    #[inline]
    pub fn is_attached(&self) -> bool {
        !self.context.is_null()
    }
    /// For work that neither attaches nor detaches the thread, whose way back is shorter; None: the thread is not attached.
    #[inline]
    pub fn stay_attached(self) -> Option<Stay> {
        let stay = self.is_attached().then_some(Stay {
            context: self.context,
            before: self.before,
            in_native_call: self.in_native_call,
        });
        std::mem::forget(self);
        stay
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        // Attached or detached meanwhile: the call has seen to the state.
        if !self.context.is_null() && self.context == current_context() {
            // SAFETY: the context belongs to this thread, which is in Runtime state.
            unsafe { go_back(self.context, self.before, self.in_native_call) };
        }
    }
}

/// As [`Entered`], of a thread that is attached all the time. The host cannot detach it: it does not get back to its own code but by [`outside`], or by native
/// calls of managed code, which keep it ([`detach`]).
#[derive(Debug)]
pub struct Stay {
    context: *mut ThreadContext,
    before: u8,
    in_native_call: bool,
}

impl Stay {
    /// The token of the thread.
    #[inline]
    pub fn token<'cx>(&self) -> Cx<'cx> {
        // SAFETY: the context is the calling thread's, which is in Runtime state.
        unsafe { Cx::of(self.context) }
    }
}

impl Drop for Stay {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the context belongs to this thread, which is in Runtime state.
        unsafe { go_back(self.context, self.before, self.in_native_call) };
    }
}

/// Back to the code of the host, which was in the state `before`.
///
/// # Safety
/// The context is the calling thread's, which is in Runtime state.
#[inline]
unsafe fn go_back(context: *mut ThreadContext, before: u8, in_native_call: bool) {
    if before == State::Runtime as u8 {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if in_native_call {
            green::wait::enter_native(context);
        }
        registry::state(context).store(State::Foreign as u8, Ordering::Release);
    }
}

thread_local! {
    /// Calls of [`outside`] on the calling thread below which there is no managed code. (Those above managed code may be left by an exception, which ends no count.)
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Calls a function of the host's in Foreign state.
pub fn outside<T>(cx: &Cx<'_>, call: impl FnOnce() -> T) -> T {
    vervet_os::lock::assert_no_leaf_lock("calling the host");
    let context = cx.context();
    // SAFETY: the context belongs to this thread, which is in Runtime state.
    unsafe {
        let counts = u32::from((*context).record.is_null());
        CALLS.set(CALLS.get() + counts);
        registry::state(context).store(State::Foreign as u8, Ordering::Release);
        let result = call();
        CALLS.set(CALLS.get() - counts);
        native_state::leave_foreign(context);
        result
    }
}

/// The thread that has started the runtime, in Runtime state, goes to the code of the host.
pub fn to_host() {
    let context = current_context();
    if !context.is_null() {
        // SAFETY: the context belongs to this thread.
        unsafe { registry::state(context) }.store(State::Foreign as u8, Ordering::Release);
    }
}

/// Attaches the calling thread of a host, which is then in Foreign state, with a managed thread in the foreground, or in the background.
/// True: it was attached before.
pub fn attach(background: bool) -> Result<bool> {
    if !current_context().is_null() {
        return Ok(true);
    }
    attach::attach_foreign();
    let cx = Cx::current();
    let made = adopt_host_thread(&cx, background);
    to_host();
    made.map(|()| false)
}

fn adopt_host_thread<'cx>(cx: &'cx Cx<'cx>, background: bool) -> Result<()> {
    if background {
        return adopt::adopt_foreign(cx);
    }
    let internal = adopt::new_internal(cx)?;
    lifetime::give(internal, lifetime::ThreadLifetime::new(false));
    adopt::give_objects(cx, internal)?;
    state::change(internal, 0, state::BACKGROUND);
    Ok(())
}

/// Detaches the calling thread of a host, if it is attached and neither managed code nor the runtime is on its stack. True: it was.
pub fn detach() -> bool {
    let context = current_context();
    // SAFETY: the context belongs to this thread.
    if context.is_null() || unsafe { !(*context).record.is_null() } {
        return false;
    }
    detach_for_good()
}

/// Detaches the calling thread, which is attached and about to end: none of its managed frames goes on. False: it is in a call of [`outside`], whose caller goes
/// on with the context, or it carries a green thread, whose native function would end the carrier.
pub fn detach_for_good() -> bool {
    if CALLS.get() != 0 {
        return false;
    }
    let context = current_context();
    // SAFETY: the context belongs to this thread.
    if unsafe { (*context).green } != 0 {
        return false;
    }
    // SAFETY: the context belongs to this thread. Without a record nothing looks at the managed frames.
    unsafe { (*context).record = std::ptr::null_mut() };
    attach::detach();
    true
}
