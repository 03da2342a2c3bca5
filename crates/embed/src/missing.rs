//! The functions of Mono's headers that this library does not have: a host that calls one learns its name, and why.
//!
//! The list, with the reasons, is `missing.txt`; the build script makes the functions.
include!(concat!(env!("OUT_DIR"), "/missing.rs"));
