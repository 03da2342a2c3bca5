//! Values on the IL stack: their ECMA stack types, what is known of them, and the implicit
//! conversions.
//!
//! # How it works
//! While a block is translated, the IL stack exists only as a vector of [`StackValue`]s. Pushing
//! and popping emit no code; a CLIF value is an SSA value, which Cranelift's register allocator
//! places.
//!
//! ECMA-335 III.1.1 has these types on the stack. Conversions in the direction of the arrows are
//! implicit here:
//!
//! ```text
//! IL            StackType    CLIF   memory
//! int32         I32          i32    bool, char and integers up to 32 bits
//! int64         I64          i64
//! native int    Native       i64    also unmanaged pointers      I32 -> Native
//! F             F32, F64     f32..  two types, as in mono        F32 <-> F64
//! &             ByRef        i64    may point into an object
//! O             Ref          i64    the start of an object, or null
//! value type    Struct       i64    the address of the value
//! ```
//!
//! What is known of a value beyond its type, who says so, and who uses it:
//!
//! ```text
//! fact         set by                                     used by
//! NonNull      this after a check, static and element     null checks
//!              addresses, Type objects
//! Null         ldnull                                     casts, stores to arrays
//! Exact        newobj, newarr, box, ldstr                 virtual calls, null checks
//! ExactOrNull  ldloc of what is stored once               virtual calls
//! Frame        ldloca, ldarga, small localloc             null checks, barriers, tail calls
//! Variable     ldloc and ldarg of a struct                spill_aliased, store_variable
//! Comparer     EqualityComparer<T>.Default                virtual calls
//! Boxed        box of an enum, for Enum.HasFlag           Enum.HasFlag
//! Code         ldftn, ldvirtftn                           newobj of a delegate
//! ```
//!
//! # Invariants
//! * A struct on the stack is the address of memory that does not change while it is there: a
//!   temporary, or the slot of the variable it was loaded from ([`ValueFact::Variable`]), which is
//!   copied before anything may write to it.
//! * Integers narrower than 32 bits are kept extended in an I32 (ECMA-335 I.12.1). They are
//!   narrowed where they are stored, passed or returned.
//! * The collector scans frames conservatively: it finds an object by any address inside it, in a
//!   register or a stack slot. A value here needs no root of its own.
use crate::signature::{Pass, scalar_kind};
use crate::translate::error::{Res, TranslateError};
use cranelift_codegen::ir::{Type, Value, types::*};
use vervet_types::{ClassRef, MethodRef, ScalarKind};

/// An ECMA stack type. F32 and F64 are both F.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the table in the module describes each")]
pub enum StackType {
    I32,
    I64,
    Native,
    F32,
    F64,
    ByRef,
    Ref,
    Struct,
}

impl StackType {
    /// The CLIF type that represents it.
    pub fn clif(self) -> Type {
        match self {
            StackType::I32 => I32,
            StackType::F32 => F32,
            StackType::F64 => F64,
            _ => I64,
        }
    }
    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, StackType::F32 | StackType::F64)
    }
    /// Whether it is a 64-bit integer or an address.
    pub fn is_word(self) -> bool {
        matches!(
            self,
            StackType::I64 | StackType::Native | StackType::ByRef | StackType::Ref
        )
    }
}

/// What is known of a value beyond its type. A fact holds for the SSA value, and so as long as the
/// value is on the stack.
#[derive(Clone, Copy)]
pub enum ValueFact {
    /// Nothing.
    None,
    /// It is not null.
    NonNull,
    /// It is the null constant.
    Null,
    /// It is not null, and an instance of exactly `StackValue::class`, not of a subclass.
    Exact,
    /// It is null, or an instance of exactly `StackValue::class`.
    ExactOrNull,
    /// It is an address in this frame. Stores through it need no card mark and no null check.
    Frame,
    /// A struct that still lies in the slot of that variable (arguments first, then locals).
    Variable(u32),
    /// An exact instance that is not loaded yet: `EqualityComparer<T>.Default`, by that method
    /// (module `comparers`).
    Comparer(MethodRef),
    /// A box that is not made yet, of that number (module `has_flag`).
    Boxed(Value),
    /// A code address from `ldftn` (false) or `ldvirtftn` (true), for the constructor of a
    /// delegate.
    Code(MethodRef, bool),
}

/// A value on the IL stack.
#[derive(Clone, Copy)]
pub struct StackValue {
    /// Its type.
    pub stack_type: StackType,
    /// The CLIF value; of a struct its address.
    pub value: Value,
    /// The class of a struct; what is statically known of a reference.
    pub class: Option<ClassRef>,
    /// What else is known of it.
    pub fact: ValueFact,
}

impl StackValue {
    /// The class that the object is an instance of exactly, if it is not null: of an object that is neither a box nor an array, whose classes say what
    /// they hold.
    pub fn exact_object(&self) -> Res<Option<ClassRef>> {
        match (self.fact, self.class) {
            (ValueFact::Exact | ValueFact::ExactOrNull, Some(class))
                if !class.is_array() && !class.is_value_type()? =>
            {
                Ok(Some(class))
            }
            _ => Ok(None),
        }
    }
}

/// The stack type of the values of a class.
pub fn stack_type_of(class: ClassRef) -> Res<StackType> {
    if class.is_byref() {
        return Ok(StackType::ByRef);
    }
    if class.is_ptr() || class.is_fn_ptr() {
        return Ok(StackType::Native);
    }
    Ok(match Pass::of(class)? {
        Pass::None => return Err(TranslateError::invalid("a value of type void")),
        Pass::Scalars(_) | Pass::Address => StackType::Struct,
        Pass::Scalar(I32) => StackType::I32,
        Pass::Scalar(F32) => StackType::F32,
        Pass::Scalar(F64) => StackType::F64,
        Pass::Scalar(_) => match scalar_kind(class) {
            ScalarKind::I8 => StackType::I64,
            ScalarKind::Ref => StackType::Ref,
            _ => StackType::Native,
        },
    })
}
