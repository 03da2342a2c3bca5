//! Numbers and texts in the bytes of a buffer.
//!
//! # Invariants
//! A read either takes bytes that are there or says what is wrong; it never panics, and a count that it returns is at most the number of
//! bytes that are left.
use std::borrow::Cow;

/// What is wrong with an event.
pub(crate) type Fault = Cow<'static, str>;

/// A place in the bytes of a buffer.
pub(crate) struct Cursor<'b> {
    data: &'b [u8],
    at: usize,
}

const BEYOND: Fault = Cow::Borrowed("it does not end within its buffer");

impl<'b> Cursor<'b> {
    pub(crate) fn new(data: &'b [u8]) -> Cursor<'b> {
        Cursor { data, at: 0 }
    }

    /// Bytes before this place.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Bytes behind this place.
    pub(crate) fn left(&self) -> usize {
        self.data.len() - self.at
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.data.get(self.at).ok_or(BEYOND)?;
        self.at += 1;
        Ok(byte)
    }

    /// ULEB128 of at most 64 bits.
    pub(crate) fn uleb(&mut self) -> Result<u64, Fault> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            let low = u64::from(byte & 0x7F);
            if shift == 63 && low > 1 {
                return Err("a number has more than 64 bits".into());
            }
            value |= low << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err("a number has more than 10 bytes".into());
            }
        }
    }

    /// SLEB128 of at most 10 bytes, cut to 64 bits.
    pub(crate) fn sleb(&mut self) -> Result<i64, Fault> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                if byte & 0x40 != 0 && shift < 64 {
                    value |= u64::MAX << shift;
                }
                return Ok(value as i64);
            }
            if shift > 63 {
                return Err("a number has more than 10 bytes".into());
            }
        }
    }

    /// The number of things that follow, each of at least `least` bytes.
    pub(crate) fn count(&mut self, least: usize) -> Result<usize, Fault> {
        let count = self.uleb()?;
        match usize::try_from(count) {
            Ok(n) if n <= self.left() / least.max(1) => Ok(n),
            _ => Err(format!("{count} things do not fit into the rest of the buffer").into()),
        }
    }

    /// A text that ends with a zero byte.
    pub(crate) fn text(&mut self) -> Result<Cow<'b, str>, Fault> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let len = rest
            .iter()
            .position(|b| *b == 0)
            .ok_or("a text does not end within its buffer")?;
        self.at += len + 1;
        Ok(String::from_utf8_lossy(&rest[..len]))
    }

    /// A floating-point number of 8 bytes.
    pub(crate) fn double(&mut self) -> Result<f64, Fault> {
        let bytes = self
            .data
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<8>())
            .ok_or(BEYOND)?;
        self.at += 8;
        Ok(f64::from_le_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{sleb, uleb};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(unsigned: u64, signed: i64, shift in 0..64u32) {
            let (unsigned, signed) = (unsigned >> shift, signed >> shift);
            let mut bytes = Vec::new();
            uleb(&mut bytes, unsigned);
            sleb(&mut bytes, signed);
            let mut read = Cursor::new(&bytes);
            prop_assert_eq!(read.uleb(), Ok(unsigned));
            prop_assert_eq!(read.sleb(), Ok(signed));
            prop_assert_eq!(read.left(), 0);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            for read in [
                |c: &mut Cursor<'_>| c.uleb().is_ok(),
                |c: &mut Cursor<'_>| c.sleb().is_ok(),
                |c: &mut Cursor<'_>| c.text().is_ok(),
                |c: &mut Cursor<'_>| c.double().is_ok(),
                |c: &mut Cursor<'_>| c.count(2).is_ok(),
            ] {
                let mut cursor = Cursor::new(&bytes);
                while read(&mut cursor) && cursor.left() > 0 {}
                prop_assert!(cursor.position() + cursor.left() == bytes.len());
            }
        }
    }

    #[test]
    fn numbers_that_are_too_long_are_faults() {
        let long = [0xFF; 12];
        assert!(Cursor::new(&long).uleb().is_err());
        assert!(Cursor::new(&long).sleb().is_err());
        let beyond = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2];
        assert!(Cursor::new(&beyond).uleb().is_err());
        assert!(Cursor::new(&beyond[..4]).uleb().is_err());
    }
}
