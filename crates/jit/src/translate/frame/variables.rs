//! Arguments and locals: where each lives, reading, writing, taking the address.
//!
//! # How it works
//! A scalar is an SSA variable unless its address is taken; a struct lives in a stack slot, or, if it came by
//! address and is only read, where the caller put it. A scalar that is live into a handler or filter has a
//! *shadow*: a slot that every definition also writes, from which landing pads and filters read.
//!
//! # Invariants
//! * What a filter writes lives in a slot, whatever it is: the filter runs while a call is active, and the call may still come
//!   back, because the exception may be superseded by one of a finally that is caught further in.
//! * A `pinned` local lives in a slot; each store to it is followed by a `sequence_point`.
//! * `this` may be null like any argument: `call` does not look, and neither do open delegates. It is taken as non-null
//!   only where every way leads over code of this method that would have thrown ([`Translator::prove_this`]).
use crate::emit::{FrameMap, trusted};
use crate::signature::{Pass, scalar_kind, store_leaf, store_passed};
use crate::translate::control::control_flow::{ADDRESS, FILTERED, READ, WRITTEN};
use crate::translate::error::{Fail, Res};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{Item, Kind, Note, kind_of};
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, types::*};
use cranelift_frontend::Variable;
use vervet_metadata::body::EhKind;
use vervet_types::ClassRef;
use vervet_types::resolve::Local;

/// Where a variable lives.
#[derive(Clone, Copy)]
pub enum Place {
    /// Nothing reads it.
    None,
    /// An SSA variable.
    Variable(Variable),
    /// A value that is known here (inlined bodies of one block); a store replaces it.
    Value(Value, Note),
    /// A slot of this frame.
    Slot(StackSlot),
    /// Memory of the caller (read only).
    Caller(Value),
    /// So many bytes above the parent's frame pointer (filters).
    Parent(i32),
}

/// An argument or local.
#[derive(Clone, Copy)]
pub struct Home {
    /// Its class.
    pub class: ClassRef,
    /// Its stack type.
    pub kind: Kind,
    /// Where it lives.
    pub place: Place,
    /// The slot that handlers and filters read.
    pub shadow: Option<StackSlot>,
    /// `pinned`
    pub pinned: bool,
    /// Somebody may write to it while a call is active: through a pointer, or a filter.
    pub address_taken: bool,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Must handlers find the variable in a slot?
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

    /// Decides the homes and fills the arguments'.
    pub(crate) fn make_homes(&mut self, args: &[ClassRef], locals: &[Local]) -> Res {
        let has_filters = self.has_filters;
        for (n, class) in args.iter().enumerate() {
            let kind = kind_of(class)?;
            let flags = self.plan.args[n];
            let mut home = Home {
                class,
                kind,
                place: Place::None,
                shadow: None,
                pinned: false,
                address_taken: flags & (ADDRESS | FILTERED) != 0,
            };
            let is_this = self.shape.has_this && n == 0;
            let values: smallvec::SmallVec<[Value; 4]> = if is_this {
                smallvec::smallvec![self.params[0]]
            } else {
                self.shape
                    .values_of(&self.params, n - self.shape.has_this as usize)
                    .into()
            };
            let pass = if is_this {
                &Pass::Scalar(I64)
            } else {
                &self.shape.params[n - self.shape.has_this as usize]
            };
            match pass {
                _ if flags == 0 && !(is_this && self.method.is_synchronized()) => {}
                Pass::None => {}
                Pass::Scalar(_) if home.address_taken => {
                    let slot = self.e.slot(8);
                    let at = self.e.slot_addr(slot);
                    store_leaf(
                        &mut self.e.b,
                        trusted(),
                        scalar_kind(class),
                        values[0],
                        at,
                        0,
                    );
                    home.place = Place::Slot(slot);
                }
                Pass::Scalar(ty) => {
                    let variable = self.e.b.declare_var(*ty);
                    self.e.b.def_var(variable, values[0]);
                    home.place = Place::Variable(variable);
                    if self.live_into_handlers(n) {
                        let slot = self.e.slot(8);
                        self.e.b.ins().stack_store(I64, values[0], slot, 0);
                        home.shadow = Some(slot);
                    }
                }
                Pass::Leaves(_) => {
                    let slot = self.e.slot(class.layout()?.size);
                    let at = self.e.slot_addr(slot);
                    store_passed(&mut self.e.b, trusted(), &values, at, 0, pass, class);
                    home.place = Place::Slot(slot);
                }
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
                    home.place = Place::Slot(slot);
                }
                Pass::Address => home.place = Place::Caller(values[0]),
            }
            self.homes.push(home);
        }
        for (n, local) in locals.iter().enumerate() {
            let class = local.ty;
            let kind = kind_of(class)?;
            let flags = self.plan.locals[n];
            let mut home = Home {
                class,
                kind,
                place: Place::None,
                shadow: None,
                pinned: local.pinned,
                address_taken: flags & (ADDRESS | FILTERED) != 0,
            };
            if flags == 0 {
                self.homes.push(home);
                continue;
            }
            if kind == Kind::Struct {
                let layout = class.layout()?;
                let slot = self.e.slot(layout.size);
                if layout.size > 1 << 20 {
                    return Err(Fail::invalid("a local is too large"));
                }
                if self.init_locals || !layout.ref_map.is_empty() {
                    let at = self.e.slot_addr(slot);
                    self.zero(at, 0, layout.size.next_multiple_of(8), trusted());
                }
                home.place = Place::Slot(slot);
            } else if local.pinned || home.address_taken {
                let slot = self.e.slot(8);
                let zero = self.i64(0);
                self.e.b.ins().stack_store(I64, zero, slot, 0);
                home.place = Place::Slot(slot);
            } else if flags & READ != 0 {
                // An undefined variable reads as zero.
                home.place = Place::Variable(self.e.b.declare_var(kind.clif()));
                if self.live_into_handlers(args.len() + n) {
                    let slot = self.e.slot(8);
                    let zero = self.i64(0);
                    self.e.b.ins().stack_store(I64, zero, slot, 0);
                    home.shadow = Some(slot);
                }
            }
            self.homes.push(home);
        }
        Ok(())
    }

    /// The homes of a filter: the parent's slots, and variables of its own for what does not live on.
    pub(crate) fn make_filter_homes(&mut self, parent: &[Home], frame: &FrameMap) -> Res {
        for home in parent {
            let mut home = *home;
            let slot = match home.place {
                Place::Slot(slot) => Some(slot),
                _ => home.shadow,
            };
            home.shadow = None;
            home.place = match slot {
                Some(slot) => Place::Parent(frame.slots[slot.as_u32() as usize]),
                None if home.kind == Kind::Struct => {
                    let slot = self.e.slot(home.class.layout()?.size);
                    Place::Slot(slot)
                }
                None => Place::Variable(self.e.b.declare_var(home.kind.clif())),
            };
            self.homes.push(home);
        }
        Ok(())
    }

    fn home(&self, is_arg: bool, index: usize) -> usize {
        if is_arg {
            index
        } else {
            self.plan.args.len() + index
        }
    }

    /// The address a variable in memory has.
    fn place_address(&mut self, place: Place) -> Res<Value> {
        match place {
            Place::Slot(slot) => Ok(self.e.slot_addr(slot)),
            Place::Caller(at) => Ok(at),
            Place::Parent(offset) => {
                let fp = self.params[0];
                Ok(self.e.b.ins().iadd_imm_s(fp, i64::from(offset)))
            }
            Place::None | Place::Variable(_) | Place::Value(..) => {
                Err(Fail::internal("a variable without an address"))
            }
        }
    }

    /// The value is not null where control goes on from here. If it is `this`, it has been checked for the whole
    /// method where that is certain: in the first block, through which every way goes. (If that is protected, an exception
    /// may lead past the check to a handler.)
    pub(crate) fn prove_this(&mut self, value: Value) {
        if self.block == 0
            && self.shape.has_this
            && self.inline.is_none()
            && self.filter.is_none()
            && self.plan.args[0] & WRITTEN == 0
            && self.plan.blocks[0].region == 0
            && self.params[0] == value
        {
            self.this_proven = true;
        }
    }

    /// ldarg, ldloc
    pub(crate) fn load_variable(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.home(is_arg, index);
        let home = self.homes[n];
        if home.kind == Kind::Struct {
            let value = self.place_address(home.place)?;
            self.push_item(Item {
                kind: Kind::Struct,
                value,
                class: Some(home.class),
                note: Note::Variable(n as u32),
            });
            return Ok(());
        }
        let mut note = Note::None;
        let value = match home.place {
            Place::Variable(v) => {
                if n == 0 && self.this_proven {
                    note = Note::NonNull;
                }
                self.e.b.use_var(v)
            }
            Place::Value(v, n) => {
                note = n;
                v
            }
            place => {
                let at = self.place_address(place)?;
                crate::signature::load_leaf(
                    &mut self.e.b,
                    trusted(),
                    scalar_kind(home.class),
                    at,
                    0,
                )
            }
        };
        self.push_item(Item {
            kind: home.kind,
            value,
            class: Some(home.class),
            note,
        });
        Ok(())
    }

    /// An argument as it is now, whether the code mentions it or not.
    pub(crate) fn load_argument(&mut self, index: usize) -> Res {
        if self.plan.args[index] != 0 {
            return self.load_variable(true, index);
        }
        let class = self.homes[index].class;
        if self.shape.has_this && index == 0 {
            self.push_class(class, self.params[0])?;
            return Ok(());
        }
        let n = index - self.shape.has_this as usize;
        let shape = self.shape;
        let values: smallvec::SmallVec<[Value; 4]> = shape.values_of(&self.params, n).into();
        let value = match &shape.params[n] {
            pass @ Pass::Leaves(_) => {
                let at = self.temp_of(class)?;
                store_passed(&mut self.e.b, trusted(), &values, at, 0, pass, class);
                at
            }
            _ => values[0],
        };
        self.push_class(class, value)
    }

    /// starg, stloc
    pub(crate) fn store_variable(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.home(is_arg, index);
        let item = self.pop()?;
        let home = self.homes[n];
        if home.kind == Kind::Struct {
            for i in 0..self.stack.len() {
                if matches!(self.stack[i].note, Note::Variable(v) if v as usize == n) {
                    self.settle_item(i)?;
                }
            }
            self.check_struct(&item, home.class)?;
            if let Place::None = home.place {
                return Ok(());
            }
            let at = self.place_address(home.place)?;
            return self.copy(
                home.class,
                at,
                0,
                trusted(),
                item.value,
                0,
                trusted(),
                Dest::Frame,
            );
        }
        let value = self.coerce_to_class(&item, home.class)?;
        match home.place {
            Place::None => {}
            Place::Variable(v) => self.e.b.def_var(v, value),
            Place::Value(..) => {
                let note = match item.note {
                    note @ (Note::NonNull | Note::Null | Note::Frame) => note,
                    Note::Exact => Note::NonNull,
                    _ => Note::None,
                };
                self.homes[n].place = Place::Value(value, note);
            }
            place => {
                let at = self.place_address(place)?;
                store_leaf(
                    &mut self.e.b,
                    trusted(),
                    scalar_kind(home.class),
                    value,
                    at,
                    0,
                );
            }
        }
        if let Some(slot) = home.shadow {
            self.e.b.ins().stack_store(I64, value, slot, 0);
        }
        if home.pinned {
            self.e.b.ins().sequence_point();
        }
        Ok(())
    }

    /// ldarga, ldloca
    pub(crate) fn variable_address(&mut self, is_arg: bool, index: usize) -> Res {
        let n = self.home(is_arg, index);
        let value = self.place_address(self.homes[n].place)?;
        self.push_item(Item {
            kind: Kind::ByRef,
            value,
            class: None,
            note: Note::Frame,
        });
        Ok(())
    }

    /// In a landing pad: the variables that are live at the handler's entry are read from their slots.
    pub(crate) fn reload(&mut self, block: usize) {
        let Some(live) = self.liveness.take() else {
            return;
        };
        for n in 0..self.homes.len() {
            if let Home {
                place: Place::Variable(v),
                shadow: Some(slot),
                kind,
                ..
            } = self.homes[n]
                && live.is_live(block, n)
            {
                let value = self.e.b.ins().stack_load(I64, kind.clif(), slot, 0);
                self.e.b.def_var(v, value);
            }
        }
        self.liveness = Some(live);
    }
}
