//! Which assemblies an assembly names in attributes that widen accessibility.
//!
//! ```text
//! attribute of System.Runtime.CompilerServices   what the other assembly may do, or this one
//! InternalsVisibleTo("B")                        B may use what is internal here
//! IgnoresAccessChecksTo("B")                     this one may use everything of B
//! ```
//!
//! # Invariants
//! * The attributes are read once, at the first question: every use of another assembly's internal type asks. An assembly that grows is
//!   read each time, because its program may add attributes.
//! * A name is the simple one: what follows a comma, a public key, is not compared. Case does not matter.
use crate::module::{Assembly, Module};
use vervet_metadata::Token;
use vervet_metadata::tables::Table;

/// The namespace of the attributes.
const NAMESPACE: &str = "System.Runtime.CompilerServices";

/// The simple names of the assemblies that an assembly names.
pub(crate) struct Friends {
    internals_visible_to: Vec<String>,
    ignores_access_to: Vec<String>,
}

impl Friends {
    fn of(assembly: &Assembly) -> Friends {
        let named = |attribute| named(assembly.manifest, attribute).collect();
        Friends {
            internals_visible_to: named("InternalsVisibleToAttribute"),
            ignores_access_to: named("IgnoresAccessChecksToAttribute"),
        }
    }
}

impl Assembly {
    /// Whether its internals are visible to the assembly of that name.
    pub fn has_friend(&self, name: &str) -> bool {
        self.asks(name, |f| &f.internals_visible_to)
    }
    /// Whether it declares that accessibility does not matter where it uses the assembly of that name.
    pub fn ignores_access_to(&self, name: &str) -> bool {
        self.asks(name, |f| &f.ignores_access_to)
    }
    fn asks(&self, name: &str, of: impl Fn(&Friends) -> &Vec<String>) -> bool {
        let is_named = |f: &Friends| of(f).iter().any(|n| n.eq_ignore_ascii_case(name));
        if let Some(friends) = self.friends.get() {
            return is_named(friends);
        }
        let friends = Friends::of(self);
        match self.manifest.image.grows() {
            Some(_) => is_named(&friends),
            None => is_named(self.friends.put(friends)),
        }
    }
}

/// The simple names in the attributes of that name of the assembly of which the module is the manifest. What cannot be read names nothing.
fn named(manifest: &Module, attribute: &'static str) -> impl Iterator<Item = String> {
    let image = &manifest.image;
    let assembly = Token::new(Table::Assembly, 1);
    image.custom_attributes_of(assembly).filter_map(move |rid| {
        if !manifest.attribute_is(rid, NAMESPACE, attribute).ok()? {
            return None;
        }
        let blob = image.blob(image.custom_attribute(rid).ok()?.value).ok()?;
        let text = vervet_metadata::CustomAttrReader::new(blob)
            .ok()?
            .ser_string()
            .ok()??;
        Some(text.split(',').next()?.trim().to_owned())
    })
}
