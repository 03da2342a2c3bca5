//! Native halves of the namespace Microsoft.Win32.
pub mod native_methods;

use vervet_runtime::icall::Icall;

/// The tables of this namespace.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![native_methods::ICALLS]
}
