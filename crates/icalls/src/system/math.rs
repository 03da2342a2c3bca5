//! Native half of System.Math: the C library's functions, special cases included (measured: mono does not add its own). Generated code calls some of
//! them without the internal call.
//!
//! Keeps nothing.
use crate::support::args::Out;
use vervet_runtime::code::libm;
use vervet_runtime::icalls;

icalls! {
    "System.Math::Acos" fn acos(cx, x: f64) -> f64 { Ok(libm::acos(x)) }
    "System.Math::Acosh" fn acosh(cx, x: f64) -> f64 { Ok(libm::acosh(x)) }
    "System.Math::Asin" fn asin(cx, x: f64) -> f64 { Ok(libm::asin(x)) }
    "System.Math::Asinh" fn asinh(cx, x: f64) -> f64 { Ok(libm::asinh(x)) }
    "System.Math::Atan" fn atan(cx, x: f64) -> f64 { Ok(libm::atan(x)) }
    "System.Math::Atanh" fn atanh(cx, x: f64) -> f64 { Ok(libm::atanh(x)) }
    "System.Math::Cbrt" fn cbrt(cx, x: f64) -> f64 { Ok(libm::cbrt(x)) }
    "System.Math::Ceiling" fn ceiling(cx, x: f64) -> f64 { Ok(libm::ceil(x)) }
    "System.Math::Cos" fn cos(cx, x: f64) -> f64 { Ok(libm::cos(x)) }
    "System.Math::Cosh" fn cosh(cx, x: f64) -> f64 { Ok(libm::cosh(x)) }
    "System.Math::Exp" fn exp(cx, x: f64) -> f64 { Ok(libm::exp(x)) }
    "System.Math::Floor" fn floor(cx, x: f64) -> f64 { Ok(libm::floor(x)) }
    "System.Math::Log" fn log(cx, x: f64) -> f64 { Ok(libm::log(x)) }
    "System.Math::Log10" fn log10(cx, x: f64) -> f64 { Ok(libm::log10(x)) }
    "System.Math::Sin" fn sin(cx, x: f64) -> f64 { Ok(libm::sin(x)) }
    "System.Math::Sinh" fn sinh(cx, x: f64) -> f64 { Ok(libm::sinh(x)) }
    "System.Math::Sqrt" fn sqrt(cx, x: f64) -> f64 { Ok(libm::sqrt(x)) }
    "System.Math::Tan" fn tan(cx, x: f64) -> f64 { Ok(libm::tan(x)) }
    "System.Math::Tanh" fn tanh(cx, x: f64) -> f64 { Ok(libm::tanh(x)) }
    /// Rounds to the nearest integer, halves to the even one.
    "System.Math::Round" fn round(cx, a: f64) -> f64 { Ok(a.round_ties_even()) }
    "System.Math::Abs(double)" fn abs(cx, value: f64) -> f64 { Ok(value.abs()) }
    "System.Math::Abs(single)" fn abs_single(cx, value: f32) -> f32 { Ok(value.abs()) }
    "System.Math::Atan2" fn atan2(cx, y: f64, x: f64) -> f64 { Ok(libm::atan2(y, x)) }
    "System.Math::Pow" fn pow(cx, x: f64, y: f64) -> f64 { Ok(libm::pow(x, y)) }
    /// The remainder with the sign of `x`; exact.
    "System.Math::FMod" fn fmod(cx, x: f64, y: f64) -> f64 { Ok(x % y) }
    /// The fraction; the whole part goes to `whole`. Both keep the sign.
    "System.Math::ModF" fn modf(cx, x: f64, whole: Out<'cx, f64>) -> f64 {
        let w = x.trunc();
        whole.set(w);
        Ok(if x.is_infinite() { 0.0_f64.copysign(x) } else { (x - w).copysign(x) })
    }
}
