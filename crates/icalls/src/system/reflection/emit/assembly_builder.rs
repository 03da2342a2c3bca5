//! Native half of System.Reflection.Emit.AssemblyBuilder.
//!
//! Keeps nothing.
use crate::support::emit::modules;
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;

icalls! {
    /// Makes the assembly and raises AssemblyLoad.
    "System.Reflection.Emit.AssemblyBuilder::basic_init" fn basic_init(cx, ab: ObjRef<'cx>) {
        modules::define_assembly(cx, ab)
    }
    /// Called for RuntimeCompatibilityAttribute only, which says whether exceptions that are no Exception are wrapped. They always are.
    "System.Reflection.Emit.AssemblyBuilder::UpdateNativeCustomAttributes" fn update_native_custom_attributes(cx, ab: ObjRef<'cx>) {
        Ok(())
    }
}
