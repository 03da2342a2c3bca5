//! Which methods are operations on vectors.
//!
//! # Invariants
//! Rows apply to `Vector<T>` and `Vector` of the core library, and to Mono.Simd as the class library has it. A row that needs lanes of one kind says so where
//! it is expanded.
use super::lanes::MONO_SIMD;
use super::mono::{MonoOperation, mono_operation_of};
use crate::translate::inlining::effect::SideEffect;
use cranelift_codegen::ir::condcodes::IntCC;
use vervet_types::MethodRef;

/// An operation. See the module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `Vector.IsHardwareAccelerated`: true, for everybody but the class library, whose bodies have a quicker way than the one that they take then.
    IsAccelerated,
    /// `Vector<T>.Count`.
    Count,
    /// `Zero`, `One` and the vector of all bits.
    Constant(Constant),
    /// The constructors: of one element for all lanes, or of an array, perhaps with an index.
    Make,
    /// `CopyTo(array)`, perhaps with an index.
    CopyTo,
    /// The indexer.
    Item,
    /// Operators of two vectors. `Multiply` may have an element on either side.
    Binary(Binary),
    /// `-`.
    Negate,
    /// `~`.
    Not,
    /// `==`, and `Equals` of an instance; `!=` with false.
    AreEqual(bool),
    /// The explicit operators: the same bits as lanes of another type.
    Reinterpret,
    /// Comparisons that give a vector, by the condition of signed integers.
    Compare(IntCC),
    /// `ConditionalSelect`.
    Select,
    /// `Abs`.
    Abs,
    /// `Max`, or `Min`.
    Extreme { is_max: bool },
    /// `DotProduct`.
    Dot,
    /// `SquareRoot`.
    SquareRoot,
    /// `Widen`: two vectors of lanes of double size.
    Widen,
    /// `Narrow`: one vector of lanes of half the size.
    Narrow,
    /// `ConvertToSingle` of signed integers.
    ToFloat,
    /// What Mono.Simd has besides.
    Mono(MonoOperation),
}

impl Operation {
    /// What it does, whichever overload it is.
    pub fn effect(self) -> SideEffect {
        match self {
            Operation::Make | Operation::CopyTo | Operation::Widen => SideEffect::Writes,
            Operation::Item | Operation::AreEqual(_) | Operation::Abs => SideEffect::Reads,
            // The bodies of integers throw if the divisor is zero.
            Operation::Binary(Binary::Divide) => SideEffect::Reads,
            _ => SideEffect::None,
        }
    }
}

/// What a vector of constants consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant {
    Zero,
    One,
    AllBits,
}

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    And,
    Or,
    Xor,
}

/// The operation that a method is.
pub(crate) fn operation_of(method: MethodRef) -> Option<Operation> {
    let class = method.class.def();
    match (class.namespace, class.name) {
        ("System.Numerics", "Vector`1") if class.module.is_corlib() => of_values(method),
        ("System.Numerics", "Vector") if class.module.is_corlib() => of_functions(method),
        (MONO_SIMD, _) if class.module.is_of_class_library(MONO_SIMD) => of_mono_simd(method),
        _ => None,
    }
}

/// The rows of Mono.Simd. Its structs have the operators of `Vector<T>`.
fn of_mono_simd(method: MethodRef) -> Option<Operation> {
    use Operation::*;
    Some(match (method.class.name, method.name, method.param_count) {
        ("VectorOperations", "CompareEqual", 2) => Compare(IntCC::Equal),
        ("VectorOperations", "CompareLessThan", 2) => Compare(IntCC::SignedLessThan),
        ("VectorOperations", "CompareLessEqual", 2) => Compare(IntCC::SignedLessThanOrEqual),
        ("VectorOperations", "CompareGreaterThan", 2) => Compare(IntCC::SignedGreaterThan),
        ("VectorOperations", "Max", 2) => Extreme { is_max: true },
        ("VectorOperations", "Min", 2) => Extreme { is_max: false },
        ("VectorOperations", "Sqrt", 1) => SquareRoot,
        ("VectorOperations", name, _) => Mono(mono_operation_of(name)?),
        // The other constructors name all lanes.
        (_, ".ctor", 1) => Make,
        (_, "op_LeftShift" | "op_RightShift", 2) => Mono(mono_operation_of(method.name)?),
        (_, name, _) if name.starts_with("op_") || name == "get_Zero" || name == "get_One" => {
            of_values(method)?
        }
        _ => return None,
    })
}

/// The rows of `Vector<T>`.
fn of_values(method: MethodRef) -> Option<Operation> {
    use Operation::*;
    let takes = method.param_count;
    Some(match (method.name, takes) {
        (".ctor", 1 | 2) => Make,
        ("get_Count", 0) => Count,
        ("get_Zero", 0) => Constant(self::Constant::Zero),
        ("get_One", 0) => Constant(self::Constant::One),
        ("get_AllOnes", 0) => Constant(self::Constant::AllBits),
        ("CopyTo", 1 | 2) => CopyTo,
        ("get_Item", 1) => Item,
        ("op_Addition", 2) => Binary(self::Binary::Add),
        ("op_Subtraction", 2) => Binary(self::Binary::Subtract),
        ("op_Multiply", 2) => Binary(self::Binary::Multiply),
        ("op_Division", 2) => Binary(self::Binary::Divide),
        ("op_BitwiseAnd", 2) => Binary(self::Binary::And),
        ("op_BitwiseOr", 2) => Binary(self::Binary::Or),
        ("op_ExclusiveOr", 2) => Binary(self::Binary::Xor),
        ("op_UnaryNegation", 1) => Negate,
        ("op_OnesComplement", 1) => Not,
        ("op_Equality", 2) | ("Equals", 1) => AreEqual(true),
        ("op_Inequality", 2) => AreEqual(false),
        ("op_Explicit", 1) => Reinterpret,
        ("Equals", 2) => Compare(IntCC::Equal),
        ("LessThan", 2) => Compare(IntCC::SignedLessThan),
        ("LessThanOrEqual", 2) => Compare(IntCC::SignedLessThanOrEqual),
        ("GreaterThan", 2) => Compare(IntCC::SignedGreaterThan),
        ("GreaterThanOrEqual", 2) => Compare(IntCC::SignedGreaterThanOrEqual),
        ("ConditionalSelect", 3) => Select,
        ("Abs", 1) => Abs,
        ("Max", 2) => Extreme { is_max: true },
        ("Min", 2) => Extreme { is_max: false },
        ("DotProduct", 2) => Dot,
        ("SquareRoot", 1) => SquareRoot,
        _ => return None,
    })
}

/// The rows of `Vector`: what its methods do not do by those of `Vector<T>`.
fn of_functions(method: MethodRef) -> Option<Operation> {
    Some(match (method.name, method.param_count) {
        ("get_IsHardwareAccelerated", 0) => Operation::IsAccelerated,
        ("Widen", 3) => Operation::Widen,
        ("Narrow", 2) => Operation::Narrow,
        ("ConvertToSingle", 1) => Operation::ToFloat,
        _ => return None,
    })
}
