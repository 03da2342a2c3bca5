//! Public key tokens: eight bytes that identify a strong name's public key.
//!
//! The token is the last eight bytes of the SHA-1 of the whole public key blob, in reverse order. The standard key of
//! ECMA-335 (sixteen bytes, all zero but one) stands for a key whose private half nobody has; its token is a constant.

use sha1::{Digest, Sha1};
use std::fmt;

/// A public key token, in the order in which it is printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKeyToken(pub [u8; 8]);

/// The public key of ECMA-335 II.6.2.1.3.
pub const ECMA_KEY: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];

impl PublicKeyToken {
    /// mscorlib, System, System.Core: the token of the ECMA key.
    pub const ECMA: PublicKeyToken = PublicKeyToken(0xb77a_5c56_1934_e089_u64.to_be_bytes());
    /// System.Drawing, System.Web, Microsoft.CSharp.
    pub const MS_FINAL: PublicKeyToken = PublicKeyToken(0xb03f_5f7f_11d5_0a3a_u64.to_be_bytes());
    /// WindowsBase, System.Web.Extensions.
    pub const WINFX: PublicKeyToken = PublicKeyToken(0x31bf_3856_ad36_4e35_u64.to_be_bytes());
    /// Silverlight and portable libraries.
    pub const SILVERLIGHT: PublicKeyToken = PublicKeyToken(0x7cec_85d7_bea7_798e_u64.to_be_bytes());
    /// The Compact Framework.
    pub const COMPACT: PublicKeyToken = PublicKeyToken(0x969d_b805_3d33_22ac_u64.to_be_bytes());

    /// The token of a public key blob as it stands in the Assembly table.
    pub fn of_key(key: &[u8]) -> PublicKeyToken {
        if key == ECMA_KEY {
            return PublicKeyToken::ECMA;
        }
        let hash = Sha1::digest(key);
        let mut token = [0; 8];
        for (to, from) in token.iter_mut().zip(hash.iter().rev()) {
            *to = *from;
        }
        PublicKeyToken(token)
    }

    /// Reads sixteen hexadecimal digits of either case.
    pub fn parse(text: &str) -> Option<PublicKeyToken> {
        let bytes = decode_hex(text)?;
        Some(PublicKeyToken(bytes.try_into().ok()?))
    }
}

/// Reads pairs of hexadecimal digits.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    Some(
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

impl fmt::Display for PublicKeyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKeyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ecma_key_has_its_token_by_decree_and_by_digest() {
        assert_eq!(
            PublicKeyToken::of_key(&ECMA_KEY).to_string(),
            "b77a5c561934e089"
        );
    }

    #[test]
    fn a_token_is_the_reversed_tail_of_the_digest() {
        // SHA-1("abc") = a9993e36 4706816a ba3e2571 7850c26c 9cd0d89d
        assert_eq!(
            PublicKeyToken::of_key(b"abc").to_string(),
            "9dd8d09c6cc25078"
        );
    }

    #[test]
    fn tokens_are_read_in_either_case_and_only_at_full_length() {
        assert_eq!(
            PublicKeyToken::parse("B77A5C561934E089"),
            Some(PublicKeyToken::ECMA)
        );
        assert_eq!(PublicKeyToken::parse("b77a5c561934e0"), None);
        assert_eq!(PublicKeyToken::parse("b77a5c561934e08x"), None);
    }
}
