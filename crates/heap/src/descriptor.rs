//! Descriptors: the one word, reached from an object's header, from which the collector's inner loops learn size and reference fields.
//!
//! ```text
//!   bits   63 .............. 32 31 ............ 16 15 ....... 3  2..0
//!          one bit for each of the words 1 to 48   size in bytes   1  PLAIN       fixed size, no references
//!          one bit for each of the words 1 to 48   size in bytes   2  FIELDS      fixed size, references
//!          bytes of an element   bytes beside them                 3  ITEMS       elements that are no references
//!          bytes of an element   bytes before them                 4  REFERENCES  elements that are references
//!                                                                  0  OTHER       ask the model
//! ```
//!
//! # Invariants
//! * A descriptor says of an object what [`Model::size`], [`Model::contents`] and [`Model::visit`] say of it. What does not fit the word is
//!   left to them ([`Descriptor::OTHER`]). The verifier compares the two answers ([`check`]).
//! * It is constant for a header, so it may be read at any time without a lock.
use crate::model::{Contents, Model};
use crate::object::{Slot, each_slot};

/// Kind of an object and its layout. Bits 0-2: the kind. Fixed size: bits 3-15 the bytes (a multiple of 8, so the masked bits are
/// the number itself), bits 16-63 one for each of the words 1 to 48 that is a reference. Variable size: bits 16-31 the bytes
/// before the elements, those of what follows them included; bits 32-63 the bytes of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor(u64);

const KIND: u64 = 7;
const PLAIN: u64 = 1;
const FIELDS: u64 = 2;
const ITEMS: u64 = 3;
const REFERENCES: u64 = 4;
const SIZE: u64 = 0xFFF8;
const WORDS: u32 = 48;
/// Shorter blocks are moved without a moment at which the thread can be stopped between two parts of the block.
const LONG_BLOCK: usize = 4 << 10;

impl Descriptor {
    /// Ask the model.
    pub const OTHER: Descriptor = Descriptor(0);

    /// An object of `size` bytes (header included) of which the words of `map` (bit 0 is the header's) are references.
    pub fn fixed(size: usize, map: &[u64]) -> Descriptor {
        let references: u32 = map.iter().map(|w| w.count_ones()).sum();
        if size as u64 & !SIZE != 0 {
            return Descriptor::OTHER;
        }
        if references == 0 {
            return Descriptor(PLAIN | size as u64);
        }
        let first = map[0] >> 1;
        if map[0] & 1 != 0 || first >> WORDS != 0 || map[1..].iter().any(|w| *w != 0) {
            return Descriptor::OTHER;
        }
        Descriptor(FIELDS | size as u64 | first << 16)
    }
    /// An object with as many elements of `element` bytes as the number at [`Model::LENGTH`] says, and `others` bytes beside
    /// them. `references`: the elements, at offset `others`, are references.
    pub fn variable(others: usize, element: usize, references: bool) -> Descriptor {
        let (Ok(others), Ok(element)) = (u16::try_from(others), u32::try_from(element)) else {
            return Descriptor::OTHER;
        };
        let kind = if references { REFERENCES } else { ITEMS };
        Descriptor(kind | u64::from(others) << 16 | u64::from(element) << 32)
    }
    /// As [`Descriptor::bits`] gave it.
    pub const fn from_bits(bits: u64) -> Descriptor {
        Descriptor(bits)
    }
    /// The word.
    pub const fn bits(self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn others(self) -> usize {
        (self.0 >> 16) as usize & 0xFFFF
    }
    /// Bytes of the object.
    ///
    /// # Safety
    /// `object` has that header, which leads to this descriptor.
    #[inline(always)]
    pub(crate) unsafe fn size<M: Model>(self, object: usize, header: u64) -> usize {
        match self.0 & KIND {
            PLAIN | FIELDS => (self.0 & SIZE) as usize,
            ITEMS | REFERENCES => {
                // SAFETY: such an object has its number of elements there.
                let length = unsafe { *((object + M::LENGTH) as *const u32) } as usize;
                (self.others() + length * (self.0 >> 32) as usize + 7) & !7
            }
            // SAFETY: the caller's promise about `object` is that of `Model::size`.
            _ => unsafe { M::size(object, header) },
        }
    }
    /// May the address one past the object's end be all by which compiled code refers to it? Code that walks an array or moves a long block may end up
    /// with that. Nothing else gets there: a field is accessed by an address inside the object.
    ///
    /// # Safety
    /// As for [`Descriptor::size`].
    #[inline(always)]
    pub(crate) unsafe fn end_refers<M: Model>(self, object: usize) -> bool {
        match self.0 & KIND {
            PLAIN | FIELDS => (self.0 & SIZE) as usize > LONG_BLOCK,
            ITEMS => {
                // SAFETY: such an object has its number of elements there.
                let length = unsafe { *((object + M::LENGTH) as *const u32) } as usize;
                // If not, the elements end inside the object.
                (self.others() + length * (self.0 >> 32) as usize).is_multiple_of(8)
            }
            _ => true,
        }
    }
    /// What it contains.
    ///
    /// # Safety
    /// As for [`Descriptor::size`].
    #[inline(always)]
    pub(crate) unsafe fn contents<M: Model>(self, header: u64) -> Contents {
        match self.0 & KIND {
            PLAIN | ITEMS => Contents::Plain,
            FIELDS | REFERENCES => Contents::References,
            // SAFETY: the caller's promise about `header` is that of `Model::contents`.
            _ => unsafe { M::contents(header) },
        }
    }
    /// Calls `visit` with each reference field.
    ///
    /// # Safety
    /// As for [`Descriptor::size`].
    #[inline(always)]
    pub(crate) unsafe fn visit<M: Model>(
        self,
        object: usize,
        header: u64,
        mut visit: impl FnMut(Slot),
    ) {
        match self.0 & KIND {
            PLAIN | ITEMS => {}
            FIELDS => {
                let mut bits = self.0 >> 16;
                while bits != 0 {
                    // SAFETY: the bits of the descriptor name the words of the object that are references.
                    visit(unsafe { Slot::new(object + 8 + 8 * bits.trailing_zeros() as usize) });
                    bits &= bits - 1;
                }
            }
            REFERENCES => {
                // SAFETY: an object with such a descriptor has its number of elements there.
                let length = unsafe { *((object + M::LENGTH) as *const u32) } as usize;
                let mut at = object + self.others();
                let end = at + 8 * length;
                while at < end {
                    // SAFETY: the elements of an object with such a descriptor are references.
                    visit(unsafe { Slot::new(at) });
                    at += 8;
                }
            }
            // SAFETY: the caller's promise about `object` is that of `Model::visit`.
            _ => unsafe { each_slot::<M>(object, header, 0, usize::MAX, visit) },
        }
    }
}

/// Do descriptor and model say the same of an object? For the verifier.
///
/// # Safety
/// `object` has that header.
pub(crate) unsafe fn check<M: Model>(object: usize, header: u64) -> bool {
    let d = M::descriptor(header);
    // SAFETY: the caller's promise: `object` has that header, of which the descriptor is.
    unsafe {
        let (mut count, mut sum) = (0usize, 0usize);
        let mut same = d.size::<M>(object, header) == M::size(object, header)
            && d.contents::<M>(header) == M::contents(header);
        if same && M::contents(header) == Contents::References {
            M::visit(object, header, 0, usize::MAX, |f| {
                count += 1;
                sum = sum.wrapping_mul(31).wrapping_add(f);
            });
            let (mut others, mut other_sum) = (0usize, 0usize);
            d.visit::<M>(object, header, |f| {
                others += 1;
                other_sum = other_sum.wrapping_mul(31).wrapping_add(f.address());
            });
            same = (count, sum) == (others, other_sum);
        }
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn what_does_not_fit_a_word_is_left_to_the_model() {
        let kind = |d: Descriptor| d.bits() & KIND;
        assert_eq!(kind(Descriptor::fixed(24, &[0])), PLAIN);
        assert_eq!(
            Descriptor::fixed(24, &[0b110]).bits(),
            FIELDS | 24 | 3 << 16
        );
        assert_eq!(kind(Descriptor::fixed(8 * 49, &[1 << 48])), FIELDS);
        assert_eq!(Descriptor::fixed(8 * 50, &[1 << 49]), Descriptor::OTHER);
        assert_eq!(Descriptor::fixed(8 * 70, &[2, 1]), Descriptor::OTHER);
        assert_eq!(kind(Descriptor::fixed(0xFFF8, &[2])), FIELDS);
        assert_eq!(Descriptor::fixed(0x10000, &[2]), Descriptor::OTHER);
        assert_eq!(kind(Descriptor::variable(22, 2, false)), ITEMS);
        assert_eq!(kind(Descriptor::variable(24, 8, true)), REFERENCES);
        assert_eq!(Descriptor::variable(1 << 16, 8, true), Descriptor::OTHER);
    }
}
