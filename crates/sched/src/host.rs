//! What the scheduler asks of the world around it, and what it answers.
//!
//! Invariant: no function of [`Host`] is called under a lock of this crate, so an implementation may take locks and make system calls.
use crate::Carrier;
use crate::sync::AtomicU32;
use vervet_parking::ParkWord;

/// How long [`Host::poll`] may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Not at all: what is ready now.
    Not,
    /// Until that time, in nanoseconds of [`Host::now`].
    Until(u64),
    /// Until a descriptor is ready or [`Host::wake_poller`] is called.
    Forever,
}

/// What a carrier does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It runs that green thread, and then calls [`Scheduler::after`](crate::Scheduler::after).
    Run(u32),
    /// It sleeps until [`Scheduler::is_given`](crate::Scheduler::is_given), and then asks again.
    Sleep,
    /// It waits for descriptors, makes what is ready known by [`Scheduler::polled`](crate::Scheduler::polled), and then asks again. One carrier at
    /// a time is told so.
    Poll(Wait),
    /// The OS thread ends.
    End,
}

/// Why a green thread no longer runs on its carrier. Its stack is not in use when this is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Outcome {
    /// It let others run.
    Yield,
    /// It was made to let others run ([`Host::preempt`]).
    Preempted,
    /// It called [`ParkWord::begin`](vervet_parking::ParkWord::begin) with success, made its wait known, and waits.
    Park,
    /// It came back from a native call to a carrier without processor ([`Scheduler::leave_native`](crate::Scheduler::leave_native) said false), and goes
    /// on when a processor runs it.
    Requeue,
    /// It has ended. Its id is free.
    End,
    /// It did not run: the host makes it ready when it can.
    Waits,
    /// The carrier found that the thread can run on another carrier only, and has given that its processor
    /// ([`Scheduler::hand_to`](crate::Scheduler::hand_to)).
    HandedOver,
}

/// The world around the scheduler: the runtime, or a simulation.
pub trait Host {
    /// The park word of a green thread.
    fn word(&self, id: u32) -> &ParkWord;
    /// Nanoseconds since some moment; never less than before.
    fn now(&self) -> u64;
    /// Starts an OS thread that passes `carrier` to [`Scheduler::carry`](crate::Scheduler::carry).
    ///
    /// # Errors
    /// Gives the carrier back if there can be no other thread. Its work then waits for the carriers that there are.
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier>;
    /// Wakes the carrier or the watcher that sleeps on `word`, whose value has changed.
    fn wake(&self, word: &AtomicU32);
    /// Green thread `id` has run for a whole slice on that carrier while others wait: it is to say [`Outcome::Preempted`] soon. The request may
    /// come late, when the thread no longer runs there; it then means nothing.
    fn preempt(&self, carrier: u32, id: u32);
    /// Waits for descriptors as long as `wait` says, and passes the owner ids of threads whose descriptors are ready to `ready`. It may end early.
    fn poll(&self, wait: Wait, ready: &mut dyn FnMut(u32));
    /// Ends the [`Host::poll`] that waits, or the next one that would wait.
    fn wake_poller(&self);
    /// Green thread `id` is next in the queue of the calling carrier. A hint: what it will touch may be brought into the caches meanwhile.
    fn expect(&self, id: u32) {
        let _ = id;
    }
    /// The calling carrier searches, and has nothing to run. The host may use the time, for about a microsecond, for what threads that start will need.
    /// True: it did, and may have more to do.
    fn prepare(&self) -> bool {
        false
    }
    /// Lets other OS threads run on the calling carrier's core, if any wants to.
    fn let_others_run(&self) {}
    /// Can a poll find anything? False as long as no thread waits for a descriptor.
    fn has_waiters(&self) -> bool;
}

/// A host whose carriers are OS threads that run [`Scheduler::carry`](crate::Scheduler::carry).
pub trait Runner: Host {
    /// Switches to the stack of green thread `id`, and says why it came back. Calls of the scheduler by the thread pass the same `carrier`.
    fn run(&self, carrier: &mut Carrier, id: u32) -> Outcome;
}
