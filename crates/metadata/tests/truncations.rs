//! Every truncation of real images is refused or read. Mutations of them are in the crate `vervet-fuzz`.

use std::path::Path;

use vervet_metadata::fuzz_image;

const SEEDS: &[&str] = &[
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
    for seed in SEEDS.iter().filter(|p| Path::new(p).exists()) {
        let data = std::fs::read(seed).expect("the file can be read");
        for len in 0..data.len().min(0x400) {
            fuzz_image(&data[..len]);
        }
    }
}
