//! Internal calls: the native halves of classes of the class library.
//!
//! # Map
//! Modules mirror managed namespaces; a file is the native half of one class (or of a few small ones), opens with
//! `//! Native half of System.X` and says what it keeps. Every module ends in one or more tables of
//! [`vervet_runtime::icalls!`]; [`all`] chains them.
//! * [`system`]: mscorlib's `System` namespace (with `io`, `threading`, `runtime`, `globalization`, `text`, `security`)
//! * [`mono`], [`microsoft_win32`]: the namespaces of those names in mscorlib
//! * [`system_dll`], [`system_core`]: classes of System.dll and System.Core.dll
//! * [`reflection`]: everything about types, members, assemblies and stack traces
//! * [`util`]: what they share; [`w32`]: wait handles; [`errors`]: errno to the library's error numbers
//!
//! # Rule
//! A function that is not here throws MissingMethodException when it is called. There are no stubs that return a
//! default, unless the default is the contract.
use vervet_runtime::icall::Icall;

pub mod errors;
pub mod microsoft_win32;
pub mod mono;
pub mod reflection;
pub mod system;
pub mod system_core;
pub mod system_dll;
pub mod util;
pub mod w32;

/// Every internal call of this crate.
pub fn all() -> impl Iterator<Item = &'static Icall> {
    system::tables()
        .into_iter()
        .chain(mono::tables())
        .chain(microsoft_win32::tables())
        .chain(system_dll::tables())
        .chain(system_core::tables())
        .chain(reflection::tables())
        .flatten()
}
