//! Starting threads that nobody joins, and how many run at once.
//!
//! # Why not std's
//! Dropping its handle detaches a thread that runs already. The C library then looks at the thread's record once more after
//! marking it, when a thread that ends at that moment has unmapped it (glibc's bug 19951): a fault, once in some ten
//! thousand short threads. A thread that is detached from the beginning has nobody to look.
//!
//! # Invariants
//! The closure is owned by the new thread, or dropped here if there is none.
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// How many processors the process may run on: as it was when first asked, because programs ask often.
pub fn processors() -> i32 {
    static COUNT: AtomicI32 = AtomicI32::new(0);
    let have = COUNT.load(Ordering::Relaxed);
    if have != 0 {
        return have;
    }
    // SAFETY: sched_getaffinity fills the set it is given; the rest are queries.
    let n = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
            0 => libc::CPU_COUNT(&set),
            _ => libc::sysconf(libc::_SC_NPROCESSORS_ONLN) as i32,
        }
    };
    COUNT.store(n.max(1), Ordering::Relaxed);
    n.max(1)
}

/// How many threads the process has; None where there is no /proc to ask.
pub fn count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

type Work = Box<dyn FnOnce() + Send>;

/// Starts a thread with so many bytes of stack that runs `work` and is gone. A panic of `work` ends the process.
pub fn spawn_detached(stack: usize, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    extern "C" fn run(work: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: `spawn_detached` made it for this thread alone.
        let work = unsafe { Box::from_raw(work as *mut Work) };
        work();
        std::ptr::null_mut()
    }
    let work: *mut Work = Box::into_raw(Box::new(Box::new(work)));
    // SAFETY: the record is initialised before it is used; the new thread gets the closure that it expects.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut error = libc::pthread_attr_init(&mut attributes);
        if error == 0 {
            error =
                libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
            let stack = stack.max(libc::PTHREAD_STACK_MIN).next_multiple_of(4096);
            if error == 0 {
                error = libc::pthread_attr_setstacksize(&mut attributes, stack);
            }
            if error == 0 {
                let mut thread: libc::pthread_t = std::mem::zeroed();
                error = libc::pthread_create(&mut thread, &attributes, run, work.cast());
            }
            libc::pthread_attr_destroy(&mut attributes);
        }
        if error != 0 {
            drop(Box::from_raw(work));
            return Err(io::Error::from_raw_os_error(error));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_detached_thread_runs_its_closure() {
        let (sender, receiver) = mpsc::channel();
        for i in 0..100 {
            let sender = sender.clone();
            spawn_detached(64 << 10, move || sender.send(i).expect("a receiver"))
                .expect("a thread");
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 4950);
    }

    #[test]
    fn threads_are_counted() {
        let (sender, receiver) = mpsc::channel::<()>();
        let wait = move || assert!(receiver.recv().is_err());
        let waiting = std::thread::spawn(wait);
        assert!(count().is_none_or(|n| n >= 2));
        drop(sender);
        waiting.join().expect("a thread that only waits");
    }

    #[test]
    fn a_stack_that_cannot_be_had_is_an_error() {
        assert!(spawn_detached(1 << 60, || ()).is_err());
    }
}
