//! The word of a slot.
//!
//! # Invariants
//! Tags are in the low three bits only: the rest of an object's word is the object's address. So a conservative scan recognises the word on the
//! stack, or in a register, of a thread that has just loaded it and not yet removed the tags.

/// The bit that says that the slot is not free.
pub const OCCUPIED: usize = 1;
/// The bit that says that the rest of the word is an object's address (0: null). Without it an occupied word is an expired handle's.
pub const VALID: usize = 2;
/// The bits of a word that are not part of an object's address, which is a multiple of 8.
pub const TAGS: usize = 7;

/// A word as read from a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word(pub(crate) usize);

impl Word {
    /// Refers to the object at that address; 0 is null.
    pub(crate) fn object(address: usize) -> Word {
        debug_assert!(address & TAGS == 0, "objects are 8-aligned");
        Word(address & !TAGS | VALID | OCCUPIED)
    }
    /// The object is gone; the handle is still its domain's.
    pub(crate) fn expired(domain: u32) -> Word {
        Word((domain as usize) << 2 | OCCUPIED)
    }

    pub(crate) fn is_occupied(self) -> bool {
        self.0 & OCCUPIED != 0
    }
    pub(crate) fn is_expired(self) -> bool {
        self.0 & (OCCUPIED | VALID) == OCCUPIED
    }
    /// The address of the object, 0 if that is null or gone. None: the slot is free.
    pub(crate) fn target(self) -> Option<usize> {
        if self.0 & VALID != 0 {
            Some(self.0 & !TAGS)
        } else if self.is_occupied() {
            Some(0)
        } else {
            None
        }
    }
}
