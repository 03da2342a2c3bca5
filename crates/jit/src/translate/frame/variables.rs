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
//! # Invariants
//! * When the unwinder enters a handler, no register holds a variable. A scalar that is live into a
//!   handler or filter therefore has a *shadow* slot; the landing pad reads it
//!   ([`Translator::reload`]).
//! * What a filter writes lives in a slot, whatever it is. The filter runs while a call is active,
//!   and the call may still return normally: a finally further in may replace the exception by one
//!   that is caught inside the call.
//! * A `pinned` local lives in a slot, and a `sequence_point` follows each store to it, so that the
//!   slot holds the reference whenever the thread can be stopped. The conservative scan then pins
//!   the object (ECMA-335 II.7.1.2).
//! * `this` may be null like any argument: `call` does not check it, and neither do open delegates.
//!   It counts as non-null only after code of this method that would have thrown, on every path
//!   ([`Translator::prove_this`]).
//! * Locals are zero at the start. ECMA-335 demands it only with the `init` flag; references must
//!   be valid for the collector in any case.
use crate::emit::{FrameMap, trusted};
use crate::signature::{Pass, scalar_kind, store_passed, store_scalar};
use crate::translate::control::control_flow::{ADDRESS, FILTERED, READ, WRITTEN};
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, types::*};
use cranelift_frontend::Variable as SsaVariable;
use vervet_metadata::body::EhKind;
use vervet_types::ClassRef;
use vervet_types::resolve::Local;

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

impl<'a, 'f> Translator<'a, 'f> {
    /// Whether a handler or filter may read the variable before writing it.
    fn live_into_handlers(&self, variable: usize) -> bool {
        let Some(live) = &self.liveness else {
            return false;
        };
        self.plan.clauses.iter().any(|c| {
            let entry =
                |offset: u32| live.is_live(self.plan.block_at[offset as usize] as usize, variable);
            entry(c.handler_offset) || matches!(c.kind, EhKind::Filter(at) if entry(at))
        })
    }

    /// Decides where the variables live, stores the arguments there, and zeroes the locals.
    pub(crate) fn make_variables(&mut self, args: &[ClassRef], locals: &[Local]) -> Res {
        let has_filters = self.has_filters;
        for (n, class) in args.iter().enumerate() {
            let kind = stack_type_of(class)?;
            let flags = self.plan.args[n];
            let mut variable = Variable {
                class,
                kind,
                location: Location::None,
                shadow: None,
                pinned: false,
                address_taken: flags & (ADDRESS | FILTERED) != 0,
            };
            let is_this = self.lowered.has_this && n == 0;
            let values: smallvec::SmallVec<[Value; 4]> = if is_this {
                smallvec::smallvec![self.params[0]]
            } else {
                self.lowered
                    .values_of(&self.params, n - self.lowered.has_this as usize)
                    .into()
            };
            let pass = if is_this {
                &Pass::Scalar(I64)
            } else {
                &self.lowered.params[n - self.lowered.has_this as usize]
            };
            match pass {
                // `this` of a synchronized method is the object whose monitor is entered, even if
                // the IL does not mention it.
                _ if flags == 0 && !(is_this && self.method.is_synchronized()) => {}
                Pass::None => {}
                Pass::Scalar(_) if variable.address_taken => {
                    let slot = self.e.slot(8);
                    let at = self.e.slot_addr(slot);
                    store_scalar(
                        &mut self.e.b,
                        trusted(),
                        scalar_kind(class),
                        values[0],
                        at,
                        0,
                    );
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
                    let at = self.e.slot_addr(slot);
                    store_passed(&mut self.e.b, trusted(), &values, at, 0, pass, class);
                    variable.location = Location::Slot(slot);
                }
                // A filter of the method reads variables through the frame pointer, so a struct
                // that it may read is copied to the frame too.
                Pass::Address if flags & (ADDRESS | WRITTEN) != 0 || has_filters => {
                    let slot = self.e.slot(class.layout()?.size);
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
            self.variables.push(variable);
        }
        for (n, local) in locals.iter().enumerate() {
            let class = local.ty;
            let kind = stack_type_of(class)?;
            let flags = self.plan.locals[n];
            let mut variable = Variable {
                class,
                kind,
                location: Location::None,
                shadow: None,
                pinned: local.pinned,
                address_taken: flags & (ADDRESS | FILTERED) != 0,
            };
            if flags == 0 {
                self.variables.push(variable);
                continue;
            }
            if kind == StackType::Struct {
                let layout = class.layout()?;
                let slot = self.e.slot(layout.size);
                if layout.size > 1 << 20 {
                    return Err(TranslateError::invalid("a local is too large"));
                }
                // Without the `init` flag only structs with references are zeroed: the conservative
                // scan tolerates old words, but a store barrier or a finalizer must not see them as
                // references.
                if self.init_locals || !layout.ref_map.is_empty() {
                    let at = self.e.slot_addr(slot);
                    self.zero(at, 0, layout.size.next_multiple_of(8), trusted());
                }
                variable.location = Location::Slot(slot);
            } else if local.pinned || variable.address_taken {
                let slot = self.e.slot(8);
                let zero = self.i64(0);
                self.e.b.ins().stack_store(I64, zero, slot, 0);
                variable.location = Location::Slot(slot);
            } else if flags & READ != 0 {
                // Cranelift gives an SSA variable without a definition the value zero.
                variable.location = Location::Ssa(self.e.b.declare_var(kind.clif()));
                if self.live_into_handlers(args.len() + n) {
                    let slot = self.e.slot(8);
                    let zero = self.i64(0);
                    self.e.b.ins().stack_store(I64, zero, slot, 0);
                    variable.shadow = Some(slot);
                }
            }
            self.variables.push(variable);
        }
        Ok(())
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
            self.variables.push(variable);
        }
        Ok(())
    }

    /// The index in `variables`: arguments come first, then locals.
    fn variable_index(&self, is_arg: bool, index: usize) -> usize {
        if is_arg {
            index
        } else {
            self.plan.args.len() + index
        }
    }

    /// The address of a variable that lives in memory.
    fn location_address(&mut self, location: Location) -> Res<Value> {
        match location {
            Location::Slot(slot) => Ok(self.e.slot_addr(slot)),
            Location::Caller(at) => Ok(at),
            Location::Parent(offset) => {
                let fp = self.params[0];
                Ok(self.e.b.ins().iadd_imm_s(fp, i64::from(offset)))
            }
            Location::None | Location::Ssa(_) | Location::Value(..) => {
                Err(TranslateError::internal("a variable without an address"))
            }
        }
    }

    /// Records that the value is not null where control goes on from here. If it is `this`, and the
    /// check is in the first block, all code behind it may rely on the check: every path leads over
    /// the first block. In a protected region it may not, because an exception before the check
    /// leads to a handler.
    pub(crate) fn prove_this(&mut self, value: Value) {
        if self.block == 0
            && self.lowered.has_this
            && self.inline.is_none()
            && self.filter.is_none()
            && self.plan.args[0] & WRITTEN == 0
            && self.plan.blocks[0].region == 0
            && self.params[0] == value
        {
            self.this_proven = true;
        }
    }

    /// `ldarg` and `ldloc` (ECMA-335 III.3.38, III.3.43). A struct stays in its slot until
    /// something may write there.
    pub(crate) fn load_variable(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.variable_index(is_arg, index);
        let variable = self.variables[n];
        if variable.kind == StackType::Struct {
            let value = self.location_address(variable.location)?;
            self.push_value(StackValue {
                kind: StackType::Struct,
                value,
                class: Some(variable.class),
                fact: ValueFact::Variable(n as u32),
            });
            return Ok(());
        }
        let mut fact = ValueFact::None;
        let value = match variable.location {
            Location::Ssa(v) => {
                if n == 0 && self.this_proven {
                    fact = ValueFact::NonNull;
                }
                self.e.b.use_var(v)
            }
            Location::Value(v, n) => {
                fact = n;
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
        self.push_value(StackValue {
            kind: variable.kind,
            value,
            class: Some(variable.class),
            fact,
        });
        Ok(())
    }

    /// Pushes the current value of an argument, even if the IL never mentions it.
    pub(crate) fn load_argument(&mut self, index: usize) -> Res {
        if self.plan.args[index] != 0 {
            return self.load_variable(true, index);
        }
        let class = self.variables[index].class;
        if self.lowered.has_this && index == 0 {
            self.push_class(class, self.params[0])?;
            return Ok(());
        }
        let n = index - self.lowered.has_this as usize;
        let lowered = self.lowered;
        let values: smallvec::SmallVec<[Value; 4]> = lowered.values_of(&self.params, n).into();
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
        let item = self.pop()?;
        let variable = self.variables[n];
        if variable.kind == StackType::Struct {
            for i in 0..self.stack.len() {
                if matches!(self.stack[i].fact, ValueFact::Variable(v) if v as usize == n) {
                    self.materialize(i)?;
                }
            }
            self.check_struct(&item, variable.class)?;
            if let Location::None = variable.location {
                return Ok(());
            }
            let at = self.location_address(variable.location)?;
            return self.copy(
                variable.class,
                at,
                0,
                trusted(),
                item.value,
                0,
                trusted(),
                Dest::Frame,
            );
        }
        let value = self.coerce_to_class(&item, variable.class)?;
        match variable.location {
            Location::None => {}
            Location::Ssa(v) => self.e.b.def_var(v, value),
            Location::Value(..) => {
                let fact = match item.fact {
                    fact @ (ValueFact::NonNull | ValueFact::Null | ValueFact::Frame) => fact,
                    ValueFact::Exact => ValueFact::NonNull,
                    _ => ValueFact::None,
                };
                self.variables[n].location = Location::Value(value, fact);
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
        let value = self.location_address(self.variables[n].location)?;
        self.push_value(StackValue {
            kind: StackType::ByRef,
            value,
            class: None,
            fact: ValueFact::Frame,
        });
        Ok(())
    }

    /// In the landing pad of a handler that begins at `block`: reads the live variables from their
    /// shadow slots into SSA variables.
    pub(crate) fn reload(&mut self, block: usize) {
        let Some(live) = self.liveness.take() else {
            return;
        };
        for n in 0..self.variables.len() {
            if let Variable {
                location: Location::Ssa(v),
                shadow: Some(slot),
                kind,
                ..
            } = self.variables[n]
                && live.is_live(block, n)
            {
                let value = self.e.b.ins().stack_load(I64, kind.clif(), slot, 0);
                self.e.b.def_var(v, value);
            }
        }
        self.liveness = Some(live);
    }
}
