//! Hashes of identities that are the same in every process, whatever was loaded first.
//!
//! They choose slots of interface dispatch, which machine code contains, and find kept code. Equal hashes mean nothing: whoever finds by a hash compares the
//! identity.
//!
//! # Invariants
//! A hash is made of names of modules, rows and structure; never of ids, addresses or paths.
use crate::*;
use std::sync::atomic::Ordering;

/// Adds a number to a hash: a bijection of the state, so structure in different places does not cancel out.
fn mix(state: u64, n: u64) -> u64 {
    (state.rotate_left(5) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
fn mix_name(state: u64, name: &str) -> u64 {
    name.bytes().fold(state, |s, b| mix(s, u64::from(b)))
}

impl Class {
    /// The hash of the type's identity.
    pub fn stable_hash(&'static self) -> u64 {
        // Every thread computes the same, and 0 is as good as not known.
        let known = self.cells.stable_hash.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let hash = self.compute_stable_hash();
        self.cells.stable_hash.store(hash, Ordering::Relaxed);
        hash
    }
    fn compute_stable_hash(&'static self) -> u64 {
        let nested = |tag: u64, element: ClassRef| mix(element.stable_hash(), tag);
        match &self.kind {
            ClassKind::Def { rid, .. } => mix(mix_name(1, self.module.name), u64::from(*rid)),
            ClassKind::Inst { def, args } => args
                .iter()
                .fold(nested(2, def), |s, a| mix(s, a.stable_hash())),
            ClassKind::SzArray(e) => nested(3, e),
            ClassKind::Array { elem, rank } => nested(4 + (u64::from(*rank) << 8), elem),
            ClassKind::Ptr(e) => nested(5, e),
            ClassKind::ByRef(e) => nested(6, e),
            ClassKind::FnPtr(sig) => sig
                .params
                .iter()
                .fold(nested(7, sig.ret), |s, p| mix(s, p.stable_hash())),
            ClassKind::GenericParam { rid, .. } => mix(8, u64::from(*rid)),
            ClassKind::Position { index, of_method } => {
                mix(9 + u64::from(*of_method), u64::from(*index))
            }
        }
    }
}

impl Method {
    /// The hash of the method's identity.
    pub fn stable_hash(&'static self) -> u64 {
        let own = mix(self.class.stable_hash(), u64::from(self.index));
        self.method_args()
            .iter()
            .fold(mix(own, u64::from(self.rid)), |s, a| {
                mix(s, a.stable_hash())
            })
    }
}
