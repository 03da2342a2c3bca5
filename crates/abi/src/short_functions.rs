//! Functions of the C library that are called without leaving managed code.
//!
//! # Invariants
//! * Each runs for less than a microsecond, waits for nothing, calls nothing of the program's and takes less of the stack than its guard has
//!   ([`crate::stack`]). So a thread may run it where it is not stopped.
//! * Each takes doubles and returns a double.

macro_rules! short_functions {
    ($( $name:ident ($arity:literal) )*) => {
        /// A function of this kind, by its C name.
        #[expect(non_camel_case_types, missing_docs, reason = "the names are C's")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ShortFunction { $( $name ),* }

        impl ShortFunction {
            /// All of them.
            pub const ALL: &[ShortFunction] = &[$( ShortFunction::$name ),*];
            /// The C name.
            pub const fn name(self) -> &'static str {
                match self { $( ShortFunction::$name => stringify!($name) ),* }
            }
            /// How many arguments it has.
            pub const fn arity(self) -> usize {
                match self { $( ShortFunction::$name => $arity ),* }
            }
        }
    };
}

short_functions! {
    fabs(1) sqrt(1) floor(1) ceil(1) trunc(1) round(1) rint(1) cbrt(1)
    sin(1) cos(1) tan(1) asin(1) acos(1) atan(1) sinh(1) cosh(1) tanh(1)
    exp(1) exp2(1) expm1(1) log(1) log2(1) log10(1) log1p(1)
    pow(2) atan2(2) fmod(2) hypot(2) fmin(2) fmax(2) copysign(2)
}

impl ShortFunction {
    /// The function of that C name.
    pub fn named(name: &str) -> Option<ShortFunction> {
        ShortFunction::ALL
            .iter()
            .copied()
            .find(|f| f.name() == name)
    }
}
