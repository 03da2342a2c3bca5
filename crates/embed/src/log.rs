//! What the runtime says to a host: messages by level and subject, and what it would print.
use crate::support::{Bool, read, text};
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_os::LeafLock;

type LogCallback =
    unsafe extern "C" fn(*const c_char, *const c_char, *const c_char, Bool, *mut c_void);

struct Settings {
    level: String,
    mask: String,
    handler: Option<(LogCallback, usize)>,
}
static SETTINGS: LeafLock<Settings> = LeafLock::new(Settings {
    level: String::new(),
    mask: String::new(),
    handler: None,
});
static PRINT: AtomicUsize = AtomicUsize::new(0);
static PRINT_ERROR: AtomicUsize = AtomicUsize::new(0);

const LEVELS: [&str; 6] = ["error", "critical", "warning", "message", "info", "debug"];

/// Says that something has happened, if the host wants to hear of that level. Called in Foreign state, or on a thread that is not attached.
pub fn info(message: &str) {
    let (handler, wanted) = {
        let s = SETTINGS.lock();
        let level = LEVELS.iter().position(|l| *l == s.level).unwrap_or(0);
        (
            s.handler,
            level >= 4 && (s.mask.is_empty() || s.mask.contains("all")),
        )
    };
    if let (Some((handler, user)), true) = (handler, wanted) {
        // SAFETY: the host's function, called as its type says.
        unsafe {
            handler(
                text("Vervet"),
                text("info"),
                text(message),
                0,
                user as *mut c_void,
            );
        }
    }
}

api! {
    fn mono_trace_set_level_string(level: *const c_char) {
        let level = read(level);
        if level.is_empty() {
            return;
        }
        if !LEVELS.contains(&level.as_str()) {
            println!("Unknown trace loglevel: {level}");
            return;
        }
        SETTINGS.lock().level = level;
    }
    fn mono_trace_set_mask_string(mask: *const c_char) {
        let mask = read(mask);
        SETTINGS.lock().mask = mask;
    }
    fn mono_trace_set_log_handler(handler: Option<LogCallback>, user: *mut c_void) {
        SETTINGS.lock().handler = handler.map(|h| (h, user as usize));
    }
    fn mono_trace_set_print_handler(handler: *const c_void) { PRINT.store(handler as usize, Ordering::Release); }
    fn mono_trace_set_printerr_handler(handler: *const c_void) { PRINT_ERROR.store(handler as usize, Ordering::Release); }
}
