//! Native half of System.Diagnostics.Process.
//!
//! Keeps nothing: a process handle is one of [`crate::w32`]; facts come from /proc. Starting processes is in
//! [`super::start`].
use crate::microsoft_win32::native_methods::pid_of;
use crate::system::datetime::EPOCH_AS_FILETIME;
use crate::util::Out;
use crate::w32;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

/// /proc/PID/stat, its fields behind the name.
pub struct Stat {
    /// The name in parentheses.
    pub name: String,
    fields: Vec<i64>,
}
impl Stat {
    /// That of a process; None if there is none.
    pub fn of(pid: i32) -> Option<Stat> {
        Stat::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }
    /// Reads a line of /proc/PID/stat; None if it is none. A name may hold parentheses and bytes that are no UTF-8.
    pub fn parse(line: &[u8]) -> Option<Stat> {
        let text = String::from_utf8_lossy(line);
        let (_, rest) = text.split_once('(')?;
        let (name, fields) = rest.rsplit_once(')')?;
        let fields = fields
            .split_whitespace()
            .skip(1)
            .map(|f| f.parse().unwrap_or(0))
            .collect();
        Some(Stat {
            name: name.to_string(),
            fields,
        })
    }
    /// Field `number` as proc(5) counts; 4 (the parent) and above.
    fn field(&self, number: usize) -> i64 {
        self.fields.get(number - 4).copied().unwrap_or(0)
    }
    fn clock_to_ticks(clock: i64) -> i64 {
        // SAFETY: a plain query.
        clock.saturating_mul(10_000_000) / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1)
    }
    /// CPU time in user mode, in 100 ns.
    pub fn user_ticks(&self) -> i64 {
        Stat::clock_to_ticks(self.field(14))
    }
    /// CPU time in the kernel, in 100 ns.
    pub fn system_ticks(&self) -> i64 {
        Stat::clock_to_ticks(self.field(15))
    }
    /// When it started.
    pub fn start_filetime(&self) -> i64 {
        let boot = boot_time(&std::fs::read("/proc/stat").unwrap_or_default());
        boot.saturating_mul(10_000_000)
            .saturating_add(Stat::clock_to_ticks(self.field(22)))
            .saturating_add(EPOCH_AS_FILETIME)
    }
}
/// When the system started, in seconds, as /proc/stat says.
pub fn boot_time(stat: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(stat);
    let value = text.lines().find_map(|l| l.strip_prefix("btime "));
    value.and_then(|b| b.trim().parse().ok()).unwrap_or(0)
}
/// A value of /proc/PID/status in bytes, given the file. The name of the process in it may be any bytes.
pub fn status_value(status: &[u8], key: &str) -> i64 {
    let text = String::from_utf8_lossy(status);
    let line = text
        .lines()
        .find_map(|l| l.strip_prefix(key).and_then(|l| l.strip_prefix(':')));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<i64>().ok())
        .unwrap_or(0)
        .saturating_mul(1024)
}
fn status_bytes(pid: i32, key: &str) -> i64 {
    let status = std::fs::read(format!("/proc/{pid}/status"));
    status_value(&status.unwrap_or_default(), key)
}
fn alive(pid: i32) -> bool {
    // SAFETY: a plain query.
    pid > 0 && (unsafe { libc::kill(pid, 0) } == 0 || crate::util::errno() == libc::EPERM)
}

icalls! { "System.Diagnostics.Process" =>
    /// 0 if there is no such process.
    "GetProcess_internal" fn get_process_internal(cx, pid: i32) -> isize {
        if !alive(pid) {
            return Ok(0);
        }
        Ok(w32::process::create(pid, false) as isize)
    }
    "GetProcesses_internal" fn get_processes_internal(cx) -> ObjRef<'cx> {
        let pids: Vec<i32> = cx.native(|| {
            std::fs::read_dir("/proc").map(|d| d.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()).unwrap_or_default()
        });
        let array = cx.alloc_array(cx.known(Known::Int32), pids.len())?;
        array.elements::<i32>().copy_from_slice(&pids);
        Ok(array)
    }
    "ProcessName_icall" fn process_name(cx, handle: isize) -> ObjRef<'cx> {
        let Some(pid) = pid_of(handle) else { return Ok(ObjRef::NULL) };
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
    "GetProcessData" fn get_process_data(cx, pid: i32, kind: i32, error: Out<'cx, i32>) -> i64 {
        let Some(s) = Stat::of(pid) else {
            error.set(1);
            return Ok(0);
        };
        error.set(0);
        // SAFETY: a plain query.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Ok(match kind {
            0 => s.field(20),
            1 => s.user_ticks() / 10_000,
            2 => s.system_ticks() / 10_000,
            3 => (s.user_ticks() + s.system_ticks()) / 10_000,
            4 => s.field(24) * page,
            5 => status_bytes(pid, "VmHWM"),
            6 => status_bytes(pid, "VmData"),
            7 => s.field(23),
            8 => status_bytes(pid, "VmPeak"),
            9 => s.field(10) + s.field(12),
            10 => (crate::system::datetime::filetime_now() - s.start_filetime()) / 10_000,
            11 => s.field(4),
            12 => status_bytes(pid, "VmSwap"),
            _ => {
                error.set(2);
                0
            }
        })
    }
}
