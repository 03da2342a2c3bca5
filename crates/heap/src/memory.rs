//! Memory of the collector's own: it may be used while other threads are stopped inside malloc.
//!
//! # Invariants
//! A [`List`] reserves address space for all it may ever hold when it is made, and touches pages as it grows; it
//! never calls malloc.
use std::io;
use std::marker::PhantomData;
pub use vervet_os::memory::prefetch;

/// Reserves `size` zeroed bytes whose pages cost only when touched.
pub fn reserve(size: usize) -> io::Result<usize> {
    vervet_os::memory::reserve(size).map(|p| p as usize)
}

/// Gives the pages wholly inside `[from, to)` back to the system; they read as zeros afterwards.
pub fn discard(from: usize, to: usize) {
    // SAFETY: the callers own the range, a part of a reservation, and want its contents gone.
    unsafe { vervet_os::memory::discard(from, to) };
}

/// Prefers huge pages in `[from, to)`.
pub fn prefer_huge_pages(from: usize, to: usize) {
    // SAFETY: the callers own the range, a part of a reservation.
    unsafe { vervet_os::memory::prefer_huge_pages(from, to) };
}

/// Fills freed memory with a pattern that is no reference and no header.
pub fn poison(from: usize, to: usize) {
    // SAFETY: the range is free heap memory.
    unsafe { std::ptr::write_bytes(from as *mut u8, 0xDF, to - from) };
}

/// A growable list of plain values. See the module.
pub struct List<T: Copy> {
    at: usize,
    len: usize,
    capacity: usize,
    high: usize,
    _of: PhantomData<T>,
}

impl<T: Copy> List<T> {
    /// A list of at most `capacity` values.
    pub fn new(capacity: usize) -> io::Result<List<T>> {
        Ok(List {
            at: reserve(capacity * size_of::<T>())?,
            len: 0,
            capacity,
            high: 0,
            _of: PhantomData,
        })
    }
    /// Appends.
    #[inline]
    pub fn push(&mut self, value: T) {
        assert!(self.len < self.capacity, "a list of the collector is full");
        // SAFETY: the slot lies in the reservation.
        unsafe { (self.at as *mut T).add(self.len).write(value) };
        self.len += 1;
    }
    /// Takes the last.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.high = self.high.max(self.len);
        self.len -= 1;
        // SAFETY: the slot was written by `push`.
        Some(unsafe { (self.at as *mut T).add(self.len).read() })
    }
    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Forgets all but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.high = self.high.max(self.len);
        self.len = self.len.min(len);
    }
    /// Forgets everything, and gives memory beyond a megabyte back.
    pub fn clear(&mut self) {
        let used = self.high.max(self.len) * size_of::<T>();
        self.len = 0;
        self.high = 0;
        if used > 1 << 20 {
            discard(self.at + (1 << 20), self.at + used);
        }
    }
    /// The values.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the first `len` slots were written.
        unsafe { std::slice::from_raw_parts(self.at as *const T, self.len) }
    }
    /// Where the values from number `first` on lie, for who reads and writes them as words of memory: no slice of the list is alive then.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = usize> {
        let at = self.at;
        (first..self.len).map(move |i| at + i * size_of::<T>())
    }
    /// The values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above; the list is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.at as *mut T, self.len) }
    }
    /// Moves the first `count` values to the end of `other`.
    pub fn give_front(&mut self, count: usize, other: &mut List<T>) {
        let count = count.min(self.len);
        for i in 0..count {
            other.push(self.as_slice()[i]);
        }
        self.as_mut_slice().copy_within(count.., 0);
        self.truncate(self.len - count);
    }
    /// Keeps the values `keep` returns, as it returns them.
    pub fn retain_map(&mut self, mut keep: impl FnMut(T) -> Option<T>) {
        let mut to = 0;
        for i in 0..self.len {
            let v = self.as_slice()[i];
            if let Some(v) = keep(v) {
                self.as_mut_slice()[to] = v;
                to += 1;
            }
        }
        self.truncate(to);
    }
}

impl<T: Copy> Drop for List<T> {
    fn drop(&mut self) {
        // SAFETY: the reservation is this list's alone.
        unsafe { libc::munmap(self.at as *mut _, self.capacity * size_of::<T>()) };
    }
}
// SAFETY: the list owns its memory.
unsafe impl<T: Copy + Send> Send for List<T> {}
// SAFETY: shared access only reads.
unsafe impl<T: Copy + Sync> Sync for List<T> {}
