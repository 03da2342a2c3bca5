//! The handshake under loom. What surrounds it is modelled so:
//!
//! * The suspend signal is a flag, which a thread checks before every step of "managed code"; its handler is [`Suspension::hold`].
//! * A futex is a loop that yields. A process fence is a sequentially consistent fence on both sides.
//! * The heap is a loom cell: loom reports a thread that touches it while the stopper does, which would be a broken stop.
use super::*;
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicBool;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Tries every interleaving with at most `preemptions` preemptions (None: any number).
fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(f);
}

/// A thread, the list it is on, the word, and the heap.
struct World {
    stop: StopWord,
    /// One stopper at a time.
    stop_lock: Mutex<()>,
    /// Is the thread on the list?
    list: Mutex<bool>,
    suspension: Suspension,
    state: AtomicU8,
    /// The suspend signal is on its way to the thread.
    signal: AtomicBool,
    heap: UnsafeCell<u32>,
}

impl World {
    fn new(state: State) -> Arc<World> {
        Arc::new(World {
            stop: StopWord::new(),
            stop_lock: Mutex::new(()),
            list: Mutex::new(state != State::Detached),
            suspension: Suspension::new(),
            state: AtomicU8::new(state as u8),
            signal: AtomicBool::new(false),
            heap: UnsafeCell::new(0),
        })
    }

    // ---- the thread ----

    fn touch(&self) {
        self.heap.with_mut(|h| {
            // SAFETY: that nobody else does so now is what the models show.
            unsafe { *h += 1 }
        });
    }
    /// What the signal's handler does, if one has come. The thread is between two instructions of managed code.
    fn take_signal(&self) {
        if self.signal.swap(false, SeqCst) {
            self.suspension
                .hold(&self.stop, || {}, |_| thread::yield_now());
        }
    }
    fn rest(&self) {
        while self.stop.is_stopping() {
            thread::yield_now();
        }
    }
    /// The thread comes back from native code, as thunks do.
    fn leave_native(&self) {
        if !try_leave_native(&self.state, &self.stop) {
            leave_native(&self.state, &self.stop, || self.rest());
        }
    }
    /// A piece of managed code, entered from Runtime, and back.
    fn run_managed(&self, steps: usize) {
        self.state.store(MANAGED, Release);
        for _ in 0..steps {
            self.take_signal();
            self.touch();
        }
        self.take_signal();
        self.state.store(RUNTIME, Release);
        // The poll when the thread leaves managed code.
        if self.stop.is_stopping() {
            leave_native(&self.state, &self.stop, || self.rest());
        }
    }
    /// The thread comes on the list, and waits while the world is stopped.
    fn attach(&self) {
        loop {
            let mut list = self.list.lock().unwrap();
            if self.suspension.attach(&self.state, &self.stop) {
                *list = true;
                return;
            }
            drop(list);
            thread::yield_now();
        }
    }
    /// The thread leaves the list.
    fn detach(&self) {
        let mut list = self.list.lock().unwrap();
        *list = false;
        self.suspension.detach(&self.state);
    }

    // ---- the stopper ----

    /// Stops the world; what it sees of the thread, None if there is none, is given to `work`.
    fn stopped(&self, work: impl FnOnce(&World, Option<Observed>)) {
        let _lock = self.stop_lock.lock().unwrap();
        self.stop.begin();
        fence(SeqCst);
        let seen = loop {
            let list = self.list.lock().unwrap();
            if !*list {
                break None;
            }
            match self.suspension.inspect(&self.state) {
                Observed::Runs(RUNTIME) => {}
                Observed::Runs(_) => self.signal.store(true, SeqCst),
                seen => break Some(seen),
            }
            drop(list);
            thread::yield_now();
        };
        self.touch();
        work(self, seen);
        self.stop.end();
    }
    /// Stops the thread alone, if it comes within so many looks.
    fn stop_alone(&self, looks: usize, work: impl FnOnce(&World)) {
        let _lock = self.stop_lock.lock().unwrap();
        let set = |on| {
            let list = self.list.lock().unwrap();
            if !*list {
                return false;
            }
            self.suspension.request(on);
            match self.suspension.inspect(&self.state) {
                Observed::Suspended => true,
                Observed::Runs(_) if on => {
                    self.signal.store(true, SeqCst);
                    false
                }
                _ => false,
            }
        };
        for _ in 0..looks {
            if set(true) {
                work(self);
                break;
            }
            thread::yield_now();
        }
        set(false);
    }
}

/// A thread goes from native code to ours and back while the world is stopped: it is in native code, or not stopped.
#[test]
fn a_thread_that_leaves_native_code_waits() {
    model(None, || {
        let world = World::new(State::Native);
        let w = world.clone();
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                w.leave_native();
                w.touch();
                go_native(&w.state);
            }
        });
        world.stopped(|w, seen| {
            assert_eq!(seen, Some(Observed::Stopped));
            assert!(!is_suspended(&w.state));
        });
        thread.join().unwrap();
    });
}

/// Two stops in a row: a thread that the handler holds is seen as interrupted, by the look that ends the waiting and by
/// every later reading.
#[test]
fn a_held_thread_is_interrupted_in_every_stop() {
    model(Some(5), || {
        let world = World::new(State::Managed);
        let w = world.clone();
        let thread = thread::spawn(move || {
            w.run_managed(1);
            go_native(&w.state);
        });
        for _ in 0..2 {
            world.stopped(|w, seen| {
                // It may have come to its poll instead, or to the end.
                let interrupted = seen == Some(Observed::Suspended);
                assert_eq!(is_suspended(&w.state), interrupted);
            });
        }
        thread.join().unwrap();
    });
}

/// One thread stops it alone while another stops the world: neither lets it go for the other.
#[test]
fn a_thread_is_stopped_alone_and_with_the_world() {
    model(Some(2), || {
        let world = World::new(State::Managed);
        let (w, v) = (world.clone(), world.clone());
        let thread = thread::spawn(move || {
            w.run_managed(1);
            go_native(&w.state);
        });
        let asker = thread::spawn(move || v.stop_alone(2, World::touch));
        world.stopped(|w, seen| {
            assert_eq!(is_suspended(&w.state), seen == Some(Observed::Suspended));
        });
        asker.join().unwrap();
        thread.join().unwrap();
    });
}

/// A thread comes and goes while the world is stopped.
#[test]
fn a_thread_attaches_when_the_world_runs() {
    model(Some(3), || {
        let world = World::new(State::Detached);
        let w = world.clone();
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                w.attach();
                w.touch();
                w.detach();
            }
        });
        world.stopped(|_, seen| assert_ne!(seen, Some(Observed::Suspended)));
        thread.join().unwrap();
    });
}

/// A thread ends while it is asked to stop alone, and its words go to another: which is not held for ever. (The signal that
/// was meant for the first may come to the second.)
#[test]
fn a_request_ends_with_the_thread() {
    model(Some(3), || {
        let world = World::new(State::Runtime);
        let w = world.clone();
        let thread = thread::spawn(move || {
            w.run_managed(1);
            w.detach();
            w.attach();
            w.signal.store(true, SeqCst);
            w.run_managed(1);
            w.detach();
        });
        world.stop_alone(1, World::touch);
        thread.join().unwrap();
    });
}
