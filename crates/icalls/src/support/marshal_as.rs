//! Makes `MarshalAsAttribute` objects from the FieldMarshal table (ECMA-335 II.23.4).
use crate::support::objects::Fill;
use crate::system::reflection::method_body::bad_image;
use vervet_metadata::{CustomAttrReader, SigReader, Token};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{Known, ModuleRef};

const BY_VAL_STRING: u8 = 0x17;
const SAFE_ARRAY: u8 = 0x1d;
const BY_VAL_ARRAY: u8 = 0x1e;
const LP_ARRAY: u8 = 0x2a;
const CUSTOM: u8 = 0x2c;

/// What a MarshalSpec says.
#[derive(Default)]
struct Spec {
    kind: u8,
    element: Option<u8>,
    variant: u32,
    size: u32,
    parameter: u32,
    marshaler: Option<String>,
    cookie: Option<String>,
}

fn parse(blob: &[u8]) -> std::result::Result<Spec, vervet_metadata::Error> {
    let mut r = SigReader::new(blob);
    let mut spec = Spec {
        kind: r.u8()?,
        ..Spec::default()
    };
    let more = |r: &SigReader<'_>| !r.rest().is_empty();
    match spec.kind {
        BY_VAL_STRING => spec.size = r.compressed_u32()?,
        BY_VAL_ARRAY => {
            if more(&r) {
                spec.size = r.compressed_u32()?;
            }
            if more(&r) {
                spec.element = Some(r.u8()?);
            }
        }
        SAFE_ARRAY if more(&r) => spec.variant = r.compressed_u32()?,
        LP_ARRAY => {
            if more(&r) {
                spec.element = Some(r.u8()?);
            }
            if more(&r) {
                spec.parameter = r.compressed_u32()?;
            }
            if more(&r) {
                spec.size = r.compressed_u32()?;
            }
        }
        CUSTOM => {
            let mut s = CustomAttrReader::without_prolog(r.rest());
            let _guid = s.ser_string()?;
            let _native = s.ser_string()?;
            spec.marshaler = s.ser_string()?.map(str::to_string);
            spec.cookie = s.ser_string()?.map(str::to_string);
        }
        _ => {}
    }
    Ok(spec)
}

/// The MarshalAsAttribute of a Field or Param row, or null.
pub fn of<'cx>(cx: &'cx Cx<'cx>, module: ModuleRef, owner: Token) -> Result<ObjRef<'cx>> {
    let image = &module.image;
    let Some(row) = image.field_marshal_of(owner) else {
        return Ok(ObjRef::NULL);
    };
    let spec = match image
        .field_marshal(row)
        .and_then(|r| image.blob(r.native_type))
        .and_then(parse)
    {
        Ok(s) => s,
        Err(e) => return Err(bad_image(cx, e)),
    };
    let made = Fill::new(cx, Known::MarshalAsAttribute)?.put("utype", spec.kind as i32)?;
    let made = match spec.kind {
        BY_VAL_STRING => made.put("SizeConst", spec.size as i32)?,
        BY_VAL_ARRAY | LP_ARRAY => made
            .put("ArraySubType", spec.element.unwrap_or(0x50) as i32)?
            .put("SizeConst", spec.size as i32)?
            .put("SizeParamIndex", spec.parameter as i16)?,
        SAFE_ARRAY => made.put("SafeArraySubType", spec.variant as i32)?,
        CUSTOM => {
            let made = match &spec.marshaler {
                Some(name) => {
                    let ty = match crate::support::type_lookup::attribute_type(cx, module, name)? {
                        Some(c) => cx.type_object(c)?,
                        None => ObjRef::NULL,
                    };
                    let text = cx.alloc_str(name)?;
                    made.set("MarshalType", text)?.set("MarshalTypeRef", ty)?
                }
                None => made,
            };
            let cookie = cx.alloc_opt_str(spec.cookie.as_deref())?;
            made.set("MarshalCookie", cookie)?
        }
        _ => made,
    };
    Ok(made.object)
}
