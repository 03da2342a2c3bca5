//! Native half of `Interop/Sys`, a class without a namespace in mscorlib (`DoubleToString`) and in System.dll (`Read`).
//!
//! Keeps nothing.
use crate::support::errno::retry_or_abort;
use crate::support::exponential;
use std::ffi::CStr;
use vervet_runtime::icalls;

icalls! {
    /// snprintf; the format comes from managed code and takes one double. It is `%.40e` wherever the class library formats a double.
    "Interop/Sys::DoubleToString" fn double_to_string(cx, value: f64, format: *const u8, buffer: *mut u8, length: i32) -> i32 {
        // SAFETY: the format is NUL-terminated, as managed code made it.
        if length > 0 && unsafe { CStr::from_ptr(format.cast()) } == c"%.40e" {
            // SAFETY: the buffer has `length` bytes, as managed code made it.
            let text = unsafe { std::slice::from_raw_parts_mut(buffer, length as usize) };
            if let Some(len) = exponential::write(value, text) {
                return Ok(len as i32);
            }
        }
        // SAFETY: the format is NUL-terminated and the buffer has `length` bytes, as managed code made them.
        Ok(unsafe { libc::snprintf(buffer.cast(), length.max(0) as usize, format.cast(), value) })
    }
    /// read(2); -1 and errno.
    "Interop/Sys::Read" fn read(cx, handle: isize, buffer: *mut u8, count: i32) -> i32 {
        // SAFETY: managed code pinned that many bytes.
        let (n, e) = retry_or_abort(cx, || unsafe { libc::read(handle as i32, buffer.cast(), count.max(0) as usize) })?;
        if n == -1 {
            // SAFETY: the context belongs to this thread.
            unsafe { (*cx.context()).last_error = e };
        }
        Ok(n as i32)
    }
}
