//! Memory of the collector's own: it can be used while other threads are stopped inside malloc.
//!
//! # Invariants
//! * A [`List`] never calls malloc. It reserves address space as it grows, so short lists cost a process with little address space nothing.
//! * A list that cannot grow ends the process with a message: the collector can neither go on nor undo what it has done.
//! * A list has a bound of its own only if the number of blocks or cards bounds it. Nothing bounds how many references, ephemerons or
//!   registrations a program has ([`UNBOUNDED`]).
use std::io;
use std::marker::PhantomData;
pub use vervet_os::memory::prefetch;

/// Reserves `size` zeroed bytes whose pages cost only when touched.
pub fn reserve(size: usize) -> io::Result<usize> {
    vervet_os::memory::reserve(size).map(|p| p as usize)
}

/// Gives the pages wholly inside `[from, to)` back to the system. They read as zeros afterwards.
///
/// # Safety
/// The range is a part of a reservation made by [`reserve`], and nobody needs what is in it.
pub unsafe fn discard(from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe { vervet_os::memory::discard(from, to) };
}

/// Prefers huge pages in `[from, to)`. The contents stay as they are.
///
/// # Safety
/// The range is a part of a reservation made by [`reserve`].
pub unsafe fn prefer_huge_pages(from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe { vervet_os::memory::prefer_huge_pages(from, to) };
}

/// Avoids huge pages in `[from, to)`. The contents stay as they are.
///
/// # Safety
/// The range is a part of a reservation made by [`reserve`].
pub unsafe fn avoid_huge_pages(from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe { vervet_os::memory::avoid_huge_pages(from, to) };
}

/// Fills freed memory with a pattern that is neither a reference nor a header.
///
/// # Safety
/// `[from, to)` is heap memory in which no object lies that anybody may still use, and which no other thread uses meanwhile.
pub unsafe fn poison(from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::write_bytes(from as *mut u8, 0xDF, to - from) };
}

/// The bound of a list that needs none: memory ends first.
pub const UNBOUNDED: usize = 1 << 44;

/// Bytes that a list takes when it is first used.
const FIRST: usize = 64 << 10;

/// A growable list of plain values. See the module.
pub struct List<T: Copy> {
    at: usize,
    len: usize,
    capacity: usize,
    most: usize,
    high: usize,
    _of: PhantomData<T>,
}

impl<T: Copy> List<T> {
    /// A list of at most `capacity` values.
    pub fn new(capacity: usize) -> io::Result<List<T>> {
        Ok(List {
            at: align_of::<T>(),
            len: 0,
            capacity: 0,
            most: capacity,
            high: 0,
            _of: PhantomData,
        })
    }
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        assert!(self.len < self.most, "a list of the collector is full");
        let bytes = |n: usize| n * size_of::<T>();
        let new = (self.capacity * 2)
            .max(FIRST / size_of::<T>())
            .min(self.most);
        let at = if self.capacity == 0 {
            vervet_os::memory::reserve(bytes(new))
        } else {
            // SAFETY: the reservation is this list's, which is borrowed for writing: nobody has an address inside.
            unsafe { vervet_os::memory::grow(self.at as *mut u8, bytes(self.capacity), bytes(new)) }
        };
        match at {
            Ok(at) => (self.at, self.capacity) = (at as usize, new),
            Err(_) => vervet_os::allocator::no_memory("the garbage collector", bytes(new)),
        }
    }
    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len == self.capacity {
            self.grow();
        }
        // SAFETY: the slot lies in the reservation.
        unsafe { (self.at as *mut T).add(self.len).write(value) };
        self.len += 1;
    }
    /// Takes the last value.
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
    /// Drops all values but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.high = self.high.max(self.len);
        self.len = self.len.min(len);
    }
    /// Empties the list, and gives its memory behind the first megabyte back to the system.
    pub fn clear(&mut self) {
        let used = self.high.max(self.len) * size_of::<T>();
        self.len = 0;
        self.high = 0;
        if used > 1 << 20 {
            // SAFETY: the list owns this memory, and has no values any more.
            unsafe { discard(self.at + (1 << 20), self.at + used) };
        }
    }
    /// The values.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the first `len` slots were written.
        unsafe { std::slice::from_raw_parts(self.at as *const T, self.len) }
    }
    /// The addresses of the values from number `first` on, for a caller that reads and writes them as words of memory. No slice of the list may be
    /// alive then.
    pub fn addresses(&self, first: usize) -> impl Iterator<Item = usize> {
        let at = self.at;
        (first..self.len).map(move |i| at + i * size_of::<T>())
    }
    /// The values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the first `len` slots were written, and the list is borrowed mutably as long as the slice.
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
        if self.capacity > 0 {
            // SAFETY: the reservation is this list's alone.
            unsafe {
                vervet_os::memory::release(self.at as *mut u8, self.capacity * size_of::<T>())
            };
        }
    }
}
// SAFETY: the list owns its memory.
unsafe impl<T: Copy + Send> Send for List<T> {}
// SAFETY: shared access only reads.
unsafe impl<T: Copy + Sync> Sync for List<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_values_as_it_grows() {
        let mut list = List::new(1 << 24).expect("a list");
        assert!(list.as_slice().is_empty() && list.pop().is_none());
        // (More than it begins with; Miri takes long.)
        let count = if cfg!(miri) { 9_000 } else { 1_000_000 };
        (0..count as u64).for_each(|i| list.push(i));
        let values = list.as_slice();
        assert!((0..count).all(|i| values[i] == i as u64));
        list.clear();
        list.push(7);
        assert_eq!(list.as_slice(), [7]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many steps for Miri")]
    fn lists_that_are_not_used_take_no_address_space() {
        // 64 TiB of them could not all be reserved.
        let lists: Vec<List<u64>> = (0..32_768)
            .map(|_| List::new(1 << 28).expect("a list"))
            .collect();
        assert!(lists.iter().all(List::is_empty));
    }
}
