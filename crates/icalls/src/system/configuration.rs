//! Native half of System.Configuration.DefaultConfig and InternalConfigurationHost.
//!
//! Keeps nothing. A program's configuration is never linked into it; the machine's may be a host's.
use crate::system::environment::{carried_machine_config, machine_config};
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// The machine's configuration that a host carries, or null.
    "System.Configuration.DefaultConfig::get_bundled_machine_config" fn get_bundled_machine_config(cx) -> ObjRef<'cx> { cx.alloc_opt_str(carried_machine_config()) }
    /// The path of `machine.config`.
    "System.Configuration.DefaultConfig::get_machine_config_path" fn get_machine_config_path(cx) -> ObjRef<'cx> { cx.alloc_str(&machine_config()) }

    /// Null: no application configuration is linked into the program.
    "System.Configuration.InternalConfigurationHost::get_bundled_app_config" fn get_bundled_app_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    /// The machine's configuration that a host carries, or null.
    "System.Configuration.InternalConfigurationHost::get_bundled_machine_config" fn get_bundled_machine_config_2(cx) -> ObjRef<'cx> { cx.alloc_opt_str(carried_machine_config()) }

}
