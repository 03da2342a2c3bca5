//! Random signatures, encoded by an independent writer, read back the same.

use proptest::prelude::*;
use vervet_metadata::{
    ArrayShapeSig, CallConvKind, MethodSig, SigType, Table, Token, parse_any_sig, parse_field_sig,
    parse_local_sig, parse_method_sig,
};

fn compressed(v: u32, out: &mut Vec<u8>) {
    match v {
        0..=0x7F => out.push(v as u8),
        0x80..=0x3FFF => out.extend((v as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((v | 0xC000_0000).to_be_bytes()),
    }
}

fn compressed_signed(v: i32, out: &mut Vec<u8>) {
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

fn token(t: Token, out: &mut Vec<u8>) {
    let tag = match t.table() {
        Some(Table::TypeDef) => 0,
        Some(Table::TypeRef) => 1,
        _ => 2,
    };
    compressed(t.rid() << 2 | tag, out);
}

fn ty(t: &SigType, out: &mut Vec<u8>) {
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
            ty(e, out)
        }
        SigType::ValueType(t) | SigType::Class(t) => token(*t, out),
        SigType::Var(n) | SigType::MVar(n) => compressed(*n, out),
        SigType::Array(a) => {
            ty(&a.elem, out);
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
            token(*def, out);
            compressed(args.len() as u32, out);
            args.iter().for_each(|a| ty(a, out));
        }
        SigType::FnPtr(m) => method(m, out),
        SigType::Modified {
            modifier, inner, ..
        } => {
            token(*modifier, out);
            ty(inner, out);
        }
        _ => {}
    }
}

fn method(m: &MethodSig, out: &mut Vec<u8>) {
    out.push(m.flags);
    if m.generic_arity > 0 {
        compressed(m.generic_arity, out);
    }
    compressed(m.params.len() as u32, out);
    ty(&m.ret, out);
    for (i, p) in m.params.iter().enumerate() {
        if m.sentinel == Some(i) {
            out.push(0x41);
        }
        ty(p, out);
    }
}

fn any_token() -> impl Strategy<Value = Token> {
    let tables = [Table::TypeDef, Table::TypeRef, Table::TypeSpec];
    (0usize..3, 1u32..0xFF_FFFF).prop_map(move |(t, rid)| Token::new(tables[t], rid))
}

fn any_method(t: impl Strategy<Value = SigType> + Clone) -> impl Strategy<Value = MethodSig> {
    let params = prop::collection::vec(t.clone(), 0..4);
    (
        any::<bool>(),
        0u32..3,
        t,
        params,
        prop::option::of(0usize..5),
    )
        .prop_map(|(has_this, generic_arity, ret, params, sentinel)| {
            let sentinel = sentinel.filter(|s| *s < params.len());
            let call_conv = if sentinel.is_some() {
                CallConvKind::VarArg
            } else {
                CallConvKind::Default
            };
            let flag = |on: bool, bits: u8| if on { bits } else { 0 };
            let flags =
                flag(has_this, 0x20) | flag(generic_arity > 0, 0x10) | flag(sentinel.is_some(), 5);
            let explicit_this = false;
            MethodSig {
                flags,
                has_this,
                explicit_this,
                call_conv,
                generic_arity,
                ret,
                params,
                sentinel,
            }
        })
}

fn any_type() -> impl Strategy<Value = SigType> + Clone {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            SigType::Void,
            SigType::Bool,
            SigType::Char,
            SigType::I1,
            SigType::U8,
            SigType::R4,
            SigType::R8,
            SigType::String,
            SigType::Object,
            SigType::IntPtr,
            SigType::UIntPtr,
            SigType::TypedByRef,
        ]),
        any_token().prop_map(SigType::Class),
        any_token().prop_map(SigType::ValueType),
        (0u32..0x1000_0000).prop_map(SigType::Var),
        (0u32..300).prop_map(SigType::MVar),
    ];
    leaf.prop_recursive(5, 40, 4, |t| {
        let boxed = t.clone().prop_map(Box::new).boxed();
        prop_oneof![
            boxed.clone().prop_map(SigType::Ptr),
            boxed.clone().prop_map(SigType::ByRef),
            boxed.clone().prop_map(SigType::SzArray),
            boxed.clone().prop_map(SigType::Pinned),
            (any::<bool>(), any_token(), boxed).prop_map(|(required, modifier, inner)| {
                SigType::Modified {
                    required,
                    modifier,
                    inner,
                }
            }),
            (
                any::<bool>(),
                any_token(),
                prop::collection::vec(t.clone(), 1..4)
            )
                .prop_map(|(value_type, def, args)| SigType::GenericInst {
                    value_type,
                    def,
                    args
                }),
            any_method(t.clone()).prop_map(|m| SigType::FnPtr(Box::new(m))),
            (
                t,
                3u32..33,
                prop::collection::vec(0u32..0x1FFF_FFFF, 0..3),
                prop::collection::vec(-0x1000_0000i32..0x1000_0000, 0..3)
            )
                .prop_map(|(elem, rank, sizes, lo_bounds)| {
                    SigType::Array(Box::new(ArrayShapeSig {
                        elem,
                        rank,
                        sizes,
                        lo_bounds,
                    }))
                }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fields_round_trip(t in any_type()) {
        let mut blob = vec![6];
        ty(&t, &mut blob);
        prop_assert_eq!(parse_field_sig(&blob), Ok(t));
        for cut in 0..blob.len() {
            prop_assert!(parse_field_sig(&blob[..cut]).is_err());
        }
    }

    #[test]
    fn methods_round_trip(m in any_method(any_type())) {
        let mut blob = Vec::new();
        method(&m, &mut blob);
        prop_assert_eq!(parse_method_sig(&blob), Ok(m));
    }

    #[test]
    fn locals_round_trip(locals in prop::collection::vec(any_type(), 0..6)) {
        let mut blob = vec![7, locals.len() as u8];
        locals.iter().for_each(|t| ty(t, &mut blob));
        prop_assert_eq!(parse_local_sig(&blob), Ok(locals));
    }

    #[test]
    fn any_bytes_are_read_or_refused(blob in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse_any_sig(&blob);
    }
}
