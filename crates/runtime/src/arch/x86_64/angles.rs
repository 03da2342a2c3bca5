//! Sine and cosine as the floating-point unit's own instructions compute them.
//!
//! # How it works
//! The instructions take three times as long as the C library, and subtract multiples of a pi of 66 bits. What that does to a result is at most `2^-66` of the
//! argument. Where the result is no smaller than `2^-10` of the argument it is an eighth of the last bit, and the C library's result is taken. So a program sees the
//! instructions' results where they are other ones: next to the zeros, and of large angles.
//!
//! # Invariants
//! An argument of 2^63 or more is the result, as the instructions leave it.
use crate::code::libm;
use std::arch::asm;

/// A result that is smaller than this part of the argument is the instruction's.
const PART: f64 = 1.0 / 1024.0;

/// The sine.
pub(crate) fn sine(x: f64) -> f64 {
    // No result is as large as that part of the argument.
    if x.abs() * PART > 1.0 {
        return sine_by_instruction(x);
    }
    let result = libm::sin(x);
    match result.abs() >= x.abs() * PART {
        true => result,
        false => sine_by_instruction(x),
    }
}

/// The cosine.
pub(crate) fn cosine(x: f64) -> f64 {
    // No result is as large as that part of the argument.
    if x.abs() * PART > 1.0 {
        return cosine_by_instruction(x);
    }
    let result = libm::cos(x);
    match result.abs() >= x.abs() * PART {
        true => result,
        false => cosine_by_instruction(x),
    }
}

macro_rules! by_instruction {
    ($(#[$about:meta])* $name:ident, $instruction:literal) => {
        $(#[$about])*
        fn $name(x: f64) -> f64 {
            let mut value = x;
            // SAFETY: the code reads and writes the variable. It takes one register of the unit's stack, which is empty between calls, and gives it back.
            unsafe {
                asm!(
                    "fld qword ptr [{value}]",
                    $instruction,
                    "fstp qword ptr [{value}]",
                    value = in(reg) &mut value,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack)
                );
            }
            value
        }
    };
}

by_instruction! {
    /// The sine, by `fsin`.
    sine_by_instruction, "fsin"
}
by_instruction! {
    /// The cosine, by `fcos`.
    cosine_by_instruction, "fcos"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_the_c_library_differs_by_the_last_bit_at_most() {
        let mut x = 1e-9;
        while x < 3000.0 {
            for (ours, theirs) in [
                (sine(x), sine_by_instruction(x)),
                (cosine(x), cosine_by_instruction(x)),
            ] {
                assert!(
                    ours.to_bits().abs_diff(theirs.to_bits()) <= 1,
                    "{x:e}: {ours:e}, {theirs:e}"
                );
            }
            x *= 1.000_31;
        }
        let pi = format!("{:.14e}", sine(std::f64::consts::PI));
        assert_eq!(pi, "1.22460635382238e-16");
    }
}
