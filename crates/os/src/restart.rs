//! System calls that a signal has ended: making them again, or not.
//!
//! The kernel makes a call again by putting its number back into `rax`, and the program counter back to the `syscall` instruction, before it calls a handler that has SA_RESTART. Calls
//! that have a time limit it ends with EINTR all the same (signal(7)). What is here does in a handler what the kernel leaves out: [`make_again`] for a signal
//! of which the interrupted code shall notice nothing, [`end_call`] for one of which it shall.
//!
//! The number of a call that has ended is no longer in a register. It is that of the instruction in front of `syscall`, as the C library's functions
//! write it: `mov eax, number`, perhaps with one load of an argument in between. Where it is not (the C library's own `syscall` function, code that is not the C library's),
//! the call ends with EINTR: nobody but the kernel knows which call it was.
//!
//! # Invariants
//! * Only calls that did nothing if they end with EINTR are made again. (`close` is none: the descriptor is gone.) The kernel makes the same calls again when they
//!   have no time limit.
//! * A time limit that is relative begins anew.
//! * What one handler has ended, another does not make again ([`Ended`]).
use crate::arch::{Call, place};
use crate::c_library;
use crate::chained::{bit, first_word};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const EINTR: i64 = -(libc::EINTR as i64);

/// How a system call may be treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It waits, and did nothing if it ends with EINTR.
    Waits,
    /// The same, for some of its operations.
    Futex,
    /// fcntl: two of its commands.
    Lock,
    /// It may wait, and the kernel knows alone whether it did something before it ended.
    MayWait,
    /// Another one.
    Other,
}

fn kind(number: i64) -> Kind {
    const EPOLL_PWAIT2: i64 = 441;
    const FUTEX_WAITV: i64 = 449;
    const OPENAT2: i64 = 437;
    match number {
        libc::SYS_poll
        | libc::SYS_ppoll
        | libc::SYS_select
        | libc::SYS_pselect6
        | libc::SYS_epoll_wait
        | libc::SYS_epoll_pwait
        | EPOLL_PWAIT2
        | libc::SYS_nanosleep
        | libc::SYS_clock_nanosleep
        | libc::SYS_pause
        | libc::SYS_rt_sigsuspend
        | libc::SYS_rt_sigtimedwait
        | libc::SYS_semop
        | libc::SYS_semtimedop
        | libc::SYS_msgrcv
        | libc::SYS_msgsnd
        | libc::SYS_mq_timedreceive
        | libc::SYS_mq_timedsend
        | libc::SYS_io_getevents
        | FUTEX_WAITV
        | libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_write
        | libc::SYS_writev
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect
        | libc::SYS_wait4
        | libc::SYS_waitid
        | libc::SYS_flock => Kind::Waits,
        libc::SYS_open
        | libc::SYS_openat
        | OPENAT2
        | libc::SYS_creat
        | libc::SYS_pread64
        | libc::SYS_pwrite64
        | libc::SYS_preadv
        | libc::SYS_preadv2
        | libc::SYS_pwritev
        | libc::SYS_pwritev2
        | libc::SYS_sendmmsg
        | libc::SYS_sendfile
        | libc::SYS_splice
        | libc::SYS_tee
        | libc::SYS_vmsplice
        | libc::SYS_copy_file_range
        | libc::SYS_ioctl
        | libc::SYS_getrandom
        | libc::SYS_io_uring_enter => Kind::MayWait,
        libc::SYS_fcntl => Kind::Lock,
        libc::SYS_futex => Kind::Futex,
        _ => Kind::Other,
    }
}

/// Is it a call that waits, with that second argument?
fn waits(number: i64, second: i64) -> bool {
    const COMMAND: i64 = 0x7F;
    match kind(number) {
        Kind::Waits => true,
        Kind::Futex => matches!(
            (second & COMMAND) as i32,
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET
        ),
        Kind::Lock => matches!(second as i32, libc::F_SETLKW | libc::F_OFD_SETLKW),
        Kind::MayWait | Kind::Other => false,
    }
}

/// The call that a handler has ended last, for the handlers that come before the interrupted code goes on: program counter and stack pointer behind it.
#[derive(Default)]
pub struct Ended {
    pc: AtomicUsize,
    sp: AtomicUsize,
}

impl Ended {
    fn note(&self, (pc, sp): (usize, usize)) {
        self.pc.store(pc, Relaxed);
        self.sp.store(sp, Relaxed);
    }
    /// Has a handler ended the call that the interrupted code is behind? It is forgotten.
    fn take(&self, (pc, sp): (usize, usize)) -> bool {
        self.pc.swap(0, Relaxed) == pc && self.sp.load(Relaxed) == sp
    }
}

/// The handler's signal has ended a call of the interrupted code with EINTR, which it would not have seen without the signal: the call is made again when the
/// handler returns. Not if a signal that is none of `ours` is pending, whose handler is called before that: then the code would have seen EINTR anyway. (While the handler runs,
/// all others are held back, or such a handler would have run already.) Not if a handler noted in `ended`, the thread's own, that it ended the call. [`prepare`] comes first.
///
/// # Safety
/// The context is that of the calling handler.
pub unsafe fn make_again(context: &mut libc::ucontext_t, ours: u64, ended: &Ended) {
    if ended.take(place(context)) {
        return;
    }
    // SAFETY: the caller's promise.
    let Some(call) = (unsafe { Call::just_ended(context) }) else {
        return;
    };
    if call.result(context) == EINTR
        && waits(call.number(), call.second(context))
        && !others_are_pending(!first_word(&context.uc_sigmask) & !ours)
    {
        call.put_back(context);
    }
}

/// The interrupted code is about to make a call that waits, perhaps again, because the kernel has put it back: it ends with EINTR instead, as if the handler
/// had no SA_RESTART. True if so, or if the kernel has ended a call with EINTR already; then `ended`, the thread's own if it has one, has it.
///
/// # Safety
/// The context is that of the calling handler.
pub unsafe fn end_call(context: &mut libc::ucontext_t, ended: Option<&Ended>) -> bool {
    // SAFETY: the caller's promise.
    let (next, before) = unsafe { (Call::about_to_begin(context), Call::has_ended(context)) };
    let may_wait = |call: &Call| {
        let number = call.number();
        waits(number, call.second(context)) || kind(number) == Kind::MayWait
    };
    match next.filter(may_wait) {
        Some(call) => call.end(context, EINTR),
        None if before == Some(EINTR) => {}
        None => return false,
    }
    if let Some(ended) = ended {
        ended.note(place(context));
    }
    true
}

/// Looks up what [`make_again`] needs to know, before its handler is installed.
pub fn prepare() {
    c_library::find();
}

/// Is a signal of the set pending that has a handler?
fn others_are_pending(set: u64) -> bool {
    let mut pending = 0u64;
    // SAFETY: a word of this frame; 8 bytes is the size of the kernel's set.
    unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut pending, 8) };
    (1..=64)
        .filter(|signal| pending & set & bit(*signal) != 0)
        .any(|signal| {
            // SAFETY: a query into a record of this frame.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                crate::signal::sigaction(signal, std::ptr::null(), &mut action);
                action.sa_sigaction > libc::SIG_IGN
            }
        })
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::signal;
    use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
    use std::time::{Duration, Instant};

    extern "C" fn handler(_: i32, _: *mut libc::siginfo_t, uc: *mut libc::c_void) {
        // SAFETY: the kernel's record.
        unsafe { make_again(&mut *uc.cast(), bit(libc::SIGUSR2), &Ended::default()) }
    }
    fn install() {
        prepare();
        let all: Vec<i32> = (1..=64).filter(|s| *s != libc::SIGSEGV).collect();
        // SAFETY: the handler does nothing but what a handler may do.
        unsafe { signal::install(libc::SIGUSR2, handler, 0, &all) };
    }
    /// Sends the signal to a thread that does this, again and again until it is done.
    fn interrupted(work: fn() -> i64) -> i64 {
        let tid: &AtomicI32 = Box::leak(Box::default());
        let waiter = std::thread::spawn(move || {
            tid.store(signal::thread_id(), SeqCst);
            work()
        });
        // A relative time begins anew with each signal.
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(10));
            signal::send(tid.load(SeqCst), libc::SIGUSR2);
        }
        waiter.join().expect("it waits")
    }
    fn error(result: i64) -> i64 {
        match result {
            -1 => -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
            other => other,
        }
    }
    const LIMIT: libc::timespec = libc::timespec {
        tv_sec: 0,
        tv_nsec: 40_000_000,
    };

    /// Signals come while the C library waits in calls that the kernel does not make again: none of them sees EINTR.
    #[test]
    fn a_wait_of_the_c_library_does_not_see_the_signal() {
        install();
        // SAFETY: records of these frames, and descriptors that were made just now.
        unsafe {
            use std::ptr::null_mut;
            assert_eq!(
                interrupted(|| error(libc::poll(null_mut(), 0, 40).into())),
                0
            );
            assert_eq!(
                interrupted(|| error(libc::nanosleep(&LIMIT, null_mut()).into())),
                0
            );
            let select = || {
                let mut time = libc::timeval {
                    tv_sec: 0,
                    tv_usec: 40_000,
                };
                error(libc::select(0, null_mut(), null_mut(), null_mut(), &mut time).into())
            };
            assert_eq!(interrupted(select), 0);
            let epoll = || {
                let fd = libc::epoll_create1(0);
                let mut event = libc::epoll_event { events: 0, u64: 0 };
                error(libc::epoll_pwait(fd, &mut event, 1, 40, std::ptr::null()).into())
            };
            assert_eq!(interrupted(epoll), 0);
            let receive = || {
                let mut pair = [0; 2];
                libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr());
                let time = libc::timeval {
                    tv_sec: 0,
                    tv_usec: 40_000,
                };
                let (level, option) = (libc::SOL_SOCKET, libc::SO_RCVTIMEO);
                libc::setsockopt(pair[0], level, option, (&raw const time).cast(), 16);
                let mut byte = 0u8;
                error(libc::recv(pair[0], (&raw mut byte).cast(), 1, 0) as i64)
            };
            assert_eq!(interrupted(receive), -i64::from(libc::EAGAIN));
            let semaphore = || {
                let mut at: libc::timespec = std::mem::zeroed();
                libc::clock_gettime(libc::CLOCK_REALTIME, &mut at);
                at.tv_nsec += LIMIT.tv_nsec;
                at.tv_sec += at.tv_nsec / 1_000_000_000;
                at.tv_nsec %= 1_000_000_000;
                let mut semaphore: libc::sem_t = std::mem::zeroed();
                libc::sem_init(&mut semaphore, 0, 0);
                error(libc::sem_timedwait(&mut semaphore, &at).into())
            };
            assert_eq!(interrupted(semaphore), -i64::from(libc::ETIMEDOUT));
        }
    }

    /// Another signal comes while ours is handled: the wait that it is to end ends.
    #[test]
    fn the_end_of_a_wait_by_another_signal_is_not_lost() {
        static OTHER: AtomicI32 = AtomicI32::new(0);
        extern "C" fn other(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {}
        extern "C" fn with_other(_: i32, _: *mut libc::siginfo_t, uc: *mut libc::c_void) {
            signal::send(signal::thread_id(), OTHER.load(SeqCst));
            // SAFETY: the kernel's record.
            unsafe { make_again(&mut *uc.cast(), bit(libc::SIGUSR1), &Ended::default()) }
        }
        prepare();
        OTHER.store(libc::SIGRTMIN() + 3, SeqCst);
        // SAFETY: handlers that do what a handler may do.
        unsafe {
            signal::install(OTHER.load(SeqCst), other, 0, &[]);
            signal::install(libc::SIGUSR1, with_other, 0, &[OTHER.load(SeqCst)]);
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            sender.send(signal::thread_id()).unwrap();
            // SAFETY: no descriptors.
            error(unsafe { libc::poll(std::ptr::null_mut(), 0, 20_000) }.into())
        });
        let tid = receiver.recv().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let start = Instant::now();
        signal::send(tid, libc::SIGUSR1);
        assert_eq!(waiter.join().unwrap(), -i64::from(libc::EINTR));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
