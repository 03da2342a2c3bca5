//! On-stack replacement: a thread leaves a loop of quickly compiled code for optimised code of that loop, in the middle of the method's run.
//!
//! # How it works
//! Quick code has a *patchpoint* at the head of each loop. It counts iterations in a variable of the frame, and asks the runtime for other code at the end of each
//! period ([`Options::loop_iterations`](crate::Options::loop_iterations)):
//!
//! ```text
//! head:   countdown -= 1
//!         brif countdown, on, ask
//! ask:    (cold)  code = call ReplaceLoop(method, head)      ; 0: not yet, or never
//!                 countdown = period
//!                 brif code, leave, on
//! leave:  (cold)  return_call code(parameters, carried...)   ; the frame goes, the new one takes its place
//! on:     ...
//! ```
//! The other code is the method with another entry: its prologue puts the *carried* values where its variables live, and jumps to the loop's head. A value of a
//! variable is carried if code of the method writes the variable or takes its address; the other arguments travel as they came:
//!
//! ```text
//! scalar                          one parameter of its type
//! struct, or address taken        the words of its slot, as integers
//! ```
//! Code that was entered at an inner loop has no good shape for the loops around it: they have two entries. So it has patchpoints of its own at the heads of
//! those, and leaves for code that is entered there.
//!
//! # Invariants
//! * At a patchpoint, nothing is on the IL stack, and no handler runs: what the method has computed is in its variables, all of which are carried.
//! * Nothing points to the frame that is left: no unmanaged pointer to it was made, and no variable may hold a managed one.
//! * No reference is elsewhere than in registers and on the stack between the two frames, where the collector looks.
//! * The code that is entered has run nothing of the method before: the class constructor, which comes first, is not run again, nor is a monitor entered.
//! * What is carried depends on the method alone, so that both sides agree.
use crate::emit::trusted;
use crate::signature::{LoweredSignature, Pass, scalar_kind};
use crate::translate::control::control_flow::{ADDRESS, Plan, READ, WRITTEN, in_handler};
use crate::translate::error::{Res, TranslateError};
use crate::translate::frame::location::Location;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, stack_type_of};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, StackSlot, Type, Value, types::*};
use cranelift_frontend::Variable as SsaVariable;
use smallvec::SmallVec;
use std::rc::Rc;
use vervet_abi::call;
use vervet_types::resolve::Local;
use vervet_types::{ClassRef, ScalarKind};

/// After how many iterations of a loop other code is asked for in code that has another loop as its entry: an iteration takes long, because the loop at the entry has run for long.
const OUTER_PERIOD: u32 = 16;
/// Methods that would carry more words have no patchpoints.
const MOST: usize = 48;

/// How the value of a variable travels to the code that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// As a value of that type.
    Scalar(Type),
    /// As so many words of its slot.
    Words(u32),
}

/// A variable whose value travels: its number, arguments first, and how.
type Carried = (usize, Form);

/// What leaving the loops of a method takes. See the module.
#[derive(Clone)]
pub struct Replacement {
    carried: Rc<[Carried]>,
    /// The signature of the code that is entered at a loop.
    pub signature: Signature,
    /// The IL offset of the head at which this code is entered; None: it is entered at the method's start.
    pub head: Option<u32>,
    /// Whether this code has patchpoints.
    pub has_patchpoints: bool,
    /// After how many iterations it asks for other code.
    period: u32,
}

/// What the patchpoints of the code that is being translated count with.
#[derive(Clone, Copy)]
pub struct Countdown(SsaVariable);

impl Replacement {
    /// What leaving the loops takes. None: the method has no loop, or one cannot be left.
    pub fn of(
        plan: &Plan,
        lowered: &LoweredSignature,
        args: &[ClassRef],
        locals: &[Local],
    ) -> Res<Option<Replacement>> {
        let is_in_handler = |head: u32| plan.clauses.iter().any(|clause| in_handler(clause, head));
        if plan.back_edges.is_empty()
            || plan.has_localloc
            || plan.has_filters_within(0, u32::MAX)
            || plan.back_edges.iter().any(|edge| is_in_handler(edge.0))
            || may_hold_own_address(plan, args, locals)?
        {
            return Ok(None);
        }
        let carried = carried(plan, args, locals)?;
        let mut signature = lowered.clif.clone();
        for (_, form) in &carried {
            match form {
                Form::Scalar(ty) => signature.params.push(AbiParam::new(*ty)),
                Form::Words(count) => {
                    let words = std::iter::repeat_n(AbiParam::new(I64), *count as usize);
                    signature.params.extend(words);
                }
            }
        }
        if signature.params.len() > MOST {
            return Ok(None);
        }
        Ok(Some(Replacement {
            carried: carried.into(),
            signature,
            head: None,
            has_patchpoints: true,
            period: 1,
        }))
    }

    /// The code is entered at the method's start, or at the head of a loop; quick code asks after so many iterations.
    pub fn enter_at(&mut self, head: Option<u32>, period: u32) {
        self.head = head;
        self.period = match head {
            None => period,
            Some(_) => period.min(OUTER_PERIOD),
        };
    }
}

/// Whether a variable may hold the address of one, or of a part of one: its frame cannot go while that is used.
fn may_hold_own_address(plan: &Plan, args: &[ClassRef], locals: &[Local]) -> Res<bool> {
    let has_address = plan
        .args
        .iter()
        .chain(&plan.locals)
        .any(|f| f & ADDRESS != 0);
    if !has_address {
        return Ok(false);
    }
    let written = plan
        .args
        .iter()
        .zip(args)
        .filter(|(f, _)| *f & WRITTEN != 0);
    let used = plan.locals.iter().zip(locals).filter(|(f, _)| **f != 0);
    let classes = written
        .map(|(_, class)| *class)
        .chain(used.map(|(_, local)| local.ty));
    for class in classes {
        if may_hold_address(class)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a value of the class may be, or contain, an address other than a reference.
fn may_hold_address(class: ClassRef) -> Res<bool> {
    match stack_type_of(class)? {
        StackType::ByRef | StackType::Native => Ok(true),
        StackType::Struct => {
            let mut pieces = Pieces::new();
            let is_known = find_pieces(class, 0, &mut pieces)?;
            Ok(!is_known || pieces.iter().any(|piece| piece.kind == ScalarKind::Ptr))
        }
        _ => Ok(false),
    }
}

/// A scalar within a struct.
struct Piece {
    offset: u32,
    kind: ScalarKind,
}
type Pieces = SmallVec<[Piece; 8]>;

/// Adds the scalars that a value of the class at that offset consists of. False: they cannot be told.
fn find_pieces(class: ClassRef, offset: u32, pieces: &mut Pieces) -> Res<bool> {
    /// Structs of more scalars are not looked into.
    const MOST: usize = 64;
    if pieces.len() > MOST {
        return Ok(false);
    }
    match stack_type_of(class)? {
        StackType::Struct => {
            for field in class.fields()?.iter().filter(|field| !field.is_static()) {
                if !find_pieces(field.ty()?, offset + field.offset()?, pieces)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        StackType::ByRef => {
            let kind = ScalarKind::Ptr;
            pieces.push(Piece { offset, kind });
            Ok(true)
        }
        _ => {
            let kind = scalar_kind(class);
            pieces.push(Piece { offset, kind });
            Ok(true)
        }
    }
}

/// The variables whose values travel.
fn carried(plan: &Plan, args: &[ClassRef], locals: &[Local]) -> Res<Vec<Carried>> {
    let mut carried = Vec::new();
    for (n, (flags, class)) in plan.args.iter().zip(args).enumerate() {
        if flags & (ADDRESS | WRITTEN) != 0 {
            carried.push((n, form(class, flags & ADDRESS != 0)?));
        }
    }
    for (n, (flags, local)) in plan.locals.iter().zip(locals).enumerate() {
        let is_in_slot = local.pinned || flags & ADDRESS != 0;
        let form = match flags {
            0 => continue,
            _ => form(local.ty, is_in_slot)?,
        };
        // What is only written lives nowhere.
        if matches!(form, Form::Words(_)) || flags & READ != 0 {
            carried.push((plan.args.len() + n, form));
        }
    }
    Ok(carried)
}

fn form(class: ClassRef, is_in_slot: bool) -> Res<Form> {
    Ok(match stack_type_of(class)? {
        StackType::Struct => Form::Words(class.layout()?.size.max(1).div_ceil(8)),
        _ if is_in_slot => Form::Words(1),
        kind => Form::Scalar(kind.clif()),
    })
}

impl Translator<'_, '_> {
    /// Prepares the patchpoints of a method that has some, in its prologue.
    pub(crate) fn begin_patchpoints(&mut self) {
        let Some(replacement) = &self.session.replacement else {
            return;
        };
        let first = replacement.head.map_or(replacement.period, |_| 1);
        let countdown = self.e.b.declare_var(I32);
        let period = self.e.b.ins().iconst(I32, i64::from(first));
        self.e.b.def_var(countdown, period);
        self.session.countdown = Some(Countdown(countdown));
    }

    /// Puts what is carried where the variables live, in code that is entered at a loop's head.
    pub(crate) fn take_carried(&mut self) -> Res {
        let Some(replacement) = self.session.replacement.clone() else {
            return Err(TranslateError::internal(
                "an entry at a loop without a plan",
            ));
        };
        let mut at = self.body.lowered.clif.params.len();
        for (n, form) in replacement.carried.iter() {
            let count = match form {
                Form::Scalar(_) => 1,
                Form::Words(count) => *count as usize,
            };
            let values: SmallVec<[Value; 8]> = self.body.params[at..at + count].into();
            at += count;
            let variable = self.body.variables[*n];
            match variable.location {
                Location::Ssa(ssa) => {
                    self.e.b.def_var(ssa, values[0]);
                    if let Some(slot) = variable.shadow {
                        self.e.b.ins().stack_store(I64, values[0], slot, 0);
                    }
                }
                Location::Slot(slot) if variable.kind == StackType::Struct => {
                    self.store_words(variable.class, slot, &values)?;
                }
                Location::Slot(slot) => {
                    self.e.b.ins().stack_store(I64, values[0], slot, 0);
                }
                _ => {
                    return Err(TranslateError::internal(
                        "a carried variable lives elsewhere",
                    ));
                }
            }
            if variable.pinned {
                self.e.b.ins().sequence_point();
            }
        }
        Ok(())
    }

    /// Stores the words of a struct by its scalars, where they can be told: other code accesses those, and so the slot can become values.
    fn store_words(&mut self, class: ClassRef, slot: StackSlot, words: &[Value]) -> Res {
        let mut pieces = Pieces::new();
        let is_known = find_pieces(class, 0, &mut pieces)?;
        let address = self.e.slot_addr(slot);
        for (n, word) in (0u32..).zip(words) {
            let start = 8 * n;
            let within = |piece: &&Piece| piece.offset / 8 == n;
            let mut end = start;
            // Each lies behind the one before, and within the word.
            let is_plain = is_known
                && pieces.is_sorted_by_key(|piece| piece.offset)
                && pieces.iter().filter(within).all(|piece| {
                    let is_behind = piece.offset >= end;
                    end = piece.offset + piece.kind.size();
                    is_behind && end <= start + 8
                });
            let is_whole = pieces
                .iter()
                .filter(within)
                .any(|piece| piece.kind.size() == 8);
            if !is_plain || is_whole {
                self.e
                    .b
                    .ins()
                    .store(trusted(), *word, address, start as i32);
                continue;
            }
            for piece in pieces.iter().filter(within) {
                let shift = i64::from(8 * (piece.offset - start));
                let part = match shift {
                    0 => *word,
                    _ => self.e.b.ins().ushr_imm_u(*word, shift),
                };
                let ty = match piece.kind.size() {
                    1 => I8,
                    2 => I16,
                    _ => I32,
                };
                let part = self.e.b.ins().ireduce(ty, part);
                let at = piece.offset as i32;
                self.e.b.ins().store(trusted(), part, address, at);
            }
        }
        Ok(())
    }

    /// At the head of a loop: the patchpoint, if there is to be one. False: the loop cannot be left, because something is on the stack.
    pub(crate) fn patchpoint(&mut self, head: u32) -> Res<bool> {
        let (Some(replacement), Some(Countdown(countdown))) =
            (self.session.replacement.clone(), self.session.countdown)
        else {
            return Ok(true);
        };
        let is_wanted = match replacement.head {
            None => true,
            // The loops around the one at whose head this code is entered.
            Some(entry) => self
                .body
                .plan
                .back_edges
                .iter()
                .any(|(target, source)| *target == head && head < entry && entry <= *source),
        };
        if self.body.inline.is_some() || !replacement.has_patchpoints || !is_wanted {
            return Ok(true);
        }
        if !self.body.stack.is_empty() {
            return Ok(false);
        }
        let [ask, leave, on] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(ask);
        self.e.b.set_cold_block(leave);
        let left = self.e.b.use_var(countdown);
        let left = self.e.b.ins().iadd_imm_s(left, -1);
        self.e.b.def_var(countdown, left);
        self.e.b.ins().brif(left, on, &[], ask, &[]);
        self.e.b.seal_block(ask);
        self.e.b.switch_to_block(ask);
        let method = self
            .e
            .symbol(crate::blob::Symbol::MethodHandle(self.body.method));
        let at = self.e.b.ins().iconst(I32, i64::from(head));
        let code = self.e.helper_value(call::ReplaceLoop, [method, at]);
        let again = self.e.b.ins().iconst(I32, i64::from(replacement.period));
        self.e.b.def_var(countdown, again);
        self.e.b.ins().brif(code, leave, &[], on, &[]);
        self.e.b.seal_block(leave);
        self.e.b.switch_to_block(leave);
        self.leave_for(&replacement, code)?;
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
        Ok(true)
    }

    /// Goes on in code that is entered at the loop's head.
    fn leave_for(&mut self, replacement: &Replacement, code: Value) -> Res {
        let own = self.body.lowered.clif.params.len();
        let mut values: SmallVec<[Value; 16]> = self.body.params[..own].into();
        self.drop_written(&mut values);
        for (n, form) in replacement.carried.iter() {
            match (form, self.body.variables[*n].location) {
                (Form::Scalar(_), Location::Ssa(ssa)) => values.push(self.e.b.use_var(ssa)),
                (Form::Words(count), Location::Slot(slot)) => {
                    for word in 0..*count {
                        let at = 8 * word as i32;
                        values.push(self.e.b.ins().stack_load(I64, I64, slot, at));
                    }
                }
                _ => {
                    return Err(TranslateError::internal(
                        "a carried variable lives elsewhere",
                    ));
                }
            }
        }
        let signature = self.e.b.import_signature(replacement.signature.clone());
        self.e.begin_no_redirect();
        self.e.return_call_indirect(signature, code, &values);
        self.e.end_no_redirect();
        Ok(())
    }

    /// Passes zero in place of arguments whose variables are carried: what the caller passed would be kept alive by the frame.
    fn drop_written(&mut self, values: &mut [Value]) {
        let lowered = self.body.lowered;
        let this = usize::from(lowered.has_this);
        for (n, flags) in self.body.plan.args.iter().enumerate() {
            if flags & (ADDRESS | WRITTEN) == 0 {
                continue;
            }
            let range = match n.checked_sub(this) {
                None => 0..1,
                // The callee copies from there.
                Some(n) if lowered.params[n] == Pass::Address => continue,
                Some(n) => {
                    let first = lowered.first_value(n);
                    first..first + lowered.params[n].count()
                }
            };
            for value in &mut values[range] {
                let ty = self.e.b.func.dfg.value_type(*value);
                *value = match ty {
                    F32 => self.e.b.ins().f32const(0.0),
                    F64 => self.e.b.ins().f64const(0.0),
                    ty => self.e.b.ins().iconst(ty, 0),
                };
            }
        }
    }
}
