//! What a target is: a function of bytes that panics when an oracle is hurt, and a generator of inputs that knows the format.
use crate::corpus::Corpus;
use crate::random::Random;

/// Something that reads bytes.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it reads and what must hold.
    pub about: &'static str,
    /// Reads an input and panics when an oracle is hurt.
    pub run: fn(&[u8]),
    /// An input that knows the format.
    pub generate: fn(&mut Random, &Corpus) -> Vec<u8>,
    /// What the generator starts from, and what is replayed first.
    pub corpus: fn() -> Corpus,
    /// How many bytes a case may allocate besides 512 for each byte of its input.
    pub memory: usize,
    /// Why it cannot run here; None if it can.
    pub missing: fn() -> Option<String>,
}
