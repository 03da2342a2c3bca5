//! When one assembly name will do for another.
//!
//! Two questions: are these names equal ([`names_equal`], for the list of loaded assemblies), and may this file stand
//! for that request ([`matches()`], for candidates on disk). In both, what a name does not state matches anything.
//! [`matches()`] is Mono's `--assembly-loader=strict`; its default, `legacy`, takes a candidate as soon as the file name
//! fits. See [`crate::Binder::strict_names`].

use crate::framework::{self, Rule};
use crate::name::AssemblyName;

/// What a comparison leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ignore {
    /// Do not compare versions.
    pub version: bool,
    /// Do not compare public key tokens.
    pub public_key: bool,
    /// Compare simple names without regard to ASCII case.
    pub case: bool,
}

/// Whether two names are equal in all they both state. The version 0.0.0.0 counts as not stated.
pub fn names_equal(left: &AssemblyName, right: &AssemblyName, ignore: Ignore) -> bool {
    let names = match ignore.case {
        true => left.name.eq_ignore_ascii_case(&right.name),
        false => left.name == right.name,
    };
    let cultures = match (&left.culture, &right.culture) {
        (Some(left), Some(right)) => left == right,
        _ => true,
    };
    let (a, b) = (left.version_or_zero(), right.version_or_zero());
    let versions = ignore.version || a == b || a == [0; 4] || b == [0; 4];
    let keys = match (left.public_key_token, right.public_key_token) {
        (Some(left), Some(right)) => ignore.public_key || left == right,
        _ => true,
    };
    names && cultures && versions && keys
}

/// Whether a file whose identity is `found` may answer a request for `requested`.
///
/// A request without strong name takes any file; a request with one never takes a file without. Framework assemblies
/// are known by name and version whatever their key, because retargeting may have changed it; facades by name and key,
/// as long as their major version is not older than the one asked for.
pub fn matches(requested: &AssemblyName, found: &AssemblyName) -> bool {
    if requested.public_key_token.is_none() {
        return true;
    }
    if found.public_key_token.is_none() {
        return false;
    }
    if names_equal(requested, found, Ignore::default()) {
        return true;
    }
    match framework::rule(&requested.name) {
        None => false,
        Some(Rule::Facade) => {
            names_equal(
                requested,
                found,
                Ignore {
                    version: true,
                    ..Ignore::default()
                },
            ) && found.version_or_zero()[0] >= requested.version_or_zero()[0]
        }
        Some(_) => names_equal(
            requested,
            found,
            Ignore {
                public_key: true,
                ..Ignore::default()
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AssemblyName {
        AssemblyName::parse(text).unwrap()
    }

    #[test]
    fn what_is_not_stated_matches_anything() {
        let full = name("Foo, Version=1.2.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089");
        for partial in [
            "Foo",
            "Foo, Version=1.2.0.0",
            "Foo, Version=0.0.0.0",
            "Foo, Culture=neutral",
        ] {
            assert!(
                names_equal(&name(partial), &full, Ignore::default()),
                "{partial}"
            );
        }
        for other in [
            "foo",
            "Foo, Version=1.2.0.1",
            "Foo, Culture=fr",
            "Foo, PublicKeyToken=b03f5f7f11d50a3a",
        ] {
            assert!(
                !names_equal(&name(other), &full, Ignore::default()),
                "{other}"
            );
        }
        assert!(names_equal(
            &name("foo"),
            &full,
            Ignore {
                case: true,
                ..Ignore::default()
            }
        ));
    }

    #[test]
    fn a_weak_request_takes_any_file_and_a_strong_one_only_strong_files() {
        assert!(matches(&name("Foo, Version=9.0.0.0"), &name("Bar")));
        let strong = name("Foo, Version=1.0.0.0, PublicKeyToken=b77a5c561934e089");
        assert!(!matches(&strong, &name("Foo, Version=1.0.0.0")));
        assert!(matches(&strong, &strong));
        assert!(!matches(
            &strong,
            &name("Foo, Version=1.1.0.0, PublicKeyToken=b77a5c561934e089")
        ));
    }

    #[test]
    fn the_framework_is_known_whatever_its_key() {
        let wanted = name("System.Drawing, Version=4.0.0.0, PublicKeyToken=b77a5c561934e089");
        assert!(matches(
            &wanted,
            &name("System.Drawing, Version=4.0.0.0, PublicKeyToken=b03f5f7f11d50a3a")
        ));
        assert!(!matches(
            &wanted,
            &name("System.Drawing, Version=2.0.0.0, PublicKeyToken=b03f5f7f11d50a3a")
        ));
    }

    #[test]
    fn a_facade_may_be_newer_but_not_of_an_older_major_version() {
        let wanted = name("System.Runtime, Version=4.1.2.0, PublicKeyToken=b03f5f7f11d50a3a");
        assert!(matches(
            &wanted,
            &name("System.Runtime, Version=4.0.0.0, PublicKeyToken=b03f5f7f11d50a3a")
        ));
        assert!(matches(
            &wanted,
            &name("System.Runtime, Version=5.0.0.0, PublicKeyToken=b03f5f7f11d50a3a")
        ));
        assert!(!matches(
            &wanted,
            &name("System.Runtime, Version=3.0.0.0, PublicKeyToken=b03f5f7f11d50a3a")
        ));
        assert!(!matches(
            &wanted,
            &name("System.Runtime, Version=4.0.0.0, PublicKeyToken=b77a5c561934e089")
        ));
    }
}
