//! Binding redirects: "whoever asks for these versions shall get that one".
//!
//! They stand in `<dependentAssembly>` elements of an application's configuration, or of a publisher policy: an
//! assembly in the GAC that carries the same kind of file. The application's word counts first.

use crate::error::ConfigError;
use crate::name::{AssemblyName, Version, is_space};
use crate::token::PublicKeyToken;
use crate::unusable;
use crate::xml::{self, Document, Node};
use std::path::Path;

/// One redirect. Only complete ones are kept: with name, key, old and new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The simple name it applies to.
    pub name: String,
    /// The key it applies to.
    pub public_key_token: PublicKeyToken,
    /// The culture it applies to; empty for neutral.
    pub culture: String,
    /// The oldest and the newest version it applies to.
    pub old: (Version, Version),
    /// The version to bind to instead.
    pub new: Version,
}

impl Redirect {
    /// Whether this redirect is about `name`, in the version asked for.
    pub fn applies_to(&self, name: &AssemblyName) -> bool {
        let version = name.version_or_zero();
        self.name == name.name
            && Some(self.public_key_token) == name.public_key_token
            && self.culture == name.culture_or_neutral()
            && self.old.0 <= version
            && version <= self.old.1
    }

    /// The name to look for instead of `name`, if one of `redirects` applies; the first one wins.
    pub fn apply(redirects: &[Redirect], name: &AssemblyName) -> Option<AssemblyName> {
        let redirect = redirects
            .iter()
            .find(|redirect| redirect.applies_to(name))?;
        Some(AssemblyName {
            version: Some(redirect.new),
            ..name.clone()
        })
    }

    /// Reads the redirects of a publisher policy file. A missing file holds none.
    pub fn read_policy(path: &Path) -> Result<Vec<Redirect>, ConfigError> {
        let Some(text) = xml::read(path)? else {
            return Ok(Vec::new());
        };
        Ok(Redirect::read_all(&xml::parse(&text)))
    }

    /// Reads the complete redirects; those to versions that cannot run here are left out.
    pub(crate) fn read_all(document: &Document<'_>) -> Vec<Redirect> {
        xml::grouped(document, "dependentAssembly")
            .iter()
            .flat_map(|(_, inner)| read_dependent_assembly(inner))
            .collect()
    }
}

/// Reads the redirects among the elements of one `<dependentAssembly>`.
fn read_dependent_assembly(inner: &[Node<'_, '_>]) -> Vec<Redirect> {
    let named = |name| inner.iter().filter(move |e| xml::is(**e, name));
    let Some(identity) = named("assemblyIdentity").next_back() else {
        return Vec::new();
    };
    let (Some(name), Some(public_key_token)) = (
        identity.attribute("name"),
        identity
            .attribute("publicKeyToken")
            .and_then(PublicKeyToken::parse),
    ) else {
        return Vec::new();
    };
    let culture = match identity.attribute("culture") {
        None | Some("neutral") => "",
        Some(culture) => culture,
    };
    named("bindingRedirect")
        .filter_map(|redirect| {
            let old = redirect.attribute("oldVersion")?;
            let (from, to) = old.split_once('-').unwrap_or((old, old));
            Some(Redirect {
                name: name.to_owned(),
                public_key_token,
                culture: culture.to_owned(),
                old: (four_numbers(from)?, four_numbers(to)?),
                new: (redirect.attribute("newVersion"))
                    .filter(|new| !new.is_empty())
                    .map(numbers)?,
            })
        })
        .filter(|redirect| !unusable::is_unusable_version(&redirect.name, redirect.new))
        .collect()
}

/// A version of four numbers at least.
fn four_numbers(text: &str) -> Option<Version> {
    (text.split('.').count() >= 4).then(|| numbers(text))
}

/// Up to four numbers, read as `atoi` reads them: what is no number is 0, and what is behind one does not count. Each is cut to sixteen bits.
fn numbers(text: &str) -> Version {
    let mut version = Version::default();
    for (slot, part) in version.iter_mut().zip(text.split('.')) {
        let part = part.trim_start_matches(is_space);
        let digits = part.strip_prefix('+').unwrap_or(part).bytes();
        *slot = digits
            .take_while(u8::is_ascii_digit)
            .fold(0_u16, |value, digit| {
                value.wrapping_mul(10).wrapping_add(u16::from(digit - b'0'))
            });
    }
    version
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirects(inner: &str) -> Vec<Redirect> {
        let text = format!(
            "<configuration><dependentAssembly>{inner}</dependentAssembly></configuration>"
        );
        Redirect::read_all(&xml::parse(&text))
    }

    const IDENTITY: &str =
        r#"<assemblyIdentity name="Lib" publicKeyToken="30ad4fe6b2a6aeed" culture="neutral"/>"#;

    #[test]
    fn a_redirect_covers_its_range_and_nothing_else() {
        let all = redirects(&format!(
            r#"{IDENTITY}<bindingRedirect oldVersion="0.0.0.0-6.0.0.0" newVersion="9.0.0.1"/>"#
        ));
        let ask = |version: &str, token: &str| {
            let name = format!("Lib, Version={version}, Culture=neutral, PublicKeyToken={token}");
            Redirect::apply(&all, &AssemblyName::parse(&name).unwrap())
                .map(|name| name.version.unwrap())
        };
        assert_eq!(ask("4.5.0.0", "30ad4fe6b2a6aeed"), Some([9, 0, 0, 1]));
        assert_eq!(ask("6.0.0.0", "30ad4fe6b2a6aeed"), Some([9, 0, 0, 1]));
        assert_eq!(ask("6.0.0.1", "30ad4fe6b2a6aeed"), None);
        assert_eq!(ask("4.5.0.0", "b77a5c561934e089"), None);
        assert_eq!(ask("4.5.0.0", "null"), None);
    }

    #[test]
    fn incomplete_redirects_are_no_redirects() {
        for inner in [
            format!(r#"{IDENTITY}<bindingRedirect oldVersion="1.0.0.0"/>"#),
            format!(r#"{IDENTITY}<bindingRedirect oldVersion="1.0" newVersion="2.0.0.0"/>"#),
            format!(r#"{IDENTITY}<bindingRedirect oldVersion="" newVersion="2.0.0.0"/>"#),
            r#"<assemblyIdentity name="Lib"/><bindingRedirect oldVersion="1.0.0.0" newVersion="2.0.0.0"/>"#.into(),
        ] {
            assert!(redirects(&inner).is_empty(), "{inner}");
        }
    }

    #[test]
    fn versions_are_read_as_far_as_they_are_numbers() {
        for (old, new, expected) in [
            ("1.0.0.0", "2.0", ([1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0])),
            ("1.0.0.x", "2", ([1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0])),
            (
                "1.0.0.0,3.0.0.0",
                "2.0.0.0.0",
                ([1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]),
            ),
            (
                "0.0.0.0 - 99999.0.0.1",
                " 2.1",
                ([0; 4], [34463, 0, 0, 1], [2, 1, 0, 0]),
            ),
        ] {
            let all = redirects(&format!(
                r#"{IDENTITY}<bindingRedirect oldVersion="{old}" newVersion="{new}"/>"#
            ));
            assert_eq!((all[0].old.0, all[0].old.1, all[0].new), expected, "{old}");
        }
    }

    #[test]
    fn redirects_to_builds_for_another_class_library_are_ignored() {
        assert!(
            redirects(
                r#"<assemblyIdentity name="System.Net.Http" publicKeyToken="b03f5f7f11d50a3a"/>
                   <bindingRedirect oldVersion="0.0.0.0-4.2.0.0" newVersion="4.2.0.0"/>"#
            )
            .is_empty()
        );
    }
}
