//! Random signatures, encoded by a writer that the reader does not know, read back the same.

use proptest::prelude::*;
use vervet_metadata::testing::signatures::{encode_method as method, encode_type as ty};
use vervet_metadata::{
    ArrayShapeSig, CallConvKind, MethodSig, SigType, Table, Token, parse_any_sig, parse_field_sig,
    parse_local_sig, parse_method_sig,
};

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
