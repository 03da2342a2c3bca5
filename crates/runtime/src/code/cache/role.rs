//! What an entry holds of its method.
//!
//! # Invariants
//! * A method's identity begins with the tag of a type. No other role's tag is one, nor that of a stub (`record::stub_identity`). So an entry is never
//!   taken for one in another role.
//! * Entries of one method in different roles have different hashes: a look-up reads those of its role only, but for chance.
use vervet_types::MethodRef;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The code of its first compile.
    First,
    /// Its code after it was called often ([`crate::code::hot`]).
    Again,
    /// Its code without assumptions, for the domains other than the root domain, if its first code has some.
    Bare,
    /// What compiling it first loads ([`super::loads`]).
    Loads,
}

impl Role {
    /// Begins the identity of such an entry.
    pub(super) fn tag(self) -> &'static [u8] {
        match self {
            Role::First => &[],
            Role::Again => &[0xFC],
            Role::Bare => &[0xFB],
            Role::Loads => &[0xFD],
        }
    }
    /// Finds such an entry.
    pub(super) fn hash_of(self, method: MethodRef) -> u64 {
        let own = method.stable_hash();
        match self {
            Role::First => own,
            Role::Again => own.rotate_left(32),
            Role::Bare => own.rotate_left(16),
            Role::Loads => !own,
        }
    }
}
