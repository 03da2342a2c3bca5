//! Native half of Mono.Runtime: what programs ask to find out which runtime they run on, and crash reporting.
//!
//! There is no crash reporter: the calls that configure one do nothing, as the contract allows.
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;

/// Programs parse the version in front, which is that of the class library we are compatible with.
const DISPLAY_NAME: &str = concat!("6.8.0.105 (Vervet ", env!("CARGO_PKG_VERSION"), ")");

icalls! {
    /// The version text.
    "Mono.Runtime::GetDisplayName" fn get_display_name(cx) -> ObjRef<'cx> { cx.alloc_str(DISPLAY_NAME) }
    /// No native trace is kept.
    "Mono.Runtime::GetNativeStackTrace" fn get_native_stack_trace(cx, exception: ObjRef<'cx>) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    /// No crash reporter.
    "Mono.Runtime::ExceptionToState_internal" fn exception_to_state(cx, exception: ObjRef<'cx>, portable: *mut u64, unportable: *mut u64) -> ObjRef<'cx> { cx.alloc_str("") }
    /// No crash reporter.
    "Mono.Runtime::DisableMicrosoftTelemetry" fn disable_telemetry(cx) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::EnableMicrosoftTelemetry_internal" fn enable_telemetry(cx, bundle: usize, signature: usize, version: usize, gui: usize, app: usize, config: usize) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::SendMicrosoftTelemetry_internal" fn send_telemetry(cx, payload: usize, portable: u64, unportable: u64) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::WriteStateToFile_internal" fn write_state_to_file(cx, payload: usize, portable: u64, unportable: u64) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::RegisterReportingForAllNativeLibs_internal" fn register_reporting_for_all(cx) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::RegisterReportingForNativeLib_internal" fn register_reporting_for(cx, suffix: usize, name: usize) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::EnableCrashReportLog_internal" fn enable_crash_report_log(cx, directory: usize) { Ok(()) }
    /// No crash reporter.
    "Mono.Runtime::CheckCrashReportLog_internal" fn check_crash_report_log(cx, directory: usize, clear: bool) -> i32 { Ok(0) }
    /// No crash reporter.
    "Mono.Runtime::AnnotateMicrosoftTelemetry_internal" fn annotate_telemetry(cx, key: usize, value: usize) { Ok(()) }
}
