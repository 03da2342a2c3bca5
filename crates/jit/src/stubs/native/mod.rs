//! The boundary to native code: P/Invoke stubs, reverse stubs, and the plans that say how arguments are marshalled.
//!
//! # How it works
//! [`marshal_spec`] reads what the metadata says, [`layout`] and [`scalar`] give the native form of a type, [`sysv`] assigns
//! registers, and [`marshal_plan`] puts these together for one method. [`pinvoke`] and [`reverse`] emit code from a plan.
pub mod layout;
pub mod marshal_plan;
pub mod marshal_spec;
pub mod pinvoke;
pub mod reverse;
pub mod scalar;
pub mod sysv;
