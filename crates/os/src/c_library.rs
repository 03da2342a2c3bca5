//! Where the C library's code lies.
//!
//! # Invariants
//! * [`find`] is called before handlers need the answer; [`contains`] is async-signal-safe, and says no until then.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// Looks for the segment that holds the C library's `read`. May be called more than once.
pub fn find() {
    unsafe extern "C" fn each(
        object: *mut libc::dl_phdr_info,
        _: usize,
        wanted: *mut libc::c_void,
    ) -> i32 {
        let wanted = wanted as usize;
        // SAFETY: the loader's record and table, which it holds while it calls this.
        let (base, headers) = unsafe {
            let object = &*object;
            let count = usize::from(object.dlpi_phnum);
            (
                object.dlpi_addr as usize,
                std::slice::from_raw_parts(object.dlpi_phdr, count),
            )
        };
        for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD) {
            let start = base + header.p_vaddr as usize;
            let end = start + header.p_memsz as usize;
            if (start..end).contains(&wanted) {
                START.store(start, Relaxed);
                END.store(end, Relaxed);
                return 1;
            }
        }
        0
    }
    let read = libc::read as *const () as *mut libc::c_void;
    // SAFETY: the callback has the signature that is asked for, and takes the address for a number.
    unsafe { libc::dl_iterate_phdr(Some(each), read) };
}

/// Does the address lie there?
pub(crate) fn contains(address: usize) -> bool {
    (START.load(Relaxed)..END.load(Relaxed)).contains(&address)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_the_program() {
        find();
        assert!(contains(libc::poll as *const () as usize));
        assert!(!contains(it_is_not_the_program as *const () as usize));
    }
}
