//! Native half of Mono.RuntimeMarshal.
//!
//! Keeps nothing.
use crate::support::handles::free;
use crate::system::reflection::assembly_name::MonoAssemblyName;
use vervet_runtime::icalls;

icalls! {
    /// Frees the strings, and the struct if it was allocated.
    "Mono.RuntimeMarshal::FreeAssemblyName" fn free_assembly_name(cx, name: *mut MonoAssemblyName, free_struct: bool) {
        if name.is_null() {
            return Ok(());
        }
        // SAFETY: managed code passes a struct that the icalls of AssemblyName filled with allocated strings, and that it
        // uses no more.
        unsafe {
            (*name).free_strings();
            if free_struct {
                free(name as *mut u8);
            }
        }
        Ok(())
    }
}
