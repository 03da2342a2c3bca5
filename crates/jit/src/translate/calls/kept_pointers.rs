//! What may leave a pointer to one of the method's variables behind, in code whose loops are to be left for other code.
//!
//! # How it works
//! An address of a variable comes from `ldloca` or `ldarga`, and is known on the IL stack by its fact. What is done with it there is looked at, one instruction at a time:
//!
//! ```text
//!   loads and stores through it                       nothing is kept
//!   a call of a method of the core library            nothing is kept: its methods keep no pointers; but what they return may be one, and
//!                                                     what lies behind a by-ref to a `Span` may become one
//!   anything else: other calls, a conversion, a       the loops cannot be left
//!   comparison, a branch with it on the stack
//! ```
//! (A method of another assembly may hand the address to native code, or make an unmanaged pointer of it.)
//!
//! # Invariants
//! * An address of a variable on the IL stack has the fact, or no loop of the method is left.
//! * No method that may keep a pointer is given one: the variable stays where it is.
use crate::translate::control::carried::may_hold_address;
use crate::translate::control::control_flow::{VarOp, variable_of};
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use vervet_metadata::il::{Instr, Op};
use vervet_types::{ClassRef, MethodRef, Prim};

impl Translator<'_, '_> {
    /// Whether it matters what becomes of addresses of variables.
    fn must_keep_frame_alone(&self) -> bool {
        let replacement = self.session.replacement.as_ref();
        self.body.inline.is_none()
            && replacement.is_some_and(|r| r.has_patchpoints)
            && self.body.stack.iter().any(is_own)
    }

    /// In front of an instruction.
    pub(crate) fn look_at_addresses(&mut self, i: &Instr<'_>) {
        if !self.must_keep_frame_alone() {
            return;
        }
        let from = self.body.stack.len().saturating_sub(kept_of(i));
        self.session.has_stuck_loop |= self.body.stack[from..].iter().any(is_own);
    }

    /// A branch takes what is on the stack to a block that knows no facts.
    pub(crate) fn look_at_branch(&mut self) {
        self.session.has_stuck_loop |= self.must_keep_frame_alone();
    }

    /// In front of a call with the `count` uppermost values.
    pub(crate) fn look_for_kept_pointers(
        &mut self,
        method: MethodRef,
        count: usize,
        is_virtual: bool,
    ) -> Res {
        if !self.must_keep_frame_alone() {
            return Ok(());
        }
        let from = self.body.stack.len().saturating_sub(count);
        if self.body.stack[from..].iter().any(is_own) {
            let constrained = self.body.prefixes.constrained;
            let keeps = may_keep(method, is_virtual, constrained)?;
            self.session.has_stuck_loop |= keeps;
        }
        Ok(())
    }
}

/// Whether the value is the address of a variable, or of a part of one.
fn is_own(value: &StackValue) -> bool {
    value.stack_type == StackType::ByRef && matches!(value.fact, ValueFact::Frame)
}

/// Whether methods of another assembly may run where the core library works with values of that type: it is of such an assembly, or has an argument that is.
fn is_foreign(class: &ClassRef) -> bool {
    !class.module.is_corlib()
        || class.args().iter().any(is_foreign)
        || class.element().is_some_and(|element| is_foreign(&element))
}

/// Whether a method that is given the address of a variable may leave a pointer behind.
fn may_keep(method: MethodRef, is_virtual: bool, constrained: Option<ClassRef>) -> Res<bool> {
    let is_known = !is_foreign(&method.class)
        && !method.is_pinvoke()
        && !method.method_args().iter().any(is_foreign);
    let is_decided = match constrained {
        Some(class) => !is_foreign(&class),
        None => !is_virtual || !method.is_virtual() || method.is_final(),
    };
    if !is_known || !is_decided {
        return Ok(true);
    }
    let sig = method.sig()?;
    // A by-ref to what may hold an address.
    let is_way_out = |class: ClassRef| -> Res<bool> {
        match class.element().filter(|_| class.is_byref()) {
            Some(element) => may_hold_address(element),
            None => Ok(false),
        }
    };
    if sig.ret.prim != Some(Prim::Void) && may_hold_address(sig.ret)? {
        return Ok(true);
    }
    for param in &sig.params {
        if is_way_out(*param)? {
            return Ok(true);
        }
    }
    Ok(sig.has_this && method.class.is_value_type()? && may_hold_address(method.class)?)
}

/// How many of the uppermost values an instruction may keep, or make something else of. None of those through which it reads or writes; and what calls do is looked at when it is
/// known what they call.
fn kept_of(i: &Instr<'_>) -> usize {
    use Op::*;
    if let Some((op, _, _)) = variable_of(i) {
        return usize::from(matches!(op, VarOp::Store));
    }
    match i.op {
        Nop | Break | Unaligned | No | Volatile | Tail | Readonly | Constrained | Dup | Pop
        | Ret => 0,
        Call | Callvirt | Newobj => 0,
        Initobj | Ldobj | Ldfld | Ldflda | Cpobj => 0,
        LdindI1 | LdindU1 | LdindI2 | LdindU2 | LdindI4 | LdindU4 | LdindI8 | LdindI => 0,
        LdindR4 | LdindR8 | LdindRef => 0,
        Ldnull | Ldstr | Ldtoken | Sizeof | Ldftn | Ldsfld | Ldsflda => 0,
        LdcI4M1 | LdcI40 | LdcI41 | LdcI42 | LdcI43 | LdcI44 | LdcI45 | LdcI46 | LdcI47 => 0,
        LdcI48 | LdcI4S | LdcI4 | LdcI8 | LdcR4 | LdcR8 => 0,
        Stfld | Stobj | Stsfld => 1,
        StindRef | StindI | StindI1 | StindI2 | StindI4 | StindI8 | StindR4 | StindR8 => 1,
        Neg | Not | Newarr | Ldlen | Castclass | Isinst | Box | Unbox | UnboxAny | Throw => 1,
        ConvI1 | ConvI2 | ConvI4 | ConvI8 | ConvU1 | ConvU2 | ConvU4 | ConvU8 | ConvI | ConvU => 1,
        ConvR4 | ConvR8 | ConvRUn => 1,
        Brtrue | BrtrueS | Brfalse | BrfalseS | Switch => 1,
        Add | Sub | Mul | Div | DivUn | Rem | RemUn | And | Or | Xor | Shl | Shr | ShrUn => 2,
        Ceq | Cgt | CgtUn | Clt | CltUn => 2,
        LdelemRef | LdelemI1 | LdelemU1 | LdelemI2 | LdelemU2 | LdelemI4 | LdelemU4 => 2,
        LdelemI8 | LdelemI | LdelemR4 | LdelemR8 | Ldelem | Ldelema => 2,
        // No other instruction takes more.
        _ => 3,
    }
}
