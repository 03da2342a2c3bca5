//! Reading builder objects: arrays that may be null or have room left, types, signatures.
//!
//! # Invariants
//! Nothing here allocates or runs managed code, so the references that it hands out need no root.
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::types::{self, TypeKind};
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_metadata::CallConvKind;
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Known, MethodSig, Universe};

/// The elements of an array of references; none if it is null.
pub fn elements<'cx>(array: ObjRef<'cx>) -> impl DoubleEndedIterator<Item = ObjRef<'cx>> {
    let len = array.non_null().map_or(0, ObjRef::array_len);
    (0..len).map(move |i| array.element_ref(i))
}
/// Element `i` of an array of references; null if there is none.
pub fn element<'cx>(array: ObjRef<'cx>, i: usize) -> ObjRef<'cx> {
    match array.non_null().filter(|a| i < a.array_len()) {
        Some(array) => array.element_ref(i),
        None => ObjRef::NULL,
    }
}
/// Offset of element `i` of an array of a declared value type, from the start of the array.
pub fn element_offset<T>(array: ObjRef<'_>, i: usize) -> usize {
    array.array_data() as usize - array.addr() + i * size_of::<T>()
}
/// The first `len` bytes of a `byte[]`, or as many as there are.
pub fn bytes(array: ObjRef<'_>, len: usize) -> Vec<u8> {
    match array.non_null() {
        Some(array) => {
            let all = array.elements::<u8>();
            all[..len.min(all.len())].to_vec()
        }
        None => Vec::new(),
    }
}
/// All bytes of a `byte[]`; none if it is null.
pub fn all_bytes(array: ObjRef<'_>) -> Vec<u8> {
    bytes(array, usize::MAX)
}

/// The class of a Type object, or of the builder that became it.
pub fn class(ty: ObjRef<'_>) -> E<ClassRef> {
    match types::kind(ty)? {
        TypeKind::Class(class) => Ok(class),
        _ => Err(EmitError::not_supported("the type has not been created")),
    }
}
/// The classes of a `Type[]`; none if it is null.
pub fn classes(types: ObjRef<'_>) -> E<Vec<ClassRef>> {
    elements(types).map(class).collect()
}

/// The signature that a SignatureHelper describes, for a `calli`.
pub fn signature(universe: &'static Universe, helper: ObjRef<'_>) -> E<&'static MethodSig> {
    /// CallingConventions.
    const VAR_ARGS: u32 = 2;
    const HAS_THIS: u32 = 0x20;
    const EXPLICIT_THIS: u32 = 0x40;
    let managed: u32 = helper.read(offset_of!(SignatureHelperObject, call_conv));
    let unmanaged: u32 = helper.read(offset_of!(SignatureHelperObject, unmanaged_call_conv));
    let ret = helper.read_ref(offset_of!(SignatureHelperObject, return_type));
    let ret = match ret.non_null() {
        Some(ty) => class(ty)?,
        None => universe.known(Known::Void),
    };
    let arguments = helper.read_ref(offset_of!(SignatureHelperObject, arguments));
    let sig = MethodSig {
        has_this: managed & HAS_THIS != 0,
        explicit_this: managed & EXPLICIT_THIS != 0,
        // System.Runtime.InteropServices.CallingConvention, 0 for a managed signature.
        call_conv: match unmanaged {
            1 => CallConvKind::Unmanaged,
            2 => CallConvKind::C,
            3 => CallConvKind::StdCall,
            4 => CallConvKind::ThisCall,
            5 => CallConvKind::FastCall,
            _ if managed & VAR_ARGS != 0 => CallConvKind::VarArg,
            _ => CallConvKind::Default,
        },
        generic_arity: 0,
        ret,
        params: classes(arguments)?,
        sentinel: None,
    };
    if sig.is_open() {
        return Err(EmitError::not_supported(
            "the signature contains a generic parameter",
        ));
    }
    Ok(Box::leak(Box::new(sig)))
}
