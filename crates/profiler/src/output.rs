//! Where the bytes of a recording go: a file, a command or a descriptor, compressed if need be.
//!
//! # Invariants
//! * The first error of a write is reported, once; what follows is dropped, and the program goes on. What was written stays readable.
//! * Who waits for the end can tell a slow reader from none: the count of written bytes grows by pieces of [`PIECE`] at most.
use crate::options::Options;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::FromRawFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are written at once: what a pipe has room for.
const PIECE: usize = 64 << 10;

/// See the module.
pub struct Output {
    sink: Option<Sink>,
    command: Option<Child>,
    name: String,
    written: Arc<AtomicU64>,
}

enum Sink {
    Plain(Counted),
    Zipped(GzEncoder<Counted>),
}

/// A file whose written bytes are counted.
struct Counted {
    file: File,
    written: Arc<AtomicU64>,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(&bytes[..bytes.len().min(PIECE)])?;
        self.written.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output {
    /// Opens what the options name. The error is a sentence for the user.
    pub fn open(options: &Options) -> Result<Output, String> {
        let name = expand(&options.output, std::process::id(), seconds());
        let mut command = None;
        let file = match name.as_bytes().first() {
            Some(b'|') => {
                let mut child = Command::new("/bin/sh")
                    .args(["-c", &name[1..]])
                    .stdin(Stdio::piped())
                    .spawn()
                    .map_err(|e| format!("cannot start '{}': {e}", &name[1..]))?;
                let pipe = child.stdin.take().expect("asked for");
                command = Some(child);
                File::from(std::os::fd::OwnedFd::from(pipe))
            }
            Some(b'#') => {
                let fd = name[1..].parse().ok();
                // SAFETY: a query; a number that is no descriptor is an error.
                let fd = fd.filter(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } != -1);
                let fd = fd.ok_or_else(|| format!("'{name}' is not an open file descriptor"))?;
                // SAFETY: the user gave the descriptor to the recording, which alone uses it.
                unsafe { File::from_raw_fd(fd) }
            }
            _ => File::create(&name).map_err(|e| format!("cannot create '{name}': {e}"))?,
        };
        let written = Arc::new(AtomicU64::new(0));
        let file = Counted {
            file,
            written: written.clone(),
        };
        let sink = match options.zip {
            true => Sink::Zipped(GzEncoder::new(file, Compression::fast())),
            false => Sink::Plain(file),
        };
        Ok(Output {
            sink: Some(sink),
            command,
            name,
            written,
        })
    }
    /// The count of bytes that were written.
    pub(crate) fn written(&self) -> Arc<AtomicU64> {
        self.written.clone()
    }
    /// The process of the command, if the output is one.
    pub(crate) fn command(&self) -> Option<u32> {
        self.command.as_ref().map(Child::id)
    }

    /// Writes, and makes sure that a reader of the file could read it so far.
    pub fn write(&mut self, bytes: &[u8]) {
        let result = match &mut self.sink {
            None => return,
            Some(Sink::Plain(file)) => file.write_all(bytes),
            Some(Sink::Zipped(zip)) => zip.write_all(bytes).and_then(|()| zip.flush()),
        };
        self.check(result);
    }
    fn check(&mut self, result: io::Result<()>) {
        if let Err(e) = result {
            eprintln!(
                "vervet: the recording ends here: cannot write to '{}': {e}",
                self.name
            );
            if let Some(Sink::Zipped(mut zip)) = self.sink.take() {
                // So that dropping it does not write once more.
                let _ = zip.try_finish();
            }
        }
    }
    /// Writes the end, and waits for the command.
    pub fn finish(mut self) {
        if let Some(Sink::Zipped(mut zip)) = self.sink.take() {
            let result = zip.try_finish();
            self.check(result);
        }
        self.sink = None;
        if let Some(mut command) = self.command.take() {
            let _ = command.wait();
        }
    }
}

/// Seconds since 1970.
fn seconds() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs() as i64)
}

/// Replaces `%p`, `%t` and `%%`, and a leading `+`, which appends `.PID`.
fn expand(name: &str, pid: u32, seconds: i64) -> String {
    let (name, appends) = match name.strip_prefix('+') {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let mut out = String::new();
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => match chars.next() {
                Some('p') => out.push_str(&pid.to_string()),
                Some('t') => out.push_str(&utc(seconds)),
                Some('%') | None => out.push('%'),
                Some(other) => out.extend(['%', other]),
            },
            c => out.push(c),
        }
    }
    if appends {
        out.push_str(&format!(".{pid}"));
    }
    out
}

/// `YYYYMMDDhhmmss`.
fn utc(seconds: i64) -> String {
    // SAFETY: a record of this frame; the function uses nothing else.
    let t = unsafe {
        let mut t: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&seconds, &mut t);
        t
    };
    format!(
        "{:04}{:02}{:02}{:02}{:02}{:02}",
        t.tm_year + 1900,
        t.tm_mon + 1,
        t.tm_mday,
        t.tm_hour,
        t.tm_min,
        t.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_process_and_the_time_in_them() {
        assert_eq!(
            expand("a-%p-%%-%t-%x", 42, 86_400 + 3661),
            "a-42-%-19700102010101-%x"
        );
        assert_eq!(expand("+x.mlpd", 7, 0), "x.mlpd.7");
        assert_eq!(expand("50%", 7, 0), "50%");
    }

    #[test]
    fn a_full_disk_ends_the_recording_and_nothing_else() {
        let options = Options::parse("log:output=/dev/full").unwrap();
        let mut output = Output::open(&options).unwrap();
        output.write(b"x");
        assert!(output.sink.is_none());
        output.write(b"y");
        output.finish();
    }

    #[test]
    fn what_cannot_be_opened_is_a_sentence() {
        for name in ["/nonexistent/x", "#9999", "#x"] {
            let options = Options::parse(&format!("log:output={name}")).unwrap();
            assert!(Output::open(&options).err().unwrap().contains(name));
        }
    }
}
