//! Numbers and byte strings in a payload.
//!
//! Numbers are LEB128: seven bits a byte, the lowest first, the highest bit says that more follow. A byte string is its length and its bytes.
//!
//! # Invariants
//! * [`In`] is total: what cannot be read is [`Damaged`].
//! * What [`Out`] wrote, [`In`] reads back.

/// The bytes are not what the writer writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged;

/// The result of reading.
pub type Read<T> = Result<T, Damaged>;

/// Writes.
#[derive(Clone, Default, Debug)]
pub struct Out {
    /// What was written so far.
    pub bytes: Vec<u8>,
}

impl Out {
    /// Writes a number.
    pub fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }
    /// Writes a number of 32 bits.
    pub fn u32(&mut self, n: u32) {
        self.number(u64::from(n));
    }
    /// Writes a count.
    pub fn count(&mut self, n: usize) {
        self.number(n as u64);
    }
    /// Writes a number with a sign: small numbers of either sign are short.
    pub fn signed(&mut self, n: i64) {
        self.number(((n << 1) ^ (n >> 63)) as u64);
    }
    /// Writes one byte.
    pub fn byte(&mut self, b: u8) {
        self.bytes.push(b);
    }
    /// Writes a byte string.
    pub fn string(&mut self, s: &[u8]) {
        self.count(s.len());
        self.bytes.extend_from_slice(s);
    }
}

/// Reads.
#[derive(Clone, Debug)]
pub struct In<'a> {
    bytes: &'a [u8],
}

impl<'a> In<'a> {
    /// A reader of those bytes.
    pub fn new(bytes: &'a [u8]) -> In<'a> {
        In { bytes }
    }
    /// Whether everything was read.
    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }
    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }
    /// Reads one byte.
    ///
    /// # Errors
    /// There is none.
    pub fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.bytes.split_first().ok_or(Damaged)?;
        self.bytes = rest;
        Ok(*first)
    }
    /// Reads a number.
    ///
    /// # Errors
    /// It does not end, or has more than 64 bits.
    pub fn number(&mut self) -> Read<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            let low = u64::from(b & 0x7F);
            if shift == 63 && low > 1 {
                return Err(Damaged);
            }
            n |= low << shift;
            if b & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Damaged)
    }
    /// Reads a number of 32 bits.
    ///
    /// # Errors
    /// It is none.
    pub fn u32(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| Damaged)
    }
    /// Reads a number with a sign.
    ///
    /// # Errors
    /// It is none.
    pub fn signed(&mut self) -> Read<i64> {
        let n = self.number()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }
    /// Reads the count of a list whose items take at least one byte each: a list that cannot be there is refused before memory is
    /// taken for it.
    ///
    /// # Errors
    /// There are fewer bytes than items.
    pub fn count(&mut self) -> Read<usize> {
        let n = self.number()?;
        match usize::try_from(n) {
            Ok(n) if n <= self.bytes.len() => Ok(n),
            _ => Err(Damaged),
        }
    }
    /// Reads that many bytes.
    ///
    /// # Errors
    /// There are not so many.
    pub fn take(&mut self, len: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(Damaged)?;
        self.bytes = rest;
        Ok(taken)
    }
    /// Reads a byte string.
    ///
    /// # Errors
    /// It is longer than what is left.
    pub fn string(&mut self) -> Read<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let signed = [0, -1, 1, i64::MIN, i64::MAX, -64, 64];
        let mut out = Out::default();
        numbers.iter().for_each(|n| out.number(*n));
        signed.iter().for_each(|n| out.signed(*n));
        out.string(b"abc");
        let mut read = In::new(&out.bytes);
        assert!(numbers.iter().all(|n| read.number() == Ok(*n)));
        assert!(signed.iter().all(|n| read.signed() == Ok(*n)));
        assert_eq!(read.string(), Ok(&b"abc"[..]));
        assert!(read.is_at_end());
        assert_eq!(read.byte(), Err(Damaged));
    }

    #[test]
    fn numbers_that_do_not_end_and_lists_that_cannot_be_there_are_damage() {
        assert_eq!(In::new(&[0x80]).number(), Err(Damaged));
        assert_eq!(In::new(&[0xFF; 20]).number(), Err(Damaged));
        assert_eq!(In::new(&[0xFF, 0xFF, 0xFF, 0xFF, 0x7F]).u32(), Err(Damaged));
        assert_eq!(In::new(&[5, 1, 2]).count(), Err(Damaged));
        assert_eq!(In::new(&[3, 1, 2]).string(), Err(Damaged));
    }
}
