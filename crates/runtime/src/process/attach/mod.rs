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

/// How long the program waits for the next question, and for room for an answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of the longest question.
const LONGEST: u64 = 4096;

/// What SIGQUIT asks for: has a thread answer who wants to attach or, if nobody does, write the dump of the stacks.
pub(super) fn start() {
    let started = vervet_os::thread::spawn_detached(dump::STACK, || match asked() {
        Some(stream) => serve(stream),
        None => dump::make(),
    });
    if started.is_err() {
        fatal::write_stderr("vervet: there is no memory for a thread that dumps the stacks\n");
    }
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

/// Answers until the other end closes, asks for nonsense, or says nothing for two minutes.
fn serve(mut stream: UnixStream) {
    let patience = Some(PATIENCE);
    if stream
        .set_read_timeout(patience)
        .and(stream.set_write_timeout(patience))
        .is_err()
    {
        return;
    }
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reading = BufReader::new(reading);
    let mut answers = answers::Answers::default();
    // A question that is too long or no UTF-8 ends the conversation: what follows it could not be told apart from its rest.
    loop {
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
