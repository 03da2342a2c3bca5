//! Native half of System.Reflection.Emit.SignatureHelper.
//!
//! Keeps nothing.
use crate::support::emit::encoder::{self, encode};
use std::mem::offset_of;
use vervet_abi::layouts::SignatureHelperObject;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

/// The signature as a `byte[]`.
fn signature<'cx>(cx: &'cx Cx<'cx>, helper: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let module = cx.non_null(helper.read_ref(offset_of!(SignatureHelperObject, module)))?;
    let blob = encode(cx, |e| {
        e.helper_signature(encoder::module_of(module)?, helper)
    })?;
    let bytes = cx.alloc_array(cx.known(Known::Byte), blob.len())?;
    bytes.elements::<u8>().copy_from_slice(&blob);
    Ok(bytes)
}

icalls! {
    /// The signature of local variables.
    "System.Reflection.Emit.SignatureHelper::get_signature_local" fn get_signature_local(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        signature(cx, this)
    }
    /// The signature of a field.
    "System.Reflection.Emit.SignatureHelper::get_signature_field" fn get_signature_field(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        signature(cx, this)
    }
}
