//! Native half of System.Configuration.DefaultConfig and InternalConfigurationHost.
//!
//! Keeps nothing. No configuration is linked into the program.
use crate::system::environment::machine_config;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// Null: no machine configuration is linked into the program.
    "System.Configuration.DefaultConfig::get_bundled_machine_config" fn get_bundled_machine_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    /// The path of `machine.config`.
    "System.Configuration.DefaultConfig::get_machine_config_path" fn get_machine_config_path(cx) -> ObjRef<'cx> { cx.alloc_str(&machine_config()) }

    /// Null: no application configuration is linked into the program.
    "System.Configuration.InternalConfigurationHost::get_bundled_app_config" fn get_bundled_app_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    /// Null: no machine configuration is linked into the program.
    "System.Configuration.InternalConfigurationHost::get_bundled_machine_config" fn get_bundled_machine_config_2(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }

}
