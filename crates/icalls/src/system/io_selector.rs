//! Native half of System.IOSelector: tells asynchronous operations that their descriptor is ready.
//!
//! # How it works
//! An `IOSelectorJob` waits in the queue of its descriptor. The descriptor is registered with an epoll for what its queues
//! wait for, for one event (EPOLLONESHOT). The selector thread waits for events, hands the first job of each kind that is
//! ready to the thread pool, and arms the descriptor again if more jobs wait. A thread that adds a job arms the descriptor
//! itself, so it need not wake the selector thread. Workers of the pool that have nothing else to do look for events too.
//! While they do, the selector thread sleeps, so an event wakes only threads that are needed.
//!
//! # Invariants
//! * A job waits behind a GC handle. The thread that takes the job out frees the handle, once.
//! * An event carries the generation of the descriptor's entry, and [`remove`] ends a generation. So an event of a closed
//!   socket is never taken for one of the next socket with that number.
//! * `armed` is what the kernel was told to wait for: 0 after each event.
use crate::support::errno::errno;
use crate::system::net::socket_address::Field;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;
use vervet_os::{LeafLock, futex};
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_runtime::memory::handles::{self, HandleKind};
use vervet_runtime::threads::pool::Poller;
use vervet_runtime::threads::{self, name, state};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::{Known, LoadError};

/// What a job that reads waits for.
const READ: u32 = libc::EPOLLIN as u32;
/// What a job that writes waits for.
const WRITE: u32 = libc::EPOLLOUT as u32;
/// Events that the kernel always reports; they make both kinds of job ready.
const ERROR: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// IOOperation.Write.
const OPERATION_WRITE: i32 = 2;
/// What the thread's stack holds; managed code on it puts an item into a queue.
const STACK: usize = 1 << 20;

/// The jobs of one descriptor, by GC handle.
struct Entry {
    reads: VecDeque<u32>,
    writes: VecDeque<u32>,
    armed: u32,
    registered: bool,
    generation: u32,
}
impl Entry {
    /// An entry without jobs.
    const fn new() -> Entry {
        Entry {
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            armed: 0,
            registered: false,
            generation: 0,
        }
    }
    /// The queue of jobs that read or write.
    fn queue(&mut self, writes: bool) -> &mut VecDeque<u32> {
        if writes {
            &mut self.writes
        } else {
            &mut self.reads
        }
    }
    /// The events that the queued jobs wait for.
    fn wanted(&self) -> u32 {
        let reads = if self.reads.is_empty() { 0 } else { READ };
        let writes = if self.writes.is_empty() { 0 } else { WRITE };
        reads | writes
    }
    /// Tells the kernel what is waited for now; its errno.
    fn arm(&mut self, epoll: i32, fd: i32) -> std::result::Result<(), i32> {
        let wanted = self.wanted();
        if wanted == self.armed {
            return Ok(());
        }
        let mut event = libc::epoll_event {
            events: wanted | libc::EPOLLONESHOT as u32,
            u64: u64::from(fd as u32) | u64::from(self.generation) << 32,
        };
        let mut control = |operation| {
            // SAFETY: the record lives for the length of the call.
            match unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) } {
                -1 => Err(errno()),
                _ => Ok(()),
            }
        };
        let (first, other, why) = if self.registered {
            (libc::EPOLL_CTL_MOD, libc::EPOLL_CTL_ADD, libc::ENOENT)
        } else {
            (libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_MOD, libc::EEXIST)
        };
        // Somebody else may have closed the descriptor and made another one with that number.
        match control(first) {
            Err(e) if e == why => control(other)?,
            r => r?,
        }
        self.registered = true;
        self.armed = wanted;
        Ok(())
    }
}

/// How many locks share the descriptors between them.
const SHARDS: usize = 16;
/// Descriptor `n` is entry `n / SHARDS` of shard `n % SHARDS`.
static ENTRIES: [LeafLock<Vec<Entry>>; SHARDS] = [const { LeafLock::new(Vec::new()) }; SHARDS];

/// Uses a descriptor's entry under its lock; None if it never had one and `make` does not say so.
fn with_entry<T>(fd: i32, make: bool, use_it: impl FnOnce(&mut Entry) -> T) -> Option<T> {
    let n = usize::try_from(fd).ok()?;
    let mut shard = ENTRIES[n % SHARDS].lock();
    let at = n / SHARDS;
    if at >= shard.len() {
        if !make {
            return None;
        }
        shard.resize_with(at + 1, Entry::new);
    }
    Some(use_it(&mut shard[at]))
}

/// The epoll's descriptor; -1 before there is one.
static EPOLL: AtomicI32 = AtomicI32::new(-1);
/// Held while the epoll and the thread are made, so that this happens once.
static STARTING: LeafLock<()> = LeafLock::new(());

/// The epoll, and the thread that serves it.
fn epoll(cx: &Cx<'_>) -> std::result::Result<i32, i32> {
    let have = EPOLL.load(Ordering::Acquire);
    if have != -1 {
        return Ok(have);
    }
    cx.native(|| {
        let _guard = STARTING.lock();
        let have = EPOLL.load(Ordering::Acquire);
        if have != -1 {
            return Ok(have);
        }
        // SAFETY: `epoll_create1` takes a number, and nobody else knows the new descriptor.
        let new = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if new == -1 {
            return Err(errno());
        }
        match vervet_os::thread::spawn_detached(STACK, move || run(new)) {
            Ok(()) => EPOLL.store(new, Ordering::Release),
            Err(_) => {
                // SAFETY: the descriptor was made above, and nobody else knows it.
                unsafe { libc::close(new) };
                return Err(libc::EAGAIN);
            }
        }
        Ok(new)
    })
}

/// The field that says whether a job reads or writes.
static OPERATION: Field = Field::new("operation");

/// Has a job wait for its descriptor.
fn add<'cx>(cx: &'cx Cx<'cx>, fd: i32, job: ObjRef<'cx>) -> Result<()> {
    let writes = job.read::<i32>(OPERATION.of(cx, job.class())?) == OPERATION_WRITE;
    let Ok(epoll) = epoll(cx) else {
        return Err(cx.throw(
            Known::InvalidOperationException,
            "The thread for asynchronous sockets cannot be started.",
        ));
    };
    let handle = handles::alloc_or_throw(cx, job, HandleKind::Normal)?;
    let armed = with_entry(fd, true, |entry| {
        entry.queue(writes).push_back(handle);
        entry.arm(epoll, fd).inspect_err(|_| {
            entry.queue(writes).pop_back();
        })
    });
    match armed.unwrap_or(Err(libc::EBADF)) {
        Ok(()) => Ok(()),
        Err(libc::EPERM) => {
            handles::free(handle);
            let message = "Waiting for this kind of descriptor is not supported.";
            Err(cx.throw(Known::NotSupportedException, message))
        }
        // The operation itself will find what is wrong.
        Err(_) => deliver(cx, handle),
    }
}

/// The descriptor is closed: all of its jobs go to the pool, where they find that out.
pub fn remove<'cx>(cx: &'cx Cx<'cx>, fd: i32) -> Result<()> {
    let epoll = EPOLL.load(Ordering::Acquire);
    if epoll == -1 {
        return Ok(());
    }
    let jobs = with_entry(fd, false, |entry| {
        if !entry.registered {
            return Vec::new();
        }
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: the record lives for the length of the call.
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd, &mut event) };
        entry.generation = entry.generation.wrapping_add(1);
        (entry.registered, entry.armed) = (false, 0);
        let all: Vec<u32> = entry
            .reads
            .drain(..)
            .chain(entry.writes.drain(..))
            .collect();
        all
    });
    for handle in jobs.unwrap_or_default() {
        deliver(cx, handle)?;
    }
    Ok(())
}

/// Takes out what an event of that generation makes ready.
fn take_ready(epoll: i32, fd: i32, generation: u32, events: u32) -> [Option<u32>; 2] {
    let taken = with_entry(fd, false, |entry| {
        if entry.generation != generation {
            return [None; 2];
        }
        entry.armed = 0;
        let mut ready = [None; 2];
        if events & (READ | ERROR) != 0 {
            ready[0] = entry.reads.pop_front();
        }
        if events & (WRITE | ERROR) != 0 {
            ready[1] = entry.writes.pop_front();
        }
        // A descriptor that cannot be armed again is closed, and its owner will take the jobs out.
        let _ = entry.arm(epoll, fd);
        ready
    });
    taken.unwrap_or([None; 2])
}

/// Gives a job to the thread pool.
fn deliver<'cx>(cx: &'cx Cx<'cx>, handle: u32) -> Result<()> {
    let job = handles::target(handle).unwrap_or(ObjRef::NULL);
    handles::free(handle);
    let class = cx.known(Known::ThreadPool);
    let method = cx.load(class.find_method("UnsafeQueueCustomWorkItem", Some(2)))?;
    let Some(method) = method else {
        let error = LoadError::missing_method(class, "UnsafeQueueCustomWorkItem");
        return Err(cx.throw_load(error));
    };
    // Into the queue of the domain that waits for the job; one that is being unloaded gets no more.
    let domain = vervet_runtime::domain::by_id(job.vtable().domain);
    if domain.state() >= vervet_runtime::domain::State::Unloading {
        return Ok(());
    }
    let args = [Value::Ref(job), Value::Int(0)];
    cx.within(domain, |cx| cx.invoke(method, None, &args))
        .map(drop)
}

/// The selector thread.
fn run(epoll: i32) {
    vervet_runtime::threads::attach::attach();
    if make_objects(&Cx::current()) {
        serve(epoll);
    }
    vervet_runtime::threads::attach::detach();
}

/// How often workers looked at the epoll.
static LOOKS: AtomicU32 = AtomicU32::new(0);
/// 1 while this thread naps.
static NAPPING: AtomicU32 = AtomicU32::new(0);
/// What idle workers of the thread pool call to look for events.
static POLLER: Poller = Poller {
    poll: || {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        deliver_events(EPOLL.load(Ordering::Acquire), 0)
    },
    rest: || {
        if NAPPING.load(Ordering::SeqCst) == 1 && NAPPING.swap(0, Ordering::SeqCst) == 1 {
            futex::wake(&NAPPING, 1);
        }
    },
};

/// Waits for events (`timeout` as of epoll) and gives their jobs to the pool; false if there were none.
fn deliver_events(epoll: i32, timeout: i32) -> bool {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 128];
    let (at, room) = (events.as_mut_ptr(), events.len() as i32);
    // SAFETY: at most that many records are written.
    let wait = || unsafe { libc::epoll_wait(epoll, at, room, timeout) };
    let count = match timeout {
        0 => wait(),
        _ => Cx::current().native(wait),
    };
    for event in &events[..count.max(0) as usize] {
        let (events, data) = (event.events, event.u64);
        let jobs = take_ready(epoll, data as u32 as i32, (data >> 32) as u32, events);
        for job in jobs.into_iter().flatten() {
            deliver_or_die(&Cx::current(), job);
        }
    }
    count > 0
}

/// How long the selector thread sleeps at first while workers look for events.
const FIRST_NAP: Duration = Duration::from_micros(250);
/// How long the selector thread sleeps at most while workers look for events.
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// When it has given jobs to the pool, the thread naps as long as workers look for the next events themselves: a worker that
/// finds them needs not be woken. It wakes when the last worker goes to sleep, and now and then to see whether they still look.
fn serve(epoll: i32) {
    vervet_runtime::threads::pool::set_poller(&POLLER);
    loop {
        deliver_events(epoll, -1);
        let (mut looks, mut nap) = (LOOKS.load(Ordering::Relaxed), FIRST_NAP);
        loop {
            NAPPING.store(1, Ordering::SeqCst);
            if vervet_runtime::threads::pool::is_idle() {
                break;
            }
            Cx::current().native(|| futex::wait(&NAPPING, 1, Some(nap)));
            let now = LOOKS.load(Ordering::Relaxed);
            if NAPPING.load(Ordering::SeqCst) == 0 || now == looks {
                break;
            }
            (looks, nap) = (now, (nap * 2).min(LONGEST_NAP));
        }
        NAPPING.store(0, Ordering::SeqCst);
    }
}
/// A job that cannot be given to the pool (no memory) is an unhandled exception of this thread. An abort, which the end of the
/// process may bring, ends the giving only.
fn deliver_or_die<'cx>(cx: &'cx Cx<'cx>, job: u32) {
    if let Err(throw) = deliver(cx, job) {
        let exception = cx.take_pending(throw);
        if exception.class().name != "ThreadAbortException" {
            vervet_runtime::exceptions::unhandled::unhandled_with(cx, exception, 255);
        } else if let Err(throw) = vervet_runtime::threads::abort::reset(cx) {
            let _ = cx.take_pending(throw);
        }
    }
}

/// The managed objects of the thread, in the background.
fn make_objects<'cx>(cx: &'cx Cx<'cx>) -> bool {
    if let Err(throw) = threads::adopt(cx) {
        let _ = cx.take_pending(throw);
        return false;
    }
    let internal = threads::current_internal(cx);
    state::change(internal, state::BACKGROUND, 0);
    name::set_default(internal, name::Default::IoSelector);
    true
}

icalls! {
    /// Queues a job until its descriptor is ready.
    "System.IOSelector::Add" fn add_icall(cx, fd: isize, job: ObjRef<'cx>) { add(cx, fd as i32, cx.non_null(job)?) }
    /// Takes all jobs of a descriptor, which is about to be closed, out of the queues.
    "System.IOSelector::Remove" fn remove_icall(cx, fd: isize) { remove(cx, fd as i32) }
}
