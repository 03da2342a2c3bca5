//! Functions of System.Math: those that the C library computes are leaf helpers, without the change of state that an internal call makes; the larger and the smaller of two integers are
//! instructions.
//!
//! # How it works
//! ```text
//! call Math.Pow(x, y)            v2 = call Math(x, y, 9)        ; 9: MathFunction::Pow
//! ```
//! An internal call makes a record of the frame and changes the thread's state twice, which costs as much as the sine of a small number.
//!
//! # Invariants
//! * The function is the one that the internal call uses (`runtime/code/libm.rs`), so the bits of the result are the same. But sine and cosine are those of the
//!   processor's instructions (`runtime/arch/x86_64/angles.rs`), unless the argument is a constant: as in mono, whose results for large angles, and next to the zeros, are other ones.
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::{InstBuilder, Opcode, Value};
use vervet_abi::{MathFunction, call};
use vervet_metadata::il::Op;
use vervet_types::{MethodRef, Prim};

/// The function that a method of System.Math is. None: it is no such one.
pub(crate) fn function_of(name: &str) -> Option<MathFunction> {
    MathFunction::ALL.into_iter().find(|f| f.method() == name)
}

impl Translator<'_, '_> {
    /// A call whose arguments are on the stack. False: the call must be made.
    pub(crate) fn math(&mut self, function: MathFunction, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let is_double = |c: &vervet_types::ClassRef| c.prim == Some(Prim::R8);
        if sig.has_this
            || sig.params.len() != function.arity()
            || !sig.params.iter().all(is_double)
            || !is_double(&sig.ret)
        {
            return Ok(false);
        }
        let of_constant = self.follows_constant();
        let value = match sig.params.len() {
            1 => {
                let x = self.pop()?;
                let x = self.coerce(&x, StackType::F64)?;
                let function = match function {
                    MathFunction::Sin if !(of_constant && self.is_constant(x)) => {
                        MathFunction::SinByInstruction
                    }
                    MathFunction::Cos if !(of_constant && self.is_constant(x)) => {
                        MathFunction::CosByInstruction
                    }
                    _ => function,
                };
                let number = self.i32(function as i32);
                // The second argument is not looked at.
                self.e.helper_value(call::Math, [x, x, number])
            }
            2 => {
                let operands = self.pop_n(2)?;
                let x = self.coerce(&operands[0], StackType::F64)?;
                let y = self.coerce(&operands[1], StackType::F64)?;
                let number = self.i32(function as i32);
                self.e.helper_value(call::Math, [x, y, number])
            }
            _ => return Ok(false),
        };
        self.push(StackType::F64, value);
        Ok(true)
    }

    /// Is that value a constant, and not one of several that come together here?
    fn is_constant(&self, value: Value) -> bool {
        let dfg = &self.e.b.func.dfg;
        let made_by = dfg.value_def(value).inst();
        made_by.is_some_and(|inst| dfg.insts[inst].opcode() == Opcode::F64const)
    }

    /// Has the instruction before this one, which may lie in another block, loaded a floating-point constant?
    fn follows_constant(&self) -> bool {
        let before = self.body.index.checked_sub(1);
        before.is_some_and(|at| self.body.plan.instrs[at].op == Op::LdcR8)
    }

    /// `Math.Max` or `Min` of integers: a comparison and a conditional move, where the method's branch would be predicted badly as often as not. False: the call must be made.
    pub(crate) fn extreme(&mut self, is_max: bool, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let [a, b] = sig.params[..] else {
            return Ok(false);
        };
        if sig.has_this || a.prim != b.prim || a.prim != sig.ret.prim {
            return Ok(false);
        }
        let (kind, is_signed) = match a.prim {
            Some(Prim::I1 | Prim::I2 | Prim::I4) => (StackType::I32, true),
            Some(Prim::U1 | Prim::U2 | Prim::U4) => (StackType::I32, false),
            Some(Prim::I8) => (StackType::I64, true),
            Some(Prim::U8) => (StackType::I64, false),
            _ => return Ok(false),
        };
        let operands = self.pop_n(2)?;
        let x = self.coerce_to_class(&operands[0], a)?;
        let y = self.coerce_to_class(&operands[1], b)?;
        let ins = self.e.b.ins();
        let value = match (is_max, is_signed) {
            (true, true) => ins.smax(x, y),
            (true, false) => ins.umax(x, y),
            (false, true) => ins.smin(x, y),
            (false, false) => ins.umin(x, y),
        };
        self.push(kind, value);
        Ok(true)
    }
}
