//! SIMD vectors: value types whose values are held in registers of 128 bits, and whose methods are instructions. In this module a vector is one of these, not an array.
//!
//! ```text
//! lanes        which classes are vectors, and what their lanes are
//! operation    which methods are operations on vectors: the declared table
//! expand       the instructions of each operation
//! convert      those that change the lanes
//! arrays       vectors that are loaded from arrays and stored there
//! mono         what only the vectors of Mono.Simd can do
//! ```
//!
//! A loop over `sum += new Vector<float>(x, i) * new Vector<float>(y, i)` becomes, without what checks the index:
//!
//! ```text
//! vmovdqu 0x10(%rsi, %rcx, 4), %xmm2
//! vmovdqu 0x10(%rbx, %rcx, 4), %xmm3
//! vmulps  %xmm3, %xmm2, %xmm2
//! vaddps  %xmm2, %xmm0, %xmm0
//! ```
//!
//! # How a vector travels
//! ```text
//! IL stack              the address of 16 bytes of this frame, like any struct
//! local, temporary      a stack slot; in optimised code a register (`optimise::slots`)
//! field, array element  16 bytes, loaded and stored at once (`values::memory`)
//! argument, result      by address: `Vector<T>` is a union of all its lanes, so it has no scalars to travel as
//! ```
//!
//! # Invariants
//! * An operation gives the bits that the class library's own body gives. Where the body throws, it is called to do so.
//! * A vector has no references.
mod arrays;
mod convert;
mod expand;
mod lanes;
mod mono;
mod operation;

pub(crate) use lanes::{is_simd, simd_vectors_in};
pub(crate) use operation::{Operation, operation_of};
