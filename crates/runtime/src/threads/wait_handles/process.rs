//! Processes behind wait handles: when they end, and with which exit code.
//!
//! # How it works
//! The watcher thread, which the first process starts, watches each child, and each other process that a thread waits for,
//! through a pidfd. When a process ends, the watcher stores what is known of the end with all handles of the process and
//! unparks the threads that wait for them.
//!
//! ```text
//!   child:   started --> children --(it ends; the first who sees it: waitid)--> reaped: Ended in every handle, waiters unparked
//!                           |                                                      ^
//!   other:   handle opened -+--(a thread waits)--> watched --(pidfd readable)------+
//! ```
//! A process that is no child of ours cannot be reaped by us: its exit code is not known, and reads as -1.
//!
//! # Invariants
//! * A child is reaped once, under the table's lock, by the thread that first sees that it ended: the watcher, or a thread
//!   that asks. It is reaped even if all of its handles were closed. Until then its process id cannot be given to another process.
//! * Before a child is started, SIGCHLD is set not to be ignored (a parent, or a library, may have left it ignored). Otherwise
//!   the kernel would reap the children itself, and their exit codes would be lost.
//! * Where the kernel has no pidfds, a waiting thread asks again every few milliseconds.
use super::{Object, TABLE, Table};
use super::{filetime, proc_files};
use crate::threads::park;
use std::sync::atomic::{AtomicI32, Ordering};

/// What is known of a process that ended. Times as FILETIMEs, or durations in 100 ns.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its exit code, 128 and the signal's number, or -1 if it was no child of ours.
    pub code: i32,
    /// When it was seen.
    pub at: i64,
    /// CPU time in user mode.
    pub user: i64,
    /// CPU time in the kernel.
    pub kernel: i64,
}

/// What the table of wait handles keeps of processes beside their handles.
#[derive(Default, Debug)]
pub(super) struct Processes {
    /// Children of ours that have not been reaped.
    children: Vec<i32>,
    /// Those the thread watches.
    watched: Vec<i32>,
}
impl Processes {
    pub const fn new() -> Processes {
        Processes {
            children: Vec::new(),
            watched: Vec::new(),
        }
    }
}

/// The calling thread's errno.
fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Sees to it that children wait to be reaped.
pub fn will_have_children() {
    // SAFETY: the record is filled by the first call and read by the second.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGCHLD, std::ptr::null(), &mut now) != 0 {
            return;
        }
        let ignored = now.sa_sigaction == libc::SIG_IGN;
        if ignored || now.sa_flags & libc::SA_NOCLDWAIT != 0 {
            if ignored {
                now.sa_sigaction = libc::SIG_DFL;
            }
            now.sa_flags &= !libc::SA_NOCLDWAIT;
            libc::sigaction(libc::SIGCHLD, &now, std::ptr::null_mut());
        }
    }
}

/// A new handle of a process, a `child` of ours or not.
pub fn create(pid: i32, child: bool) -> usize {
    let started = match child {
        true => proc_files::Stat::of(pid).map_or(0, |s| s.start_filetime()),
        false => 0,
    };
    let handle = {
        let mut t = TABLE.lock();
        if child {
            t.processes.children.push(pid);
        }
        let process = Object::Process {
            pid,
            started,
            ended: None,
        };
        t.add(process, None)
    };
    if child {
        watch(pid);
    }
    handle
}

/// Somebody will wait for the process: it is watched from now on.
pub(super) fn will_wait(handle: usize) {
    let mut t = TABLE.lock();
    let Some(Object::Process {
        pid, ended: None, ..
    }) = t.object(handle)
    else {
        return;
    };
    let pid = *pid;
    let waiters = update(&mut t, pid, false);
    let watched = t.processes.watched.contains(&pid);
    drop(t);
    waiters.into_iter().for_each(park::unpark);
    if !watched {
        watch(pid);
    }
}

fn ticks(t: libc::timeval) -> i64 {
    t.tv_sec * 10_000_000 + t.tv_usec * 10
}

/// Reaps a child if it has ended. None: it has not, or is no child of ours.
fn reap(t: &mut Table, pid: i32) -> Option<Ended> {
    let at = t.processes.children.iter().position(|c| *c == pid)?;
    let mut status = 0;
    // SAFETY: plain records that the call fills.
    let (found, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (
            libc::wait4(pid, &mut status, libc::WNOHANG, &mut usage),
            usage,
        )
    };
    if found == 0 {
        return None;
    }
    t.processes.children.swap_remove(at);
    let code = match found {
        p if p == pid && libc::WIFSIGNALED(status) => 128 + libc::WTERMSIG(status),
        p if p == pid => libc::WEXITSTATUS(status),
        _ => -1, // Somebody else of this process reaped it.
    };
    Some(Ended {
        code,
        at: filetime::now(),
        user: ticks(usage.ru_utime),
        kernel: ticks(usage.ru_stime),
    })
}

/// What is known of the end of a process that was no child of ours.
fn gone() -> Ended {
    Ended {
        code: -1,
        at: filetime::now(),
        user: 0,
        kernel: 0,
    }
}

/// Has the process ended? `certain`: the system says so. All handles of it know afterwards; the threads to be unparked.
pub(super) fn update(t: &mut Table, pid: i32, certain: bool) -> Vec<u32> {
    let child = t.processes.children.contains(&pid);
    // SAFETY: signal 0 asks whether the process exists and sends nothing.
    let unknown = || unsafe { libc::kill(pid, 0) } == -1 && errno() == libc::ESRCH;
    let ended = match child {
        true => reap(t, pid),
        false => (certain || unknown()).then(gone),
    };
    let mut waiters = Vec::new();
    let Some(now) = ended else { return waiters };
    for e in t.entries.iter_mut().flatten() {
        if let Object::Process {
            pid: p,
            ended: end @ None,
            ..
        } = &mut e.object
            && *p == pid
        {
            *end = Some(now);
            waiters.extend(&e.waiters);
        }
    }
    waiters
}

/// What is known of a process's end; the outer None for something that is no process.
pub fn end_of(handle: usize) -> Option<Option<Ended>> {
    let mut t = TABLE.lock();
    let pid = match t.object(handle)? {
        Object::Process {
            ended: None, pid, ..
        } => *pid,
        Object::Process { ended, .. } => return Some(*ended),
        _ => return None,
    };
    let waiters = update(&mut t, pid, false);
    let answer = match t.object(handle)? {
        Object::Process { ended, .. } => *ended,
        _ => None,
    };
    drop(t);
    waiters.into_iter().for_each(park::unpark);
    Some(answer)
}

const NONE: i32 = -1;
const BROKEN: i32 = -2;
/// The epoll that the thread waits for.
static EPOLL: AtomicI32 = AtomicI32::new(NONE);

/// Does the thread see processes end, so that nobody has to look?
pub(super) fn is_watching() -> bool {
    EPOLL.load(Ordering::Acquire) >= 0
}

fn epoll() -> i32 {
    let have = EPOLL.load(Ordering::Acquire);
    if have != NONE {
        return have;
    }
    // SAFETY: a plain call.
    let made = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    let wanted = if made < 0 { BROKEN } else { made };
    match EPOLL.compare_exchange(NONE, wanted, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            let started = made >= 0
                && vervet_os::thread::spawn_detached(256 << 10, move || run(made)).is_ok();
            if !started {
                EPOLL.store(BROKEN, Ordering::Release);
            }
            EPOLL.load(Ordering::Acquire)
        }
        Err(first) => {
            // SAFETY: the descriptor was made above and nobody knows it.
            unsafe { libc::close(made) };
            first
        }
    }
}

/// Has the thread see the end of a process.
fn watch(pid: i32) {
    let epoll = epoll();
    if epoll < 0 {
        return;
    }
    TABLE.lock().processes.watched.push(pid);
    let forget = || TABLE.lock().processes.watched.retain(|w| *w != pid);
    // SAFETY: plain calls on descriptors; the record lives during the call.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32;
        if fd < 0 {
            if errno() != libc::ESRCH {
                EPOLL.store(BROKEN, Ordering::Release);
            }
            forget();
            return; // Who asks finds that it is gone.
        }
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: (fd as u32 as u64) << 32 | pid as u32 as u64,
        };
        if libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) != 0 {
            EPOLL.store(BROKEN, Ordering::Release);
            libc::close(fd);
            forget();
        }
    }
}

fn run(epoll: i32) {
    // SAFETY: a zero-terminated name of at most 16 bytes; the mask is the calling thread's; the records are ours.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"Process Watcher".as_ptr());
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
    loop {
        // SAFETY: there is room for as many events as are asked for.
        let n = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 16, -1) };
        for event in &events[..n.max(0) as usize] {
            let pid = event.u64 as u32 as i32;
            let waiters = {
                let mut t = TABLE.lock();
                t.processes.watched.retain(|w| *w != pid);
                update(&mut t, pid, true)
            };
            let fd = (event.u64 >> 32) as i32;
            // SAFETY: the pidfd is this thread's. Closing it would not take it out of the epoll while a process that
            // is being started has a copy.
            unsafe {
                libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut());
                libc::close(fd);
            }
            waiters.into_iter().for_each(park::unpark);
        }
    }
}
