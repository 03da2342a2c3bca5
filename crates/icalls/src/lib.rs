//! Internal calls: the native halves of classes of the class library.
//!
//! # Map
//! Modules mirror managed namespaces; a file is the native half of one class (or of a few small ones), opens with
//! `//! Native half of System.X` and says what it keeps. Internal calls are declared with their full managed names by
//! [`vervet_runtime::icalls!`], which also registers them.
//! * [`system`], [`mono`], [`microsoft`], [`vervet`]: a folder for each namespace, whichever assembly declares the class
//! * [`interop`]: a class without a namespace
//! * [`support`]: what they share
//!
//! # Rule
//! A function that is not here throws MissingMethodException when it is called. There are no stubs that return a
//! default, unless the default is the contract.
use vervet_runtime::code::icall::Icall;

pub mod interop;
pub mod microsoft;
pub mod mono;
pub mod support;
pub mod system;
pub mod vervet;

/// Every internal call of the class library. A program that calls this links this crate, and with it all of them.
pub fn all() -> impl Iterator<Item = &'static Icall> {
    vervet_runtime::code::icall::declared()
}
