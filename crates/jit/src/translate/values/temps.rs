//! Temporaries: the stack slots that struct values on the IL stack lie in.
//!
//! In optimised code a temporary is the memory that such a slot of the frame takes; see
//! [`Translator::temp`](crate::translate::translator::Translator::temp).
//!
//! # Invariants
//! A slot is handed out again only when no value on the IL stack can lie in it: the translator
//! releases all of them when the stack is empty. An inlined body uses only slots that are free where
//! it begins ([`Temps::lend`]), because the values below its own stack may lie in the others.
use cranelift_codegen::ir::StackSlot;

/// The stack slots of temporaries: slot, size in bytes, whether a value on the IL stack may lie in
/// it.
#[derive(Default)]
pub struct Temps {
    pub(crate) slots: Vec<(StackSlot, u32, bool)>,
}

impl Temps {
    /// Frees all temporaries. Called when nothing is on the IL stack.
    pub fn release(&mut self) {
        self.slots.iter_mut().for_each(|s| s.2 = false);
    }
    /// Marks all temporaries as used. Called at the start of a block with values on its stack, any
    /// of which may lie in a temporary.
    pub fn retain(&mut self) {
        self.slots.iter_mut().for_each(|s| s.2 = true);
    }
    /// Leaves only the free slots, for an inlined body, and returns the others.
    pub fn lend(&mut self) -> Temps {
        let (used, free) = std::mem::take(&mut self.slots)
            .into_iter()
            .partition(|s| s.2);
        self.slots = free;
        Temps { slots: used }
    }
    /// Adds the slots that [`Temps::lend`] returned again. The result of the inlined body may lie
    /// in any of its slots, so they count as used until the IL stack is empty.
    pub fn take_back(&mut self, mut used: Temps) {
        self.retain();
        used.slots.append(&mut self.slots);
        self.slots = used.slots;
    }
}
