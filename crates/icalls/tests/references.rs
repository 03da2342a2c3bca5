//! No container of Rust's heap, and no static's cell, has references among its elements.
//!
//! The collector scans stacks, not what `malloc` gave: an `ObjRef` in a `Vec` would dangle after a collection. The
//! compiler's line tables name every function it made, with its type arguments; a container of references cannot be
//! made or dropped without one. This program contains the runtime and the icalls, so its own names are looked through.
use std::collections::BTreeSet;

/// Types that keep what is in them outside of a frame.
const OWNERS: &[&str] = &[
    "alloc::vec::Vec<",
    "alloc::raw_vec::RawVec<",
    "alloc::boxed::Box<",
    "alloc::rc::Rc<",
    "alloc::sync::Arc<",
    "alloc::collections::",
    "std::collections::",
    "hashbrown::",
    "smallvec::SmallVec<",
    "vervet_os::lock::LeafLock<",
    "vervet_os::lock::SafeLock<",
    "vervet_os::published::Published<",
    "std::thread::local::LocalKey<",
];
const REFERENCES: &[&str] = &[
    "vervet_runtime::object::ObjRef",
    "vervet_runtime::cx::Value",
    "vervet_runtime::code::icall::RefSlot",
    "vervet_abi::layouts::RawRef",
];

/// The type arguments of an owner whose name ends at `from`.
fn arguments(name: &str, from: usize) -> &str {
    let rest = &name[from..];
    let open = rest.find('<').map_or(rest.len(), |i| i + 1);
    let mut depth = 1;
    let bytes = rest.as_bytes();
    for i in open..rest.len() {
        match bytes[i] {
            b'<' => depth += 1,
            b'>' if i > 0 && bytes[i - 1] != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &rest[open..i];
        }
    }
    &rest[open.min(rest.len())..]
}

/// Do the angle brackets match, as in every whole name?
fn is_whole(name: &str) -> bool {
    let bytes = name.as_bytes();
    let closing = (1..bytes.len())
        .filter(|i| bytes[*i] == b'>' && bytes[i - 1] != b'-')
        .count();
    bytes.iter().filter(|b| **b == b'<').count() == closing
}

/// Does the name speak of an owner of references? Functions that take or give them own none.
fn offends(name: &str) -> bool {
    if !is_whole(name) {
        return false;
    }
    OWNERS.iter().any(|owner| {
        name.match_indices(owner).any(|(at, _)| {
            let inside = arguments(name, at + owner.trim_end_matches('<').len());
            REFERENCES.iter().any(|r| {
                inside.match_indices(r).any(|(i, _)| {
                    let before = &inside[..i];
                    !before.contains("{closure")
                        && !before.contains("fn(")
                        && !before.contains("dyn ")
                })
            })
        })
    })
}

#[test]
fn no_container_holds_references() {
    // Whatever the tables lead to is linked in.
    assert!(vervet_icalls::all().count() > 500);
    let program = std::fs::read(std::env::current_exe().expect("a path")).expect("readable");
    let mut found = BTreeSet::new();
    let mut names = 0;
    for bytes in program
        .split(|b| !(b' '..=b'~').contains(b))
        .filter(|b| b.len() > 20)
    {
        let name = std::str::from_utf8(bytes).expect("ASCII");
        if REFERENCES.iter().any(|r| name.contains(r)) {
            names += 1;
            if offends(name) {
                found.insert(name);
            }
        }
    }
    assert!(
        names > 10,
        "the line tables are gone: nothing was looked at"
    );
    assert!(found.is_empty(), "references in Rust's heap:\n{found:#?}");
}

#[test]
fn owners_are_told_from_users() {
    // Not written out, so that this program does not find the examples in itself.
    let offends = |name: &str| offends(&name.replace("REF", REFERENCES[0]));
    assert!(offends(
        "drop_in_place<alloc::vec::Vec<REF, alloc::alloc::Global>>"
    ));
    assert!(offends("push<alloc::vec::Vec<(usize, REF)>>"));
    assert!(offends("drop_in_place<smallvec::SmallVec<[REF; 16]>>"));
    assert!(!offends(
        "branch<core::option::Option<REF>, vervet_runtime::cx::Throw>"
    ));
    assert!(!offends("f<alloc::vec::Vec<u8>, REF>"));
}
