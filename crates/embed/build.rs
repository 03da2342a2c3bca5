//! The library's name in the dynamic linker, and functions that say that they are missing, from `missing.txt`.
use std::fmt::Write;

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libvervet.so.1");
    // The hand-written thunks address symbols of this library directly.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=missing.txt");
    let list = std::fs::read_to_string("missing.txt").expect("missing.txt is beside this file");
    let mut code = String::new();
    for line in list
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let (name, why) = line
            .split_once(": ")
            .expect("a line of missing.txt is `name: why`");
        let _ = writeln!(
            code,
            "#[unsafe(no_mangle)] extern \"C\" fn {name}() -> ! {{ crate::support::missing({name:?}, {why:?}) }}"
        );
    }
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(format!("{out}/missing.rs"), code).expect("the output directory may be written");
}
