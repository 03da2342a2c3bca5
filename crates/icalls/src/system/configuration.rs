//! Native half of the configuration classes of System.dll, System.Configuration.dll and System.Web.dll.
//!
//! Keeps nothing. No configuration is bundled into the program.
use crate::system::environment::MACHINE_CONFIG;
use vervet_runtime::{ObjRef, icalls};

icalls! { DEFAULT_CONFIG: "System.Configuration.DefaultConfig" =>
    "get_bundled_machine_config" fn get_bundled_machine_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    "get_machine_config_path" fn get_machine_config_path(cx) -> ObjRef<'cx> { cx.alloc_str(MACHINE_CONFIG) }
}
icalls! { INTERNAL_CONFIGURATION_HOST: "System.Configuration.InternalConfigurationHost" =>
    "get_bundled_app_config" fn get_bundled_app_config(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
    "get_bundled_machine_config" fn get_bundled_machine_config_2(cx) -> ObjRef<'cx> { Ok(ObjRef::NULL) }
}
icalls! { WEB: "System.Web.Util.ICalls" =>
    "GetMachineConfigPath" fn get_machine_config_path_web(cx) -> ObjRef<'cx> { cx.alloc_str(MACHINE_CONFIG) }
    "GetMachineInstallDirectory" fn get_machine_install_directory(cx) -> ObjRef<'cx> {
        cx.alloc_str(MACHINE_CONFIG.rsplit_once('/').expect("an absolute path").0)
    }
}
