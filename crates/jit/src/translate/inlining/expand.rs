//! Small methods in place of calls of them.
//!
//! # How it works
//! [`Translator::try_inline`] looks at a callee that is known exactly. If it is one that can be inlined (module
//! `inlinable`), a second translator, for its body, emits into the same function. A body of one block takes its
//! arguments as they are on the stack, with all that is known of them; otherwise the blocks are translated as those of a
//! method and meet in one more block.
//!
//! A block that the verdict says is *given up* holds, out of line, a call of the method instead of its code: nothing has
//! been done so far, so the call does it all, and throws from a frame of its own.
//!
//! # Invariants
//! * Code of an inlined body has source locations of its own ([`crate::blob::InlineSite`]), so that stack walks can
//!   show its frame.
//! * What is decided before anything is emitted decides; a failure afterwards makes the whole method start again
//!   without inlining.
use crate::emit::positions::Position;
use crate::emit::trusted;
use crate::signature::{Pass, Shape, scalar_kind, store_leaf};
use crate::translate::control::control_flow::{ADDRESS, Plan, READ, WRITTEN};
use crate::translate::error::Res;
use crate::translate::frame::variables::{Home, Place};
use crate::translate::inlining::decision::DEPTH;
use crate::translate::translator::{Prefixes, Translator};
use crate::translate::values::memory::{Dest, Temps};
use crate::translate::values::stack::{Item, Kind, Note, kind_of};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use smallvec::SmallVec;
use vervet_types::{ClassRef, MethodRef};

/// Calls that are inlined in one method.
const SITES: usize = 150;

/// What the translator of an inlined body has to do at `ret`.
pub struct Inlined {
    /// Where several blocks meet; None: the body is one block.
    join: Option<Block>,
    /// Where a struct result goes if there is `join`.
    buffer: Option<Value>,
    /// The result of a body of one block.
    result: Option<Item>,
    /// `ret` was reached.
    returned: bool,
    /// Blocks that are given up; true: the call in their place never comes back.
    given_up: SmallVec<[(usize, bool); 2]>,
    /// That call's block.
    call: Option<(Block, bool)>,
    /// The arguments as they were given, if there are such blocks.
    arguments: SmallVec<[Item; 8]>,
    /// The place of the call.
    outer: Position,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Emits the callee's body instead of a call, if that is to be done. The arguments are on the stack.
    pub(crate) fn try_inline(
        &mut self,
        m: MethodRef,
        shape: &Shape,
        is_virtual: bool,
    ) -> Res<bool> {
        if self.inline_limit == 0 || self.chain.len() > DEPTH || self.e.inlined() > SITES {
            return Ok(false);
        }
        let Some(verdict) = self.inlinable(m, 0)? else {
            return Ok(false);
        };
        let body = m.body()?;
        let scope = m.scope();
        let locals = if body.local_sig.is_nil() {
            Vec::new()
        } else {
            scope.locals(body.local_sig)?
        };
        let count = shape.params.len() + shape.has_this as usize;
        let mut plan = Plan::new(&body, 0, count, locals.len())?;
        let mut given_up = SmallVec::new();
        for (offset, final_) in &verdict.given_up {
            given_up.push((plan.block(*offset)?, *final_));
        }
        if !given_up.is_empty() {
            plan.forget(|block| given_up.iter().any(|(n, _)| *n == block));
        }
        let straight = plan.blocks.len() == 1;
        self.settle(0)?;
        if self.stack.len() < count {
            return Err(crate::translate::error::Fail::invalid(
                "too few values on the stack",
            ));
        }
        let mut items: SmallVec<[Item; 8]> = self.stack.drain(self.stack.len() - count..).collect();
        for (item, flags) in items.iter_mut().zip(&plan.args) {
            if *flags != 0 {
                *item = self.comparer(*item)?;
            }
        }
        if is_virtual && shape.has_this && items[0].kind == Kind::Ref {
            self.touch(&items[0]);
            if let Note::None = items[0].note {
                items[0].note = Note::NonNull;
            }
        }
        let outer = self.e.enter_inlined(m);
        if Self::triggers(m)? {
            self.class_init(m.class)?;
        }
        let mut homes = Vec::with_capacity(count + locals.len());
        for (n, item) in items.iter().enumerate() {
            let class = if n == 0 && shape.has_this {
                if m.class.is_value_type()? {
                    self.universe.byref(m.class)
                } else {
                    m.class
                }
            } else {
                shape.param_classes[n - shape.has_this as usize]
            };
            homes.push(self.inlined_argument(class, item, plan.args[n], straight)?);
        }
        for (n, local) in locals.iter().enumerate() {
            homes.push(self.inlined_local(local.ty, plan.locals[n], straight, body.init_locals)?);
        }
        let kind = match shape.ret {
            Pass::None => None,
            _ => Some(kind_of(shape.ret_class)?),
        };
        let mut inlined = Inlined {
            join: None,
            buffer: None,
            result: None,
            returned: false,
            arguments: if given_up.is_empty() {
                SmallVec::new()
            } else {
                items.clone()
            },
            given_up,
            call: None,
            outer,
        };
        if !straight {
            let join = self.e.b.create_block();
            match kind {
                Some(Kind::Struct) => inlined.buffer = Some(self.temp_of(shape.ret_class)?),
                Some(kind) => {
                    self.e.b.append_block_param(join, kind.clif());
                }
                None => {}
            }
            inlined.join = Some(join);
        }
        let mut chain = std::mem::take(&mut self.chain);
        chain.push(m);
        let (nonnull, initialised) = (self.nonnull.clone(), self.initialised.clone());
        let mut t = Translator {
            e: &mut *self.e,
            env: self.env,
            method: m,
            scope,
            universe: self.universe,
            plan: &plan,
            shape,
            stack: Vec::with_capacity(8),
            prefixes: Prefixes::default(),
            dead: false,
            index: 0,
            block: 0,
            homes,
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
            side_mark: None,
            side_top: None,
            filter: None,
            var_args: None,
            own_var_args: None,
            inline: Some(inlined),
            inline_limit: self.inline_limit,
            inlinable: std::mem::take(&mut self.inlinable),
            chain,
        };
        let outcome = if straight {
            t.straight()
        } else {
            t.prepare_blocks();
            t.run().and_then(|()| t.call_given_up())
        };
        let Translator {
            temps,
            nonnull: inner_nonnull,
            initialised: inner_initialised,
            inline,
            inlinable,
            mut chain,
            ..
        } = t;
        chain.pop();
        self.chain = chain;
        self.inlinable = inlinable;
        self.temps.give_back(temps);
        // In one block what was found out holds on; of several only what held before.
        (self.nonnull, self.initialised) = if straight {
            (inner_nonnull, inner_initialised)
        } else {
            (nonnull, initialised)
        };
        outcome?;
        let inlined = inline.ok_or_else(|| {
            crate::translate::error::Fail::internal("the state of an inlined body")
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
        let class = Some(shape.ret_class);
        match (inlined.join, kind) {
            (Some(_), Kind::Struct) => {
                let value = inlined.buffer.ok_or_else(|| {
                    crate::translate::error::Fail::internal("a result without a buffer")
                })?;
                self.push_item(Item {
                    kind,
                    value,
                    class,
                    note: Note::None,
                });
            }
            (Some(join), _) => {
                let value = self.e.b.block_params(join)[0];
                self.push_item(Item {
                    kind,
                    value,
                    class,
                    note: Note::None,
                });
            }
            (None, _) => {
                let mut item = inlined
                    .result
                    .ok_or_else(|| crate::translate::error::Fail::internal("no result"))?;
                if kind == Kind::Struct {
                    // It may be an argument as it was given.
                    let same = items.iter().find(|i| i.value == item.value);
                    item.note = same.map_or(Note::None, |i| i.note);
                }
                self.push_item(item);
            }
        }
        Ok(true)
    }

    /// If the block is given up: goes to the call in its place, which all such blocks share.
    pub(crate) fn give_up(&mut self, block: usize) -> bool {
        let Some(inline) = &mut self.inline else {
            return false;
        };
        let Some(&(_, never_returns)) = inline.given_up.iter().find(|(n, _)| *n == block) else {
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

    /// The call of the method for the blocks that are given up, with the arguments as they came.
    fn call_given_up(&mut self) -> Res {
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
            // The variable belongs to the method around this one.
            if let (Note::Variable(_), Some(class)) = (item.note, item.class) {
                let copy = self.temp_of(class)?;
                let whole = Dest::Frame;
                self.copy(class, copy, 0, trusted(), item.value, 0, trusted(), whole)?;
                item.value = copy;
                item.note = Note::None;
            }
            self.push_item(item);
        }
        let shape = self.shape;
        self.call_itself(shape, never_returns)?;
        self.e.swap_position(inner);
        if !self.dead {
            self.ret()?;
        }
        Ok(())
    }

    /// The body of one block.
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
        Err(crate::translate::error::Fail::invalid(
            "control goes past the end of the code",
        ))
    }

    fn inlined_argument(
        &mut self,
        class: ClassRef,
        item: &Item,
        flags: u8,
        straight: bool,
    ) -> Res<Home> {
        let kind = kind_of(class)?;
        let mut home = Home {
            class,
            kind,
            place: Place::None,
            shadow: None,
            pinned: false,
            address_taken: flags & ADDRESS != 0,
        };
        let value = self.coerce_to_class(item, class)?;
        if flags == 0 {
            return Ok(home);
        }
        if kind == Kind::Struct {
            home.place = if flags & (ADDRESS | WRITTEN) != 0 {
                let slot = self.temp(class.layout()?.size);
                let at = self.e.slot_addr(slot);
                self.copy(class, at, 0, trusted(), value, 0, trusted(), Dest::Frame)?;
                Place::Slot(slot)
            } else {
                Place::Caller(value)
            };
            return Ok(home);
        }
        home.place = if flags & ADDRESS != 0 {
            let slot = self.temp(8);
            let at = self.e.slot_addr(slot);
            store_leaf(&mut self.e.b, trusted(), scalar_kind(class), value, at, 0);
            Place::Slot(slot)
        } else if flags & WRITTEN != 0 && !straight {
            let variable = self.e.b.declare_var(kind.clif());
            self.e.b.def_var(variable, value);
            Place::Variable(variable)
        } else {
            let note = match item.note {
                Note::Variable(_) | Note::Code(..) | Note::Exact => {
                    if let Note::Exact = item.note {
                        Note::NonNull
                    } else {
                        Note::None
                    }
                }
                note => note,
            };
            Place::Value(value, note)
        };
        Ok(home)
    }

    fn inlined_local(
        &mut self,
        class: ClassRef,
        flags: u8,
        straight: bool,
        init: bool,
    ) -> Res<Home> {
        let kind = kind_of(class)?;
        let mut home = Home {
            class,
            kind,
            place: Place::None,
            shadow: None,
            pinned: false,
            address_taken: flags & ADDRESS != 0,
        };
        if flags == 0 {
            return Ok(home);
        }
        if kind == Kind::Struct || flags & ADDRESS != 0 {
            let size = self.size_of(class)?.next_multiple_of(8);
            let slot = self.temp(size);
            let at = self.e.slot_addr(slot);
            if init || kind != Kind::Struct || !class.layout()?.ref_map.is_empty() {
                self.zero(at, 0, size, trusted());
            }
            home.place = Place::Slot(slot);
        } else if flags & READ != 0 {
            let zero = match kind {
                Kind::F32 => self.e.b.ins().f32const(0.0),
                Kind::F64 => self.e.b.ins().f64const(0.0),
                k => self.e.b.ins().iconst(k.clif(), 0),
            };
            home.place = if straight {
                Place::Value(zero, Note::None)
            } else {
                let variable = self.e.b.declare_var(kind.clif());
                self.e.b.def_var(variable, zero);
                Place::Variable(variable)
            };
        }
        Ok(home)
    }

    /// `ret` of an inlined body.
    pub(crate) fn inlined_ret(&mut self) -> Res {
        let shape = self.shape;
        let class = shape.ret_class;
        let item = match shape.ret {
            Pass::None => None,
            _ => {
                let item = self.pop()?;
                let value = self.coerce_to_class(&item, class)?;
                let kind = kind_of(class)?;
                let note = match item.note {
                    note @ (Note::NonNull | Note::Null | Note::Frame) if kind != Kind::Struct => {
                        note
                    }
                    Note::Exact => Note::Exact,
                    _ => Note::None,
                };
                let class = if let Note::Exact = note {
                    item.class
                } else {
                    Some(class)
                };
                Some(Item {
                    kind,
                    value,
                    class,
                    note,
                })
            }
        };
        let state = self
            .inline
            .as_mut()
            .ok_or_else(|| crate::translate::error::Fail::internal("not inlined"))?;
        state.returned = true;
        let (join, buffer) = (state.join, state.buffer);
        match (join, item) {
            (None, item) => state.result = item,
            (Some(join), None) => {
                self.e.b.ins().jump(join, &[]);
            }
            (Some(join), Some(item)) if item.kind == Kind::Struct => {
                let at = buffer.ok_or_else(|| {
                    crate::translate::error::Fail::internal("a result without a buffer")
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
