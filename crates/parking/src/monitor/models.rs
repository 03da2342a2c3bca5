//! Monitors under loom: the code that ships, and what generated code does before it calls that (`enter` and `exit`):
#![doc = include_str!("../inlined.txt")]
//!
//!
//! | property | models |
//! |---|---|
//! | one thread is inside at a time, and all get their turn | `nobody_is_left_in_the_queue`, `an_owner_enters_again_while_another_waits` |
//! | inflation loses no state | `inflation_meets_the_owner_leaving` |
//! | a thread that gives up passes its wake-up on | `a_late_thread_leaves_the_queue`, `an_interrupted_thread_wakes_the_next` and its variant |
//! | no pulse is lost, none is given twice | `a_pulse_is_not_lost`, `all_waiters_go_on`, `a_wait_is_pulsed_or_late` |
//! | the collector takes idle monitors only | `deflation_meets_threads_that_enter`, `deflation_meets_a_waiter` |
//!
//! Each model is run twice: the second time, threads with odd ids leave their calls when they park, and call again.
//!
//! Each thread of a model has an id. Where the runtime has its threads' waiters, and the stopping of the world, there is a
//! [`Process`] here. A deadline is a flag that a thread sets when it likes. Loom tries what an exchange that fails means, what a load may
//! still see, and where each thread is when the others go on; more than a few preemptions only where it says `None`.
use super::{Exit, Left, Lock, Monitor, Owner, Queue, Stop, Table, Thread, Why};
use crate::ParkWord;
use crate::sync::{AtomicU32, LeafLock, Ordering::*};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicBool;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::cell::Cell;
use std::collections::VecDeque;
use vervet_abi::object::sync_word::*;

const THREADS: usize = 4;
/// The hash that is given when one is asked for.
const HASH: u32 = 0x77;

/// What the threads of a model share besides the lock.
struct Process {
    /// The park word of each thread.
    words: [ParkWord; THREADS],
    /// What the kernel keeps for each word: a thread checks its word and goes to sleep in one step, and is woken by whoever changes the word.
    sleeping: [(Mutex<()>, Condvar); THREADS],
    /// Was the thread pulsed?
    signalled: [AtomicU32; THREADS],
    /// Is the thread in a queue?
    queued: [AtomicU32; THREADS],
    /// What queues keep of the thread, with the lock of one; loom reports who uses it without.
    links: [Link; THREADS],
    /// The deadline of thread 1 is over; no other thread's wait has one.
    late: AtomicBool,
    /// Thread 1 is interrupted.
    alerted: AtomicBool,
    /// Threads that cannot be stopped now; None: nobody stops the world in this model.
    running: Option<LeafLock<u32>>,
}
loom::lazy_static! {
    static ref PROCESS: Process = Process::new(false);
    static ref STOPPABLE: Process = Process::new(true);
}
thread_local! {
    /// Does the model that this thread runs stop the world?
    static STOPS: Cell<bool> = const { Cell::new(false) };
    /// Do threads with odd ids leave their calls when they park?
    static LEAVES: Cell<bool> = const { Cell::new(false) };
}
/// Tries every interleaving with so many preemptions. `stops`: the model stops the world. (Loom runs all threads on this one.)
fn model_of(stops: bool, preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    STOPS.set(stops);
    let f = std::sync::Arc::new(f);
    for leaves in [false, true] {
        LEAVES.set(leaves);
        let f = f.clone();
        crate::models::model(preemptions, move || f());
    }
}
fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    model_of(false, preemptions, f);
}
impl Process {
    fn new(stops: bool) -> Process {
        Process {
            words: std::array::from_fn(|_| ParkWord::new()),
            sleeping: std::array::from_fn(|_| (Mutex::new(()), Condvar::new())),
            signalled: std::array::from_fn(|_| AtomicU32::new(0)),
            queued: std::array::from_fn(|_| AtomicU32::new(0)),
            links: std::array::from_fn(|_| Link(UnsafeCell::new(0))),
            late: AtomicBool::new(false),
            alerted: AtomicBool::new(false),
            running: stops.then(LeafLock::default),
        }
    }
    fn get() -> &'static Process {
        match STOPS.get() {
            true => &STOPPABLE,
            false => &PROCESS,
        }
    }
    /// Sleeps while the thread's word says so and the deadline is not over.
    fn sleep(&self, id: u32, deadline: Option<Late>) {
        let (lock, changed) = &self.sleeping[id as usize];
        let mut sleeping = lock.lock().unwrap();
        while self.words[id as usize].is_parked() && !Me::is_over(deadline) {
            sleeping = changed.wait(sleeping).unwrap();
        }
    }
    fn wake(&self, id: u32) {
        let (lock, changed) = &self.sleeping[id as usize];
        drop(lock.lock().unwrap());
        changed.notify_one();
    }
    /// The deadline of thread 1's waits is over.
    fn now_is_late(&self) {
        self.late.store(true, SeqCst);
        self.wake(1);
    }
    fn runs(&self, change: i32) {
        if let Some(running) = &self.running {
            let mut running = running.lock();
            *running = running.wrapping_add_signed(change);
        }
    }
    /// A stop of the world, if it comes at a moment when it need not wait.
    fn stopped(&self, work: impl FnOnce()) {
        if let Some(running) = &self.running {
            let running = running.lock();
            if *running == 0 {
                work();
            }
        }
    }
}

struct Link(UnsafeCell<u32>);
// SAFETY: loom reports every use that another one does not happen before.
unsafe impl Sync for Link {}
impl Link {
    fn uses(&self) {
        // SAFETY: see above.
        self.0.with_mut(|word| unsafe { *word += 1 });
    }
}

#[derive(Default)]
struct Ids(VecDeque<u32>);
impl Queue for Ids {
    fn push_back(&mut self, id: u32) {
        assert!(!self.0.contains(&id));
        Process::get().links[id as usize].uses();
        Process::get().queued[id as usize].store(1, Relaxed);
        self.0.push_back(id);
    }
    fn push_front(&mut self, id: u32) {
        assert!(!self.0.contains(&id));
        Process::get().links[id as usize].uses();
        Process::get().queued[id as usize].store(1, Relaxed);
        self.0.push_front(id);
    }
    fn pop_front(&mut self) -> Option<u32> {
        let first = self.0.front().copied();
        first.filter(|id| self.remove(*id))
    }
    fn remove(&mut self, id: u32) -> bool {
        let at = self.0.iter().position(|q| *q == id);
        let was_in = at.map(|at| self.0.remove(at)).is_some();
        if was_in {
            Process::get().links[id as usize].uses();
            Process::get().queued[id as usize].store(0, Release);
        }
        was_in
    }
    fn is_queued(id: u32) -> bool {
        Process::get().queued[id as usize].load(Acquire) != 0
    }
    fn unpark(id: u32) {
        let process = Process::get();
        if process.words[id as usize].unpark() {
            process.wake(id);
        }
    }
    fn set_signalled(id: u32, value: bool) {
        Process::get().signalled[id as usize].store(u32::from(value), SeqCst);
    }
    fn is_signalled(id: u32) -> bool {
        Process::get().signalled[id as usize].load(SeqCst) != 0
    }
}

/// The deadline of a wait that has one.
#[derive(Clone, Copy)]
struct Late;

/// A thread of a model.
struct Me {
    id: u32,
    held: Cell<i32>,
    /// What it keeps of a call that it has left, and the deadline of the park.
    left: Cell<Option<(Left, Option<Late>)>>,
}
impl Me {
    fn new(id: u32) -> Me {
        Process::get().runs(1);
        Me {
            id,
            held: Cell::new(0),
            left: Cell::new(None),
        }
    }
    /// Makes a call, again and again while it is left: the thread sleeps in between.
    fn call<T>(&self, f: impl Fn() -> Result<T, Stop<()>>) -> Result<T, ()> {
        loop {
            match f() {
                Ok(answer) => return Ok(answer),
                Err(Stop::Alerted(())) => return Err(()),
                Err(Stop::Leaves) => {
                    let left = self.left.get();
                    self.sleep(left.and_then(|(_, deadline)| deadline));
                }
            }
        }
    }
    /// The thread has begun to park, and its wait is known.
    fn sleep(&self, deadline: Option<Late>) {
        let process = Process::get();
        let word = &process.words[self.id as usize];
        if word.sleeps() {
            process.runs(-1);
            process.sleep(self.id, deadline);
            process.runs(1);
        }
        word.end();
    }
    fn is_alerted(&self) -> bool {
        self.id == 1 && Process::get().alerted.load(SeqCst)
    }
    /// The world may stop here, if the model stops it: generated code can be stopped between any two instructions.
    fn may_stop(&self) {
        Process::get().runs(-1);
        Process::get().runs(1);
    }
}
impl Drop for Me {
    fn drop(&mut self) {
        assert!(self.held.get() == 0 || std::thread::panicking());
        Process::get().runs(-1);
    }
}
impl Owner for Me {
    fn id(&self) -> u32 {
        self.id
    }
    fn held(&self, change: i32) {
        self.held.set(self.held.get() + change);
    }
}
impl Thread for Me {
    type Alert = ();
    type Deadline = Option<Late>;
    type Waiting<'t> = ();
    fn resumed(&self) -> Option<Left> {
        self.left.take().map(|(left, _)| left)
    }
    fn deadline(&self, ms: i32) -> Option<Late> {
        (ms > 0).then_some(Late)
    }
    fn never() -> Option<Late> {
        None
    }
    fn is_over(deadline: Option<Late>) -> bool {
        deadline.is_some() && Process::get().late.load(SeqCst)
    }
    fn waiting(&self, _: Why, _: Option<Late>) {}
    fn park(
        &self,
        left: Left,
        commit: impl FnOnce(),
        deadline: Option<Late>,
    ) -> Result<(), Stop<()>> {
        let word = &Process::get().words[self.id as usize];
        let starts = word.begin();
        commit();
        if !starts {
            word.end();
        } else if LEAVES.get() && self.id % 2 == 1 {
            self.left.set(Some((left, deadline)));
            return Err(Stop::Leaves);
        } else {
            self.sleep(deadline);
        }
        Ok(())
    }
    fn park_alertable(
        &self,
        left: Left,
        commit: impl FnOnce(),
        deadline: Option<Late>,
    ) -> Result<(), Stop<()>> {
        if self.is_alerted() {
            return Err(Stop::Alerted(()));
        }
        self.park(left, commit, deadline)?;
        self.alert().map_or(Ok(()), |()| Err(Stop::Alerted(())))
    }
    fn alert(&self) -> Option<()> {
        self.is_alerted().then_some(())
    }
    fn spin(_: u32, _: impl Fn() -> u32, mut wanted: impl FnMut() -> bool) -> bool {
        wanted()
    }
}

/// An object: its sync word, what the lock protects, and the monitors there are.
struct Object {
    word: AtomicU32,
    monitors: [Monitor<Ids>; 2],
    /// Which of them are in use.
    used: LeafLock<[bool; 2]>,
    /// Who looks or writes without the lock ends the model.
    inside: UnsafeCell<u32>,
}
impl Table for Object {
    type Queue = Ids;
    fn get(&self, index: u32) -> &Monitor<Ids> {
        &self.monitors[index as usize - 1]
    }
    fn allocate(&self, owner: u32, count: u32, hash: u32) -> &Monitor<Ids> {
        let mut used = self.used.lock();
        let free = used.iter().position(|used| !used);
        let free = free.expect("two threads inflate at most");
        used[free] = true;
        self.monitors[free].begin(owner, count, hash);
        &self.monitors[free]
    }
    fn release(&self, monitor: &Monitor<Ids>) {
        let mut used = self.used.lock();
        monitor.end();
        assert!(std::mem::take(&mut used[monitor.index() as usize - 1]));
    }
    fn inflated(&self) {}
}
impl Object {
    fn new() -> Arc<Object> {
        Arc::new(Object {
            word: AtomicU32::new(0),
            monitors: [Monitor::new(1), Monitor::new(2)],
            used: LeafLock::default(),
            inside: UnsafeCell::new(0),
        })
    }
    fn lock(&self) -> Lock<'_, Object> {
        Lock {
            word: &self.word,
            table: self,
        }
    }
    /// Only the owner comes here. How often somebody was.
    fn work(&self) -> u32 {
        // SAFETY: loom's cell checks that nobody else is.
        self.inside.with_mut(|p| unsafe {
            *p += 1;
            *p
        })
    }
    fn thin_of(me: &Me) -> u32 {
        me.id << OWNER_SHIFT
    }
    /// `enter` of generated code, without and with what it calls.
    fn enter(&self, me: &Me) {
        let thin = Object::thin_of(me);
        if self.word.compare_exchange(0, thin, SeqCst, SeqCst).is_ok() {
            return me.held(1);
        }
        me.may_stop();
        if !self.lock().enter_fast(me) {
            me.may_stop();
            assert_eq!(self.try_enter(me, -1), Ok(true));
        }
    }
    fn try_enter(&self, me: &Me, ms: i32) -> Result<bool, ()> {
        me.call(|| self.lock().enter(me, ms))
    }
    fn wait(&self, me: &Me, ms: i32) -> bool {
        me.call(|| self.lock().wait(me, ms))
            .expect("a wait ends without an error")
    }
    /// `exit` of generated code.
    fn exit(&self, me: &Me) {
        let thin = Object::thin_of(me);
        if self.word.compare_exchange(thin, 0, SeqCst, SeqCst).is_ok() {
            return me.held(-1);
        }
        me.may_stop();
        let how = self.lock().exit_fast(me);
        me.may_stop();
        match how {
            Exit::Done => {}
            Exit::Wake => self.lock().wake(),
            Exit::Not => assert!(self.lock().exit(me)),
        }
    }
    /// The lock is nobody's, and nobody is in a queue.
    fn assert_free(&self) {
        assert_eq!(self.lock().owner(), (0, 0));
        for m in &self.monitors {
            let queues = m.queues.lock();
            assert!(queues.entering.0.is_empty() && queues.waiting.0.is_empty());
            assert!(!m.has_users());
        }
    }
}

/// Runs that as thread `id`.
fn spawn(
    object: &Arc<Object>,
    id: u32,
    work: impl FnOnce(&Object, &Me) + 'static,
) -> thread::JoinHandle<()> {
    let object = object.clone();
    thread::spawn(move || work(&object, &Me::new(id)))
}

/// Threads enter and leave: one is inside at a time, and all come to their turn.
#[test]
fn nobody_is_left_in_the_queue() {
    for (threads, preemptions) in [(2, None), (3, Some(2))] {
        model(preemptions, move || {
            let object = Object::new();
            let turn = |o: &Object, me: &Me| {
                o.enter(me);
                o.work();
                o.exit(me);
            };
            let others: Vec<_> = (2..=threads).map(|id| spawn(&object, id, turn)).collect();
            turn(&object, &Me::new(1));
            others.into_iter().for_each(|t| t.join().unwrap());
            assert_eq!(object.work(), threads + 1);
            object.assert_free();
        });
    }
}

/// A fat monitor that is the thread's own is entered once more while another waits for it.
#[test]
fn an_owner_enters_again_while_another_waits() {
    model(Some(3), || {
        let object = Object::new();
        let other = spawn(&object, 2, |o, me| {
            o.enter(me);
            o.work();
            o.exit(me);
        });
        let me = Me::new(1);
        for _ in 0..2 {
            object.enter(&me);
        }
        object.work();
        for _ in 0..2 {
            object.exit(&me);
        }
        assert_eq!(me.held.get(), 0);
        other.join().unwrap();
        object.assert_free();
    });
}

/// A thin lock is inflated (by somebody who asks for a hash) while its owner leaves it and another enters: nobody loses it.
#[test]
fn inflation_meets_the_owner_leaving() {
    model(Some(3), || {
        let object = Object::new();
        let me = Me::new(1);
        object.enter(&me);
        let hasher = spawn(&object, 2, |o, _| {
            assert_eq!(o.lock().hash(|| HASH), HASH);
        });
        let other = spawn(&object, 3, |o, me| {
            o.enter(me);
            o.work();
            o.exit(me);
        });
        object.work();
        object.exit(&me);
        hasher.join().unwrap();
        other.join().unwrap();
        assert_eq!(object.lock().hash(|| 1), HASH);
        object.assert_free();
    });
}

/// A thread that waits for the lock and is late does not get it, and the others still do.
#[test]
fn a_late_thread_leaves_the_queue() {
    model(Some(2), || {
        let object = Object::new();
        let me = Me::new(2);
        object.enter(&me);
        let late = spawn(&object, 1, |o, me| {
            if o.try_enter(me, 1) == Ok(true) {
                o.work();
                o.exit(me);
            }
        });
        let other = spawn(&object, 3, |o, me| {
            o.enter(me);
            o.work();
            o.exit(me);
        });
        PROCESS.now_is_late();
        object.work();
        object.exit(&me);
        late.join().unwrap();
        other.join().unwrap();
        object.assert_free();
    });
}

/// A thread that was woken and is interrupted passes the wake-up on: the next one is woken.
#[test]
fn an_interrupted_thread_wakes_the_next() {
    model(Some(2), || {
        let object = Object::new();
        let me = Me::new(2);
        object.enter(&me);
        let interrupted = spawn(&object, 1, |o, me| match o.try_enter(me, -1) {
            Ok(_) => {
                o.work();
                o.exit(me);
            }
            Err(()) => assert!(me.is_alerted()),
        });
        let other = spawn(&object, 3, |o, me| {
            o.enter(me);
            o.work();
            o.exit(me);
        });
        PROCESS.alerted.store(true, SeqCst);
        Ids::unpark(1);
        object.work();
        object.exit(&me);
        interrupted.join().unwrap();
        other.join().unwrap();
        object.assert_free();
    });
}

/// The same, if another thread has taken the monitor before it, and left it while the interrupted one still counted as woken: then only the
/// interrupted one knows that the next has to be woken.
#[test]
fn an_interrupted_thread_wakes_the_next_though_the_monitor_changed_hands() {
    model(Some(2), || {
        let object = Object::new();
        let me = Me::new(2);
        object.enter(&me);
        object.lock().hash(|| HASH);
        let entering = || object.monitors[0].queues.lock().entering.0.len();
        let interrupted = spawn(&object, 1, |o, me| {
            if o.try_enter(me, -1).is_ok() {
                o.exit(me);
            }
        });
        while entering() < 1 {
            thread::yield_now();
        }
        let other = spawn(&object, 3, |o, me| {
            assert_eq!(o.try_enter(me, -1), Ok(true));
            o.exit(me);
        });
        while entering() < 2 {
            thread::yield_now();
        }
        PROCESS.alerted.store(true, SeqCst);
        object.exit(&me);
        object.enter(&me);
        object.exit(&me);
        interrupted.join().unwrap();
        other.join().unwrap();
        object.assert_free();
    });
}

/// A waiter whose condition is made true under the lock sees it, however many pulses it takes.
#[test]
fn a_pulse_is_not_lost() {
    model(Some(4), || {
        let object = Object::new();
        let pulser = spawn(&object, 2, |o, me| {
            o.enter(me);
            o.work();
            o.lock().pulse(false);
            o.exit(me);
        });
        let me = Me::new(1);
        object.enter(&me);
        // The pulser may have been inside already.
        // SAFETY: the lock is this thread's.
        while object.inside.with(|p| unsafe { *p }) == 0 {
            assert!(object.wait(&me, -1), "no pulse, no alert, no deadline");
            assert_eq!(object.lock().owner(), (1, 1));
        }
        object.exit(&me);
        pulser.join().unwrap();
        object.assert_free();
    });
}

/// Two wait, both are pulsed at once: both go on, one after the other, owning the monitor as often as before.
#[test]
fn all_waiters_go_on() {
    model(Some(2), || {
        let object = Object::new();
        let wait = |o: &Object, me: &Me| {
            o.enter(me);
            o.enter(me);
            // SAFETY: the lock is this thread's.
            while o.inside.with(|p| unsafe { *p }) == 0 {
                assert!(o.wait(me, -1));
                assert_eq!(o.lock().owner(), (me.id, 2));
            }
            o.exit(me);
            o.exit(me);
        };
        let waiters = [2, 3].map(|id| spawn(&object, id, wait));
        let me = Me::new(1);
        object.enter(&me);
        object.work();
        object.lock().pulse(true);
        object.exit(&me);
        waiters.into_iter().for_each(|t| t.join().unwrap());
        object.assert_free();
    });
}

/// A wait with a deadline ends by the pulse or by the deadline, and owns the monitor again; if two wait and one is late just as it is
/// pulsed, the pulse counts for it, and is not given to nobody.
#[test]
fn a_wait_is_pulsed_or_late() {
    model(Some(2), || {
        let object = Object::new();
        let pulser = spawn(&object, 2, |o, me| {
            o.enter(me);
            o.work();
            o.lock().pulse(false);
            o.exit(me);
        });
        let clock = thread::spawn(|| PROCESS.now_is_late());
        let me = Me::new(1);
        object.enter(&me);
        let before = object.work();
        let signalled = object.wait(&me, 1);
        assert_eq!(object.lock().owner(), (1, 1));
        let after = object.work();
        // A pulse that came while it waited was for it: there was nobody else. (The deadline may have come first, and the pulse
        // when it was no waiter any more.)
        assert!(!signalled || after == before + 2, "signalled by nobody");
        object.exit(&me);
        pulser.join().unwrap();
        clock.join().unwrap();
        object.assert_free();
    });
}

/// The collector takes idle monitors away while threads enter, leave and sleep: who enters finds the object's own monitor, or none.
#[test]
fn deflation_meets_threads_that_enter() {
    model_of(true, Some(3), || {
        let object = Object::new();
        let turn = |o: &Object, me: &Me| {
            o.enter(me);
            o.work();
            o.exit(me);
        };
        let other = spawn(&object, 2, turn);
        let collector = {
            let object = object.clone();
            thread::spawn(move || {
                STOPPABLE.stopped(|| object.deflate());
            })
        };
        {
            let me = Me::new(1);
            turn(&object, &me);
        }
        other.join().unwrap();
        collector.join().unwrap();
        object.deflate();
        assert_eq!(object.word.load(Relaxed), 0);
        assert_eq!(object.work(), 3);
        object.assert_free();
    });
}

/// The collector takes idle monitors away while a thread waits for a pulse: that thread's monitor stays.
#[test]
fn deflation_meets_a_waiter() {
    model_of(true, Some(3), || {
        let object = Object::new();
        let waiter = spawn(&object, 2, |o, me| {
            o.enter(me);
            // SAFETY: the lock is this thread's.
            while o.inside.with(|p| unsafe { *p }) == 0 {
                assert!(o.wait(me, -1));
            }
            o.exit(me);
        });
        let collector = {
            let object = object.clone();
            thread::spawn(move || {
                STOPPABLE.stopped(|| object.deflate());
            })
        };
        {
            let me = Me::new(1);
            object.enter(&me);
            object.work();
            object.lock().pulse(true);
            object.exit(&me);
        }
        waiter.join().unwrap();
        collector.join().unwrap();
        object.assert_free();
    });
}

impl Object {
    /// World stopped, as `runtime/threads/monitor/side_table.rs` and `fat.rs` do it.
    fn deflate(&self) {
        let word = self.word.load(Relaxed);
        if let Some(index) = super::index_of(word)
            && let Some(plain) = self.get(index).deflated()
        {
            self.release(self.get(index));
            self.word.store(plain, Relaxed);
        }
    }
}
