//! Native half of System.IO.MemoryMappedFiles.MemoryMapImpl.
//!
//! Keeps the open mappings by handle (a descriptor and its capacity; named ones are shared within the process) and
//! the views by handle (address and length). Every mapping has a descriptor: one without a file is a memfd.
use crate::support::args::{Chars, Out};
use crate::support::text::path;
use std::collections::HashMap;
use vervet_os::LeafLock;
use vervet_runtime::icalls;

const CAPACITY_SMALLER_THAN_FILE: i32 = 2;
const FILE_NOT_FOUND: i32 = 3;
const FILE_ALREADY_EXISTS: i32 = 4;
const COULD_NOT_OPEN: i32 = 6;
const CAPACITY_MUST_BE_POSITIVE: i32 = 7;
const COULD_NOT_MAP_MEMORY: i32 = 9;
const ACCESS_DENIED: i32 = 10;

// FileMode.
const CREATE_NEW: i32 = 1;
const CREATE: i32 = 2;
const OPEN: i32 = 3;
const OPEN_OR_CREATE: i32 = 4;
const TRUNCATE: i32 = 5;
const APPEND: i32 = 6;

// MemoryMappedFileAccess.
const READ: i32 = 1;
const WRITE: i32 = 2;
const COPY_ON_WRITE: i32 = 3;
const READ_EXECUTE: i32 = 4;

/// An open mapping; handles and names refer to it.
struct Mapping {
    fd: i32,
    name: Option<String>,
    references: u32,
    capacity: i64,
}
#[derive(Default)]
struct Tables {
    next: usize,
    mappings: HashMap<usize, Mapping>,
    names: HashMap<String, usize>,
    views: HashMap<usize, (usize, usize)>,
}
/// Mappings and views. The lock is not held while the kernel maps or unmaps.
static TABLES: LeafLock<Option<Tables>> = LeafLock::new(None);

/// The page size in bytes.
fn page() -> i64 {
    // SAFETY: `sysconf` only reads system constants.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }
}
/// Adds a mapping, which owns the descriptor; its handle. None: there is a mapping of that name by now, and the descriptor is closed.
fn add(fd: i32, name: Option<String>, capacity: i64) -> Option<usize> {
    let mut t = TABLES.lock();
    let t = t.get_or_insert_default();
    t.next += 16;
    let handle = 0x3000_0000 + t.next;
    if let Some(n) = &name {
        if t.names.contains_key(n) {
            // SAFETY: nobody else knows the descriptor.
            unsafe { libc::close(fd) };
            return None;
        }
        t.names.insert(n.clone(), handle);
    }
    t.mappings.insert(
        handle,
        Mapping {
            fd,
            name,
            references: 1,
            capacity,
        },
    );
    Some(handle)
}
/// The mapping of that name, with another reference.
fn named(name: &str) -> Option<(usize, i64)> {
    let mut t = TABLES.lock();
    let t = t.as_mut()?;
    let handle = *t.names.get(name)?;
    let m = t.mappings.get_mut(&handle)?;
    m.references += 1;
    Some((handle, m.capacity))
}
/// The size of a file in bytes.
fn size_of_file(fd: i32) -> i64 {
    // SAFETY: the record is filled.
    unsafe {
        let mut s: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut s) == 0 {
            s.st_size
        } else {
            0
        }
    }
}
/// Whether a file of that mode has no size: a device, a FIFO, a socket.
fn is_sizeless(mode: libc::mode_t) -> bool {
    matches!(
        mode & libc::S_IFMT,
        libc::S_IFCHR | libc::S_IFBLK | libc::S_IFIFO | libc::S_IFSOCK
    )
}
/// What `stat` or `fstat` says; None if there is no such file.
fn stat_of(file: File<'_>) -> Option<libc::stat> {
    // SAFETY: the path is NUL-terminated; the record is filled in or left alone, and all zeroes is a value of it.
    unsafe {
        let mut s: libc::stat = std::mem::zeroed();
        let failed = match file {
            File::Path(path) => libc::stat(path.as_ptr(), &mut s),
            File::Descriptor(fd) => libc::fstat(fd, &mut s),
        };
        (failed == 0).then_some(s)
    }
}
/// A number of bytes, rounded up to whole pages.
fn whole_pages(bytes: i64) -> i64 {
    bytes.saturating_add(page() - 1) / page() * page()
}
/// A memfd of this capacity in bytes, rounded up to whole pages.
fn anonymous(capacity: i64) -> Result<i32, i32> {
    if capacity <= 0 {
        return Err(CAPACITY_MUST_BE_POSITIVE);
    }
    // SAFETY: the name is NUL-terminated, and nobody else knows the new descriptor.
    unsafe {
        let fd = libc::memfd_create(c"vervet-map".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 || libc::ftruncate(fd, whole_pages(capacity)) != 0 {
            return Err(COULD_NOT_MAP_MEMORY);
        }
        Ok(fd)
    }
}
/// What is mapped.
#[derive(Clone, Copy)]
enum File<'a> {
    /// The file there is, or will be, at a path.
    Path(&'a std::ffi::CStr),
    /// An open file, which stays its owner's.
    Descriptor(i32),
}

/// Opens or creates a file as FileMode and MemoryMappedFileAccess say, and lets it grow to the capacity; the descriptor. A capacity of 0 becomes the size.
///
/// The capacity is compared with the size that the file has before, also where it is then truncated, and nothing is created or truncated if it does not fit. That
/// the file cannot grow is no error here: views of what is not there cannot be made.
fn open_file(file: File<'_>, mode: i32, access: i32, capacity: &mut i64) -> Result<i32, i32> {
    let before = stat_of(file);
    match (mode, &before) {
        (OPEN | TRUNCATE | APPEND, None) => return Err(FILE_NOT_FOUND),
        (CREATE_NEW, Some(_)) => return Err(FILE_ALREADY_EXISTS),
        (CREATE_NEW, None) if *capacity == 0 => return Err(CAPACITY_SMALLER_THAN_FILE),
        (_, Some(s)) if *capacity == 0 => *capacity = s.st_size,
        (_, Some(s)) if *capacity < s.st_size => return Err(CAPACITY_SMALLER_THAN_FILE),
        _ => {}
    }
    let fd = match file {
        File::Path(path) => {
            let flags = libc::O_CLOEXEC
                | match access {
                    READ | READ_EXECUTE => libc::O_RDONLY,
                    WRITE => libc::O_WRONLY,
                    _ => libc::O_RDWR,
                }
                | match mode {
                    CREATE_NEW => libc::O_CREAT | libc::O_EXCL,
                    CREATE => libc::O_CREAT | libc::O_TRUNC,
                    OPEN_OR_CREATE => libc::O_CREAT,
                    TRUNCATE => libc::O_TRUNC,
                    APPEND => libc::O_APPEND,
                    _ => 0,
                };
            // SAFETY: the path is NUL-terminated.
            unsafe { libc::open(path.as_ptr(), flags, 0o666) }
        }
        // SAFETY: these commands of `fcntl` take numbers only; a number that is no descriptor is an error.
        File::Descriptor(fd) => unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) },
    };
    if fd < 0 {
        return Err(COULD_NOT_OPEN);
    }
    if before.is_none_or(|s| *capacity > s.st_size) {
        // SAFETY: `ftruncate` takes numbers; the descriptor is ours.
        unsafe { libc::ftruncate(fd, *capacity) };
    }
    Ok(fd)
}
/// MemoryMappedFile.Create and its like. With a path: a file; without: memory.
fn open(
    path: Option<&std::ffi::CStr>,
    mode: i32,
    name: Option<String>,
    capacity: &mut i64,
    access: i32,
) -> Result<usize, i32> {
    let Some(path) = path else {
        // Another thread may add a mapping of the name between the look and the addition; then it is looked up again.
        loop {
            if let Some((handle, there)) = name.as_deref().and_then(named) {
                if mode == CREATE_NEW {
                    close(handle);
                    return Err(FILE_ALREADY_EXISTS);
                }
                *capacity = there;
                return Ok(handle);
            }
            // Open without a mapping of that name.
            if mode == OPEN {
                return Err(FILE_NOT_FOUND);
            }
            if let Some(handle) = add(anonymous(*capacity)?, name.clone(), *capacity) {
                return Ok(handle);
            }
        }
    };
    open_named(File::Path(path), mode, name, capacity, access)
}
/// A mapping of a file, whose name must be new.
fn open_named(
    file: File<'_>,
    mode: i32,
    name: Option<String>,
    capacity: &mut i64,
    access: i32,
) -> Result<usize, i32> {
    let is_taken = |name: &str| named(name).map(|(h, _)| close(h)).is_some();
    if name.as_deref().is_some_and(is_taken) {
        return Err(FILE_ALREADY_EXISTS);
    }
    let fd = open_file(file, mode, access, capacity)?;
    add(fd, name, *capacity).ok_or(FILE_ALREADY_EXISTS)
}
/// Gives a mapping back; the last user closes the descriptor.
fn close(handle: usize) {
    let mut t = TABLES.lock();
    let Some(t) = t.as_mut() else { return };
    let Some(m) = t.mappings.get_mut(&handle) else {
        return;
    };
    m.references -= 1;
    if m.references > 0 {
        return;
    }
    let gone = t.mappings.remove(&handle).expect("just found");
    if let Some(n) = gone.name {
        let named = t.names.remove(&n);
        debug_assert_eq!(named, Some(handle), "a name is that of one mapping");
    }
    // SAFETY: the descriptor is the mapping's own.
    unsafe { libc::close(gone.fd) };
}
/// The name of a mapping; None for an empty one.
fn name_of(units: &[u16]) -> Option<String> {
    (!units.is_empty()).then(|| crate::support::text::text(units))
}

icalls! {
    /// Opens or creates a mapping of a file, or of anonymous memory if `file` is null. A capacity of 0 becomes that of the
    /// file.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::OpenFileInternal" fn open_file_internal(
        cx, file: Chars<'cx>, file_length: i32, mode: i32, name: Chars<'cx>, name_length: i32, capacity: Out<'cx, i64>, access: i32,
        options: i32, error: Out<'cx, i32>,
    ) -> isize {
        let file = (!file.is_null()).then(|| path(file.take(file_length)));
        let name = name_of(name.take(name_length));
        let mut wanted = capacity.get();
        let r = cx.native(|| open(file.as_deref(), mode, name, &mut wanted, access));
        capacity.set(wanted);
        error.set(r.err().unwrap_or(0));
        Ok(r.map_or(-1, |h| h as isize))
    }
    /// From an open file's descriptor, which stays the caller's.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::OpenHandleInternal" fn open_handle_internal(
        cx, handle: isize, name: Chars<'cx>, name_length: i32, capacity: Out<'cx, i64>, access: i32, options: i32, error: Out<'cx, i32>,
    ) -> isize {
        let mut wanted = capacity.get();
        let name = name_of(name.take(name_length));
        match open_named(File::Descriptor(handle as i32), OPEN, name, &mut wanted, access) {
            Ok(mapping) => {
                capacity.set(wanted);
                error.set(0);
                Ok(mapping as isize)
            }
            Err(e) => {
                error.set(e);
                Ok(-1)
            }
        }
    }
    /// Gives a mapping back. Its views stay mapped.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::CloseMapping" fn close_mapping(cx, handle: isize) {
        close(handle as usize);
        Ok(())
    }
    /// Writes a view back.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::Flush" fn flush(cx, view: isize) {
        let range = TABLES.lock().as_ref().and_then(|t| t.views.get(&(view as usize)).copied());
        if let Some((address, length)) = range {
            // SAFETY: the view is mapped until `Unmap`.
            cx.native(|| unsafe { libc::msync(address as *mut libc::c_void, length, libc::MS_SYNC) });
        }
        Ok(())
    }
    /// Says whether programs that this process starts get the mapping's descriptor.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::ConfigureHandleInheritability" fn configure_handle_inheritability(cx, handle: isize, inheritability: i32) {
        let fd = TABLES.lock().as_ref().and_then(|t| t.mappings.get(&(handle as usize)).map(|m| m.fd));
        if let Some(fd) = fd {
            // SAFETY: these commands of `fcntl` take numbers only; a number that is no descriptor is an error.
            unsafe {
                let flags = libc::fcntl(fd, libc::F_GETFD);
                let flags = if inheritability == 0 { flags | libc::FD_CLOEXEC } else { flags & !libc::FD_CLOEXEC };
                libc::fcntl(fd, libc::F_SETFD, flags);
            }
        }
        Ok(())
    }
    /// Unmaps a view. False if the handle is none.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::Unmap" fn unmap(cx, view: isize) -> bool {
        let range = TABLES.lock().as_mut().and_then(|t| t.views.remove(&(view as usize)));
        // SAFETY: the view is mapped and forgotten with this.
        Ok(range.is_some_and(|(address, length)| unsafe { libc::munmap(address as *mut libc::c_void, length) } == 0))
    }
    /// A view of `size` bytes from `offset` (0: to the end of the last page); its address accounts for the offset in the page.
    "System.IO.MemoryMappedFiles.MemoryMapImpl::MapInternal" fn map_internal(
        cx, handle: isize, offset: i64, size: Out<'cx, i64>, access: i32, view: Out<'cx, isize>, base: Out<'cx, usize>,
    ) -> i32 {
        let Some(fd) = TABLES.lock().as_ref().and_then(|t| t.mappings.get(&(handle as usize)).map(|m| m.fd)) else {
            return Ok(COULD_NOT_MAP_MEMORY);
        };
        let (wanted, there) = (size.get(), size_of_file(fd));
        let sizeless = stat_of(File::Descriptor(fd)).is_some_and(|s| is_sizeless(s.st_mode));
        // The sum is compared as a number without sign, as in mono: programs may pass negative ones.
        if offset > there || !sizeless && offset.wrapping_add(wanted) as u64 > there as u64 {
            return Ok(ACCESS_DENIED);
        }
        let length = if wanted == 0 { whole_pages(there) - offset } else { wanted };
        let skip = offset.rem_euclid(page());
        if length.saturating_add(skip) <= 0 {
            return Ok(COULD_NOT_MAP_MEMORY);
        }
        let protection = match access {
            READ => libc::PROT_READ,
            READ_EXECUTE => libc::PROT_READ | libc::PROT_EXEC,
            5 => libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
            WRITE => libc::PROT_WRITE,
            _ => libc::PROT_READ | libc::PROT_WRITE,
        };
        let flags = if access == COPY_ON_WRITE { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        // SAFETY: a fresh mapping of a descriptor of ours.
        let p = unsafe { libc::mmap(std::ptr::null_mut(), (length + skip) as usize, protection, flags, fd, offset - skip) };
        if p == libc::MAP_FAILED {
            return Ok(COULD_NOT_MAP_MEMORY);
        }
        let mut t = TABLES.lock();
        let t = t.get_or_insert_default();
        t.next += 16;
        let id = 0x3000_0000 + t.next;
        t.views.insert(id, (p as usize, (length + skip) as usize));
        size.set(length);
        view.set(id as isize);
        base.set(p as usize + skip as usize);
        Ok(0)
    }
}
