//! Sine and cosine as the floating-point unit's own instructions compute them.
//!
//! # Invariants
//! An argument of 2^63 or more is the result, as the instructions leave it.
use std::arch::asm;

macro_rules! by_instruction {
    ($(#[$about:meta])* $name:ident, $instruction:literal) => {
        $(#[$about])*
        pub(crate) fn $name(x: f64) -> f64 {
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
    /// The sine.
    sine, "fsin"
}
by_instruction! {
    /// The cosine.
    cosine, "fcos"
}
