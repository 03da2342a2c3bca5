//! The C library's functions of floating-point numbers, for internal calls and for generated code.
//!
//! # Invariants
//! * Internal calls, helpers and P/Invokes call the same functions, so a program gets the same bits whichever way its call takes. Sine and cosine that code calls directly are
//!   those of the processor's instructions, as in mono.
use crate::arch::angles;
use vervet_abi::{MathFunction, ShortFunction};

unsafe extern "C" {
    /// C `acos`.
    pub safe fn acos(x: f64) -> f64;
    /// C `acosh`.
    pub safe fn acosh(x: f64) -> f64;
    /// C `asin`.
    pub safe fn asin(x: f64) -> f64;
    /// C `asinh`.
    pub safe fn asinh(x: f64) -> f64;
    /// C `atan`.
    pub safe fn atan(x: f64) -> f64;
    /// C `atanh`.
    pub safe fn atanh(x: f64) -> f64;
    /// C `cbrt`.
    pub safe fn cbrt(x: f64) -> f64;
    /// C `ceil`.
    pub safe fn ceil(x: f64) -> f64;
    /// C `cos`.
    pub safe fn cos(x: f64) -> f64;
    /// C `cosh`.
    pub safe fn cosh(x: f64) -> f64;
    /// C `exp`.
    pub safe fn exp(x: f64) -> f64;
    /// C `floor`.
    pub safe fn floor(x: f64) -> f64;
    /// C `log`.
    pub safe fn log(x: f64) -> f64;
    /// C `log10`.
    pub safe fn log10(x: f64) -> f64;
    /// C `sin`.
    pub safe fn sin(x: f64) -> f64;
    /// C `sinh`.
    pub safe fn sinh(x: f64) -> f64;
    /// C `sqrt`.
    pub safe fn sqrt(x: f64) -> f64;
    /// C `tan`.
    pub safe fn tan(x: f64) -> f64;
    /// C `tanh`.
    pub safe fn tanh(x: f64) -> f64;
    /// C `atan2`.
    pub safe fn atan2(x: f64, y: f64) -> f64;
    /// C `pow`.
    pub safe fn pow(x: f64, y: f64) -> f64;
}

/// Whether the address is that of the C library's short function of that name.
pub fn is_short(name: &str, address: usize) -> bool {
    ShortFunction::named(name)
        .is_some_and(|function| address != 0 && address_of(function) == address)
}

/// The function's address in the C library that this process has loaded; 0: there is none. (A host may export functions of these names as well.)
fn address_of(function: ShortFunction) -> usize {
    let mut name = [0; 16];
    name[..function.name().len()].copy_from_slice(function.name().as_bytes());
    // SAFETY: both names end with a zero. The library is loaded already, since this file needs it, so closing the handle unloads nothing.
    unsafe {
        let library = libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        if library.is_null() {
            return 0;
        }
        let address = libc::dlsym(library, name.as_ptr().cast());
        libc::dlclose(library);
        address as usize
    }
}

/// The helper `CallLibm`: a [`ShortFunction`] of `x`, or of `x` and `y`. `function` is its address.
pub(super) extern "C" fn call(x: f64, y: f64, function: usize) -> f64 {
    // SAFETY: generated code passes what `is_short` has found. A function of one argument does not look at the register of the second.
    let function: extern "C" fn(f64, f64) -> f64 = unsafe { std::mem::transmute(function) };
    function(x, y)
}

/// The helper `Math`: a function of `x`, or of `x` and `y`. `function` is the number of a [`MathFunction`].
pub(super) extern "C" fn math(x: f64, y: f64, function: i32) -> f64 {
    use MathFunction::*;
    match MathFunction::ALL[function as usize] {
        Sin => sin(x),
        Cos => cos(x),
        Tan => tan(x),
        Asin => asin(x),
        Acos => acos(x),
        Atan => atan(x),
        Exp => exp(x),
        Log => log(x),
        Log10 => log10(x),
        Pow => pow(x, y),
        Atan2 => atan2(x, y),
        SinByInstruction => angles::sine(x),
        CosByInstruction => angles::cosine(x),
    }
}
