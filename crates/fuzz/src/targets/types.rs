//! Target `types`: the type system over mutated images.
//!
//! Every type of an image is asked for all it is made of, every token of its code is resolved. Oracles: each question is
//! answered; an error is one that has a managed exception, says what and where, and is the same when the question is asked again.

use super::images::{Part, change_cell, target_of, with_installed};
use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use crate::world::World;
use std::cell::RefCell;
use vervet_metadata::{Instructions, Operand, Table};
use vervet_types::{ClassRef, LoadError, MethodRef, ModuleRef, R, TokenTarget};

pub(super) const TYPES: Target = Target {
    name: "types",
    about: "classes, layouts, vtables and tokens of mutated images: errors are typed, and stay the same",
    run,
    generate,
    corpus: || {
        with_installed(
            Corpus::read("image"),
            &["cert-sync.exe", "System.Numerics.dll"],
        )
    },
    memory: 64 << 20,
    missing: || None,
};

/// An error of a question, checked.
pub(super) fn error<T>(answer: R<T>) -> Option<T> {
    match answer {
        Ok(value) => Some(value),
        Err(LoadError::Need(_)) => None,
        Err(e) => {
            assert!(e.exception().is_some(), "{e:?}");
            let text = e.to_string();
            assert!(text.len() > 10, "{e:?}");
            // A damaged image is told with the row, heap or address that is damaged.
            if matches!(e, LoadError::BadImage { .. }) {
                let place = |c: char| c.is_ascii_digit() || c == '.' || c == '\'';
                assert!(text.contains(place), "{e:?}");
            }
            None
        }
    }
}

/// Asks twice: a level that failed is tried again, and fails in the same way.
fn twice<T>(ask: impl Fn() -> R<T>) -> Option<T> {
    let first = ask().map_err(|e| e.to_string());
    let second = ask();
    match (&first, &second) {
        (Ok(_), Ok(_)) => {}
        (Err(one), Err(other)) => assert_eq!(*one, other.to_string()),
        (Ok(_), Err(e)) => panic!("it succeeded, then failed: {e}"),
        (Err(e), Ok(_)) => panic!("it failed, then succeeded: {e}"),
    }
    error(second)
}

/// Asks a class for all it is made of.
pub(super) fn class(class: ClassRef) {
    let _ = (class.full_name(), class.assembly_qualified_name());
    twice(|| class.supers());
    twice(|| class.interfaces());
    twice(|| class.layout());
    twice(|| class.vtable());
    twice(|| class.check());
    error(class.properties());
    error(class.events());
    error(class.nested_types());
    error(class.finalizer());
    error(class.params());
    for f in error(class.fields()).unwrap_or_default() {
        let _ = (error(f.ty()), error(f.offset()), f.is_volatile());
        if f.has_rva() {
            let _ = f.rva_data();
        }
    }
    for i in error(class.interfaces()).unwrap_or_default() {
        for m in error(i.methods()).unwrap_or_default() {
            error(class.find_interface_impl(m));
        }
    }
    for m in error(class.methods()).unwrap_or_default() {
        method(m);
    }
}

fn method(m: MethodRef) {
    let _ = (m.full_name(), m.trace_name(), m.wrapper_name());
    twice(|| m.sig());
    let _ = (
        error(m.slot()),
        error(m.dll_import()),
        error(m.generic_params()),
    );
    let Some(body) = m.has_body().then(|| error(m.body())).flatten() else {
        return;
    };
    let scope = m.scope();
    error(scope.locals(body.local_sig));
    for instr in Instructions::new(body.code).map_while(Result::ok) {
        if let Operand::Token(token) = instr.operand {
            error(scope.call_site_sig(token));
            error(scope.stand_alone_sig(token));
            if let Some(TokenTarget::Type(c)) = error(scope.token(token)) {
                let _ = (error(c.layout()), error(c.interfaces()), error(c.vtable()));
            }
        }
    }
}

fn module(module: ModuleRef) {
    for rid in 1..=module.image.row_count(Table::TypeDef).min(2000) {
        if let Some(c) = error(module.type_def(rid)) {
            class(c);
        }
    }
}

thread_local! {
    static WORLD: RefCell<Option<Option<World>>> = const { RefCell::new(None) };
}

fn run(data: &[u8]) {
    WORLD.with_borrow_mut(|world| {
        // Without a class library there is nothing to derive from.
        let Some(world) = world.get_or_insert_with(World::new) else {
            return;
        };
        let data: &'static [u8] = data.to_vec().leak();
        if let Ok(m) = world.u.load_module(data, None) {
            module(m);
        }
    });
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut data = random.of(&corpus.inputs).1.clone();
    for _ in 0..=random.below(4) {
        let part = *random.of(&[
            Part::Cell,
            Part::Cell,
            Part::Blob,
            Part::Blob,
            Part::Name,
            Part::Body,
        ]);
        match target_of(&data, part, &|_, _| true, random) {
            Some((_, _, at)) if part == Part::Cell => change_cell(&mut data[at], random),
            Some((_, _, at)) => mutate::in_place(&mut data, (at.start, at.len()), random),
            None => {}
        }
    }
    data
}
