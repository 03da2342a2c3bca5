//! Writes signatures (II.23.2), independently of the reader.
//!
//! Invariant: what is written is what the specification says of the tree, whether or not the tree makes sense.

use crate::signature::{MethodSig, SigType};
use crate::tables::Table;
use crate::token::Token;

/// An unsigned compressed integer.
pub fn compressed(v: u32, out: &mut Vec<u8>) {
    match v {
        0..=0x7F => out.push(v as u8),
        0x80..=0x3FFF => out.extend((v as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((v | 0xC000_0000).to_be_bytes()),
    }
}

/// A signed compressed integer.
pub fn compressed_signed(v: i32, out: &mut Vec<u8>) {
    let rotated = |bits: u32| {
        let mask = (1u32 << bits) - 1;
        (v as u32) << 1 & mask | u32::from(v < 0)
    };
    match v {
        -0x40..0x40 => out.push(rotated(7) as u8),
        -0x2000..0x2000 => out.extend((rotated(14) as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((rotated(29) | 0xC000_0000).to_be_bytes()),
    }
}

/// A TypeDefOrRefOrSpecEncoded.
pub fn encode_token(t: Token, out: &mut Vec<u8>) {
    let tag = match t.table() {
        Some(Table::TypeDef) => 0,
        Some(Table::TypeRef) => 1,
        _ => 2,
    };
    compressed(t.rid() << 2 | tag, out);
}

/// A type.
pub fn encode_type(t: &SigType, out: &mut Vec<u8>) {
    let simple = match t {
        SigType::Void => 0x01,
        SigType::Bool => 0x02,
        SigType::Char => 0x03,
        SigType::I1 => 0x04,
        SigType::U1 => 0x05,
        SigType::I2 => 0x06,
        SigType::U2 => 0x07,
        SigType::I4 => 0x08,
        SigType::U4 => 0x09,
        SigType::I8 => 0x0A,
        SigType::U8 => 0x0B,
        SigType::R4 => 0x0C,
        SigType::R8 => 0x0D,
        SigType::String => 0x0E,
        SigType::Ptr(_) => 0x0F,
        SigType::ByRef(_) => 0x10,
        SigType::ValueType(_) => 0x11,
        SigType::Class(_) => 0x12,
        SigType::Var(_) => 0x13,
        SigType::Array(_) => 0x14,
        SigType::GenericInst { .. } => 0x15,
        SigType::TypedByRef => 0x16,
        SigType::IntPtr => 0x18,
        SigType::UIntPtr => 0x19,
        SigType::FnPtr(_) => 0x1B,
        SigType::Object => 0x1C,
        SigType::SzArray(_) => 0x1D,
        SigType::MVar(_) => 0x1E,
        SigType::Modified { required: true, .. } => 0x1F,
        SigType::Modified {
            required: false, ..
        } => 0x20,
        SigType::Pinned(_) => 0x45,
    };
    out.push(simple);
    match t {
        SigType::Ptr(e) | SigType::ByRef(e) | SigType::SzArray(e) | SigType::Pinned(e) => {
            encode_type(e, out)
        }
        SigType::ValueType(t) | SigType::Class(t) => encode_token(*t, out),
        SigType::Var(n) | SigType::MVar(n) => compressed(*n, out),
        SigType::Array(a) => {
            encode_type(&a.elem, out);
            compressed(a.rank, out);
            compressed(a.sizes.len() as u32, out);
            a.sizes.iter().for_each(|s| compressed(*s, out));
            compressed(a.lo_bounds.len() as u32, out);
            a.lo_bounds.iter().for_each(|s| compressed_signed(*s, out));
        }
        SigType::GenericInst {
            value_type,
            def,
            args,
        } => {
            out.push(if *value_type { 0x11 } else { 0x12 });
            encode_token(*def, out);
            compressed(args.len() as u32, out);
            args.iter().for_each(|a| encode_type(a, out));
        }
        SigType::FnPtr(m) => encode_method(m, out),
        SigType::Modified {
            modifier, inner, ..
        } => {
            encode_token(*modifier, out);
            encode_type(inner, out);
        }
        _ => {}
    }
}

/// A method signature.
pub fn encode_method(m: &MethodSig, out: &mut Vec<u8>) {
    out.push(m.flags);
    if m.flags & 0x10 != 0 {
        compressed(m.generic_arity, out);
    }
    compressed(m.params.len() as u32, out);
    encode_type(&m.ret, out);
    for i in 0..=m.params.len() {
        if m.sentinel == Some(i) {
            out.push(0x41);
        }
        if let Some(p) = m.params.get(i) {
            encode_type(p, out);
        }
    }
}
