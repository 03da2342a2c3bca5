//! Finding members by name.
//!
//! ```text
//! find_method             own, by name and number of parameters
//! find_method_inherited   the nearest in the chain of parents
//! find_method_sig         own, by name and exact open signature
//! find_field, find_field_inherited
//! cctor, finalizer        found once and kept
//! ```
//!
//! # Invariants
//! An index of names belongs to a definition and serves all of its instantiations, because their
//! members have the same indices. Classes with fewer than [`SMALL`] members have none: comparing the
//! names takes less time than a hash.
use crate::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Indices of members by name.
pub(crate) type NameIndex = FxHashMap<&'static str, SmallVec<[u32; 2]>>;

/// Classes with fewer members than this are searched without an index.
const SMALL: usize = 8;
/// The index of a list of names.
fn index<'n>(names: impl Iterator<Item = &'n &'static str>) -> NameIndex {
    let mut index = NameIndex::default();
    for (i, name) in names.enumerate() {
        index.entry(*name).or_default().push(i as u32);
    }
    index
}

impl Class {
    /// Indices of the own methods of that name, in order.
    pub(crate) fn methods_named(&'static self, name: &str) -> R<SmallVec<[u32; 4]>> {
        let def = self.def();
        let methods = def.methods()?;
        if methods.len() < SMALL {
            return Ok(methods
                .iter()
                .filter(|m| m.name == name)
                .map(|m| m.index)
                .collect());
        }
        let names = def
            .cells
            .method_names
            .get_or_try(|| Ok::<_, LoadError>(index(methods.iter().map(|m| &m.name))))?;
        Ok(names
            .get(name)
            .map_or_else(SmallVec::new, |list| SmallVec::from_slice(list)))
    }
    /// An own field.
    pub fn find_field(&'static self, name: &str) -> R<Option<FieldRef>> {
        let fields = self.fields()?;
        if fields.len() < SMALL {
            return Ok(fields.iter().find(|f| f.name == name).copied());
        }
        let def = self.def();
        let make = || Ok::<_, LoadError>(index(def.fields()?.iter().map(|f| &f.name)));
        let names = def.cells.field_names.get_or_try(make)?;
        Ok(names
            .get(name)
            .and_then(|list| fields.get(list[0] as usize).copied()))
    }
    /// An own method; the first with that many parameters.
    pub fn find_method(&'static self, name: &str, params: Option<usize>) -> R<Option<MethodRef>> {
        let methods = self.def().methods()?;
        for i in self.methods_named(name)? {
            if params.is_none_or(|n| n == methods[i as usize].param_count as usize) {
                return self.method_at(i).map(Some);
            }
        }
        Ok(None)
    }
    /// An own method with exactly that open signature (only the fixed part of a vararg one counts).
    pub fn find_method_sig(&'static self, name: &str, sig: &MethodSig) -> R<Option<MethodRef>> {
        let methods = self.def().methods()?;
        let fixed = &sig.params[..sig.sentinel.unwrap_or(sig.params.len())];
        for i in self.methods_named(name)? {
            let m = methods[i as usize];
            if m.param_count as usize != fixed.len()
                || m.generic_arity != sig.generic_arity
                || m.has_this() != sig.has_this
            {
                continue;
            }
            // A candidate of which some type cannot be loaded is not meant; one that must be waited for may be.
            let open = match m.open_sig() {
                Err(e @ LoadError::Need(_)) => return Err(e),
                other => other,
            };
            if open.is_ok_and(|s| s.ret == sig.ret && s.params == fixed) {
                return self.method_at(i).map(Some);
            }
        }
        Ok(None)
    }
    /// The class constructor.
    pub fn cctor(&'static self) -> R<Option<MethodRef>> {
        let found = self.cells.cctor.get_or_try(|| -> R<Option<MethodRef>> {
            // Without the index of names: every class that is used is asked for its class constructor, few for another method.
            let own = self.def().methods()?.iter().find(|m| m.is_cctor());
            own.map(|m| self.method_at(m.index)).transpose()
        })?;
        Ok(*found)
    }
    /// The override of Object.Finalize, if there is one other than Object's.
    pub fn finalizer(&'static self) -> R<Option<MethodRef>> {
        let found = self
            .cells
            .finalizer
            .get_or_try(|| -> R<Option<MethodRef>> {
                let object = self.universe().known(Known::Object);
                if self.is_interface() || self.parent()?.is_none() {
                    return Ok(None);
                }
                let Some(base) = object.find_method("Finalize", Some(0))? else {
                    return Ok(None);
                };
                Ok(Some(self.find_virtual_impl(base)?).filter(|m| m.class != object))
            })?;
        Ok(*found)
    }
}
