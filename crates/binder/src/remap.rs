//! Requests for the framework, turned into requests for the framework that is installed.
//!
//! A retargetable reference (to Silverlight, the Compact Framework or a portable library) becomes 4.0.0.0 with the key
//! of the desktop assembly. Any other reference to a framework assembly gets the version of [`crate::framework`].
//! Everything else passes unchanged. Remapping twice is the same as remapping once.

use crate::framework::{self, Rule};
use crate::name::{AssemblyName, Version};
use crate::token::PublicKeyToken;
use std::borrow::Cow;

const RUNNING: Version = [4, 0, 0, 0];

/// The name to look for when `name` is asked for.
pub fn remap(name: &AssemblyName) -> Cow<'_, AssemblyName> {
    if name.retargetable {
        return Cow::Owned(retarget(name));
    }
    let (version, new_name) = match framework::rule(&name.name) {
        None | Some(Rule::Facade) => return Cow::Borrowed(name),
        Some(Rule::OlderOnly) if name.version_or_zero() > RUNNING => return Cow::Borrowed(name),
        Some(Rule::Version4 | Rule::OlderOnly) => (RUNNING, None),
        Some(Rule::Version10) => ([10, 0, 0, 0], None),
        Some(Rule::Rename(new_name)) => (RUNNING, Some(new_name)),
    };
    if name.version == Some(version) {
        return Cow::Borrowed(name);
    }
    let mut mapped = AssemblyName {
        version: Some(version),
        ..name.clone()
    };
    if let Some(new_name) = new_name {
        mapped.name = new_name.to_owned();
    }
    Cow::Owned(mapped)
}

fn retarget(name: &AssemblyName) -> AssemblyName {
    let mut mapped = AssemblyName {
        version: Some(RUNNING),
        retargetable: false,
        ..name.clone()
    };
    if mapped.name == "System.Net" {
        mapped.name = "System".to_owned();
    }
    if let Some(&(_, _, token)) = KEYS
        .iter()
        .find(|(simple, from, _)| *simple == mapped.name && Some(*from) == mapped.public_key_token)
    {
        mapped.public_key_token = Some(token);
    }
    mapped
}

const ECMA: PublicKeyToken = PublicKeyToken::ECMA;
const FINAL: PublicKeyToken = PublicKeyToken::MS_FINAL;
const WINFX: PublicKeyToken = PublicKeyToken::WINFX;
const SILVER: PublicKeyToken = PublicKeyToken::SILVERLIGHT;
const COMPACT: PublicKeyToken = PublicKeyToken::COMPACT;

/// Simple name, the key of the other platform, the key of the desktop assembly.
#[rustfmt::skip]
static KEYS: &[(&str, PublicKeyToken, PublicKeyToken)] = &[
    ("CustomMarshalers", COMPACT, FINAL),
    ("Microsoft.CSharp", WINFX, FINAL),
    ("Microsoft.VisualBasic", COMPACT, FINAL),
    ("System", SILVER, ECMA),
    ("System", COMPACT, ECMA),
    ("System.ComponentModel.Composition", WINFX, ECMA),
    ("System.ComponentModel.DataAnnotations", PublicKeyToken(0xddd0_da4d_3e67_8217_u64.to_be_bytes()), WINFX),
    ("System.Core", SILVER, ECMA),
    ("System.Core", COMPACT, ECMA),
    ("System.Data", COMPACT, ECMA),
    ("System.Data.DataSetExtensions", COMPACT, ECMA),
    ("System.Drawing", COMPACT, FINAL),
    ("System.Messaging", COMPACT, FINAL),
    ("System.Net", SILVER, FINAL),
    ("System.Numerics", WINFX, ECMA),
    ("System.Runtime.Serialization", SILVER, ECMA),
    ("System.Runtime.Serialization", COMPACT, ECMA),
    ("System.ServiceModel", WINFX, ECMA),
    ("System.ServiceModel", COMPACT, ECMA),
    ("System.ServiceModel.Web", SILVER, WINFX),
    ("System.Web.Services", COMPACT, FINAL),
    ("System.Windows", SILVER, FINAL),
    ("System.Windows.Forms", COMPACT, ECMA),
    ("System.Xml", SILVER, ECMA),
    ("System.Xml", COMPACT, ECMA),
    ("System.Xml.Linq", WINFX, ECMA),
    ("System.Xml.Linq", COMPACT, ECMA),
    ("System.Xml.Serialization", WINFX, ECMA),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn remapped(text: &str) -> String {
        remap(&AssemblyName::parse(text).unwrap()).to_string()
    }

    #[test]
    fn framework_assemblies_get_the_installed_version() {
        let token = "Culture=neutral, PublicKeyToken=b77a5c561934e089";
        assert_eq!(
            remapped(&format!("System, Version=2.0.0.0, {token}")),
            format!("System, Version=4.0.0.0, {token}")
        );
        assert_eq!(
            remapped("System.Core"),
            "System.Core, Version=4.0.0.0, Culture=neutral, PublicKeyToken=null"
        );
        assert!(remapped("Microsoft.VisualBasic, Version=8.0.0.0").contains("Version=10.0.0.0"));
        assert!(
            remapped("Microsoft.Build.Tasks, Version=2.0.0.0")
                .starts_with("Microsoft.Build.Tasks.v4.0, Version=4.0.0.0")
        );
    }

    #[test]
    fn only_older_versions_of_some_are_lifted() {
        assert!(remapped("System.Threading.Tasks.Dataflow, Version=4.5.24.0").contains("4.5.24.0"));
        assert!(remapped("System.Threading.Tasks.Dataflow, Version=3.0.0.0").contains("4.0.0.0"));
        assert!(remapped("Microsoft.Build.Framework, Version=14.0.0.0").contains("14.0.0.0"));
    }

    #[test]
    fn facades_and_strangers_stay_as_they_are() {
        for text in [
            "System.Runtime, Version=4.1.2.0",
            "Newtonsoft.Json, Version=6.0.0.0",
        ] {
            let name = AssemblyName::parse(text).unwrap();
            assert!(matches!(remap(&name), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn retargetable_references_change_version_and_key() {
        let silverlight =
            "Version=2.0.5.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e, Retargetable=Yes";
        let desktop = "Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
        assert_eq!(
            remapped(&format!("System.Core, {silverlight}")),
            format!("System.Core, {desktop}")
        );
        assert_eq!(
            remapped(&format!("System.Net, {silverlight}")),
            format!("System, {desktop}")
        );
        assert!(
            remapped(&format!("Mine, {silverlight}")).ends_with("PublicKeyToken=7cec85d7bea7798e")
        );
    }
}
