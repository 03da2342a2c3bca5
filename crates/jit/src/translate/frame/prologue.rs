//! What runs before the IL of a method, and what `ret` undoes.
//!
//! # How it works
//! ```text
//! stack check            if sp < limit: grow the stack and call this method again
//! variables              arguments to their locations, locals zeroed; in code that is entered at a loop, what it takes over
//! class constructor      if calling the method triggers it (ECMA-335 II.10.5.3.1)
//! localloc mark          where the thread's localloc stack is now
//! thread statics         the blocks of those that loops use
//! monitor                of a synchronized method: this, or the Type object
//!   ... the IL ...
//! epilogue (ret)         localloc mark restored, monitor left
//! ```
//!
//! A synchronized method has a landing pad of its own, the outermost handler of all its calls:
//!
//! ```text
//!     stack_store object, slot
//!     enter the monitor of object            ; fast_paths::monitors
//!     ...
//!     ret:  load slot, leave the monitor, return
//! pad(exception, record):
//!     load slot, leave the monitor
//!     call ContinueUnwind(exception, record)
//! ```
//!
//! # Invariants
//! * The stack check is the first code after the frame is reserved. Nothing has been written and
//!   nothing entered by then, so the method can be called again from its start on a larger stack.
//! * Between the epilogue and the return instruction no asynchronous exception is raised
//!   ([`Emitter::begin_no_redirect`](crate::emit::Emitter::begin_no_redirect)): the monitor has
//!   been left, and a handler would leave it again.
use crate::blob::Symbol;
use crate::emit::front::StackCheck;
use crate::emit::{FrameMap, trusted};
use crate::signature::Pass;
use crate::translate::control::control_flow::Plan;
use crate::translate::error::{Res, TranslateError};
use crate::translate::fast_paths::monitors;
use crate::translate::frame::location::Variable;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{Block, InstBuilder, StackSlot, types::*};
use smallvec::SmallVec;
use vervet_abi::{call, context};
use vervet_metadata::body::{EhClause, EhKind};
use vervet_metadata::il::{Op, Operand};
use vervet_types::ClassRef;
use vervet_types::resolve::Local;

/// A `localloc` of at most this many bytes, constant and outside loops, becomes a stack slot.
const LOCAL_ALLOCATION: i64 = 1024;

/// The size of a `localloc` that can be a stack slot. In a loop each execution must give new memory
/// (ECMA-335 III.3.47), so there it cannot.
pub fn constant_localloc(plan: &Plan, index: usize) -> Option<u32> {
    if plan.in_loop(plan.instrs[index].offset) {
        return None;
    }
    let mut at = index.checked_sub(1)?;
    if matches!(plan.instrs[at].op, Op::ConvU | Op::ConvI) {
        at = at.checked_sub(1)?;
    }
    let i = &plan.instrs[at];
    let size = match (i.op, i.operand) {
        (Op::LdcI4, Operand::I32(v)) => i64::from(v),
        (Op::LdcI4S, Operand::I8(v)) => i64::from(v),
        (op, _) => {
            let n = op as i64 - Op::LdcI40 as i64;
            if !(1..=8).contains(&n) {
                return None;
            }
            n
        }
    };
    (size > 0 && size <= LOCAL_ALLOCATION).then_some(size as u32)
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Says whether the function checks its stack: one that calls does, and so does one with a large frame.
    fn stack_check(&mut self, calls: bool) {
        self.e.check = match (self.env.wants_stack_check(), calls) {
            (false, _) => StackCheck::Never,
            (true, true) => StackCheck::Always,
            (true, false) => StackCheck::LargeFrame,
        };
    }

    /// Emits the prologue.
    pub(crate) fn prologue(&mut self, args: &[ClassRef], locals: &[Local]) -> Res {
        let synchronized = self.body.method.is_synchronized();
        let replacement = self.session.replacement.as_ref();
        let is_entered_at_loop = replacement.is_some_and(|r| r.head.is_some());
        self.stack_check(
            self.body.plan.has_calls
                || synchronized
                || self.e.recorded.calls
                || self.session.replacement.is_some(),
        );
        self.make_variables(args, locals)?;
        self.begin_patchpoints();
        match is_entered_at_loop {
            true => self.take_carried()?,
            false if Self::triggers(self.body.method)? => {
                self.class_init(self.body.method.class)?
            }
            false => {}
        }
        if self.body.plan.has_localloc {
            // Only a `localloc` that takes memory from the thread's stack needs the mark.
            let side = (0..self.body.plan.instrs.len()).any(|i| {
                self.body.plan.instrs[i].op == Op::Localloc
                    && constant_localloc(self.body.plan, i).is_none()
            });
            if side {
                self.body.localloc_mark = Some(self.e.load_context(I64, context::LOCALLOC_NEXT));
            }
        }
        self.keep_localloc_top();
        if synchronized {
            // The monitor of a static method is that of the Type object (ECMA-335 II.15.4.3.3).
            let object = if self.body.method.is_static() {
                self.e
                    .load_symbol(I64, Symbol::TypeObject(self.body.method.class), 0)
            } else {
                self.body.params[0]
            };
            let slot: StackSlot = self.e.slot(8);
            self.e.b.ins().stack_store(I64, object, slot, 0);
            monitors::enter(self.e, object, None, false, |e| {
                e.helper(call::MonitorEnter, [object]);
            });
            // From here on every call has this pad as its outermost handler. The enter above has
            // none: an exception in it must not leave a monitor that was not entered.
            let pad: Block = self.new_pad();
            self.body.sync = Some((slot, pad));
        }
        self.record_call(true);
        self.look_up_for_loops()
    }

    /// Emits the prologue of a filter's function. Its parameters are the frame pointer of the
    /// method and the exception object.
    pub(crate) fn filter_prologue(
        &mut self,
        args: &[ClassRef],
        locals: &[Local],
        parent: &[Variable],
        frame: &FrameMap,
    ) -> Res {
        if parent.len() != args.len() + locals.len() {
            return Err(TranslateError::internal(
                "the parent's variables are missing",
            ));
        }
        self.stack_check(self.body.plan.has_calls);
        self.keep_localloc_top();
        self.make_filter_variables(parent, frame)
    }

    /// If the method catches exceptions: creates the slot that records how much of the localloc
    /// stack this method and its callers use.
    fn keep_localloc_top(&mut self) {
        let catches = |c: &EhClause| matches!(c.kind, EhKind::Catch(_) | EhKind::Filter(_));
        if self.body.plan.clauses.iter().any(catches) {
            self.body.localloc_top = Some(self.e.slot(8));
            self.record_localloc_top();
        }
    }

    /// Records how far the localloc stack is in use: at the start, and after each `localloc`. A
    /// catch handler resets the thread to this, which frees what the frames below had.
    fn record_localloc_top(&mut self) {
        if let Some(slot) = self.body.localloc_top {
            let top = self.e.load_context(I64, context::LOCALLOC_NEXT);
            self.e.b.ins().stack_store(I64, top, slot, 0);
        }
    }

    /// Tells the profiler that the method begins, or returns, if its calls are recorded.
    fn record_call(&mut self, begins: bool) {
        let method = self.body.method;
        if !self.e.recorded.calls || self.body.filter.is_some() || !self.env.records_calls(method) {
            return;
        }
        let method = self.e.symbol(Symbol::MethodHandle(method));
        match begins {
            true => self.e.helper(call::RecordEnter, [method]),
            false => self.e.helper(call::RecordLeave, [method]),
        };
    }

    /// Undoes what the prologue did: frees localloc memory and leaves the monitor.
    pub(crate) fn epilogue(&mut self) {
        self.record_call(false);
        if let Some(mark) = self.body.localloc_mark {
            self.e.store_context(mark, context::LOCALLOC_NEXT);
        }
        if let Some((slot, _)) = self.body.sync {
            let object = self.e.b.ins().stack_load(I64, I64, slot, 0);
            self.e.set_handlers(&[]);
            monitors::exit(self.e, object, false, |e| {
                e.helper(call::MonitorExit, [object]);
            });
        }
    }

    /// `ret` (ECMA-335 III.3.57). It is not allowed in a protected region, where `leave` must be
    /// used.
    pub(crate) fn ret(&mut self) -> Res {
        let results = usize::from(!matches!(self.body.lowered.ret, Pass::None));
        if self.body.stack.len() > results {
            return Err(TranslateError::invalid("more than the result on the stack"));
        }
        if self.body.inline.is_some() {
            return self.inlined_ret();
        }
        if self.body.filter.is_some() {
            return Err(TranslateError::invalid("ret in a filter"));
        }
        if self.in_protected() {
            return Err(TranslateError::invalid("ret in a protected block"));
        }
        let lowered = self.body.lowered;
        let mut values: SmallVec<[_; 4]> = SmallVec::new();
        match &lowered.ret {
            Pass::None => {}
            Pass::Scalar(_) => {
                let operand = self.pop()?;
                values.push(self.coerce_to_class(&operand, lowered.ret_class)?);
            }
            Pass::Scalars(_) => {
                let operand = self.pop()?;
                self.check_struct(&operand, lowered.ret_class)?;
                values = crate::signature::load_passed(
                    &mut self.e.b,
                    trusted(),
                    operand.value,
                    0,
                    &lowered.ret,
                    lowered.ret_class,
                );
            }
            Pass::Address => {
                let operand = self.pop()?;
                self.check_struct(&operand, lowered.ret_class)?;
                let buffer = self.body.params[lowered.has_this as usize];
                self.copy(
                    lowered.ret_class,
                    buffer,
                    0,
                    trusted(),
                    operand.value,
                    0,
                    trusted(),
                    crate::translate::values::memory::Dest::Frame,
                )?;
            }
        }
        // The results are computed before the monitor is left, because computing them may throw.
        self.epilogue();
        self.e.begin_no_redirect();
        self.e.b.ins().return_(&values);
        self.body.dead = true;
        Ok(())
    }

    /// `localloc` (ECMA-335 III.3.47). The memory lives until the method returns. Stack memory
    /// cannot be used for computed sizes: frames have a fixed size, and stacks of green threads are
    /// small, so it comes from the thread's localloc stack.
    pub(crate) fn localloc(&mut self) -> Res {
        let size = self.pop()?;
        let (value, fact) = if let Some(bytes) = constant_localloc(self.body.plan, self.body.index)
        {
            let slot = self.e.slot(bytes);
            let at = self.e.slot_addr(slot);
            self.zero(at, 0, bytes.next_multiple_of(8), trusted());
            self.e.frame_pointers += 1;
            (at, ValueFact::Frame)
        } else {
            let bytes = match size.stack_type {
                StackType::I32 => self.e.b.ins().uextend(I64, size.value),
                _ => self.as_native(&size)?,
            };
            // Of no bytes it is null, as in mono and CoreCLR.
            let at = self.e.helper_value(call::Localloc, [bytes]);
            self.record_localloc_top();
            (at, ValueFact::None)
        };
        self.push_value(StackValue {
            stack_type: StackType::Native,
            value,
            class: None,
            fact,
        });
        Ok(())
    }
}
