//! Native half of System.Web.Util.ICalls.
//!
//! Keeps nothing.
use crate::support::args::Out;
use crate::system::environment::{configuration_directory, machine_config};
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// The path of `machine.config`.
    "System.Web.Util.ICalls::GetMachineConfigPath" fn get_machine_config_path_web(cx) -> ObjRef<'cx> { cx.alloc_str(&machine_config()) }
    /// The directory that has that of the configuration: `/`, as a rule.
    "System.Web.Util.ICalls::GetMachineInstallDirectory" fn get_machine_install_directory(cx) -> ObjRef<'cx> {
        let directory = configuration_directory();
        let parent = match directory.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((parent, _)) => parent,
            None => ".",
        };
        cx.alloc_str(parent)
    }
    /// Mono finds the resources of no assembly.
    "System.Web.Util.ICalls::GetUnmanagedResourcesPtr" fn get_unmanaged_resources(cx, assembly: ObjRef<'cx>, resources: Out<'cx, usize>, length: Out<'cx, i32>) -> bool {
        cx.non_null(assembly)?;
        resources.set(0);
        length.set(0);
        Ok(false)
    }
}
