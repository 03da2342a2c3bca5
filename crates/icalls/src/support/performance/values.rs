//! The values of the counters that every process has.
//!
//! Those of the machine and of processes come from /proc, times in units of 100 ns. Of the process's own counters those have a value that the
//! runtime counts anyway; mono fills few of them, too. A program may write the counters of [`Written`], which are its own to define.
use super::categories::{CATEGORIES, Instances};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use vervet_runtime::memory::gc;
use vervet_runtime::process::counters;
use vervet_runtime::threads::pool;
use vervet_runtime::threads::wait_handles::proc_files::{Stat, private_bytes, status_value};

/// The instance that is all processors together.
pub const ALL: i32 = -1;

/// A counter that programs write: what was added to its own value so far.
struct Written {
    category: &'static str,
    counter: &'static str,
    added: AtomicI64,
}
/// A counter to which nothing was added.
const fn written(category: &'static str, counter: &'static str) -> Written {
    Written {
        category,
        counter,
        added: AtomicI64::new(0),
    }
}
static WRITTEN: [Written; 6] = [
    written("ASP.NET", "Requests Queued"),
    written("ASP.NET", "Requests Total"),
    written("Mono Threadpool", "Work Items Added"),
    written("Mono Threadpool", "IO Work Items Added"),
    written("Mono Threadpool", "# of Threads"),
    written("Mono Threadpool", "# of IO Threads"),
];
fn find_written(category: usize, counter: usize) -> Option<&'static Written> {
    let c = CATEGORIES.get(category)?;
    let (name, _) = c.counters.get(counter)?;
    WRITTEN
        .iter()
        .find(|w| w.category == c.name && w.counter == *name)
}

/// The instance that a name means; None if it means none. A name that is no number means all processors, and no process.
pub fn instance(category: usize, name: &str) -> Option<i32> {
    let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = name[..digits].parse::<i32>().ok();
    match CATEGORIES.get(category)?.instances {
        Instances::Processor => Some(number.unwrap_or(ALL)),
        Instances::Process => number.filter(|pid| *pid > 0),
        Instances::Network => {
            let name = std::ffi::CString::new(name).ok()?;
            // SAFETY: the name is NUL-terminated. 0 is no interface, of which the counters stay 0.
            Some(unsafe { libc::if_nametoindex(name.as_ptr()) } as i32)
        }
        Instances::Memory | Instances::Own => Some(0),
    }
}
/// The names of the instances.
pub fn instances(category: usize) -> Vec<String> {
    let named = |pid: i32| Some(format!("{pid}/{}", Stat::of(pid)?.name));
    match CATEGORIES[category].instances {
        Instances::Processor => std::iter::once("_Total".to_owned())
            .chain((0..processors().len() - 1).map(|i| i.to_string()))
            .collect(),
        Instances::Process => {
            let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            let mut pids: Vec<i32> = entries
                .filter_map(|e| e.file_name().to_str()?.parse().ok())
                .collect();
            pids.sort_unstable();
            pids.into_iter().filter_map(named).collect()
        }
        Instances::Network => interfaces().into_iter().map(|i| i.0).collect(),
        Instances::Memory | Instances::Own => {
            named(std::process::id() as i32).into_iter().collect()
        }
    }
}

/// The value of a counter now; 0 if the instance is gone.
pub fn value(category: usize, counter: usize, instance: i32) -> i64 {
    let Some(c) = CATEGORIES.get(category) else {
        return 0;
    };
    let Some((name, _)) = c.counters.get(counter) else {
        return 0;
    };
    match c.instances {
        Instances::Processor => processor(name, instance),
        Instances::Process => process(name, instance),
        Instances::Memory => memory(name),
        Instances::Network => network(name, instance),
        Instances::Own => {
            let added = find_written(category, counter).map_or(0, |w| w.added.load(Relaxed));
            own(c.name, name).wrapping_add(added)
        }
    }
}
/// Adds to a counter, or sets it; the new value. 0, and nothing happens, if programs do not write it.
pub fn update(category: usize, counter: usize, add: bool, by: i64) -> i64 {
    let Some(w) = find_written(category, counter) else {
        return 0;
    };
    let own = own(w.category, w.counter);
    if add {
        own.wrapping_add(w.added.fetch_add(by, Relaxed).wrapping_add(by))
    } else {
        w.added.store(by.wrapping_sub(own), Relaxed);
        by
    }
}

/// What the runtime counts.
fn own(category: &str, counter: &str) -> i64 {
    match (category, counter) {
        (".NET CLR JIT", "# of IL Bytes JITted" | "IL Bytes Jitted/Sec") => {
            counters::jitted().1 as i64
        }
        (".NET CLR JIT", "# of IL Methods JITted") => counters::jitted().0 as i64,
        (".NET CLR Memory", "# Gen 0 Collections") => i64::from(gc::collection_count(0)),
        (".NET CLR Memory", "# Gen 1 Collections") => i64::from(gc::collection_count(1)),
        ("Mono Threadpool", "Work Items Added") => pool::completed_items() as i64,
        ("Mono Threadpool", "# of Threads") => i64::from(pool::working()),
        _ => 0,
    }
}

/// The ticks of each line of /proc/stat about processors, by column; the first line is all of them.
fn processors() -> Vec<Vec<i64>> {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let mut all: Vec<Vec<i64>> = text
        .lines()
        .take_while(|l| l.starts_with("cpu"))
        .map(|l| {
            l.split_whitespace()
                .skip(1)
                .map(|n| n.parse().unwrap_or(0))
                .collect()
        })
        .collect();
    if all.is_empty() {
        all.push(Vec::new());
    }
    all
}
/// Of all processors: the mean. The columns are those that mono reads: its `Interrupt` is the time that a processor waits for disks.
fn processor(counter: &str, instance: i32) -> i64 {
    let lines = processors();
    let (line, of) = match usize::try_from(instance) {
        Ok(i) => (lines.get(i + 1), 1),
        Err(_) => (lines.first(), (lines.len() as i64 - 1).max(1)),
    };
    let column = |i: usize| line.and_then(|l| l.get(i)).copied().unwrap_or(0);
    let clock = match counter {
        "% User Time" => column(0) + column(1),
        "% Privileged Time" => column(2),
        "% Interrupt Time" => column(4),
        "% DCP Time" => column(5),
        "% Processor Time" => column(3),
        _ => 0,
    };
    Stat::clock_to_ticks(clock) / of
}
fn process(counter: &str, pid: i32) -> i64 {
    let Some(stat) = Stat::of(pid) else { return 0 };
    let status = || std::fs::read(format!("/proc/{pid}/status")).unwrap_or_default();
    match counter {
        "% User Time" => stat.user_ticks(),
        "% Privileged Time" => stat.system_ticks(),
        "% Processor Time" => stat.user_ticks() + stat.system_ticks(),
        "Thread Count" => stat.field(20),
        "Virtual Bytes" => stat.field(23),
        "Working Set" => status_value(&status(), "VmRSS"),
        "Private Bytes" => private_bytes(&status()),
        _ => 0,
    }
}
/// The heap's objects are not counted, in mono neither.
fn memory(counter: &str) -> i64 {
    let text = std::fs::read("/proc/meminfo").unwrap_or_default();
    match counter {
        "Total Physical Memory" => status_value(&text, "MemTotal"),
        "Available Physical Memory" => status_value(&text, "MemFree"),
        _ => 0,
    }
}
/// Name, bytes received and bytes sent of each interface.
fn interfaces() -> Vec<(String, i64, i64)> {
    let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    text.lines()
        .filter_map(|l| l.split_once(':'))
        .map(|(name, columns)| {
            let column = |i| {
                columns
                    .split_whitespace()
                    .nth(i)
                    .and_then(|n| n.parse().ok())
            };
            (
                name.trim().to_owned(),
                column(0).unwrap_or(0),
                column(8).unwrap_or(0),
            )
        })
        .collect()
}
fn network(counter: &str, index: i32) -> i64 {
    let mut name = [0 as libc::c_char; libc::IF_NAMESIZE];
    // SAFETY: the buffer has the length that the call may fill; the result is null or that buffer, NUL-terminated.
    let name = unsafe {
        if libc::if_indextoname(index as u32, name.as_mut_ptr()).is_null() {
            return 0;
        }
        std::ffi::CStr::from_ptr(name.as_ptr()).to_string_lossy()
    };
    let Some((_, received, sent)) = interfaces().into_iter().find(|i| *i.0 == *name) else {
        return 0;
    };
    match counter {
        "Bytes Received/sec" => received,
        "Bytes Sent/sec" => sent,
        _ => received + sent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_value_and_only_the_written_ones_take_another() {
        for (i, c) in CATEGORIES.iter().enumerate() {
            for (j, (name, _)) in c.counters.iter().enumerate() {
                let writable = WRITTEN
                    .iter()
                    .any(|w| w.category == c.name && w.counter == *name);
                assert_eq!(update(i, j, false, 1000) == 1000, writable, "{name}");
            }
        }
        let processor = |name: &str| {
            CATEGORIES[0]
                .counters
                .iter()
                .position(|c| c.0 == name)
                .unwrap()
        };
        assert!(value(0, processor("% Processor Time"), ALL) > 0);
        assert!(value(0, processor("% Processor Time"), 0) > 0);
        assert_eq!(value(0, processor("% Processor Time"), 100_000), 0);
        assert_eq!(value(99, 0, 0), 0);
    }
    #[test]
    fn names_mean_instances() {
        assert_eq!(instance(0, "_Total"), Some(ALL));
        assert_eq!(instance(0, "1"), Some(1));
        assert_eq!(instance(1, "12/init"), Some(12));
        assert_eq!(instance(1, ""), None);
        assert_eq!(instance(1, "99999999999"), None);
        assert!(instances(13).iter().any(|i| i == "lo"));
        assert!(instance(13, "lo").unwrap() > 0);
    }
}
