//! `Enum.HasFlag`, without the boxes that C# makes for it.
//!
//! # How it works
//! ```text
//! ldloc flags; box E             pushes a box that is not made yet (ValueFact::Boxed)
//! ldc.i4 4; box E                another
//! call Enum.HasFlag              (flags & 4) == 4
//! ```
//! Some compilers give the address of the flags, with `constrained.`, in place of the first box.
//!
//! A box is put off only where a call of `HasFlag` follows, with nothing between but what loads and combines numbers ([`Translator::precedes_has_flag`]).
//!
//! # Invariants
//! * Both values are of one enum type, as the method demands; it throws otherwise.
//! * A box that was put off is made when it is popped by anything else. Making it has no effect that a program can see, so it does not matter when.
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use vervet_metadata::il::{Op, Operand};
use vervet_types::{ClassRef, MethodRef};

/// How many instructions behind a `box` the call may be.
const NEAR: usize = 8;

/// Whether an instruction loads or combines numbers, and calls nothing.
fn is_simple(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Ldarg0
            | Ldarg1
            | Ldarg2
            | Ldarg3
            | LdargS
            | Ldarg
            | Ldloc0
            | Ldloc1
            | Ldloc2
            | Ldloc3
            | LdlocS
            | Ldloc
            | LdcI4M1
            | LdcI40
            | LdcI41
            | LdcI42
            | LdcI43
            | LdcI44
            | LdcI45
            | LdcI46
            | LdcI47
            | LdcI48
            | LdcI4S
            | LdcI4
            | LdcI8
            | ConvI8
            | ConvU8
            | Ldfld
            | Or
            | And
            | Box
            | Constrained
    )
}

/// Whether the method is `Enum.HasFlag`.
pub(crate) fn is_has_flag(method: MethodRef) -> bool {
    method.name == "HasFlag"
        && method.class.name == "Enum"
        && method.class.namespace == "System"
        && method.class.module.is_corlib()
}

impl Translator<'_, '_> {
    /// Whether the box that the current instruction makes is for a call of `HasFlag`.
    fn precedes_has_flag(&self) -> bool {
        let block = &self.body.plan.blocks[self.body.block];
        let rest = &self.body.plan.instrs[self.body.index + 1..block.end as usize];
        let call = rest.iter().take(NEAR).find(|i| !is_simple(i.op));
        match call.map(|i| (i.op, i.operand)) {
            Some((Op::Call | Op::Callvirt, Operand::Token(t))) => {
                self.body.scope.method(t).is_ok_and(is_has_flag)
            }
            _ => false,
        }
    }

    /// `box` of an enum for `HasFlag`: puts the box off. False: it is to be made.
    pub(crate) fn put_off_box(&mut self, class: ClassRef, operand: &StackValue) -> Res<bool> {
        if !class.is_enum()? || !self.precedes_has_flag() {
            return Ok(false);
        }
        let kind = stack_type_of(class)?;
        if !matches!(kind, StackType::I32 | StackType::I64) {
            return Ok(false);
        }
        let number = self.coerce_to_class(operand, class)?;
        let value = self.i64(0);
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value,
            class: Some(class),
            fact: ValueFact::Boxed(number),
        });
        Ok(true)
    }

    /// A call of `HasFlag` whose arguments are on the stack. False: the call must be made.
    pub(crate) fn has_flag(&mut self) -> Res<bool> {
        let [.., this, flag] = &self.body.stack[..] else {
            return Ok(false);
        };
        let (this, flag) = (*this, *flag);
        let (ValueFact::Boxed(wanted), Some(class)) = (flag.fact, flag.class) else {
            return Ok(false);
        };
        let depth = self.body.stack.len() - 2;
        let all = match (this.fact, self.body.prefixes.constrained) {
            (ValueFact::Boxed(all), None) if this.class == Some(class) => {
                self.body.stack.truncate(depth);
                all
            }
            // The address of the value.
            (_, Some(of)) if std::ptr::eq(of, class) => {
                let at = self.as_native(&this)?;
                self.body.stack.truncate(depth);
                let flags = self.null_checked(&this, 0, self.size_of(class)?);
                self.load_value(class, at, 0, flags)?.value
            }
            _ => return Ok(false),
        };
        // All bits of `wanted`, so that no bits are always there.
        let both = self.e.b.ins().band(all, wanted);
        let has = self.e.b.ins().icmp(IntCC::Equal, both, wanted);
        let has = self
            .e
            .b
            .ins()
            .uextend(cranelift_codegen::ir::types::I32, has);
        self.push(StackType::I32, has);
        Ok(true)
    }
}
