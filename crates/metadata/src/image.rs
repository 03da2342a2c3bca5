//! A managed image: the one value the rest of the runtime reads from.
//!
//! Invariant: parsing reads headers only, so its cost does not depend on the
//! size of the image; every later read checks its own bounds.

use crate::body::MethodBody;
use crate::bytes;
use crate::error::Error;
use crate::growing::Growing;
use crate::heaps::{Heaps, Root, UserString};
use crate::lookup::Indexes;
use crate::pe::{CliHeader, Pe, PeInfo};
use crate::tables::{Table, Tables};
use crate::token::Token;

/// A parsed managed PE image over borrowed bytes.
#[derive(Debug)]
pub struct Image<'a> {
    data: &'a [u8],
    pe: Pe<'a>,
    cli: CliHeader,
    version: &'a str,
    heaps: Heaps<'a>,
    tables: Tables<'a>,
    resources: &'a [u8],
    pub(crate) indexes: Indexes,
}

impl<'a> Image<'a> {
    /// Parses the headers of `data`.
    pub fn parse(data: &'a [u8]) -> Result<Image<'a>, Error> {
        let pe = Pe::parse(data)?;
        let cli = pe.cli_header()?;
        let root = Root::parse(pe.directory(cli.metadata)?)?;
        let tables = Tables::parse(root.tables, None)?;
        let resources = match cli.resources {
            (0, _) | (_, 0) => &[][..],
            directory => pe.directory(directory)?,
        };
        Ok(Image {
            data,
            pe,
            cli,
            version: root.version,
            heaps: root.heaps,
            tables,
            resources,
            indexes: Indexes::default(),
        })
    }

    /// The image of what is in `growing`, now and later.
    pub fn growing(growing: &'static Growing) -> Image<'a> {
        /// IL only.
        const FLAGS: u32 = 1;
        Image {
            data: &[],
            pe: Pe::none(),
            cli: CliHeader {
                metadata: (0, 0),
                flags: FLAGS,
                entry_point: 0,
                resources: (0, 0),
            },
            version: "v4.0.30319",
            heaps: Heaps {
                growing: Some(growing),
                ..Heaps::default()
            },
            tables: Tables::growing(growing),
            resources: &[],
            indexes: Indexes::default(),
        }
    }

    /// What the image grows by, if it grows.
    pub fn grows(&self) -> Option<&'static Growing> {
        self.heaps.growing
    }

    /// Are all rows of a TypeDef there? Always, unless the image grows.
    pub fn is_complete(&self, type_def: u32) -> bool {
        use crate::growing::COMPLETE;
        use crate::keys::OWNER;
        self.grows().is_none()
            || self.tables.cell(Table::TypeDef, type_def, OWNER) == Some(COMPLETE)
    }

    /// The bytes the image was parsed from.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The runtime version the metadata names, as `v4.0.30319`.
    pub fn metadata_version(&self) -> &'a str {
        self.version
    }

    /// The entry point: a MethodDef or File token.
    pub fn entry_point(&self) -> Option<Token> {
        const NATIVE: u32 = 0x10;
        let token = Token(self.cli.entry_point);
        (self.cli.flags & NATIVE == 0 && !token.is_nil()).then_some(token)
    }

    /// The flags of the CLI header (1: IL only, 2: 32-bit required, ...).
    pub fn cli_flags(&self) -> u32 {
        self.cli.flags
    }

    /// What the PE headers say.
    pub fn pe_info(&self) -> PeInfo {
        self.pe.info
    }

    /// The module version identifier.
    pub fn mvid(&self) -> Result<[u8; 16], Error> {
        self.guid(self.module(1)?.mvid)
    }

    /// The table stream.
    #[inline]
    pub fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    /// How many rows a table has.
    #[inline]
    pub fn row_count(&self, table: Table) -> u32 {
        self.tables.row_count(table)
    }

    /// A string of `#Strings` as text: what is not UTF-8 is told apart, not refused.
    #[inline]
    pub fn string(&self, index: u32) -> Result<&'a str, Error> {
        self.heaps.string(index)
    }

    /// A string of `#Strings` as it is.
    #[inline]
    pub fn string_bytes(&self, index: u32) -> Result<&'a [u8], Error> {
        self.heaps.string_bytes(index)
    }

    /// A blob of `#Blob`.
    #[inline]
    pub fn blob(&self, index: u32) -> Result<&'a [u8], Error> {
        self.heaps.blob(index)
    }

    /// A GUID of `#GUID` (from 1); index 0 is all zeros.
    pub fn guid(&self, index: u32) -> Result<[u8; 16], Error> {
        self.heaps.guid(index)
    }

    /// A string of `#US`, by `ldstr` token or by offset.
    #[inline]
    pub fn user_string(&self, token_or_offset: u32) -> Result<UserString<'a>, Error> {
        self.heaps.user_string(token_or_offset & 0x00FF_FFFF)
    }

    /// The bytes from `rva` to the end of the file's part of its section.
    pub fn rva_data(&self, rva: u32) -> Result<&'a [u8], Error> {
        match self.grows() {
            None => self.pe.rva_data(rva),
            Some(g) => g
                .data(rva)
                .ok_or(Error::format("no data has this address", rva as usize)),
        }
    }

    /// The debug directory, if the file has one.
    pub(crate) fn debug_directory(&self) -> Option<&'a [u8]> {
        if self.grows().is_some() {
            return None;
        }
        let place = self.pe.data_directory(crate::pe::DEBUG).ok()??;
        self.pe.directory(place).ok()
    }

    /// The resources directory: each resource with its length before it.
    pub fn resources_directory(&self) -> &'a [u8] {
        self.resources
    }

    /// The resource at `offset` in the resources directory (II.24.2.4).
    pub fn resource(&self, offset: u32) -> Result<&'a [u8], Error> {
        let bad = |reason| Error::format(reason, offset as usize);
        let rest = self.resources.get(offset as usize..);
        let rest = rest.ok_or(bad("the resource starts beyond the directory"))?;
        let len = bytes::u32_at(rest, 0).ok_or(bad("the resource has no length"))?;
        bytes::slice(rest, 4, len as usize).ok_or(bad("the resource ends beyond the directory"))
    }

    /// The method body at `rva`.
    pub fn method_body(&self, rva: u32) -> Result<MethodBody<'a>, Error> {
        // The bodies of an image that grows are aligned as if each began at 0.
        let aligned_by = if self.grows().is_some() { 0 } else { rva };
        MethodBody::parse(self.rva_data(rva)?, aligned_by)
    }
}
