//! Checked little-endian reads from a byte slice.
//!
//! Invariant: no function here indexes without a bounds check or overflows; a
//! read past the end is `None`.

/// The `N` bytes at `at`.
#[inline]
pub(crate) fn array<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk::<N>().copied()
}

#[inline]
pub(crate) fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    array(data, at).map(u16::from_le_bytes)
}

#[inline]
pub(crate) fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    array(data, at).map(u32::from_le_bytes)
}

#[inline]
pub(crate) fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    array(data, at).map(u64::from_le_bytes)
}

/// `len` bytes from `at`, with every overflow checked.
#[inline]
pub(crate) fn slice(data: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    data.get(at..at.checked_add(len)?)
}

/// An unsigned compressed integer (II.23.2) at the start of `data`, with the
/// number of bytes it takes.
#[inline]
pub(crate) fn compressed_u32(data: &[u8]) -> Option<(u32, usize)> {
    let b0 = *data.first()?;
    if b0 & 0x80 == 0 {
        Some((u32::from(b0), 1))
    } else if b0 & 0xC0 == 0x80 {
        let [a, b] = array::<2>(data, 0)?;
        Some((u32::from(a & 0x3F) << 8 | u32::from(b), 2))
    } else if b0 & 0xE0 == 0xC0 {
        let v = u32::from_be_bytes(array::<4>(data, 0)?);
        Some((v & 0x1FFF_FFFF, 4))
    } else {
        None
    }
}

/// A signed compressed integer (II.23.2): the sign bit is rotated to bit 0.
#[inline]
pub(crate) fn compressed_i32(data: &[u8]) -> Option<(i32, usize)> {
    let (raw, len) = compressed_u32(data)?;
    let magnitude = (raw >> 1) as i32;
    let value = if raw & 1 == 0 {
        magnitude
    } else {
        match len {
            1 => magnitude - 0x40,
            2 => magnitude - 0x2000,
            _ => magnitude - 0x1000_0000,
        }
    };
    Some((value, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_integers_are_those_of_the_specification() {
        // II.23.2's own examples.
        for (value, bytes) in [
            (0x03, &[0x03][..]),
            (0x7F, &[0x7F]),
            (0x80, &[0x80, 0x80]),
            (0x2E57, &[0xAE, 0x57]),
            (0x3FFF, &[0xBF, 0xFF]),
            (0x4000, &[0xC0, 0x00, 0x40, 0x00]),
            (0x1FFF_FFFF, &[0xDF, 0xFF, 0xFF, 0xFF]),
        ] {
            assert_eq!(compressed_u32(bytes), Some((value, bytes.len())));
            for cut in 0..bytes.len() {
                assert_eq!(compressed_u32(&bytes[..cut]), None);
            }
        }
        for (value, bytes) in [
            (3, &[0x06][..]),
            (-3, &[0x7B]),
            (64, &[0x80, 0x80]),
            (-64, &[0x01]),
            (8192, &[0xC0, 0x00, 0x40, 0x00]),
            (-8192, &[0x80, 0x01]),
            (268435455, &[0xDF, 0xFF, 0xFF, 0xFE]),
            (-268435456, &[0xC0, 0x00, 0x00, 0x01]),
        ] {
            assert_eq!(compressed_i32(bytes), Some((value, bytes.len())));
        }
        assert_eq!(compressed_u32(&[0xE0, 0, 0, 0]), None);
        assert_eq!(compressed_u32(&[0xFF]), None);
    }
}
