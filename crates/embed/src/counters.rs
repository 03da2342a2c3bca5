//! Counters that a host registers, to be listed and read by itself or by a profiler module.
//!
//! # Invariants
//! A counter lives for ever, and what it counts lies where the host said, or is told by the host's function. The runtime's own counters are not here: `--stats` prints them.
use crate::support::{Bool, outside_if_attached, read, text};
use std::ffi::{CStr, c_char, c_int, c_void};
use vervet_os::LeafLock;

/// A `MonoCounter`.
pub struct Counter {
    name: &'static CStr,
    kind: c_int,
    at: usize,
    size: usize,
}
static ALL: LeafLock<Vec<&'static Counter>> = LeafLock::new(Vec::new());
static CALLBACKS: LeafLock<Vec<Registered>> = LeafLock::new(Vec::new());

type Registered = unsafe extern "C" fn(&'static Counter);
type Visit = unsafe extern "C" fn(&'static Counter, *mut c_void) -> Bool;

/// Parts of a counter's type, as the header numbers them.
const TYPE: c_int = 0xf;
/// A type: microseconds.
const TIME_INTERVAL: c_int = 7;
/// A unit: tenths of a microsecond.
const TIME: c_int = 2 << 24;
const CALLBACK: c_int = 128;
const SECTIONS: c_int = 0x00ff_ff00;
const UNIT: c_int = 0xf << 24;
const VARIANCE: c_int = (0xf_u32 << 28) as c_int;
const MONOTONIC: c_int = 1 << 28;
/// Names of the sections, from bit 8.
const NAMES: [&str; 10] = [
    "JIT",
    "GC",
    "Metadata",
    "Generics",
    "Security",
    "Runtime",
    "System",
    "PerfCounters",
    "Profiler",
    "Interp",
];

#[derive(Clone, Copy)]
enum Value {
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F64(f64),
    Text(*const c_char),
}

/// The size of a value of a type; a string has none of its own.
fn size_of_kind(kind: c_int) -> usize {
    match kind & TYPE {
        0 | 1 => 4,
        2..=5 | 7 => 8,
        _ => 0,
    }
}
fn register(name: &str, kind: c_int, at: *const c_void, size: usize) {
    if ALL.lock().iter().any(|c| c.at == at as usize) {
        eprintln!("you are registering the same counter address twice: {name} at {at:?}");
        return;
    }
    let kind = if kind & VARIANCE == 0 {
        kind | MONOTONIC
    } else {
        kind
    };
    // SAFETY: `text` gives a string that lives for ever.
    let name = unsafe { CStr::from_ptr(text(name)) };
    let counter: &'static Counter = Box::leak(Box::new(Counter {
        name,
        kind,
        at: at as usize,
        size,
    }));
    ALL.lock().push(counter);
    let callbacks = CALLBACKS.lock().clone();
    for callback in callbacks {
        // SAFETY: the host's function, called as its type says.
        outside_if_attached(|| unsafe { callback(counter) });
    }
}
/// Reads a counter, by the host's function or where it lies.
///
/// # Safety
/// The host has registered what its type says.
unsafe fn value(counter: &Counter) -> Option<Value> {
    // SAFETY: the caller's promise.
    unsafe fn get<T: Copy>(counter: &Counter) -> T {
        if counter.kind & CALLBACK != 0 {
            // SAFETY: as above.
            let call: unsafe extern "C" fn() -> T = unsafe { std::mem::transmute(counter.at) };
            // SAFETY: as above.
            return outside_if_attached(|| unsafe { call() });
        }
        // SAFETY: as above.
        unsafe { (counter.at as *const T).read_unaligned() }
    }
    // SAFETY: the caller's promise.
    unsafe {
        Some(match counter.kind & TYPE {
            0 => Value::I32(get(counter)),
            1 => Value::U32(get(counter)),
            2 | 3 => Value::I64(get(counter)),
            4 | 7 => Value::U64(get(counter)),
            5 => Value::F64(get(counter)),
            6 if counter.kind & CALLBACK == 0 => Value::Text(counter.at as *const c_char),
            6 => Value::Text(get(counter)),
            _ => return None,
        })
    }
}

api! {
    fn mono_counters_init() {}
    fn mono_counters_enable(_sections: c_int) {}
    /// Forgets what has been registered.
    fn mono_counters_cleanup() { ALL.lock().clear(); }
    fn mono_counters_register(name: *const c_char, kind: c_int, at: *const c_void) { register(&read(name), kind, at, size_of_kind(kind)); }
    fn mono_counters_register_with_size(name: *const c_char, kind: c_int, at: *const c_void, size: c_int) {
        register(&read(name), kind, at, size.max(0) as usize);
    }
    fn mono_counters_on_register(callback: Option<Registered>) { CALLBACKS.lock().extend(callback); }
    fn mono_counters_foreach(visit: Option<Visit>, user: *mut c_void) {
        let Some(visit) = visit else { return };
        let all = ALL.lock().clone();
        for counter in all {
            if outside_if_attached(|| visit(counter, user)) == 0 {
                return;
            }
        }
    }
    /// Copies the value; how many bytes, or -1 if there is no room.
    fn mono_counters_sample(counter: Option<&Counter>, to: *mut u8, room: c_int) -> c_int {
        let Some(counter) = counter else { return -1 };
        let room = room.max(0) as usize;
        let Some(value) = value(counter) else { return -1 };
        let copy = |bytes: &[u8]| {
            if bytes.len() > room { return -1; }
            bytes.as_ptr().copy_to_nonoverlapping(to, bytes.len());
            bytes.len() as c_int
        };
        match value {
            Value::I32(v) => copy(&v.to_ne_bytes()),
            Value::U32(v) => copy(&v.to_ne_bytes()),
            Value::I64(v) => copy(&v.to_ne_bytes()),
            Value::U64(v) => copy(&v.to_ne_bytes()),
            Value::F64(v) => copy(&v.to_ne_bytes()),
            Value::Text(v) if v.is_null() => 0,
            Value::Text(v) => copy(CStr::from_ptr(v).to_bytes_with_nul()),
        }
    }
    /// Prints the counters of some sections.
    fn mono_counters_dump(sections: c_int, to: *mut libc::FILE) {
        let all = ALL.lock().clone();
        for (i, name) in NAMES.iter().enumerate() {
            let section = 1 << (8 + i);
            let mut of_section = all.iter().filter(|c| c.kind & sections & section != 0).peekable();
            if of_section.peek().is_none() {
                continue;
            }
            libc::fprintf(to, c"\n%s statistics\n".as_ptr(), text(name));
            for counter in of_section {
                let shown = match value(counter) {
                    Some(Value::I64(v)) if counter.kind & UNIT == TIME => format!("{:.2} ms", v as f64 / 1e4),
                    Some(Value::U64(v)) if counter.kind & TYPE == TIME_INTERVAL => format!("{:.2} ms", v as f64 / 1e3),
                    Some(Value::I32(v)) => v.to_string(),
                    Some(Value::U32(v)) => v.to_string(),
                    Some(Value::I64(v)) => v.to_string(),
                    Some(Value::U64(v)) => v.to_string(),
                    Some(Value::F64(v)) => format!("{v:.4}"),
                    Some(Value::Text(v)) => read(v),
                    None => continue,
                };
                libc::fprintf(to, c"%-36s: %s\n".as_ptr(), counter.name.as_ptr(), text(&shown));
            }
        }
    }
    fn mono_counter_get_name(counter: &Counter) -> *const c_char { counter.name.as_ptr() }
    fn mono_counter_get_type(counter: &Counter) -> c_int { counter.kind & TYPE }
    fn mono_counter_get_section(counter: &Counter) -> c_int { counter.kind & SECTIONS }
    fn mono_counter_get_unit(counter: &Counter) -> c_int { counter.kind & UNIT }
    fn mono_counter_get_variance(counter: &Counter) -> c_int { counter.kind & VARIANCE }
    fn mono_counter_get_size(counter: &Counter) -> usize { counter.size }
}
