//! Native half of System.Security.Policy.Evidence.
//!
//! Keeps nothing: the answers are constant.
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// Signatures of this kind are not read.
    "System.Security.Policy.Evidence::IsAuthenticodePresent" fn is_authenticode_present(cx, assembly: ObjRef<'cx>) -> bool { Ok(false) }
}
