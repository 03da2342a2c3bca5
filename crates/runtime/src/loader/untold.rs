//! Assemblies that are loaded, and of which the program has not been told.
//!
//! # Invariants
//! Who loads is who tells: an assembly is told of by the thread that has loaded it, before what it loaded it for goes on, whatever other threads load and tell meanwhile. What
//! threads without managed code have loaded is told of by any thread.
use crate::threads::current_context;

/// See the module.
pub(super) struct Untold<A> {
    /// With the context of the thread that has loaded it, in order.
    all: Vec<(usize, A)>,
}

impl<A> Default for Untold<A> {
    fn default() -> Untold<A> {
        Untold { all: Vec::new() }
    }
}

impl<A> Untold<A> {
    /// The calling thread has loaded something.
    pub(super) fn add(&mut self, loaded: A) {
        self.all.push((current_context() as usize, loaded));
    }
    /// Is there something that the calling thread has to tell of?
    pub(super) fn has_own(&self) -> bool {
        let own = current_context() as usize;
        self.all.iter().any(|(by, _)| is_told_by(*by, own))
    }
    /// What the calling thread has to tell of, which is told of from now on.
    pub(super) fn take_own(&mut self) -> Vec<A> {
        self.take(current_context() as usize)
    }
    fn take(&mut self, own: usize) -> Vec<A> {
        let own = self.all.extract_if(.., |(by, _)| is_told_by(*by, own));
        own.map(|(_, loaded)| loaded).collect()
    }
    /// The calling thread has not come to tell of these, which it has taken.
    pub(super) fn put_back(&mut self, rest: impl Iterator<Item = A>) {
        let own = current_context() as usize;
        self.all.splice(0..0, rest.map(|loaded| (own, loaded)));
    }
    /// Nobody is told.
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }
}

/// Does a thread tell of what `by` has loaded? (0: no thread with managed code.)
fn is_told_by(by: usize, own: usize) -> bool {
    by == own || by == 0
}

#[cfg(test)]
mod tests {
    use super::Untold;

    #[test]
    fn a_thread_takes_what_it_has_loaded_and_what_is_nobodys() {
        let all = vec![(1, 'a'), (2, 'b'), (0, 'c'), (1, 'd')];
        let mut untold = Untold { all };
        assert_eq!(untold.take(1), ['a', 'c', 'd']);
        assert_eq!(untold.take(1), []);
        assert_eq!(untold.take(2), ['b']);
    }
}
