//! The global assembly cache: `<root>/<Name>/<version>_<culture>_<token>/<Name>.dll`.
//!
//! Only strongly named assemblies live there, and only a full name finds one. A partial name can be completed from the
//! directory ([`complete`]): the highest version that fits. Publisher policies are assemblies there too.

use crate::name::{AssemblyName, Version};
use crate::token::PublicKeyToken;
use std::path::{Path, PathBuf};

/// What a name that a program states means below a directory: the text is put behind that of the directory, also if it is an absolute path, which would take its place
/// in [`Path::join`].
pub(crate) fn below(directory: &Path, text: &str) -> PathBuf {
    let mut path = directory.as_os_str().to_owned();
    if !path.as_encoded_bytes().ends_with(b"/") {
        path.push("/");
    }
    path.push(text);
    path.into()
}

/// Where `file` of the assembly `name` is below a root, or `None` when the name has no key.
pub fn path(root: &Path, name: &AssemblyName, file: &str) -> Option<PathBuf> {
    let token = name.public_key_token?;
    let simple = name.name.strip_suffix(".dll").unwrap_or(&name.name);
    let [major, minor, build, revision] = name.version_or_zero();
    let culture = name.culture_or_neutral().to_lowercase();
    Some(below(
        &below(
            &below(root, simple),
            &format!("{major}.{minor}.{build}.{revision}_{culture}_{token}"),
        ),
        file,
    ))
}

/// Where the publisher policy for `name` is below a root: the assembly whose first file resource holds redirects.
pub fn policy_path(root: &Path, name: &AssemblyName) -> Option<PathBuf> {
    let [major, minor, ..] = name.version_or_zero();
    let simple = name.name.strip_suffix(".dll").unwrap_or(&name.name);
    let policy = AssemblyName {
        name: format!("policy.{major}.{minor}.{simple}"),
        version: None,
        ..name.clone()
    };
    path(root, &policy, &format!("{}.dll", policy.name))
}

/// The file of the best assembly below a root that fits a partial name: the one version asked for, else the highest.
pub fn complete(root: &Path, name: &AssemblyName) -> Option<PathBuf> {
    let wanted = name.version.filter(|version| *version != [0; 4]);
    let (_, directory) = below(root, &name.name)
        .read_dir()
        .ok()?
        .flatten()
        .filter_map(|entry| {
            let (version, culture, token) = parse_directory(entry.file_name().to_str()?)?;
            let fits = wanted.is_none_or(|wanted| wanted == version)
                && name
                    .culture
                    .as_ref()
                    .is_none_or(|wanted| *wanted == culture)
                && name.public_key_token.is_none_or(|wanted| wanted == token);
            fits.then(|| (version, entry.path()))
        })
        .max()?;
    Some(below(&directory, &format!("{}.dll", name.name)))
}

/// Splits `4.0.0.0__b77a5c561934e089`.
fn parse_directory(text: &str) -> Option<(Version, String, PublicKeyToken)> {
    let mut parts = text.splitn(3, '_');
    let mut numbers = parts.next()?.split('.');
    let mut version = Version::default();
    for slot in &mut version {
        *slot = numbers.next()?.parse().ok()?;
    }
    Some((
        version,
        parts.next()?.to_owned(),
        PublicKeyToken::parse(parts.next()?)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn name(text: &str) -> AssemblyName {
        AssemblyName::parse(text).unwrap()
    }

    #[test]
    fn a_full_name_has_one_place() {
        let root = Path::new("/usr/lib/mono/gac");
        let system =
            name("System, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089");
        assert_eq!(
            path(root, &system, "System.dll").unwrap(),
            Path::new("/usr/lib/mono/gac/System/4.0.0.0__b77a5c561934e089/System.dll")
        );
        let french =
            name("A.resources, Version=1.0.0.0, Culture=fr-FR, PublicKeyToken=b77a5c561934e089");
        assert!(
            path(root, &french, "x")
                .unwrap()
                .ends_with("1.0.0.0_fr-fr_b77a5c561934e089/x")
        );
        assert_eq!(
            path(root, &name("System, Version=4.0.0.0"), "System.dll"),
            None
        );
    }

    #[test]
    fn a_policy_is_named_after_the_version_it_replaces() {
        let lib = name("Lib, Version=2.12.3.4, PublicKeyToken=35e10195dab3c99f");
        assert_eq!(
            policy_path(Path::new("/g"), &lib).unwrap(),
            Path::new("/g/policy.2.12.Lib/0.0.0.0__35e10195dab3c99f/policy.2.12.Lib.dll")
        );
    }

    #[test]
    fn a_partial_name_finds_the_highest_version_that_fits() {
        let root = tempfile::tempdir().unwrap();
        for directory in [
            "9.0.0.0__b77a5c561934e089",
            "10.0.0.0__b77a5c561934e089",
            "11.0.0.0_fr_b77a5c561934e089",
            "junk",
            "12.0.0.0__short",
        ] {
            fs::create_dir_all(root.path().join("Lib").join(directory)).unwrap();
        }
        let find =
            |text: &str| complete(root.path(), &name(text)).map(|path| path.display().to_string());
        assert!(
            find("Lib")
                .unwrap()
                .ends_with("/11.0.0.0_fr_b77a5c561934e089/Lib.dll")
        );
        assert!(
            find("Lib, Culture=neutral")
                .unwrap()
                .contains("/10.0.0.0__")
        );
        assert!(find("Lib, Version=9.0.0.0").unwrap().contains("/9.0.0.0__"));
        assert_eq!(find("Lib, Version=8.0.0.0"), None);
        assert_eq!(find("Lib, PublicKeyToken=b03f5f7f11d50a3a"), None);
        assert_eq!(find("Other"), None);
    }
}
