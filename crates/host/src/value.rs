//! Values that go into managed code and come out of it.
//!
//! # Invariants
//! A value owns what it holds: text is a copy, an object a handle.
use crate::domain::Object;
use crate::error::{Error, Result};

/// An argument or a result.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Value {
    /// null, or no result.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    I32(i32),
    /// A `long`.
    I64(i64),
    /// A `float`.
    F32(f32),
    /// A `double`.
    F64(f64),
    /// A `string`; a lone surrogate in a result becomes the replacement character.
    Text(String),
    /// Any other object, boxed values included.
    Object(Object),
}

macro_rules! conversions { ($($ty:ty, $variant:ident, $what:literal;)*) => { $(
    impl From<$ty> for Value {
        fn from(value: $ty) -> Value {
            Value::$variant(value)
        }
    }
    impl TryFrom<Value> for $ty {
        type Error = Error;
        fn try_from(value: Value) -> Result<$ty> {
            match value {
                Value::$variant(value) => Ok(value),
                other => Err(Error::Mismatch(format!("{other:?} is no {}", $what))),
            }
        }
    }
)* } }
conversions! {
    bool, Bool, "bool";
    i32, I32, "int";
    i64, I64, "long";
    f32, F32, "float";
    f64, F64, "double";
    String, Text, "string";
    Object, Object, "object";
}
impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}
