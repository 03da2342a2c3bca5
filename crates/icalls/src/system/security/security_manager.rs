//! Native half of System.Security.SecurityManager.
//!
//! Keeps nothing: the answers are constant.
use vervet_runtime::icalls;

icalls! {
    /// There is no code access security.
    "System.Security.SecurityManager::get_SecurityEnabled" fn get_security_enabled(cx) -> bool { Ok(false) }
    /// There is no code access security to switch on.
    "System.Security.SecurityManager::set_SecurityEnabled" fn set_security_enabled(cx, value: bool) { Ok(()) }
}
