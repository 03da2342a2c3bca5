//! Native half of Microsoft.Win32.NativeMethods (mscorlib has GetCurrentProcessId, System.dll all of it): processes
//! by handle.
//!
//! Keeps nothing: process handles are those of [`vervet_runtime::threads::wait_handles`]; -1 is this process.
use crate::support::args::Out;
use vervet_runtime::icalls;
use vervet_runtime::threads::wait_handles::filetime;
use vervet_runtime::threads::wait_handles::{self, Object};

/// The pseudo handle of this process, as on Windows.
const THIS: isize = -1;
/// The exit code of a process that runs, as on Windows.
const STILL_ACTIVE: i32 = 259;

/// The process behind a handle.
pub fn pid_of(handle: isize) -> Option<i32> {
    if handle == THIS {
        return Some(std::process::id() as i32);
    }
    match wait_handles::inspect(handle as usize) {
        Some(Object::Process { pid, .. }) => Some(pid),
        _ => None,
    }
}
/// A processor time in units of 100 ns.
fn time(t: libc::timeval) -> i64 {
    t.tv_sec * 10_000_000 + t.tv_usec * 10
}

icalls! {
    /// The id of this process, as the kernel numbers it.
    "Microsoft.Win32.NativeMethods::GetCurrentProcessId" fn get_current_process_id(cx) -> i32 { Ok(std::process::id() as i32) }
    /// The pseudo handle -1, which is never closed.
    "Microsoft.Win32.NativeMethods::GetCurrentProcess" fn get_current_process(cx) -> isize { Ok(THIS) }
    /// Gives a reference to the process object back. False if the value is no handle.
    "Microsoft.Win32.NativeMethods::CloseProcess" fn close_process(cx, handle: isize) -> bool { Ok(handle == THIS || wait_handles::close(handle as usize)) }
    /// The exit code, or STILL_ACTIVE (259) while the process runs. False if the handle is no process.
    "Microsoft.Win32.NativeMethods::GetExitCodeProcess" fn get_exit_code_process(cx, handle: isize, code: Out<'cx, i32>) -> bool {
        if handle == THIS {
            code.set(STILL_ACTIVE);
            return Ok(true);
        }
        match wait_handles::process::end_of(handle as usize) {
            Some(ended) => {
                code.set(ended.map_or(STILL_ACTIVE, |e| e.code));
                Ok(true)
            }
            None => Ok(false),
        }
    }
    /// Sends SIGKILL if the exit code is that of `Process.Kill`, -1, and SIGTERM for `Process.CloseMainWindow`, as in mono; a signal carries no exit code.
    /// False if that fails.
    "Microsoft.Win32.NativeMethods::TerminateProcess" fn terminate_process(cx, handle: isize, code: i32) -> bool {
        let signal = if code == -1 { libc::SIGKILL } else { libc::SIGTERM };
        // SAFETY: `kill` takes numbers and touches no memory of this process.
        Ok(pid_of(handle).is_some_and(|p| unsafe { libc::kill(p, signal) } == 0))
    }
    /// Windows only: no process becomes idle within the time, which is not waited for (WAIT_TIMEOUT).
    "Microsoft.Win32.NativeMethods::WaitForInputIdle" fn wait_for_input_idle(cx, handle: isize, ms: i32) -> i32 { Ok(0x102) }
    /// Creation and end as FILETIMEs, processor times in units of 100 ns. False if there is no such process.
    "Microsoft.Win32.NativeMethods::GetProcessTimes" fn get_process_times(
        cx, handle: isize, creation: Out<'cx, i64>, exit: Out<'cx, i64>, kernel: Out<'cx, i64>, user: Out<'cx, i64>,
    ) -> bool {
        let Some(pid) = pid_of(handle) else { return Ok(false) };
        exit.set(0);
        if handle == THIS {
            // SAFETY: the record is filled.
            let usage = unsafe {
                let mut u: libc::rusage = std::mem::zeroed();
                libc::getrusage(libc::RUSAGE_SELF, &mut u);
                u
            };
            kernel.set(time(usage.ru_stime));
            user.set(time(usage.ru_utime));
        }
        if let Some(Some(ended)) = wait_handles::process::end_of(handle as usize) {
            if let Some(Object::Process { started, .. }) = wait_handles::inspect(handle as usize) {
                creation.set(started);
            }
            exit.set(ended.at);
            kernel.set(ended.kernel);
            user.set(ended.user);
            return Ok(true);
        }
        let Some(stat) = vervet_runtime::threads::wait_handles::proc_files::Stat::of(pid) else {
            creation.set(filetime::now());
            return Ok(handle == THIS);
        };
        creation.set(stat.start_filetime());
        if handle != THIS {
            kernel.set(stat.system_ticks());
            user.set(stat.user_ticks());
        }
        Ok(true)
    }
    /// Linux sets no limits of the working set: failure, as in mono.
    "Microsoft.Win32.NativeMethods::GetProcessWorkingSetSize" fn get_process_working_set_size(cx, handle: isize, min: Out<'cx, isize>, max: Out<'cx, isize>) -> bool { Ok(false) }
    /// There is nothing to set: failure, as in mono.
    "Microsoft.Win32.NativeMethods::SetProcessWorkingSetSize" fn set_process_working_set_size(cx, handle: isize, min: isize, max: isize) -> bool { Ok(false) }
    /// By the nice value; 0 for an unknown process.
    "Microsoft.Win32.NativeMethods::GetPriorityClass" fn get_priority_class(cx, handle: isize) -> i32 {
        let Some(pid) = pid_of(handle) else { return Ok(0) };
        // SAFETY: `getpriority` takes numbers and touches no memory of this process.
        Ok(match unsafe { libc::getpriority(libc::PRIO_PROCESS, pid as u32) } {
            0 => 0x20,
            ..-15 => 0x100,
            -15..-10 => 0x80,
            -10..0 => 0x8000,
            1..=10 => 0x4000,
            _ => 0x40,
        })
    }
    /// Sets the nice value that corresponds to a Windows priority class. False if the kernel refuses.
    "Microsoft.Win32.NativeMethods::SetPriorityClass" fn set_priority_class(cx, handle: isize, class: i32) -> bool {
        let nice = match class {
            0x20 => 0,
            0x8000 => -5,
            0x80 => -11,
            0x100 => -20,
            0x4000 => 10,
            0x40 => 19,
            _ => return Ok(false),
        };
        // SAFETY: `setpriority` takes numbers and touches no memory of this process.
        Ok(pid_of(handle).is_some_and(|p| unsafe { libc::setpriority(libc::PRIO_PROCESS, p as u32, nice) } == 0))
    }
}
