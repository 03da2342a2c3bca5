//! Signed divisions by powers of two, where the sign does not matter.
//!
//! ```text
//! srem x, 8, compared with 0             band x, 7
//! srem x, 8, x not negative              band x, 7
//! sdiv x, 8, x not negative              ushr x, 3
//! ```
//!
//! The general forms take five instructions, because they round towards 0. `i % 2 == 0` needs none
//! of them, and a dividend that is an index or counter is not negative (module `bounds` shows it).
//!
//! # Invariants
//! * Each replacement gives the same number for every dividend that the module may meet.
use super::slots::constant;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Function, Inst, InstBuilder, InstructionData, Opcode, Value, types::I32,
};
use rustc_hash::FxHashMap;

/// The dividend of 32 bits and the exponent, if the instruction is a division by a power of two
/// above 1.
pub(super) fn parts(func: &Function, inst: Inst) -> Option<(Value, u32)> {
    let InstructionData::Binary {
        opcode: Opcode::Sdiv | Opcode::Srem,
        args: [dividend, divisor],
    } = func.dfg.insts[inst]
    else {
        return None;
    };
    let divisor = u32::try_from(constant(func, divisor)? as i32).ok()?;
    let is_power = divisor > 1 && divisor.is_power_of_two();
    (is_power && func.dfg.value_type(dividend) == I32).then(|| (dividend, divisor.trailing_zeros()))
}

/// Replaces tests of whether a remainder is 0. Whether there is any division of the kind.
pub(super) fn test_remainders(func: &mut Function) -> bool {
    let mut any = false;
    // By remainder: the low bits of the dividend.
    let mut low: FxHashMap<Value, Value> = FxHashMap::default();
    let mut pos = FuncCursor::new(func);
    while pos.next_block().is_some() {
        while let Some(inst) = pos.next_inst() {
            let Some((dividend, exponent)) = parts(pos.func, inst) else {
                continue;
            };
            any = true;
            if pos.func.dfg.insts[inst].opcode() == Opcode::Srem {
                pos.use_srcloc(inst);
                let mask = pos.ins().iconst(I32, (1 << exponent) - 1);
                let bits = pos.ins().band(dividend, mask);
                low.insert(pos.func.dfg.first_result(inst), bits);
            }
        }
    }
    if low.is_empty() {
        return any;
    }
    let mut pos = FuncCursor::new(func);
    while pos.next_block().is_some() {
        while let Some(inst) = pos.next_inst() {
            let tested = match pos.func.dfg.insts[inst] {
                InstructionData::Brif { arg, .. } => arg,
                InstructionData::IntCompare {
                    cond: IntCC::Equal | IntCC::NotEqual,
                    args: [a, b],
                    ..
                } if constant(pos.func, b).is_some_and(|c| c as i32 == 0) => a,
                _ => continue,
            };
            if let Some(bits) = low.get(&tested) {
                pos.func.dfg.inst_args_mut(inst)[0] = *bits;
            }
        }
    }
    any
}

/// Replaces a division whose dividend is not negative.
pub(super) fn of_natural(func: &mut Function, inst: Inst) {
    let Some((dividend, exponent)) = parts(func, inst) else {
        return;
    };
    let is_quotient = func.dfg.insts[inst].opcode() == Opcode::Sdiv;
    let number = match is_quotient {
        true => i64::from(exponent),
        false => (1 << exponent) - 1,
    };
    let mut pos = FuncCursor::new(func).at_inst(inst);
    pos.use_srcloc(inst);
    let number = pos.ins().iconst(I32, number);
    match is_quotient {
        true => pos.func.replace(inst).ushr(dividend, number),
        false => pos.func.replace(inst).band(dividend, number),
    };
}

#[cfg(test)]
mod tests {
    use super::{of_natural, test_remainders};
    use crate::optimise::testing::parsed;

    const TEXT: &str = "function %f(i32) -> i32 {
        block0(v0: i32):
            v1 = iconst.i32 8
            v2 = srem v0, v1
            v3 = iconst.i32 0
            v4 = icmp ne v2, v3
            brif v2, block1, block2
        block1:
            v5 = sdiv v0, v1
            return v5
        block2:
            return v2
        }";

    #[test]
    fn a_remainder_that_is_compared_with_zero_is_the_low_bits() {
        let (mut func, ..) = parsed(TEXT);
        assert!(test_remainders(&mut func));
        let text = func.to_string();
        assert!(
            text.contains("icmp ne v7, v3") && text.contains("brif v7"),
            "{text}"
        );
        assert!(text.contains("return v2"), "{text}");
    }

    #[test]
    fn divisions_of_numbers_that_are_not_negative_are_shifts_and_masks() {
        let (mut func, ..) = parsed(TEXT);
        let blocks: Vec<_> = func.layout.blocks().collect();
        for block in blocks {
            let insts: Vec<_> = func.layout.block_insts(block).collect();
            insts
                .into_iter()
                .for_each(|inst| of_natural(&mut func, inst));
        }
        let text = func.to_string();
        assert!(!text.contains("srem") && !text.contains("sdiv"), "{text}");
        assert!(
            text.contains("ushr.i32 v0") && text.contains("band v0"),
            "{text}"
        );
    }
}
