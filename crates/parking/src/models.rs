//! The protocols under loom. A thread that sleeps is one that yields until its word says otherwise; a wake-up that is lost
//! is a model that does not end, which loom reports.
use crate::thin::{self, Step};
use crate::{Handoff, Word};
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use vervet_abi::object::sync_word::*;

fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(f);
}

fn park(word: &Word, commit: impl FnOnce()) -> bool {
    let starts = word.begin();
    commit();
    if starts && word.sleeps() {
        while word.is_parked() {
            thread::yield_now();
        }
    }
    word.end()
}

/// The condition is made true and the thread unparked, at any time: it goes on, and sees it.
#[test]
fn an_unpark_is_not_lost() {
    model(None, || {
        let shared = Arc::new((Word::new(), AtomicBool::new(false)));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.1.store(true, Ordering::Relaxed);
                shared.0.unpark();
            })
        };
        while !shared.1.load(Ordering::Relaxed) {
            park(&shared.0, || {});
        }
        other.join().unwrap();
    });
}

/// Two unparks end one park or two, and the queue that the commit lets go of is seen by whoever wakes.
#[test]
fn two_unparks_leave_one_token() {
    model(None, || {
        let shared = Arc::new((Word::new(), Mutex::new(0)));
        let wake = |shared: Arc<(Word, Mutex<i32>)>| {
            thread::spawn(move || {
                *shared.1.lock().unwrap() += 1;
                shared.0.unpark();
            })
        };
        let (a, b) = (wake(shared.clone()), wake(shared.clone()));
        loop {
            let count = shared.1.lock().unwrap();
            if *count == 2 {
                break;
            }
            park(&shared.0, || drop(count));
        }
        a.join().unwrap();
        b.join().unwrap();
    });
}

/// A monitor as the runtime makes it of the parts.
struct Monitor {
    handoff: Handoff,
    queue: Mutex<Vec<usize>>,
    words: [Word; 3],
    inside: AtomicBool,
}
impl Monitor {
    fn new(owner: u32) -> Monitor {
        Monitor {
            handoff: Handoff::new(owner),
            queue: Mutex::new(Vec::new()),
            words: [Word::new(), Word::new(), Word::new()],
            inside: AtomicBool::new(false),
        }
    }
    fn lock(&self, me: usize) {
        let id = me as u32 + 1;
        if self.handoff.try_take(id) {
            return;
        }
        let mut woken = false;
        loop {
            let mut queue = self.queue.lock().unwrap();
            queue.push(me);
            self.handoff.queued();
            if woken {
                self.handoff.woke();
            }
            if self.handoff.try_take(id) {
                queue.pop();
                self.handoff.unqueued();
                return;
            }
            park(&self.words[me], || drop(queue));
            {
                let mut queue = self.queue.lock().unwrap();
                let at = queue.iter().position(|q| *q == me);
                if let Some(at) = at {
                    queue.remove(at);
                    self.handoff.unqueued();
                }
                woken = at.is_none();
            }
            if self.handoff.try_take(id) {
                if woken {
                    self.handoff.woke();
                }
                return;
            }
        }
    }
    fn unlock(&self) {
        if self.handoff.give_up() {
            let mut queue = self.queue.lock().unwrap();
            if self.handoff.wakes() {
                let first = queue.remove(0);
                self.handoff.unqueued();
                drop(queue);
                self.words[first].unpark();
            }
        }
    }
    fn alone(&self) {
        assert!(!self.inside.swap(true, Ordering::Relaxed), "two are inside");
        self.inside.store(false, Ordering::Relaxed);
    }
}

/// Threads enter a monitor and leave it: one is inside at a time, and all come to their turn.
#[test]
fn nobody_is_left_in_the_queue() {
    for (threads, preemptions) in [(2, None), (3, Some(2))] {
        model(preemptions, move || {
            let monitor = Arc::new(Monitor::new(0));
            let all: Vec<_> = (1..threads)
                .map(|me| {
                    let m = monitor.clone();
                    thread::spawn(move || {
                        m.lock(me);
                        m.alone();
                        m.unlock();
                    })
                })
                .collect();
            monitor.lock(0);
            monitor.alone();
            monitor.unlock();
            all.into_iter().for_each(|t| t.join().unwrap());
        });
    }
}

/// A thin lock is inflated by a thread that finds it taken, while its owner leaves it: the owner finds itself in the
/// monitor, or had left before; the other gets in.
#[test]
fn inflation_meets_the_owner_leaving() {
    model(Some(3), || {
        const FAT: u32 = 1 << PAYLOAD_SHIFT | KIND_FAT;
        let word = Arc::new(AtomicU32::new(0));
        // The table of monitors: the entry is made before the word names it.
        let table = Arc::new(Mutex::new(None::<Arc<Monitor>>));
        let fat = |table: &Mutex<Option<Arc<Monitor>>>| table.lock().unwrap().clone().unwrap();
        let enter_and_leave = move |word: &AtomicU32,
                                    table: &Mutex<Option<Arc<Monitor>>>,
                                    me: usize,
                                    inflates: bool| {
            let id = me as u32 + 1;
            loop {
                match thin::enter(word, id) {
                    Step::Changed => break,
                    Step::Counted => panic!("entered once"),
                    Step::Other(v) if v & KIND_MASK == KIND_FAT => {
                        fat(table).lock(me);
                        break;
                    }
                    Step::Other(v) if inflates => {
                        let (owner, count, _) = thin::state(v).unwrap();
                        assert_eq!(count, 1);
                        *table.lock().unwrap() = Some(Arc::new(Monitor::new(owner)));
                        thin::exchange(word, v, FAT);
                    }
                    Step::Other(_) => thread::yield_now(),
                }
            }
            match thin::exit(word, id) {
                Step::Changed => {}
                Step::Counted => panic!("left once"),
                Step::Other(v) => {
                    assert_eq!(v, FAT);
                    let m = fat(table);
                    assert!(m.handoff.is_own(id));
                    m.alone();
                    m.unlock();
                }
            }
        };
        let (word2, table2) = (word.clone(), table.clone());
        let other = thread::spawn(move || enter_and_leave(&word2, &table2, 1, false));
        enter_and_leave(&word, &table, 0, true);
        other.join().unwrap();
        match word.load(Ordering::Relaxed) {
            0 => {}
            v => {
                assert_eq!(v, FAT);
                assert_eq!(fat(&table).handoff.owner(), 0);
            }
        }
    });
}
