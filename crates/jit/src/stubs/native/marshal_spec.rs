//! What metadata says about marshalling: MarshalAs blobs (ECMA-335 II.23.4), DllImport flags
//! (II.23.1.8), and UnmanagedFunctionPointerAttribute on delegates.
//!
//! # Invariants
//! Reading never fails: what is malformed counts as absent, as in mono.
use vervet_metadata::{CustomAttrReader, Image, SigReader, Table, Token};
use vervet_types::ClassRef;

/// The values of UnmanagedType (ECMA-335 II.23.4, and those of the class library).
#[expect(missing_docs, reason = "each is the UnmanagedType of that name")]
pub mod native_type {
    pub const BOOL: u8 = 0x02;
    pub const I1: u8 = 0x03;
    pub const U1: u8 = 0x04;
    pub const I2: u8 = 0x05;
    pub const U2: u8 = 0x06;
    pub const BSTR: u8 = 0x13;
    pub const LPSTR: u8 = 0x14;
    pub const LPWSTR: u8 = 0x15;
    pub const LPTSTR: u8 = 0x16;
    pub const BY_VAL_TSTR: u8 = 0x17;
    pub const I_UNKNOWN: u8 = 0x19;
    pub const I_DISPATCH: u8 = 0x1a;
    pub const STRUCT: u8 = 0x1b;
    pub const INTERFACE: u8 = 0x1c;
    pub const SAFE_ARRAY: u8 = 0x1d;
    pub const BY_VAL_ARRAY: u8 = 0x1e;
    pub const ANSI_BSTR: u8 = 0x23;
    pub const TBSTR: u8 = 0x24;
    pub const VARIANT_BOOL: u8 = 0x25;
    pub const FUNCTION_PTR: u8 = 0x26;
    pub const AS_ANY: u8 = 0x28;
    pub const LP_ARRAY: u8 = 0x2a;
    pub const LP_STRUCT: u8 = 0x2b;
    pub const CUSTOM: u8 = 0x2c;
    pub const LPUTF8STR: u8 = 0x30;
    pub const MAX: u8 = 0x50;
}
use native_type as nt;

/// A MarshalAs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MarshalSpec {
    /// The UnmanagedType, 0 if there is none.
    pub native: u8,
    /// Element type of arrays, 0 if there is none.
    pub element: u8,
    /// Index of the parameter that holds an array's length.
    pub size_param: Option<u32>,
    /// SizeConst.
    pub size_const: Option<u32>,
    /// MarshalTypeRef or MarshalType, and MarshalCookie, of a custom marshaler.
    pub custom: Option<(&'static str, &'static str)>,
}

impl MarshalSpec {
    /// Reads a MarshalSpec blob.
    pub fn parse(blob: &'static [u8]) -> MarshalSpec {
        let mut spec = MarshalSpec::default();
        let _ = spec.read(blob);
        spec
    }
    /// Reads what is there; None where the blob ends early.
    fn read(&mut self, blob: &'static [u8]) -> Option<()> {
        let (native, rest) = blob.split_first()?;
        self.native = *native;
        let mut reader = SigReader::new(rest);
        match *native {
            nt::LP_ARRAY => {
                self.element = element(reader.u8().ok()?);
                let param = reader.compressed_u32().ok()?;
                self.size_param = Some(param);
                self.size_const = Some(reader.compressed_u32().ok()?);
                // The flag says whether the parameter index is given. Without the flag, index 0
                // with a size means a size only.
                let flag = reader.compressed_u32().unwrap_or((param != 0) as u32);
                if flag & 1 == 0 {
                    self.size_param = None;
                }
            }
            nt::BY_VAL_ARRAY => {
                self.size_const = Some(reader.compressed_u32().ok()?);
                self.element = element(reader.u8().ok()?);
            }
            nt::BY_VAL_TSTR => self.size_const = Some(reader.compressed_u32().ok()?),
            nt::CUSTOM => {
                let mut strings = CustomAttrReader::without_prolog(rest);
                let _guid = strings.ser_string().ok()?;
                let _native_name = strings.ser_string().ok()?;
                let marshaler = strings.ser_string().ok()??;
                self.custom = Some((marshaler, strings.ser_string().ok().flatten().unwrap_or("")));
            }
            _ => {}
        }
        Some(())
    }
    /// The MarshalSpec of an array's elements.
    pub fn of_element(&self) -> MarshalSpec {
        MarshalSpec {
            native: self.element,
            ..MarshalSpec::default()
        }
    }
}

/// The element type; MAX stands for none.
fn element(native: u8) -> u8 {
    if native == nt::MAX { 0 } else { native }
}

/// The MarshalAs of a field or parameter.
pub fn marshal_spec(image: &Image<'static>, parent: Token) -> MarshalSpec {
    let blob = image
        .field_marshal_of(parent)
        .and_then(|row| image.field_marshal(row).ok());
    blob.and_then(|row| image.blob(row.native_type).ok())
        .map(MarshalSpec::parse)
        .unwrap_or_default()
}

/// The CharSet of a DllImport, a struct or a delegate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CharSet {
    /// UTF-8 (also None and Auto, on this platform).
    #[default]
    Ansi,
    /// UTF-16.
    Unicode,
}

/// PInvokeAttributes.
#[derive(Clone, Copy, Debug)]
pub struct ImportFlags(pub u32);
impl ImportFlags {
    /// CharSet.
    pub fn char_set(self) -> CharSet {
        if self.0 & 6 == 4 {
            CharSet::Unicode
        } else {
            CharSet::Ansi
        }
    }
    /// SetLastError.
    pub fn set_last_error(self) -> bool {
        self.0 & 0x40 != 0
    }
}

/// The CharSet of a type, from the string format in its TypeAttributes.
pub fn class_char_set(class: ClassRef) -> CharSet {
    if class.flags & 0x0003_0000 == 0x0001_0000 {
        CharSet::Unicode
    } else {
        CharSet::Ansi
    }
}

/// What UnmanagedFunctionPointerAttribute says about a delegate class: CharSet, SetLastError.
pub fn function_pointer_attribute(image: &Image<'static>, type_def: u32) -> (CharSet, bool) {
    let mut found = (CharSet::Ansi, false);
    let parent = Token::new(Table::TypeDef, type_def);
    for blob in attributes(image, parent, "UnmanagedFunctionPointerAttribute") {
        let _ = read_attribute(blob, &mut found);
    }
    found
}

/// Whether something has an attribute of that name.
pub fn has_attribute(image: &Image<'static>, parent: Token, name: &str) -> bool {
    attributes(image, parent, name).next().is_some()
}

/// The values of the attributes of that name.
pub fn attributes(
    image: &Image<'static>,
    parent: Token,
    name: &str,
) -> impl Iterator<Item = &'static [u8]> {
    image.custom_attributes_of(parent).filter_map(move |row| {
        let row = image.custom_attribute(row).ok()?;
        let owner = match row.constructor.table() {
            Some(Table::MethodDef) => image
                .method_owner(row.constructor.rid())
                .map(|rid| Token::new(Table::TypeDef, rid)),
            _ => image
                .member_ref(row.constructor.rid())
                .ok()
                .map(|r| r.class),
        };
        let class = owner.and_then(|token| image.type_name(token).ok())?;
        (class.name == name).then(|| image.blob(row.value).ok())?
    })
}

/// Reads the attribute's value.
fn read_attribute(
    blob: &'static [u8],
    found: &mut (CharSet, bool),
) -> Result<(), vervet_metadata::Error> {
    let mut reader = CustomAttrReader::new(blob)?;
    let _convention = reader.u32()?;
    for _ in 0..reader.named_count()? {
        let arg = reader.named_arg()?;
        match arg.name {
            // CharSet.Unicode is 3; Auto (4) means UTF-8 here.
            "CharSet" => {
                found.0 = if reader.u32()? == 3 {
                    CharSet::Unicode
                } else {
                    CharSet::Ansi
                }
            }
            "SetLastError" => found.1 = reader.u8()? != 0,
            _ => drop(reader.u8()?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs() {
        let spec = MarshalSpec::parse(&[nt::LP_ARRAY, nt::MAX, 2, 0, 1]);
        assert_eq!((spec.element, spec.size_param), (0, Some(2)));
        let spec = MarshalSpec::parse(&[nt::LP_ARRAY, nt::LPSTR, 0, 5]);
        assert_eq!(
            (spec.element, spec.size_param, spec.size_const),
            (nt::LPSTR, None, Some(5))
        );
        let spec = MarshalSpec::parse(&[nt::BY_VAL_ARRAY, 16, nt::U1]);
        assert_eq!((spec.element, spec.size_const), (nt::U1, Some(16)));
        let spec = MarshalSpec::parse(&[nt::CUSTOM, 0, 0, 1, b'M', 1, b'c']);
        assert_eq!(spec.custom, Some(("M", "c")));
        assert_eq!(MarshalSpec::parse(&[]), MarshalSpec::default());
        assert_eq!(MarshalSpec::parse(&[nt::BY_VAL_TSTR]).size_const, None);
    }
}
