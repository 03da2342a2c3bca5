//! Streams of events: from the threads that record to the thread that writes.
//!
//! ```text
//!   thread A ── stream ── chunk ─> chunk ─> chunk      appended to at the end by the thread
//!   thread B ── stream ── chunk                        read and given back from the front by the writer
//!                              \── free chunks ──/     a stack of indices, with a tag against reuse
//! ```
//! [`crate::chunks`] has the chunks and how two threads share a stream of them.
//! A record is [`HEAD`] words (what it is and how long, when, whose) and a payload that its kind describes.
//!
//! # Invariants
//! * One thread owns a stream and appends to it, and the writer reads it.
//! * Nothing here takes a lock or memory of the C library's: events are recorded while the world is stopped. Memory comes from the range.
//! * Records are not dropped before the whole range is used: who may wait, waits for room before it records ([`Transport::is_crowded`]).
//!   What did not find room is counted.
//! * A thread that has ended leaves its stream to the next one; what it had recorded stays in order.
use crate::chunks::{Chunks, FIRST, Queue};
use crate::record::{HEAD, Kind, Record};
use std::cell::Cell;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use vervet_os::{clock, futex, memory};

/// Words of a chunk: 16 KiB.
const CHUNK: usize = 2048;
/// The most words of a payload.
pub const MOST_PAYLOAD: usize = CHUNK - FIRST - HEAD;
/// More chunks than this, besides one for each stream, and who may wait waits: 64 MiB.
const CROWDED: u32 = 4096;
/// Chunks that the writer is woken at.
const RING: u32 = 256;
const MOST_CHUNKS: u32 = 1 << 16;
const MOST_STREAMS: u32 = 1 << 14;

/// A stream, and whether a thread owns it.
#[repr(align(64))]
struct Stream {
    owned: AtomicBool,
    queue: Queue,
}

/// The reserved range that chunks lie in.
struct Range(*const AtomicU64);

impl Deref for Range {
    type Target = [AtomicU64];
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the range has as many words, was zero at first and is never unmapped.
        unsafe { std::slice::from_raw_parts(self.0, MOST_CHUNKS as usize * CHUNK) }
    }
}

/// See the module.
pub struct Transport {
    chunks: Chunks<Range, CHUNK>,
    streams: *const Stream,
    streams_made: AtomicU32,
    lost: AtomicU64,
    /// How many chunks had been given back when a thread that has stopped the world waited for nothing; there is nothing to wait for until it changes.
    in_vain: AtomicU64,
    /// The writer sleeps on it.
    bell: AtomicU32,
}

// SAFETY: the pointers are to mappings that are never unmapped, and are used as the module says.
unsafe impl Send for Transport {}
// SAFETY: as above: what two threads use at the same time is atomic.
unsafe impl Sync for Transport {}

thread_local! {
    /// The stream of this OS thread; null: it has recorded nothing.
    static CURRENT: Cell<*const Stream> = const { Cell::new(std::ptr::null()) };
}

/// Not inlined: a function of a green thread that it were inlined into could keep the word's address across a park.
#[inline(never)]
fn current() -> *const Stream {
    CURRENT.get()
}
#[inline(never)]
fn set_current(stream: *const Stream) {
    CURRENT.set(stream);
}

impl Transport {
    /// Reserves the range. There is one transport in a process: the word by which a thread finds its stream is one.
    pub fn reserve() -> io::Result<Transport> {
        Ok(Transport {
            chunks: Chunks::new(Range(
                memory::reserve(MOST_CHUNKS as usize * CHUNK * 8)?.cast(),
            )),
            streams: memory::reserve(MOST_STREAMS as usize * size_of::<Stream>())?.cast(),
            streams_made: AtomicU32::new(0),
            lost: AtomicU64::new(0),
            in_vain: AtomicU64::new(u64::MAX),
            bell: AtomicU32::new(0),
        })
    }

    fn stream(&self, index: u32) -> &Stream {
        debug_assert!(index < MOST_STREAMS);
        // SAFETY: the stream lies in a range that is mapped for ever; a stream of zeros is one that nobody owns and that has no chunk.
        unsafe { &*self.streams.add(index as usize) }
    }

    /// The calling thread's stream; None: there are too many.
    fn own(&self) -> Option<&Stream> {
        let own = current();
        if !own.is_null() {
            // SAFETY: streams are never unmapped, and the calling thread owns this one.
            return Some(unsafe { &*own });
        }
        let take = |stream: &Stream| {
            let (from, to) = (Ordering::Acquire, Ordering::Relaxed);
            stream.owned.compare_exchange(false, true, from, to).is_ok()
        };
        let stream = loop {
            let made = self.streams_made.load(Ordering::Acquire);
            if let Some(left) = (0..made).map(|n| self.stream(n)).find(|s| take(s)) {
                break left;
            }
            if made == MOST_STREAMS {
                return None;
            }
            // One more, for whoever takes it first.
            let (to, from) = (Ordering::AcqRel, Ordering::Relaxed);
            let _ = self.streams_made.compare_exchange(made, made + 1, to, from);
        };
        set_current(stream);
        Some(stream)
    }

    /// The calling thread records nothing more: its stream goes to another.
    pub fn leave() {
        let own = current();
        if !own.is_null() {
            set_current(std::ptr::null());
            // SAFETY: streams are never unmapped.
            unsafe { (*own).owned.store(false, Ordering::Release) };
        }
    }

    /// Appends a record to the calling thread's stream; `thread` is the file's name of the thread that it belongs to. False: there was no room.
    pub fn push(&self, kind: Kind, extra: u32, thread: u64, payload: [&[u64]; 2]) -> bool {
        let done = self.try_push(kind, extra, thread, payload).is_some();
        if !done {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        done
    }
    fn try_push(&self, kind: Kind, extra: u32, thread: u64, payload: [&[u64]; 2]) -> Option<()> {
        let stream = self.own()?;
        let words = HEAD + payload[0].len() + payload[1].len();
        let head = [Record::head(kind, extra, words), clock::now(), thread];
        let all = head.iter().chain(payload[0]).chain(payload[1]);
        let taken = stream.queue.append(&self.chunks, words, all.copied())?;
        if taken.is_some_and(|used| used.is_multiple_of(RING)) {
            self.ring();
        }
        Some(())
    }

    /// Has the writer so much to do that who may wait, should?
    pub fn is_crowded(&self) -> bool {
        self.chunks.used() > CROWDED + self.streams_made.load(Ordering::Relaxed)
    }
    /// Waits until the writer has made room. The calling thread is in Native state, if it is attached.
    pub fn wait_for_room(&self, is_off: impl Fn() -> bool) {
        while self.is_crowded() && !is_off() {
            self.ring();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    /// As [`Transport::wait_for_room`], for a thread that has stopped the world: the writer may wait for a thread that is stopped, so the wait ends when the
    /// writer has made no room for `patience`.
    pub fn wait_while_room_is_made(&self, patience: Duration) {
        let (mut seen, mut since) = (self.chunks.given(), clock::now());
        if self.in_vain.load(Ordering::Relaxed) == seen {
            return;
        }
        while self.is_crowded() {
            self.ring();
            std::thread::sleep(Duration::from_millis(1));
            match self.chunks.given() {
                now if now != seen => (seen, since) = (now, clock::now()),
                _ if clock::now() - since > patience.as_nanos() as u64 => {
                    return self.in_vain.store(seen, Ordering::Relaxed);
                }
                _ => {}
            }
        }
    }
    /// Wakes the writer.
    pub fn ring(&self) {
        self.bell.fetch_add(1, Ordering::SeqCst);
        futex::wake(&self.bell, 1);
    }
    /// For the writer: sleeps until somebody rings, no longer than that.
    pub(crate) fn listen(&self, seen: u32, limit: Duration) {
        futex::wait(&self.bell, seen, Some(limit));
    }
    /// How often it has been rung.
    pub(crate) fn rung(&self) -> u32 {
        self.bell.load(Ordering::SeqCst)
    }
    /// How many streams were made so far: as many as threads recorded at the same time.
    pub fn streams(&self) -> u32 {
        self.streams_made.load(Ordering::Relaxed)
    }
    /// Records that did not find room so far.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// For the writer: calls `each` with every record up to the time `until`, in the order of time as far as the streams have it, and gives their
    /// chunks back.
    pub fn drain(&self, until: u64, mut each: impl FnMut(Record<'_>)) {
        let made = self.streams_made.load(Ordering::Acquire);
        let mut heads: std::collections::BinaryHeap<_> = (0..made)
            .filter_map(|n| Some(std::cmp::Reverse((self.peek(n)?.time_ns(), n))))
            .filter(|h| h.0.0 <= until)
            .collect();
        while let Some(std::cmp::Reverse((_, n))) = heads.pop() {
            let others = heads.peek().map_or(u64::MAX, |h| h.0.0).min(until);
            while let Some(record) = self.peek(n) {
                let time = record.time_ns();
                if time > others {
                    if time <= until {
                        heads.push(std::cmp::Reverse((time, n)));
                    }
                    break;
                }
                let words = record.words();
                each(record);
                self.stream(n).queue.advance(words);
            }
        }
    }
    /// The first record of a stream that has not been read. Gives back chunks that have been.
    fn peek(&self, stream: u32) -> Option<Record<'_>> {
        let words = self.stream(stream).queue.peek(&self.chunks)?;
        // SAFETY: published words do not change until this thread gives the chunk back, which it does not while the record lives:
        // it does so in this function only.
        let words =
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u64>(), words.len()) };
        Some(Record::read(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: a thread's stream is one for the process.
    #[test]
    fn records_of_all_threads_arrive_in_the_order_of_time_and_of_each_thread() {
        const EACH: u64 = if cfg!(miri) { 300 } else { 20_000 };
        let transport: &'static Transport = Box::leak(Box::new(Transport::reserve().unwrap()));
        let (mut seen, mut last) = ([0; 4], 0);
        let mut drain = |until| {
            transport.drain(until, |r| {
                let thread = r.thread() as usize;
                assert_eq!(r.payload()[0], seen[thread], "in the order of the thread");
                assert_eq!(r.payload().len() as u64, 1 + r.payload()[0] % 40);
                assert!(r.payload()[1..].iter().all(|w| *w == !r.payload()[0]));
                assert_eq!((r.kind(), r.extra()), (Kind::Moves, 7));
                seen[thread] += 1;
                if until == u64::MAX {
                    assert!(last <= r.time_ns(), "in the order of time");
                    last = r.time_ns();
                }
            });
            seen
        };
        let work = |thread: u64| {
            for n in 0..EACH {
                let rest = vec![!n; n as usize % 40];
                assert!(transport.push(Kind::Moves, 7, thread, [&[n], &rest]));
            }
            Transport::leave();
        };
        let threads = [0, 1].map(|t| std::thread::spawn(move || work(t)));
        while threads.iter().any(|t| !t.is_finished()) {
            drain(clock::now().saturating_sub(1_000_000));
        }
        for thread in threads {
            thread.join().unwrap();
        }
        // Streams that were left are used again.
        std::thread::spawn(move || work(2)).join().unwrap();
        std::thread::spawn(move || work(3)).join().unwrap();
        let streams = transport.streams_made.load(Ordering::Relaxed);
        assert!(streams <= 2);
        assert_eq!(drain(u64::MAX), [EACH; 4]);
        // All chunks but those that streams end in came back.
        assert_eq!(transport.chunks.used(), streams);
        assert_eq!(transport.lost(), 0);
    }

    #[test]
    fn a_crowd_is_seen_and_ends_when_the_writer_reads() {
        let transport: &'static Transport = Box::leak(Box::new(Transport::reserve().unwrap()));
        let payload = [0; MOST_PAYLOAD];
        while !transport.is_crowded() {
            assert!(transport.push(Kind::Moves, 0, 0, [&payload, &[]]));
        }
        // Who has stopped the world goes on all the same.
        transport.wait_while_room_is_made(Duration::from_millis(20));
        assert!(transport.is_crowded());
        // Nothing drains until the crowd is there: a producer beside a drain as fast as itself might never see one.
        let thread = std::thread::spawn(|| transport.wait_for_room(|| false));
        while !thread.is_finished() {
            transport.drain(u64::MAX, |_| {});
        }
        thread.join().unwrap();
        assert!(!transport.is_crowded());
    }
}
