//! Native half of System.Security.Cryptography.RNGCryptoServiceProvider.
//!
//! Keeps nothing: bytes come from the kernel, so the one handle stands for nothing.
use crate::support::errno::retry;
use vervet_runtime::icalls;

/// Fills memory with random bytes; false if the kernel has none.
///
/// # Safety
/// `to` has room for `length` bytes.
pub unsafe fn fill(to: *mut u8, length: usize) -> bool {
    let mut done = 0;
    while done < length {
        // SAFETY: the rest of the caller's range.
        let n = retry(|| unsafe { libc::getrandom(to.add(done).cast(), length - done, 0) });
        if n <= 0 {
            return false;
        }
        done += n as usize;
    }
    true
}

icalls! {
    /// One handle is shared by all instances.
    "System.Security.Cryptography.RNGCryptoServiceProvider::RngOpen" fn rng_open(cx) -> bool { Ok(true) }
    /// A handle that stands for the kernel's generator. The seed is not needed.
    "System.Security.Cryptography.RNGCryptoServiceProvider::RngInitialize" fn rng_initialize(cx, seed: *const u8, length: isize) -> isize { Ok(1) }
    /// 0 on failure.
    "System.Security.Cryptography.RNGCryptoServiceProvider::RngGetBytes" fn rng_get_bytes(cx, handle: isize, data: *mut u8, length: isize) -> isize {
        // SAFETY: managed code pinned that many bytes.
        let ok = cx.native(|| unsafe { fill(data, length.max(0) as usize) });
        Ok(if ok { handle } else { 0 })
    }
    /// Nothing is held.
    "System.Security.Cryptography.RNGCryptoServiceProvider::RngClose" fn rng_close(cx, handle: isize) { Ok(()) }
}
