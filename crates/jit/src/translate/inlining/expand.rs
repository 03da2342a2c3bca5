//! Inlining: the body of a callee in place of a call.
//!
//! # How it works
//! [`Translator::try_inline`] goes through four steps:
//!
//! 1. Decide: the callee must be known exactly, and [`Translator::inline_decision`] must allow it.
//! 2. Bind: the arguments on the stack become the variables of the body. One that is only read
//!    stays the value it is, with all that is known of it; one that is written or addressed gets a
//!    variable or a temporary.
//! 3. Translate: a second translator emits the body into the same CLIF function. A body of one
//!    block needs no CLIF block of its own.
//! 4. Join: the result of a body of one block is the value itself. Otherwise every `ret` jumps to a
//!    block whose parameter is the result; a struct is copied to a buffer before. If a branch asks for
//!    the result, each `ret` jumps to where the branch would ([`fork`](crate::translate::control::fork)).
//!
//! # Invariants
//! * Arguments are evaluated, and `this` of a virtual call is checked for null, before anything of
//!   the body.
//! * The handlers of calls in the body are those around the inlined call, as they would be for the
//!   callee's frame.
//! * Every instruction of the body has a source position in the callee, so stack traces show the
//!   callee's frame.
//! * A class constructor that the call triggers, or that the callee's first call runs ([`crate::initialisers`]), runs before the body.
//! * An inlined body has no monitor, no clauses and no localloc; [`Translator::inline_decision`]
//!   excludes them.
use crate::emit::positions::Position;
use crate::emit::trusted;
use crate::signature::{LoweredSignature, Pass, scalar_kind, store_scalar};
use crate::translate::control::control_flow::{ADDRESS, Plan, PlanBlock, READ, WRITTEN};
use crate::translate::control::join::result_type;
use crate::translate::error::{Res, TranslateError};
use crate::translate::frame::location::{Location, Variable};
use crate::translate::inlining::decision::DEPTH;
use crate::translate::inlining::effect::Inlined;
use crate::translate::translator::{Body, Translator};
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::InstBuilder;
use smallvec::SmallVec;
use vervet_metadata::il::Op;
use vervet_types::resolve::Local;
use vervet_types::{ClassRef, MethodRef};

/// How many calls are inlined in one method. It bounds the growth of the code.
const SITES: usize = 150;

/// A callee that is inlined.
struct Callee {
    method: MethodRef,
    plan: Plan,
    init_locals: bool,
    locals: Vec<Local>,
    /// See [`Inlined::outlined`].
    outlined: SmallVec<[(usize, bool); 2]>,
}

impl Callee {
    /// Whether the body is one block, which needs no CLIF block of its own.
    fn is_straight(&self) -> bool {
        self.plan.blocks.len() == 1 && !self.loops()
    }
    fn loops(&self) -> bool {
        let is_head = |b: &PlanBlock| b.last_source >= i64::from(b.offset);
        self.plan.blocks.iter().any(is_head)
    }
    /// Whether the body returns what a call gives.
    fn returns_call(&self) -> bool {
        let ends = |call, ret| matches!((call, ret), (Op::Call | Op::Callvirt, Op::Ret));
        matches!(&self.plan.instrs[..], [.., call, ret] if ends(call.op, ret.op))
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Emits the callee's body instead of a call, if the callee is to be inlined. The arguments are
    /// on the stack. False: the call must be made. For a body of several blocks:
    ///
    /// ```text
    /// int Max(int a, int b) => a > b ? a : b;       caller: Max(x, 3)
    ///
    ///     v2 = icmp sgt v0, 3                       ; the arguments are the values themselves
    ///     brif v2, block2, block1
    /// block1:
    ///     jump join(3)                              ; ret
    /// block2:
    ///     jump join(v0)                             ; ret
    /// join(v4: i32):                                ; the result
    /// ```
    pub(crate) fn try_inline(
        &mut self,
        m: MethodRef,
        lowered: &LoweredSignature,
        is_virtual: bool,
    ) -> Res<bool> {
        let Some(callee) = self.inlined_callee(m, lowered)? else {
            return Ok(false);
        };
        if self.body.inline.is_none() {
            let offset = self.body.plan.instrs[self.body.index].offset;
            self.session.is_inlined_in_loop = self.body.plan.in_loop(offset);
        }
        let arguments = self.pop_inlined_arguments(&callee, lowered, is_virtual)?;
        let outer = self.e.enter_inlined(m);
        // What the first call would initialise, then what every call makes sure of.
        for class in self.session.initialisers.of(m).iter() {
            self.class_init(class)?;
        }
        if Self::triggers(m)? {
            self.class_init(m.class)?;
        }
        let variables = self.bind(&callee, lowered, &arguments)?;
        let inlined = self.prepare_join(&callee, lowered, &arguments, outer)?;
        let known = self.session.unproxied.len();
        if lowered.has_this && m.class.is_marshal_by_ref()? {
            self.session.unproxied.push(arguments[0].value);
        }
        let inlined = self.translate_inlined(&callee, lowered, variables, inlined)?;
        self.session.unproxied.truncate(known);
        self.join_inlined(lowered, &arguments, inlined)?;
        Ok(true)
    }

    /// The callee, if it is to be inlined here.
    fn inlined_callee(&mut self, m: MethodRef, lowered: &LoweredSignature) -> Res<Option<Callee>> {
        if self.session.inline_limit == 0
            || self.session.inline_stack.len() > DEPTH
            || self.e.inlined() > SITES
            || !self.may_nest(m)
        {
            return Ok(None);
        }
        let Some(decision) = self.inline_decision(m, 0)? else {
            return Ok(None);
        };
        if lowered.has_this && m.class.is_marshal_by_ref()? {
            let count = lowered.params.len() + 1;
            let this = self.body.stack.len().checked_sub(count);
            // A transparent proxy sends the call elsewhere, and traces show a call that might be to one.
            match this.map(|at| self.body.stack[at]) {
                Some(this)
                    if !self.e.is_at_remote_call()
                        && !self.may_be_remote(&this, m.class, false)? => {}
                _ => return Ok(None),
            }
        }
        let body = m.body()?;
        let locals = if body.local_sig.is_nil() {
            Vec::new()
        } else {
            m.scope().locals(body.local_sig)?
        };
        let count = lowered.params.len() + lowered.has_this as usize;
        let mut plan = Plan::new(&body, 0, count, locals.len())?;
        let mut outlined = SmallVec::new();
        for (offset, never_returns) in &decision.outlined {
            outlined.push((plan.block(*offset)?, *never_returns));
        }
        if !outlined.is_empty() {
            plan.forget(|block| outlined.iter().any(|(n, _)| *n == block));
        }
        Ok(Some(Callee {
            method: m,
            plan,
            init_locals: body.init_locals,
            locals,
            outlined,
        }))
    }

    /// Pops the arguments, and checks `this` of a virtual call for null.
    fn pop_inlined_arguments(
        &mut self,
        callee: &Callee,
        lowered: &LoweredSignature,
        is_virtual: bool,
    ) -> Res<SmallVec<[StackValue; 8]>> {
        let count = lowered.params.len() + lowered.has_this as usize;
        self.spill_aliased(0)?;
        if self.body.stack.len() < count {
            return Err(TranslateError::invalid("too few values on the stack"));
        }
        let first = self.body.stack.len() - count;
        let mut operands: SmallVec<[StackValue; 8]> = self.body.stack.drain(first..).collect();
        // A default comparer that the body never mentions need not be loaded.
        for (operand, flags) in operands.iter_mut().zip(&callee.plan.args) {
            if *flags != 0 {
                *operand = self.comparer(*operand)?;
            }
        }
        if is_virtual && lowered.has_this && operands[0].stack_type == StackType::Ref {
            self.null_check(&operands[0]);
            match operands[0].fact {
                ValueFact::None => operands[0].fact = ValueFact::NonNull,
                ValueFact::ExactOrNull => operands[0].fact = ValueFact::Exact,
                _ => {}
            }
        }
        Ok(operands)
    }

    /// The variables of the body: its arguments, then its locals.
    fn bind(
        &mut self,
        callee: &Callee,
        lowered: &LoweredSignature,
        arguments: &[StackValue],
    ) -> Res<Vec<Variable>> {
        let (class, plan) = (callee.method.class, &callee.plan);
        let straight = callee.is_straight();
        let mut variables = Vec::with_capacity(arguments.len() + callee.locals.len());
        for (n, operand) in arguments.iter().enumerate() {
            let class = if n > 0 || !lowered.has_this {
                lowered.param_classes[n - lowered.has_this as usize]
            } else if class.is_value_type()? {
                self.session.universe.byref(class)
            } else {
                class
            };
            variables.push(self.inlined_argument(class, operand, plan.args[n], straight)?);
        }
        for (n, local) in callee.locals.iter().enumerate() {
            let (flags, init) = (plan.locals[n], callee.init_locals);
            variables.push(self.inlined_local(local.ty, flags, straight, init)?);
        }
        Ok(variables)
    }

    /// The block where the `ret`s of the body meet, if it has several blocks.
    fn prepare_join(
        &mut self,
        callee: &Callee,
        lowered: &LoweredSignature,
        arguments: &SmallVec<[StackValue; 8]>,
        outer: Position,
    ) -> Res<Inlined> {
        let straight = callee.is_straight();
        let fork = match straight && !callee.returns_call() {
            true => None,
            false => self.new_fork(lowered)?,
        };
        let join = match fork {
            Some(fork) => Some(fork),
            None if straight => None,
            None => Some(self.new_join(lowered)?),
        };
        Ok(Inlined {
            join,
            result: None,
            returned: false,
            arguments: if callee.outlined.is_empty() {
                SmallVec::new()
            } else {
                arguments.clone()
            },
            outlined: callee.outlined.clone(),
            call: None,
            outer,
        })
    }

    /// Translates the body, by a translator that shares the emitter and the session.
    fn translate_inlined(
        &mut self,
        callee: &Callee,
        lowered: &LoweredSignature,
        variables: Vec<Variable>,
        inlined: Inlined,
    ) -> Res<Inlined> {
        let straight = inlined.join.is_none();
        self.session.inline_stack.push(callee.method);
        let nonnull = self.session.nonnull.clone();
        let initialised = self.session.initialised.clone();
        let used = self.session.temps.lend();
        let mut t = Translator {
            e: &mut *self.e,
            env: self.env,
            session: &mut *self.session,
            body: Body {
                variables,
                init_locals: callee.init_locals,
                inline: Some(inlined),
                leaves_out: !callee.loops(),
                ..Body::new(callee.method, &callee.plan, lowered)
            },
        };
        let outcome = if straight {
            t.straight()
        } else {
            t.prepare_blocks();
            t.run().and_then(|()| t.call_outlined())
        };
        let inlined = t.body.inline.take();
        self.session.temps.take_back(used);
        self.session.inline_stack.pop();
        // Facts that were found in a body of one block hold behind it. Of several blocks only the
        // facts from before it do.
        if !straight {
            (self.session.nonnull, self.session.initialised) = (nonnull, initialised);
        }
        outcome?;
        inlined.ok_or_else(|| TranslateError::internal("the state of an inlined body"))
    }

    /// Continues behind the body, with its result on the stack.
    fn join_inlined(
        &mut self,
        lowered: &LoweredSignature,
        arguments: &[StackValue],
        inlined: Inlined,
    ) -> Res {
        if inlined.returned
            && let Some(fork) = inlined.join.and_then(|j| j.fork)
        {
            self.e.leave_inlined(inlined.outer);
            return self.end_fork(lowered, fork);
        }
        if let Some(join) = inlined.join {
            self.e.b.seal_block(join.block);
            self.e.b.switch_to_block(join.block);
        }
        self.e.leave_inlined(inlined.outer);
        if !inlined.returned {
            if inlined.join.is_some() {
                // No `ret` jumps to this block, but it must end.
                self.e.throw(vervet_abi::ThrowKind::ExecutionEngine);
            }
            self.body.dead = true;
            return Ok(());
        }
        if let Some(join) = inlined.join {
            return self.push_joined(lowered, join);
        }
        let Some(kind) = result_type(lowered)? else {
            return Ok(());
        };
        let mut operand = inlined
            .result
            .ok_or_else(|| TranslateError::internal("no result"))?;
        if kind == StackType::Struct {
            // The result may be an argument that was only passed through. What is known of it
            // was said in terms of this body's variables.
            let same = arguments.iter().find(|i| i.value == operand.value);
            operand.fact = same.map_or(ValueFact::None, |i| i.fact);
        }
        self.push_value(operand);
        Ok(())
    }

    /// If the block is outlined: jumps to the call that replaces it, and returns true.
    pub(crate) fn outline(&mut self, block: usize) -> bool {
        let Some(inline) = &mut self.body.inline else {
            return false;
        };
        // All outlined blocks share one call, because it gets the same arguments.
        let Some(&(_, never_returns)) = inline.outlined.iter().find(|(n, _)| *n == block) else {
            return false;
        };
        let call = match &mut inline.call {
            Some((call, all)) => {
                *all &= never_returns;
                *call
            }
            none => {
                let call = self.e.b.create_block();
                *none = Some((call, never_returns));
                call
            }
        };
        self.e.b.ins().jump(call, &[]);
        self.body.dead = true;
        true
    }

    /// Emits the call that replaces the outlined blocks, with the arguments as the caller pushed
    /// them. Its result, if it returns, is that of the inlined body.
    fn call_outlined(&mut self) -> Res {
        let Some(inline) = &self.body.inline else {
            return Ok(());
        };
        let Some((call, never_returns)) = inline.call else {
            return Ok(());
        };
        let (arguments, outer) = (inline.arguments.clone(), inline.outer);
        self.e.b.set_cold_block(call);
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(call);
        self.body.stack.clear();
        self.body.dead = false;
        let inner = self.e.swap_position(outer);
        for mut operand in arguments {
            // The number of the variable is that of the caller's, so here it would name the wrong
            // one.
            if let (ValueFact::Variable(_), Some(class)) = (operand.fact, operand.class) {
                let copy = self.temp_of(class)?;
                let whole = Dest::Frame;
                self.copy(
                    class,
                    copy,
                    0,
                    trusted(),
                    operand.value,
                    0,
                    trusted(),
                    whole,
                )?;
                operand.value = copy;
                operand.fact = ValueFact::None;
            }
            self.push_value(operand);
        }
        let lowered = self.body.lowered;
        self.call_itself(lowered, never_returns)?;
        self.e.swap_position(inner);
        if !self.body.dead {
            self.ret()?;
        }
        Ok(())
    }

    /// Translates a body of one block.
    fn straight(&mut self) -> Res {
        for index in 0..self.body.plan.instrs.len() {
            if self.body.skip > 0 {
                self.body.skip -= 1;
                continue;
            }
            self.body.index = index;
            let i = &self.body.plan.instrs[index];
            self.record(index);
            self.instruction(i)?;
            if self.body.dead {
                return Ok(());
            }
        }
        Err(TranslateError::invalid(
            "control goes past the end of the code",
        ))
    }

    /// The variable for an argument:
    ///
    /// ```text
    /// not mentioned              None
    /// struct, only read          Caller: the address that is on the caller's stack
    /// struct, else               Slot: a temporary with a copy
    /// address taken              Slot
    /// written, several blocks    Ssa
    /// otherwise                  Value: the caller's value, with what is known of it
    /// ```
    fn inlined_argument(
        &mut self,
        class: ClassRef,
        operand: &StackValue,
        flags: u8,
        straight: bool,
    ) -> Res<Variable> {
        // An argument that the body never mentions is still converted, since the conversion may
        // find the IL invalid; but it gets no location.
        let kind = stack_type_of(class)?;
        let mut variable = Variable {
            class,
            exact: None,
            kind,
            location: Location::None,
            shadow: None,
            pinned: false,
            address_taken: flags & ADDRESS != 0,
        };
        if variable.address_taken {
            self.expose(operand);
        }
        let value = self.coerce_to_class(operand, class)?;
        if flags == 0 {
            return Ok(variable);
        }
        if kind == StackType::Struct {
            variable.location = if flags & (ADDRESS | WRITTEN) != 0 {
                let slot = self.temp(class.layout()?.size);
                self.note_class(slot, class)?;
                let at = self.e.slot_addr(slot);
                self.copy(class, at, 0, trusted(), value, 0, trusted(), Dest::Frame)?;
                Location::Slot(slot)
            } else {
                Location::Caller(value)
            };
            return Ok(variable);
        }
        variable.location = if flags & ADDRESS != 0 {
            let slot = self.temp(8);
            self.note_class(slot, class)?;
            let at = self.e.slot_addr(slot);
            store_scalar(&mut self.e.b, trusted(), scalar_kind(class), value, at, 0);
            Location::Slot(slot)
        } else if flags & WRITTEN != 0 && !straight {
            let ssa = self.e.b.declare_var(kind.clif());
            self.e.b.def_var(ssa, value);
            Location::Ssa(ssa)
        } else {
            // A fact about a variable of the caller, or about a deferred value, says nothing inside
            // the body.
            if kind == StackType::Ref {
                variable.exact = operand.exact_object()?;
            }
            let fact = match operand.fact {
                ValueFact::Variable(_) | ValueFact::Code(..) => ValueFact::None,
                fact if variable.exact.is_some() => fact,
                ValueFact::Exact => ValueFact::NonNull,
                ValueFact::ExactOrNull => ValueFact::None,
                fact => fact,
            };
            Location::Value(value, fact)
        };
        Ok(variable)
    }

    /// The variable for a local.
    fn inlined_local(
        &mut self,
        class: ClassRef,
        flags: u8,
        straight: bool,
        init: bool,
    ) -> Res<Variable> {
        let kind = stack_type_of(class)?;
        let mut variable = Variable {
            class,
            exact: None,
            kind,
            location: Location::None,
            shadow: None,
            pinned: false,
            address_taken: flags & ADDRESS != 0,
        };
        if flags == 0 {
            return Ok(variable);
        }
        if kind == StackType::Struct || flags & ADDRESS != 0 {
            let size = self.size_of(class)?.next_multiple_of(8);
            let slot = self.temp(size);
            self.note_class(slot, class)?;
            let at = self.e.slot_addr(slot);
            if init || kind != StackType::Struct || !class.layout()?.ref_map.is_empty() {
                self.zero(at, 0, size, trusted());
            }
            variable.location = Location::Slot(slot);
        } else if flags & READ != 0 {
            let zero = match kind {
                StackType::F32 => self.e.b.ins().f32const(0.0),
                StackType::F64 => self.e.b.ins().f64const(0.0),
                k => self.e.b.ins().iconst(k.clif(), 0),
            };
            variable.location = if straight {
                Location::Value(zero, ValueFact::None)
            } else {
                let ssa = self.e.b.declare_var(kind.clif());
                self.e.b.def_var(ssa, zero);
                Location::Ssa(ssa)
            };
        }
        Ok(variable)
    }

    /// `ret` of an inlined body.
    pub(crate) fn inlined_ret(&mut self) -> Res {
        let lowered = self.body.lowered;
        let class = lowered.ret_class;
        let operand = match lowered.ret {
            Pass::None => None,
            _ => {
                let operand = self.pop()?;
                let value = self.coerce_to_class(&operand, class)?;
                let kind = stack_type_of(class)?;
                let fact = match operand.fact {
                    fact @ (ValueFact::NonNull | ValueFact::Null | ValueFact::Frame)
                        if kind != StackType::Struct =>
                    {
                        fact
                    }
                    fact @ (ValueFact::Exact | ValueFact::ExactOrNull) => fact,
                    _ => ValueFact::None,
                };
                let class = if let ValueFact::Exact | ValueFact::ExactOrNull = fact {
                    operand.class
                } else {
                    Some(class)
                };
                Some(StackValue {
                    stack_type: kind,
                    value,
                    class,
                    fact,
                })
            }
        };
        let state = self
            .body
            .inline
            .as_mut()
            .ok_or_else(|| TranslateError::internal("not inlined"))?;
        state.returned = true;
        match state.join {
            None => state.result = operand,
            Some(join) => self.jump_to_join(join, class, operand)?,
        }
        self.body.dead = true;
        Ok(())
    }
}
