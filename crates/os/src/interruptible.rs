//! System calls that another thread can end, or keep from beginning, without a race.
//!
//! # How it works
//! Whoever wants the call to end sets a bit of [`STOP`] in the thread's word and sends it a signal, whose handler calls
//! [`on_signal`]. The signal finds the thread
//! * before its look at the word: it sees the bit, and makes no call;
//! * between its look and the `syscall` instruction: the handler sends it back to look again;
//! * in a call that the kernel restarts (SA_RESTART): the kernel puts it back onto the instruction, which is the same case;
//! * in a call that the kernel does not restart: it ends with EINTR;
//! * behind the instruction: the call has its result, which stands. Nothing that was received is lost.
//!
//! A signal that finds the thread in a handler (of a library's, that interrupted it at one of these places) does nothing. So
//! whoever wants the call to end sends it again until it has.
//!
//! # Invariants
//! * The result is EINTR only if a signal came; the caller looks at the word to learn which.
//! * [`on_signal`] takes no lock and no memory and changes nothing but the interrupted thread's program counter.
use crate::arch;
use std::sync::atomic::AtomicU32;

/// The bits of the word that keep a call from being made.
pub const STOP: u32 = 6;

/// Makes the system call `number` unless the word says STOP; the kernel's result, or its errno. EINTR says that it was
/// not made, or that a signal ended it.
///
/// # Safety
/// As the system call; it does not change the thread's memory map or stack, and it does not fork.
pub unsafe fn call(word: &AtomicU32, number: i64, arguments: [usize; 6]) -> Result<usize, i32> {
    let [a, b, c, d, e, f] = arguments;
    let call = [number as usize, a, b, c, d, e, f];
    // SAFETY: the caller keeps what this function asks for, which is what the call asks for.
    let result = unsafe { arch::vervet_os_call(word, &call) };
    if (-4095..0).contains(&result) {
        Err(-result as i32)
    } else {
        Ok(result as usize)
    }
}

/// For the handler of the signal by which calls are ended.
///
/// # Safety
/// `uc` is the record that the kernel passed to the handler.
pub unsafe fn on_signal(uc: *mut libc::c_void) {
    // SAFETY: the caller passes the record of the kernel.
    unsafe { arch::begin_again(uc) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::time::{Duration, Instant};

    extern "C" fn handler(_: i32, _: *mut libc::siginfo_t, uc: *mut libc::c_void) {
        // SAFETY: the kernel's record.
        unsafe { on_signal(uc) }
    }

    fn pipe() -> [i32; 2] {
        let mut ends = [0; 2];
        // SAFETY: two descriptors are stored.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        ends
    }
    fn read(word: &AtomicU32, fd: i32) -> Result<usize, i32> {
        let mut byte = [0u8; 1];
        // SAFETY: one byte is stored.
        unsafe {
            call(
                word,
                libc::SYS_read,
                [fd as usize, byte.as_mut_ptr() as usize, 1, 0, 0, 0],
            )
        }
    }

    #[test]
    fn results_and_errors_are_the_kernels() {
        let word = AtomicU32::new(1);
        let ends = pipe();
        // SAFETY: one byte is read.
        assert_eq!(unsafe { libc::write(ends[1], [7u8].as_ptr().cast(), 1) }, 1);
        assert_eq!(read(&word, ends[0]), Ok(1));
        assert_eq!(read(&word, -1), Err(libc::EBADF));
        word.store(STOP, Ordering::SeqCst);
        assert_eq!(read(&word, ends[0]), Err(libc::EINTR));
    }

    /// A thread reads again and again from a pipe that stays empty; each read is to be ended by one signal, whenever it
    /// comes. A signal that is lost leaves the thread in its read for ever.
    #[test]
    fn no_signal_is_lost() {
        static WORD: AtomicU32 = AtomicU32::new(0);
        static TID: AtomicI32 = AtomicI32::new(0);
        const ROUNDS: u32 = 20_000;
        // No other test of this crate handles it: handlers are the process's.
        let end = libc::SIGRTMIN() + 5;
        // SAFETY: the handler does nothing but what a handler may do.
        unsafe { signal::install(end, handler, 0, &[]) };
        let ends = pipe();
        let reader = std::thread::spawn(move || {
            TID.store(signal::thread_id(), Ordering::SeqCst);
            for round in 0..ROUNDS {
                // 1: a read begins. The other thread adds STOP, and waits until it is taken away.
                WORD.store(1, Ordering::SeqCst);
                while WORD.load(Ordering::SeqCst) & STOP == 0 {
                    assert_eq!(read(&WORD, ends[0]), Err(libc::EINTR), "round {round}");
                }
                WORD.store(0, Ordering::SeqCst);
            }
        });
        let mut spins = 0u32;
        for round in 0..ROUNDS {
            while WORD.load(Ordering::SeqCst) != 1 {
                std::hint::spin_loop();
            }
            // Each round a little later, so that the signal comes at every instruction of the call.
            for _ in 0..round % 300 {
                spins = spins.wrapping_add(1);
                std::hint::spin_loop();
            }
            WORD.fetch_or(2, Ordering::SeqCst);
            assert!(signal::send(TID.load(Ordering::SeqCst), end));
            let since = Instant::now();
            while WORD.load(Ordering::SeqCst) & STOP != 0 {
                assert!(
                    since.elapsed() < Duration::from_secs(10),
                    "round {round} hangs"
                );
                std::thread::yield_now();
            }
        }
        reader.join().expect("the reader ends");
    }
}
