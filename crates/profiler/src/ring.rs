//! The ring into which a signal handler puts samples, and from which the writer takes them.
//!
//! # Invariants
//! * One thread puts samples in at a time, and one takes them out. What [`SampleRing::push`] writes is seen by who takes it out, because `head` is
//!   stored after it; a word is written again only when `tail` says that it was read.
//! * [`SampleRing::push`] takes no lock and no memory and waits for nobody. A sample that finds no room is counted and lost.
//! * `head` and `tail` count words and only grow; a sample lies at its words modulo the length, which is a power of two.
use crate::sample::{FrameWord, MOST_FRAMES, Sample};
use crate::sync::{AtomicU64, Ordering};
use std::ops::Deref;

/// Words of a sample besides its frames.
const FIXED: usize = 5;

/// See the module. `W` holds the words.
#[derive(Debug)]
pub struct SampleRing<W> {
    words: W,
    head: AtomicU64,
    tail: AtomicU64,
    lost: AtomicU64,
}

impl<W: Deref<Target = [AtomicU64]>> SampleRing<W> {
    /// An empty one. How many words it has is a power of two.
    pub fn new(words: W) -> SampleRing<W> {
        assert!(
            words.len().is_power_of_two(),
            "the length of a ring is a power of two"
        );
        SampleRing {
            words,
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }
    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[at as usize & (self.words.len() - 1)]
    }
    /// How many words it has.
    pub fn length(&self) -> usize {
        self.words.len()
    }
    /// How many samples found no room.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
    /// A sample is lost for another reason than the room.
    pub fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
    /// Puts a sample in; false: there was no room. Async-signal-safe. Called by one thread at a time, and not by a handler that interrupts it here.
    pub fn push(&self, sample: &Sample<'_>) -> bool {
        let frames = &sample.frames[..sample.frames.len().min(MOST_FRAMES)];
        let need = (FIXED + frames.len()) as u64;
        let head = self.head.load(Ordering::Relaxed);
        let used = head - self.tail.load(Ordering::Acquire);
        if self.words.len() as u64 - used < need {
            self.lose();
            return false;
        }
        let fixed = [
            frames.len() as u64 | (sample.flags as u64) << 32,
            sample.time_ns,
            sample.thread,
            sample.ip,
            sample.weight as u64 | (sample.green as u64) << 32,
        ];
        let words = fixed.into_iter().chain(frames.iter().map(|f| f.0));
        for (at, word) in (head..).zip(words) {
            self.word(at).store(word, Ordering::Relaxed);
        }
        self.head.store(head + need, Ordering::Release);
        true
    }
    /// The time of the oldest sample; None: there is none. For who takes samples out.
    pub fn first_time(&self) -> Option<u64> {
        let tail = self.tail.load(Ordering::Relaxed);
        let is_empty = self.head.load(Ordering::Acquire) == tail;
        (!is_empty).then(|| self.word(tail + 1).load(Ordering::Relaxed))
    }
    /// Takes out the samples up to the time `until`, oldest first. Called by one thread at a time.
    pub fn drain(&self, until: u64, each: &mut dyn FnMut(&Sample<'_>)) {
        let mut frames = [FrameWord(0); MOST_FRAMES];
        let mut tail = self.tail.load(Ordering::Relaxed);
        let head = self.head.load(Ordering::Acquire);
        while tail != head {
            let word = |i: usize| self.word(tail + i as u64).load(Ordering::Relaxed);
            if word(1) > until {
                return;
            }
            let count = (word(0) as u32 as usize).min(MOST_FRAMES);
            for (i, frame) in frames[..count].iter_mut().enumerate() {
                *frame = FrameWord(word(FIXED + i));
            }
            each(&Sample {
                time_ns: word(1),
                thread: word(2),
                ip: word(3),
                weight: word(4) as u32,
                flags: (word(0) >> 32) as u32,
                green: (word(4) >> 32) as u32,
                frames: &frames[..count],
            });
            tail += (FIXED + count) as u64;
            self.tail.store(tail, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::sample::FrameKind;

    fn ring(words: usize) -> SampleRing<Box<[AtomicU64]>> {
        SampleRing::new((0..words).map(|_| AtomicU64::new(0)).collect())
    }
    fn sample(time_ns: u64, frames: &[FrameWord]) -> Sample<'_> {
        Sample {
            time_ns,
            thread: 7,
            ip: 8,
            weight: 9,
            flags: 10,
            green: u32::MAX,
            frames,
        }
    }

    #[test]
    fn what_is_put_in_comes_out_and_what_has_no_room_is_counted() {
        let ring = ring(32);
        let mut next = 1u64;
        let (mut put, mut lost) = (std::collections::VecDeque::new(), 0);
        for round in 0..1000u64 {
            for _ in 0..round % 5 {
                let frames: Vec<_> = (0..next % 9)
                    .map(|i| FrameWord::new((next * 100 + i) as usize, FrameKind::Exact))
                    .collect();
                if ring.push(&sample(next, &frames)) {
                    put.push_back((next, frames));
                } else {
                    lost += 1;
                }
                next += 1;
            }
            // Some stay, because they are too young.
            let until = next.saturating_sub(round % 3);
            assert_eq!(ring.first_time(), put.front().map(|(time, _)| *time));
            ring.drain(until, &mut |s| {
                let (time, frames) = put.pop_front().expect("it was put in");
                assert_eq!(*s, sample(time, &frames));
                assert!(time <= until);
            });
            assert!(put.iter().all(|(time, _)| *time > until));
        }
        assert_eq!(ring.lost(), lost);
        assert!(lost > 0 && next > 1000, "{lost} of {next}");
    }

    #[test]
    fn more_frames_than_a_sample_may_have_are_cut() {
        let ring = ring(512);
        let frames = vec![FrameWord(1); MOST_FRAMES + 1];
        assert!(ring.push(&sample(1, &frames)));
        ring.drain(1, &mut |s| assert_eq!(s.frames.len(), MOST_FRAMES));
    }
}

#[cfg(all(test, feature = "loom"))]
mod models {
    use super::*;
    use loom::sync::Arc;

    /// A producer and a consumer at the same time, on a ring that is too small for all: what comes out is whole and in order.
    #[test]
    fn samples_are_whole_while_both_ends_move() {
        loom::model(|| {
            let words: Box<[AtomicU64]> = (0..8).map(|_| AtomicU64::new(0)).collect();
            let ring = Arc::new(SampleRing::new(words));
            let producer = ring.clone();
            let thread = loom::thread::spawn(move || {
                (1..=3u64)
                    .filter(|&i| {
                        producer.push(&Sample {
                            time_ns: i,
                            thread: i * 10,
                            ip: i * 100,
                            weight: i as u32,
                            flags: i as u32,
                            green: 0,
                            frames: &[FrameWord(i * 1000)],
                        })
                    })
                    .count()
            });
            let (mut last, mut taken) = (0, 0);
            let mut take = |s: &Sample<'_>| {
                let i = s.time_ns;
                assert!(i > last && s.thread == i * 10 && s.ip == i * 100);
                assert!(s.weight == i as u32 && s.frames == [FrameWord(i * 1000)]);
                (last, taken) = (i, taken + 1);
            };
            ring.drain(u64::MAX, &mut take);
            ring.drain(u64::MAX, &mut take);
            let put = thread.join().unwrap();
            ring.drain(u64::MAX, &mut take);
            assert_eq!(taken, put);
            assert_eq!(put as u64 + ring.lost(), 3);
        });
    }
}
