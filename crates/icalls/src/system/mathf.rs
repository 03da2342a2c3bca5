//! Native half of System.MathF: the C library's functions, special cases included (measured: mono does not add its own).
//!
//! Keeps nothing.
use crate::support::args::Out;
use vervet_runtime::icalls;

mod libm {
    unsafe extern "C" {
        pub safe fn acosf(x: f32) -> f32;
        pub safe fn acoshf(x: f32) -> f32;
        pub safe fn asinf(x: f32) -> f32;
        pub safe fn asinhf(x: f32) -> f32;
        pub safe fn atanf(x: f32) -> f32;
        pub safe fn atanhf(x: f32) -> f32;
        pub safe fn cbrtf(x: f32) -> f32;
        pub safe fn ceilf(x: f32) -> f32;
        pub safe fn cosf(x: f32) -> f32;
        pub safe fn coshf(x: f32) -> f32;
        pub safe fn expf(x: f32) -> f32;
        pub safe fn floorf(x: f32) -> f32;
        pub safe fn logf(x: f32) -> f32;
        pub safe fn log10f(x: f32) -> f32;
        pub safe fn sinf(x: f32) -> f32;
        pub safe fn sinhf(x: f32) -> f32;
        pub safe fn sqrtf(x: f32) -> f32;
        pub safe fn tanf(x: f32) -> f32;
        pub safe fn tanhf(x: f32) -> f32;
        pub safe fn atan2f(x: f32, y: f32) -> f32;
        pub safe fn powf(x: f32, y: f32) -> f32;
    }
}

icalls! {
    "System.MathF::Acos" fn acos(cx, x: f32) -> f32 { Ok(libm::acosf(x)) }
    "System.MathF::Acosh" fn acosh(cx, x: f32) -> f32 { Ok(libm::acoshf(x)) }
    "System.MathF::Asin" fn asin(cx, x: f32) -> f32 { Ok(libm::asinf(x)) }
    "System.MathF::Asinh" fn asinh(cx, x: f32) -> f32 { Ok(libm::asinhf(x)) }
    "System.MathF::Atan" fn atan(cx, x: f32) -> f32 { Ok(libm::atanf(x)) }
    "System.MathF::Atanh" fn atanh(cx, x: f32) -> f32 { Ok(libm::atanhf(x)) }
    "System.MathF::Cbrt" fn cbrt(cx, x: f32) -> f32 { Ok(libm::cbrtf(x)) }
    "System.MathF::Ceiling" fn ceiling(cx, x: f32) -> f32 { Ok(libm::ceilf(x)) }
    "System.MathF::Cos" fn cos(cx, x: f32) -> f32 { Ok(libm::cosf(x)) }
    "System.MathF::Cosh" fn cosh(cx, x: f32) -> f32 { Ok(libm::coshf(x)) }
    "System.MathF::Exp" fn exp(cx, x: f32) -> f32 { Ok(libm::expf(x)) }
    "System.MathF::Floor" fn floor(cx, x: f32) -> f32 { Ok(libm::floorf(x)) }
    "System.MathF::Log" fn log(cx, x: f32) -> f32 { Ok(libm::logf(x)) }
    "System.MathF::Log10" fn log10(cx, x: f32) -> f32 { Ok(libm::log10f(x)) }
    "System.MathF::Sin" fn sin(cx, x: f32) -> f32 { Ok(libm::sinf(x)) }
    "System.MathF::Sinh" fn sinh(cx, x: f32) -> f32 { Ok(libm::sinhf(x)) }
    "System.MathF::Sqrt" fn sqrt(cx, x: f32) -> f32 { Ok(libm::sqrtf(x)) }
    "System.MathF::Tan" fn tan(cx, x: f32) -> f32 { Ok(libm::tanf(x)) }
    "System.MathF::Tanh" fn tanh(cx, x: f32) -> f32 { Ok(libm::tanhf(x)) }
    "System.MathF::Atan2" fn atan2(cx, y: f32, x: f32) -> f32 { Ok(libm::atan2f(y, x)) }
    "System.MathF::Pow" fn pow(cx, x: f32, y: f32) -> f32 { Ok(libm::powf(x, y)) }
    /// The remainder with the sign of `x`; exact.
    "System.MathF::FMod" fn fmod(cx, x: f32, y: f32) -> f32 { Ok(x % y) }
    /// The fraction; the whole part goes to `whole`. Both keep the sign.
    "System.MathF::ModF" fn modf(cx, x: f32, whole: Out<'cx, f32>) -> f32 {
        let w = x.trunc();
        whole.set(w);
        Ok(if x.is_infinite() { 0.0_f32.copysign(x) } else { (x - w).copysign(x) })
    }
}
