//! Native half of System.CLRConfig, System.Diagnostics.Debugger and System.SecurityManager-like switches that are
//! constant here.
//!
//! Keeps nothing.
use vervet_runtime::{ObjRef, icalls};

icalls! { CLR_CONFIG: "System.CLRConfig" =>
    "CheckThrowUnobservedTaskExceptions" fn check_throw_unobserved_task_exceptions(cx) -> bool { Ok(false) }
}
icalls! { DEBUGGER: "System.Diagnostics.Debugger" =>
    "IsAttached_internal" fn is_attached_internal(cx) -> bool { Ok(false) }
    "IsLogging" fn is_logging(cx) -> bool { Ok(false) }
    "Log" fn log(cx, level: i32, category: ObjRef<'cx>, message: ObjRef<'cx>) { Ok(()) }
}
icalls! { VERSIONING_HELPER: "System.Runtime.Versioning.VersioningHelper" =>
    "GetRuntimeId" fn get_runtime_id(cx) -> i32 { Ok(0) }
}
icalls! { EVIDENCE: "System.Security.Policy.Evidence" =>
    "IsAuthenticodePresent" fn is_authenticode_present(cx, assembly: ObjRef<'cx>) -> bool { Ok(false) }
}
icalls! { SECURITY_MANAGER: "System.Security.SecurityManager" =>
    "get_SecurityEnabled" fn get_security_enabled(cx) -> bool { Ok(false) }
    "set_SecurityEnabled" fn set_security_enabled(cx, value: bool) { Ok(()) }
}
