//! Chunks of words, and a queue of words in a list of chunks that one thread appends to while another reads.
//!
//! A chunk is `LENGTH` words of a range: a link to the next chunk, how many of its words are published, then what was appended. Free chunks are
//! a stack of indices, with a tag against reuse.
//!
//! # Invariants
//! * A chunk is free, or in one queue. The tag changes with every change of the stack, so an exchange fails whose `next` was read from a chunk
//!   that has been taken meanwhile.
//! * Words are complete before the count of published words covers them (release). The link to the next chunk is stored behind the last words of
//!   a chunk: a reader that sees a link sees the final count.
//! * The reader gives a chunk back after it has read all of it and has found its link: the appending thread is in a later chunk by then.
//! * Nothing here takes a lock or memory.
//!
//! `cargo test -p vervet-profiler --features loom --lib` runs the models.
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::ops::Deref;

/// Words of a chunk before what is appended: the link, and the count of published words.
pub(crate) const FIRST: usize = 2;

/// See the module. `W` holds the words; those of chunks that were never taken are not touched.
pub(crate) struct Chunks<W, const LENGTH: usize> {
    words: W,
    /// Chunks that were ever taken have indices below it.
    made: AtomicU32,
    /// The stack of free chunks: index + 1 in the low half, the tag in the high one.
    free: AtomicU64,
    used: AtomicU32,
    /// How many chunks were given back so far.
    given: AtomicU64,
}

impl<W: Deref<Target = [AtomicU64]>, const LENGTH: usize> Chunks<W, LENGTH> {
    pub(crate) fn new(words: W) -> Self {
        Chunks {
            words,
            made: AtomicU32::new(0),
            free: AtomicU64::new(0),
            used: AtomicU32::new(0),
            given: AtomicU64::new(0),
        }
    }
    fn most(&self) -> u32 {
        (self.words.len() / LENGTH) as u32
    }
    fn word(&self, chunk: u32, at: usize) -> &AtomicU64 {
        debug_assert!(at < LENGTH);
        &self.words[chunk as usize * LENGTH + at]
    }
    /// How many chunks are in queues.
    pub(crate) fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }
    /// How many chunks were given back so far.
    pub(crate) fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// An empty chunk, and how many are used with it; None: the range is used up.
    fn take(&self) -> Option<(u32, u32)> {
        let mut top = self.free.load(Ordering::Acquire);
        let chunk = loop {
            let Some(index) = (top as u32).checked_sub(1) else {
                let made = self
                    .made
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                        (n < self.most()).then_some(n + 1)
                    });
                break made.ok()?;
            };
            // Whoever has taken the chunk meanwhile may have written the word: the tag has changed then.
            let next = self.word(index, 0).load(Ordering::Relaxed);
            let new = ((top >> 32) + 1) << 32 | next & 0xFFFF_FFFF;
            match self
                .free
                .compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break index,
                Err(now) => top = now,
            }
        };
        self.word(chunk, 0).store(0, Ordering::Relaxed);
        self.word(chunk, 1).store(FIRST as u64, Ordering::Relaxed);
        Some((chunk, self.used.fetch_add(1, Ordering::Relaxed) + 1))
    }
    fn give(&self, chunk: u32) {
        let mut top = self.free.load(Ordering::Relaxed);
        loop {
            self.word(chunk, 0)
                .store(top & 0xFFFF_FFFF, Ordering::Relaxed);
            let new = ((top >> 32) + 1) << 32 | u64::from(chunk + 1);
            match self
                .free
                .compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => top = now,
            }
        }
        self.used.fetch_sub(1, Ordering::Relaxed);
        self.given.fetch_add(1, Ordering::Relaxed);
    }
}

/// A list of chunks. Words that one side uses alone are atomic because the other side has a reference to the queue.
#[derive(Default)]
pub(crate) struct Queue {
    /// The reader's: the chunk that it reads (index + 1; 0: the queue has none yet), and how far it has come.
    first: AtomicU32,
    read: AtomicU32,
    /// The appending thread's: the chunk that it appends to (index + 1), and how many words that has.
    last: AtomicU32,
    length: AtomicU32,
}

impl Queue {
    /// Appends `count` words, which one chunk has room for, and publishes them together. Gives how many chunks are used if it took one; None: there was no
    /// room. Called by one thread at a time.
    pub(crate) fn append<W: Deref<Target = [AtomicU64]>, const LENGTH: usize>(
        &self,
        chunks: &Chunks<W, LENGTH>,
        count: usize,
        words: impl Iterator<Item = u64>,
    ) -> Option<Option<u32>> {
        assert!(count <= LENGTH - FIRST, "a chunk has room for the words");
        let mut length = self.length.load(Ordering::Relaxed) as usize;
        let mut last = self.last.load(Ordering::Relaxed);
        let mut taken = None;
        if last == 0 || length + count > LENGTH {
            let (fresh, used) = chunks.take()?;
            match last {
                0 => self.first.store(fresh + 1, Ordering::Release),
                last => chunks
                    .word(last - 1, 0)
                    .store(u64::from(fresh + 1), Ordering::Release),
            }
            (last, length, taken) = (fresh + 1, FIRST, Some(used));
            self.last.store(last, Ordering::Relaxed);
        }
        for (at, word) in (length..).zip(words) {
            chunks.word(last - 1, at).store(word, Ordering::Relaxed);
        }
        length += count;
        self.length.store(length as u32, Ordering::Relaxed);
        chunks
            .word(last - 1, 1)
            .store(length as u64, Ordering::Release);
        Some(taken)
    }

    /// The published words of the first chunk that has some which were not read; None: all were read. Gives back the chunks in front of it. Called by
    /// one thread at a time.
    pub(crate) fn peek<'c, W: Deref<Target = [AtomicU64]>, const LENGTH: usize>(
        &self,
        chunks: &'c Chunks<W, LENGTH>,
    ) -> Option<&'c [AtomicU64]> {
        let mut first = self.first.load(Ordering::Acquire).checked_sub(1)?;
        let mut read = (self.read.load(Ordering::Relaxed) as usize).max(FIRST);
        loop {
            // The link first: if there is one, the count does not change any more.
            let next = chunks.word(first, 0).load(Ordering::Acquire);
            let published = chunks.word(first, 1).load(Ordering::Acquire) as usize;
            if read < published {
                self.read.store(read as u32, Ordering::Relaxed);
                let start = first as usize * LENGTH;
                return Some(&chunks.words[start + read..start + published]);
            }
            let next = (next as u32).checked_sub(1)?;
            chunks.give(first);
            (first, read) = (next, FIRST);
            self.first.store(first + 1, Ordering::Relaxed);
            self.read.store(FIRST as u32, Ordering::Relaxed);
        }
    }
    /// The reader has read so many more words of what [`Queue::peek`] gave.
    pub(crate) fn advance(&self, words: usize) {
        self.read.fetch_add(words as u32, Ordering::Relaxed);
    }
}

#[cfg(all(test, feature = "loom"))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// Room for `words` in each of `chunks`.
    type Small = Chunks<Box<[AtomicU64]>, 4>;
    fn small(chunks: usize) -> Arc<Small> {
        let words: Box<[AtomicU64]> = (0..chunks * 4).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Chunks::new(words))
    }
    /// Reads what there is, two words at a time.
    fn read(queue: &Queue, chunks: &Small, got: &mut Vec<u64>) {
        while let Some(words) = queue.peek(chunks) {
            assert!(
                words.len() == 2,
                "what is appended together arrives together"
            );
            let word = |i: usize| words[i].load(Ordering::Relaxed);
            assert_eq!(word(1), !word(0), "whole");
            got.push(word(0));
            queue.advance(2);
        }
    }
    fn append(queue: &Queue, chunks: &Small, word: u64) -> bool {
        let words = [word, !word].into_iter();
        queue.append(chunks, 2, words).is_some()
    }

    /// A thread appends while another reads and gives chunks back, which the first takes again.
    #[test]
    fn words_arrive_whole_and_in_order() {
        loom::model(|| {
            let (chunks, queue) = (small(2), Arc::new(Queue::default()));
            let other = (chunks.clone(), queue.clone());
            let thread = thread::spawn(move || {
                let appended = (1..=3).filter(|&n| append(&other.1, &other.0, n));
                appended.collect::<Vec<_>>()
            });
            let mut got = Vec::new();
            read(&queue, &chunks, &mut got);
            read(&queue, &chunks, &mut got);
            let put = thread.join().unwrap();
            read(&queue, &chunks, &mut got);
            assert_eq!(got, put);
            assert!(put.len() >= 2 && chunks.used() == 1);
        });
    }

    /// The stack of free chunks while its top is taken and given back: a thread that has read the top and its link must not exchange by them.
    #[test]
    fn no_chunk_is_taken_twice() {
        loom::model(|| {
            let chunks = small(3);
            let all = [0; 2].map(|_| chunks.take().unwrap().0);
            all.into_iter().for_each(|chunk| chunks.give(chunk));
            let other = chunks.clone();
            let thread = thread::spawn(move || other.take().unwrap().0);
            let (top, below) = (chunks.take().unwrap().0, chunks.take().unwrap().0);
            chunks.give(top);
            let mut taken = [thread.join().unwrap(), below, chunks.take().unwrap().0];
            taken.sort();
            assert_eq!(taken, [0, 1, 2]);
            assert_eq!((chunks.used(), chunks.given()), (3, 3));
        });
    }
}
