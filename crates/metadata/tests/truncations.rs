//! Every truncation of real images is refused or read. Mutations of them are in the crate `vervet-fuzz`.

use std::path::Path;

use vervet_metadata::fuzz_image;

/// An image of a few kilobytes with most of what an image can have. Miri, to which a byte is a lot of work, reads only this one.
const SMALL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../fuzz/corpus/image/shapes.dll"
);

const SEEDS: &[&str] = &[
    SMALL,
    "/usr/lib/mono/4.5/mscorlib.dll",
    "/usr/lib/mono/4.5/System.Core.dll",
    "/usr/lib/mono/4.5/System.dll",
    "/usr/lib/mono/4.5/Mono.Posix.dll",
    "/usr/lib/mono/4.5/cert-sync.exe",
    "/usr/lib/mono/4.5/Facades/System.Runtime.dll",
    "/usr/lib/mono/4.5/System.Configuration.Install.dll",
    "/usr/lib/mono/4.5/Mono.Security.dll",
];

#[test]
fn every_truncation_of_the_headers_is_refused_or_read() {
    let seeds = if cfg!(miri) { &[SMALL] } else { SEEDS };
    for seed in seeds.iter().filter(|p| Path::new(p).exists()) {
        let data = std::fs::read(seed).expect("the file can be read");
        for len in (0..data.len().min(0x400)).step_by(if cfg!(miri) { 29 } else { 1 }) {
            fuzz_image(&data[..len]);
        }
    }
}

#[test]
fn a_small_image_is_read_whole_and_up_to_anywhere() {
    let data = std::fs::read(SMALL).expect("the file is in the repository");
    let step = if cfg!(miri) { data.len() / 4 } else { 61 };
    for len in (0..data.len()).rev().step_by(step) {
        fuzz_image(&data[..len]);
    }
}
