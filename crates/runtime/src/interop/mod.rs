//! Between managed and native code, and calls through objects.
//!
//! * [`pinvoke`]: native functions that managed code calls; [`marshal`]: conversion of what is passed
//! * [`com`]: COM interfaces of objects, which native code calls
//! * [`delegates`]: delegates, `BeginInvoke` and `EndInvoke`
pub mod com;
pub mod delegates;
pub mod marshal;
pub mod pinvoke;
