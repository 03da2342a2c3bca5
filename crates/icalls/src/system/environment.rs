//! Native half of System.Environment.
//!
//! Keeps nothing: the exit code and the command line are the runtime's, the environment is libc's.
use crate::support::args::Chars;
use crate::support::arrays::string_array;
use crate::support::text::utf8_z;
use std::ffi::CStr;
use std::sync::atomic::Ordering;
use vervet_os::Published;
use vervet_os::user::current as user;
use vervet_runtime::interop::marshal::strings::no_utf8;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

/// The directory below which configuration lies: `/etc`, or what `MONO_CFG_DIR` says.
pub fn configuration_directory() -> String {
    variable(c"MONO_CFG_DIR").unwrap_or_else(|| "/etc".to_owned())
}
/// The text of the machine's configuration that a host carries.
static CARRIED: Published<String> = Published::new();
/// A host carries the machine's configuration. Only the first one counts.
pub fn carry_machine_config(text: String) {
    CARRIED.put(text);
}
/// The machine's configuration that a host carries.
pub fn carried_machine_config() -> Option<&'static str> {
    CARRIED.get().map(String::as_str)
}
/// The path of the machine's configuration.
pub fn machine_config() -> String {
    let directory = configuration_directory();
    format!(
        "{}/mono/4.5/machine.config",
        directory.trim_end_matches('/')
    )
}

/// The value of a variable as libc sees it.
pub fn variable(name: &CStr) -> Option<String> {
    // SAFETY: getenv gives null or a NUL-terminated string, which is copied at once.
    unsafe {
        let p = libc::getenv(name.as_ptr());
        (!p.is_null()).then(|| utf8_z(p as *const u8))
    }
}
/// The kernel's description of the system.
fn uname() -> libc::utsname {
    // SAFETY: uname fills the record.
    unsafe {
        let mut u = std::mem::zeroed();
        libc::uname(&mut u);
        u
    }
}
/// The text in a fixed array, up to the NUL.
fn c_array(bytes: &[libc::c_char]) -> String {
    bytes
        .iter()
        .take_while(|b| **b != 0)
        .map(|b| *b as u8 as char)
        .collect()
}
unsafe extern "C" {
    static environ: *const *const libc::c_char;
}

icalls! {
    /// The code that the process ends with if `Main` returns nothing.
    "System.Environment::get_ExitCode" fn get_exit_code(cx) -> i32 { Ok(cx.rt().exit_code.load(Ordering::SeqCst)) }
    /// Sets the code that the process ends with if `Main` returns nothing.
    "System.Environment::set_ExitCode" fn set_exit_code(cx, value: i32) {
        cx.rt().exit_code.store(value, Ordering::SeqCst);
        Ok(())
    }
    /// True once the runtime has begun to end the process.
    "System.Environment::get_HasShutdownStarted" fn get_has_shutdown_started(cx) -> bool { Ok(vervet_runtime::process::exit::has_shutdown_started()) }
    /// The kernel's node name.
    "System.Environment::get_MachineName" fn get_machine_name(cx) -> ObjRef<'cx> { cx.alloc_str(&c_array(&uname().nodename)) }
    /// A line feed, interned.
    "System.Environment::GetNewLine" fn get_new_line(cx) -> ObjRef<'cx> { cx.intern(&[10]) }
    /// PlatformID.Unix.
    "System.Environment::get_Platform" fn get_platform(cx) -> i32 { Ok(4) }
    /// The kernel's release, which managed code parses.
    "System.Environment::GetOSVersionString" fn get_os_version_string(cx) -> ObjRef<'cx> { cx.alloc_str(&c_array(&uname().release)) }
    /// Milliseconds since the machine started.
    "System.Environment::get_TickCount" fn get_tick_count(cx) -> i32 { Ok(vervet_os::clock::coarse_ms() as i32) }
    /// The name of the user, from the user database or `USER`.
    "System.Environment::get_UserName" fn get_user_name(cx) -> ObjRef<'cx> {
        // A user id that nobody has: as mono names it.
        let name = user().map(|u| u.0).or_else(|| variable(c"USER")).unwrap_or_else(|| "somebody".to_owned());
        cx.alloc_str(&name)
    }
    /// Ends the process in the usual order. It does not return.
    "System.Environment::Exit" fn exit(cx, exit_code: i32) { vervet_runtime::process::exit::exit(cx, exit_code) }
    /// The program and its arguments, without the runtime's own.
    "System.Environment::GetCommandLineArgs" fn get_command_line_args(cx) -> ObjRef<'cx> {
        string_array(cx, cx.rt().command_line.get().map_or(&[][..], |v| v))
    }
    /// The value of a variable, null if it is not set.
    "System.Environment::internalGetEnvironmentVariable_native" fn internal_get_environment_variable(cx, name: *const u8) -> ObjRef<'cx> {
        if name.is_null() {
            return Ok(ObjRef::NULL);
        }
        // SAFETY: managed code passes a NUL-terminated UTF-8 string.
        let value = variable(unsafe { CStr::from_ptr(name.cast()) });
        cx.alloc_opt_str(value.as_deref())
    }
    /// An empty value removes the variable.
    "System.Environment::InternalSetEnvironmentVariable" fn internal_set_environment_variable(cx, name: Chars<'cx>, name_length: i32, value: Chars<'cx>, value_length: i32) {
        let (name, value) = (name.take(name_length), value.take(value_length));
        for text in [name, value] {
            if let Some(reason) = no_utf8(text) {
                return Err(cx.throw2(Known::ArgumentException, reason, "string"));
            }
        }
        let name = crate::support::text::path(name);
        // SAFETY: both strings are NUL-terminated copies.
        unsafe {
            if value.is_empty() || value[0] == 0 {
                libc::unsetenv(name.as_ptr());
            } else {
                libc::setenv(name.as_ptr(), crate::support::text::path(value).as_ptr(), 1);
            }
        }
        Ok(())
    }
    /// The names of all variables of the process's environment.
    "System.Environment::GetEnvironmentVariableNames" fn get_environment_variable_names(cx) -> ObjRef<'cx> {
        let mut names = Vec::new();
        // SAFETY: `environ` is a null-terminated array of NUL-terminated strings.
        unsafe {
            let mut at = environ;
            while !at.is_null() && !(*at).is_null() {
                let entry = utf8_z(*at as *const u8);
                if let Some((name, _)) = entry.split_once('=') {
                    names.push(name.to_string());
                }
                at = at.add(1);
            }
        }
        string_array(cx, &names)
    }
    /// Windows only: "".
    "System.Environment::GetWindowsFolderPath" fn get_windows_folder_path(cx, folder: i32) -> ObjRef<'cx> { cx.alloc_str("") }
    /// Windows only: nothing.
    "System.Environment::internalBroadcastSettingChange" fn internal_broadcast_setting_change(cx) { Ok(()) }
    /// Prints the reason and aborts the process. No handler, finally block or finalizer runs.
    "System.Environment::FailFast" fn fail_fast(cx, message: ObjRef<'cx>, exception: ObjRef<'cx>, source: ObjRef<'cx>) {
        if message.is_null() {
            println!("CLR: Managed code called FailFast without specifying a reason.");
        } else {
            println!("CLR: Managed code called FailFast, saying \"{}\"", message.text());
        }
        if !exception.is_null() {
            let described = cx.rt().to_string(cx, exception);
            if let Ok(t) = described {
                eprintln!("{t}");
            }
        }
        std::process::abort()
    }
    /// Always: the runtime exists for x86-64 only.
    "System.Environment::GetIs64BitOperatingSystem" fn get_is_64_bit_operating_system(cx) -> bool { Ok(true) }
    /// The number of processors that this process may run on.
    "System.Environment::get_ProcessorCount" fn get_processor_count(cx) -> i32 {
        Ok(vervet_os::thread::processors())
    }
    /// The library root; managed code appends `mono/gac`.
    "System.Environment::internalGetGacPath" fn internal_get_gac_path(cx) -> ObjRef<'cx> { cx.alloc_str("/usr/lib") }
    /// The places where drives are mounted.
    "System.Environment::GetLogicalDrivesInternal" fn get_logical_drives_internal(cx) -> ObjRef<'cx> {
        let mounts = crate::system::io::drive_info::mounts();
        let drives = mounts.iter().filter(|m| m.is_drive());
        string_array(cx, &drives.map(|m| m.point.as_str()).collect::<Vec<_>>())
    }
    /// The path of `machine.config`.
    "System.Environment::GetMachineConfigPath" fn get_machine_config_path(cx) -> ObjRef<'cx> { cx.alloc_str(&machine_config()) }
    /// The home directory, from `HOME` or the user database.
    "System.Environment::internalGetHome" fn internal_get_home(cx) -> ObjRef<'cx> {
        let home = variable(c"HOME").or_else(|| user().map(|u| u.1)).unwrap_or_else(|| "/".to_owned());
        cx.alloc_str(&home)
    }
    /// The page size in bytes.
    "System.Environment::GetPageSize" fn get_page_size(cx) -> i32 {
        // SAFETY: `sysconf` only reads system constants.
        Ok(unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as i32)
    }
    /// No configuration is bundled: null.
    "System.Environment::get_bundled_machine_config" fn get_bundled_machine_config(cx) -> ObjRef<'cx> { cx.alloc_opt_str(carried_machine_config()) }
}
