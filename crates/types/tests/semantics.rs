//! Small programs, one per rule.
mod common;
use common::World;
use vervet_types::*;

fn known(w: &World, k: Known) -> ClassRef {
    w.u.known(k)
}

#[test]
fn constructed_types_are_canonical() {
    let Some(w) = World::new() else { return };
    let (list, int, string) = (
        known(&w, Known::List),
        known(&w, Known::Int32),
        known(&w, Known::String),
    );
    let a = w.u.instantiate(list, &[int]).unwrap();
    assert!(std::ptr::eq(a, w.u.instantiate(list, &[int]).unwrap()));
    assert_ne!(a, w.u.instantiate(list, &[string]).unwrap());
    assert!(std::ptr::eq(
        list,
        w.u.instantiate(list, list.params().unwrap()).unwrap()
    ));
    assert!(std::ptr::eq(w.u.sz_array(a), w.u.sz_array(a)));
    assert_ne!(w.u.array(int, 1), w.u.sz_array(int));
    assert_eq!((a.def(), a.args()), (list, &[int][..]));
    assert!(list.is_open && !a.is_open && w.u.class_by_id(a.id) == Some(a));
    assert!(w.u.instantiate(list, &[int, int]).is_err());
    let all = std::thread::scope(|s| {
        let threads: Vec<_> = (0..8)
            .map(|_| s.spawn(|| w.u.instantiate(list, &[w.u.array(a, 3)]).unwrap()))
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(all.iter().all(|c| std::ptr::eq(*c, all[0])));
}

#[test]
fn members_of_an_instantiation_have_its_arguments() {
    let Some(w) = World::new() else { return };
    let c = w.ty(
        None,
        "System.Collections.Generic.Dictionary`2[System.String,System.Int32]",
    );
    let get = c.find_method("get_Item", Some(1)).unwrap().unwrap();
    let sig = get.sig().unwrap();
    assert_eq!(
        (sig.params[0].full_name(), sig.ret.full_name()),
        ("System.String".into(), "System.Int32".into())
    );
    assert_eq!(get.definition().class, c.def());
    assert_eq!(
        get.open_sig().unwrap(),
        get.definition().open_sig().unwrap()
    );
    let entries = c
        .fields()
        .unwrap()
        .iter()
        .find(|f| f.ty().unwrap().is_array() && f.name.contains("ntries"))
        .unwrap();
    assert_eq!(
        entries.ty().unwrap().full_name(),
        "System.Collections.Generic.Dictionary`2+Entry[System.String,System.Int32][]"
    );
    let e = w.ty(
        None,
        "System.Collections.Generic.Dictionary`2+Entry[System.String,System.Int32]",
    );
    assert_eq!(
        (
            e.layout().unwrap().size,
            e.layout().unwrap().ref_map.as_slice()
        ),
        (24, &[1][..])
    );
    let nullable = w.ty(None, "System.Nullable`1[System.Int64]");
    assert!(nullable.is_nullable() && nullable.nullable_arg() == Some(known(&w, Known::Int64)));
    assert_eq!(nullable.layout().unwrap().size, 16);
}

#[test]
fn vectors_implement_generic_interfaces() {
    let Some(w) = World::new() else { return };
    let count = |name: &str| w.ty(None, name).interfaces().unwrap().len();
    assert_eq!(
        (
            count("System.Int32[]"),
            count("System.DayOfWeek[]"),
            count("System.Int32[,]")
        ),
        (11, 16, 6)
    );
    let strings = w.ty(None, "System.String[]");
    let list = w.ty(None, "System.Collections.Generic.IList`1[System.Object]");
    let get = list.find_method("get_Item", None).unwrap().unwrap();
    let found = strings.find_interface_impl(get).unwrap().unwrap();
    assert_eq!(
        (found.name, found.method_args()),
        ("InternalArray__get_Item", &[known(&w, Known::Object)][..])
    );
    let each = w
        .ty(
            None,
            "System.Collections.Generic.IEnumerable`1[System.Object]",
        )
        .methods()
        .unwrap()[0];
    assert_eq!(
        strings.find_interface_impl(each).unwrap().unwrap().name,
        "InternalArray__IEnumerable_GetEnumerator"
    );
    let array = w.ty(None, "System.Int32[,]");
    let names: Vec<_> = array
        .methods()
        .unwrap()
        .iter()
        .map(|m| (m.name, m.param_count))
        .collect();
    assert_eq!(
        names,
        [
            (".ctor", 2),
            (".ctor", 4),
            ("Get", 2),
            ("Address", 2),
            ("Set", 3)
        ]
    );
    assert_eq!(
        w.ty(None, "System.Int32[][][]")
            .find_method(".ctor", Some(3))
            .unwrap()
            .unwrap()
            .index,
        5
    );
}

/// Pairs of a type and one that its values can be assigned to.
const ASSIGNABLE: &[(&str, &str)] = &[
    ("System.Byte[]", "System.SByte[]"),
    (
        "System.UInt32[]",
        "System.Collections.Generic.IList`1[System.Int32]",
    ),
    ("System.DayOfWeek[]", "System.Int32[]"),
    ("System.DayOfWeek[]", "System.UInt32[]"),
    (
        "System.DayOfWeek[]",
        "System.Collections.Generic.IEnumerable`1[System.Int32]",
    ),
    ("System.String[]", "System.Object[]"),
    (
        "System.String[]",
        "System.Collections.Generic.IList`1[System.Object]",
    ),
    (
        "System.String[]",
        "System.Collections.Generic.IReadOnlyList`1[System.IComparable]",
    ),
    ("System.String[][]", "System.Object[]"),
    (
        "System.String[][]",
        "System.Collections.Generic.IEnumerable`1[System.Object][]",
    ),
    ("System.Int32[]", "System.Array"),
    ("System.Int32[][]", "System.Object[]"),
    ("System.Int64[]", "System.IntPtr[]"),
    ("System.Int32", "System.Object"),
    ("System.Int32", "System.ValueType"),
    ("System.Int32", "System.IComparable`1[System.Int32]"),
    ("System.DayOfWeek", "System.Enum"),
    (
        "System.String",
        "System.Collections.Generic.IEnumerable`1[System.Char]",
    ),
    (
        "System.Collections.Generic.List`1[System.String]",
        "System.Collections.Generic.IEnumerable`1[System.Object]",
    ),
    (
        "System.Func`1[System.String]",
        "System.Func`1[System.Object]",
    ),
    (
        "System.Action`1[System.Object]",
        "System.Action`1[System.String]",
    ),
    (
        "System.Action`1[System.Action`1[System.String]]",
        "System.Action`1[System.Action`1[System.Object]]",
    ),
    (
        "System.Collections.Generic.IList`1[System.Int32]",
        "System.Object",
    ),
    ("System.IO.FileStream", "System.MarshalByRefObject"),
];

/// Pairs of a type and one that its values cannot be assigned to.
const NOT_ASSIGNABLE: &[(&str, &str)] = &[
    ("System.Object[]", "System.String[]"),
    ("System.Int32[]", "System.Object[]"),
    ("System.Int32[]", "System.Int64[]"),
    ("System.Int32[]", "System.Single[]"),
    ("System.Boolean[]", "System.Byte[]"),
    ("System.Char[]", "System.UInt16[]"),
    ("System.Int32[]", "System.Int32[,]"),
    ("System.Int32[]", "System.Int32[*]"),
    (
        "System.Int32[]",
        "System.Collections.Generic.IEnumerable`1[System.Object]",
    ),
    (
        "System.Collections.Generic.List`1[System.Int32]",
        "System.Collections.Generic.IEnumerable`1[System.Object]",
    ),
    (
        "System.Collections.Generic.List`1[System.String]",
        "System.Collections.Generic.IList`1[System.Object]",
    ),
    (
        "System.Collections.Generic.List`1[System.UInt32]",
        "System.Collections.Generic.IEnumerable`1[System.Int32]",
    ),
    (
        "System.Func`1[System.Int32]",
        "System.Func`1[System.Object]",
    ),
    (
        "System.Action`1[System.String]",
        "System.Action`1[System.Object]",
    ),
    ("System.Int32", "System.UInt32"),
    ("System.Int32", "System.DayOfWeek"),
    ("System.Object", "System.String"),
    ("System.DayOfWeek[]", "System.Enum[]"),
];

#[test]
fn casts() {
    let Some(w) = World::new() else { return };
    for (pairs, expected) in [(ASSIGNABLE, true), (NOT_ASSIGNABLE, false)] {
        for (from, to) in pairs {
            let answer = w.u.is_assignable(w.ty(None, from), w.ty(None, to)).unwrap();
            assert_eq!(answer, expected, "{from} to {to}");
        }
    }
    let (int, nullable) = (
        known(&w, Known::Int32),
        w.ty(None, "System.Nullable`1[System.Int32]"),
    );
    assert!(w.u.is_assignable_from_reflection(nullable, int).unwrap());
}

const SHAPES: &str = r#"
using System; using System.Collections; using System.Collections.Generic; using System.Runtime.InteropServices;
public class Circle : Ring<Circle> {} public class Ring<T> { T next; static T any; }
public struct Own { static Own x; Own[] y; List<Own> z; int w; }
public class Node<T> { Node<Node<T>> next; T value; }
public class Wide<T> : Ring<Wide<Wide<T>>> {}
public class Two<T> { public virtual int F(T x) { return 1; } public virtual int F(int x) { return 2; } }
public class UseTwo { public int Use(Two<int> t) { return t.F(3); } }
public class Over : Two<string> { public override int F(string x) { return 3; } }
public interface IA { int M(); } public interface IB : IA { }
public class P1 : IA { public int M() { return 1; } }
public class P2 : P1 { public new int M() { return 2; } }
public class P3 : P1, IA { public new int M() { return 3; } }
public class P4 : P1, IB { public new int M() { return 4; } }
public class P5 { public int M() { return 5; } } public class P6 : P5, IA {}
public class V1 : IA { public virtual int M() { return 1; } } public class V2 : V1 { public override int M() { return 2; } }
public class E1 : IA { int IA.M() { return 1; } public int M() { return 7; } } public class E2 : E1 { }
public interface IG<T> { T Get(T t); }
public class G2 : IG<int>, IG<string> { int IG<int>.Get(int t) { return t; } public string Get(string s) { return s; } }
public interface IGen { U Map<T, U>(T t, U u); } public class Gen : IGen { public B Map<A, B>(A a, B b) { return b; } }
public class Abs { public virtual object V() { return null; } } public class Abs2 : Abs { public new virtual object V() { return this; } } public class Abs3 : Abs2 { public override object V() { return null; } }
public struct Empty {} public struct Small { public int a; public string s; } public struct Five { byte a, b, c, d, e; }
public struct Nest { public Small s; } public struct HasEmpty { Empty e; int x; }
[StructLayout(LayoutKind.Sequential, Pack = 1)] public struct Packed { byte a; int b; }
[StructLayout(LayoutKind.Sequential, Size = 12)] public struct Sized { int a; }
[StructLayout(LayoutKind.Explicit)] public struct Union { [FieldOffset(0)] int i; [FieldOffset(0)] float f; [FieldOffset(8)] object o; }
public unsafe struct Fixed { public fixed int a[3]; }
public struct Mixed { float f; double d; } public struct Chars { char a; bool b; sbyte c; short d; }
public enum Tiny : sbyte { A } public struct HasTiny { Tiny t; DayOfWeek d; }
public class Stat { static int a; static string s; [ThreadStatic] static object t; [ThreadStatic] static int n; [ContextStatic] static object c; [ContextStatic] static int d; static Small sm; const int K = 3; static long l; static volatile int vol; }
public class Fin { ~Fin() {} } public class Fin2 : Fin {} public class NoFin {}
"#;

#[test]
fn shapes_that_refer_to_themselves_load() {
    let Some(w) = World::new() else { return };
    let Some(m) = w.compile(SHAPES) else { return };
    for class in m.types().unwrap().into_iter().filter(|c| !c.is_open) {
        class.layout().unwrap_or_else(|e| panic!("{class}: {e}"));
        class.vtable().unwrap_or_else(|e| panic!("{class}: {e}"));
    }
    let circle = w.ty(Some(m), "Circle");
    assert_eq!(circle.parent().unwrap().unwrap().args(), &[circle]);
    assert_eq!(w.ty(Some(m), "Own").layout().unwrap().size, 24);
    w.ty(Some(m), "Node`1[System.Int32]").layout().unwrap();
    w.ty(Some(m), "Wide`1[System.Int32]").layout().unwrap();
    let mut deep = known(&w, Known::Int32);
    let list = known(&w, Known::List);
    let error = loop {
        match w.u.instantiate(list, &[deep]) {
            Ok(c) => deep = c,
            Err(e) => break e,
        }
    };
    assert_eq!(error.exception(), Some(Known::TypeLoadException));
}

/// The implementation of `interface.method` on `class`, as `Type:Method`.
fn implementation(w: &World, m: ModuleRef, class: &str, interface: &str, method: &str) -> String {
    let (class, interface) = (w.ty(Some(m), class), w.ty(Some(m), interface));
    let method = interface.find_method(method, None).unwrap().unwrap();
    let found = class.find_interface_impl(method).unwrap();
    found.map_or("none".into(), |f| {
        format!("{}:{}", f.class.full_name(), f.name)
    })
}

#[test]
fn interface_methods_are_found_as_mono_does() {
    let Some(w) = World::new() else { return };
    let Some(m) = w.compile(SHAPES) else { return };
    let expected = [
        ("P1", "P1:M"),
        ("P2", "P1:M"),
        ("P3", "P3:M"),
        ("P4", "P4:M"),
        ("P6", "P5:M"),
        ("V2", "V2:M"),
        ("E1", "E1:IA.M"),
        ("E2", "E1:IA.M"),
    ];
    for (class, found) in expected {
        assert_eq!(implementation(&w, m, class, "IA", "M"), found, "{class}");
    }
    assert_eq!(
        implementation(&w, m, "G2", "IG`1[System.Int32]", "Get"),
        "G2:IG<int>.Get"
    );
    assert_eq!(
        implementation(&w, m, "G2", "IG`1[System.String]", "Get"),
        "G2:Get"
    );
    let map = w
        .ty(Some(m), "IGen")
        .find_method("Map", None)
        .unwrap()
        .unwrap();
    let args = [known(&w, Known::Int32), known(&w, Known::String)];
    let closed = w.u.instantiate_method(map, &args).unwrap();
    let found = w
        .ty(Some(m), "Gen")
        .find_interface_impl(closed)
        .unwrap()
        .unwrap();
    assert_eq!(
        (
            found.class.name,
            found.method_args(),
            found.sig().unwrap().ret
        ),
        ("Gen", &args[..], args[1])
    );
    assert!(found.sig().unwrap().params == args);
}

#[test]
fn overriding_and_hiding() {
    let Some(w) = World::new() else { return };
    let Some(m) = w.compile(SHAPES) else { return };
    let v = |c: &str| w.ty(Some(m), c).find_method("V", None).unwrap().unwrap();
    assert_ne!(v("Abs").slot().unwrap(), v("Abs2").slot().unwrap());
    let abs3 = w.ty(Some(m), "Abs3");
    assert_eq!(abs3.find_virtual_impl(v("Abs2")).unwrap(), v("Abs3"));
    assert_eq!(abs3.find_virtual_impl(v("Abs")).unwrap(), v("Abs"));
    assert!(w.ty(Some(m), "Fin2").finalizer().unwrap().is_some());
    assert!(w.ty(Some(m), "NoFin").finalizer().unwrap().is_none());
    // Overloads that an instantiation makes equal stay apart.
    let two = w.ty(Some(m), "Two`1[System.Int32]");
    let sigs: Vec<_> = two
        .methods()
        .unwrap()
        .iter()
        .filter(|m| m.name == "F")
        .map(|m| m.sig().unwrap())
        .collect();
    assert_eq!(sigs[0], sigs[1]);
    let using = w
        .ty(Some(m), "UseTwo")
        .find_method("Use", None)
        .unwrap()
        .unwrap();
    let (body, scope) = (using.body().unwrap(), using.scope());
    let called: Vec<_> = vervet_metadata::Instructions::new(body.code)
        .filter_map(|i| match i.unwrap().operand {
            vervet_metadata::Operand::Token(t) => Some(scope.method(t).unwrap()),
            _ => None,
        })
        .collect();
    assert!(called.len() == 1 && called[0].class == two);
    let over = w.ty(Some(m), "Over");
    let slots: Vec<_> = over
        .vtable()
        .unwrap()
        .slots
        .iter()
        .filter(|s| s.name == "F")
        .map(|s| s.class.name)
        .collect();
    assert_eq!(slots, ["Over", "Two`1"]);
}

#[test]
fn layouts() {
    let Some(w) = World::new() else { return };
    let Some(m) = w.compile(SHAPES) else { return };
    let l = |c: &str| w.ty(Some(m), c).layout().unwrap();
    let scalars = |c: &str| {
        l(c).scalars
            .as_ref()
            .map(|l| l.iter().map(|l| (l.offset, l.kind)).collect::<Vec<_>>())
    };
    assert_eq!((l("Empty").size, scalars("Empty")), (1, None));
    assert_eq!(
        scalars("Small"),
        Some(vec![(0, ScalarKind::I4), (8, ScalarKind::Ref)])
    );
    assert_eq!(scalars("Nest"), scalars("Small"));
    assert_eq!(
        scalars("Mixed"),
        Some(vec![(0, ScalarKind::R4), (8, ScalarKind::R8)])
    );
    assert_eq!(
        scalars("Chars"),
        Some(vec![
            (0, ScalarKind::U2),
            (2, ScalarKind::U1),
            (3, ScalarKind::I1),
            (4, ScalarKind::I2)
        ])
    );
    assert_eq!(
        scalars("HasTiny"),
        Some(vec![(0, ScalarKind::I1), (4, ScalarKind::I4)])
    );
    for (none, size) in [
        ("Five", 5),
        ("HasEmpty", 8),
        ("Packed", 5),
        ("Sized", 12),
        ("Union", 16),
        ("Fixed", 12),
    ] {
        assert_eq!((scalars(none), l(none).size), (None, size), "{none}");
    }
    assert_eq!(l("Union").ref_map, [1]);
    let span = w.ty(None, "System.Span`1[System.Int32]").layout().unwrap();
    assert!(
        span.has_by_ref_like
            && span.size == 16
            && span.scalars.as_ref().is_some_and(|l| l.len() == 2)
    );
    let stat = w.ty(Some(m), "Stat");
    let place = |n: &str| {
        let f = stat.find_field(n).unwrap().unwrap();
        (f.static_kind().unwrap(), f.offset().unwrap())
    };
    use StaticKind::*;
    assert_eq!(
        [place("a"), place("s"), place("t"), place("n")],
        [(Values, 0), (Refs, 0), (Thread, 0), (Thread, 8)]
    );
    assert_eq!([place("c"), place("d")], [(Context, 0), (Context, 8)]);
    assert_eq!(l("Stat").context_statics_map, [0]);
    assert_eq!([place("sm"), place("l")], [(Refs, 8), (Values, 8)]);
    assert_eq!(
        (&l("Stat").statics_refs_map[..], l("Stat").statics_refs_size),
        (&[0, 2][..], 24)
    );
    assert!(
        stat.find_field("K")
            .unwrap()
            .unwrap()
            .static_kind()
            .is_err()
    );
    assert!(stat.find_field("vol").unwrap().unwrap().is_volatile());
    let text = known(&w, Known::String);
    assert_eq!(
        text.find_field("_firstChar")
            .unwrap()
            .unwrap()
            .offset()
            .unwrap(),
        4
    );
}

const IL: &str = r#"
.assembly extern mscorlib {}
.assembly shapes {}
.class public sequential sealed Self extends [mscorlib]System.ValueType { .field public valuetype Self s }
.class public sequential sealed Stat extends [mscorlib]System.ValueType { .field public static valuetype Stat x .field public int32 y }
.class public explicit sealed Overlap extends [mscorlib]System.ValueType { .field [0] public object a .field [0] public int32 b }
.class public explicit sealed Skew extends [mscorlib]System.ValueType { .field [4] public object a }
.class public interface abstract IDef { .method public hidebysig newslot virtual instance int32 M() { ldc.i4.1 ret } .method public hidebysig newslot abstract virtual instance int32 N() {} }
.class public interface abstract IDef2 implements IDef { .method private hidebysig virtual final instance int32 X() { .override IDef::M ldc.i4.2 ret } .method private hidebysig virtual final instance int32 Y() { .override IDef::N ldc.i4.2 ret } }
.class public auto ansi Impl1 extends [mscorlib]System.Object implements IDef { .method public hidebysig newslot virtual instance int32 N() { ldc.i4.3 ret } }
.class public auto ansi Impl2 extends [mscorlib]System.Object implements IDef2, IDef {  }
.class public auto ansi 'Two`1'<T> extends [mscorlib]System.Object { .method public newslot virtual instance void M(!T x) { ret } .method public newslot virtual instance void M(int32 x) { ret } .method public hidebysig instance void Call() { ldarg.0 ldc.i4.0 callvirt instance void class 'Two`1'<int32>::M(!0) ldarg.0 ldc.i4.0 callvirt instance void class 'Two`1'<int32>::M(int32) ret } }
.class public auto ansi 'Generic`1'<T> extends [mscorlib]System.Object { .method public newslot virtual instance !!U G<U>(!T a, !!U b) { ldarg.2 ret } }
.class public auto ansi GenericSub extends class 'Generic`1'<string> { .method public virtual instance !!V G<V>(string a, !!V b) { ldarg.2 ret } }
"#;

#[test]
fn what_no_compiler_writes() {
    let Some(w) = World::new() else { return };
    let Some(m) = w.assemble(IL) else { return };
    for bad in ["Self", "Overlap", "Skew"] {
        let error = w.ty(Some(m), bad).layout().expect_err(bad);
        assert_eq!(error.exception(), Some(Known::TypeLoadException), "{error}");
    }
    assert_eq!(w.ty(Some(m), "Stat").layout().unwrap().size, 4);
    let found = |c, i| implementation(&w, m, c, "IDef", i);
    assert_eq!(
        [
            found("Impl1", "M"),
            found("Impl1", "N"),
            found("Impl2", "M"),
            found("Impl2", "N")
        ],
        ["IDef:M", "Impl1:N", "IDef2:X", "IDef2:Y"]
    );
    let call = w
        .ty(Some(m), "Two`1[System.String]")
        .find_method("Call", None)
        .unwrap()
        .unwrap();
    let body = call.body().unwrap();
    let called =
        vervet_metadata::Instructions::new(body.code).filter_map(|i| match i.unwrap().operand {
            vervet_metadata::Operand::Token(t) => Some(call.scope().method(t).unwrap().index),
            _ => None,
        });
    assert_eq!(
        called.collect::<Vec<_>>(),
        [0, 1],
        "open signatures are compared"
    );
    let (base, sub) = (
        w.ty(Some(m), "GenericSub").parent().unwrap().unwrap(),
        w.ty(Some(m), "GenericSub"),
    );
    let g = base.find_method("G", None).unwrap().unwrap();
    assert_eq!(sub.find_virtual_impl(g).unwrap().class, sub);
    let int = known(&w, Known::Int32);
    let closed = sub
        .find_virtual_impl(w.u.instantiate_method(g, &[int]).unwrap())
        .unwrap();
    assert_eq!(
        (
            closed.class,
            closed.method_args(),
            closed.sig().unwrap().ret
        ),
        (sub, &[int][..], int)
    );
}

#[test]
fn names_are_read_back() {
    let Some(w) = World::new() else { return };
    for name in [
        "System.Int32",
        "System.Int32[,,][]",
        "System.Int32[*]&",
        "System.Void*",
        "System.Collections.Generic.Dictionary`2+Enumerator[System.Int32,System.String[]]",
        "System.Collections.Generic.List`1[System.Collections.Generic.List`1[System.Byte]]",
    ] {
        assert_eq!(w.ty(None, name).full_name(), name);
    }
    let c = w.ty(None, "System.Collections.Generic.List`1[System.Int32[]]");
    let full = c.assembly_qualified_name().unwrap();
    let lib = "mscorlib, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
    assert_eq!(
        full,
        format!("System.Collections.Generic.List`1[[System.Int32[], {lib}]], {lib}")
    );
    assert_eq!(w.ty(None, &full), c);
    let list = known(&w, Known::List);
    assert_eq!(
        (list.full_name(), list.reflection_name().unwrap()),
        (
            "System.Collections.Generic.List`1[T]".into(),
            "System.Collections.Generic.List`1".into()
        )
    );
    let add = c.find_method("Add", None).unwrap().unwrap();
    assert_eq!(
        add.trace_name(),
        "System.Collections.Generic.List`1[T].Add (T item)"
    );
    add.sig().unwrap();
    assert_eq!(
        add.full_name(),
        "System.Collections.Generic.List`1<int[]>:Add (int[])"
    );
}
