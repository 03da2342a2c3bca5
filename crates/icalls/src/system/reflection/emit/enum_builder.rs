//! Native half of System.Reflection.Emit.EnumBuilder.
//!
//! Keeps nothing.
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;

icalls! {
    /// Tells mono that a type is an enum. The parent in its row says that here.
    "System.Reflection.Emit.EnumBuilder::setup_enum_type" fn setup_enum_type(cx, this: ObjRef<'cx>, t: ObjRef<'cx>) {
        Ok(())
    }
}
