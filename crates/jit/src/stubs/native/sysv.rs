//! The System V calling convention of x86-64: the register or stack word of each part of a native
//! argument.
//!
//! # How it works
//! A value is divided into *eightbytes*. Each is of class integer or SSE; a struct takes registers
//! for all of its eightbytes, or none:
//!
//! ```text
//! int, pointer                  Int                rdi rsi rdx rcx r8 r9
//! float, double                 Sse                xmm0 .. xmm7
//! struct { int; float; }        Int                (an eightbyte with any integer is Int)
//! struct { double; long; }      Sse, Int
//! struct of more than 16 bytes  memory             stack; as a result: hidden pointer in rdi
//! ```
//!
//! # Invariants
//! Only what C# can declare is classified: integers, pointers, floats, and structs of them. A
//! struct over 16 bytes, or with a field that is not aligned, is passed in memory.
use smallvec::{SmallVec, smallvec};
use vervet_abi::native_call;

/// The class of an eightbyte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eightbyte {
    /// In a general register.
    Int,
    /// In a vector register.
    Sse,
}

/// How a native value is passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Abi {
    /// It does not (void).
    Void,
    /// In registers, if there are enough left for all parts, else on the stack.
    Words(SmallVec<[Eightbyte; 2]>),
    /// On the stack; as a result, in memory whose address is a hidden first argument. Its size in bytes.
    Memory(u32),
}

impl Abi {
    /// An integer or pointer.
    pub fn int() -> Abi {
        Abi::Words(smallvec![Eightbyte::Int])
    }
    /// A float.
    pub fn sse() -> Abi {
        Abi::Words(smallvec![Eightbyte::Sse])
    }
    /// A struct of `size` bytes with these primitive parts: offset, size, whether it is a float.
    pub fn of_struct(size: u32, parts: impl Iterator<Item = (u32, u32, bool)>) -> Abi {
        if size > 16 {
            return Abi::Memory(size);
        }
        let mut words: SmallVec<[Eightbyte; 2]> =
            smallvec![Eightbyte::Sse; size.div_ceil(8).max(1) as usize];
        let mut seen = [false; 2];
        for (offset, bytes, float) in parts {
            if offset % bytes != 0 || offset + bytes > size {
                return Abi::Memory(size);
            }
            let word = (offset / 8) as usize;
            seen[word] = true;
            if !float {
                words[word] = Eightbyte::Int;
            }
        }
        // An eightbyte of padding only (an empty struct, an explicit size) is passed as a char
        // array is by C compilers.
        words
            .iter_mut()
            .zip(seen)
            .filter(|(_, seen)| !seen)
            .for_each(|(word, _)| *word = Eightbyte::Int);
        Abi::Words(words)
    }
}

/// Where one eightbyte of an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeLocation {
    /// General register.
    Int(u32),
    /// Vector register.
    Sse(u32),
    /// Word on the stack.
    Stack(u32),
}

impl NativeLocation {
    /// Its offset in a [`native_call::NativeCall`] and the stack words behind it.
    pub fn call_offset(self) -> i32 {
        match self {
            NativeLocation::Int(i) => native_call::INT_REGS + 8 * i as i32,
            NativeLocation::Sse(i) => native_call::SSE_REGS + 8 * i as i32,
            NativeLocation::Stack(i) => native_call::STACK_WORDS + 8 * i as i32,
        }
    }
}

/// Assigns locations to arguments, from left to right.
#[derive(Clone, Copy, Default, Debug)]
pub struct NativeLocations {
    /// General registers used.
    pub ints: u32,
    /// Vector registers used.
    pub sses: u32,
    /// Stack words used.
    pub stack: u32,
}

impl NativeLocations {
    /// The locations of the next argument: one for each eightbyte; of an argument in memory only
    /// that of its first word.
    pub fn take(&mut self, abi: &Abi) -> SmallVec<[NativeLocation; 2]> {
        match abi {
            Abi::Void => smallvec![],
            Abi::Memory(size) => {
                let first = self.stack;
                self.stack += size.div_ceil(8);
                smallvec![NativeLocation::Stack(first)]
            }
            Abi::Words(words) => {
                let sses = words.iter().filter(|w| **w == Eightbyte::Sse).count() as u32;
                let ints = words.len() as u32 - sses;
                let in_registers = self.ints + ints <= 6 && self.sses + sses <= 8;
                let mut place = |word: &Eightbyte| {
                    let (counter, place): (&mut u32, fn(u32) -> NativeLocation) = match word {
                        _ if !in_registers => (&mut self.stack, NativeLocation::Stack),
                        Eightbyte::Int => (&mut self.ints, NativeLocation::Int),
                        Eightbyte::Sse => (&mut self.sses, NativeLocation::Sse),
                    };
                    *counter += 1;
                    place(*counter - 1)
                };
                words.iter().map(&mut place).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_classified_by_eightbyte() {
        use Eightbyte::{Int, Sse};
        let abi = |size, parts: &[(u32, u32, bool)]| Abi::of_struct(size, parts.iter().copied());
        assert_eq!(
            abi(16, &[(0, 8, true), (8, 4, false)]),
            Abi::Words(smallvec![Sse, Int])
        );
        assert_eq!(
            abi(8, &[(0, 4, true), (4, 4, false)]),
            Abi::Words(smallvec![Int])
        );
        assert_eq!(
            abi(12, &[(0, 4, true), (4, 4, true), (8, 4, true)]),
            Abi::Words(smallvec![Sse, Sse])
        );
        assert_eq!(abi(12, &[(0, 4, false), (4, 8, false)]), Abi::Memory(12));
        assert_eq!(abi(24, &[(0, 8, false)]), Abi::Memory(24));
        assert_eq!(abi(1, &[]), Abi::Words(smallvec![Int]));
    }

    #[test]
    fn a_struct_goes_to_the_stack_whole() {
        let mut places = NativeLocations::default();
        for i in 0..5 {
            assert_eq!(places.take(&Abi::int())[..], [NativeLocation::Int(i)]);
        }
        let two = Abi::Words(smallvec![Eightbyte::Int, Eightbyte::Int]);
        assert_eq!(
            places.take(&two)[..],
            [NativeLocation::Stack(0), NativeLocation::Stack(1)]
        );
        assert_eq!(places.take(&Abi::int())[..], [NativeLocation::Int(5)]);
        assert_eq!(
            places.take(&Abi::Memory(20))[..],
            [NativeLocation::Stack(2)]
        );
        assert_eq!(places.take(&Abi::int())[..], [NativeLocation::Stack(5)]);
        assert_eq!(places.take(&Abi::sse())[..], [NativeLocation::Sse(0)]);
    }
}
