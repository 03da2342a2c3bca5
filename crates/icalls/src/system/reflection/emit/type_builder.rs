//! Native half of System.Reflection.Emit.TypeBuilder.
//!
//! Keeps nothing.
use crate::support::emit::create;
use std::mem::offset_of;
use vervet_abi::layouts::TypeBuilderObject;
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

/// `table_idx` of the type that a module has for mono's wrappers. It gets no row.
const WRAPPERS: u32 = 0xFF_FFFF;

icalls! {
    /// Makes the type that a TypeBuilder describes.
    "System.Reflection.Emit.TypeBuilder::create_runtime_class" fn create_runtime_class(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        if this.read::<u32>(offset_of!(TypeBuilderObject, table_idx)) == WRAPPERS {
            return cx.type_object(cx.known(Known::Object));
        }
        let class = create::create(cx, this)?;
        cx.type_object(class)
    }
}
