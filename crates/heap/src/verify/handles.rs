//! Handles: their objects are there, and a visit of those that may be young finds all that are.
//!
//! # Invariants that are checked
//! * A handle, whatever its kind, refers to null or to the beginning of an object that is alive as far as the last cycle knows.
//! * A visit with `young_only` meets every handle of a young object, which is all that a minor collection looks at.
use super::Verifier;
use crate::model::{Model, World};
use crate::space::BlockKind;

impl<M: Model, W: World> Verifier<'_, M, W> {
    pub(super) fn handles(&self) {
        let world = &self.heap.world;
        // Pinned ones first: the visit of strong ones makes anew which may be young.
        self.each_young_twice("pinned", |young_only, see| {
            world.pinned_handles(young_only, &mut |o| {
                see(o);
            });
        });
        self.each_young_twice("strong", |young_only, see| {
            world.strong_handles(young_only, &mut |o| (o, see(o)));
        });
        for (name, long) in [("short weak", false), ("long weak", true)] {
            self.each_young_twice(name, |young_only, see| {
                world.weak_handles(long, young_only, &mut |o| Some((o, see(o))));
            });
        }
    }
    /// `visit` calls what it is given with the target of every handle, or of those that may be young, and gets whether that is young.
    fn each_young_twice(&self, name: &str, visit: impl Fn(bool, &mut dyn FnMut(usize) -> bool)) {
        let [among_young, among_all] = [true, false].map(|young_only| {
            let mut count = 0;
            visit(young_only, &mut |o| {
                self.reference(0, &format_args!("a {name} handle"), o);
                let young = self.heap.space.kind_at(o) == BlockKind::Nursery;
                count += usize::from(young);
                young
            });
            count
        });
        if among_young != among_all {
            self.damaged(&format!(
                "{among_all} {name} handles refer to young objects, and a minor collection would look at {among_young} of them"
            ));
        }
    }
}
