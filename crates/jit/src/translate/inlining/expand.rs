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
//!    block whose parameter is the result; a struct is copied to a buffer before.
//!
//! # Invariants
//! * Arguments are evaluated, and `this` of a virtual call is checked for null, before anything of
//!   the body.
//! * The handlers of calls in the body are those around the inlined call, as they would be for the
//!   callee's frame.
//! * Every instruction of the body has a source position in the callee, so stack traces show the
//!   callee's frame.
//! * An inlined body has no class constructor to wait for, no monitor, no clauses and no localloc;
//!   [`Translator::inline_decision`] excludes them.
use crate::emit::positions::Position;
use crate::emit::trusted;
use crate::signature::{LoweredSignature, Pass, scalar_kind, store_scalar};
use crate::translate::control::control_flow::{ADDRESS, Plan, READ, WRITTEN};
use crate::translate::error::Res;
use crate::translate::frame::variables::{Location, Variable};
use crate::translate::inlining::decision::DEPTH;
use crate::translate::translator::{Prefixes, Translator};
use crate::translate::values::memory::{Dest, Temps};
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use smallvec::SmallVec;
use vervet_types::{ClassRef, MethodRef};

/// How many calls are inlined in one method. Beyond that the code grows without getting faster.
const SITES: usize = 150;

/// What the translator of an inlined body needs at `ret` and for outlined blocks.
pub struct Inlined {
    /// The block where several `ret`s meet; None for a body of one block.
    join: Option<Block>,
    /// Where a struct result is put, if there is a `join`.
    buffer: Option<Value>,
    /// The result of a body of one block.
    result: Option<StackValue>,
    /// Whether a `ret` was reached.
    returned: bool,
    /// The outlined blocks; true if the call in place of the block never returns.
    outlined: SmallVec<[(usize, bool); 2]>,
    /// The block of that call, which all outlined blocks share; true if it never returns for any of
    /// them.
    call: Option<(Block, bool)>,
    /// The arguments as the caller pushed them, if there are outlined blocks.
    arguments: SmallVec<[StackValue; 8]>,
    /// The source position of the call.
    outer: Position,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Emits the callee's body instead of a call, if the callee is to be inlined. The arguments are
    /// on the stack. False: the call must be made.
    pub(crate) fn try_inline(
        &mut self,
        m: MethodRef,
        lowered: &LoweredSignature,
        is_virtual: bool,
    ) -> Res<bool> {
        if self.inline_limit == 0 || self.inline_stack.len() > DEPTH || self.e.inlined() > SITES {
            return Ok(false);
        }
        let Some(decision) = self.inline_decision(m, 0)? else {
            return Ok(false);
        };
        let body = m.body()?;
        let scope = m.scope();
        let locals = if body.local_sig.is_nil() {
            Vec::new()
        } else {
            scope.locals(body.local_sig)?
        };
        let count = lowered.params.len() + lowered.has_this as usize;
        let mut plan = Plan::new(&body, 0, count, locals.len())?;
        let mut outlined = SmallVec::new();
        for (offset, final_) in &decision.outlined {
            outlined.push((plan.block(*offset)?, *final_));
        }
        if !outlined.is_empty() {
            plan.forget(|block| outlined.iter().any(|(n, _)| *n == block));
        }
        let straight = plan.blocks.len() == 1;
        self.spill_aliased(0)?;
        if self.stack.len() < count {
            return Err(crate::translate::error::TranslateError::invalid(
                "too few values on the stack",
            ));
        }
        let mut items: SmallVec<[StackValue; 8]> =
            self.stack.drain(self.stack.len() - count..).collect();
        for (item, flags) in items.iter_mut().zip(&plan.args) {
            if *flags != 0 {
                *item = self.comparer(*item)?;
            }
        }
        if is_virtual && lowered.has_this && items[0].kind == StackType::Ref {
            self.null_check(&items[0]);
            if let ValueFact::None = items[0].fact {
                items[0].fact = ValueFact::NonNull;
            }
        }
        let outer = self.e.enter_inlined(m);
        if Self::triggers(m)? {
            self.class_init(m.class)?;
        }
        let mut variables = Vec::with_capacity(count + locals.len());
        for (n, item) in items.iter().enumerate() {
            let class = if n == 0 && lowered.has_this {
                if m.class.is_value_type()? {
                    self.universe.byref(m.class)
                } else {
                    m.class
                }
            } else {
                lowered.param_classes[n - lowered.has_this as usize]
            };
            variables.push(self.inlined_argument(class, item, plan.args[n], straight)?);
        }
        for (n, local) in locals.iter().enumerate() {
            variables.push(self.inlined_local(
                local.ty,
                plan.locals[n],
                straight,
                body.init_locals,
            )?);
        }
        let kind = match lowered.ret {
            Pass::None => None,
            _ => Some(stack_type_of(lowered.ret_class)?),
        };
        let mut inlined = Inlined {
            join: None,
            buffer: None,
            result: None,
            returned: false,
            arguments: if outlined.is_empty() {
                SmallVec::new()
            } else {
                items.clone()
            },
            outlined,
            call: None,
            outer,
        };
        if !straight {
            let join = self.e.b.create_block();
            match kind {
                Some(StackType::Struct) => inlined.buffer = Some(self.temp_of(lowered.ret_class)?),
                Some(kind) => {
                    self.e.b.append_block_param(join, kind.clif());
                }
                None => {}
            }
            inlined.join = Some(join);
        }
        let mut inline_stack = std::mem::take(&mut self.inline_stack);
        inline_stack.push(m);
        let (nonnull, initialised) = (self.nonnull.clone(), self.initialised.clone());
        let mut t = Translator {
            e: &mut *self.e,
            env: self.env,
            method: m,
            scope,
            universe: self.universe,
            plan: &plan,
            lowered,
            stack: Vec::with_capacity(8),
            prefixes: Prefixes::default(),
            dead: false,
            index: 0,
            block: 0,
            variables,
            skip: 0,
            init_locals: body.init_locals,
            states: Vec::new(),
            back_edges: Vec::new(),
            temps: self.temps.lend(),
            nonnull: std::mem::take(&mut self.nonnull),
            has_filters: self.has_filters,
            this_proven: false,
            initialised: std::mem::take(&mut self.initialised),
            lengths: SmallVec::new(),
            clauses: Vec::new(),
            sync: None,
            liveness: None,
            params: SmallVec::new(),
            localloc_mark: None,
            localloc_top: None,
            filter: None,
            var_args: None,
            own_var_args: None,
            inline: Some(inlined),
            inline_limit: self.inline_limit,
            inline_decision: std::mem::take(&mut self.inline_decision),
            inline_stack,
        };
        let outcome = if straight {
            t.straight()
        } else {
            t.prepare_blocks();
            t.run().and_then(|()| t.call_outlined())
        };
        let Translator {
            temps,
            nonnull: inner_nonnull,
            initialised: inner_initialised,
            inline,
            inline_decision,
            mut inline_stack,
            ..
        } = t;
        inline_stack.pop();
        self.inline_stack = inline_stack;
        self.inline_decision = inline_decision;
        self.temps.give_back(temps);
        // Facts that were found in a body of one block hold behind it. Of several blocks only the
        // facts from before it do.
        (self.nonnull, self.initialised) = if straight {
            (inner_nonnull, inner_initialised)
        } else {
            (nonnull, initialised)
        };
        outcome?;
        let inlined = inline.ok_or_else(|| {
            crate::translate::error::TranslateError::internal("the state of an inlined body")
        })?;
        if let Some(join) = inlined.join {
            self.e.b.seal_block(join);
            self.e.b.switch_to_block(join);
        }
        self.e.leave_inlined(outer);
        if !inlined.returned {
            if inlined.join.is_some() {
                // Nothing leads here.
                self.e.throw(vervet_abi::ThrowKind::ExecutionEngine);
            }
            self.dead = true;
            return Ok(true);
        }
        let Some(kind) = kind else { return Ok(true) };
        let class = Some(lowered.ret_class);
        match (inlined.join, kind) {
            (Some(_), StackType::Struct) => {
                let value = inlined.buffer.ok_or_else(|| {
                    crate::translate::error::TranslateError::internal("a result without a buffer")
                })?;
                self.push_value(StackValue {
                    kind,
                    value,
                    class,
                    fact: ValueFact::None,
                });
            }
            (Some(join), _) => {
                let value = self.e.b.block_params(join)[0];
                self.push_value(StackValue {
                    kind,
                    value,
                    class,
                    fact: ValueFact::None,
                });
            }
            (None, _) => {
                let mut item = inlined.result.ok_or_else(|| {
                    crate::translate::error::TranslateError::internal("no result")
                })?;
                if kind == StackType::Struct {
                    // It may be an argument as it was given.
                    let same = items.iter().find(|i| i.value == item.value);
                    item.fact = same.map_or(ValueFact::None, |i| i.fact);
                }
                self.push_value(item);
            }
        }
        Ok(true)
    }

    /// If the block is outlined: jumps to the call that replaces it, and returns true.
    pub(crate) fn outline(&mut self, block: usize) -> bool {
        let Some(inline) = &mut self.inline else {
            return false;
        };
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
        self.dead = true;
        true
    }

    /// Emits the call that replaces the outlined blocks, with the arguments as the caller pushed
    /// them. Its result, if it returns, is that of the inlined body.
    fn call_outlined(&mut self) -> Res {
        let Some(inline) = &self.inline else {
            return Ok(());
        };
        let Some((call, never_returns)) = inline.call else {
            return Ok(());
        };
        let (arguments, outer) = (inline.arguments.clone(), inline.outer);
        self.e.b.set_cold_block(call);
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(call);
        self.stack.clear();
        self.dead = false;
        let inner = self.e.swap_position(outer);
        for mut item in arguments {
            // The number of the variable is that of the caller's, so here it would name the wrong
            // one.
            if let (ValueFact::Variable(_), Some(class)) = (item.fact, item.class) {
                let copy = self.temp_of(class)?;
                let whole = Dest::Frame;
                self.copy(class, copy, 0, trusted(), item.value, 0, trusted(), whole)?;
                item.value = copy;
                item.fact = ValueFact::None;
            }
            self.push_value(item);
        }
        let lowered = self.lowered;
        self.call_itself(lowered, never_returns)?;
        self.e.swap_position(inner);
        if !self.dead {
            self.ret()?;
        }
        Ok(())
    }

    /// Translates a body of one block.
    fn straight(&mut self) -> Res {
        for index in 0..self.plan.instrs.len() {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.index = index;
            let i = &self.plan.instrs[index];
            if self.stack.is_empty() {
                self.e.at(i.offset);
            }
            self.instruction(i)?;
            if self.dead {
                return Ok(());
            }
        }
        Err(crate::translate::error::TranslateError::invalid(
            "control goes past the end of the code",
        ))
    }

    /// The variable for an argument.
    fn inlined_argument(
        &mut self,
        class: ClassRef,
        item: &StackValue,
        flags: u8,
        straight: bool,
    ) -> Res<Variable> {
        let kind = stack_type_of(class)?;
        let mut variable = Variable {
            class,
            kind,
            location: Location::None,
            shadow: None,
            pinned: false,
            address_taken: flags & ADDRESS != 0,
        };
        let value = self.coerce_to_class(item, class)?;
        if flags == 0 {
            return Ok(variable);
        }
        if kind == StackType::Struct {
            variable.location = if flags & (ADDRESS | WRITTEN) != 0 {
                let slot = self.temp(class.layout()?.size);
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
            let at = self.e.slot_addr(slot);
            store_scalar(&mut self.e.b, trusted(), scalar_kind(class), value, at, 0);
            Location::Slot(slot)
        } else if flags & WRITTEN != 0 && !straight {
            let ssa = self.e.b.declare_var(kind.clif());
            self.e.b.def_var(ssa, value);
            Location::Ssa(ssa)
        } else {
            let fact = match item.fact {
                ValueFact::Variable(_) | ValueFact::Code(..) | ValueFact::Exact => {
                    if let ValueFact::Exact = item.fact {
                        ValueFact::NonNull
                    } else {
                        ValueFact::None
                    }
                }
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
        let lowered = self.lowered;
        let class = lowered.ret_class;
        let item = match lowered.ret {
            Pass::None => None,
            _ => {
                let item = self.pop()?;
                let value = self.coerce_to_class(&item, class)?;
                let kind = stack_type_of(class)?;
                let fact = match item.fact {
                    fact @ (ValueFact::NonNull | ValueFact::Null | ValueFact::Frame)
                        if kind != StackType::Struct =>
                    {
                        fact
                    }
                    ValueFact::Exact => ValueFact::Exact,
                    _ => ValueFact::None,
                };
                let class = if let ValueFact::Exact = fact {
                    item.class
                } else {
                    Some(class)
                };
                Some(StackValue {
                    kind,
                    value,
                    class,
                    fact,
                })
            }
        };
        let state = self
            .inline
            .as_mut()
            .ok_or_else(|| crate::translate::error::TranslateError::internal("not inlined"))?;
        state.returned = true;
        let (join, buffer) = (state.join, state.buffer);
        match (join, item) {
            (None, item) => state.result = item,
            (Some(join), None) => {
                self.e.b.ins().jump(join, &[]);
            }
            (Some(join), Some(item)) if item.kind == StackType::Struct => {
                let at = buffer.ok_or_else(|| {
                    crate::translate::error::TranslateError::internal("a result without a buffer")
                })?;
                self.copy(
                    class,
                    at,
                    0,
                    trusted(),
                    item.value,
                    0,
                    trusted(),
                    Dest::Frame,
                )?;
                self.e.b.ins().jump(join, &[]);
            }
            (Some(join), Some(item)) => {
                self.e.b.ins().jump(join, &[BlockArg::Value(item.value)]);
            }
        }
        self.dead = true;
        Ok(())
    }
}

impl Temps {
    /// The free ones, for an inlined body.
    fn lend(&mut self) -> Temps {
        let (used, free) = std::mem::take(&mut self.slots)
            .into_iter()
            .partition(|s| s.2);
        self.slots = used;
        Temps { slots: free }
    }
    /// Takes back what an inlined body had; its result may be in one, so they are in use for now.
    fn give_back(&mut self, mut temps: Temps) {
        temps.retain();
        self.slots.append(&mut temps.slots);
    }
}
