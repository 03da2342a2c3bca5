//! Native half of System.Web.Util.ICalls.
//!
//! Keeps nothing.
use crate::system::environment::MACHINE_CONFIG;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// The path of `machine.config`.
    "System.Web.Util.ICalls::GetMachineConfigPath" fn get_machine_config_path_web(cx) -> ObjRef<'cx> { cx.alloc_str(MACHINE_CONFIG) }
    /// The directory of `machine.config`.
    "System.Web.Util.ICalls::GetMachineInstallDirectory" fn get_machine_install_directory(cx) -> ObjRef<'cx> {
        cx.alloc_str(MACHINE_CONFIG.rsplit_once('/').expect("an absolute path").0)
    }
}
