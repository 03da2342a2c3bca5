//! The C library's functions of floating-point numbers, for internal calls and for generated code.
//!
//! # Invariants
//! * Internal calls and helpers call the same functions, so a program gets the same bits whichever way its call takes.
use vervet_abi::MathFunction;

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
    }
}
