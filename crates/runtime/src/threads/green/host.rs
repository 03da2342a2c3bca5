//! What the scheduler asks of the runtime.
//!
//! Invariant: there is one scheduler, made when the first green thread is started. A process without green threads has neither carriers nor watcher.
use super::{carrier, record};
use crate::safepoint::registry;
use crate::threads::park::waiter;
use crate::threads::retry_thread::{self, raise_limit};
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::context::interrupts::PREEMPT;
use vervet_os::{LeafLock, Published, clock, futex};
use vervet_parking::ParkWord;
use vervet_sched::reactor::Reactor;
use vervet_sched::{Carrier, Host, Options, Outcome, Runner, Scheduler, Wait};

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
    let scheduler = SCHEDULER.put(Scheduler::new(runtime, Options::default()));
    // Without it nobody is preempted, and a processor whose carrier is in a native call is not given to another: slower, and correct.
    let _ = vervet_os::thread::spawn_detached(256 << 10, || scheduler.watch());
    scheduler
}

impl Host for Runtime {
    fn word(&self, id: u32) -> &ParkWord {
        waiter::word(id)
    }
    fn now(&self) -> u64 {
        clock::now()
    }
    fn start_carrier(&self, carrier: Carrier) -> Result<(), Carrier> {
        carrier::start(carrier)
    }
    fn wake(&self, word: &AtomicU32) {
        futex::wake(word, 1);
    }
    fn preempt(&self, _carrier: u32, id: u32) {
        if waiter::green(id) == 0 {
            return;
        }
        let context = record::of(id).context;
        // SAFETY: contexts are never freed. A request that comes late has the thread yield once.
        unsafe {
            registry::interrupts(context).fetch_or(PREEMPT, Ordering::SeqCst);
            raise_limit(context);
        }
        // A loop that neither calls nor polls is redirected.
        retry_thread::kick();
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
    fn has_waiters(&self) -> bool {
        self.reactor.as_ref().is_some_and(Reactor::is_used)
    }
}

impl Runner for Runtime {
    fn run(&self, carrier: &mut Carrier, id: u32) -> Outcome {
        carrier::run(carrier, record::of(id))
    }
}
