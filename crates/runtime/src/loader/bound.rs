//! What binds in the default context have found: reading policy files and probing cost system calls, and the serializer binds a name for each type that it reads.
//!
//! # Invariants
//! An answer holds until something is loaded, which may answer better, or the places change. A bind takes time, so it says when it began: what it has found is kept only if nothing has
//! changed since.
use rustc_hash::FxHashMap;
use vervet_binder::name::AssemblyName;

/// A name, and the id of the module that asks for it, if what lies beside that counts.
pub(super) type Question = (AssemblyName, Option<u32>);

/// See the module.
pub(super) struct Bound<A> {
    answers: FxHashMap<Question, A>,
    /// How often everything has been forgotten.
    age: u64,
}

/// When a bind has begun.
#[derive(Clone, Copy)]
pub(super) struct Begun(u64);

impl<A> Default for Bound<A> {
    fn default() -> Bound<A> {
        Bound {
            answers: FxHashMap::default(),
            age: 0,
        }
    }
}

impl<A: Copy> Bound<A> {
    /// The answer that is known; otherwise a bind begins.
    pub(super) fn ask(&self, question: &Question) -> Result<A, Begun> {
        self.answers.get(question).copied().ok_or(Begun(self.age))
    }
    /// What a bind has found.
    pub(super) fn keep(&mut self, begun: Begun, question: Question, answer: A) {
        if begun.0 == self.age {
            self.answers.insert(question, answer);
        }
    }
    /// Every name is bound again.
    pub(super) fn forget(&mut self) {
        self.answers.clear();
        self.age += 1;
    }
    /// Takes the place of another, whose binds may still be under way.
    pub(super) fn follows(&mut self, before: &Bound<A>) {
        self.answers.clear();
        self.age = before.age + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{AssemblyName, Bound};

    #[test]
    fn what_was_found_before_something_changed_is_not_kept() {
        let question = (AssemblyName::simple("A"), None);
        let mut bound = Bound::default();
        let begun = bound.ask(&question).unwrap_err();
        bound.forget();
        bound.keep(begun, question.clone(), 1);
        let begun = bound.ask(&question).unwrap_err();
        bound.keep(begun, question.clone(), 2);
        assert_eq!(bound.ask(&question).ok(), Some(2));
        let mut next = Bound::default();
        next.follows(&bound);
        next.keep(begun, question.clone(), 3);
        assert!(next.ask(&question).is_err());
    }
}
