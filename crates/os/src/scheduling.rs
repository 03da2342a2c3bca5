//! Which processors a thread may run on, and how it stands back for others.
//!
//! # Invariants
//! A set of processors is never made empty, and never larger than what the process had when it was asked for.
use std::mem::{size_of, zeroed};

/// The processors the calling thread may run on now.
#[derive(Clone, Copy)]
pub struct Processors(libc::cpu_set_t);

impl std::fmt::Debug for Processors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: a query.
        write!(f, "Processors({})", unsafe { libc::CPU_COUNT(&self.0) })
    }
}

impl Processors {
    /// Those of the calling thread; None if the system does not say.
    pub fn of_this_thread() -> Option<Processors> {
        // SAFETY: the call fills the set it is given.
        unsafe {
            let mut set: libc::cpu_set_t = zeroed();
            (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) == 0)
                .then_some(Processors(set))
        }
    }
    /// All of them but the one the calling thread runs on at the moment; None if there is no other.
    pub fn others(mut self) -> Option<Processors> {
        // Miri does not say where a thread runs.
        if cfg!(miri) {
            return None;
        }
        // SAFETY: queries, and a change of our own copy of the set; the number is checked against its size.
        unsafe {
            let here = libc::sched_getcpu();
            if here < 0 || here >= 8 * size_of::<libc::cpu_set_t>() as i32 {
                return None;
            }
            libc::CPU_CLR(here as usize, &mut self.0);
            (libc::CPU_COUNT(&self.0) > 0).then_some(self)
        }
    }
    /// Lets a thread of this process run on these only; it is moved if it waits elsewhere. Nothing if the system refuses.
    pub fn confine(&self, tid: i32) {
        // SAFETY: changes where a thread runs.
        unsafe { libc::sched_setaffinity(tid, size_of::<libc::cpu_set_t>(), &self.0) };
    }
}

/// The calling thread's number in the system.
pub fn thread_id() -> i32 {
    // SAFETY: a query.
    unsafe { libc::gettid() }
}

/// The calling thread is so much nicer than it was, up to 19. It stays so: going back needs a privilege.
pub fn be_nicer(by: i32) {
    // Miri knows no priorities.
    if cfg!(miri) {
        return;
    }
    // SAFETY: a query, and a change of the calling thread's priority. (POSIX means the process; Linux the thread.) A failed query is
    // taken for -1, which is a niceness too.
    unsafe {
        let now = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, (now + by).min(19));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_others_are_all_but_one_and_a_thread_goes_there() {
        let all = Processors::of_this_thread().expect("a set of processors");
        // SAFETY: queries.
        let count = |p: &Processors| unsafe { libc::CPU_COUNT(&p.0) };
        let Some(others) = all.others() else {
            assert_eq!(count(&all), 1);
            return;
        };
        assert_eq!(count(&others), count(&all) - 1);
        std::thread::spawn(move || {
            others.confine(thread_id());
            let now = Processors::of_this_thread().expect("a set of processors");
            assert_eq!(count(&now), count(&others));
            all.confine(thread_id());
        })
        .join()
        .expect("the thread");
    }
    #[test]
    fn a_thread_is_nicer_for_itself_alone() {
        // SAFETY: a query.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let there = std::thread::spawn(move || {
            be_nicer(5);
            let once = nice();
            be_nicer(40);
            (once, nice())
        });
        let (once, twice) = there.join().expect("the thread");
        assert_eq!((once, twice), ((before + 5).min(19), 19));
        assert_eq!(nice(), before);
    }
}
