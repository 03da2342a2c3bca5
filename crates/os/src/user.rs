//! The user whose process it is, from the user database.

/// Name and home directory of the current user. None: the database does not have it.
pub fn current() -> Option<(String, String)> {
    let mut buffer = vec![0u8; 16384];
    // SAFETY: getpwuid_r fills the record and the buffer it is given; its strings end in a NUL and are copied before they go.
    unsafe {
        let mut record: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let r = libc::getpwuid_r(
            libc::getuid(),
            &mut record,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &mut found,
        );
        let text = |p| std::ffi::CStr::from_ptr(p).to_string_lossy().into_owned();
        (r == 0 && !found.is_null()).then(|| (text(record.pw_name), text(record.pw_dir)))
    }
}
