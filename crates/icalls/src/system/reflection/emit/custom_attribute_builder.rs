//! Native half of System.Reflection.Emit.CustomAttributeBuilder.
//!
//! Keeps nothing.
use crate::support::emit::attributes::{self, Values};
use crate::support::emit::{self, encoder};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

icalls! {
    /// The blob of an attribute's values.
    "System.Reflection.Emit.CustomAttributeBuilder::GetBlob" fn get_blob(cx, asmb: ObjRef<'cx>, con: ObjRef<'cx>, constructor_args: ObjRef<'cx>, named_properties: ObjRef<'cx>, property_values: ObjRef<'cx>, named_fields: ObjRef<'cx>, field_values: ObjRef<'cx>) -> ObjRef<'cx> {
        emit::check(cx)?;
        let values = Values {
            constructor: con,
            arguments: constructor_args,
            properties: (named_properties, property_values),
            fields: (named_fields, field_values),
        };
        let blob = encoder::encode(cx, |_| attributes::blob(&values))?;
        let bytes = cx.alloc_array(cx.known(Known::Byte), blob.len())?;
        bytes.elements::<u8>().copy_from_slice(&blob);
        Ok(bytes)
    }
}
