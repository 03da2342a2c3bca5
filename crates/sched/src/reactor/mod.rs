//! The reactor: green threads wait for descriptors in one epoll.
//!
//! The [`Registry`] says who waits for what; this adds the epoll, and the alarm by which a poller that waits is made to look up. A host calls
//! [`Reactor::poll`] for [`Host::poll`](crate::Host::poll).
//!
//! # How a thread reads
//! ```text
//!   loop {
//!       ticket = reactor.ticket(descriptor, Read)?         // None: it was closed
//!       read without waiting; not EAGAIN? done
//!       match reactor.begin_wait(descriptor, Read, ticket, own id) { Again => continue, Closed => done, Queued => park }
//!       reactor.end_wait(own id)                           // whoever woke it
//!   }
//! ```
//!
//! # Invariants
//! * A descriptor is removed before it is closed. If somebody closes it behind our back, its registration waits for nothing until it is removed.
//! * The alarm stays set until the poller that waits has seen it: set before the poller waits, it ends the wait at once.
mod registry;

pub(crate) use registry::Registry;
pub use registry::{Direction, Registration, Ticket, Waits};

#[cfg(not(feature = "loom"))]
pub use with_epoll::Reactor;

#[cfg(not(feature = "loom"))]
mod with_epoll {
    use super::*;
    use crate::Wait;
    use std::io;
    use std::os::fd::{AsRawFd, RawFd};
    use vervet_os::epoll::{Alarm, BROKEN, EDGE, Epoll, Event, READABLE, WRITABLE};

    /// No registration has this number: it would be the last entry of the last generation.
    const ALARM: u64 = u64::MAX;
    /// Events taken at once.
    const EVENTS: usize = 256;

    /// See the module.
    pub struct Reactor {
        epoll: Epoll,
        alarm: Alarm,
        registry: Registry,
    }

    impl Reactor {
        /// One without descriptors.
        ///
        /// # Errors
        /// The system's: there can be no more descriptors.
        pub fn new() -> io::Result<Reactor> {
            let (epoll, alarm) = (Epoll::new()?, Alarm::new()?);
            epoll.add(alarm.as_raw_fd(), READABLE, ALARM)?;
            Ok(Reactor {
                epoll,
                alarm,
                registry: Registry::new(),
            })
        }
        /// Registers a descriptor until [`Reactor::remove`].
        ///
        /// # Errors
        /// The system's. EPERM: reading and writing never wait (a file).
        pub fn add(&self, fd: RawFd) -> io::Result<Registration> {
            let registration = self.registry.add();
            let added = self
                .epoll
                .add(fd, READABLE | WRITABLE | EDGE, registration.number());
            if let Err(error) = added {
                self.registry
                    .remove(registration, &mut |_| unreachable!("nobody knows it"));
                return Err(error);
            }
            Ok(registration)
        }
        /// Has what is ready now reported once more, also if the descriptor was closed since it was registered and is another one now. So whoever does not
        /// know when descriptors are closed may wait after this.
        ///
        /// # Errors
        /// The system's. EBADF: there is no such descriptor. EPERM: reading and writing never wait.
        pub fn look_again(&self, fd: RawFd, of: Registration) -> io::Result<()> {
            let events = READABLE | WRITABLE | EDGE;
            loop {
                match self.epoll.change(fd, events, of.number()) {
                    // Closed, and opened again: the kernel has forgotten the first.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    result => return result,
                }
                match self.epoll.add(fd, events, of.number()) {
                    // Another thread was quicker.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    result => return result,
                }
            }
        }
        /// Ends a registration, before the descriptor is closed. Those who wait are passed to `wake`; they find it closed.
        pub fn remove(&self, fd: RawFd, of: Registration, wake: &mut dyn FnMut(u32)) {
            // (Only while it is the registration's: a second call may come when the number is another descriptor's.)
            if self.registry.remove(of, wake) {
                // An error says that the descriptor was closed already.
                let _ = self.epoll.remove(fd);
            }
        }
        /// What a thread takes before it tries to read or write. None: the registration is over.
        pub fn ticket(&self, of: Registration, direction: Direction) -> Option<Ticket> {
            self.registry.ticket(of, direction)
        }
        /// Has a thread wait, if nothing has changed since it took its ticket. It then parks, and calls [`Reactor::end_wait`] when it goes on.
        pub fn begin_wait(
            &self,
            of: Registration,
            direction: Direction,
            ticket: Ticket,
            id: u32,
        ) -> Waits {
            self.registry.begin_wait(of, direction, ticket, id)
        }
        /// The thread waits no more.
        pub fn end_wait(&self, id: u32) {
            self.registry.end_wait(id);
        }
        /// Is any descriptor registered?
        pub fn is_used(&self) -> bool {
            self.registry.is_used()
        }
        /// Ends the wait of the poller, or its next one.
        pub fn wake(&self) {
            self.alarm.set();
        }
        /// Waits for events until `wait` says, in nanoseconds of `now`, and passes the ids of threads to `ready`.
        pub fn poll(&self, wait: Wait, now: u64, ready: &mut dyn FnMut(u32)) {
            let limit = match wait {
                Wait::Not => Some(0),
                Wait::Until(until) => Some(until.saturating_sub(now)),
                Wait::Forever => None,
            };
            let mut events = [Event::EMPTY; EVENTS];
            // The descriptor is ours and the slice is valid, so there is no error that comes from outside.
            let count = self.epoll.wait(&mut events, limit).unwrap_or(0);
            for event in &events[..count] {
                if event.number() == ALARM {
                    // Who only looks leaves it to the poller that waits.
                    if wait != Wait::Not {
                        self.alarm.clear();
                    }
                    continue;
                }
                let broken = event.kinds() & BROKEN != 0;
                self.registry.event(
                    Registration::of(event.number()),
                    broken || event.kinds() & READABLE != 0,
                    broken || event.kinds() & WRITABLE != 0,
                    ready,
                );
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::{Read, Write};
        use std::os::unix::net::UnixStream;

        fn ready(reactor: &Reactor, wait: Wait) -> Vec<u32> {
            let mut ids = Vec::new();
            reactor.poll(wait, 0, &mut |id| ids.push(id));
            ids
        }

        #[test]
        fn a_thread_that_waits_to_read_is_woken_by_bytes_and_by_the_end() {
            let reactor = Reactor::new().unwrap();
            let (mut a, mut b) = UnixStream::pair().unwrap();
            a.set_nonblocking(true).unwrap();
            let of = reactor.add(a.as_raw_fd()).unwrap();
            let mut buffer = [0; 10];
            let mut park = |reactor: &Reactor| loop {
                let ticket = reactor.ticket(of, Direction::Read).unwrap();
                match a.read(&mut buffer) {
                    Ok(count) => return Some(count),
                    Err(e) => assert_eq!(e.kind(), io::ErrorKind::WouldBlock),
                }
                if reactor.begin_wait(of, Direction::Read, ticket, 5) == Waits::Queued {
                    return None;
                }
            };
            assert_eq!(park(&reactor), None);
            // (The first poll may report that it can be written.)
            assert_eq!(ready(&reactor, Wait::Not), []);
            b.write_all(b"abc").unwrap();
            assert_eq!(ready(&reactor, Wait::Forever), [5]);
            assert_eq!(park(&reactor), Some(3));
            assert_eq!(park(&reactor), None);
            drop(b);
            assert_eq!(ready(&reactor, Wait::Forever), [5]);
            assert_eq!(park(&reactor), Some(0));
            reactor.remove(a.as_raw_fd(), of, &mut |_| ());
        }

        /// The number of a closed descriptor goes to the next one. Its events find the next one's threads, never the closed one's.
        #[test]
        fn a_descriptor_number_is_used_again() {
            let reactor = Reactor::new().unwrap();
            for round in 0..1000u32 {
                let (a, mut b) = UnixStream::pair().unwrap();
                let of = reactor.add(a.as_raw_fd()).unwrap();
                let ticket = reactor.ticket(of, Direction::Read).unwrap();
                let waits = reactor.begin_wait(of, Direction::Read, ticket, 1 + round % 7);
                assert_eq!(waits, Waits::Queued);
                b.write_all(b"x").unwrap();
                if round % 3 == 0 {
                    // Closed with an event on its way.
                    let mut woken = Vec::new();
                    reactor.remove(a.as_raw_fd(), of, &mut |id| woken.push(id));
                    assert_eq!(woken, [1 + round % 7]);
                } else {
                    assert_eq!(ready(&reactor, Wait::Forever), [1 + round % 7]);
                    reactor.remove(a.as_raw_fd(), of, &mut |_| panic!("nobody waits"));
                }
                reactor.end_wait(1 + round % 7);
            }
            assert_eq!(ready(&reactor, Wait::Not), []);
            assert!(!reactor.is_used());
        }

        #[test]
        fn an_alarm_before_the_wait_ends_it() {
            let reactor = Reactor::new().unwrap();
            reactor.wake();
            reactor.wake();
            assert_eq!(ready(&reactor, Wait::Not), []);
            // The look has left it to the one that waits.
            assert_eq!(ready(&reactor, Wait::Forever), []);
            reactor.poll(Wait::Until(1_000_000), 0, &mut |_| {
                panic!("nothing is ready")
            });
        }

        #[test]
        fn a_file_is_not_registered() {
            let reactor = Reactor::new().unwrap();
            let file = std::fs::File::open("/proc/self/exe").unwrap();
            assert!(reactor.add(file.as_raw_fd()).is_err());
            assert!(!reactor.is_used());
        }
    }
}
