//! MarshalSpecs (ECMA-335 II.23.4) of UnmanagedMarshal objects.
use crate::support::emit::encoder::compressed;
use crate::support::emit::error::E;
use crate::support::emit::types::{self, TypeKind};
use std::mem::offset_of;
use vervet_abi::layouts::UnmanagedMarshalObject;
use vervet_runtime::object::ObjRef;

const BY_VAL_STRING: u32 = 0x17;
const BY_VAL_ARRAY: u32 = 0x1E;
const LP_ARRAY: u32 = 0x2A;
const CUSTOM: u32 = 0x2C;
/// No element type.
const UNSPECIFIED: u32 = 0x50;

/// The bytes of a FieldMarshal row.
pub fn spec(info: ObjRef<'_>) -> E<Vec<u8>> {
    let word = |at: usize| -> i32 { info.read(at) };
    let kind = word(offset_of!(UnmanagedMarshalObject, t)) as u32;
    let element = match word(offset_of!(UnmanagedMarshalObject, tbase)) as u32 {
        0 => UNSPECIFIED,
        n => n,
    };
    let count = word(offset_of!(UnmanagedMarshalObject, count)).max(0) as u32;
    let has_size = info.read::<u8>(offset_of!(UnmanagedMarshalObject, has_size)) != 0;
    let mut out = Vec::new();
    compressed(&mut out, kind);
    match kind {
        BY_VAL_STRING => compressed(&mut out, count),
        BY_VAL_ARRAY => {
            compressed(&mut out, count);
            if element != UNSPECIFIED {
                compressed(&mut out, element);
            }
        }
        LP_ARRAY => {
            compressed(&mut out, element);
            if has_size {
                let param = word(offset_of!(UnmanagedMarshalObject, param_num));
                compressed(&mut out, param.max(0) as u32);
                compressed(&mut out, count);
                // Whether the parameter's number is meant.
                out.push(u8::from(param >= 0));
            }
        }
        CUSTOM => {
            let text = |at: usize| info.read_ref(at).text();
            let ty = info.read_ref(offset_of!(UnmanagedMarshalObject, marshaltyperef));
            let name = match ty.non_null().map(types::kind).transpose()? {
                Some(TypeKind::Class(class)) => class.assembly_qualified_name(),
                _ => None,
            };
            let name =
                name.unwrap_or_else(|| text(offset_of!(UnmanagedMarshalObject, marshaltype)));
            let guid = text(offset_of!(UnmanagedMarshalObject, guid));
            let cookie = text(offset_of!(UnmanagedMarshalObject, mcookie));
            for part in [guid.as_str(), "", &name, &cookie] {
                compressed(&mut out, part.len() as u32);
                out.extend(part.as_bytes());
            }
        }
        _ => {}
    }
    Ok(out)
}
