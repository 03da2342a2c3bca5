//! The word of a thread that parks, under loom. A sleeping thread is modelled by one that yields until its word changes; a lost wake-up is a
//! model that does not end, which loom reports.
use crate::ParkWord;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Tries every interleaving with at most `preemptions` preemptions (None: any number) of the threads that `f` starts.
pub(crate) fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(f);
}

/// What `park` of the runtime does with the word. Returns whether a token ended the park.
fn park(word: &ParkWord, commit: impl FnOnce()) -> bool {
    let starts = word.begin();
    commit();
    if starts && word.sleeps() {
        while word.is_parked() {
            thread::yield_now();
        }
    }
    word.end()
}

/// Another thread makes a condition true and unparks, at any time: the parked thread goes on, and sees that it is true.
#[test]
fn an_unpark_is_not_lost() {
    model(None, || {
        let shared = Arc::new((ParkWord::new(), AtomicBool::new(false)));
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

/// Two unparks end one park or two. The thread that wakes sees the lock that its commit released, and what the others did under it.
#[test]
fn two_unparks_leave_one_token() {
    model(None, || {
        let shared = Arc::new((ParkWord::new(), Mutex::new(0)));
        let wake = |shared: Arc<(ParkWord, Mutex<i32>)>| {
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
