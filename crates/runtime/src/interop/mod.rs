//! Between managed and native code, and calls through objects.
//!
//! * [`pinvoke`]: native functions that managed code calls; [`marshal`]: conversion of what is passed
//! * [`delegates`]: delegates, `BeginInvoke` and `EndInvoke`
pub mod delegates;
pub mod marshal;
pub mod pinvoke;
