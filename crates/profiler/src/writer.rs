//! The thread that writes: it takes records and samples, and writes whole buffers.
//!
//! ```text
//!   every tick     (10 ms, or 50 ms while little happens)
//!                  records and samples up to LAG ago  ──> open buffers
//!   every second   counters; all buffers, a sync point ──> the file
//!   at the end     everything; the end of each thread  ──> the file, then whoever waits goes on
//! ```
//!
//! # Invariants
//! * It is a thread of the system's that is never attached: a stop of the world does not wait for it, and no sample hits it.
//! * Nobody else touches the output. So the file ends with a whole buffer whenever the process dies between two writes.
//! * A sync point promises that what stands before it is older: the writer looks back by [`LAG`], so that a thread that was interrupted between
//!   reading the clock and publishing its record has had its time.
use crate::encode::Header;
use crate::encoder::Encoder;
use crate::host::Host;
use crate::options::Options;
use crate::output::Output;
use crate::port::Port;
use crate::sample::{FrameWord, Sample, SampleSource};
use crate::stream::Transport;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use vervet_os::{clock, futex};

/// How far back the writer looks, in nanoseconds.
const LAG: u64 = 10_000_000;
/// How long the writer sleeps between two looks, in milliseconds: while much happens, and while little does. Rings of samples have room for a quarter of a second, and who
/// fills the transport rings.
const TICK: u64 = 10;
const LONG_TICK: u64 = 50;
/// Records and samples in a millisecond that are much.
const BUSY: u64 = 8;
const SECOND: u64 = 1_000_000_000;
/// Bytes that are written before the second is over.
const MUCH: usize = 1 << 20;

const RUNNING: u32 = 0;
const STOPPING: u32 = 1;
const STOPPED: u32 = 2;

/// A recording: under way, or one that ends.
#[derive(Clone)]
pub struct Recording {
    transport: &'static Transport,
    state: Arc<AtomicU32>,
    /// The kernel's number of the writer; 0: it has not begun.
    writer: Arc<AtomicI32>,
    /// Bytes that were written.
    written: Arc<AtomicU64>,
    /// The process that reads them, if the output is a command.
    command: Option<u32>,
}

impl Recording {
    /// Opens the output, and the port for commands if there is to be one, and starts the thread. What was recorded before is forgotten. `at_end` is called by the
    /// thread when it does not touch transport, samples and output any more; until then nobody else may take from them. The error is a sentence for the user, and there
    /// is no thread then.
    pub fn start(
        options: &Options,
        transport: &'static Transport,
        samples: Option<&'static dyn SampleSource>,
        host: impl Host + 'static,
        command: impl FnMut(&str) + Send + 'static,
        at_end: impl FnOnce() + Send + 'static,
    ) -> Result<Recording, String> {
        let output = Output::open(options)?;
        let port = options.port.map(|address| Port::open(address, command));
        let port = port.transpose()?;
        transport.drain(u64::MAX, |_| {});
        let state = Arc::new(AtomicU32::new(RUNNING));
        let recording = Recording {
            transport,
            state: state.clone(),
            writer: Arc::default(),
            written: output.written(),
            command: output.command(),
        };
        let mut writer = Writer {
            encoder: Encoder::new(host),
            output,
            transport,
            samples,
            state,
            lost: transport.lost(),
            lost_samples: samples.map_or(0, SampleSource::lost),
        };
        let (ended, id) = (recording.state.clone(), recording.writer.clone());
        let header = header(options, port.as_ref().map_or(0, Port::number));
        vervet_os::thread::spawn_detached(1 << 20, move || {
            become_helper(c"Profiler Writer");
            id.store(vervet_os::signal::thread_id(), Ordering::Release);
            writer.output.write(&header);
            writer.run();
            drop(port);
            at_end();
            ended.store(STOPPED, Ordering::Release);
            futex::wake(&ended, i32::MAX);
        })
        .map_err(|e| format!("cannot start the profiler's thread: {e}"))?;
        Ok(recording)
    }

    /// Has the rest written, and waits for that as long as the writer writes something within `limit`, or the command lives that reads it. False: it does not; then the writer
    /// goes on all the same, and another call waits again. The calling thread is in Native state, if it is attached.
    pub fn stop(&self, limit: Duration) -> bool {
        let (from, to) = (Ordering::AcqRel, Ordering::Acquire);
        let _ = self.state.compare_exchange(RUNNING, STOPPING, from, to);
        self.transport.ring();
        // The writer itself ends the process: it waits for nobody.
        if self.writer.load(Ordering::Acquire) == vervet_os::signal::thread_id() {
            return false;
        }
        loop {
            // A command that ends meanwhile leaves the writer this time to come to its own end.
            let lived = self.command.is_some_and(lives);
            let seen = self.written.load(Ordering::Relaxed);
            if self.ends_within(limit) {
                return true;
            }
            if self.written.load(Ordering::Relaxed) == seen && !lived {
                return false;
            }
        }
    }
    fn ends_within(&self, limit: Duration) -> bool {
        let end = clock::now() + limit.as_nanos() as u64;
        while self.state.load(Ordering::Acquire) != STOPPED {
            let Some(left) = end.checked_sub(clock::now()) else {
                return false;
            };
            futex::wait(&self.state, STOPPING, Some(Duration::from_nanos(left)));
        }
        true
    }
}

/// Does a process run that this one has started? (It is not taken note of: the writer does so.)
fn lives(process: u32) -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: a record of this frame, in which the kernel leaves 0 as the process if it runs.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_PID, process, &mut info, flags) == 0 && info.si_pid() == 0
    }
}

/// A sample that waits for the records of its time.
struct Kept {
    time_ns: u64,
    thread: u64,
    ip: u64,
    weight: u32,
    flags: u32,
    green: u32,
    frames: Box<[FrameWord]>,
}

impl Kept {
    fn of(sample: &Sample<'_>) -> Kept {
        let Sample {
            time_ns,
            thread,
            ip,
            weight,
            flags,
            green,
            frames,
        } = *sample;
        let frames = frames.into();
        Kept {
            time_ns,
            thread,
            ip,
            weight,
            flags,
            green,
            frames,
        }
    }
    fn with(&self, work: impl FnOnce(&Sample<'_>)) {
        let Kept {
            time_ns,
            thread,
            ip,
            weight,
            flags,
            green,
            ..
        } = *self;
        let frames = &self.frames[..];
        work(&Sample {
            time_ns,
            thread,
            ip,
            weight,
            flags,
            green,
            frames,
        });
    }
}

struct Writer<H> {
    encoder: Encoder<H>,
    output: Output,
    transport: &'static Transport,
    samples: Option<&'static dyn SampleSource>,
    state: Arc<AtomicU32>,
    /// What had been lost when the recording began.
    lost: u64,
    lost_samples: u64,
}

impl<H: Host> Writer<H> {
    fn run(mut self) {
        let mut due = clock::now() + SECOND;
        let mut tick = TICK;
        self.encoder.begin(clock::now());
        loop {
            let rung = self.transport.rung();
            let is_last = self.state.load(Ordering::Acquire) == STOPPING;
            let now = clock::now();
            let until = if is_last {
                u64::MAX
            } else {
                now.saturating_sub(LAG)
            };
            let taken = self.take(until);
            if is_last || now >= due {
                due = now + SECOND;
                if self.encoder.has_counters() {
                    self.encoder.counters(until.min(now));
                }
                if is_last {
                    self.encoder.end(now);
                }
                self.encoder.sync(0, until.min(now));
                self.output.write(&self.encoder.take());
            }
            if is_last {
                break;
            }
            tick = next_tick(taken, tick);
            self.transport.listen(rung, Duration::from_millis(tick));
        }
        self.finish();
    }
    /// Takes records and samples up to the time `until`, in the order of time together: a record may be a sync point, behind which no older
    /// sample may stand. How many they are.
    fn take(&mut self, until: u64) -> u64 {
        let mut samples = Vec::new();
        if let Some(source) = self.samples {
            source.drain(until, &mut |sample| samples.push(Kept::of(sample)));
            // Of one thread they are in order already.
            samples.sort_by_key(|kept| kept.time_ns);
        }
        let mut taken = samples.len() as u64;
        let mut samples = samples.into_iter().peekable();
        self.transport.drain(until, |record| {
            taken += 1;
            while let Some(kept) = samples.next_if(|kept| kept.time_ns <= record.time_ns()) {
                kept.with(|sample| self.encoder.sample(sample));
            }
            self.encoder.record(record);
            if self.encoder.waiting() >= MUCH {
                self.output.write(&self.encoder.take());
            }
        });
        for kept in samples {
            kept.with(|sample| self.encoder.sample(sample));
            // A long wait is many hits.
            if self.encoder.waiting() >= MUCH {
                self.output.write(&self.encoder.take());
            }
        }
        taken
    }
    fn finish(self) {
        self.output.finish();
        let lost = self.transport.lost() - self.lost;
        if lost != 0 {
            eprintln!("vervet: the recording lacks {lost} events, for which there was no memory");
        }
        let lost_samples = self.samples.map_or(0, SampleSource::lost) - self.lost_samples;
        if lost_samples != 0 {
            eprintln!(
                "vervet: the recording lacks {lost_samples} samples, which came faster than they were written"
            );
        }
    }
}

/// How long to sleep behind a tick of that length in which so much was taken.
fn next_tick(taken: u64, tick: u64) -> u64 {
    match taken > BUSY * tick {
        true => TICK,
        false => LONG_TICK,
    }
}

fn header(options: &Options, port: u16) -> Vec<u8> {
    let before = clock::now();
    for _ in 0..256 {
        clock::now();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Header {
        start_ms: now.map_or(0, |d| d.as_secs() * 1000),
        start_ns: clock::now(),
        timer_ns: ((clock::now() - before) / 257) as u32,
        pid: std::process::id(),
        port,
        arguments: &options.text,
    }
    .bytes()
}

/// The calling thread is one of the profiler's: signals are for the program's threads.
pub(crate) fn become_helper(name: &std::ffi::CStr) {
    // SAFETY: changes the calling thread's mask and name only.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::tests::Names;
    use crate::record::Kind;
    use crate::sample::FrameKind;
    use vervet_os::LeafLock;

    /// Gives a sample of that time, once.
    struct One(LeafLock<Option<u64>>);
    impl SampleSource for One {
        fn drain(&self, until: u64, each: &mut dyn FnMut(&Sample<'_>)) {
            let time_ns = self.0.lock().take_if(|time| *time <= until);
            let frames = [FrameWord::new(4, FrameKind::Exact)];
            if let Some(time_ns) = time_ns {
                each(&Sample {
                    time_ns,
                    thread: 9,
                    ip: 4,
                    weight: 1,
                    flags: 0,
                    green: 0,
                    frames: &frames,
                });
            }
        }
        fn lost(&self) -> u64 {
            0
        }
    }

    /// The payloads of the buffers of a file.
    fn buffers(file: &[u8]) -> Vec<&[u8]> {
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let mut at = 38;
        for _ in 0..3 {
            at += 4 + number(at);
        }
        let mut all = Vec::new();
        while at < file.len() {
            let length = number(at + 4);
            all.push(&file[at + 48..at + 48 + length]);
            at += 48 + length;
        }
        all
    }

    #[test]
    fn the_writer_looks_more_often_while_much_happens() {
        assert_eq!(next_tick(0, TICK), LONG_TICK);
        // Four threads at a thousand samples a second.
        assert_eq!(next_tick(4 * LONG_TICK, LONG_TICK), LONG_TICK);
        // One thread that allocates.
        assert_eq!(next_tick(1000 * LONG_TICK, LONG_TICK), TICK);
        assert_eq!(next_tick(1000 * TICK, TICK), TICK);
    }

    #[test]
    fn no_sample_stands_behind_a_sync_point_that_is_younger() {
        let path = std::env::temp_dir().join(format!("vervet-writer-{}.mlpd", std::process::id()));
        let options = Options::parse(&format!("log:nodefaults,output={}", path.display())).unwrap();
        let transport: &'static Transport = Box::leak(Box::new(Transport::reserve().unwrap()));
        let source: &'static One = Box::leak(Box::new(One(LeafLock::new(None))));
        let recording =
            Recording::start(&options, transport, Some(source), Names, |_| {}, || {}).unwrap();
        let work = move || {
            *source.0.lock() = Some(clock::now());
            transport.push(Kind::Sync, 1, 9, [&[], &[]]);
        };
        std::thread::spawn(work).join().unwrap();
        assert!(recording.stop(Duration::from_secs(60)));
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let buffers = buffers(&file);
        let place = |is: &dyn Fn(&[u8]) -> bool| buffers.iter().position(|b| is(b)).unwrap();
        let sample = place(&|b| b.windows(4).any(|w| w == b"N:M4"));
        let sync = place(&|b| b[0] == 0x0A && b.last() == Some(&1));
        assert!(sample < sync, "{sample} {sync}");
    }

    fn transport() -> &'static Transport {
        Box::leak(Box::new(Transport::reserve().unwrap()))
    }

    #[test]
    fn a_command_has_the_time_that_it_takes() {
        let path = std::env::temp_dir().join(format!("vervet-slow-{}.mlpd", std::process::id()));
        let text = format!("log:nodefaults,output='|sleep 3; cat > {}'", path.display());
        let options = Options::parse(&text).unwrap();
        let recording =
            Recording::start(&options, transport(), None, Names, |_| {}, || {}).unwrap();
        assert!(recording.stop(Duration::from_millis(1000)));
        assert!(std::fs::read(&path).is_ok_and(|file| buffers(&file).len() > 1));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_writer_that_nobody_reads_is_left_alone_and_ends_when_somebody_does() {
        use std::io::Read;
        use std::os::fd::IntoRawFd;
        use std::sync::atomic::AtomicBool;
        static HAS_ENDED: AtomicBool = AtomicBool::new(false);
        let (mut reader, writer) = std::io::pipe().unwrap();
        let text = format!("log:nodefaults,output=#{}", writer.into_raw_fd());
        let options = Options::parse(&text).unwrap();
        let transport = transport();
        let at_end = || HAS_ENDED.store(true, Ordering::SeqCst);
        let recording = Recording::start(&options, transport, None, Names, |_| {}, at_end).unwrap();
        // More than a pipe has room for.
        let text = crate::record::text_words(&"x".repeat(1000));
        let work = move || {
            for _ in 0..1000 {
                transport.push(Kind::Stub, 0, 9, [&[1, 1], &text]);
            }
        };
        std::thread::spawn(work).join().unwrap();
        assert!(!recording.stop(Duration::from_millis(500)));
        assert!(!HAS_ENDED.load(Ordering::SeqCst));
        let read = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            all.len()
        });
        assert!(recording.stop(Duration::from_secs(60)));
        assert!(HAS_ENDED.load(Ordering::SeqCst));
        assert!(read.join().unwrap() > 1_000_000);
    }
}
