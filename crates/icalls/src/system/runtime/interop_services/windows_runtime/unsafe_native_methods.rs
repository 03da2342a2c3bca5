//! Native half of System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods.
//!
//! Keeps nothing: there is no Windows Runtime, and each call throws what mono's throws.
use vervet_runtime::cx::{Cx, Throw};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

/// The exception about an internal call that Windows alone has.
pub fn only_on_windows(cx: &Cx<'_>, call: &str) -> Throw {
    let message = format!("{call} internal call is not implemented.");
    cx.throw(Known::NotImplementedException, &message)
}
/// That about a call of this class.
fn missing(cx: &Cx<'_>, method: &str) -> Throw {
    const CLASS: &str = "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods";
    only_on_windows(cx, &format!("{CLASS}.{method}"))
}

icalls! {
    /// Windows only.
    "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods::GetRestrictedErrorInfo" fn get_restricted_error_info(cx) -> ObjRef<'cx> {
        Err(missing(cx, "GetRestrictedErrorInfo"))
    }
    /// Windows only.
    "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods::RoOriginateLanguageException" fn ro_originate_language_exception(cx, error: i32, message: ObjRef<'cx>, exception: usize) -> bool {
        Err(missing(cx, "RoOriginateLanguageException"))
    }
    /// Windows only.
    "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods::RoReportUnhandledError" fn ro_report_unhandled_error(cx, error: ObjRef<'cx>) {
        Err(missing(cx, "RoReportUnhandledError"))
    }
    /// Windows only.
    "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods::WindowsCreateString" fn windows_create_string(cx, source: ObjRef<'cx>, length: i32, made: *mut usize) -> i32 {
        Err(missing(cx, "WindowsCreateString"))
    }
    /// Windows only.
    "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods::WindowsDeleteString" fn windows_delete_string(cx, string: usize) -> i32 {
        Err(missing(cx, "WindowsDeleteString"))
    }
    /// Windows only.
    "System.Runtime.InteropServices.WindowsRuntime.UnsafeNativeMethods::WindowsGetStringRawBuffer" fn windows_get_string_raw_buffer(cx, string: usize, length: *mut u32) -> *mut u16 {
        Err(missing(cx, "WindowsGetStringRawBuffer"))
    }
}
