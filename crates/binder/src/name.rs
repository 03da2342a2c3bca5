//! Assembly names: `System, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089` and back.
//!
//! The grammar is Mono 6.8's, wider and narrower than .NET's in places: at most six parts, split at every comma even
//! inside quotes; a part's value may stand in single or double quotes; keys ignore case; there are no escapes, because
//! a backslash is not allowed at all. A version is read like `scanf("%u.%u.%u.%u")` does: two to four numbers, each
//! cut to sixteen bits, anything after them ignored.
//!
//! # Invariants   `culture` and `public_key_token` tell "not stated" (`None`) from "stated as neutral / null".

use crate::error::NameError;
use crate::token::{ECMA_KEY, PublicKeyToken, decode_hex};
use std::fmt;
use std::str::FromStr;

/// Major, minor, build and revision; compares like a version should.
pub type Version = [u16; 4];

/// The processor an assembly is made for, as its name states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Architecture {
    /// Not stated.
    #[default]
    None,
    /// Any processor.
    Msil,
    /// 32-bit x86.
    X86,
    /// Itanium.
    Ia64,
    /// 64-bit x86.
    Amd64,
    /// ARM.
    Arm,
}

/// What identifies an assembly, as far as it is stated.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct AssemblyName {
    /// The simple name, without extension.
    pub name: String,
    /// `None` when not stated; it then counts as 0.0.0.0, which matches every version.
    pub version: Option<Version>,
    /// `None` when not stated, empty for the neutral culture.
    pub culture: Option<String>,
    /// `None` when not stated or stated as `null`.
    pub public_key_token: Option<PublicKeyToken>,
    /// `PublicKeyToken=null` was written: the assembly asked for has no strong name.
    pub token_is_null: bool,
    /// The full key, when the name was written with one.
    pub public_key: Option<Vec<u8>>,
    /// Whether another publisher's build may stand in (AssemblyRef flag 0x100).
    pub retargetable: bool,
    /// The processor, when stated.
    pub architecture: Architecture,
}

impl AssemblyName {
    /// A name of which only the simple name is known.
    pub fn simple(name: impl Into<String>) -> AssemblyName {
        AssemblyName {
            name: name.into(),
            ..AssemblyName::default()
        }
    }

    /// The version, 0.0.0.0 when none is stated.
    pub fn version_or_zero(&self) -> Version {
        self.version.unwrap_or_default()
    }

    /// The culture for use in a path: empty when neutral or not stated.
    pub fn culture_or_neutral(&self) -> &str {
        self.culture.as_deref().unwrap_or("")
    }

    /// Reads a display name.
    pub fn parse(text: &str) -> Result<AssemblyName, NameError> {
        let mut parts = text.splitn(6, ',').map(|part| part.trim_matches(is_space));
        let simple = parts.next().unwrap_or("");
        if simple.is_empty() || simple.contains(['/', ':', '\\']) {
            return Err(NameError::SimpleName(text.to_owned()));
        }
        let mut name = AssemblyName::simple(unquote(simple));
        let mut key_stated = false;
        let mut retargetable_stated = false;
        for part in parts {
            let bad = || NameError::Part {
                name: text.to_owned(),
                part: part.to_owned(),
            };
            let (key, value) = part.split_once('=').ok_or_else(bad)?;
            let (key, value) = (key.trim_end_matches(is_space), value.trim_matches(is_space));
            let plain = unquote(value);
            match key.to_ascii_lowercase().as_str() {
                _ if value.is_empty() => return Err(bad()),
                "version" => name.version = Some(parse_version(plain).ok_or_else(bad)?),
                "culture" => {
                    let neutral = plain.eq_ignore_ascii_case("neutral");
                    name.culture = Some(if neutral {
                        String::new()
                    } else {
                        plain.to_owned()
                    });
                }
                "publickeytoken" => {
                    key_stated = true;
                    if plain.starts_with("null") {
                        name.token_is_null = true;
                    } else {
                        name.public_key_token = Some(PublicKeyToken::parse(plain).ok_or_else(bad)?);
                    }
                }
                "publickey" => {
                    key_stated = true;
                    let key = decode_hex(plain)
                        .filter(|key| is_public_key(key))
                        .ok_or_else(bad)?;
                    name.public_key = Some(key);
                }
                "retargetable" => {
                    retargetable_stated = true;
                    name.retargetable = match plain.to_ascii_lowercase().as_str() {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(bad()),
                    };
                }
                "processorarchitecture" => {
                    name.architecture = match plain.to_ascii_lowercase().as_str() {
                        "msil" => Architecture::Msil,
                        "x86" => Architecture::X86,
                        "ia64" => Architecture::Ia64,
                        "amd64" => Architecture::Amd64,
                        "arm" => Architecture::Arm,
                        _ => return Err(bad()),
                    };
                }
                _ => return Err(bad()),
            }
        }
        if let Some(key) = &name.public_key {
            name.public_key_token = Some(PublicKeyToken::of_key(key));
        }
        if retargetable_stated && (name.version.is_none() || name.culture.is_none() || !key_stated)
        {
            return Err(NameError::Retargetable(text.to_owned()));
        }
        Ok(name)
    }
}

impl FromStr for AssemblyName {
    type Err = NameError;
    fn from_str(text: &str) -> Result<AssemblyName, NameError> {
        AssemblyName::parse(text)
    }
}

/// The full display name; what is not stated is written as 0.0.0.0, `neutral` and `null`.
impl fmt::Display for AssemblyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = if self.name.starts_with(is_space) {
            "\""
        } else {
            ""
        };
        let [major, minor, build, revision] = self.version_or_zero();
        let culture = match self.culture_or_neutral() {
            "" => "neutral",
            culture => culture,
        };
        write!(
            f,
            "{quote}{}{quote}, Version={major}.{minor}.{build}.{revision}",
            self.name
        )?;
        write!(f, ", Culture={culture}, PublicKeyToken=")?;
        match self.public_key_token {
            Some(token) => write!(f, "{token}")?,
            None => f.write_str("null")?,
        }
        if self.retargetable {
            f.write_str(", Retargetable=Yes")
        } else {
            Ok(())
        }
    }
}

pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Takes off one pair of equal quotes around the whole text.
fn unquote(text: &str) -> &str {
    ['\'', '"']
        .iter()
        .find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

/// Reads two to four numbers, as `scanf` would.
fn parse_version(text: &str) -> Option<Version> {
    let mut version = Version::default();
    let mut rest = text;
    let mut count = 0;
    while count < 4 {
        let number = rest.trim_start_matches(is_space);
        let digits = number.len()
            - number
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if digits == 0 {
            break;
        }
        version[count] = number[..digits].bytes().fold(0u16, |value, digit| {
            value.wrapping_mul(10).wrapping_add(u16::from(digit - b'0'))
        });
        count += 1;
        match number[digits..].strip_prefix('.') {
            Some(after) => rest = after,
            None => break,
        }
    }
    (count >= 2).then_some(version)
}

/// Whether a blob has the shape of a public key: the ECMA key, or an RSA1 public key blob with or without its header.
fn is_public_key(key: &[u8]) -> bool {
    if key == ECMA_KEY {
        return true;
    }
    let blob = match key.first() {
        Some(0x00) if key.len() >= 13 => &key[12..],
        Some(0x06) => key,
        _ => return false,
    };
    blob.len() >= 20
        && blob[..4] == [0x06, 0x02, 0x00, 0x00]
        && blob[8..12] == *b"RSA1"
        && u32::from_le_bytes([blob[12], blob[13], blob[14], blob[15]]) as usize / 8 + 20
            == blob.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> AssemblyName {
        AssemblyName::parse(text).unwrap()
    }

    #[test]
    fn a_full_name_survives_the_round_trip() {
        let text = "System, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
        let name = parse(text);
        assert_eq!(name.name, "System");
        assert_eq!(name.version, Some([4, 0, 0, 0]));
        assert_eq!(name.culture.as_deref(), Some(""));
        assert_eq!(name.public_key_token, Some(PublicKeyToken::ECMA));
        assert_eq!(name.to_string(), text);
        let text = format!("{text}, Retargetable=Yes");
        assert_eq!(parse(&text).to_string(), text);
    }

    #[test]
    fn what_is_not_stated_stays_unknown_and_prints_as_nothing() {
        let name = parse("Foo");
        assert_eq!(name, AssemblyName::simple("Foo"));
        assert_eq!(
            name.to_string(),
            "Foo, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null"
        );
    }

    // The expectations below were observed with `new AssemblyName (text)` under Mono 6.8.
    #[test]
    fn versions_are_read_like_scanf_does() {
        assert_eq!(parse("Foo,Version=4.0x").version, Some([4, 0, 0, 0]));
        assert_eq!(parse("Foo,Version=70000.1").version, Some([4464, 1, 0, 0]));
        assert_eq!(parse("Foo, Version= 1.2.3").version, Some([1, 2, 3, 0]));
        assert!(AssemblyName::parse("Foo, Version=1").is_err());
    }

    #[test]
    fn values_and_the_name_may_be_quoted() {
        assert_eq!(parse("\" Foo\"").name, " Foo");
        assert_eq!(
            parse("\" Foo\"").to_string().split(',').next(),
            Some("\" Foo\"")
        );
        assert_eq!(parse("' Foo', Culture='en'").culture.as_deref(), Some("en"));
        assert_eq!(
            parse("Foo, Version= 2.1 , Culture = \"fr\"")
                .culture
                .as_deref(),
            Some("fr")
        );
    }

    #[test]
    fn a_null_token_is_stated_and_absent() {
        let name = parse("Foo, PublicKeyToken=null");
        assert!(name.token_is_null && name.public_key_token.is_none());
        assert!(!parse("Foo").token_is_null);
    }

    #[test]
    fn keys_ignore_case_and_must_be_known() {
        assert_eq!(parse("Foo, cULTURE=NEUTRAL").culture.as_deref(), Some(""));
        assert_eq!(
            parse("Foo, ProcessorArchitecture=amd64").architecture,
            Architecture::Amd64
        );
        for bad in [
            "Foo, a=b",
            "Foo,",
            "Foo, Version",
            " , ",
            "",
            "Fo\\o",
            "a/b",
            "c:d",
            "Foo, Culture=",
        ] {
            assert!(AssemblyName::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(parse("Foo Version=1").name, "Foo Version=1");
    }

    #[test]
    fn retargetable_needs_a_full_name() {
        assert!(AssemblyName::parse("Foo, Retargetable=Yes").is_err());
        let name = "Foo, Version=1.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089, Retargetable=Yes";
        assert!(parse(&format!("{name}, ProcessorArchitecture=MSIL")).retargetable);
        assert!(
            AssemblyName::parse(&format!("{name}, ProcessorArchitecture=MSIL, Version=1.0"))
                .is_err()
        );
    }

    #[test]
    fn a_public_key_gives_its_token() {
        let name = parse("Foo, PublicKey=00000000000000000400000000000000");
        assert_eq!(name.public_key_token, Some(PublicKeyToken::ECMA));
        assert!(AssemblyName::parse("Foo, PublicKey=0011").is_err());
        let mut key = vec![0u8; 12];
        key.extend([6, 2, 0, 0, 0, 0x24, 0, 0]);
        key.extend(b"RSA1");
        key.extend(64u32.to_le_bytes());
        key.extend([1, 0, 1, 0]);
        key.extend([7; 8]);
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            parse(&format!("Foo, PublicKey={hex}")).public_key_token,
            Some(PublicKeyToken::of_key(&key))
        );
    }
}
