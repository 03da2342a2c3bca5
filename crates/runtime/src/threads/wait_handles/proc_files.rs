//! What /proc says of a process: `/proc/PID/stat`, `/proc/PID/status` and the boot time in `/proc/stat`.
//!
//! The parsers are total: any bytes give an answer.
use super::filetime;

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
    pub fn field(&self, number: usize) -> i64 {
        self.fields.get(number - 4).copied().unwrap_or(0)
    }
    /// Ticks of the kernel's clock in units of 100 ns.
    pub fn clock_to_ticks(clock: i64) -> i64 {
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
            .saturating_add(filetime::UNIX_EPOCH)
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
/// The memory of its own that a process uses, in bytes, given /proc/PID/status. mono says `VmData`, which has all that may be written: address space that a
/// runtime reserves, as this one does, counts there.
pub fn private_bytes(status: &[u8]) -> i64 {
    status_value(status, "RssAnon").saturating_add(status_value(status, "VmSwap"))
}
