//! The port that takes commands: lines of text over TCP, as mono's profiler does.
//!
//! # Invariants
//! * It listens on the loopback address, unless the options name another one.
//! * Its thread is never attached and takes no signals. It sleeps until somebody speaks, and ends with the recording.
//! * What a client sends costs no more than [`LONGEST`] bytes of memory for each of [`MOST_CLIENTS`] clients. A client that sends a longer line is sent away.
use std::io::{self, Read};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Bytes of a command.
const LONGEST: usize = 256;
const MOST_CLIENTS: usize = 16;
/// How long a client stays at the door that cannot be accepted, in milliseconds.
const AGAIN_MS: i32 = 1000;

/// A port that takes commands, until it is dropped.
pub struct Port {
    number: u16,
    /// What ends the thread.
    end: OwnedFd,
}

struct Client {
    stream: TcpStream,
    line: Vec<u8>,
}

impl Client {
    /// Takes in what the client has sent; false: it is done with.
    fn read(&mut self, command: &mut impl FnMut(&str)) -> bool {
        let mut bytes = [0; LONGEST];
        let count = match self.stream.read(&mut bytes) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
        };
        self.line.extend(&bytes[..count]);
        while let Some(end) = self.line.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            command(String::from_utf8_lossy(&line).trim());
        }
        self.line.len() <= LONGEST
    }
}

impl Port {
    /// Listens there; `command` is called with each line. The error is a sentence for the user.
    pub fn open(
        address: SocketAddrV4,
        command: impl FnMut(&str) + Send + 'static,
    ) -> Result<Port, String> {
        let wrong = |e: io::Error| format!("cannot listen at port {address}: {e}");
        let listener = TcpListener::bind(address).map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        let number = listener.local_addr().map_err(wrong)?.port();
        // SAFETY: a new descriptor, or an error.
        let end = match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) } {
            -1 => return Err(wrong(io::Error::last_os_error())),
            // SAFETY: a descriptor that was made just now and that nobody else has.
            fd => unsafe { OwnedFd::from_raw_fd(fd) },
        };
        let stop = end.try_clone().map_err(wrong)?;
        vervet_os::thread::spawn_detached(256 << 10, move || {
            crate::writer::become_helper(c"Profiler Port");
            let accept = || listener.accept().map(|(stream, _)| stream);
            serve(listener.as_raw_fd(), accept, &stop, command);
        })
        .map_err(wrong)?;
        Ok(Port { number, end })
    }
    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let one = 1u64;
        // SAFETY: a number of this frame, and a descriptor that is open.
        unsafe { libc::write(self.end.as_raw_fd(), (&raw const one).cast(), 8) };
    }
}

/// Serves clients until `stop` is readable. A client that cannot be accepted, for want of a descriptor or of memory, stays at the door: the listener is readable all the
/// time then, and is looked at again when another client has spoken, or after a while.
fn serve(
    listener: RawFd,
    mut accept: impl FnMut() -> io::Result<TcpStream>,
    stop: &OwnedFd,
    mut command: impl FnMut(&str),
) {
    /// Not a descriptor: `poll` passes it by.
    const NONE: RawFd = -1;
    let mut clients: Vec<Client> = Vec::new();
    let mut listens = true;
    loop {
        let (listener, limit) = match listens {
            true => (listener, -1),
            false => (NONE, AGAIN_MS),
        };
        let first = [stop.as_raw_fd(), listener];
        let all = first.into_iter();
        let all = all.chain(clients.iter().map(|c| c.stream.as_raw_fd()));
        let mut polled: Vec<libc::pollfd> = all
            .map(|fd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        // SAFETY: records of this frame.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as u64, limit) };
        if polled[0].revents != 0 {
            return;
        }
        let mut ready = polled[2..].iter().map(|p| p.revents != 0);
        clients.retain_mut(|client| match ready.next() {
            Some(true) => client.read(&mut command),
            _ => true,
        });
        let accepted = accept();
        listens = match &accepted {
            Ok(_) => true,
            Err(e) => !matches!(
                e.raw_os_error(),
                Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
            ),
        };
        if let Ok(stream) = accepted
            && clients.len() < MOST_CLIENTS
            && stream.set_nonblocking(true).is_ok()
        {
            let line = Vec::new();
            clients.push(Client { stream, line });
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::Ipv4Addr;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_client_at_the_door_keeps_nobody_busy_and_is_let_in_later() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        // SAFETY: a new descriptor.
        let stop = unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, libc::EFD_CLOEXEC)) };
        let end = stop.try_clone().unwrap();
        let (sent, received) = mpsc::channel();
        let tries: &'static AtomicU32 = Box::leak(Box::default());
        let is_full: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(1)));
        let thread = std::thread::spawn(move || {
            let accept = || {
                tries.fetch_add(1, Ordering::SeqCst);
                match is_full.load(Ordering::SeqCst) {
                    1 => Err(io::Error::from_raw_os_error(libc::EMFILE)),
                    _ => listener.accept().map(|(stream, _)| stream),
                }
            };
            serve(listener.as_raw_fd(), accept, &stop, |line| {
                let _ = sent.send(line.to_owned());
            });
        });
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"heapshot\n").unwrap();
        while tries.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(200));
        let count = tries.load(Ordering::SeqCst);
        assert!(count < 50, "{count}");
        is_full.store(0, Ordering::SeqCst);
        let line = received.recv_timeout(Duration::from_secs(30));
        assert_eq!(line.unwrap(), "heapshot");
        let one = 1u64;
        // SAFETY: a number, and a descriptor that is open.
        unsafe { libc::write(end.as_raw_fd(), (&raw const one).cast(), 8) };
        thread.join().unwrap();
    }

    #[test]
    fn lines_are_commands_however_they_arrive_and_the_end_closes_the_port() {
        let (sent, received) = mpsc::channel();
        let loopback = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let port = Port::open(loopback, move |line| {
            let _ = sent.send(line.to_owned());
        })
        .unwrap();
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port.number());
        let next = || received.recv_timeout(Duration::from_secs(30)).unwrap();
        let mut first = TcpStream::connect(address).unwrap();
        let mut second = TcpStream::connect(address).unwrap();
        first.write_all(b"heap").unwrap();
        second.write_all(b"one\r\ntwo\n").unwrap();
        assert_eq!((next(), next()), ("one".to_owned(), "two".to_owned()));
        first.write_all(b"shot\n").unwrap();
        assert_eq!(next(), "heapshot");
        // Who sends no end of a line is sent away.
        while second.write_all(&[b'x'; LONGEST]).is_ok() {}
        first.write_all(b"still here\n").unwrap();
        assert_eq!(next(), "still here");
        drop(port);
        while TcpStream::connect(address).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
