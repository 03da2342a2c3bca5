//! Target `attribute`: the blobs of custom attributes.
//!
//! An input is read as named arguments, then as values of every type. Oracles: reading ends, and takes memory in proportion
//! to the blob; a value that was written is read back.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_metadata::CustomAttrReader;
use vervet_metadata::custom_attribute::{AttrType, AttrValue};
use vervet_metadata::testing::signatures::compressed;

pub(super) const ATTRIBUTE: Target = Target {
    name: "attribute",
    about: "blobs of custom attributes: reading ends, what was written is read back",
    run,
    generate,
    corpus: || Corpus::read("attribute"),
    memory: 1 << 20,
    missing: || None,
};

const STRINGS: &[&str] = &["", "a", "System.Int32", "\u{E9}\u{4E2D}\u{1F600}", "E, asm"];

fn ser_string(text: Option<&str>, out: &mut Vec<u8>) {
    match text {
        None => out.push(0xFF),
        Some(text) => {
            compressed(text.len() as u32, out);
            out.extend(text.as_bytes());
        }
    }
}

/// Writes a type's tag; None for what has none.
fn encode_type(ty: &AttrType<'_>, out: &mut Vec<u8>) {
    out.push(match ty {
        AttrType::Bool => 2,
        AttrType::Char => 3,
        AttrType::I1 => 4,
        AttrType::U1 => 5,
        AttrType::I2 => 6,
        AttrType::U2 => 7,
        AttrType::I4 => 8,
        AttrType::U4 => 9,
        AttrType::I8 => 10,
        AttrType::U8 => 11,
        AttrType::R4 => 12,
        AttrType::R8 => 13,
        AttrType::String => 14,
        AttrType::SzArray(_) => 0x1D,
        AttrType::Type => 0x50,
        AttrType::Boxed => 0x51,
        AttrType::Enum(_) => 0x55,
    });
    match ty {
        AttrType::SzArray(element) => encode_type(element, out),
        AttrType::Enum(name) => ser_string(Some(name), out),
        _ => {}
    }
}

fn encode(value: &AttrValue<'_>, out: &mut Vec<u8>) {
    match value {
        AttrValue::Bool(v) => out.push(u8::from(*v)),
        AttrValue::Char(v) | AttrValue::U2(v) => out.extend(v.to_le_bytes()),
        AttrValue::I1(v) => out.push(*v as u8),
        AttrValue::U1(v) => out.push(*v),
        AttrValue::I2(v) => out.extend(v.to_le_bytes()),
        AttrValue::I4(v) => out.extend(v.to_le_bytes()),
        AttrValue::U4(v) => out.extend(v.to_le_bytes()),
        AttrValue::I8(v) => out.extend(v.to_le_bytes()),
        AttrValue::U8(v) => out.extend(v.to_le_bytes()),
        AttrValue::R4(v) => out.extend(v.to_le_bytes()),
        AttrValue::R8(v) => out.extend(v.to_le_bytes()),
        AttrValue::String(text) | AttrValue::Type(text) => ser_string(*text, out),
        AttrValue::Enum(_, value) => encode(value, out),
        AttrValue::SzArray(_, None) => out.extend(u32::MAX.to_le_bytes()),
        AttrValue::SzArray(_, Some(values)) => {
            out.extend((values.len() as u32).to_le_bytes());
            values.iter().for_each(|v| encode(v, out));
        }
    }
}

fn enums(name: &str) -> Option<AttrType<'static>> {
    match name.len() % 3 {
        0 => Some(AttrType::U1),
        1 => Some(AttrType::I8),
        _ => None,
    }
}

fn run(data: &[u8]) {
    let head: Vec<u8> = [&[1, 0][..], data].concat();
    let mut reader = CustomAttrReader::new(&head).expect("there is a prolog");
    if let Ok(count) = reader.named_count() {
        for _ in 0..count {
            let Ok(arg) = reader.named_arg() else { break };
            let begin = reader.offset();
            let Ok(value) = reader.value(&arg.ty, &mut enums) else {
                break;
            };
            assert!(reader.offset() <= head.len());
            let mut written = Vec::new();
            encode(&value, &mut written);
            let read = &head[begin..reader.offset()];
            if !has_variants(&arg.ty) {
                let mut again = CustomAttrReader::without_prolog(&written);
                let same = again.value(&arg.ty, &mut enums);
                // NaN is not itself: the bytes are compared then.
                assert!(same.as_ref() == Ok(&value) || written == read, "{same:?}");
            }
        }
    }
    let mut reader = CustomAttrReader::without_prolog(data);
    while let Ok(ty) = reader.type_tag() {
        if reader.value(&ty, &mut enums).is_err() {
            break;
        }
    }
}

/// Whether values of the type have a form that the value does not tell: a box is read as what is in it.
fn has_variants(ty: &AttrType<'_>) -> bool {
    match ty {
        AttrType::Boxed => true,
        AttrType::SzArray(element) => has_variants(element),
        _ => false,
    }
}

fn ty(random: &mut Random, depth: usize) -> AttrType<'static> {
    match random.below(16 + depth) {
        0 => AttrType::Bool,
        1 => AttrType::Char,
        2 => AttrType::I1,
        3 => AttrType::U1,
        4 => AttrType::I2,
        5 => AttrType::U4,
        6 => AttrType::I8,
        7 => AttrType::R8,
        8 | 9 => AttrType::String,
        10 | 11 => AttrType::Type,
        12 => AttrType::Boxed,
        13 => AttrType::Enum("System.DayOfWeek"),
        14 => AttrType::Enum("E"),
        15 => AttrType::I4,
        _ => AttrType::SzArray(Box::new(ty(random, depth - 1))),
    }
}

fn value(ty: &AttrType<'static>, random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    let text = |random: &mut Random| (!random.once_in(5)).then(|| *random.of(STRINGS));
    let bits = random.bits();
    let size = match ty {
        AttrType::Bool | AttrType::I1 | AttrType::U1 => 1,
        AttrType::Char | AttrType::I2 | AttrType::U2 => 2,
        AttrType::I4 | AttrType::U4 | AttrType::R4 => 4,
        AttrType::I8 | AttrType::U8 | AttrType::R8 => 8,
        AttrType::String | AttrType::Type => return ser_string(text(random), out),
        AttrType::Boxed => {
            let inner = self::ty(random, depth);
            encode_type(&inner, out);
            return value(&inner, random, depth.saturating_sub(1), out);
        }
        AttrType::Enum(name) => {
            let underlying = enums(name).unwrap_or(AttrType::I4);
            return value(&underlying, random, depth, out);
        }
        AttrType::SzArray(element) => {
            let n = random.below(4);
            out.extend((n as u32).to_le_bytes());
            (0..n).for_each(|_| value(element, random, depth, out));
            return;
        }
    };
    out.extend(&bits.to_le_bytes()[..size]);
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut out = Vec::new();
    let count = random.below(5);
    out.extend((count as u16).to_le_bytes());
    for _ in 0..count {
        out.push(*random.of(&[0x53, 0x54]));
        let ty = ty(random, 3);
        encode_type(&ty, &mut out);
        ser_string(Some(*random.of(STRINGS)), &mut out);
        value(&ty, random, 3, &mut out);
    }
    match random.below(6) {
        0 | 1 => {}
        2 => {
            // Many empty vectors in deep ones.
            let deep = random.below(220);
            out = [&[1, 0, 0x53][..], &vec![0x1D; deep], &[2, 1, b'x']].concat();
            for _ in 0..random.below(400) {
                out.extend(random.below(400).to_le_bytes()[..4].iter());
            }
        }
        3 if !corpus.inputs.is_empty() => {
            out = random.of(&corpus.inputs).1.clone();
            mutate::bytes(&mut out, random);
        }
        _ => mutate::bytes(&mut out, random),
    }
    out
}
