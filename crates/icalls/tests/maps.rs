//! What the collector is told of objects and statics, for every class of the core library: each word that a field's
//! type makes a reference is one in the map, and no other but the hidden one of `RuntimeType`.
use std::collections::BTreeSet;
use vervet_abi::VTable;
use vervet_abi::object::*;
use vervet_abi::vtable::flags;
use vervet_metadata::Table;
use vervet_runtime::ObjRef;
use vervet_runtime::cx::Cx;
use vervet_runtime::memory::allocate;
use vervet_runtime::memory::cards;
use vervet_runtime::memory::copy;
use vervet_runtime::memory::roots;
use vervet_types::*;

/// The words of a value that hold references, by the types of its fields; `at` is its own offset.
fn references(class: ClassRef, at: u32, out: &mut BTreeSet<u32>) {
    if class.stack_prim().expect("a type").is_some() {
        return;
    }
    for f in class.fields().expect("fields") {
        if f.is_static() {
            continue;
        }
        field(
            f.ty().expect("a type"),
            at + f.offset().expect("a place"),
            out,
        );
    }
    let hidden = class.instance_layout().expect("a layout").hidden_reference;
    assert_eq!(hidden.is_some(), class.full_name() == "System.RuntimeType");
    out.extend(hidden.map(|offset| (at + offset) / 8));
    if let Some(parent) = class.parent().expect("a parent")
        && !class.is_value_type().expect("a type")
    {
        references(parent, at, out);
    }
}
fn field(ty: ClassRef, at: u32, out: &mut BTreeSet<u32>) {
    if ty.is_ptr() || ty.is_fn_ptr() {
    } else if ty.is_value_type().expect("a type") {
        references(ty, at, out);
    } else {
        assert_eq!(at % 8, 0, "{} is misaligned", ty.full_name());
        out.insert(at / 8);
    }
}
/// What a VTable's map says of so many words.
fn map(vt: &VTable, words: u32) -> BTreeSet<u32> {
    // SAFETY: the map has a bit for each word.
    let bit = |w: &u32| unsafe { *vt.ref_map.add(*w as usize / 64) >> (w % 64) & 1 != 0 };
    (0..words).filter(bit).collect()
}

fn check_class(cx: &Cx<'_>, class: ClassRef, seen: &mut [usize; 3]) {
    let Ok(vt) = cx.domain().vtable(class) else {
        return;
    };
    let name = class.full_name();
    let layout = class.layout().expect("a layout");
    if vt.flags & flags::STRING == 0 {
        let mut want = BTreeSet::new();
        references(class, HEADER_SIZE, &mut want);
        assert_eq!(map(vt, vt.size.div_ceil(8)), want, "{name}");
        assert_eq!(vt.flags & flags::HAS_REFS != 0, !want.is_empty(), "{name}");
        seen[0] += usize::from(!want.is_empty());
    }
    let mut statics = BTreeSet::new();
    for f in class.fields().expect("fields") {
        if f.is_static() && !f.is_literal() && f.static_kind().expect("a kind") == StaticKind::Refs
        {
            field(
                f.ty().expect("a type"),
                f.offset().expect("a place"),
                &mut statics,
            );
        }
    }
    for w in 0..layout.statics_refs_size / 8 {
        let is = roots::is_reference(vt.statics_refs as usize + 8 * w as usize);
        assert_eq!(is, statics.contains(&w), "static word {w} of {name}");
        seen[1] += usize::from(is);
    }
    if class.is_value_type().expect("a type") && !class.is_by_ref_like() && layout.size > 0 {
        let Ok(array) = cx.domain().vtable(cx.universe().sz_array(class)) else {
            return;
        };
        let mut want = BTreeSet::new();
        references(class, 0, &mut want);
        assert_eq!(array.size, layout.size, "elements of {name}");
        assert_eq!(
            array.flags & flags::ELEMENT_REFS != 0,
            !want.is_empty(),
            "{name}[]"
        );
        if !want.is_empty() {
            assert_eq!(map(array, array.size / 8), want, "{name}[]");
            assert_eq!(array.size % 8, 0, "{name}[]");
            seen[2] += 1;
        }
    }
}

fn card(address: usize) -> *mut u8 {
    cards::card_of(address) as *mut u8
}

/// A copy of an array of structs with references marks every card of the copy it stores a reference to.
fn check_clone<'cx>(cx: &'cx Cx<'cx>) {
    let entry = cx.known(Known::CustomAttributeTypedArgument);
    let mut refs = BTreeSet::new();
    references(entry, 0, &mut refs);
    assert!(!refs.is_empty());
    let n = 20_000;
    let array = cx.alloc_array(entry, n).expect("memory");
    let text = cx.alloc_str("kept").expect("memory");
    let size = array.vtable().size as usize;
    let at = |a: ObjRef<'_>, i: usize| {
        a.array_data() as usize + i * size + 8 * *refs.first().expect("one") as usize
    };
    for i in 0..n {
        // SAFETY: a reference word of element `i`.
        unsafe { vervet_runtime::object::store_ref(at(array, i) as *mut usize, text) };
    }
    // SAFETY: the two arrays' own cards; nothing is collected in this program.
    unsafe {
        let copy = allocate::clone_object(cx, array).expect("memory");
        assert_eq!(copy.array_len(), n);
        for i in 0..n {
            *card(at(copy, i)) = 0xFF;
        }
        let bytes = n * size;
        copy::move_bytes(cx, copy.array_data(), array.array_data(), bytes, true);
        for i in 0..n {
            assert_ne!(*card(at(copy, i)), 0xFF, "the card of element {i}");
            assert_eq!(*(at(copy, i) as *const usize), text.addr());
        }
    }
}

#[test]
fn maps_say_what_the_fields_say() {
    if !std::path::Path::new("/usr/lib/mono/4.5/mscorlib.dll").is_file() {
        println!("skipped: the class libraries are not installed");
        return;
    }
    let options = vervet_runtime::runtime::Options::default();
    vervet_runtime::process::bootstrap::start(options, vervet_icalls::all())
        .expect("the runtime starts");
    let cx = Cx::current();
    let corlib = cx.universe().corlib();
    let mut seen = [0; 3];
    for rid in 1..=corlib.image.row_count(Table::TypeDef) {
        let Ok(class) = corlib.type_def(rid) else {
            continue;
        };
        if !class.is_open && !class.is_generic_def() {
            check_class(&cx, class, &mut seen);
        }
    }
    let u = cx.universe();
    let named = |n: &str, args: &[ClassRef]| {
        let (namespace, name) = n.rsplit_once('.').expect("a full name");
        let def = corlib
            .find_type(namespace, name)
            .expect("readable")
            .expect("there");
        u.instantiate(def, args).expect("instantiated")
    };
    let (string, int) = (cx.known(Known::String), cx.known(Known::Int32));
    let pair = named("System.Collections.Generic.KeyValuePair`2", &[string, int]);
    for class in [
        pair,
        named("System.Collections.Generic.KeyValuePair`2", &[int, pair]),
        named("System.Nullable`1", &[pair]),
        named("System.Nullable`1", &[int]),
        named("System.Tuple`3", &[int, pair, string]),
        named("System.Collections.Generic.Dictionary`2", &[pair, string]),
    ] {
        check_class(&cx, class, &mut seen);
    }
    assert!(seen[0] > 800 && seen[1] > 500 && seen[2] > 40, "{seen:?}");
    let vt = cx.domain().vtable(u.sz_array(string)).expect("made");
    assert_eq!(map(vt, 1), BTreeSet::from([0]));
    check_clone(&cx);
}
