//! Attaching to a running program, from the side that asks: see `vervet_runtime::process::attach`.
//!
//! # Invariants
//! * SIGQUIT is sent only to a process of this user that Vervet runs and that handles it: elsewhere the signal would end the process.
//! * The process that gets the signal is the one that was looked at (a pidfd), and the one that connects is that process.
//! * The name in the file system is gone as soon as the program has connected, or has not for five seconds.
use std::io::{BufRead, BufReader, Error, ErrorKind, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use vervet_os::{dual, rendezvous};

/// How long the program has to connect, in milliseconds, and then for each answer.
const CONNECT_MS: i32 = 5000;
const ANSWER: Duration = Duration::from_secs(60);

/// A program that answers.
pub struct Attached {
    stream: BufReader<UnixStream>,
}

/// A name in the file system that is removed.
struct Name(PathBuf);

impl Drop for Name {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Attached {
    /// Attaches to a process. `Err` is a sentence for the user.
    pub fn to(pid: u32) -> Result<Attached, String> {
        let failed = |what: &str, e: Error| format!("process {pid}: {what}: {e}");
        let process = open(pid).map_err(|e| match e.raw_os_error() {
            Some(libc::ESRCH | libc::EINVAL) => format!("there is no process {pid}"),
            _ => failed("it cannot be looked at", e),
        })?;
        check(pid)?;
        let path =
            rendezvous::socket(pid).map_err(|e| failed("its environment cannot be read", e))?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        rendezvous::make(directory).map_err(|e| e.to_string())?;
        let listener = match UnixListener::bind(&path) {
            Err(e) if e.kind() == ErrorKind::AddrInUse => {
                // Somebody attaches at this moment, or was killed while attaching.
                if UnixStream::connect(&path).is_ok() {
                    return Err(format!(
                        "process {pid}: somebody else attaches at this moment"
                    ));
                }
                let _ = std::fs::remove_file(&path);
                UnixListener::bind(&path)
            }
            other => other,
        };
        let listener = listener.map_err(|e| failed(&path.display().to_string(), e))?;
        let name = Name(path);
        quit(&process).map_err(|e| failed("no signal can be sent", e))?;
        if !is_readable(listener.as_raw_fd(), CONNECT_MS) {
            return Err(format!(
                "process {pid} does not answer: it may be stopped, or have a handler of its own for SIGQUIT"
            ));
        }
        let (stream, _) = listener
            .accept()
            .map_err(|e| failed("it does not connect", e))?;
        drop(name);
        let peer =
            rendezvous::peer(&stream).map_err(|e| failed("it cannot be told who it is", e))?;
        if peer != (pid, rendezvous::user()) {
            return Err(format!(
                "process {pid} does not answer, but process {} of user {}",
                peer.0, peer.1
            ));
        }
        stream
            .set_read_timeout(Some(ANSWER))
            .map_err(|e| failed("no time can be set", e))?;
        Ok(Attached {
            stream: BufReader::new(stream),
        })
    }

    /// The lines of the answer to a question. `Err` is a sentence for the user.
    pub fn ask(&mut self, question: &str) -> Result<Vec<String>, String> {
        let gone = |e: Error| match e.kind() {
            ErrorKind::WouldBlock => "the program does not answer any more".to_owned(),
            _ => "the program has ended".to_owned(),
        };
        self.stream
            .get_mut()
            .write_all(format!("{question}\n").as_bytes())
            .map_err(gone)?;
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).map_err(gone)? == 0 {
                return Err("the program has ended".into());
            }
            let line = line.trim_end_matches('\n');
            if line == "." {
                return Ok(lines);
            }
            if let Some(why) = line.strip_prefix("error\t") {
                return Err(format!("the program answers: {why}"));
            }
            lines.push(line.to_owned());
        }
    }
}

fn open(pid: u32) -> Result<OwnedFd, Error> {
    // SAFETY: a system call with two numbers; what it returns is a new descriptor.
    unsafe {
        match libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) {
            fd if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd as i32)),
            _ => Err(Error::last_os_error()),
        }
    }
}

fn quit(process: &OwnedFd) -> Result<(), Error> {
    let none: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: the descriptor is a process's; without a record the kernel makes one.
    match unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            libc::SIGQUIT,
            none,
            0,
        )
    } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

fn is_readable(fd: i32, milliseconds: i32) -> bool {
    let mut poll = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one record of this frame.
    unsafe { libc::poll(&mut poll, 1, milliseconds) == 1 }
}

/// Is it a program that Vervet runs for this user, and that handles SIGQUIT?
fn check(pid: u32) -> Result<(), String> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let found = std::fs::metadata(&folder).map_err(|_| format!("there is no process {pid}"))?;
    if found.uid() != rendezvous::user() {
        return Err(format!(
            "process {pid} belongs to another user, or has other rights than its user"
        ));
    }
    let read = |name: &str| {
        let text = std::fs::read(folder.join(name));
        text.map(|t| String::from_utf8_lossy(&t).into_owned())
            .map_err(|e| format!("process {pid}: {name}: {e}"))
    };
    let (maps, status) = (read("maps")?, read("status")?);
    let program = std::fs::read_link(folder.join("exe")).unwrap_or_default();
    let name = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mark = format!("/memfd:{}", dual::NAME.to_string_lossy());
    if !maps.contains(&mark) && !name.starts_with("vervet") {
        return Err(format!(
            "process {pid} ({name}) is no program that Vervet runs"
        ));
    }
    let field = |name: &str| {
        status
            .lines()
            .find_map(|l| l.strip_prefix(name))
            .unwrap_or("")
            .trim()
    };
    let handled = u64::from_str_radix(field("SigCgt:"), 16).unwrap_or(0);
    if handled & (1 << (libc::SIGQUIT - 1)) == 0 {
        return Err(format!(
            "process {pid} is not ready yet, or ends: it does not handle SIGQUIT"
        ));
    }
    let inner = field("NSpid:").split_whitespace().last();
    if inner.is_some_and(|inner| inner != pid.to_string()) {
        return Err(format!(
            "process {pid} is in a container: attach from within"
        ));
    }
    Ok(())
}
