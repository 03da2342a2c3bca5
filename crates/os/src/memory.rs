//! Address-space reservations and file mappings.
//!
//! # Invariants
//! * Nothing mapped here is ever unmapped but by [`release`]: images, code and VTables live as long as the process.
//! * What was discarded reads as zero, whatever the system makes of the request: pages that the program has locked in memory
//!   (`mlock`, `mlockall`) it keeps, with all that is in them. The heap hands such memory out as zeroed.
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

/// Reserves `size` bytes of zeroed, readable and writable memory somewhere; touched pages only cost.
pub fn reserve(size: usize) -> io::Result<*mut u8> {
    map(
        std::ptr::null_mut(),
        size,
        libc::PROT_READ | libc::PROT_WRITE,
        0,
    )
}

/// Reserves `size` bytes somewhere that read as zero and cannot be written to before [`make_writable`].
pub fn reserve_read_only(size: usize) -> io::Result<*mut u8> {
    map(std::ptr::null_mut(), size, libc::PROT_READ, 0)
}

/// Makes the pages that hold `[low, high)` writable; what is in them stays.
///
/// # Safety
/// The range was got from [`reserve`] or [`reserve_read_only`].
pub unsafe fn make_writable(low: usize, high: usize) -> io::Result<()> {
    if cfg!(miri) {
        return Ok(());
    }
    let (low, high) = (low & !4095, (high + 4095) & !4095);
    // SAFETY: the caller's promise.
    match unsafe {
        libc::mprotect(
            low as *mut libc::c_void,
            high - low,
            libc::PROT_READ | libc::PROT_WRITE,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A stack of at least `size` bytes, [lowest usable address, end), above a page whose touch is a fault.
pub fn stack(size: usize) -> io::Result<(usize, usize)> {
    let size = (size + 4095) & !4095;
    let low = reserve(size + 4096)? as usize;
    let page = low as *mut libc::c_void;
    // SAFETY: the lowest page of a mapping that was just made.
    let installs = || unsafe { libc::madvise(page, 4096, MADV_GUARD_INSTALL) == 0 };
    let is_guarded = has_guard_regions() && {
        let installs = installs();
        if !installs {
            // The process has locked its memory since it was asked: locked mappings have no guard regions.
            GUARD_REGIONS.store(NO, Ordering::Relaxed);
        }
        installs
    };
    // SAFETY: the lowest page of that mapping, which nobody knows yet.
    let is_guarded = is_guarded || unsafe { libc::mprotect(page, 4096, libc::PROT_NONE) == 0 };
    if !is_guarded {
        let error = io::Error::last_os_error();
        // SAFETY: the whole mapping, which nobody knows.
        unsafe { libc::munmap(page, size + 4096) };
        return Err(error);
    }
    Ok((low + 4096, low + 4096 + size))
}

/// See madvise(2): touching the page is a fault from then on, and the mapping stays one.
const MADV_GUARD_INSTALL: i32 = 102;

/// Have pages been guards without being mappings of their own?
static GUARD_REGIONS: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const YES: u8 = 1;
const NO: u8 = 2;

/// Can a page be a guard without being a mapping of its own (Linux 6.13)? Then stacks beside each other are one mapping. Not if `VERVET_DEBUG_NO_GUARD_REGIONS`
/// is set, and no more once the process has had all its memory locked (`mlockall`) and [`stack`] has found it out.
pub fn has_guard_regions() -> bool {
    match GUARD_REGIONS.load(Ordering::Relaxed) {
        UNKNOWN => {
            let refused = std::env::var_os("VERVET_DEBUG_NO_GUARD_REGIONS").is_some();
            let has = !cfg!(miri)
                && !refused
                && reserve(4096).is_ok_and(|page| {
                    // SAFETY: a page that was just made, and that nobody else knows.
                    unsafe {
                        let has = libc::madvise(page.cast(), 4096, MADV_GUARD_INSTALL) == 0;
                        libc::munmap(page.cast(), 4096);
                        has
                    }
                });
            GUARD_REGIONS.store(if has { YES } else { NO }, Ordering::Relaxed);
            has
        }
        has => has == YES,
    }
}

/// Unmaps a stack that [`stack`] made, with its guard page.
///
/// # Safety
/// The bounds are those that [`stack`] returned, and nobody uses the memory any more.
pub unsafe fn free_stack(low: usize, high: usize) {
    // SAFETY: the caller's promise; the guard page lies below.
    unsafe { libc::munmap((low - 4096) as *mut libc::c_void, high - low + 4096) };
}

/// Gives the whole pages of a range back to the system; they read as zero afterwards.
///
/// # Safety
/// The range was got from [`reserve`] or [`stack`], and nobody needs what is in it.
pub unsafe fn discard(low: usize, high: usize) {
    let (low, high) = ((low + 4095) & !4095, high & !4095);
    if low < high && cfg!(miri) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::write_bytes(low as *mut u8, 0, high - low) };
    } else if low < high {
        // SAFETY: the caller's promise.
        let given = unsafe { libc::madvise(low as *mut _, high - low, libc::MADV_DONTNEED) } == 0;
        if !given {
            // SAFETY: the caller's promise: the range is mapped, and nobody needs what is in it.
            unsafe { std::ptr::write_bytes(low as *mut u8, 0, high - low) };
        }
    }
}

/// Gives the whole pages of a range back to the system, if it takes them: pages that are locked stay as they are. What they hold is not defined afterwards.
///
/// # Safety
/// The range was got from [`reserve`] or [`stack`], and nobody needs what is in it.
pub unsafe fn offer(low: usize, high: usize) {
    let (low, high) = ((low + 4095) & !4095, high & !4095);
    if low < high && !cfg!(miri) {
        // SAFETY: the caller's promise.
        unsafe { libc::madvise(low as *mut _, high - low, libc::MADV_DONTNEED) };
    }
}

/// The end of the last page of a range that is in memory; `low`: none is. The range has whole pages, some thousand at most.
///
/// # Safety
/// The range was got from [`reserve`] or [`stack`].
pub unsafe fn resident_end(low: usize, high: usize) -> usize {
    let mut pages = [0u8; 1024];
    let mut end = low;
    for from in (low..high).step_by(pages.len() * 4096) {
        let to = (from + pages.len() * 4096).min(high);
        // SAFETY: the range is mapped, and the array has a byte for each page.
        let known = unsafe { libc::mincore(from as *mut _, to - from, pages.as_mut_ptr()) } == 0;
        let count = (to - from) / 4096;
        match pages[..count].iter().rposition(|page| page & 1 != 0) {
            _ if !known => end = to,
            Some(last) => end = from + (last + 1) * 4096,
            None => {}
        }
    }
    end
}

/// Asks the system for huge pages in the range, if it has them for those who ask. It is the same memory with or without.
///
/// # Safety
/// The range is part of what [`reserve`] gave.
pub unsafe fn prefer_huge_pages(low: usize, high: usize) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: the caller's promise; the contents stay as they are.
    unsafe { libc::madvise(low as *mut libc::c_void, high - low, libc::MADV_HUGEPAGE) };
}

/// Asks the system for no huge pages in the range, where few of the pages are touched.
///
/// # Safety
/// The range is part of what [`reserve`] gave.
pub unsafe fn avoid_huge_pages(low: usize, high: usize) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: the caller's promise; the contents stay as they are.
    unsafe { libc::madvise(low as *mut libc::c_void, high - low, libc::MADV_NOHUGEPAGE) };
}

/// Gives back what [`reserve`] gave.
///
/// # Safety
/// `at` and `size` are of one reservation, and nobody uses it any more.
pub unsafe fn release(at: *mut u8, size: usize) {
    // SAFETY: the caller's promise: the range is one reservation. Failure leaves the memory mapped, which harms nobody.
    unsafe { libc::munmap(at.cast(), size) };
}

/// Makes a reservation of `old` bytes one of `new` bytes, perhaps elsewhere; what is in it stays, the rest reads as zeros.
///
/// # Safety
/// `at` and `old` are of one reservation, and nobody keeps an address inside it.
pub unsafe fn grow(at: *mut u8, old: usize, new: usize) -> io::Result<*mut u8> {
    // SAFETY: the caller's promise: the range is one reservation, and nobody keeps an address inside.
    let p = unsafe { libc::mremap(at.cast(), old, new, libc::MREMAP_MAYMOVE) };
    if p == libc::MAP_FAILED {
        Err(io::Error::last_os_error())
    } else {
        Ok(p.cast())
    }
}

/// Would the system grant `size` bytes now? (All of it is mapped and unmapped again; no page is touched.)
pub fn is_granted(size: usize) -> bool {
    match reserve(size) {
        Ok(p) => {
            // SAFETY: just mapped with that size, and nobody else knows it.
            unsafe { release(p, size) };
            true
        }
        Err(_) => false,
    }
}

/// How many bytes of address space the process may still map: its limit (RLIMIT_AS) less what it has. None: there is no limit.
pub fn address_space_left() -> Option<usize> {
    // SAFETY: the system fills the record.
    let limit = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_AS, &mut limit) != 0 {
            return None;
        }
        limit.rlim_cur
    };
    if limit == libc::RLIM_INFINITY {
        return None;
    }
    // What the process has is the first number of statm, in pages. Without /proc: what a program of this size usually has.
    let has = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<usize>().ok())
        .map_or(64 << 20, |pages| pages * 4096);
    Some((limit as usize).saturating_sub(has))
}

/// Reserves `size` bytes at an address in `[low, high)`, probing upwards in `step`s.
pub fn reserve_below(low: usize, high: usize, step: usize, size: usize) -> io::Result<*mut u8> {
    let mut at = low;
    while at + size <= high {
        let got = map(
            at as *mut u8,
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_FIXED_NOREPLACE,
        );
        match got {
            Ok(p) if p as usize == at => return Ok(p),
            // An old kernel ignores MAP_FIXED_NOREPLACE and answers with another place.
            // SAFETY: `p` was mapped just above with this size and is used by nobody.
            Ok(p) => unsafe {
                libc::munmap(p.cast(), size);
            },
            Err(_) => {}
        }
        at += step;
    }
    Err(io::Error::new(
        io::ErrorKind::OutOfMemory,
        format!("no {size} free bytes between {low:#x} and {high:#x}"),
    ))
}

fn map(at: *mut u8, size: usize, prot: i32, flags: i32) -> io::Result<*mut u8> {
    let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // Miri knows memory that can be read and written to only.
    let (prot, flags) = match cfg!(miri) {
        true => (
            libc::PROT_READ | libc::PROT_WRITE,
            flags & !libc::MAP_NORESERVE,
        ),
        false => (prot, flags),
    };
    // SAFETY: an anonymous mapping that replaces nothing touches no memory of ours.
    let p = unsafe { libc::mmap(at.cast(), size, prot, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        Err(io::Error::last_os_error())
    } else {
        Ok(p.cast())
    }
}

/// Reads a word of a thread's stack as it is, whatever the compiler keeps there: red zones too, of builds with a sanitizer.
///
/// # Safety
/// The word is mapped, and the thread is stopped, or the calling one.
#[cfg_attr(not(vervet_sanitizers), inline(always))]
#[cfg_attr(
    vervet_sanitizers,
    inline(never),
    sanitize(address = "off", thread = "off")
)]
pub unsafe fn stack_word(at: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (at as *const usize).read_volatile() }
}

/// Has the memory at an address (any number: nothing is read) on its way into the cache.
#[inline(always)]
pub fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch touches nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// What the kernel says of a file. Programs can set all of it but `changed`; [`FileStamp::age`] says how long ago that was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileStamp {
    /// The file system.
    pub device: u64,
    /// Number of the file in its file system.
    pub inode: u64,
    /// Length in bytes.
    pub size: u64,
    /// Nanoseconds since 1970 of the last change of the content, which programs can set.
    pub modified: i128,
    /// Nanoseconds since 1970 of the last change of content, name or rights.
    pub changed: i128,
}

impl FileStamp {
    fn of(meta: &std::fs::Metadata) -> FileStamp {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        FileStamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        }
    }
    /// Whether the time of the last change is one that tools give to all files of an image, which are made with one time so that two builds are the same:
    /// a whole second. Then it says nothing of the content. (Of 10^9 files that a program wrote it is true of one.)
    pub fn is_clamped(&self) -> bool {
        self.changed % 1_000_000_000 == 0
    }
    /// Nanoseconds since the last change by this machine's clock; negative if that lies in the future.
    pub fn age(&self) -> i128 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(-1, |d| d.as_nanos() as i128 - self.changed)
    }
}

/// The stamp of a file as it is now.
pub fn stamp_of(path: &std::path::Path) -> io::Result<FileStamp> {
    std::fs::metadata(path).map(|meta| FileStamp::of(&meta))
}

/// As [`prefetch`], for all lines of the addresses `from .. to`.
#[inline]
pub fn prefetch_range(from: usize, to: usize) {
    const LINE: usize = 64;
    (from & !(LINE - 1)..to).step_by(LINE).for_each(prefetch);
}

/// The bytes of a file, mapped read-only until this is dropped.
#[derive(Debug)]
pub struct Mapping {
    /// Where the mapping is; dangling if `len` is 0, for which there is none.
    start: std::ptr::NonNull<u8>,
    len: usize,
}

// SAFETY: nothing writes to the mapping, and it belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps an open file of that length.
    fn of(file: &std::fs::File, len: usize) -> io::Result<Mapping> {
        use std::os::fd::AsRawFd;
        if len == 0 {
            let start = std::ptr::NonNull::dangling();
            return Ok(Mapping { start, len });
        }
        // SAFETY: a new private read-only mapping of a file that is open.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        match std::ptr::NonNull::new(at.cast()) {
            Some(start) if at != libc::MAP_FAILED => Ok(Mapping { start, len }),
            _ => Err(io::Error::last_os_error()),
        }
    }
    /// The bytes, mapped for the rest of the process.
    pub fn keep(self) -> &'static [u8] {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the mapping is `len` bytes long, and nobody unmaps it any more.
        unsafe { std::slice::from_raw_parts(this.start.as_ptr(), this.len) }
    }
}
impl std::ops::Deref for Mapping {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is `len` bytes long, and stays while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}
impl Drop for Mapping {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: `of` made the mapping, and nothing refers to it any more: what `deref` gave was borrowed from `self`.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

/// Maps a file read-only for the rest of the process.
pub fn map_file(path: &std::path::Path) -> io::Result<&'static [u8]> {
    map_open_file(path).map(|f| f.0.keep())
}

/// Maps a file read-only, with the open file and its stamp. None: it is no regular file.
pub fn map_open_file(
    path: &std::path::Path,
) -> io::Result<(Mapping, std::fs::File, Option<FileStamp>)> {
    let file = std::fs::File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    let stamp = meta.is_file().then(|| FileStamp::of(&meta));
    let mapping = Mapping::of(&file, meta.len() as usize)?;
    Ok((mapping, file, stamp))
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_discarded_reads_as_zero_though_it_is_locked_in_memory() {
        const PAGE: usize = 4096;
        let at = reserve(8 * PAGE).expect("memory");
        // SAFETY: the pages were just reserved, and are this test's.
        unsafe {
            std::ptr::write_bytes(at, 0xAB, 8 * PAGE);
            assert_eq!(libc::mlock(at.add(3 * PAGE).cast(), PAGE), 0);
            discard(at as usize, at as usize + 8 * PAGE);
            let all = std::slice::from_raw_parts(at, 8 * PAGE);
            assert!(all.iter().all(|b| *b == 0));
            release(at, 8 * PAGE);
        }
    }

    #[test]
    fn a_file_is_mapped_until_it_is_dropped_or_kept() {
        let path = std::env::temp_dir().join(format!("vervet-mapping-{}", std::process::id()));
        std::fs::write(&path, b"content").expect("a directory for temporary files");
        let name = path.to_string_lossy().into_owned();
        let count = || {
            let maps = std::fs::read_to_string("/proc/self/maps").expect("it is there");
            maps.lines().filter(|l| l.ends_with(&name)).count()
        };
        let (mapping, ..) = map_open_file(&path).expect("it was written");
        assert_eq!((&*mapping, count()), (&b"content"[..], 1));
        drop(mapping);
        assert_eq!(count(), 0);
        assert_eq!(map_file(&path).expect("it was written"), b"content");
        assert_eq!(count(), 1);
        std::fs::remove_file(&path).expect("it is there");
    }

    #[test]
    fn a_whole_second_is_a_time_that_an_image_was_given() {
        let stamp = |changed| FileStamp {
            device: 1,
            inode: 1,
            size: 1,
            modified: 0,
            changed,
        };
        assert!(stamp(1_700_000_000_000_000_000).is_clamped());
        assert!(!stamp(1_700_000_000_000_000_001).is_clamped());
        assert!(!stamp(1_700_000_000_999_999_999).is_clamped());
    }
}
