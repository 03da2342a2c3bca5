//! Attaching: another process of the same user asks a running program what it does (`vervet top`).
//!
//! # How it works
//! Nothing waits for this in a program: no thread, no socket, no file. Who wants to attach listens at a Unix socket whose name has the
//! program's number ([`rendezvous`]), and sends SIGQUIT. The thread that would write the dump of the stacks looks whether somebody listens there. If so, it connects and
//! answers, line by line ([`answers`]), until the other end closes; the dump is left out. This is the way of the JVM's attach mechanism, turned
//! round so that nothing is left behind in the program.
//!
//! ```text
//! vervet top                                      the program
//! listens at vervet-USER/attach-PROCESS
//! sends SIGQUIT                               ->  the handler wakes the reporter, which starts a thread
//! accepts, removes the name                   <-  it finds the name, checks it, connects
//! checks who it is                                checks who it is
//! "look 20 50"                                ->
//!                                             <-  lines of an answer, and one with a full stop
//! closes                                      ->  the thread ends
//! ```
//!
//! # Invariants
//! * The directory belongs to the user and is closed to others; the socket is the user's; the process at its other end has the user's
//!   number (SO_PEERCRED). A process that has other rights than its user connects to nobody.
//! * Answering is done by a thread that is not attached: it holds up no collection.
mod answers;

use crate::process::{dump, fatal};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use vervet_os::rendezvous;
use vervet_profiler::stream::Transport;

/// How long the program waits for the next question, if no recording runs, and for room for an answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of the longest question.
const LONGEST: u64 = 4096;

/// What SIGQUIT asks for: has a thread answer who wants to attach or, if nobody does, write the dump of the stacks.
pub(super) fn start() {
    let started = on_a_thread(|| match asked() {
        Some(stream) => serve(stream, answers::Answers::default(), PATIENCE),
        None => dump::make(),
    });
    if started.is_err() {
        fatal::write_stderr("vervet: there is no memory for a thread that dumps the stacks\n");
    }
}

/// Runs `work` on a thread that is not attached. What it records goes into a stream of the profiler, which is another thread's behind its end.
fn on_a_thread(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    vervet_os::thread::spawn_detached(dump::STACK, || {
        work();
        Transport::leave();
    })
}

/// Connects to who asks for it, if anybody does.
fn asked() -> Option<UnixStream> {
    if !vervet_codecache::trust::is_unprivileged() {
        return None;
    }
    // The usual case, in which nobody asks, ends here: there is no such name.
    let path = rendezvous::socket(std::process::id()).ok()?;
    let found = std::fs::symlink_metadata(&path).ok()?;
    let directory = path.parent()?;
    if !found.file_type().is_socket()
        || found.uid() != rendezvous::user()
        || rendezvous::check(directory).is_err()
    {
        return None;
    }
    let stream = match UnixStream::connect(&path) {
        Ok(stream) => stream,
        Err(_) => {
            // Who asked is gone, and left the name behind.
            let _ = std::fs::remove_file(&path);
            return None;
        }
    };
    // The name was the user's, but who listens behind it may be somebody else: the kernel knows.
    let (_, uid) = rendezvous::peer(&stream).ok()?;
    (uid == rendezvous::user()).then_some(stream)
}

/// Answers until the other end closes, asks for nonsense, or says nothing for as long as `patience`. While a recording runs that it has started it may be silent: its
/// end is seen all the same.
fn serve(mut stream: UnixStream, mut answers: answers::Answers, patience: Duration) {
    if stream.set_write_timeout(Some(patience)).is_err() {
        return;
    }
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reading = BufReader::new(reading);
    // A question that is too long or no UTF-8 ends the conversation: what follows it could not be told apart from its rest.
    loop {
        let limit = (!answers.records()).then_some(patience);
        if stream.set_read_timeout(limit).is_err() {
            return;
        }
        let mut question = String::new();
        match (&mut reading).take(LONGEST).read_line(&mut question) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if !question.ends_with('\n') {
            return;
        }
        // Who attaches waits for the answer, so there is one question at a time, and nothing queues up.
        let mut answer = answers.to(question.trim());
        answer.push_str(".\n");
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    /// What is answered to a question that comes behind a silence which is longer than the program's patience.
    fn behind_a_silence(records: bool) -> std::io::Result<usize> {
        let patience = Duration::from_millis(1);
        let (mut here, there) = UnixStream::pair()?;
        let answers = answers::Answers::recording(records);
        let thread = std::thread::spawn(move || serve(there, answers, patience));
        // Without a recording the program hangs up. With one it is still there behind any silence.
        match records {
            true => std::thread::sleep(50 * patience),
            false => thread.join().expect("it ends"),
        }
        here.write_all(b"nonsense\n")?;
        here.read(&mut [0; 100])
    }

    #[test]
    fn who_records_may_be_silent_for_any_time() {
        assert!(behind_a_silence(true).is_ok_and(|bytes| bytes > 0));
        assert!(!behind_a_silence(false).is_ok_and(|bytes| bytes > 0));
    }

    #[test]
    fn a_stream_of_events_goes_from_one_conversation_to_the_next() {
        let transport = crate::profiler::recording::make_transport().expect("there is memory");
        let record = || {
            let (done, ended) = std::sync::mpsc::channel();
            let work = move || {
                transport.push(vervet_profiler::record::Kind::Sync, 0, 1, [&[], &[]]);
                let _ = done.send(());
            };
            on_a_thread(work).expect("there is a thread");
            ended.recv().expect("it pushes");
        };
        record();
        let before = transport.streams();
        // Each of the threads ends soon, but not before the next begins.
        (0..200).for_each(|_| record());
        let more = transport.streams() - before;
        assert!(more < 100, "{more}");
    }
}
