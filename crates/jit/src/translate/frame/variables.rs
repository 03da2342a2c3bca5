//! Arguments and locals: where each one lives, and how it is read, written and addressed.
//!
//! # How it works
//! [`Translator::make_variables`] decides once, from the flags in the plan:
//!
//! ```text
//! scalar, address not taken               Location::Ssa       an SSA variable
//!    ... and live into a handler              + shadow        a slot that every write also goes to
//! scalar, address taken or pinned         Location::Slot
//! struct                                  Location::Slot
//! struct argument passed by address,
//!    only read                            Location::Caller    the caller's copy
//! never mentioned                         Location::None
//! in an inlined body of one block         Location::Value     the argument's value itself
//! in a filter                             Location::Parent    a slot of the method's frame
//! ```
//!
//! A scalar with a shadow, in a method with a catch clause:
//!
//! ```text
//! int n = 0;                stack_store 0, shadow
//! try { n = F(); }          n' = try_call F();  stack_store n', shadow
//! catch { return n; }       pad: n'' = stack_load shadow;  return n''
//! ```
//!
//! # Invariants
//! * When the unwinder enters a handler, no register holds a variable. A scalar that is live into a handler or filter therefore has a *shadow* slot;
//!   the landing pad reads it ([`Translator::reload`]).
//! * What a filter writes lives in a slot, whatever it is. The filter runs while a call is active, and the call may still return normally: a finally
//!   further in may replace the exception by one that is caught inside the call.
//! * A `pinned` local lives in a slot, and a `sequence_point` follows each store to it, so that the slot holds the reference whenever the thread can
//!   be stopped. The conservative scan then pins the object (ECMA-335 II.7.1.2).
//! * `this` may be null like any argument: `call` does not check it, and neither do open delegates. It counts as non-null only after code of this
//!   method that would have thrown, on every path ([`Translator::prove_this`]).
//! * Locals are zero when they are first used. ECMA-335 demands it only with the `init` flag; references must be valid for the collector in any case.
use crate::emit::sequences::zero;
use crate::emit::{FrameMap, trusted};
use crate::signature::{Pass, scalar_kind, store_passed, store_scalar};
use crate::translate::control::control_flow::{ADDRESS, FILTERED, READ, REWRITTEN, WRITTEN};
use crate::translate::error::{Res, TranslateError};
use crate::translate::frame::location::{Location, Variable};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, types::*};
use vervet_metadata::body::EhKind;
use vervet_types::ClassRef;
use vervet_types::resolve::Local;

/// A struct of so many bytes is zeroed where it is used (module `control/home`).
const LATE: u32 = 32;

impl<'a, 'f> Translator<'a, 'f> {
    /// Whether a handler or filter may read the variable before writing it.
    fn live_into_handlers(&self, variable: usize) -> bool {
        let Some(live) = &self.body.liveness else {
            return false;
        };
        self.body.plan.clauses.iter().any(|c| {
            let entry = |offset: u32| {
                let block = self.body.plan.block_at[offset as usize] as usize;
                live.is_live_when_thrown(block, variable)
            };
            entry(c.handler_offset) || matches!(c.kind, EhKind::Filter(at) if entry(at))
        })
    }

    /// Decides where the variables live, stores the arguments there, and zeroes the locals.
    pub(crate) fn make_variables(&mut self, args: &[ClassRef], locals: &[Local]) -> Res {
        for (n, class) in args.iter().enumerate() {
            let variable = self.argument(n, class)?;
            self.body.variables.push(variable);
        }
        for (n, local) in locals.iter().enumerate() {
            let variable = self.local(n, local)?;
            self.body.variables.push(variable);
        }
        Ok(())
    }

    /// The variable of argument `n`, with its value stored.
    fn argument(&mut self, n: usize, class: ClassRef) -> Res<Variable> {
        let kind = stack_type_of(class)?;
        let flags = self.body.plan.args[n];
        let mut variable = Variable {
            class,
            exact: None,
            kind,
            location: Location::None,
            shadow: None,
            pinned: false,
            address_taken: flags & (ADDRESS | FILTERED) != 0,
        };
        let is_this = self.body.lowered.has_this && n == 0;
        let values: smallvec::SmallVec<[Value; 4]> = if is_this {
            smallvec::smallvec![self.body.params[0]]
        } else {
            self.body
                .lowered
                .values_of(&self.body.params, n - self.body.lowered.has_this as usize)
                .into()
        };
        let pass = if is_this {
            &Pass::Scalar(I64)
        } else {
            &self.body.lowered.params[n - self.body.lowered.has_this as usize]
        };
        match pass {
            // `this` of a synchronized method is the object whose monitor is entered, even if
            // the IL does not mention it.
            _ if flags == 0 && !(is_this && self.body.method.is_synchronized()) => {}
            Pass::None => {}
            Pass::Scalar(_) if variable.address_taken => {
                let slot = self.e.slot(8);
                self.note_class(slot, class)?;
                let at = self.e.slot_addr(slot);
                store_scalar(
                    &mut self.e.b,
                    trusted(),
                    scalar_kind(class),
                    values[0],
                    at,
                    0,
                );
                if class.is_byref() {
                    self.e.expose(values[0]);
                }
                variable.location = Location::Slot(slot);
            }
            Pass::Scalar(ty) => {
                let ssa = self.e.b.declare_var(*ty);
                self.e.b.def_var(ssa, values[0]);
                variable.location = Location::Ssa(ssa);
                if self.live_into_handlers(n) {
                    let slot = self.e.slot(8);
                    self.e.b.ins().stack_store(I64, values[0], slot, 0);
                    variable.shadow = Some(slot);
                }
            }
            Pass::Scalars(_) => {
                let slot = self.e.slot(class.layout()?.size);
                self.note_class(slot, class)?;
                let at = self.e.slot_addr(slot);
                store_passed(&mut self.e.b, trusted(), &values, at, 0, pass, class);
                variable.location = Location::Slot(slot);
            }
            // A filter of the method reads variables through the frame pointer, so a struct
            // that it may read is copied to the frame too.
            Pass::Address if flags & (ADDRESS | WRITTEN) != 0 || self.session.has_filters => {
                let slot = self.e.slot(class.layout()?.size);
                self.note_class(slot, class)?;
                let at = self.e.slot_addr(slot);
                self.copy(
                    class,
                    at,
                    0,
                    trusted(),
                    values[0],
                    0,
                    trusted(),
                    Dest::Frame,
                )?;
                variable.location = Location::Slot(slot);
            }
            Pass::Address => variable.location = Location::Caller(values[0]),
        }
        Ok(variable)
    }

    /// The variable of local `n`, zeroed.
    fn local(&mut self, n: usize, local: &Local) -> Res<Variable> {
        let class = local.ty;
        let kind = stack_type_of(class)?;
        let flags = self.body.plan.locals[n];
        let mut variable = Variable {
            class,
            exact: None,
            kind,
            location: Location::None,
            shadow: None,
            pinned: local.pinned,
            address_taken: flags & (ADDRESS | FILTERED) != 0,
        };
        if flags == 0 {
            return Ok(variable);
        }
        if kind == StackType::Struct {
            let layout = class.layout()?;
            let slot = self.e.slot(layout.size);
            self.note_slot(slot, local)?;
            if layout.size > 1 << 20 {
                return Err(TranslateError::invalid("a local is too large"));
            }
            // Without the `init` flag only structs with references are zeroed: code that reads a local
            // before it writes it must find a valid reference.
            if self.body.init_locals || !layout.ref_map.is_empty() {
                let size = layout.size.next_multiple_of(8);
                match self.zeroed_late(n, size)? {
                    Some(home) => self.body.late.push((home, slot, size)),
                    None => self.zero_slot(slot, size),
                }
            }
            variable.location = Location::Slot(slot);
        } else if local.pinned || variable.address_taken {
            let slot = self.e.slot(8);
            self.note_slot(slot, local)?;
            let zero = self.i64(0);
            self.e.b.ins().stack_store(I64, zero, slot, 0);
            variable.location = Location::Slot(slot);
        } else if flags & READ != 0 {
            // Cranelift gives an SSA variable without a definition the value zero.
            variable.location = Location::Ssa(self.e.b.declare_var(kind.clif()));
            if self.live_into_handlers(self.body.plan.args.len() + n) {
                let slot = self.e.slot(8);
                let zero = self.i64(0);
                self.e.b.ins().stack_store(I64, zero, slot, 0);
                variable.shadow = Some(slot);
            }
        }
        Ok(variable)
    }

    /// The block in which a local of that size is zeroed, if not in the prologue.
    fn zeroed_late(&self, n: usize, size: u32) -> Res<Option<usize>> {
        // In code that is entered at a loop the local begins with what is carried.
        let begins_zero = self
            .session
            .replacement
            .as_ref()
            .is_none_or(|r| r.head.is_none());
        let plain = self.body.filter.is_none() && !self.may_be_bypassed() && begins_zero;
        match plain && self.e.optimises && size >= LATE {
            true => self.body.plan.home(n),
            false => Ok(None),
        }
    }

    fn zero_slot(&mut self, slot: StackSlot, size: u32) {
        let at = self.e.slot_addr(slot);
        self.zero(at, 0, size, trusted());
    }

    /// Zeroes the locals whose home is the block whose instructions follow: those of the block itself, or a copy of them.
    pub(crate) fn zero_late(&mut self, block: usize) {
        for (home, slot, size) in self.body.late.clone() {
            if home == block {
                self.zero_slot(slot, size);
            }
        }
    }

    /// Notes what the slot of a local holds, and that a `pinned` one stays in memory.
    fn note_slot(&mut self, slot: StackSlot, local: &Local) -> Res {
        if local.pinned {
            self.e.notes.keep(slot);
        }
        self.note_class(slot, local.ty)
    }

    /// The variables of a filter: the slots of the method's frame, and variables of its own for
    /// those that do not outlive it.
    pub(crate) fn make_filter_variables(&mut self, parent: &[Variable], frame: &FrameMap) -> Res {
        for variable in parent {
            let mut variable = *variable;
            let slot = match variable.location {
                Location::Slot(slot) => Some(slot),
                _ => variable.shadow,
            };
            variable.shadow = None;
            variable.location = match slot {
                Some(slot) => Location::Parent(frame.slots[slot.as_u32() as usize]),
                None if variable.kind == StackType::Struct => {
                    let slot = self.e.slot(variable.class.layout()?.size);
                    Location::Slot(slot)
                }
                None => Location::Ssa(self.e.b.declare_var(variable.kind.clif())),
            };
            self.body.variables.push(variable);
        }
        Ok(())
    }

    /// The index in `variables`: arguments come first, then locals.
    fn variable_index(&self, is_arg: bool, index: usize) -> usize {
        if is_arg {
            index
        } else {
            self.body.plan.args.len() + index
        }
    }

    /// The address of a variable that lives in memory.
    fn location_address(&mut self, location: Location) -> Res<Value> {
        match location {
            Location::Slot(slot) => Ok(self.e.slot_addr(slot)),
            Location::Caller(at) => Ok(at),
            Location::Parent(offset) => {
                let fp = self.body.params[0];
                Ok(self.e.b.ins().iadd_imm_s(fp, i64::from(offset)))
            }
            Location::None | Location::Ssa(_) | Location::Value(..) => {
                Err(TranslateError::internal("a variable without an address"))
            }
        }
    }

    /// Records that the value is not null where control goes on from here. In C#, `this.a + this.b`
    /// then needs one check:
    ///
    /// ```text
    ///     v1 = load.i32 user3 v0+8                ; faults on null: the first access in the first block
    ///     v2 = load.i32 v0+12                     ; `this` is known not to be null
    /// ```
    ///
    /// All code behind the first block may rely on it, because every path leads over that block. In
    /// a protected region it may not: an exception before the check leads to a handler.
    pub(crate) fn prove_this(&mut self, value: Value) {
        if self.body.block == 0
            && self.body.lowered.has_this
            && self.body.inline.is_none()
            && self.body.filter.is_none()
            && self.body.plan.args[0] & WRITTEN == 0
            && self.body.plan.blocks[0].region == 0
            && self.body.params[0] == value
        {
            self.body.this_proven = true;
        }
    }

    /// `ldarg` and `ldloc` (ECMA-335 III.3.38, III.3.43). A struct stays in its slot until
    /// something may write there.
    pub(crate) fn load_variable(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.variable_index(is_arg, index);
        let variable = self.body.variables[n];
        if variable.kind == StackType::Struct {
            let value = self.location_address(variable.location)?;
            self.push_value(StackValue {
                stack_type: StackType::Struct,
                value,
                class: Some(variable.class),
                fact: ValueFact::Variable(n as u32),
            });
            return Ok(());
        }
        let mut fact = ValueFact::None;
        let value = match variable.location {
            Location::Ssa(v) => {
                if variable.exact.is_some() {
                    fact = ValueFact::ExactOrNull;
                } else if n == 0 && self.body.this_proven {
                    fact = ValueFact::NonNull;
                }
                match self.constant_this(n, variable.shadow.is_some()) {
                    Some(this) => this,
                    None => self.e.b.use_var(v),
                }
            }
            Location::Value(v, n) => {
                fact = n;
                self.copy_exposed(&StackValue {
                    stack_type: variable.kind,
                    value: v,
                    class: None,
                    fact,
                });
                v
            }
            location => {
                let at = self.location_address(location)?;
                crate::signature::load_scalar(
                    &mut self.e.b,
                    trusted(),
                    scalar_kind(variable.class),
                    at,
                    0,
                )
            }
        };
        let mut class = match fact {
            ValueFact::Exact | ValueFact::ExactOrNull => variable.exact,
            _ => None,
        };
        if let Some(instance) = self.session.instances.get(&value) {
            (fact, class) = (ValueFact::Exact, Some(*instance));
        }
        self.push_value(StackValue {
            stack_type: variable.kind,
            value,
            class: Some(class.unwrap_or(variable.class)),
            fact,
        });
        Ok(())
    }

    /// The one value of variable `n`, if that is a `this` which no code writes: what is known of the value then holds in every block. Handlers find theirs in the
    /// frame, if they have one there (`has_shadow`).
    fn constant_this(&self, n: usize, has_shadow: bool) -> Option<Value> {
        let is_this = n == 0 && self.body.lowered.has_this;
        let is_written = || self.body.plan.args[0] & WRITTEN != 0;
        (is_this && !has_shadow && !is_written()).then(|| self.body.params[0])
    }

    /// Pushes the current value of an argument, even if the IL never mentions it.
    pub(crate) fn load_argument(&mut self, index: usize) -> Res {
        if self.body.plan.args[index] != 0 {
            return self.load_variable(true, index);
        }
        let class = self.body.variables[index].class;
        if self.body.lowered.has_this && index == 0 {
            self.push_class(class, self.body.params[0])?;
            return Ok(());
        }
        let n = index - self.body.lowered.has_this as usize;
        let lowered = self.body.lowered;
        let values: smallvec::SmallVec<[Value; 4]> = lowered.values_of(&self.body.params, n).into();
        let value = match &lowered.params[n] {
            pass @ Pass::Scalars(_) => {
                let at = self.temp_of(class)?;
                store_passed(&mut self.e.b, trusted(), &values, at, 0, pass, class);
                at
            }
            _ => values[0],
        };
        self.push_class(class, value)
    }

    /// `starg` and `stloc` (ECMA-335 III.3.61, III.3.63). Values of the variable that are on the IL
    /// stack are copied first: IL pushed the old value.
    pub(crate) fn store_variable(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.variable_index(is_arg, index);
        let operand = self.pop()?;
        let variable = self.body.variables[n];
        if variable.kind == StackType::Struct {
            for i in 0..self.body.stack.len() {
                if matches!(self.body.stack[i].fact, ValueFact::Variable(v) if v as usize == n) {
                    self.materialize(i)?;
                }
            }
            self.check_struct(&operand, variable.class)?;
            if let Location::None = variable.location {
                return Ok(());
            }
            let at = self.location_address(variable.location)?;
            return self.copy(
                variable.class,
                at,
                0,
                trusted(),
                operand.value,
                0,
                trusted(),
                Dest::Frame,
            );
        }
        if variable.address_taken {
            // What lies in memory can be read as something else.
            self.expose(&operand);
        }
        // A store narrows small integers, so loads need no conversion.
        let value = self.coerce_to_class(&operand, variable.class)?;
        let exact = match variable.kind {
            StackType::Ref => operand.exact_object()?,
            _ => None,
        };
        match variable.location {
            Location::None => {}
            Location::Ssa(v) => {
                self.e.b.def_var(v, value);
                if !is_arg && self.body.plan.locals[index] & REWRITTEN == 0 {
                    self.body.variables[n].exact = exact;
                }
            }
            Location::Value(..) => {
                let fact = match operand.fact {
                    fact @ (ValueFact::NonNull | ValueFact::Null | ValueFact::Frame) => fact,
                    fact @ (ValueFact::Exact | ValueFact::ExactOrNull) if exact.is_some() => fact,
                    _ => ValueFact::None,
                };
                self.body.variables[n].exact = exact;
                self.body.variables[n].location = Location::Value(value, fact);
            }
            location => {
                let at = self.location_address(location)?;
                store_scalar(
                    &mut self.e.b,
                    trusted(),
                    scalar_kind(variable.class),
                    value,
                    at,
                    0,
                );
            }
        }
        // Written through at once: any later call may throw and enter the handler.
        if let Some(slot) = variable.shadow {
            self.e.b.ins().stack_store(I64, value, slot, 0);
        }
        if variable.pinned {
            self.e.b.ins().sequence_point();
        }
        Ok(())
    }

    /// `ldarga` and `ldloca` (ECMA-335 III.3.39, III.3.44).
    pub(crate) fn variable_address(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.variable_index(is_arg, index);
        let value = self.location_address(self.body.variables[n].location)?;
        self.push_value(StackValue {
            stack_type: StackType::ByRef,
            value,
            class: None,
            fact: ValueFact::Frame,
        });
        Ok(())
    }

    /// In the landing pad of a handler that begins at `block`: reads the live variables from their
    /// shadow slots into SSA variables. What is read only behind a finally handler that a `leave` has
    /// entered is zero: else its last value would have to outlive each call.
    pub(crate) fn reload(&mut self, block: usize) {
        let Some(live) = self.body.liveness.take() else {
            return;
        };
        for n in 0..self.body.variables.len() {
            let Variable {
                location: Location::Ssa(v),
                shadow,
                kind,
                ..
            } = self.body.variables[n]
            else {
                continue;
            };
            let value = match (live.is_live_when_thrown(block, n), shadow) {
                (true, Some(slot)) => self.e.b.ins().stack_load(I64, kind.clif(), slot, 0),
                (false, _) if live.is_live(block, n) => zero(&mut self.e.b, kind.clif()),
                _ => continue,
            };
            self.e.b.def_var(v, value);
        }
        self.body.liveness = Some(live);
    }
}
