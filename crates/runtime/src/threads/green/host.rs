//! What the scheduler asks of the runtime.
//!
//! Invariant: there is one scheduler, made when the first green thread is started. A process without green threads has neither carriers nor watcher.
use super::settings;
use crate::arch;
use crate::threads::park::waiter;
use std::sync::atomic::AtomicU32;
use vervet_os::{LeafLock, Published, clock, futex};
use vervet_parking::ParkWord;
use vervet_sched::reactor::Reactor;
use vervet_sched::{Carrier, Host, Options, Outcome, Runner, Scheduler, Wait};

// What carriers do is above this file, because the park layer, on which carriers stand, makes threads ready by the scheduler. These are in `carrier.rs`.
unsafe extern "Rust" {
    #[link_name = "vervet_start_carrier"]
    safe fn start_carrier(carrier: Carrier) -> Result<(), Carrier>;
    #[link_name = "vervet_preempt_green"]
    safe fn preempt_green(id: u32);
    #[link_name = "vervet_prepare_green"]
    safe fn prepare_green() -> bool;
}

/// The runtime, as the scheduler sees it.
pub(crate) struct Runtime {
    reactor: Option<Reactor>,
}

static SCHEDULER: Published<Scheduler<Runtime>> = Published::new();

/// The scheduler.
#[inline]
pub(crate) fn scheduler() -> &'static Scheduler<Runtime> {
    SCHEDULER.get().unwrap_or_else(make)
}

/// The scheduler, if a green thread was started.
pub(crate) fn scheduler_in_use() -> Option<&'static Scheduler<Runtime>> {
    SCHEDULER.get()
}

#[cold]
fn make() -> &'static Scheduler<Runtime> {
    static MAKING: LeafLock<()> = LeafLock::new(());
    let _making = MAKING.lock();
    if let Some(scheduler) = SCHEDULER.get() {
        return scheduler;
    }
    let runtime = Runtime {
        // Without it descriptors are waited for by blocking calls.
        reactor: Reactor::new().ok(),
    };
    let options = Options {
        processors: settings::carriers(),
        ..Options::default()
    };
    let scheduler = SCHEDULER.put(Scheduler::new(runtime, options));
    // If there can be no such thread, nobody is preempted, and a native call that does not return keeps its processor.
    let _ = vervet_os::thread::spawn_detached(256 << 10, || scheduler.watch());
    scheduler
}

impl Runtime {
    /// Where green threads wait for descriptors; None: the system has none to give.
    pub(super) fn reactor(&self) -> Option<&Reactor> {
        self.reactor.as_ref()
    }
}

impl Host for Runtime {
    fn word(&self, id: u32) -> &ParkWord {
        waiter::word(id)
    }
    fn now(&self) -> u64 {
        clock::now()
    }
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier> {
        start_carrier(carrier)
    }
    fn wake(&self, word: &AtomicU32) {
        futex::wake(word, 1);
    }
    fn preempt(&self, _carrier: u32, id: u32) {
        preempt_green(id);
    }
    fn poll(&self, wait: Wait, ready: &mut dyn FnMut(u32)) {
        if let Some(reactor) = &self.reactor {
            reactor.poll(wait, clock::now(), ready);
        }
    }
    fn wake_poller(&self) {
        if let Some(reactor) = &self.reactor {
            reactor.wake();
        }
    }
    #[inline]
    fn expect(&self, id: u32) {
        let (record, top) = waiter::places(id);
        super::record::prefetch(record, top);
    }
    #[inline]
    fn prepare(&self) -> bool {
        super::record::some_wanted() && prepare_green()
    }
    fn let_others_run(&self) {
        std::thread::yield_now();
    }
    fn has_waiters(&self) -> bool {
        self.reactor.as_ref().is_some_and(Reactor::is_used)
    }
}

impl Runner for Runtime {
    #[inline]
    fn run(&self, carrier: &mut Carrier, id: u32) -> Outcome {
        // SAFETY: the scheduler gives the carrier to its own thread, which holds a processor.
        unsafe { arch::run_thread(carrier, id) }
    }
}
