//! Which types of a module name a type as their parent or interface.
//!
//! # Invariants
//! * Types are matched by name: the answer may hold types that name another type of that name, and who asks compares classes.
//! * Nothing is resolved, so nothing is loaded: only rows of the module are read.
use crate::*;
use rustc_hash::FxHashMap;
use vervet_metadata::signature::{SigType, parse_type_spec};
use vervet_metadata::{Table, Token};

/// By namespace and name of a type: the TypeDef rows that name it as parent or interface.
pub(crate) type Derived = FxHashMap<(&'static str, &'static str), Vec<u32>>;

/// How many TypeSpecs may lie inside each other.
const SPECS: u32 = 4;

impl Module {
    /// The TypeDef rows of this module that name the type as their parent or interface, whatever its generic arguments.
    pub fn naming(&'static self, namespace: &'static str, name: &'static str) -> &'static [u32] {
        let made = self.derived.get_or_try(|| self.derived());
        match made.ok().and_then(|all| all.get(&(namespace, name))) {
            Some(rows) => rows,
            None => &[],
        }
    }

    fn derived(&'static self) -> R<Derived> {
        let mut all = Derived::default();
        let mut add = |token: Token, rid: u32| {
            if let Some(name) = self.type_name_of(token, SPECS) {
                all.entry(name).or_default().push(rid);
            }
        };
        for rid in 1..=self.image.row_count(Table::TypeDef) {
            let row = self.image.type_def(rid).map_err(|e| self.bad(e))?;
            if !row.extends.is_nil() {
                add(row.extends, rid);
            }
            for at in self.image.interface_impls_of(rid) {
                let row = self.image.interface_impl(at).map_err(|e| self.bad(e))?;
                add(row.interface, rid);
            }
        }
        Ok(all)
    }

    /// Namespace and name that a type token leads to.
    fn type_name_of(
        &'static self,
        token: Token,
        depth: u32,
    ) -> Option<(&'static str, &'static str)> {
        let (namespace, name) = match token.table()? {
            Table::TypeDef => {
                let row = self.image.type_def(token.rid()).ok()?;
                (row.namespace, row.name)
            }
            Table::TypeRef => {
                let row = self.image.type_ref(token.rid()).ok()?;
                (row.namespace, row.name)
            }
            Table::TypeSpec => {
                let row = self.image.type_spec(token.rid()).ok()?;
                let blob = self.blob(row.signature).ok()?;
                return match parse_type_spec(blob).ok()?.unmodified() {
                    SigType::GenericInst { def, .. } => {
                        self.type_name_of(*def, depth.checked_sub(1)?)
                    }
                    _ => None,
                };
            }
            _ => return None,
        };
        Some((self.string(namespace).ok()?, self.string(name).ok()?))
    }
}
