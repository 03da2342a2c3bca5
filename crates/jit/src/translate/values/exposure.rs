//! Exposed frames: unmanaged pointers to what lies on the managed stack.
//!
//! # Why
//! A thread that waits for long may have its frames put away (`safepoint/stash.rs` of the runtime),
//! because nobody else uses its stack. Managed pointers cannot leave the thread: they lie on stacks
//! only. An unmanaged pointer can. So code says of each managed pointer that becomes something else
//! what it points to:
//!
//! | the managed pointer | what is noted |
//! |---|---|
//! | is the address of a variable or temporary of the compiled method | the method exposes its frame ([`Blob::exposes_frame`](crate::Blob::exposes_frame)) |
//! | is not known to be | at run time, if it lies on the thread's first segment: `ThreadContext::exposed` |
//!
//! It becomes something else by a conversion, as an operand or variable of another type, as a
//! reference, as a difference, in a typed reference, in `ByReference<T>`, in a variable that has an
//! address itself, as an argument of a delegate, a function pointer, a `jmp` or a variable argument,
//! whose types the callee need not share, and as an argument of native code. A method that calls one
//! with variable arguments exposes the block that they lie in. Memory of `stackalloc` is not on the
//! segment, unless it is small: then the method exposes its frame.
//!
//! The class library gives addresses of variables to internal calls (`WaitHandle.WaitOneNative`),
//! which keep none of them ([`keeps_no_pointer`]): what they get does not count.
//! [`Emitter::frame_pointers`](crate::emit::Emitter) counts the unmanaged pointers with the fact
//! `Frame` that were made, and those that internal calls were given are counted back.
//!
//! # Invariants
//! * Each value of type Native or int64 with the fact `Frame` on the IL stack was counted when it got
//!   there; one that an internal call takes is counted back, once. What becomes of any other is not
//!   followed.
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use vervet_types::MethodRef;

/// Is it an internal call of the class library's? The functions of the runtime behind them keep no
/// pointer that they are given, and read none while their thread is parked.
pub fn keeps_no_pointer(method: MethodRef) -> bool {
    method.is_icall() && method.class.module.is_corlib()
}

impl Translator<'_, '_> {
    /// A value becomes something else than a managed pointer, if it is one.
    pub fn expose(&mut self, operand: &StackValue) {
        if operand.stack_type != StackType::ByRef {
            return;
        }
        match operand.fact {
            ValueFact::Frame if !self.session.is_filter => self.e.frame_pointers += 1,
            _ => self.e.expose(operand.value),
        }
    }
    /// A value is on the IL stack once more.
    pub fn copy_exposed(&mut self, operand: &StackValue) {
        self.e.frame_pointers += u32::from(is_counted(operand));
    }
    /// Who takes the `count` uppermost values keeps no pointer.
    pub fn take_exposed(&mut self, count: usize) {
        let from = self.body.stack.len().saturating_sub(count);
        for operand in &mut self.body.stack[from..] {
            if is_counted(operand) {
                self.e.frame_pointers = self.e.frame_pointers.saturating_sub(1);
            } else if matches!(operand.fact, ValueFact::Frame) {
                // A managed pointer, which becomes what the parameter is.
                operand.stack_type = StackType::Native;
            }
        }
    }
    /// Who takes the `count` uppermost values may take them for something else.
    pub fn expose_arguments(&mut self, count: usize) {
        for at in self.body.stack.len().saturating_sub(count)..self.body.stack.len() {
            let operand = self.body.stack[at];
            self.expose(&operand);
        }
    }
}

/// Is it an unmanaged pointer that is counted? An integer of its size may be one, and become one of
/// type Native again.
fn is_counted(operand: &StackValue) -> bool {
    matches!(operand.stack_type, StackType::Native | StackType::I64)
        && matches!(operand.fact, ValueFact::Frame)
}
