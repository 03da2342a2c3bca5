//! The System V calling convention of x86-64: which register or stack word each part of a native argument is in.
//!
//! # Invariants
//! Only what C# can declare is classified: integers, pointers, floats and structs of them. A struct over 16 bytes,
//! or with a field that is not aligned, is memory.
use smallvec::{SmallVec, smallvec};
use vervet_abi::native_call;

/// Class of an eightbyte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eightbyte {
    /// In a general register.
    Int,
    /// In a vector register.
    Sse,
}

/// How a native value travels.
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
    /// Of an integer or pointer.
    pub fn int() -> Abi {
        Abi::Words(smallvec![Eightbyte::Int])
    }
    /// Of a float.
    pub fn sse() -> Abi {
        Abi::Words(smallvec![Eightbyte::Sse])
    }
    /// Of a struct of `size` bytes with these primitive parts (offset, size, is a float).
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
        // Padding only (an empty struct, explicit sizes): as C compilers do with a char array.
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
pub enum Place {
    /// General register.
    Int(u32),
    /// Vector register.
    Sse(u32),
    /// Word on the stack.
    Stack(u32),
}

impl Place {
    /// Its offset in a [`native_call::NativeCall`] and the stack words behind it.
    pub fn call_offset(self) -> i32 {
        match self {
            Place::Int(i) => native_call::INT_REGS + 8 * i as i32,
            Place::Sse(i) => native_call::SSE_REGS + 8 * i as i32,
            Place::Stack(i) => native_call::STACK_WORDS + 8 * i as i32,
        }
    }
}

/// Hands out places to arguments, from left to right.
#[derive(Clone, Copy, Default, Debug)]
pub struct Places {
    /// General registers used.
    pub ints: u32,
    /// Vector registers used.
    pub sses: u32,
    /// Stack words used.
    pub stack: u32,
}

impl Places {
    /// The places of the next argument: one per eightbyte; of one in memory, the first word's.
    pub fn take(&mut self, abi: &Abi) -> SmallVec<[Place; 2]> {
        match abi {
            Abi::Void => smallvec![],
            Abi::Memory(size) => {
                let first = self.stack;
                self.stack += size.div_ceil(8);
                smallvec![Place::Stack(first)]
            }
            Abi::Words(words) => {
                let sses = words.iter().filter(|w| **w == Eightbyte::Sse).count() as u32;
                let ints = words.len() as u32 - sses;
                let in_registers = self.ints + ints <= 6 && self.sses + sses <= 8;
                let mut place = |word: &Eightbyte| {
                    let (counter, place): (&mut u32, fn(u32) -> Place) = match word {
                        _ if !in_registers => (&mut self.stack, Place::Stack),
                        Eightbyte::Int => (&mut self.ints, Place::Int),
                        Eightbyte::Sse => (&mut self.sses, Place::Sse),
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
        let mut places = Places::default();
        for i in 0..5 {
            assert_eq!(places.take(&Abi::int())[..], [Place::Int(i)]);
        }
        let two = Abi::Words(smallvec![Eightbyte::Int, Eightbyte::Int]);
        assert_eq!(places.take(&two)[..], [Place::Stack(0), Place::Stack(1)]);
        assert_eq!(places.take(&Abi::int())[..], [Place::Int(5)]);
        assert_eq!(places.take(&Abi::Memory(20))[..], [Place::Stack(2)]);
        assert_eq!(places.take(&Abi::int())[..], [Place::Stack(5)]);
        assert_eq!(places.take(&Abi::sse())[..], [Place::Sse(0)]);
    }
}
