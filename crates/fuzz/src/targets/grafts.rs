//! Target `grafts`: mutated assemblies of grafts.
//!
//! An image is loaded as the grafts of a fresh type system. Oracles: it is refused with an error that says what and where, or its
//! members are members of their targets: each row has one method, each token that reflection gives leads back, and every
//! question about target and grafts is answered.

use super::images::{Part, change_cell, target_of};
use super::types::{class, error};
use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use crate::world::World;
use std::cell::RefCell;
use vervet_metadata::Table;
use vervet_types::Known;

pub(super) const GRAFTS: Target = Target {
    name: "grafts",
    about: "assemblies of grafts: refused with a reason, or their members are the targets'",
    run,
    generate,
    corpus: || Corpus::read("grafts"),
    memory: 64 << 20,
    missing: || None,
};

/// How many type systems one process makes: they are never freed. Later images are read and checked, and graft nothing.
const WORLDS: u32 = 100;

thread_local! {
    static FRESH: RefCell<(Option<World>, u32)> = const { RefCell::new((None, 0)) };
}

fn run(data: &[u8]) {
    FRESH.with_borrow_mut(|(world, made)| {
        if world.is_none() {
            *world = World::new();
            *made += 1;
        }
        // Without a class library there are no targets.
        let Some(w) = world else { return };
        let data: &'static [u8] = data.to_vec().leak();
        if error(w.u.load_grafts(vec![(data, None)])).is_none() {
            return;
        }
        if *made > WORLDS {
            return;
        }
        for known in [Known::Thread, Known::Math] {
            let target = w.u.known(known);
            class(target);
            for m in error(target.methods()).unwrap_or_default() {
                assert_eq!(m.module().method_def(m.rid).ok(), Some(*m));
                if m.is_grafted() {
                    let row = m.reflection_token().rid();
                    let found = target.module.grafted_method(row);
                    assert_eq!(found.ok().flatten(), Some(*m));
                }
            }
        }
        let module = w.u.grafted_methods().first().map(|m| m.module());
        if let Some(module) = module {
            for rid in 1..=module.image.row_count(Table::TypeDef).min(100) {
                if let Some(c) = error(module.type_def(rid)) {
                    class(c);
                }
            }
        }
        *world = None;
    });
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut data = random.of(&corpus.inputs).1.clone();
    // The rows that say what is grafted onto what.
    let wanted = |table: Table, _: usize| {
        matches!(
            table,
            Table::CustomAttribute
                | Table::TypeDef
                | Table::MethodDef
                | Table::Property
                | Table::PropertyMap
                | Table::MethodSemantics
                | Table::MemberRef
                | Table::GenericParam
        )
    };
    for _ in 0..=random.below(3) {
        let part = *random.of(&[Part::Cell, Part::Cell, Part::Blob, Part::Name]);
        match target_of(&data, part, &wanted, random) {
            Some((_, _, at)) if part == Part::Cell => change_cell(&mut data[at], random),
            Some((_, _, at)) => mutate::in_place(&mut data, (at.start, at.len()), random),
            None => {}
        }
    }
    data
}
