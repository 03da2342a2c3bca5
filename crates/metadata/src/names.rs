//! Names of types as the metadata spells them (II.22.37, II.22.38).
//!
//! Invariant: the chain of enclosing types is followed at most
//! [`MAX_NESTING`] levels, so that a cycle ends.

use crate::error::Error;
use crate::image::Image;
use crate::tables::Table;
use crate::token::Token;

/// How deeply types may be nested in one another.
pub const MAX_NESTING: u32 = 256;

/// A type's name and namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeName<'a> {
    /// Empty for nested types.
    pub namespace: &'a str,
    /// With its generic arity, as `List`1`.
    pub name: &'a str,
}

impl core::fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}.", self.namespace)?;
        }
        f.write_str(self.name)
    }
}

impl<'a> Image<'a> {
    /// The name of a TypeDef, TypeRef or ExportedType.
    pub fn type_name(&self, token: Token) -> Result<TypeName<'a>, Error> {
        let (namespace, name) = match token.table() {
            Some(Table::TypeDef) => {
                let row = self.type_def(token.rid())?;
                (row.namespace, row.name)
            }
            Some(Table::TypeRef) => {
                let row = self.type_ref(token.rid())?;
                (row.namespace, row.name)
            }
            Some(Table::ExportedType) => {
                let row = self.exported_type(token.rid())?;
                (row.namespace, row.name)
            }
            _ => {
                return Err(Error::format(
                    "the token names no named type",
                    token.0 as usize,
                ));
            }
        };
        Ok(TypeName {
            namespace: self.string(namespace)?,
            name: self.string(name)?,
        })
    }

    /// The type that encloses a TypeDef, TypeRef or ExportedType, in the same
    /// table.
    pub fn enclosing_type(&self, token: Token) -> Result<Option<Token>, Error> {
        let (table, outer) = match token.table() {
            Some(Table::TypeDef) => {
                let outer = self.nested_class_of(token.rid());
                return Ok(outer.map(|rid| Token::new(Table::TypeDef, rid)));
            }
            Some(Table::TypeRef) => (Table::TypeRef, self.type_ref(token.rid())?.resolution_scope),
            Some(Table::ExportedType) => (
                Table::ExportedType,
                self.exported_type(token.rid())?.implementation,
            ),
            _ => {
                return Err(Error::format(
                    "the token names no named type",
                    token.0 as usize,
                ));
            }
        };
        Ok((outer.is(table) && !outer.is_nil()).then_some(outer))
    }

    /// The full name, with `+` before nested names.
    pub fn type_full_name(&self, token: Token) -> Result<String, Error> {
        let mut parts = vec![self.type_name(token)?];
        let mut inner = token;
        while let Some(outer) = self.enclosing_type(inner)? {
            if parts.len() as u32 > MAX_NESTING {
                return Err(Error::format(
                    "types are nested in a cycle",
                    token.0 as usize,
                ));
            }
            parts.push(self.type_name(outer)?);
            inner = outer;
        }
        let names: Vec<String> = parts.iter().rev().map(TypeName::to_string).collect();
        Ok(names.join("+"))
    }
}
