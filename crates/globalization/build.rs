//! Packs what is known of cultures, regions and normalization into tables that need no work when a process starts.
//!
//! The results lie in `OUT_DIR`: Rust source that `src/tables.rs` includes. All is constants without addresses, so the pages of a
//! culture are read from the file when a program asks for it, and none is written.
#[path = "build/cultures.rs"]
mod cultures;
#[path = "build/normalization.rs"]
mod normalization;
#[path = "build/pool.rs"]
mod pool;
#[path = "build/rows.rs"]
mod rows;

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=facts");
    let variable = |name: &str| PathBuf::from(std::env::var_os(name).expect("cargo sets it"));
    let facts = variable("CARGO_MANIFEST_DIR").join("facts");
    let out = variable("OUT_DIR");
    for (name, source) in [
        ("cultures.rs", cultures::source(&facts)),
        ("normalization.rs", normalization::source()),
    ] {
        std::fs::write(out.join(name), source).expect("OUT_DIR is writable");
    }
}
