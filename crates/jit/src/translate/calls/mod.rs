//! Instructions that call methods: `call`, `callvirt`, `calli`, `newobj`, `ldftn`, and the methods translated in place.
mod activator;
pub mod bounds;
mod bypass;
pub mod call;
mod characters;
pub mod comparers;
mod crypto;
mod get_type;
pub mod guarded;
pub mod has_flag;
pub mod intrinsics;
pub mod library;
pub mod math;
pub mod newobj;
mod regex;
pub mod target;
mod texts;
