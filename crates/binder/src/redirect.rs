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
        self.is_in_charge_of(name) && name.version_or_zero() <= self.old.1
    }

    /// Whether it is about the name in versions up to the one asked for.
    fn is_in_charge_of(&self, name: &AssemblyName) -> bool {
        self.name == name.name
            && Some(self.public_key_token) == name.public_key_token
            && self.culture == name.culture_or_neutral()
            && self.old.0 <= name.version_or_zero()
    }

    /// The first of `redirects` that is in charge of a name. If it does not apply, because its range ends before the version asked for, the name is not redirected at all.
    pub fn in_charge<'r>(redirects: &'r [Redirect], name: &AssemblyName) -> Option<&'r Redirect> {
        redirects
            .iter()
            .find(|redirect| redirect.is_in_charge_of(name))
    }

    /// The name to look for instead of `name`, if this redirect applies.
    pub fn instead_of(&self, name: &AssemblyName) -> Option<AssemblyName> {
        self.applies_to(name).then(|| AssemblyName {
            version: Some(self.new),
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
            .filter_map(|(_, inner)| read_dependent_assembly(inner))
            .collect()
    }
}

/// Reads the redirect of one `<dependentAssembly>`: of every attribute the last value counts, in whichever of several elements it stands.
fn read_dependent_assembly(inner: &[Node<'_, '_>]) -> Option<Redirect> {
    let last = |element: &str, attribute: &str| {
        let mut all = inner.iter().rev().filter(|e| xml::is(**e, element));
        all.find_map(|e| e.attribute(attribute))
    };
    let identity = |attribute| last("assemblyIdentity", attribute);
    let old = last("bindingRedirect", "oldVersion")?;
    let (from, to) = old.split_once('-').unwrap_or((old, old));
    let redirect = Redirect {
        name: identity("name")?.to_owned(),
        public_key_token: identity("publicKeyToken").and_then(PublicKeyToken::parse)?,
        culture: match identity("culture") {
            None | Some("neutral") => String::new(),
            Some(culture) => culture.to_owned(),
        },
        old: (four_numbers(from)?, four_numbers(to)?),
        new: last("bindingRedirect", "newVersion")
            .filter(|new| !new.is_empty())
            .map(|new| numbers(new, [u16::MAX; 4]))?,
    };
    (!unusable::is_unusable_version(&redirect.name, redirect.new)).then_some(redirect)
}

/// A version of four numbers at least.
fn four_numbers(text: &str) -> Option<Version> {
    (text.split('.').count() >= 4).then(|| numbers(text, Version::default()))
}

/// Up to four numbers, read as `atoi` reads them: what is no number is 0, and what is behind one does not count. Each is cut to sixteen bits.
/// What is missing is as in `version`.
fn numbers(text: &str, mut version: Version) -> Version {
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
            let name = AssemblyName::parse(&name).unwrap();
            Redirect::in_charge(&all, &name)
                .and_then(|r| r.instead_of(&name))
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
            (
                "1.0.0.0",
                "2.0",
                ([1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 65535, 65535]),
            ),
            (
                "1.0.0.x",
                "2",
                ([1, 0, 0, 0], [1, 0, 0, 0], [2, 65535, 65535, 65535]),
            ),
            (
                "1.0.0.0,3.0.0.0",
                "2.0.0.0.0",
                ([1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]),
            ),
            (
                "0.0.0.0 - 99999.0.0.1",
                " 2.1",
                ([0; 4], [34463, 0, 0, 1], [2, 1, 65535, 65535]),
            ),
        ] {
            let all = redirects(&format!(
                r#"{IDENTITY}<bindingRedirect oldVersion="{old}" newVersion="{new}"/>"#
            ));
            assert_eq!((all[0].old.0, all[0].old.1, all[0].new), expected, "{old}");
        }
    }

    #[test]
    fn an_assembly_has_one_redirect_however_many_elements_there_are() {
        let change = r#"<bindingRedirect oldVersion="1.0.0.0" newVersion="2.0.0.0"/>"#;
        let last = r#"<bindingRedirect oldVersion="3.0.0.0"/><assemblyIdentity name="Other"/>"#;
        let all = redirects(&format!("{IDENTITY}{}{last}", change.repeat(1000)));
        assert_eq!(all.len(), 1);
        assert_eq!((&*all[0].name, all[0].old.0), ("Other", [3, 0, 0, 0]));
        assert_eq!(all[0].new, [2, 0, 0, 0]);
    }

    #[test]
    fn a_redirect_whose_range_ends_before_the_version_keeps_others_away() {
        let of = |old, new| {
            let change = format!(r#"<bindingRedirect oldVersion="{old}" newVersion="{new}"/>"#);
            redirects(&format!("{IDENTITY}{change}")).remove(0)
        };
        let ask = |all: &[Redirect], version: &str| {
            let name = format!("Lib, Version={version}, PublicKeyToken=30ad4fe6b2a6aeed");
            let name = AssemblyName::parse(&name).unwrap();
            let new = Redirect::in_charge(all, &name)?.instead_of(&name)?;
            new.version.map(|v| v[0])
        };
        let all = [of("1.0.0.0", "2.0.0.0"), of("3.0.0.0", "4.0.0.0")];
        assert_eq!(
            (ask(&all, "1.0.0.0"), ask(&all, "3.0.0.0")),
            (Some(2), None)
        );
        let all = [of("2.0.0.0", "4.0.0.0"), of("1.0.0.0", "2.0.0.0")];
        assert_eq!(
            (ask(&all, "1.0.0.0"), ask(&all, "2.0.0.0")),
            (Some(2), Some(4))
        );
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
