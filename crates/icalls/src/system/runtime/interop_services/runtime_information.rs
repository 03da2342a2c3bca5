//! Native half of System.Runtime.InteropServices.RuntimeInformation.
//!
//! Keeps nothing.
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// The name that the class library parses.
    "System.Runtime.InteropServices.RuntimeInformation::GetRuntimeArchitecture" fn get_runtime_architecture(cx) -> ObjRef<'cx> { cx.alloc_str("x86-64") }
    /// The name that the class library parses.
    "System.Runtime.InteropServices.RuntimeInformation::GetOSName" fn get_os_name(cx) -> ObjRef<'cx> { cx.alloc_str("linux") }
}
