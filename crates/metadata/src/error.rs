//! The one error type of the reader.
//!
//! Invariant: an error is a small `Copy` value that allocates nothing, so that
//! rejecting a malformed image costs no more than accepting a good one.

use crate::tables::Table;

/// Why a read was refused, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A structure of the file (headers, bodies, symbol files) is malformed.
    #[error("{reason} (at offset {offset:#x})")]
    Format {
        /// What is wrong.
        reason: &'static str,
        /// Byte offset in the structure or the file that was being read.
        offset: usize,
    },
    /// An RVA lies in no section, or in a part of one the file does not hold.
    #[error("RVA {rva:#x}: {reason}")]
    Rva {
        /// What is wrong.
        reason: &'static str,
        /// The relative virtual address.
        rva: u32,
    },
    /// A row or a cell of a metadata table is malformed or does not exist.
    #[error("row {rid} of table {table:?}: {reason}")]
    Row {
        /// The table that was read.
        table: Table,
        /// The one-based row number.
        rid: u32,
        /// What is wrong.
        reason: &'static str,
    },
    /// A heap item is malformed or does not exist.
    #[error("heap {heap} at {index:#x}: {reason}")]
    Heap {
        /// The name of the stream.
        heap: &'static str,
        /// The index that was asked for.
        index: u32,
        /// What is wrong.
        reason: &'static str,
    },
    /// A signature or other blob is malformed.
    #[error("blob byte {offset}: {reason}")]
    Blob {
        /// What is wrong.
        reason: &'static str,
        /// Byte offset in the blob.
        offset: usize,
    },
    /// An instruction stream is malformed.
    #[error("IL_{offset:04x}: {reason}")]
    Il {
        /// What is wrong.
        reason: &'static str,
        /// Byte offset in the method's code.
        offset: u32,
    },
}

impl Error {
    pub(crate) const fn format(reason: &'static str, offset: usize) -> Error {
        Error::Format { reason, offset }
    }

    pub(crate) const fn blob(reason: &'static str, offset: usize) -> Error {
        Error::Blob { reason, offset }
    }
}
