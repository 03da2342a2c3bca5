//! Native half of small classes of System.dll: Stopwatch, DefaultTraceListener, FileSystemWatcher,
//! MonoTlsProviderFactory, `Interop/Sys`, PerformanceCounterCategory.
//!
//! Keeps nothing.
use crate::support::args::Chars;
use crate::support::arrays::string_array;
use crate::support::errno::retry;
use vervet_runtime::{ObjRef, icalls};

icalls! { STOPWATCH: "System.Diagnostics.Stopwatch" =>
    "GetTimestamp" fn get_timestamp(cx) -> i64 { Ok(vervet_runtime::threads::wait_handles::filetime::monotonic_ticks()) }
}
icalls! { TRACE_LISTENER: "System.Diagnostics.DefaultTraceListener" =>
    /// Windows only: nothing.
    "WriteWindowsDebugString" fn write_windows_debug_string(cx, message: Chars<'cx>) { Ok(()) }
}
icalls! { FILE_SYSTEM_WATCHER: "System.IO.FileSystemWatcher" =>
    /// The inotify backend.
    "InternalSupportsFSW" fn internal_supports_fsw(cx) -> i32 { Ok(6) }
}
icalls! { TLS: "Mono.Net.Security.MonoTlsProviderFactory" =>
    /// The native library can be loaded.
    "IsBtlsSupported" fn is_btls_supported(cx) -> bool {
        Ok(["/usr/lib/libmono-btls-shared.so", "/usr/lib/mono/lib/libmono-btls-shared.so"].iter().any(|p| std::path::Path::new(p).exists()))
    }
}
icalls! { SYS: "Interop/Sys" =>
    /// read(2); -1 and errno.
    "Read" fn read(cx, handle: isize, buffer: *mut u8, count: i32) -> i32 {
        let (n, e) = cx.native(|| {
            // SAFETY: managed code pinned that many bytes.
            let n = retry(|| unsafe { libc::read(handle as i32, buffer.cast(), count.max(0) as usize) });
            (n as i32, crate::support::errno::errno())
        });
        if n == -1 {
            // SAFETY: the context belongs to this thread.
            unsafe { (*cx.context()).last_error = e };
        }
        Ok(n)
    }
}
icalls! { COUNTER_CATEGORY: "System.Diagnostics.PerformanceCounterCategory" =>
    /// There are no categories.
    "CategoryDelete_icall" fn category_delete(cx, name: Chars<'cx>, length: i32) -> bool { Ok(false) }
    "CounterCategoryExists_icall" fn counter_category_exists(cx, counter: Chars<'cx>, counter_length: i32, category: Chars<'cx>, category_length: i32) -> bool { Ok(false) }
    "InstanceExistsInternal_icall" fn instance_exists(cx, instance: Chars<'cx>, instance_length: i32, category: Chars<'cx>, category_length: i32) -> bool { Ok(false) }
    "GetCategoryNames" fn get_category_names(cx) -> ObjRef<'cx> { string_array::<&str>(cx, &[]) }
    "GetCounterNames_icall" fn get_counter_names(cx, category: Chars<'cx>, length: i32) -> ObjRef<'cx> { string_array::<&str>(cx, &[]) }
    "GetInstanceNames_icall" fn get_instance_names(cx, category: Chars<'cx>, length: i32) -> ObjRef<'cx> { string_array::<&str>(cx, &[]) }
}
