//! Calls that may leave a pointer to the caller's frame behind, in code whose loops are to be left for other code.
//!
//! # Invariants
//! * Where a method is given the address of a variable, and may make an unmanaged pointer of it and
//!   keep that, no loop of the caller is left: the variable stays where it is.
use crate::translate::calls::call::Dispatch;
use crate::translate::control::carried::may_keep_pointers;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};

impl Translator<'_, '_> {
    /// A method is called with the `count` uppermost values. If one of them is the address of a
    /// variable, and the method may keep a pointer to it, the loops cannot
    /// be left.
    pub(crate) fn look_for_kept_pointers(&mut self, dispatch: &Dispatch, count: usize) {
        let has_patchpoints = self.session.replacement.as_ref();
        if !has_patchpoints.is_some_and(|r| r.has_patchpoints) {
            return;
        }
        let may_keep = match dispatch {
            Dispatch::Direct(m) => {
                let is_native = m.is_pinvoke() && !m.class.module.is_corlib();
                is_native || may_keep_pointers(m.class.module)
            }
            // What is called is not known.
            Dispatch::Interface(m) | Dispatch::Generic(m) => !m.class.module.is_corlib(),
            Dispatch::Virtual(_) => true,
            _ => false,
        };
        let from = self.body.stack.len().saturating_sub(count);
        let is_own =
            |v: &StackValue| v.stack_type == StackType::ByRef && matches!(v.fact, ValueFact::Frame);
        self.session.has_stuck_loop |= may_keep && self.body.stack[from..].iter().any(is_own);
    }
}
