//! Waiting for many descriptors at once.
//!
//! # Invariants
//! * The numbers that a caller gives with a descriptor come back with its events, and mean nothing here.
//! * An [`Epoll`] can be used by several threads at once, also while one of them waits.
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The descriptor can be read, or its other side writes no more. Urgent bytes alone do not make it so: they are not what `read` waits for, and whoever
/// waited would find them there again and again.
pub const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP) as u32;
/// The descriptor can be written.
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;
/// Something is wrong with it, so that neither reading nor writing would wait. Always reported.
pub const BROKEN: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// An event is reported when something changes, not as long as it is so.
pub const EDGE: u32 = libc::EPOLLET as u32;

/// What has happened to a descriptor.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Event(libc::epoll_event);

impl Event {
    /// None.
    pub const EMPTY: Event = Event(libc::epoll_event { events: 0, u64: 0 });

    /// [`READABLE`], [`WRITABLE`], [`BROKEN`].
    pub fn kinds(&self) -> u32 {
        self.0.events
    }
    /// The number that was given with the descriptor.
    pub fn number(&self) -> u64 {
        self.0.u64
    }
}

fn result(value: i32) -> io::Result<i32> {
    match value {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// An epoll.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

impl From<Epoll> for OwnedFd {
    fn from(epoll: Epoll) -> OwnedFd {
        epoll.0
    }
}

impl Epoll {
    /// One without descriptors.
    ///
    /// # Errors
    /// The system's: too many descriptors.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: the call takes a number; nobody else knows the new descriptor.
        unsafe {
            let fd = result(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            Ok(Epoll(OwnedFd::from_raw_fd(fd)))
        }
    }
    fn control(&self, operation: i32, fd: RawFd, events: u32, number: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events,
            u64: number,
        };
        // SAFETY: the record lives for the length of the call.
        result(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &mut event) })?;
        Ok(())
    }
    /// Has it report such events of a descriptor, with `number`.
    ///
    /// # Errors
    /// The system's: EPERM for what is always ready (files), EEXIST, EBADF, ENOSPC.
    pub fn add(&self, fd: RawFd, events: u32, number: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, events, number)
    }
    /// Has it report such events of a descriptor that was added, with `number`; once more if they are there already.
    ///
    /// # Errors
    /// The system's: ENOENT, EBADF, ENOMEM.
    pub fn change(&self, fd: RawFd, events: u32, number: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, events, number)
    }
    /// Has it report nothing more of a descriptor. Events that a wait has returned already are not taken back.
    ///
    /// # Errors
    /// The system's: ENOENT, EBADF.
    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, 0)
    }
    /// Waits for events: for ever without `limit` (in nanoseconds), not at all with 0. How many there are; 0 if the time is over or a signal came.
    ///
    /// # Errors
    /// The system's, but not EINTR.
    pub fn wait(&self, events: &mut [Event], limit: Option<u64>) -> io::Result<usize> {
        let time = limit.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        });
        let count = i32::try_from(events.len()).unwrap_or(i32::MAX);
        let at: *mut libc::epoll_event = events.as_mut_ptr().cast();
        // SAFETY: the kernel fills in at most so many records of the slice, and reads a time of this frame or none.
        let done = unsafe {
            let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            let mask = std::ptr::null::<libc::sigset_t>();
            let done = libc::syscall(
                libc::SYS_epoll_pwait2,
                self.0.as_raw_fd(),
                at,
                count,
                time,
                mask,
                8usize,
            ) as i32;
            if done == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
                // Linux before 5.11 knows milliseconds only. Rounded up: a wait that ends early would be made again and again.
                let ms = limit.map_or(-1, |ns| {
                    i32::try_from(ns.div_ceil(1_000_000)).unwrap_or(i32::MAX)
                });
                libc::epoll_wait(self.0.as_raw_fd(), at, count, ms)
            } else {
                done
            }
        };
        match result(done) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(0),
            done => done.map(|n| n as usize),
        }
    }
}

/// A descriptor that becomes readable when it is told to.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// One that is not readable.
    ///
    /// # Errors
    /// The system's: too many descriptors.
    pub fn new() -> io::Result<Alarm> {
        // SAFETY: the call takes numbers; nobody else knows the new descriptor.
        unsafe {
            let fd = result(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?;
            Ok(Alarm(OwnedFd::from_raw_fd(fd)))
        }
    }
    /// Makes it readable.
    pub fn set(&self) {
        let one = 1u64;
        // SAFETY: eight bytes of this frame. A counter that is full (EAGAIN) is readable as well.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }
    /// Makes it unreadable again.
    pub fn clear(&self) {
        let mut count = 0u64;
        // SAFETY: eight bytes of this frame. Nothing to read (EAGAIN) is what is wanted.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}
impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn an_alarm_is_reported_with_its_number_until_it_is_cleared() {
        let (epoll, alarm) = (Epoll::new().unwrap(), Alarm::new().unwrap());
        epoll.add(alarm.as_raw_fd(), READABLE, 77).unwrap();
        let mut events = [Event::EMPTY; 4];
        assert_eq!(epoll.wait(&mut events, Some(0)).unwrap(), 0);
        alarm.set();
        for _ in 0..2 {
            assert_eq!(epoll.wait(&mut events, None).unwrap(), 1);
            assert_eq!(events[0].number(), 77);
            assert_ne!(events[0].kinds() & READABLE, 0);
        }
        alarm.clear();
        assert_eq!(epoll.wait(&mut events, Some(0)).unwrap(), 0);
        alarm.set();
        epoll.remove(alarm.as_raw_fd()).unwrap();
        assert_eq!(epoll.wait(&mut events, Some(0)).unwrap(), 0);
    }

    #[test]
    fn a_wait_lasts_as_long_as_its_limit_in_nanoseconds() {
        let epoll = Epoll::new().unwrap();
        let before = clock::now();
        assert_eq!(epoll.wait(&mut [Event::EMPTY], Some(300_000)).unwrap(), 0);
        assert!(clock::now() - before >= 300_000);
    }

    #[test]
    fn a_file_cannot_be_waited_for() {
        let epoll = Epoll::new().unwrap();
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let error = epoll.add(file.as_raw_fd(), READABLE, 0).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    }
}
