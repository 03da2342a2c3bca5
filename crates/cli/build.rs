//! The symbols that native libraries of the class library look up in the process.
fn main() {
    for symbol in [
        "mono_add_internal_call_with_flags",
        "mono_marshal_set_last_error",
        "mono_threads_enter_gc_safe_region_internal",
        "mono_threads_exit_gc_safe_region_internal",
        "mono_win32_compat_CopyMemory",
        "mono_win32_compat_FillMemory",
        "mono_win32_compat_MoveMemory",
        "mono_win32_compat_ZeroMemory",
        // src/signals.rs
        "bsd_signal",
        "pthread_sigmask",
        "sigaction",
        "signal",
        "sigprocmask",
        "ssignal",
    ] {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbol}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
