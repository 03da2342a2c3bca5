//! Grafts: which members move, what names them, and what is refused.
mod common;
use common::World;
use vervet_metadata::testing::cell_place;
use vervet_metadata::{Image, Table};
use vervet_types::*;

const ATTRIBUTE: &str = "
    using System; using System.Threading; using System.Threading.Tasks;
    namespace Vervet {
        sealed class GraftOntoAttribute : Attribute { public GraftOntoAttribute(string assembly, string type) {} }
    }";

/// A world with the grafts of a source; what `load_grafts` answers.
fn graft(source: &str) -> Option<(World, R<()>)> {
    let w = World::new()?;
    let image = w.compiled(&format!("{ATTRIBUTE} {source}"))?;
    let answer = w.u.load_grafts(vec![(image, None)]);
    Some((w, answer))
}
const GOOD: &str = r#"
    [Vervet.GraftOnto("mscorlib", "System.Threading.Thread")]
    static class ThreadGraft {
        static int count;
        public static int Count { get { return Next(); } set { count = value; } }
        public static int Own;
        public static void Sleep(long ms) { }
        public static T Generic<T>(Func<T> f) where T : struct { return f(); }
        static int Next() { return ++count; }
        internal static int Inner { get { return 0; } }
        public class Nested { public static void Method() { } }
    }
    [Vervet.GraftOnto("mscorlib", "System.Threading.Thread")]
    static class More { public static void Last() { } }
    static class NoGraft { public static void Stays() { } }"#;

fn names(class: ClassRef) -> Vec<&'static str> {
    class.methods().unwrap().iter().map(|m| m.name).collect()
}

#[test]
fn public_static_members_move_to_the_target_and_nothing_else() {
    let Some((w, answer)) = graft(GOOD) else {
        return;
    };
    answer.unwrap();
    let thread = w.u.known(Known::Thread);
    let moved: Vec<MethodRef> = thread
        .methods()
        .unwrap()
        .iter()
        .copied()
        .filter(|m| m.is_grafted())
        .collect();
    let moved_names: Vec<_> = moved.iter().map(|m| m.name).collect();
    assert_eq!(
        moved_names,
        ["get_Count", "set_Count", "Sleep", "Generic", "Last"]
    );
    let first = moved[0].index as usize;
    assert!(
        thread.methods().unwrap()[..first]
            .iter()
            .all(|m| !m.is_grafted())
    );
    let module = moved[0].module();
    assert!(module != thread.module && moved.iter().all(|m| m.class == thread));

    let graft = w.ty(Some(module), "ThreadGraft");
    assert_eq!(names(graft), ["Next", "get_Inner"]);
    assert_eq!(names(w.ty(Some(module), "More")), [] as [&str; 0]);
    assert_eq!(names(w.ty(Some(module), "NoGraft")), ["Stays"]);
    assert!(names(w.ty(Some(module), "ThreadGraft+Nested")).contains(&"Method"));
    assert_eq!(graft.fields().unwrap().len(), 2);
    let inner: Vec<_> = graft.properties().unwrap().iter().map(|p| p.name).collect();
    assert_eq!(inner, ["Inner"]);

    let all = thread.properties().unwrap();
    let count = all.iter().find(|p| p.name == "Count").unwrap();
    assert_eq!((count.class, count.module), (thread, module));
    assert_eq!(
        (count.getter, count.setter),
        (Some(moved[0]), Some(moved[1]))
    );
    assert!(all.iter().filter(|p| p.module == thread.module).count() > 5);
}

#[test]
fn every_row_has_one_method_and_every_token_one_meaning() {
    let Some((w, answer)) = graft(GOOD) else {
        return;
    };
    answer.unwrap();
    let thread = w.u.known(Known::Thread);
    let corlib = thread.module;
    let grafted = thread.methods().unwrap().iter().filter(|m| m.is_grafted());
    let mut tokens = std::collections::HashSet::new();
    for m in grafted {
        assert_eq!(m.module().method_def(m.rid).unwrap(), *m);
        assert_ne!(corlib.method_def(m.rid).unwrap(), *m);
        let token = m.reflection_token();
        assert!(token.rid() > corlib.image.row_count(Table::MethodDef));
        assert!(tokens.insert(token));
        m.body().unwrap();
        assert_eq!(corlib.grafted_method(token.rid()).unwrap(), Some(*m));
    }
    assert_eq!(tokens.len(), w.u.grafted_methods().len());
    let module = thread.find_method("Last", None).unwrap().unwrap().module();
    for rid in 1..=module.image.row_count(Table::MethodDef) {
        let m = module.method_def(rid).unwrap();
        assert_eq!((m.rid, m.module()), (rid, module));
        assert!(m.class.methods().unwrap().contains(&m));
    }
    for rid in 1..=corlib.image.row_count(Table::MethodDef) {
        let m = corlib.method_def(rid).unwrap();
        assert_eq!(
            (m.rid, m.module(), m.reflection_token()),
            (rid, corlib, m.token())
        );
    }
    let beyond = corlib.image.row_count(Table::MethodDef) + w.u.grafted_methods().len() as u32 + 1;
    assert_eq!(corlib.grafted_method(beyond).unwrap(), None);
    assert_eq!(corlib.grafted_method(0).unwrap(), None);
}

#[test]
fn a_grafted_method_is_read_in_its_own_module() {
    let Some((w, answer)) = graft(GOOD) else {
        return;
    };
    answer.unwrap();
    let thread = w.u.known(Known::Thread);
    let mut all = thread.methods().unwrap().iter().copied();
    let sleep = all.find(|m| m.name == "Sleep" && m.is_grafted()).unwrap();
    assert_eq!(sleep.param_names().unwrap(), ["ms"]);
    assert_eq!(sleep.sig().unwrap().params, [w.u.known(Known::Int64)]);
    assert_eq!(
        thread
            .find_method_sig("Sleep", sleep.open_sig().unwrap())
            .unwrap(),
        Some(sleep)
    );
    assert!(sleep.has_body() && sleep.scope().module == sleep.module());
    assert_eq!(sleep.full_name(), "System.Threading.Thread:Sleep (long)");

    let generic = thread.find_method("Generic", Some(1)).unwrap().unwrap();
    let param = generic.generic_params().unwrap()[0];
    assert_eq!(param.declaring_method().unwrap(), Some(generic));
    assert_eq!(
        param.param_constraints().unwrap(),
        [w.u.known(Known::ValueType)]
    );
    let int = w.u.known(Known::Int32);
    let closed = w.u.instantiate_method(generic, &[int]).unwrap();
    assert_eq!(
        (closed.module(), closed.sig().unwrap().ret),
        (generic.module(), int)
    );
    // Code of a graft may use what is private to the target, and to the graft.
    let next = w
        .ty(Some(sleep.module()), "ThreadGraft")
        .find_method("Next", None)
        .unwrap()
        .unwrap();
    let mut all = thread.methods().unwrap().iter().copied();
    let private = all.find(|m| m.flags & 7 == 1).unwrap();
    assert!(check::can_access_method(sleep, private).unwrap());
    assert!(check::can_access_method(sleep, next).unwrap());
    assert!(check::can_access_method(next, private).unwrap());
}

#[test]
fn nothing_is_appended_twice_and_layouts_do_not_change() {
    let (Some(plain), Some((w, answer))) = (World::new(), graft(GOOD)) else {
        return;
    };
    answer.unwrap();
    let (a, b) = (plain.u.known(Known::Thread), w.u.known(Known::Thread));
    let own: Vec<_> = b
        .methods()
        .unwrap()
        .iter()
        .filter(|m| !m.is_grafted())
        .map(|m| m.rid)
        .collect();
    let before: Vec<_> = a.methods().unwrap().iter().map(|m| m.rid).collect();
    assert_eq!(own, before);
    assert_eq!(
        a.vtable().unwrap().slots.len(),
        b.vtable().unwrap().slots.len()
    );
    assert_eq!(a.layout().unwrap().size, b.layout().unwrap().size);
    assert_eq!(a.fields().unwrap().len(), b.fields().unwrap().len());
}

#[test]
fn what_breaks_a_rule_is_refused_with_a_sentence() {
    let on = |target: &str, body: &str| {
        format!("[Vervet.GraftOnto(\"mscorlib\", \"{target}\")] static class G {{ {body} }}")
    };
    let thread = "System.Threading.Thread";
    let cases = [
        (
            on("System.NoSuchType", ""),
            "which mscorlib does not define",
        ),
        (
            on("System.Environment+SpecialFolder", ""),
            "which mscorlib does not define",
        ),
        (
            on(thread, "public static void Sleep(int ms) { }"),
            "Sleep is there already",
        ),
        (
            on(thread, "public static bool Yield() { return true; }"),
            "Yield is there already",
        ),
        (on("System.Threading.Tasks.Task`1", ""), "generic"),
        (
            "[Vervet.GraftOnto(\"mscorlib\", \"System.Threading.Thread\")] static class G<T> { }"
                .into(),
            "generic",
        ),
        (
            "[Vervet.GraftOnto(\"System\", \"System.Uri\")] static class G { }".into(),
            "grafts go onto mscorlib",
        ),
        (
            "[Vervet.GraftOnto(\"mscorlib\", null)] static class G { }".into(),
            "grafts go onto mscorlib",
        ),
        (
            on(
                thread,
                "public static int P { get { return 0; } internal set { } }",
            ),
            "some accessors",
        ),
        (
            on(thread, "public static event Action E;"),
            "events are not grafted",
        ),
        (
            on(thread, "public static void Same() { }")
                + &on(thread, "public static void Same() { }").replace("class G", "class H"),
            "Same is there already",
        ),
    ];
    for (source, reason) in cases {
        let Some((w, answer)) = graft(&source) else {
            return;
        };
        let text = answer.expect_err(&source).to_string();
        assert!(text.contains(reason), "{source}\n{text}");
        // What was refused left no trace.
        assert!(!names(w.u.known(Known::Thread)).contains(&"Same"));
        assert_eq!(w.u.grafted_methods().len(), 0);
    }
}

#[test]
fn overloads_of_the_targets_own_members_are_accepted() {
    let source = r#"[Vervet.GraftOnto("mscorlib", "System.Threading.Thread")] static class G {
        public static void Sleep(short ms) { } public static void Sleep(int a, int b) { }
        public static void Sleep<T>(int ms) { } public static long Yield() { return 0; } }"#;
    let Some((w, answer)) = graft(source) else {
        return;
    };
    answer.unwrap();
    assert_eq!(w.u.grafted_methods().len(), 4);
}

/// A type's list of methods begins in another type's. The row lies in both lists: once it was the target's member, although the
/// type that the row leads to was no graft.
#[test]
fn lists_of_methods_that_overlap_are_refused() {
    let Some(w) = World::new() else { return };
    let Some(image) = w.compiled(&format!("{ATTRIBUTE} {GOOD}")) else {
        return;
    };
    let mut bad = image.to_vec();
    let at = {
        let image = Image::parse(image).expect("an image");
        let types = image.row_count(Table::TypeDef);
        let list_of = |rid| image.type_def(rid).expect("a row").method_list;
        let attribute = (1..=types)
            .find(|rid| {
                image.string(image.type_def(*rid).expect("a row").name) == Ok("GraftOntoAttribute")
            })
            .expect("the attribute's type");
        // The type after the attribute's begins where the last type's list does, so that the attribute's list reaches there.
        let list = Table::TypeDef.columns().len() - 1;
        let place = |rid| cell_place(&image, Table::TypeDef, rid, list).expect("a cell");
        let from = (1..=types)
            .rev()
            .find(|rid| list_of(*rid) > list_of(attribute + 1));
        (place(from.expect("a later list")), place(attribute + 1))
    };
    bad.copy_within(at.0, at.1.start);
    let bad: &'static [u8] = Box::leak(bad.into_boxed_slice());
    let error =
        w.u.load_grafts(vec![(bad, None)])
            .expect_err("refused")
            .to_string();
    assert!(error.contains("lists members of another type"), "{error}");
}

/// Bytes of the attribute, of the names it mentions and of the tables, changed.
#[test]
fn damaged_grafts_are_errors_and_no_panics() {
    let Some(mut w) = World::new() else { return };
    let Some(image) = w.compiled(&format!("{ATTRIBUTE} {GOOD}")) else {
        return;
    };
    let mut spots: Vec<usize> = Vec::new();
    for mark in [
        "System.Threading.Thread",
        "mscorlib",
        "GraftOntoAttribute",
        "BSJB",
    ] {
        let mark = mark.as_bytes();
        let windows = image.windows(mark.len()).enumerate();
        for (at, _) in windows.filter(|(_, window)| *window == mark) {
            spots.extend(at.saturating_sub(4)..(at + mark.len() + 4).min(image.len()));
        }
    }
    let tables = image.windows(2).position(|w| w == b"#~");
    let tables = tables.expect("a table stream");
    spots.extend((tables..(tables + 2000).min(image.len())).step_by(7));
    let (mut refused, mut accepted) = (0, 0);
    for (n, at) in spots.into_iter().enumerate() {
        let mut bad = image.to_vec();
        bad[at] = [0, 1, 0x7f, 0x80, 0xff][n % 5];
        let bad: &'static [u8] = Box::leak(bad.into_boxed_slice());
        if w.u.load_grafts(vec![(bad, None)]).is_err() {
            refused += 1;
            continue;
        }
        accepted += 1;
        let thread = w.u.known(Known::Thread);
        for m in thread.methods().into_iter().flatten() {
            let _ = (m.sig(), m.body(), m.param_names(), m.reflection_token());
        }
        let _ = (thread.properties(), thread.events(), thread.vtable());
        w = World::new().expect("there was one");
    }
    assert!(refused > 20 && accepted > 20, "{refused} {accepted}");
}
