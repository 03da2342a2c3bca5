//! The table from opcodes to the functions that translate them.
//!
//! # How it works
//! [`Translator::instruction`] is called once for each instruction. Loads and stores of variables
//! come first, because they are the most frequent. A prefix (`volatile.`, `tail.`, `constrained.`,
//! `readonly.`; ECMA-335 III.2) is kept for the instruction after it, and forgotten behind that.
//!
//! # Invariants
//! An opcode that is not in the table is an internal error, never silently skipped.
use crate::translate::control::control_flow::{VarOp, variable_of};
use crate::translate::error::{Res, TranslateError};
use crate::translate::ops::arith::Compare;
use crate::translate::ops::conv::To;
use crate::translate::ops::objects::Cast;
use crate::translate::translator::{Prefixes, Translator};
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::InstBuilder;
use vervet_metadata::Token;
use vervet_metadata::il::{Instr, Op, Operand};
use vervet_types::ScalarKind;

/// The token operand of an instruction.
fn token(i: &Instr<'_>) -> Res<Token> {
    match i.operand {
        Operand::Token(t) => Ok(t),
        _ => Err(TranslateError::internal("no token")),
    }
}

/// The branch target of an instruction.
fn target(i: &Instr<'_>) -> Res<u32> {
    match i.operand {
        Operand::Branch(t) => Ok(t),
        _ => Err(TranslateError::internal("no branch target")),
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Translates one instruction.
    #[expect(clippy::too_many_lines, reason = "a table of opcodes")]
    pub(crate) fn instruction(&mut self, i: &Instr<'static>) -> Res {
        if let Some((op, is_arg, index)) = variable_of(i) {
            return match op {
                VarOp::Load => self.load_variable(is_arg, index),
                VarOp::Store => self.store_variable(is_arg, index),
                VarOp::Address => self.variable_address(is_arg, index),
            };
        }
        use Op::*;
        match i.op {
            // No code: `break` is a hint for a debugger (ECMA-335 III.3.16).
            Nop => {}
            Break => {}
            // x86 allows unaligned access, and `no.` only permits leaving checks out (ECMA-335
            // III.2.2).
            Unaligned | No => return Ok(()),
            // Prefixes are not reset behind themselves; hence the early return.
            Volatile => {
                self.body.prefixes.volatile = true;
                return Ok(());
            }
            Tail => {
                self.body.prefixes.tail = true;
                return Ok(());
            }
            Readonly => {
                self.body.prefixes.readonly = true;
                return Ok(());
            }
            Constrained => {
                self.body.prefixes.constrained = Some(self.class(token(i)?)?);
                return Ok(());
            }
            // III.3.40 and III.3.45: constants. A CLIF constant costs nothing until it is used.
            Ldnull => {
                let value = self.i64(0);
                self.push_value(StackValue {
                    stack_type: StackType::Ref,
                    value,
                    class: None,
                    fact: ValueFact::Null,
                });
            }
            LdcI4M1 | LdcI40 | LdcI41 | LdcI42 | LdcI43 | LdcI44 | LdcI45 | LdcI46 | LdcI47
            | LdcI48 => {
                let value = self.i32(i.op as i32 - LdcI40 as i32);
                self.push(StackType::I32, value);
            }
            LdcI4S | LdcI4 => {
                let v = match i.operand {
                    Operand::I8(v) => i32::from(v),
                    Operand::I32(v) => v,
                    _ => 0,
                };
                let value = self.i32(v);
                self.push(StackType::I32, value);
            }
            LdcI8 => {
                let Operand::I64(v) = i.operand else {
                    return Err(TranslateError::internal("no operand"));
                };
                let value = self.i64(v);
                self.push(StackType::I64, value);
            }
            LdcR4 => {
                let Operand::R4(v) = i.operand else {
                    return Err(TranslateError::internal("no operand"));
                };
                let value = self.e.b.ins().f32const(v);
                self.push(StackType::F32, value);
            }
            LdcR8 => {
                let Operand::R8(v) = i.operand else {
                    return Err(TranslateError::internal("no operand"));
                };
                let value = self.e.b.ins().f64const(v);
                self.push(StackType::F64, value);
            }
            // III.3.33. Both copies are the same SSA value; a struct's copies share their memory,
            // which does not change while they are on the stack.
            Dup => {
                let operand = self.pop()?;
                self.copy_exposed(&operand);
                self.push_value(operand);
                self.push_value(operand);
            }
            Pop => {
                self.pop()?;
            }
            // III.3.37, III.3.19, III.4.2, III.3.20, III.3.57: control leaves the method.
            Jmp => self.jump_method(token(i)?)?,
            Call => self.call(token(i)?, false)?,
            Callvirt => self.call(token(i)?, true)?,
            Calli => self.call_indirect(token(i)?)?,
            Ret => self.ret()?,
            // III.3.5 to III.3.18: branches.
            Br | BrS => self.branch(target(i)?)?,
            Brfalse | BrfalseS | Brtrue | BrtrueS => {
                let operand = self.pop()?;
                let condition = self.truth(&operand)?;
                self.branch_if(condition, matches!(i.op, Brfalse | BrfalseS), target(i)?)?;
            }
            Beq | BeqS => self.branch_compare(Compare::Eq, i)?,
            Bge | BgeS => self.branch_compare(Compare::Ge, i)?,
            Bgt | BgtS => self.branch_compare(Compare::Gt, i)?,
            Ble | BleS => self.branch_compare(Compare::Le, i)?,
            Blt | BltS => self.branch_compare(Compare::Lt, i)?,
            BneUn | BneUnS => self.branch_compare(Compare::Ne, i)?,
            BgeUn | BgeUnS => self.branch_compare(Compare::GeUn, i)?,
            BgtUn | BgtUnS => self.branch_compare(Compare::GtUn, i)?,
            BleUn | BleUnS => self.branch_compare(Compare::LeUn, i)?,
            BltUn | BltUnS => self.branch_compare(Compare::LtUn, i)?,
            Switch => {
                let Operand::Switch(targets) = i.operand else {
                    return Err(TranslateError::internal("no targets"));
                };
                self.switch(targets.iter())?;
            }
            // III.3.42 and III.3.62: access through an address. The type is the instruction's, not
            // the address's.
            LdindI1 => self.load_indirect(ScalarKind::I1, StackType::I32)?,
            LdindU1 => self.load_indirect(ScalarKind::U1, StackType::I32)?,
            LdindI2 => self.load_indirect(ScalarKind::I2, StackType::I32)?,
            LdindU2 => self.load_indirect(ScalarKind::U2, StackType::I32)?,
            LdindI4 | LdindU4 => self.load_indirect(ScalarKind::I4, StackType::I32)?,
            LdindI8 => self.load_indirect(ScalarKind::I8, StackType::I64)?,
            LdindI => self.load_indirect(ScalarKind::Ptr, StackType::Native)?,
            LdindR4 => self.load_indirect(ScalarKind::R4, StackType::F32)?,
            LdindR8 => self.load_indirect(ScalarKind::R8, StackType::F64)?,
            LdindRef => self.load_indirect(ScalarKind::Ref, StackType::Ref)?,
            StindRef => self.store_indirect(ScalarKind::Ref, StackType::Ref)?,
            StindI1 => self.store_indirect(ScalarKind::I1, StackType::I32)?,
            StindI2 => self.store_indirect(ScalarKind::I2, StackType::I32)?,
            StindI4 => self.store_indirect(ScalarKind::I4, StackType::I32)?,
            StindI8 => self.store_indirect(ScalarKind::I8, StackType::I64)?,
            StindI => self.store_indirect(ScalarKind::Ptr, StackType::Native)?,
            StindR4 => self.store_indirect(ScalarKind::R4, StackType::F32)?,
            StindR8 => self.store_indirect(ScalarKind::R8, StackType::F64)?,
            // III.1.5 says which operand types are allowed, and what comes out.
            Add | Sub | Mul | Div | DivUn | Rem | RemUn | And | Or | Xor | AddOvf | AddOvfUn
            | SubOvf | SubOvfUn | MulOvf | MulOvfUn => self.binary(i.op)?,
            Shl | Shr | ShrUn => self.shift(i.op)?,
            Neg | Not => self.unary(i.op)?,
            // III.3.27 to III.3.29.
            ConvI1 => self.convert(To::I1)?,
            ConvI2 => self.convert(To::I2)?,
            ConvI4 => self.convert(To::I4)?,
            ConvI8 => self.convert(To::I8)?,
            ConvU1 => self.convert(To::U1)?,
            ConvU2 => self.convert(To::U2)?,
            ConvU4 => self.convert(To::U4)?,
            ConvU8 => self.convert(To::U8)?,
            ConvI => self.convert(To::I)?,
            ConvU => self.convert(To::U)?,
            ConvR4 => self.convert_float(false)?,
            ConvR8 => self.convert_float(true)?,
            ConvRUn => self.convert_unsigned_to_float()?,
            ConvOvfI1 => self.convert_checked(To::I1, false)?,
            ConvOvfU1 => self.convert_checked(To::U1, false)?,
            ConvOvfI2 => self.convert_checked(To::I2, false)?,
            ConvOvfU2 => self.convert_checked(To::U2, false)?,
            ConvOvfI4 => self.convert_checked(To::I4, false)?,
            ConvOvfU4 => self.convert_checked(To::U4, false)?,
            ConvOvfI8 => self.convert_checked(To::I8, false)?,
            ConvOvfU8 => self.convert_checked(To::U8, false)?,
            ConvOvfI => self.convert_checked(To::I, false)?,
            ConvOvfU => self.convert_checked(To::U, false)?,
            ConvOvfI1Un => self.convert_checked(To::I1, true)?,
            ConvOvfU1Un => self.convert_checked(To::U1, true)?,
            ConvOvfI2Un => self.convert_checked(To::I2, true)?,
            ConvOvfU2Un => self.convert_checked(To::U2, true)?,
            ConvOvfI4Un => self.convert_checked(To::I4, true)?,
            ConvOvfU4Un => self.convert_checked(To::U4, true)?,
            ConvOvfI8Un => self.convert_checked(To::I8, true)?,
            ConvOvfU8Un => self.convert_checked(To::U8, true)?,
            ConvOvfIUn => self.convert_checked(To::I, true)?,
            ConvOvfUUn => self.convert_checked(To::U, true)?,
            // III.3.24.
            Ckfinite => self.check_finite()?,
            // III.3.21 to III.3.26: a comparison gives 0 or 1 as int32.
            Ceq => self.compare(Compare::Eq)?,
            Cgt => self.compare(Compare::Gt)?,
            CgtUn => self.compare(Compare::GtUn)?,
            Clt => self.compare(Compare::Lt)?,
            CltUn => self.compare(Compare::LtUn)?,
            // III.4: instructions of the object model.
            Cpobj => {
                let class = self.class(token(i)?)?;
                self.copy_object(class)?;
            }
            Ldobj => {
                let class = self.class(token(i)?)?;
                self.load_object(class)?;
            }
            Stobj => {
                let class = self.class(token(i)?)?;
                self.store_object(class)?;
            }
            Initobj => {
                let class = self.class(token(i)?)?;
                self.init_object(class)?;
            }
            Ldstr => self.load_string(token(i)?)?,
            Newobj => self.new_object(token(i)?)?,
            Castclass | Isinst => {
                let class = self.class(token(i)?)?;
                let cast = match i.op {
                    Castclass => self.throwing_cast(token(i)?)?,
                    _ => Cast::Asks,
                };
                self.cast(class, cast)?;
            }
            Unbox => {
                let class = self.class(token(i)?)?;
                self.unbox(class)?;
            }
            UnboxAny => {
                let class = self.class(token(i)?)?;
                self.unbox_any(class, token(i)?)?;
            }
            Box => {
                let class = self.class(token(i)?)?;
                self.box_value(class)?;
            }
            // III.4.31, III.4.24, III.3.46, III.3.35, III.3.34: exceptions.
            Throw => self.throw()?,
            Rethrow => self.rethrow()?,
            Leave | LeaveS => self.leave(target(i)?)?,
            Endfinally => self.end_finally()?,
            Endfilter => self.end_filter()?,
            // III.4.10, III.4.11, III.4.28 to III.4.30, III.4.14, III.4.15: fields.
            Ldfld => self.load_field(token(i)?)?,
            Ldflda => self.load_field_address(token(i)?)?,
            Stfld => self.store_field(token(i)?)?,
            Ldsfld => self.load_static_token(token(i)?)?,
            Ldsflda => self.load_static_address_token(token(i)?)?,
            Stsfld => self.store_static_token(token(i)?)?,
            // III.4.20, III.4.12, III.4.7 to III.4.9, III.4.26, III.4.27: vectors.
            Newarr => {
                let class = self.class(token(i)?)?;
                self.new_array(class)?;
            }
            Ldlen => self.array_length()?,
            Ldelema => {
                let class = self.class(token(i)?)?;
                self.element_address(class)?;
            }
            LdelemI1 => self.load_scalar_element(ScalarKind::I1, StackType::I32)?,
            LdelemU1 => self.load_scalar_element(ScalarKind::U1, StackType::I32)?,
            LdelemI2 => self.load_scalar_element(ScalarKind::I2, StackType::I32)?,
            LdelemU2 => self.load_scalar_element(ScalarKind::U2, StackType::I32)?,
            LdelemI4 | LdelemU4 => self.load_scalar_element(ScalarKind::I4, StackType::I32)?,
            LdelemI8 => self.load_scalar_element(ScalarKind::I8, StackType::I64)?,
            LdelemI => self.load_scalar_element(ScalarKind::Ptr, StackType::Native)?,
            LdelemR4 => self.load_scalar_element(ScalarKind::R4, StackType::F32)?,
            LdelemR8 => self.load_scalar_element(ScalarKind::R8, StackType::F64)?,
            LdelemRef => self.load_scalar_element(ScalarKind::Ref, StackType::Ref)?,
            StelemI => self.store_scalar_element(ScalarKind::Ptr)?,
            StelemI1 => self.store_scalar_element(ScalarKind::I1)?,
            StelemI2 => self.store_scalar_element(ScalarKind::I2)?,
            StelemI4 => self.store_scalar_element(ScalarKind::I4)?,
            StelemI8 => self.store_scalar_element(ScalarKind::I8)?,
            StelemR4 => self.store_scalar_element(ScalarKind::R4)?,
            StelemR8 => self.store_scalar_element(ScalarKind::R8)?,
            StelemRef => self.store_element(None, true)?,
            Ldelem => {
                let class = self.class(token(i)?)?;
                self.load_element(class, true)?;
            }
            Stelem => {
                let class = self.class(token(i)?)?;
                self.store_element(Some(class), true)?;
            }
            // III.4.17, III.3.41, III.4.18: handles and code addresses.
            Ldtoken => self.load_token(token(i)?)?,
            Ldftn => self.load_function(token(i)?)?,
            Ldvirtftn => self.load_virtual_function(token(i)?)?,
            // III.3.47, III.3.30, III.3.36, III.4.25: blocks of memory.
            Localloc => self.localloc()?,
            Cpblk => self.copy_block()?,
            Initblk => self.init_block()?,
            Sizeof => {
                let class = self.sized_class(token(i)?)?;
                self.size_of_type(class)?;
            }
            // III.4.19, III.4.23, III.4.22, III.3.4: typed references and variable arguments.
            Mkrefany => {
                let class = self.class(token(i)?)?;
                self.make_typed_reference(class)?;
            }
            Refanyval => {
                let class = self.class(token(i)?)?;
                self.typed_reference_value(class)?;
            }
            Refanytype => self.typed_reference_type()?,
            Arglist => self.arglist()?,
            op => return Err(TranslateError::internal(format!("opcode {op} not yet"))),
        }
        self.body.prefixes = Prefixes::default();
        Ok(())
    }

    /// A comparison and branch in one.
    fn branch_compare(&mut self, how: Compare, i: &Instr<'static>) -> Res {
        let condition = self.compare_values(how)?;
        self.branch_if(condition, false, target(i)?)
    }
}
