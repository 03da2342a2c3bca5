//! Constant values (II.22.9).
//!
//! Invariant: decoding never reads beyond the blob; a blob longer than its
//! type needs is accepted, as other runtimes do.

use crate::bytes;
use crate::error::Error;
use crate::heaps::UserString;
use crate::image::Image;

/// A compile-time constant.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the variants are the types of the values")]
pub enum ConstantValue<'a> {
    Bool(bool),
    Char(u16),
    I1(i8),
    U1(u8),
    I2(i16),
    U2(u16),
    I4(i32),
    U4(u32),
    I8(i64),
    U8(u64),
    R4(f32),
    R8(f64),
    String(UserString<'a>),
    Null,
}

/// Decodes a constant of element type `kind`.
pub fn decode_constant(kind: u8, blob: &[u8]) -> Result<ConstantValue<'_>, Error> {
    let short = Error::blob("the constant is truncated", 0);
    let u8v = || blob.first().copied().ok_or(short);
    let u16v = || bytes::u16_at(blob, 0).ok_or(short);
    let u32v = || bytes::u32_at(blob, 0).ok_or(short);
    let u64v = || bytes::u64_at(blob, 0).ok_or(short);
    Ok(match kind {
        0x02 => ConstantValue::Bool(u8v()? != 0),
        0x03 => ConstantValue::Char(u16v()?),
        0x04 => ConstantValue::I1(u8v()? as i8),
        0x05 => ConstantValue::U1(u8v()?),
        0x06 => ConstantValue::I2(u16v()? as i16),
        0x07 => ConstantValue::U2(u16v()?),
        0x08 => ConstantValue::I4(u32v()? as i32),
        0x09 => ConstantValue::U4(u32v()?),
        0x0A => ConstantValue::I8(u64v()? as i64),
        0x0B => ConstantValue::U8(u64v()?),
        0x0C => ConstantValue::R4(f32::from_bits(u32v()?)),
        0x0D => ConstantValue::R8(f64::from_bits(u64v()?)),
        0x0E => ConstantValue::String(UserString::new(blob)),
        0x12 | 0x1C => ConstantValue::Null,
        _ => return Err(Error::blob("a constant is of no constant type", 0)),
    })
}

impl<'a> Image<'a> {
    /// The value of row `rid` of the Constant table.
    pub fn constant_value(&self, rid: u32) -> Result<ConstantValue<'a>, Error> {
        let row = self.constant(rid)?;
        decode_constant(row.kind, self.blob(row.value)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_decode_by_their_type() {
        assert_eq!(
            decode_constant(0x08, &[1, 0, 0, 0x80]),
            Ok(ConstantValue::I4(-0x7FFF_FFFF))
        );
        assert_eq!(decode_constant(0x02, &[1]), Ok(ConstantValue::Bool(true)));
        assert_eq!(decode_constant(0x12, &[0; 4]), Ok(ConstantValue::Null));
        let text = decode_constant(0x0E, &[b'h', 0]);
        assert!(matches!(text, Ok(ConstantValue::String(s)) if s.to_string() == "h"));
        assert!(decode_constant(0x0D, &[0; 7]).is_err());
        assert!(decode_constant(0x10, &[0; 8]).is_err());
    }
}
