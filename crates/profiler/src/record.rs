//! A record: an event as words, as a thread hands it to the writer.
//!
//! ```text
//!   word 0   kind (8 bits), length in words (24), an extra number (32)
//!   word 1   time: CLOCK_MONOTONIC, nanoseconds
//!   word 2   the thread, as the file names it
//!   ...      payload
//! ```
//!
//! # Invariants
//! Objects, VTables, methods and assemblies are addresses; frames are [`FrameWord`]s, innermost first, and end the payload. Texts are their
//! length in bytes and the bytes, filled up to whole words with zeros.
use crate::sample::FrameWord;

/// Words before the payload.
pub const HEAD: usize = 3;

/// What a record tells. The payload stands behind each kind; `frames` are optional.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// The thread begins.
    ThreadStart,
    /// The thread ends.
    ThreadEnd,
    /// The thread has a name: text.
    ThreadName,
    /// A domain: id.
    Domain,
    /// The name of a domain: id, text.
    DomainName,
    /// A domain was unloaded: id.
    DomainEnd,
    /// An assembly: address.
    Assembly,
    /// An assembly was unloaded with its domain: address.
    AssemblyEnd,
    /// A VTable: address.
    VTable,
    /// Code was linked: its address in the table of code. Extra is 1 if it is no method's, and such code is recorded.
    Code,
    /// A stub was made: address, bytes, text.
    Stub,
    /// An object was made: VTable, object, bytes, frames.
    Alloc,
    /// Objects were moved: pairs of old and new addresses.
    Moves,
    /// A phase of a collection: extra is the phase and, shifted by 8, the generation.
    GcPhase,
    /// The heap has another size: bytes.
    GcResize,
    /// A handle was made: kind, handle, object, frames.
    HandleMade,
    /// A handle was freed: kind, handle, frames.
    HandleFreed,
    /// Finalizers begin to run.
    FinalizersBegin,
    /// They have run.
    FinalizersEnd,
    /// The finalizer of an object begins: object.
    FinalizerBegin,
    /// It has ended: object.
    FinalizerEnd,
    /// An exception is thrown: object, frames.
    Throw,
    /// A clause runs: kind, index, method, object.
    Clause,
    /// A monitor: extra is what happened, as in the file; object, frames.
    Monitor,
    /// A range of memory with roots: extra is the source, as in the file; start, bytes, key.
    RootRange,
    /// Roots: pairs of slot and object.
    Roots,
    /// A heapshot begins.
    ShotBegin,
    /// A heapshot ends.
    ShotEnd,
    /// An object of a heapshot: object, VTable, bytes, generation, then pairs of offset and target.
    ShotObject,
    /// A method begins: method.
    Enter,
    /// A method returns: method.
    Leave,
    /// An exception leaves a method: method.
    ExceptionLeave,
    /// What was recorded before is older than what follows: extra is the kind of the sync point, as in the file.
    Sync,
}

/// A record that was read.
#[derive(Clone, Copy)]
pub struct Record<'a>(&'a [u64]);

impl<'a> Record<'a> {
    pub(crate) fn head(kind: Kind, extra: u32, words: usize) -> u64 {
        kind as u64 | (words as u64) << 8 | u64::from(extra) << 32
    }
    /// The record that these words begin with.
    pub(crate) fn read(words: &'a [u64]) -> Record<'a> {
        let length = (words[0] >> 8 & 0xFF_FFFF) as usize;
        Record(&words[..length])
    }
    pub(crate) fn words(&self) -> usize {
        self.0.len()
    }
    /// What it tells.
    pub fn kind(&self) -> Kind {
        const ALL: [Kind; 33] = {
            use Kind::*;
            [
                ThreadStart,
                ThreadEnd,
                ThreadName,
                Domain,
                DomainName,
                DomainEnd,
                Assembly,
                AssemblyEnd,
                VTable,
                Code,
                Stub,
                Alloc,
                Moves,
                GcPhase,
                GcResize,
                HandleMade,
                HandleFreed,
                FinalizersBegin,
                FinalizersEnd,
                FinalizerBegin,
                FinalizerEnd,
                Throw,
                Clause,
                Monitor,
                RootRange,
                Roots,
                ShotBegin,
                ShotEnd,
                ShotObject,
                Enter,
                Leave,
                ExceptionLeave,
                Sync,
            ]
        };
        ALL[(self.0[0] & 0xFF) as usize]
    }
    /// The extra number.
    pub fn extra(&self) -> u32 {
        (self.0[0] >> 32) as u32
    }
    /// When.
    pub fn time_ns(&self) -> u64 {
        self.0[1]
    }
    /// Whose.
    pub fn thread(&self) -> u64 {
        self.0[2]
    }
    /// What its kind says.
    pub fn payload(&self) -> &'a [u64] {
        &self.0[HEAD..]
    }
    /// The frames behind so many words of the payload.
    pub fn frames(&self, behind: usize) -> impl Iterator<Item = FrameWord> + use<'a> {
        self.0[HEAD + behind..].iter().map(|w| FrameWord(*w))
    }
    /// The text behind so many words of the payload.
    pub fn text(&self, behind: usize) -> String {
        let words = &self.payload()[behind..];
        let bytes: Vec<u8> = words[1..].iter().flat_map(|w| w.to_le_bytes()).collect();
        let length = bytes.len().min(words[0] as usize);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }
}

/// A text as words, cut where a record ends.
pub fn text_words(text: &str) -> Vec<u64> {
    let mut length = text.len().min(8 * (crate::stream::MOST_PAYLOAD - 8));
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    let mut words = vec![0; 1 + length.div_ceil(8)];
    text_in(&text[..length], &mut words);
    words
}

/// Writes a text as words into those of the caller, which have room for it; how many it takes.
pub fn text_in(text: &str, words: &mut [u64]) -> usize {
    words[0] = text.len() as u64;
    for (word, bytes) in words[1..].iter_mut().zip(text.as_bytes().chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    1 + text.len().div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_as_it_was_made() {
        let text = text_words("Grüße an alle");
        let mut words = vec![
            Record::head(Kind::Sync, 5, HEAD + 1 + text.len()),
            10,
            11,
            12,
        ];
        words.extend(&text);
        words.push(99);
        let record = Record::read(&words);
        assert_eq!((record.kind(), record.extra()), (Kind::Sync, 5));
        assert_eq!((record.time_ns(), record.thread()), (10, 11));
        assert_eq!(
            (record.payload()[0], record.text(1)),
            (12, "Grüße an alle".into())
        );
        assert_eq!(record.words(), words.len() - 1);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let words = text_words(&"€".repeat(10_000));
        assert!(words.len() <= crate::stream::MOST_PAYLOAD);
        assert_eq!(words[0] % 3, 0);
    }
}
