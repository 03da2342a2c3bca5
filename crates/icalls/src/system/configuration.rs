//! Native half of the configuration classes of System.dll, System.Configuration.dll and System.Web.dll.
//!
//! Keeps nothing. No configuration is bundled into the program.
use crate::system::environment::MACHINE_CONFIG;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    "System.Configuration.DefaultConfig::get_bundled_machine_config" fn get_bundled_machine_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    "System.Configuration.DefaultConfig::get_machine_config_path" fn get_machine_config_path(cx) -> ObjRef<'cx> { cx.alloc_str(MACHINE_CONFIG) }

    "System.Configuration.InternalConfigurationHost::get_bundled_app_config" fn get_bundled_app_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    "System.Configuration.InternalConfigurationHost::get_bundled_machine_config" fn get_bundled_machine_config_2(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }

}
