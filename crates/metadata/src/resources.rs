//! Manifest resources (II.22.24, II.6.2.2).
//!
//! Invariant: listing decodes one row at a time; the bytes of a resource are
//! a slice of the image.

use crate::error::Error;
use crate::image::Image;
use crate::tables::Table;
use crate::token::Token;

/// A resource the manifest names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource<'a> {
    /// Its name.
    pub name: &'a str,
    /// ManifestResourceAttributes; see [`Resource::is_public`].
    pub flags: u32,
    /// Where it is.
    pub location: ResourceLocation<'a>,
}

/// Where a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceLocation<'a> {
    /// In this image.
    Embedded(&'a [u8]),
    /// In the file of this File row, from its start.
    File(Token),
    /// In another assembly, under the same name.
    Assembly(Token),
}

impl Resource<'_> {
    /// Whether other assemblies may read it.
    pub fn is_public(&self) -> bool {
        self.flags & 7 == 1
    }
}

impl<'a> Image<'a> {
    /// The resource of row `rid` of the ManifestResource table.
    pub fn resource_row(&self, rid: u32) -> Result<Resource<'a>, Error> {
        let row = self.manifest_resource(rid)?;
        let location = match row.implementation {
            token if token.is_nil() => ResourceLocation::Embedded(self.resource(row.offset)?),
            token if token.is(Table::File) => ResourceLocation::File(token),
            token if token.is(Table::AssemblyRef) => ResourceLocation::Assembly(token),
            _ => {
                return Err(Error::Row {
                    table: Table::ManifestResource,
                    rid,
                    reason: "a resource is neither here, in a file nor in an assembly",
                });
            }
        };
        Ok(Resource {
            name: self.string(row.name)?,
            flags: row.flags,
            location,
        })
    }

    /// Every resource, in order.
    pub fn resources(&self) -> impl Iterator<Item = Result<Resource<'a>, Error>> + '_ {
        (1..=self.row_count(Table::ManifestResource)).map(|rid| self.resource_row(rid))
    }
}
