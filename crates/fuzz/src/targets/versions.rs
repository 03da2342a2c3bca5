//! Target `version`: version resources of PE files.
//!
//! An input that is no PE file is put into one as its resource directory's only version resource. Oracles: reading ends;
//! texts that were written are read back.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_metadata::version::version_info;

pub(super) const VERSION: Target = Target {
    name: "version",
    about: "version resources: reading ends, texts are read back",
    run,
    generate,
    corpus: || Corpus::read("version"),
    memory: 1 << 20,
    missing: || None,
};

/// A PE file with one section that holds a resource directory with this version resource.
fn wrapped(resource: &[u8]) -> Vec<u8> {
    const RVA: u32 = 0x2000;
    let mut tree = Vec::new();
    let mut directory = |number: u32, to: u32| {
        tree.extend([0; 12]);
        tree.extend([0, 0, 1, 0]);
        tree.extend(number.to_le_bytes());
        tree.extend(to.to_le_bytes());
    };
    directory(16, 0x8000_0000 | 24);
    directory(1, 0x8000_0000 | 48);
    directory(0x409, 72);
    tree.extend((RVA + 88).to_le_bytes());
    tree.extend((resource.len() as u32).to_le_bytes());
    tree.extend([0; 8]);
    tree.extend(resource);
    let mut out = vec![0; 0x200];
    let mut put = |at: usize, v: &[u8]| out[at..at + v.len()].copy_from_slice(v);
    put(0, b"MZ");
    put(0x3C, &0x40u32.to_le_bytes());
    put(0x40, b"PE\0\0\x4C\x01\x01\0");
    put(0x54, &224u16.to_le_bytes());
    put(0x58, &0x10Bu16.to_le_bytes());
    put(0x58 + 92, &16u32.to_le_bytes());
    let size = tree.len() as u32;
    put(0x58 + 96 + 2 * 8, &RVA.to_le_bytes());
    put(0x58 + 96 + 2 * 8 + 4, &size.to_le_bytes());
    for (i, v) in [size, RVA, size, 0x200].iter().enumerate() {
        put(0x58 + 224 + 8 + i * 4, &v.to_le_bytes());
    }
    out.extend(tree);
    out
}

fn run(data: &[u8]) {
    let pe;
    let file = if data.starts_with(b"MZ") {
        data
    } else {
        pe = wrapped(data);
        &pe
    };
    if let Some(info) = version_info(file) {
        for (name, text) in &info.strings {
            assert!(text.len() <= 3 * data.len() && info.string(name).is_some());
        }
        let texts: Vec<(&str, &str)> = info
            .strings
            .iter()
            .map(|(n, t)| (n.as_str(), t.as_str()))
            .collect();
        let written = resource(&[0; 48], &texts);
        if written.len() < 0x1_0000 {
            let again = version_info(&wrapped(&written)).expect("a valid resource is read");
            assert_eq!(again.strings, info.strings);
        }
    }
}

/// A block: length, length of the value, whether that is text, name, value, children, each at a multiple of four.
fn block(key: &str, value: &[u8], is_text: bool, children: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0; 6];
    let unit = if is_text { 2 } else { 1 };
    out[2..4].copy_from_slice(&((value.len() / unit) as u16).to_le_bytes());
    out[4] = u8::from(is_text);
    out.extend(key.encode_utf16().chain([0]).flat_map(u16::to_le_bytes));
    for part in [value]
        .into_iter()
        .chain(children.iter().map(Vec::as_slice))
    {
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(part);
    }
    let len = out.len() as u16;
    out[..2].copy_from_slice(&len.to_le_bytes());
    out
}

/// A version resource with these texts.
fn resource(words: &[u8], texts: &[(&str, &str)]) -> Vec<u8> {
    let strings: Vec<Vec<u8>> = texts
        .iter()
        .map(|(name, text)| block(name, &utf16(text), true, &[]))
        .collect();
    let fixed = [&0xFEEF_04BDu32.to_le_bytes()[..], words].concat();
    let translation = block("Translation", &[9, 4, 0xB0, 4], false, &[]);
    let table = block("040904b0", &[], false, &strings);
    let children = [
        block("VarFileInfo", &[], false, &[translation]),
        block("StringFileInfo", &[], false, &[table]),
    ];
    block("VS_VERSION_INFO", &fixed, false, &children)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect()
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    if random.once_in(4) && !corpus.inputs.is_empty() {
        let mut data = random.of(&corpus.inputs).1.clone();
        mutate::bytes(&mut data, random);
        return data;
    }
    const NAMES: &[&str] = &["FileVersion", "Comments", "", "ProductName", "\u{E9}"];
    let text = "x".repeat(random.below(40));
    let texts: Vec<(&str, &str)> = (0..random.below(4))
        .map(|_| (*random.of(NAMES), &text[..random.below(text.len() + 1)]))
        .collect();
    let words: Vec<u8> = (0..12)
        .flat_map(|_| random.number().to_le_bytes())
        .collect();
    let mut data = resource(&words, &texts);
    if random.once_in(2) {
        data = wrapped(&data);
    }
    mutate::bytes(&mut data, random);
    data
}
