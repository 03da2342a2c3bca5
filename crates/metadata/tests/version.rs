//! Version resources: what a real one says, and that no damaged one is read past its end or for ever.
use vervet_metadata::version::version_info;

const COMPILER: &str = "/usr/lib/mono/4.5/mcs.exe";

fn compiler() -> Option<Vec<u8>> {
    let bytes = std::fs::read(COMPILER).ok();
    if bytes.is_none() {
        eprintln!("skipped: no class library is installed");
    }
    bytes
}

#[test]
fn a_compiler_says_its_version() {
    let Some(bytes) = compiler() else { return };
    let info = version_info(&bytes).expect("a version resource");
    assert_eq!(info.file[0], 4);
    assert_eq!(info.string("InternalName"), Some("mcs"));
    assert_eq!(info.string("OriginalFilename"), Some("mcs.exe"));
    assert_eq!(
        info.string("FileVersion").map(|v| v.split('.').count()),
        Some(4)
    );
    assert_eq!(info.string("NoSuchName"), None);
    assert_eq!(info.language, 0x7F);
    assert_eq!(version_info(b"MZ"), None);
    assert_eq!(version_info(&[]), None);
}

#[test]
fn damaged_resources_are_read_to_an_end() {
    let Some(bytes) = compiler() else { return };
    let name: Vec<u8> = "VS_VERSION_INFO"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let at = bytes
        .windows(name.len())
        .position(|w| w == name)
        .expect("the resource");
    // Its section and the file's headers are enough of the file.
    let from = at.saturating_sub(0x400);
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as usize % n
    };
    let mut data = bytes.clone();
    let mut read = 0;
    for _ in 0..50_000 {
        let mut undo = Vec::new();
        for _ in 0..=random(4) {
            let place = if random(4) == 0 {
                random(0x400)
            } else {
                from + random(0x900)
            };
            if let Some(byte) = data.get_mut(place) {
                undo.push((place, *byte));
                *byte = [0, 1, 2, 0x7F, 0x80, 0xFF, random(256) as u8][random(7)];
            }
        }
        read += u32::from(version_info(&data).is_some());
        let cut = random(data.len());
        version_info(&data[..cut]);
        for (place, byte) in undo.into_iter().rev() {
            data[place] = byte;
        }
    }
    assert!(read > 1000, "most damage leaves something to read: {read}");
    assert_eq!(data, bytes);
}
