//! The mapping that an address lies in, for signal handlers.
//!
//! # Invariants
//! Nothing is allocated, no lock is taken, and all is done by system calls: crates that read `/proc/self/maps` into lists do neither.

/// The bounds of the mapping that holds the address. errno may change.
pub fn containing(address: usize) -> Option<(usize, usize)> {
    // SAFETY: a constant path, and a buffer of this frame.
    unsafe {
        let file = libc::open(
            c"/proc/self/maps".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        if file < 0 {
            return None;
        }
        let mut bytes = [0u8; 1024];
        let mut lines = Lines::default();
        let mut found = None;
        while found.is_none() {
            let n = libc::read(file, bytes.as_mut_ptr().cast(), bytes.len());
            if n < 0 && *libc::__errno_location() == libc::EINTR {
                continue;
            }
            let Ok(n @ 1..) = usize::try_from(n) else {
                break;
            };
            found = (bytes[..n].iter())
                .filter_map(|&byte| lines.next(byte))
                .find(|(low, high)| (*low..*high).contains(&address));
        }
        libc::close(file);
        found
    }
}

/// Reads `low-high ...` line by line, a byte at a time.
#[derive(Default)]
struct Lines {
    low: usize,
    number: usize,
    /// The bounds of this line have been read.
    is_read: bool,
}
impl Lines {
    fn next(&mut self, byte: u8) -> Option<(usize, usize)> {
        match byte {
            b'\n' => *self = Lines::default(),
            _ if self.is_read => {}
            b'-' => self.low = std::mem::take(&mut self.number),
            b' ' => {
                self.is_read = true;
                return Some((self.low, self.number));
            }
            digit => {
                let value = char::from(digit).to_digit(16).unwrap_or(0) as usize;
                self.number = self.number << 4 | value;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::containing;

    #[test]
    fn a_mapping_of_its_own_is_found_whole() {
        let (low, high) = crate::memory::stack(64 << 10).expect("memory");
        let found = containing(high - 1).expect("it is mapped");
        assert!(
            found.0 <= low && found.1 >= high,
            "{found:x?} {low:x} {high:x}"
        );
        assert_eq!(containing(low), Some(found));
        assert_eq!(containing(8), None);
    }
}
