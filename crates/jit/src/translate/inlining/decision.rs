//! Which methods are inlined, and which of their blocks are outlined.
//!
//! # How it works
//! [`Translator::inline_decision`] examines the body of a callee. It must be small, have no loop (but
//! for methods of structs) and no exception clause, and call nothing but methods that are themselves
//! expanded or that never return; a very small one may make [`CALLS`] other calls. The answer is
//! cached per method. A method that calls itself is inlined into itself once.
//!
//! Many small methods consist of a test and a `throw`. Their throwing blocks do not count for the
//! size and may contain anything, because they are *outlined*: in the inlined code, such a block is
//! replaced by a call of the method itself with the original arguments, which takes the same path
//! and throws.
//!
//! ```text
//! T Get(int i) {                              inlined:
//!     if (i >= size) throw new ...;               brif i >= size, cold, on
//!     return items[i];                        on: ... items[i] ...
//! }                                         cold: call Get(this, i)      ; throws
//! ```
//!
//! Behind a write, a call among them, a throwing block cannot be outlined, because the write would be made twice. There the block itself is inlined, if it is short.
//!
//! How the effect of a body is found, for the example above:
//!
//! ```text
//! ldarg.1; ldarg.0; ldfld size; blt     Reads    another thread may change `size`
//! newobj; throw                         cold     not examined; outlined after Reads
//! ldarg.0; ldfld items; ldarg.1;        Reads
//! ldelem; ret
//! effect of the method                  Reads    a caller may outline blocks behind this call
//! ```
//!
//! # Invariants
//! * A block is outlined only if every path to it has at most [`SideEffect::Reads`]: then running the
//!   method from its start repeats nothing that can be noticed.
//! * An instruction that may run a class constructor counts as a write, so no instruction of at most
//!   [`SideEffect::Reads`] runs code of the program.
//! * After [`SideEffect::None`] the second run takes the same path and never returns. After reads it
//!   may take another path, if another thread wrote in between, and return; its result is then the
//!   result of the inlined call. Since nothing was written before, this is as if the method had been
//!   called only then.
//! * [`SideEffect::None`] is for what the values of the arguments alone decide, and for lengths of
//!   arrays and strings, which never change; not for other memory that arguments refer to.
use crate::signature::Pass;
use crate::translate::calls::{answers, intrinsics};
use crate::translate::control::control_flow::Plan;
use crate::translate::error::Res;
use crate::translate::inlining::effect::{InlineDecision, SideEffect};
use crate::translate::translator::Translator;
use smallvec::SmallVec;
use std::rc::Rc;
use vervet_abi::object::LARGE_OBJECT_SIZE;
use vervet_metadata::il::{Instr, Op, Operand};
use vervet_metadata::{MethodBody, Table, Token};
use vervet_types::method::{MethodKind, impl_flags};
use vervet_types::{ClassRef, Known, MethodRef, Scope};

/// How deep inlined calls nest.
pub const DEPTH: usize = 5;
/// Bytes of IL of a method that asks to be inlined (MethodImplOptions.AggressiveInlining).
const AGGRESSIVE: usize = 128;
/// Bytes of IL, beyond the limit, that blocks which can only throw may have.
const COLD: usize = 160;
/// A call that stays one costs what it did, so only the call around it is won. That pays where the
/// body does little else: wrappers, and recursion.
///
/// How many calls a body may keep of which at most [`CALLING`] bytes of IL lie in blocks that can return, and that of a method that asks
/// to be inlined. A longer one may keep one that some path goes around: that of a method which
/// appends, and calls another to make room.
const CALLS: u32 = 2;
/// See [`CALLS`].
const CALLING: usize = 48;
/// How often a method may be among those that are being translated when it is inlined.
const NESTING: usize = 2;
/// Bytes of IL up to which a method is examined for never returning.
const THROWER: usize = 64;

/// Whether a call of the method never returns: its body is one block that ends in a `throw`.
pub fn never_returns(m: MethodRef) -> bool {
    if m.kind != MethodKind::Normal || !m.has_body() || m.is_virtual() || m.is_synchronized() {
        return false;
    }
    let Ok(body) = m.body() else { return false };
    let throw = 0x7a;
    body.code.last() == Some(&throw)
        && body.code.len() <= THROWER
        && body.clauses.is_empty()
        && body.instructions().all(|i| {
            i.is_ok_and(|i| {
                !matches!(i.operand, Operand::Branch(_) | Operand::Switch(_))
                    && !matches!(i.op, Op::Ret | Op::Jmp)
                    && (i.op == Op::Throw) == (i.end() as usize == body.code.len())
            })
        })
}

/// The shape of a body.
#[derive(Clone, Copy)]
struct Shape {
    /// The decision needs the control-flow graph: the body contains a `throw`, or a branch on a boxed
    /// value that is constant for this instantiation.
    by_blocks: bool,
    loops: bool,
}

/// The shape of a body. None: it excludes inlining.
fn shape(body: &MethodBody<'static>) -> Option<Shape> {
    let (mut by_blocks, mut loops, mut boxed) = (false, false, false);
    for i in body.instructions() {
        let i = i.ok()?;
        match (i.op, i.operand) {
            (Op::Leave | Op::LeaveS, _) => return None,
            (_, Operand::Branch(to)) if to <= i.offset => loops = true,
            (_, Operand::Switch(t)) if t.iter().any(|t| t <= i.offset) => loops = true,
            (Op::Throw, _) => by_blocks = true,
            (_, Operand::Branch(_)) => by_blocks |= boxed,
            _ => {}
        }
        boxed = i.op == Op::Box;
    }
    Some(Shape { by_blocks, loops })
}

/// Where control goes after a block. In generic code `x != null` compiles to `box; brtrue`, which
/// is no branch if `x` is a value.
fn successors(plan: &Plan, scope: Scope, n: usize) -> Res<SmallVec<[usize; 4]>> {
    let b = &plan.blocks[n];
    if let [
        ..,
        Instr {
            op: Op::Box,
            operand: Operand::Token(t),
            ..
        },
        Instr {
            op: op @ (Op::Brtrue | Op::BrtrueS | Op::Brfalse | Op::BrfalseS),
            operand: Operand::Branch(to),
            ..
        },
    ] = &plan.instrs[b.first as usize..b.end as usize]
        && let Ok(class) = scope.type_(*t)
        && !class.is_open
        && class.is_value_type()?
        && class.nullable_arg().is_none()
    {
        let taken = matches!(op, Op::Brtrue | Op::BrtrueS);
        let next = (n + 1).min(plan.blocks.len() - 1);
        return Ok(smallvec::smallvec![if taken {
            plan.block(*to)?
        } else {
            next
        }]);
    }
    plan.successors(n)
}

/// Asks to be inlined (MethodImplOptions.AggressiveInlining).
fn is_aggressive(m: MethodRef) -> bool {
    m.impl_flags & impl_flags::AGGRESSIVE_INLINING != 0
}

/// Which calls a body may keep.
#[derive(Clone, Copy)]
struct Kept {
    calls: u32,
    /// A path must be left that makes none of them.
    avoidable: bool,
}

/// How many bytes of a body lie in blocks that can return: not in those that call a method which throws.
fn returning_size(m: MethodRef, body: &MethodBody<'static>) -> usize {
    let scope = m.scope();
    let mut leaders: SmallVec<[u32; 8]> = SmallVec::new();
    let mut throwers: SmallVec<[u32; 4]> = SmallVec::new();
    for i in body.instructions().flatten() {
        match (i.op, i.operand) {
            (_, Operand::Branch(to)) => leaders.extend([to, i.end()]),
            (_, Operand::Switch(to)) => leaders.extend(to.iter().chain([i.end()])),
            // Only a method of the same assembly is looked at, because others may have to be loaded.
            (Op::Call, Operand::Token(t))
                if t.is(Table::MethodDef) && scope.method(t).is_ok_and(throws) =>
            {
                throwers.push(i.offset);
            }
            _ => {}
        }
    }
    let end = body.code.len() as u32;
    leaders.extend([0, end]);
    leaders.sort_unstable();
    let in_throwers: u32 = leaders
        .windows(2)
        .filter(|block| throwers.iter().any(|at| (block[0]..block[1]).contains(at)))
        .map(|block| block[1] - block[0])
        .sum();
    (end - in_throwers) as usize
}

/// Whether a call of the method throws, as far as that is known.
fn throws(callee: MethodRef) -> bool {
    callee.is_static() && (never_returns(callee) || is_throw_helper(callee))
}

/// Is it a method of the class that throws for others, of an assembly of the class library? (Some of
/// them return, if what they check is right.)
fn is_throw_helper(callee: MethodRef) -> bool {
    callee.class.name == "ThrowHelper" && callee.is_static() && callee.module().is_in_library()
}

/// How many calls the body of a method may keep if it is inlined: some if it is very small, or asks
/// to be inlined. None if it asks for a tail call, behind whatever other prefixes: in the frame of
/// the caller that would be a call which comes back.
fn calls_of(m: MethodRef, body: &MethodBody<'static>) -> Kept {
    let is_tail = |i: Result<Instr<'_>, _>| i.is_ok_and(|i| i.op == Op::Tail);
    let is_small = is_aggressive(m) || returning_size(m, body) <= CALLING;
    let calls = match (is_small, body.instructions().any(is_tail)) {
        (_, true) => 0,
        (true, _) => CALLS,
        (false, _) => 1,
    };
    Kept {
        calls,
        avoidable: !is_small,
    }
}

/// Whether a struct travels to or from the method in memory. Its call then costs the copies there and
/// back, and what is in memory cannot be in registers around it; inlined, both are gone. So a longer
/// body pays.
///
/// Only passes over the CLIF make values of it (`jit/optimise/slots`), so this counts in optimised
/// code only.
fn passes_memory(m: MethodRef) -> Res<bool> {
    let sig = m.sig()?;
    for class in sig.params.iter().copied().chain([sig.ret]) {
        if Pass::of(class)? == Pass::Address {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the instruction that pushes the operand pushes the method's own `this`, which is no
/// transparent proxy where a MarshalByRefObject is inlined. `before` is that instruction, if it runs
/// before each use of what it pushes.
fn pushes_this(own: MethodRef, before: Option<Instr<'static>>) -> bool {
    let writes_this = |i: Result<Instr<'_>, _>| {
        i.is_ok_and(|i| {
            matches!(i.op, Op::Starg | Op::StargS | Op::Ldarga | Op::LdargaS)
                && i.operand == Operand::Var(0)
        })
    };
    own.has_this()
        && before.is_some_and(|i| i.op == Op::Ldarg0)
        && own
            .body()
            .is_ok_and(|body| !body.instructions().any(writes_this))
}

/// Whether a call in the body of a method may go to a transparent proxy, whose calls the runtime
/// intercepts: such a call is not inlined.
fn may_call_proxy(own: MethodRef, callee: MethodRef, before: Option<Instr<'static>>) -> Res<bool> {
    if !callee.has_this() || !callee.class.is_marshal_by_ref()? {
        return Ok(false);
    }
    Ok(!callee.sig()?.params.is_empty() || !pushes_this(own, before))
}

/// Whether the frame of a method that calls this one is to be that method's alone: a continuation
/// copies the stack from there on, and with it would copy the variables of the caller.
fn asks_for_frame(callee: MethodRef) -> bool {
    callee.name == "Mark" && callee.class.full_name() == "Mono.Tasklets.Continuation"
}

/// Whether a block that throws may be inlined as it is: it is short and makes nothing but ordinary calls and objects.
fn throws_in_place(m: MethodRef, plan: &Plan, n: usize) -> Res<bool> {
    use Op::*;
    let block = &plan.blocks[n];
    let last = plan.last(n);
    if last.op != Throw || (last.end() - block.offset) as usize > THROWER {
        return Ok(false);
    }
    let scope = m.scope();
    for i in &plan.instrs[block.first as usize..block.end as usize] {
        let is_plain = match (i.op, i.operand) {
            (Call | Callvirt | Newobj, Operand::Token(t)) => {
                let Ok(callee) = scope.method(t) else {
                    return Ok(false);
                };
                let class = callee.class;
                !class.is_open
                    && !callee.is_generic_def()
                    && callee.sig()?.call_conv != vervet_metadata::CallConvKind::VarArg
                    && !asks_for_frame(callee)
                    && (i.op != Newobj
                        || !class.is_abstract()
                            && !class.is_delegate()?
                            && !class.is_marshal_by_ref()?)
            }
            (
                Rethrow | Endfinally | Endfilter | Localloc | Jmp | Calli | Arglist | Ldftn
                | Ldvirtftn | Mkrefany | Refanyval | Refanytype | Tail | Constrained,
                _,
            ) => false,
            _ => true,
        };
        if !is_plain {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a constrained call of a method calls, if the class decides it: that of a value type, or a
/// sealed class.
fn constrained_callee(class: ClassRef, method: MethodRef) -> Res<Option<MethodRef>> {
    if !class.is_value_type()? && !is_exact(class)? {
        return Ok(None);
    }
    Ok(if method.class.is_interface() {
        class.find_interface_impl(method).unwrap_or(None)
    } else if method.is_virtual() {
        Some(class.find_virtual_impl(method)?)
    } else {
        None
    })
}

/// Whether an object that a variable of the class refers to is of that class and of no other. What a
/// transparent proxy may stand for is not.
pub(crate) fn is_exact(class: ClassRef) -> Res<bool> {
    Ok(class.is_sealed() && !class.is_array() && !class.is_marshal_by_ref()?)
}

/// Whether the method gets the address of a struct as `this`. Inlined, it lets the struct become
/// values (enumerators in `foreach`).
fn is_of_struct(m: MethodRef) -> Res<bool> {
    Ok(m.has_this() && m.class.is_value_type()?)
}

/// The effect of a call that stays one, if there may be another.
fn keep_call(callee: MethodRef, calls: &mut u32) -> Res<Option<SideEffect>> {
    let is_plain = callee.sig()?.call_conv != vervet_metadata::CallConvKind::VarArg;
    let left = calls
        .checked_sub(1)
        .filter(|_| is_plain && !asks_for_frame(callee));
    *calls = left.unwrap_or(0);
    Ok(left.map(|_| SideEffect::Writes))
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Whether the method may be inlined once more in what is being translated.
    pub(crate) fn may_nest(&self, m: MethodRef) -> bool {
        self.session
            .inline_stack
            .iter()
            .filter(|s| **s == m)
            .count()
            < NESTING
    }

    /// Whether, and how, calls of the method are replaced by its body. None: they are not.
    pub(crate) fn inline_decision(
        &mut self,
        m: MethodRef,
        depth: usize,
    ) -> Res<Option<Rc<InlineDecision>>> {
        if let Some(known) = self.session.inline_decisions.get(&m.id) {
            return Ok(known.clone());
        }
        let answer = self.decide(m, depth)?.map(Rc::new);
        self.session.inline_decisions.insert(m.id, answer.clone());
        Ok(answer)
    }

    /// The decision for a method that has none cached. Before the body runs what the method's first
    /// call initialises. That is done once, so an outlined block may lie behind it.
    fn decide(&mut self, m: MethodRef, depth: usize) -> Res<Option<InlineDecision>> {
        let Some(mut decision) = self.decide_body(m, depth)? else {
            return Ok(None);
        };
        for class in self.session.initialisers.of(m).iter() {
            decision.effect = decision.effect.max(self.initialising(class)?);
        }
        Ok(Some(decision))
    }

    /// The decision for the body of a method.
    fn decide_body(&mut self, m: MethodRef, depth: usize) -> Res<Option<InlineDecision>> {
        // What excludes inlining whatever the body is. An open class has no code; a class
        // constructor runs once and is not worth it; recursion would not end.
        let never =
            impl_flags::NO_INLINING | impl_flags::SYNCHRONIZED | impl_flags::NO_OPTIMIZATION;
        if depth >= DEPTH
            || m.kind != MethodKind::Normal
            || m.impl_flags & never != 0
            || !m.has_body()
            || m.class.is_open
            || m.is_cctor()
            || answers::is_answered(m)
        {
            return Ok(None);
        }
        // Type arguments that violate a constraint are an error of the call at run time. It must
        // not become one of this compile.
        if m.class.check_constraints().is_err() || m.check_constraints().is_err() {
            return Ok(None);
        }
        let Ok(body) = m.body() else { return Ok(None) };
        let of_struct = self.e.notes.promote() && is_of_struct(m)?;
        // AggressiveInlining asks for more, but does not decide: the tier's limit scales both.
        let limit = if is_aggressive(m) {
            AGGRESSIVE.min(self.session.inline_limit * 4)
        } else if of_struct {
            3 * self.session.inline_limit
        } else if self.e.notes.promote() && passes_memory(m)? {
            2 * self.session.inline_limit
        } else {
            self.session.inline_limit
        };
        if body.code.len() > limit + COLD || !body.clauses.is_empty() {
            return Ok(None);
        }
        let Some(Shape { by_blocks, loops }) = shape(&body) else {
            return Ok(None);
        };
        // A loop costs more than the call around it, but for the enumerators of dictionaries and their like, which look for the next element. What it does is found by one pass
        // over the blocks, so nothing of it is outlined.
        if loops && (!of_struct || by_blocks) {
            return Ok(None);
        }
        if body.code.len() > limit && !by_blocks {
            return Ok(None);
        }
        let scope = m.scope();
        // A pinned local must lie in a slot for as long as the method runs; an inlined body has no
        // such time.
        let mut locals = 0;
        if !body.local_sig.is_nil() {
            let Ok(list) = scope.locals(body.local_sig) else {
                return Ok(None);
            };
            if list.len() > 8 || list.iter().any(|l| l.pinned || l.ty.is_open) {
                return Ok(None);
            }
            locals = list.len();
        }
        let kept = calls_of(m, &body);
        let branches = || {
            let mut instructions = body.instructions();
            instructions.any(|i| i.is_ok_and(|i| matches!(i.operand, Operand::Branch(_))))
        };
        if by_blocks || kept.avoidable && !loops && branches() {
            let Ok(sig) = m.sig() else { return Ok(None) };
            let args = sig.params.len() + m.has_this() as usize;
            return self.decide_by_blocks(m, (&body, kept), (args, locals), limit, depth);
        }
        // One block, or branches without a `throw`: every instruction counts, in any order.
        let mut calls = if kept.avoidable { 0 } else { kept.calls };
        let mut effect = SideEffect::None;
        let mut before = None;
        let targets: SmallVec<[u32; 8]> = (body.instructions().flatten())
            .flat_map(|i| match i.operand {
                Operand::Branch(to) => smallvec::smallvec![to],
                Operand::Switch(to) => to.iter().collect::<SmallVec<[u32; 4]>>(),
                _ => SmallVec::new(),
            })
            .collect();
        for i in body.instructions() {
            let Ok(i) = i else { return Ok(None) };
            // What comes from elsewhere was not pushed by the instruction in front.
            before = before.filter(|_| !targets.contains(&i.offset));
            match self.step(m, &i, (before, &mut calls), depth)? {
                Some(e) => effect = effect.max(e),
                None => return Ok(None),
            }
            before = Some(i);
        }
        Ok(Some(InlineDecision {
            effect,
            outlined: SmallVec::new(),
        }))
    }

    /// The decision for a body with branches: examines each reachable block that is not cold.
    /// `limit` is for the blocks that are kept.
    fn decide_by_blocks(
        &mut self,
        m: MethodRef,
        (body, kept): (&MethodBody<'static>, Kept),
        (args, locals): (usize, usize),
        limit: usize,
        depth: usize,
    ) -> Res<Option<InlineDecision>> {
        let scope = m.scope();
        let Ok(plan) = Plan::new(body, 0, args, locals) else {
            return Ok(None);
        };
        let mut decision = InlineDecision {
            effect: SideEffect::None,
            outlined: SmallVec::new(),
        };
        // By block: the greatest effect of any path to it. There are no backward branches (bodies with
        // a loop do not come here), so one pass in order of offset is enough.
        let mut before: Vec<Option<SideEffect>> = vec![None; plan.blocks.len()];
        before[0] = Some(SideEffect::None);
        let mut bytes = 0;
        let mut calls = kept.calls;
        // By block: whether a path to it makes no call that is kept; and whether such a path returns.
        let mut free = vec![false; plan.blocks.len()];
        free[0] = true;
        let mut returns_free = false;
        for n in 0..plan.blocks.len() {
            let (b, Some(mut effect)) = (&plan.blocks[n], before[n]) else {
                continue;
            };
            if b.cold {
                match effect {
                    SideEffect::Writes => {
                        if !throws_in_place(m, &plan, n)? {
                            self.miss(m);
                            return Ok(None);
                        }
                        self.session.is_early |= !self.session.uninitialised.is_empty();
                    }
                    e => decision.outlined.push((b.offset, e == SideEffect::None)),
                }
                continue;
            }
            // Only blocks that are kept count for the size.
            let end = plan.last(n).end();
            bytes += (end - b.offset) as usize;
            if bytes > limit || plan.last(n).op == Op::Throw {
                return Ok(None);
            }
            let mut last = None;
            let before_block = calls;
            for i in &plan.instrs[b.first as usize..b.end as usize] {
                match self.step(m, i, (last, &mut calls), depth)? {
                    Some(e) => effect = effect.max(e),
                    None => return Ok(None),
                }
                last = Some(*i);
            }
            decision.effect = decision.effect.max(effect);
            let is_free = free[n] && calls == before_block;
            returns_free |= is_free && plan.last(n).op == Op::Ret;
            for to in successors(&plan, scope, n)? {
                before[to] = before[to].max(Some(effect));
                free[to] |= is_free;
            }
        }
        let fits = calls == kept.calls || !kept.avoidable || returns_free;
        Ok(fits.then_some(decision))
    }

    /// The effect of running the class constructor, if it may have to run.
    fn initialising(&mut self, class: ClassRef) -> Res<SideEffect> {
        if class.cctor()?.is_none() || self.env.is_initialized(class) {
            return Ok(SideEffect::None);
        }
        self.session.uninitialised.push(class);
        Ok(SideEffect::Writes)
    }

    /// A method is not inlined because of a write, which may be a class constructor. Inlining it may
    /// need assemblies, but not if it is the core library's.
    fn miss(&mut self, m: MethodRef) {
        self.session.is_early |= !self.session.uninitialised.is_empty();
        if !m.module().is_corlib() && !m.module().is_graft() {
            self.env.missed(&self.session.uninitialised);
        }
    }

    /// The effect of what a call of the method does before its code.
    fn triggering(&mut self, method: MethodRef) -> Res<SideEffect> {
        match Self::triggers(method)? {
            true => self.initialising(method.class),
            false => Ok(SideEffect::None),
        }
    }

    /// Whether a field access in the body of a method may be one of a transparent proxy, which
    /// fetches the value from wherever it is.
    fn may_read_proxy(
        &self,
        own: MethodRef,
        field: Token,
        before: Option<Instr<'static>>,
    ) -> Res<bool> {
        // The most frequent case first, without a look at the field.
        let is_argument = own.has_this() && before.is_some_and(|i| i.op == Op::Ldarg0);
        if is_argument && !own.class.is_marshal_by_ref()? {
            return Ok(false);
        }
        let Ok(field) = own.scope().field(field) else {
            return Ok(true);
        };
        Ok(!field.is_static()
            && field.class.is_marshal_by_ref()?
            && (!pushes_this(own, before) || self.may_be_context_bound(field.class)?))
    }

    /// The effect of a call in a body. None: it excludes inlining. `before` may be the prefix that
    /// constrains it.
    fn step_call(
        &mut self,
        own: MethodRef,
        (i, token): (&Instr<'static>, Token),
        (before, calls): (Option<Instr<'static>>, &mut u32),
        depth: usize,
    ) -> Res<Option<SideEffect>> {
        let scope = own.scope();
        let Ok(mut callee) = scope.method(token) else {
            return Ok(None);
        };
        if callee.class.is_open || callee.is_generic_def() {
            return Ok(None);
        }
        let mut is_virtual = i.op == Op::Callvirt;
        let mut reads = SideEffect::None;
        if let Some(Instr {
            op: Op::Constrained,
            operand: Operand::Token(t),
            ..
        }) = before
        {
            let Ok(class) = scope.type_(t) else {
                return Ok(None);
            };
            if class.is_open || !is_virtual {
                return Ok(None);
            }
            let is_value = class.is_value_type()?;
            match constrained_callee(class, callee)? {
                // Of a value type only the call of its own method is direct.
                Some(m) if !is_value || std::ptr::eq(m.class, class) => {
                    callee = m;
                    is_virtual = false;
                }
                _ if is_value => return Ok(None),
                // The call of the method of an object whose class is not known.
                _ => {}
            }
            if !is_value {
                reads = SideEffect::Reads;
            }
        }
        // The callee is known exactly, as `dispatch` would find.
        let fixed =
            !is_virtual || !callee.is_virtual() || callee.is_final() || callee.class.is_sealed();
        let effect = if intrinsics::is_known(callee) {
            Some(intrinsics::effect(callee))
        } else if never_returns(callee) && callee.is_static() {
            Some(SideEffect::None)
        } else if is_throw_helper(callee) {
            Some(SideEffect::Writes)
        } else if fixed {
            let triggered = self.triggering(callee)?;
            let decision = match callee == own || may_call_proxy(own, callee, before)? {
                true => None,
                false => self.inline_decision(callee, depth + 1)?,
            };
            match decision {
                Some(v) => Some(v.effect.max(triggered)),
                None => keep_call(callee, calls)?,
            }
        } else {
            keep_call(callee, calls)?
        };
        Ok(effect.map(|e| e.max(reads)))
    }

    /// The effect of an instruction. None: it excludes inlining.
    fn step(
        &mut self,
        own: MethodRef,
        i: &Instr<'static>,
        (before, calls): (Option<Instr<'static>>, &mut u32),
        depth: usize,
    ) -> Res<Option<SideEffect>> {
        use Op::*;
        let scope = own.scope();
        Ok(match (i.op, i.operand) {
            (
                Throw | Rethrow | Endfinally | Endfilter | Localloc | Jmp | Calli | Arglist | Ldftn
                | Ldvirtftn | Mkrefany | Refanyval | Refanytype,
                _,
            ) => None,
            // The call that follows is examined together with this prefix.
            (Constrained, _) => Some(SideEffect::None),
            (Call | Callvirt, Operand::Token(t)) => {
                return self.step_call(own, (i, t), (before, calls), depth);
            }
            (Newobj, Operand::Token(t)) => {
                let Ok(ctor) = scope.method(t) else {
                    return Ok(None);
                };
                let class = ctor.class;
                let expanded = !(class.is_open
                    || class.is_abstract()
                    || class.is_array()
                    || class.is_delegate()?
                    || class.is_marshal_by_ref()?
                    || std::ptr::eq(class, self.session.universe.known(Known::String))
                    || class.layout()?.size > LARGE_OBJECT_SIZE)
                    && (intrinsics::is_known(ctor)
                        || self.inline_decision(ctor, depth + 1)?.is_some());
                expanded.then_some(SideEffect::Writes)
            }
            // A local's initialisation.
            (Initobj, _) if before.is_some_and(|b| matches!(b.op, Ldloca | LdlocaS)) => {
                Some(SideEffect::None)
            }
            (
                Stfld | Stsfld | StindI | StindI1 | StindI2 | StindI4 | StindI8 | StindR4 | StindR8
                | StindRef | Stobj | Cpobj | Initobj | Cpblk | Initblk | Starg | StargS | Stelem
                | StelemI | StelemI1 | StelemI2 | StelemI4 | StelemI8 | StelemR4 | StelemR8
                | StelemRef,
                _,
            ) => Some(SideEffect::Writes),
            (Ldsfld | Ldsflda, Operand::Token(t)) => {
                let Ok(field) = scope.field(t) else {
                    return Ok(None);
                };
                let reads = match i.op {
                    Ldsfld => SideEffect::Reads,
                    _ => SideEffect::None,
                };
                // The call of the method itself has run the constructor.
                let is_own = std::ptr::eq(field.class, own.class) && Self::triggers(own)?;
                if is_own || self.session.initialisers.of(own).contains(&field.class) {
                    Some(reads)
                } else {
                    Some(self.initialising(field.class)?.max(reads))
                }
            }
            (Ldfld | Ldflda, Operand::Token(t)) => Some(match i.op {
                _ if self.may_read_proxy(own, t, before)? => SideEffect::Writes,
                Ldfld => SideEffect::Reads,
                _ => SideEffect::None,
            }),
            (
                Ldobj | LdindI | LdindI1 | LdindI2 | LdindI4 | LdindI8 | LdindU1 | LdindU2
                | LdindU4 | LdindR4 | LdindR8 | LdindRef | Ldelem | LdelemI | LdelemI1 | LdelemI2
                | LdelemI4 | LdelemI8 | LdelemU1 | LdelemU2 | LdelemU4 | LdelemR4 | LdelemR8
                | LdelemRef | UnboxAny | Unbox | Castclass | Isinst | Newarr | Box | Volatile,
                _,
            ) => Some(SideEffect::Reads),
            _ => Some(SideEffect::None),
        })
    }
}
