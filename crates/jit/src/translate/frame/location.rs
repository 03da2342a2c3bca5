//! Where an argument or local lives. Module `variables` decides it.
use crate::translate::values::stack::{StackType, ValueFact};
use cranelift_codegen::ir::{StackSlot, Value};
use cranelift_frontend::Variable as SsaVariable;
use vervet_types::ClassRef;

/// Where a variable lives.
#[derive(Clone, Copy)]
pub enum Location {
    /// Nowhere: nothing reads it.
    None,
    /// An SSA variable.
    Ssa(SsaVariable),
    /// A known value, in an inlined body of one block. A store replaces it.
    Value(Value, ValueFact),
    /// A slot of this frame.
    Slot(StackSlot),
    /// The caller's copy of a struct argument. It is not written.
    Caller(Value),
    /// A slot of the method's frame, for its filter: bytes to add to the parent's frame pointer.
    Parent(i32),
}

/// An argument or local.
#[derive(Clone, Copy)]
pub struct Variable {
    /// Its declared class.
    pub class: ClassRef,
    /// What it holds is null or an instance of exactly this class: one instruction writes it, and wrote such an instance.
    pub exact: Option<ClassRef>,
    /// Its stack type.
    pub kind: StackType,
    /// Where it lives.
    pub location: Location,
    /// The slot that handlers and filters read.
    pub shadow: Option<StackSlot>,
    /// Whether it is declared `pinned`.
    pub pinned: bool,
    /// Whether it may be written while a call is active: through a pointer, or by a filter.
    pub address_taken: bool,
}
