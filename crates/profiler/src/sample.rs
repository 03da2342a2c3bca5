//! A sample: where a thread was at one moment.
//!
//! # Invariants
//! * A sample is fixed-width words, so a signal handler makes it without knowing anything but numbers.
//! * Frames stand innermost first, and there are at most [`MOST_FRAMES`].
//! * A sample that could not be walked says so ([`FRAMELESS`], [`CUT`]): no frame is left out silently.

/// No sample has more frames.
pub const MOST_FRAMES: usize = 256;

/// The thread was in native code: a P/Invoke, a blocking call, compilation.
pub const IN_NATIVE: u32 = 1;
/// The thread was in the runtime's own code.
pub const IN_RUNTIME: u32 = 2;
/// The frames are not known: the thread was between two stacks, or in a signal handler of a library.
pub const FRAMELESS: u32 = 4;
/// There were more frames.
pub const CUT: u32 = 8;

/// The file's name of a thread: an OS thread's is the kernel's id, and with `green` not 0 the green thread's is apart from all of those.
pub const fn thread_id(kernel: u64, green: u32) -> u64 {
    match green {
        0 => kernel,
        green => 1 << 40 | green as u64,
    }
}
/// The thread waited: the weight is microseconds, the time is the end of the wait, and the byte at [`REASON`] says what it waited for.
pub const OFF_CPU: u32 = 16;
/// Where the number of the reason begins in the flags of a sample that has [`OFF_CPU`].
pub const REASON: u32 = 8;

/// A frame as a word: an address, and in the two highest bits what the address is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameWord(pub u64);

/// What the address of a [`FrameWord`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// The address that the frame returns to: what is looked up is the address minus one.
    Return,
    /// The address of the instruction that the frame is at.
    Exact,
    /// The address of a method, whose stub managed code was left through.
    Stub,
}

const TAG: u32 = 62;

impl FrameWord {
    /// The word of an address.
    pub const fn new(address: usize, kind: FrameKind) -> FrameWord {
        FrameWord(address as u64 | (kind as u64) << TAG)
    }
    /// The address.
    pub const fn address(self) -> usize {
        (self.0 & ((1 << TAG) - 1)) as usize
    }
    /// What the address is.
    pub const fn kind(self) -> FrameKind {
        match self.0 >> TAG {
            0 => FrameKind::Return,
            1 => FrameKind::Exact,
            _ => FrameKind::Stub,
        }
    }
    /// The address to look up in tables of code; None: it is a method.
    pub const fn probe(self) -> Option<usize> {
        match self.kind() {
            FrameKind::Return => Some(self.address().wrapping_sub(1)),
            FrameKind::Exact => Some(self.address()),
            FrameKind::Stub => None,
        }
    }
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample<'a> {
    /// When: CLOCK_MONOTONIC, in nanoseconds.
    pub time_ns: u64,
    /// Which OS thread: the kernel's id.
    pub thread: u64,
    /// The program counter; 0 if the thread was not interrupted for the sample.
    pub ip: u64,
    /// How many periods it stands for: 1, and those that the system has left out.
    pub weight: u32,
    /// [`IN_NATIVE`] and so on.
    pub flags: u32,
    /// Id of the green thread that the thread carried; 0: none.
    pub green: u32,
    /// The frames.
    pub frames: &'a [FrameWord],
}

/// Where the writer gets samples from.
pub trait SampleSource: Sync {
    /// Hands over the samples that were taken up to `until`. Those of one thread stand in the order of time.
    fn drain(&self, until: u64, each: &mut dyn FnMut(&Sample<'_>));
    /// How many samples were lost so far because a ring was full.
    fn lost(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_its_address_is() {
        for kind in [FrameKind::Return, FrameKind::Exact, FrameKind::Stub] {
            let word = FrameWord::new(0x7fff_1234_5678, kind);
            assert_eq!((word.address(), word.kind()), (0x7fff_1234_5678, kind));
        }
        assert_eq!(FrameWord::new(5, FrameKind::Return).probe(), Some(4));
        assert_eq!(FrameWord::new(5, FrameKind::Exact).probe(), Some(5));
        assert_eq!(FrameWord::new(5, FrameKind::Stub).probe(), None);
    }
}
