//! Target `signature`: every kind of signature.
//!
//! Oracles: what was read, written again and read again is the same; what is cut off is refused.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_metadata::testing::signatures::{compressed, encode_method, encode_type};
use vervet_metadata::{
    AnySig, ArrayShapeSig, CallConvKind, MethodSig, PropertySig, SigType, Table, Token,
    parse_any_sig, parse_member_ref_sig, parse_type_spec,
};

pub(super) const SIGNATURE: Target = Target {
    name: "signature",
    about: "signatures: read, written and read again is the same",
    run,
    generate,
    corpus: || Corpus::read("signature"),
    memory: 1 << 20,
    missing: || None,
};

fn list(types: &[SigType], out: &mut Vec<u8>) {
    compressed(types.len() as u32, out);
    types.iter().for_each(|t| encode_type(t, out));
}

fn encode(signature: &AnySig) -> Vec<u8> {
    let mut out = Vec::new();
    match signature {
        AnySig::Method(m) => encode_method(m, &mut out),
        AnySig::Field(t) => {
            out.push(6);
            encode_type(t, &mut out);
        }
        AnySig::Locals(types) => {
            out.push(7);
            list(types, &mut out);
        }
        AnySig::Property(p) => {
            out.push(if p.has_this { 0x28 } else { 8 });
            compressed(p.params.len() as u32, &mut out);
            encode_type(&p.ty, &mut out);
            p.params.iter().for_each(|t| encode_type(t, &mut out));
        }
        AnySig::MethodSpec(types) => {
            out.push(0x0A);
            list(types, &mut out);
        }
    }
    out
}

fn run(data: &[u8]) {
    let _ = parse_type_spec(data);
    let _ = parse_member_ref_sig(data);
    if let Ok(signature) = parse_any_sig(data) {
        let written = encode(&signature);
        assert_eq!(parse_any_sig(&written).as_ref(), Ok(&signature));
        // A sentinel behind the last argument may be left out.
        if !written.contains(&0x41) {
            for cut in (0..written.len()).rev().take(8) {
                assert!(parse_any_sig(&written[..cut]).is_err(), "cut at {cut}");
            }
        }
    }
}

fn token(random: &mut Random) -> Token {
    let table = *random.of(&[Table::TypeDef, Table::TypeRef, Table::TypeSpec]);
    Token::new(table, random.number() & 0x3F_FFFF)
}

fn types(random: &mut Random, n: usize, depth: usize) -> Vec<SigType> {
    (0..n).map(|_| ty(random, depth)).collect()
}

fn ty(random: &mut Random, depth: usize) -> SigType {
    let simple = [
        SigType::Void,
        SigType::Bool,
        SigType::Char,
        SigType::I1,
        SigType::U2,
        SigType::I4,
        SigType::U8,
        SigType::R8,
        SigType::String,
        SigType::Object,
        SigType::IntPtr,
        SigType::TypedByRef,
    ];
    if depth == 0 {
        return random.of(&simple).clone();
    }
    let boxed = |random: &mut Random| Box::new(ty(random, depth - 1));
    match random.below(14) {
        0 => SigType::Ptr(boxed(random)),
        1 => SigType::ByRef(boxed(random)),
        2 => SigType::SzArray(boxed(random)),
        3 => SigType::Pinned(boxed(random)),
        4 => SigType::Class(token(random)),
        5 => SigType::ValueType(token(random)),
        6 => SigType::Var(random.number() & 0x1FFF_FFFF),
        7 => SigType::MVar(random.number() & 0x1FFF_FFFF),
        8 => SigType::Modified {
            required: random.once_in(2),
            modifier: token(random),
            inner: boxed(random),
        },
        9 => SigType::GenericInst {
            value_type: random.once_in(2),
            def: token(random),
            args: {
                let n = 1 + random.below(4);
                types(random, n, depth - 1)
            },
        },
        10 => {
            let rank = 1 + random.below(40) as u32;
            let some = |random: &mut Random| random.below(3.min(rank as usize + 1));
            SigType::Array(Box::new(ArrayShapeSig {
                elem: ty(random, depth - 1),
                rank,
                sizes: (0..some(random))
                    .map(|_| random.number() & 0x1FFF_FFFF)
                    .collect(),
                lo_bounds: (0..some(random))
                    .map(|_| ((random.bits() as i32) >> 3) >> random.below(28))
                    .collect(),
            }))
        }
        11 => SigType::FnPtr(Box::new(method(random, depth - 1))),
        _ => random.of(&simple).clone(),
    }
}

fn method(random: &mut Random, depth: usize) -> MethodSig {
    let n = random.below(5);
    let params = types(random, n, depth);
    let variable = random.once_in(4);
    let sentinel = (variable && !params.is_empty()).then(|| random.below(params.len()));
    let generic_arity = random.below(3) as u32;
    let (has_this, explicit_this) = (random.once_in(2), random.once_in(8));
    let flag = |on: bool, bits: u8| if on { bits } else { 0 };
    MethodSig {
        flags: flag(has_this, 0x20)
            | flag(explicit_this, 0x40)
            | flag(generic_arity > 0, 0x10)
            | flag(variable, 5),
        has_this,
        explicit_this,
        call_conv: if variable {
            CallConvKind::VarArg
        } else {
            CallConvKind::Default
        },
        generic_arity,
        ret: ty(random, depth),
        params,
        sentinel,
    }
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let depth = random.below(6);
    let n = random.below(6);
    let signature = match random.below(5) {
        0 => AnySig::Method(method(random, depth)),
        1 => AnySig::Field(ty(random, depth)),
        2 => AnySig::Locals(types(random, n, depth)),
        3 => AnySig::Property(PropertySig {
            has_this: random.once_in(2),
            ty: ty(random, depth),
            params: types(random, n, depth),
        }),
        _ => AnySig::MethodSpec(types(random, n, depth)),
    };
    let mut blob = encode(&signature);
    match random.below(8) {
        0 => {}
        1 => {
            blob = [
                &[6u8][..],
                &vec![*random.of(&[0x0F, 0x1D, 0x45, 0x10]); random.below(2000)],
            ]
            .concat()
        }
        2 if !corpus.inputs.is_empty() => {
            blob = random.of(&corpus.inputs).1.clone();
            mutate::bytes(&mut blob, random);
        }
        _ => mutate::bytes(&mut blob, random),
    }
    blob
}
