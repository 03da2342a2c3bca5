//! The six arrays of System.Text.Normalization, made by the build script of the Unicode character database.
//!
//! The class library reads them by address, and finds places in them by windows of its own: `build/normalization.rs` says how.
include!(concat!(env!("OUT_DIR"), "/normalization.rs"));
