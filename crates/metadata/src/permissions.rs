//! Permission sets of DeclSecurity rows (II.22.11), as far as the runtime acts on them: whether code asks not to be verified.
//!
//! A set is a list of attributes with named values, or, in old files, XML in UTF-16.
//!
//! Invariant: what is found is what mono finds. It reads the boolean properties of an attribute up to `SkipVerification`: a value of any other type
//! ends the attribute, and of names only the beginning counts.

use crate::Token;
use crate::bytes;
use crate::image::Image;
use crate::tables::Table;

const ATTRIBUTE: &[u8] = b"System.Security.Permissions.SecurityPermissionAttribute";
const NAME: &str = "SkipVerification";
/// SecurityAction.RequestMinimum.
const REQUEST_MINIMUM: u16 = 8;

impl Image<'_> {
    /// Whether the assembly of this image asks that its code is not verified.
    pub fn skips_verification(&self) -> bool {
        self.decl_security_of(Token::new(Table::Assembly, 1))
            .filter_map(|rid| self.decl_security(rid).ok())
            .filter(|row| row.action == REQUEST_MINIMUM)
            .filter_map(|row| self.blob(row.permission_set).ok())
            .any(set_skips)
    }
}

/// Whether a permission set holds the permission.
fn set_skips(set: &[u8]) -> bool {
    match set.split_first() {
        Some((b'.', list)) => list_skips(list).unwrap_or(false),
        Some((b'<', _)) => {
            let quoted = format!("\"{NAME}\"");
            let quoted: Vec<u8> = quoted.encode_utf16().flat_map(u16::to_le_bytes).collect();
            set.windows(quoted.len()).any(|w| w == quoted)
        }
        _ => false,
    }
}

/// The same of a list of attributes. `None`: it is truncated.
fn list_skips(mut list: &[u8]) -> Option<bool> {
    for _ in 0..number(&mut list)? {
        let name = string(&mut list)?;
        let values = string(&mut list)?;
        if name.starts_with(ATTRIBUTE) && attribute_skips(values).unwrap_or(false) {
            return Some(true);
        }
    }
    Some(false)
}

/// The same of an attribute's named values.
fn attribute_skips(mut values: &[u8]) -> Option<bool> {
    for _ in 0..number(&mut values)? {
        let (tags, rest) = values.split_first_chunk::<2>()?;
        values = rest;
        // A property of type `bool` (II.23.3).
        if *tags != [0x54, 0x02] {
            return Some(false);
        }
        let name = string(&mut values)?;
        let (value, rest) = values.split_first()?;
        values = rest;
        if name.starts_with(NAME.as_bytes()) {
            return Some(*value != 0);
        }
    }
    Some(false)
}

/// A compressed integer, which is taken from the front.
fn number(from: &mut &[u8]) -> Option<u32> {
    let (value, len) = bytes::compressed_u32(from)?;
    *from = &from[len..];
    Some(value)
}

/// Bytes behind their number, which are taken from the front.
fn string<'b>(from: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = number(from)? as usize;
    let (bytes, rest) = from.split_at_checked(len)?;
    *from = rest;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(bytes: &[u8]) -> Vec<u8> {
        [&[bytes.len() as u8], bytes].concat()
    }
    fn property(name: &str, value: u8) -> Vec<u8> {
        [&[0x54, 2], &counted(name.as_bytes())[..], &[value]].concat()
    }
    fn attribute(name: &[u8], values: &[Vec<u8>]) -> Vec<u8> {
        let values = [vec![values.len() as u8], values.concat()].concat();
        [counted(name), counted(&values)].concat()
    }
    fn set(attributes: &[Vec<u8>]) -> Vec<u8> {
        [vec![b'.', attributes.len() as u8], attributes.concat()].concat()
    }

    #[test]
    fn a_list_is_read_up_to_the_property() {
        let skip = || property(NAME, 1);
        let own = |values: &[Vec<u8>]| attribute(ATTRIBUTE, values);
        assert!(set_skips(&set(&[own(&[skip()])])));
        assert!(set_skips(&set(&[own(&[property("Execution", 0), skip()])])));
        assert!(set_skips(&set(&[
            attribute(b"Other", &[skip()]),
            own(&[skip()])
        ])));
        assert!(!set_skips(&set(&[attribute(b"Other", &[skip()])])));
        assert!(!set_skips(&set(&[own(&[property(NAME, 0), skip()])])));
        let text = b"\x54\x0e\x01A\x01B".to_vec();
        assert!(!set_skips(&set(&[own(&[text.clone(), skip()])])));
        assert!(set_skips(&set(&[own(&[text]), own(&[skip()])])));
    }
    #[test]
    fn a_truncated_list_asks_for_nothing() {
        let whole = set(&[attribute(ATTRIBUTE, &[property(NAME, 1)])]);
        for len in 0..whole.len() {
            assert!(!set_skips(&whole[..len]));
        }
    }
    #[test]
    fn xml_names_the_permission_in_quotes() {
        let utf16 = |text: &str| -> Vec<u8> {
            let units = text.encode_utf16();
            units.flat_map(u16::to_le_bytes).collect()
        };
        assert!(set_skips(&utf16(
            "<IPermission Flags=\"SkipVerification\"/>"
        )));
        assert!(!set_skips(&utf16(
            "<IPermission Flags=\"Execution, SkipVerification\"/>"
        )));
        assert!(!set_skips(&utf16("Flags=\"SkipVerification\"")));
        assert!(!set_skips(b"<IPermission Flags=\"SkipVerification\"/>"));
    }
}
