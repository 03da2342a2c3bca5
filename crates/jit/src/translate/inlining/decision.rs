//! Which methods are inlined, and which of their blocks are given up.
//!
//! # How it works
//! [`Translator::inlinable`] looks at a body. It must be small, have no loop and no clause, and call nothing but what can
//! itself be expanded, or what never returns. Blocks that can only end in a `throw` do not count and may hold anything
//! if nothing that could be noticed has been done before them: such a block is *given up*, which means that the method is
//! called after all, with the arguments it was given, does the same again, and throws by itself.
//!
//! # Invariants
//! * A block is given up only if on every way to it there are but steps of at most [`Effect::Reads`].
//! * A step that may run a class constructor writes: no step of at most [`Effect::Reads`] runs code of the program.
//! * If only [`Effect::None`] lies before it, the call takes the same way and never comes back. After reads it may, if
//!   another thread wrote in between; then its result is the result. (Nothing was written, so it is as if the method had
//!   been called only then.) [`Effect::None`] is for what arguments alone decide, by value: not for memory they lead to,
//!   but for the lengths of arrays and strings, which never change.
use crate::translate::calls::intrinsics;
use crate::translate::control::control_flow::Plan;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use smallvec::SmallVec;
use std::rc::Rc;
use vervet_abi::object::LARGE_OBJECT_SIZE;
use vervet_metadata::MethodBody;
use vervet_metadata::il::{Instr, Op, Operand};
use vervet_types::method::{MethodKind, impl_flags};
use vervet_types::{ClassRef, Known, MethodRef, Scope};

/// How deep inlined calls nest.
pub const DEPTH: usize = 5;
/// Bytes of IL of a body that asks for it.
const AGGRESSIVE: usize = 128;
/// Bytes of IL, beyond the limit, of blocks that can only throw.
const COLD: usize = 160;
/// Bytes of IL of a method that is looked at for never returning.
const THROWER: usize = 64;

/// What has been done when control is at some place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// Nothing, and it depends on nothing but the arguments.
    None,
    /// Memory was read that another thread may write.
    Reads,
    /// Something was done that must not be done twice.
    Writes,
}

/// What was found out about a method that is inlined.
pub struct Verdict {
    /// What the blocks that are kept do.
    pub effect: Effect,
    /// Offsets of the blocks that are given up; true: after [`Effect::None`].
    pub given_up: SmallVec<[(u32, bool); 2]>,
}

/// Is that a method whose call never comes back: one block, that throws?
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

/// Do its blocks decide: has the body a `throw`, or may one of its branches not be one? None: for its form alone it cannot
/// be inlined.
fn by_blocks(body: &MethodBody<'static>) -> Option<bool> {
    let (mut blocks, mut boxed) = (false, false);
    for i in body.instructions() {
        let i = i.ok()?;
        match (i.op, i.operand) {
            (Op::Leave | Op::LeaveS, _) => return None,
            (_, Operand::Branch(to)) if to <= i.offset => return None,
            (_, Operand::Switch(t)) if t.iter().any(|t| t <= i.offset) => return None,
            (Op::Throw, _) => blocks = true,
            (_, Operand::Branch(_)) => blocks |= boxed,
            _ => {}
        }
        boxed = i.op == Op::Box;
    }
    Some(blocks)
}

/// Where control goes from a block. `x != null` in generic code is no branch where `x` is a value.
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

impl<'a, 'f> Translator<'a, 'f> {
    /// May calls of the method be replaced by its body?
    pub(crate) fn inlinable(&mut self, m: MethodRef, depth: usize) -> Res<Option<Rc<Verdict>>> {
        if let Some(known) = self.inlinable.get(&m.id) {
            return Ok(known.clone());
        }
        let answer = self.decide(m, depth)?.map(Rc::new);
        self.inlinable.insert(m.id, answer.clone());
        Ok(answer)
    }

    fn decide(&mut self, m: MethodRef, depth: usize) -> Res<Option<Verdict>> {
        let never =
            impl_flags::NO_INLINING | impl_flags::SYNCHRONIZED | impl_flags::NO_OPTIMIZATION;
        if depth >= DEPTH
            || m.kind != MethodKind::Normal
            || m.impl_flags & never != 0
            || !m.has_body()
            || m.class.is_open
            || m.is_cctor()
            || self.chain.contains(&m)
        {
            return Ok(None);
        }
        // Arguments that break a constraint: the call says so.
        if m.class.check_constraints().is_err() || m.check_constraints().is_err() {
            return Ok(None);
        }
        let Ok(body) = m.body() else { return Ok(None) };
        let limit = if m.impl_flags & impl_flags::AGGRESSIVE_INLINING != 0 {
            AGGRESSIVE.min(self.inline_limit * 4)
        } else {
            self.inline_limit
        };
        if body.code.len() > limit + COLD || !body.clauses.is_empty() {
            return Ok(None);
        }
        let Some(by_blocks) = by_blocks(&body) else {
            return Ok(None);
        };
        if body.code.len() > limit && !by_blocks {
            return Ok(None);
        }
        // The object may be a transparent proxy.
        if m.has_this()
            && m.class
                .supers()?
                .get(1)
                .is_some_and(|c| std::ptr::eq(*c, self.universe.known(Known::MarshalByRefObject)))
        {
            return Ok(None);
        }
        let scope = m.scope();
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
        if by_blocks {
            let Ok(sig) = m.sig() else { return Ok(None) };
            let args = sig.params.len() + m.has_this() as usize;
            return self.decide_by_blocks(m, &body, (args, locals), limit, depth);
        }
        let mut effect = Effect::None;
        let mut before = None;
        for i in body.instructions() {
            let Ok(i) = i else { return Ok(None) };
            match self.step(m, &i, before, depth)? {
                Some(e) => effect = effect.max(e),
                None => return Ok(None),
            }
            before = Some(i);
        }
        Ok(Some(Verdict {
            effect,
            given_up: SmallVec::new(),
        }))
    }

    /// Looks at each block that can be reached and does not end in a `throw`.
    fn decide_by_blocks(
        &mut self,
        m: MethodRef,
        body: &MethodBody<'static>,
        (args, locals): (usize, usize),
        limit: usize,
        depth: usize,
    ) -> Res<Option<Verdict>> {
        let scope = m.scope();
        let Ok(plan) = Plan::new(body, 0, args, locals) else {
            return Ok(None);
        };
        let mut verdict = Verdict {
            effect: Effect::None,
            given_up: SmallVec::new(),
        };
        // By block: what has been done before it, at worst. Control goes on only, never back.
        let mut before: Vec<Option<Effect>> = vec![None; plan.blocks.len()];
        before[0] = Some(Effect::None);
        let mut bytes = 0;
        for n in 0..plan.blocks.len() {
            let (b, Some(mut effect)) = (&plan.blocks[n], before[n]) else {
                continue;
            };
            if b.cold {
                match effect {
                    Effect::Writes => return Ok(None),
                    e => verdict.given_up.push((b.offset, e == Effect::None)),
                }
                continue;
            }
            let end = plan.last(n).end();
            bytes += (end - b.offset) as usize;
            if bytes > limit || plan.last(n).op == Op::Throw {
                return Ok(None);
            }
            let mut last = None;
            for i in &plan.instrs[b.first as usize..b.end as usize] {
                match self.step(m, i, last, depth)? {
                    Some(e) => effect = effect.max(e),
                    None => return Ok(None),
                }
                last = Some(*i);
            }
            verdict.effect = verdict.effect.max(effect);
            for to in successors(&plan, scope, n)? {
                before[to] = before[to].max(Some(effect));
            }
        }
        Ok(Some(verdict))
    }

    /// What running the constructor of the class does, if that may have to be done.
    fn initialising(&self, class: ClassRef) -> Res<Effect> {
        Ok(
            if class.cctor()?.is_none() || self.env.is_initialized(class) {
                Effect::None
            } else {
                Effect::Writes
            },
        )
    }

    /// What a call of a method does before its code.
    fn triggering(&self, method: MethodRef) -> Res<Effect> {
        match Self::triggers(method)? {
            true => self.initialising(method.class),
            false => Ok(Effect::None),
        }
    }

    /// What an instruction does; None: it keeps the method from being inlined.
    fn step(
        &mut self,
        own: MethodRef,
        i: &Instr<'static>,
        before: Option<Instr<'static>>,
        depth: usize,
    ) -> Res<Option<Effect>> {
        use Op::*;
        let scope = own.scope();
        Ok(match (i.op, i.operand) {
            (
                Throw | Rethrow | Endfinally | Endfilter | Localloc | Jmp | Calli | Arglist | Ldftn
                | Ldvirtftn | Mkrefany | Refanyval | Refanytype,
                _,
            ) => None,
            // What follows is a call.
            (Constrained, _) => Some(Effect::None),
            (Call | Callvirt, Operand::Token(t)) => {
                let Ok(mut callee) = scope.method(t) else {
                    return Ok(None);
                };
                if callee.class.is_open || callee.is_generic_def() {
                    return Ok(None);
                }
                let mut is_virtual = i.op == Callvirt;
                if let Some(Instr {
                    op: Constrained,
                    operand: Operand::Token(t),
                    ..
                }) = before
                {
                    // Only where it is the value type's own method.
                    let Ok(class) = scope.type_(t) else {
                        return Ok(None);
                    };
                    if class.is_open || !is_virtual || !class.is_value_type()? {
                        return Ok(None);
                    }
                    let found = if callee.class.is_interface() {
                        class.find_interface_impl(callee).unwrap_or(None)
                    } else if callee.is_virtual() {
                        Some(class.find_virtual_impl(callee)?)
                    } else {
                        None
                    };
                    match found {
                        Some(m) if std::ptr::eq(m.class, class) => callee = m,
                        _ => return Ok(None),
                    }
                    is_virtual = false;
                }
                let fixed = !is_virtual
                    || !callee.is_virtual()
                    || callee.is_final()
                    || callee.class.is_sealed();
                if intrinsics::is_known(callee) {
                    Some(intrinsics::effect(callee))
                } else if never_returns(callee) && callee.is_static() {
                    Some(Effect::None)
                } else if callee.is_static() && callee.class.name == "ThrowHelper" {
                    Some(Effect::Writes)
                } else if fixed {
                    let before = self.triggering(callee)?;
                    self.inlinable(callee, depth + 1)?
                        .map(|v| v.effect.max(before))
                } else {
                    None
                }
            }
            (Newobj, Operand::Token(t)) => {
                let Ok(ctor) = scope.method(t) else {
                    return Ok(None);
                };
                let class = ctor.class;
                let expanded = !(class.is_open
                    || class.is_array()
                    || class.is_delegate()?
                    || std::ptr::eq(class, self.universe.known(Known::String))
                    || class.layout()?.size > LARGE_OBJECT_SIZE)
                    && (intrinsics::is_known(ctor) || self.inlinable(ctor, depth + 1)?.is_some());
                expanded.then_some(Effect::Writes)
            }
            // A local's initialisation.
            (Initobj, _) if before.is_some_and(|b| matches!(b.op, Ldloca | LdlocaS)) => {
                Some(Effect::None)
            }
            (
                Stfld | Stsfld | StindI | StindI1 | StindI2 | StindI4 | StindI8 | StindR4 | StindR8
                | StindRef | Stobj | Cpobj | Initobj | Cpblk | Initblk | Starg | StargS | Stelem
                | StelemI | StelemI1 | StelemI2 | StelemI4 | StelemI8 | StelemR4 | StelemR8
                | StelemRef,
                _,
            ) => Some(Effect::Writes),
            (Ldsfld | Ldsflda, Operand::Token(t)) => {
                let Ok(field) = scope.field(t) else {
                    return Ok(None);
                };
                let reads = match i.op {
                    Ldsfld => Effect::Reads,
                    _ => Effect::None,
                };
                // The method that is looked at has run what its own call runs.
                if std::ptr::eq(field.class, own.class) && Self::triggers(own)? {
                    Some(reads)
                } else {
                    Some(self.initialising(field.class)?.max(reads))
                }
            }
            (
                Ldfld | Ldobj | LdindI | LdindI1 | LdindI2 | LdindI4 | LdindI8 | LdindU1 | LdindU2
                | LdindU4 | LdindR4 | LdindR8 | LdindRef | Ldelem | LdelemI | LdelemI1 | LdelemI2
                | LdelemI4 | LdelemI8 | LdelemU1 | LdelemU2 | LdelemU4 | LdelemR4 | LdelemR8
                | LdelemRef | UnboxAny | Unbox | Castclass | Isinst | Newarr | Box | Volatile,
                _,
            ) => Some(Effect::Reads),
            _ => Some(Effect::None),
        })
    }
}
