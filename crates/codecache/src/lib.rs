//! Files of compiled code: their format, and which files and directories are trusted.
//!
//! ```text
//! wire        numbers and byte strings in a payload: a writer, and a total reader
//! checksum    finds damage, not forgery
//! file        the format: header, dependency sets, index, entries
//! way         from the root to a directory, one component at a time
//! trust       a directory that nobody else can write, and the files in it
//! memo        hashes of contents, by what the file system says of the file
//! shelf       the files of one build in such a directory: read, replace, forget
//! ```
//!
//! This crate knows nothing of methods, classes or machine code. To it an entry is a hash, an identity and a payload, all bytes that the runtime
//! chose.
//!
//! # Invariants
//! * Reading is total: no content of a file makes this crate panic, read out of bounds or loop without end.
//! * A file is opened only if nobody but its owner, who is this process's user or root, can have written it.
//! * A file is never changed in place: it is written under another name, and renamed.
pub mod checksum;
pub mod file;
pub mod memo;
pub mod shelf;
pub mod trust;
mod way;
pub mod wire;
