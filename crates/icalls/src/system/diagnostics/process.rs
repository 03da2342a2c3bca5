//! Native half of System.Diagnostics.Process.
//!
//! Keeps nothing: a process handle is one of [`vervet_runtime::threads::wait_handles`]; facts come from /proc. Starting processes is in
//! [`crate::system::diagnostics::process_start`].
use crate::microsoft::win32::native_methods::pid_of;
use crate::support::args::Out;
use std::path::Path;
use vervet_runtime::cx::Cx;
use vervet_runtime::threads::wait_handles::proc_files::{Stat, private_bytes, status_value};
use vervet_runtime::threads::wait_handles::{self, filetime};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

/// /proc/PID/status, empty if there is none.
fn status(pid: i32) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/status")).unwrap_or_default()
}
/// A value of /proc/PID/status in bytes, 0 if there is none.
fn status_bytes(pid: i32, key: &str) -> i64 {
    status_value(&status(pid), key)
}
/// Does the process exist? One of another user does, too.
fn alive(pid: i32) -> bool {
    // SAFETY: `kill` takes numbers and touches no memory of this process.
    pid > 0 && (unsafe { libc::kill(pid, 0) } == 0 || crate::support::errno::errno() == libc::EPERM)
}

/// The file name of the program that this process runs; None: a host has started the runtime without one. As in mono it is the name of the process,
/// which tells programs on one runtime from each other.
pub fn own_program(cx: &Cx<'_>) -> Option<String> {
    let path = cx.rt().command_line.get()?.first()?;
    let name = Path::new(path).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

icalls! {
    /// 0 if there is no such process.
    "System.Diagnostics.Process::GetProcess_internal" fn get_process_internal(cx, pid: i32) -> isize {
        if !alive(pid) {
            return Ok(0);
        }
        Ok(wait_handles::process::create(pid, false) as isize)
    }
    /// The ids of all processes that /proc lists.
    "System.Diagnostics.Process::GetProcesses_internal" fn get_processes_internal(cx) -> ObjRef<'cx> {
        let pids: Vec<i32> = cx.native(|| {
            std::fs::read_dir("/proc").map(|d| d.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()).unwrap_or_default()
        });
        let array = cx.alloc_array(cx.known(Known::Int32), pids.len())?;
        array.elements::<i32>().copy_from_slice(&pids);
        Ok(array)
    }
    /// The name of the executable, or of the program if it is this process; null if the process is gone.
    "System.Diagnostics.Process::ProcessName_icall" fn process_name(cx, handle: isize) -> ObjRef<'cx> {
        let Some(pid) = pid_of(handle) else { return Ok(ObjRef::NULL) };
        if pid as u32 == std::process::id() && let Some(program) = own_program(cx) {
            return cx.alloc_str(&program);
        }
        // The kernel cuts names off; the first argument has it whole.
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let first = arguments.split(|b| *b == 0).next().unwrap_or(&[]);
        let base = String::from_utf8_lossy(first.rsplit(|b| *b == b'/').next().unwrap_or(&[])).into_owned();
        let short = Stat::of(pid).map(|s| s.name);
        let name = match short {
            Some(s) if s.len() < 15 || !base.starts_with(&s) => Some(s),
            _ if !base.is_empty() => Some(base),
            s => s,
        };
        cx.alloc_opt_str(name.as_deref())
    }
    /// Error 1: no such process; 2: no such datum.
    "System.Diagnostics.Process::GetProcessData" fn get_process_data(cx, pid: i32, kind: i32, error: Out<'cx, i32>) -> i64 {
        let Some(s) = Stat::of(pid) else {
            error.set(1);
            return Ok(0);
        };
        error.set(0);
        // SAFETY: `sysconf` only reads system constants.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Ok(match kind {
            0 => s.field(20),
            1 => s.user_ticks() / 10_000,
            2 => s.system_ticks() / 10_000,
            3 => (s.user_ticks() + s.system_ticks()) / 10_000,
            4 => s.field(24) * page,
            5 => status_bytes(pid, "VmHWM"),
            6 => private_bytes(&status(pid)),
            7 => s.field(23),
            8 => status_bytes(pid, "VmPeak"),
            9 => s.field(10) + s.field(12),
            10 => (filetime::now() - s.start_filetime()) / 10_000,
            11 => s.field(4),
            12 => status_bytes(pid, "VmSwap"),
            _ => {
                error.set(2);
                0
            }
        })
    }
}
