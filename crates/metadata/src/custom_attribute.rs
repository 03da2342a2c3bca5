//! The values of custom attributes (II.23.3).
//!
//! Invariant: the blob does not describe its own fixed arguments, nor the size
//! of an enumeration it names; the caller supplies both, and nothing is read
//! beyond the blob or nested deeper than [`MAX_DEPTH`].

use crate::bytes;
use crate::error::Error;
use crate::signature::MAX_DEPTH;

/// The type of an argument, as the constructor or the blob declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the primitive variants are named for their types"
)]
pub enum AttrType<'b> {
    Bool,
    Char,
    I1,
    U1,
    I2,
    U2,
    I4,
    U4,
    I8,
    U8,
    R4,
    R8,
    String,
    /// `System.Type`, stored by name.
    Type,
    /// `object`: the value carries its type.
    Boxed,
    /// An enumeration, by name; its size is asked for.
    Enum(&'b str),
    /// A vector.
    SzArray(Box<AttrType<'b>>),
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    missing_docs,
    reason = "the primitive variants are named for their types"
)]
pub enum AttrValue<'b> {
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
    String(Option<&'b str>),
    /// The name of a type.
    Type(Option<&'b str>),
    /// A value of the enumeration named.
    Enum(&'b str, Box<AttrValue<'b>>),
    /// A vector with its element type; `None` is null.
    SzArray(AttrType<'b>, Option<Vec<AttrValue<'b>>>),
}

/// A named argument's head; its value follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedArg<'b> {
    /// Whether it sets a property (0x54) rather than a field (0x53).
    pub is_property: bool,
    /// Its type.
    pub ty: AttrType<'b>,
    /// Its name.
    pub name: &'b str,
}

/// Tells the underlying primitive type of an enumeration by its name; `None`
/// if it cannot be found, which makes the value unreadable.
pub type EnumResolver<'r> = dyn FnMut(&str) -> Option<AttrType<'static>> + 'r;

/// A cursor over an attribute's blob.
#[derive(Debug, Clone)]
pub struct CustomAttrReader<'b> {
    blob: &'b [u8],
    at: usize,
}

impl<'b> CustomAttrReader<'b> {
    /// A reader after the prolog, which is checked; an empty blob stands for
    /// one without arguments.
    pub fn new(blob: &'b [u8]) -> Result<CustomAttrReader<'b>, Error> {
        match bytes::u16_at(blob, 0) {
            Some(1) => Ok(CustomAttrReader { blob, at: 2 }),
            None if blob.is_empty() => Ok(CustomAttrReader { blob, at: 0 }),
            _ => Err(Error::blob("a custom attribute has no prolog", 0)),
        }
    }

    /// A reader at the start of bytes that have no prolog.
    pub fn without_prolog(blob: &'b [u8]) -> CustomAttrReader<'b> {
        CustomAttrReader { blob, at: 0 }
    }

    /// How many bytes were read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'b [u8] {
        self.blob.get(self.at..).unwrap_or_default()
    }

    fn bad(&self, reason: &'static str) -> Error {
        Error::blob(reason, self.at)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let short = self.bad("the attribute is truncated");
        let value = bytes::array(self.blob, self.at).ok_or(short)?;
        self.at += N;
        Ok(value)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.take::<1>().map(|[b]| b)
    }

    /// A 16-bit value.
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.take().map(u16::from_le_bytes)
    }

    /// A 32-bit value.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.take().map(u32::from_le_bytes)
    }

    /// A 64-bit value.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.take().map(u64::from_le_bytes)
    }

    /// A SerString; 0xFF is null.
    pub fn ser_string(&mut self) -> Result<Option<&'b str>, Error> {
        let rest = self.rest();
        if rest.first() == Some(&0xFF) {
            self.at += 1;
            return Ok(None);
        }
        let (len, head) = bytes::compressed_u32(rest).ok_or(self.bad("bad string length"))?;
        let text = bytes::slice(rest, head, len as usize)
            .ok_or(self.bad("a string is longer than the attribute"))?;
        let text = core::str::from_utf8(text).map_err(|_| self.bad("a string is not UTF-8"))?;
        self.at += head + text.len();
        Ok(Some(text))
    }

    /// A vector's length; `None` is null.
    pub fn array_len(&mut self) -> Result<Option<u32>, Error> {
        match self.u32()? {
            u32::MAX => Ok(None),
            n if n as usize <= self.rest().len() => Ok(Some(n)),
            _ => Err(self.bad("a vector is longer than the attribute")),
        }
    }

    /// A FieldOrPropType (II.23.3), as precedes boxed and named values.
    pub fn type_tag(&mut self) -> Result<AttrType<'b>, Error> {
        self.type_tag_at(0)
    }

    fn type_tag_at(&mut self, depth: u32) -> Result<AttrType<'b>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.bad("the attribute nests too deeply"));
        }
        Ok(match self.u8()? {
            0x02 => AttrType::Bool,
            0x03 => AttrType::Char,
            0x04 => AttrType::I1,
            0x05 => AttrType::U1,
            0x06 => AttrType::I2,
            0x07 => AttrType::U2,
            0x08 => AttrType::I4,
            0x09 => AttrType::U4,
            0x0A => AttrType::I8,
            0x0B => AttrType::U8,
            0x0C => AttrType::R4,
            0x0D => AttrType::R8,
            0x0E => AttrType::String,
            0x1D => AttrType::SzArray(Box::new(self.type_tag_at(depth + 1)?)),
            0x50 => AttrType::Type,
            0x51 => AttrType::Boxed,
            0x55 => {
                let name = self.ser_string()?;
                AttrType::Enum(name.ok_or(self.bad("an enumeration has no name"))?)
            }
            _ => {
                self.at -= 1;
                return Err(self.bad("unknown type in an attribute"));
            }
        })
    }

    /// A value of type `ty`.
    pub fn value(
        &mut self,
        ty: &AttrType<'b>,
        enums: &mut EnumResolver<'_>,
    ) -> Result<AttrValue<'b>, Error> {
        self.value_at(ty, enums, 0)
    }

    fn value_at(
        &mut self,
        ty: &AttrType<'b>,
        enums: &mut EnumResolver<'_>,
        depth: u32,
    ) -> Result<AttrValue<'b>, Error> {
        if depth > MAX_DEPTH {
            return Err(self.bad("the attribute nests too deeply"));
        }
        Ok(match ty {
            AttrType::Bool => AttrValue::Bool(self.u8()? != 0),
            AttrType::Char => AttrValue::Char(self.u16()?),
            AttrType::I1 => AttrValue::I1(self.u8()? as i8),
            AttrType::U1 => AttrValue::U1(self.u8()?),
            AttrType::I2 => AttrValue::I2(self.u16()? as i16),
            AttrType::U2 => AttrValue::U2(self.u16()?),
            AttrType::I4 => AttrValue::I4(self.u32()? as i32),
            AttrType::U4 => AttrValue::U4(self.u32()?),
            AttrType::I8 => AttrValue::I8(self.u64()? as i64),
            AttrType::U8 => AttrValue::U8(self.u64()?),
            AttrType::R4 => AttrValue::R4(f32::from_bits(self.u32()?)),
            AttrType::R8 => AttrValue::R8(f64::from_bits(self.u64()?)),
            AttrType::String => AttrValue::String(self.ser_string()?),
            AttrType::Type => AttrValue::Type(self.ser_string()?),
            AttrType::Boxed => {
                let inner = self.type_tag_at(depth + 1)?;
                self.value_at(&inner, enums, depth + 1)?
            }
            AttrType::Enum(name) => {
                let underlying = enums(name).ok_or(self.bad("an enumeration is not known"))?;
                if matches!(
                    underlying,
                    AttrType::Enum(_) | AttrType::SzArray(_) | AttrType::Boxed
                ) {
                    return Err(self.bad("an enumeration's underlying type is not primitive"));
                }
                AttrValue::Enum(
                    name,
                    Box::new(self.value_at(&underlying, enums, depth + 1)?),
                )
            }
            AttrType::SzArray(element) => {
                let Some(len) = self.array_len()? else {
                    return Ok(AttrValue::SzArray((**element).clone(), None));
                };
                let mut values = Vec::with_capacity(len.min(64) as usize);
                for _ in 0..len {
                    values.push(self.value_at(element, enums, depth + 1)?);
                }
                AttrValue::SzArray((**element).clone(), Some(values))
            }
        })
    }

    /// How many named arguments follow the fixed ones; a blob that ends there
    /// has none.
    pub fn named_count(&mut self) -> Result<u16, Error> {
        if self.rest().is_empty() {
            Ok(0)
        } else {
            self.u16()
        }
    }

    /// The head of a named argument.
    pub fn named_arg(&mut self) -> Result<NamedArg<'b>, Error> {
        let is_property = match self.u8()? {
            0x53 => false,
            0x54 => true,
            _ => return Err(self.bad("a named argument is neither field nor property")),
        };
        let ty = self.type_tag()?;
        let name = self
            .ser_string()?
            .ok_or(self.bad("a named argument has no name"))?;
        Ok(NamedArg {
            is_property,
            ty,
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_and_named_arguments() {
        let mut blob = vec![1, 0, 3, b'a', b'b', b'c', 0xFF];
        blob.extend([0x0E, 1, b'x']); // boxed string
        blob.extend([2, 0, 0, 0, 7, 0, 8, 0]); // int16[]
        blob.extend([1, 0, 0x54, 0x55, 1, b'E', 1, b'P', 9]);
        let mut reader = CustomAttrReader::new(&blob).unwrap();
        let mut enums = |name: &str| (name == "E").then_some(AttrType::U1);
        let mut read = |ty: AttrType<'static>, r: &mut CustomAttrReader<'_>| {
            format!("{:?}", r.value(&ty, &mut enums).unwrap())
        };
        assert_eq!(read(AttrType::String, &mut reader), "String(Some(\"abc\"))");
        assert_eq!(read(AttrType::Type, &mut reader), "Type(None)");
        assert_eq!(read(AttrType::Boxed, &mut reader), "String(Some(\"x\"))");
        let ints = AttrType::SzArray(Box::new(AttrType::I2));
        assert_eq!(read(ints, &mut reader), "SzArray(I2, Some([I2(7), I2(8)]))");
        assert_eq!(reader.named_count(), Ok(1));
        let arg = reader.named_arg().unwrap();
        assert_eq!((arg.is_property, arg.name), (true, "P"));
        let value = reader.value(&arg.ty, &mut |_| Some(AttrType::U1)).unwrap();
        assert_eq!(value, AttrValue::Enum("E", Box::new(AttrValue::U1(9))));
        assert!(reader.rest().is_empty());
    }

    #[test]
    fn malformed_attributes_are_refused() {
        assert!(CustomAttrReader::new(&[2, 0]).is_err());
        let enums: &mut EnumResolver<'_> = &mut |_| None;
        let ints = AttrType::SzArray(Box::new(AttrType::I4));
        let mut reader = CustomAttrReader::without_prolog(&[0xFE, 0xFF, 0xFF, 0x7F, 0]);
        assert!(reader.value(&ints, enums).is_err());
        let boxes = vec![0x51; 10_000];
        let mut reader = CustomAttrReader::without_prolog(&boxes);
        assert!(reader.value(&AttrType::Boxed, enums).is_err());
        let arrays = vec![0x1D; 10_000];
        assert!(
            CustomAttrReader::without_prolog(&arrays)
                .type_tag()
                .is_err()
        );
        let mut reader = CustomAttrReader::without_prolog(&[0]);
        assert!(reader.value(&AttrType::Enum("E"), enums).is_err());
    }
}
