//! Native scalars: values that are converted by emitted code, if they need a conversion at all.
//!
//! # How it works
//! ```text
//! managed       native                         conversion to native      to managed
//! bool          BOOL, 4 bytes (default)        x != 0                    x != 0
//! bool          1 byte (I1, U1)                none                      x != 0
//! bool          VARIANT_BOOL, 2 bytes          -(x != 0)                 x != 0
//! char          1 byte (fields, CharSet.Ansi)  x & 0xff                  extended
//! others        the same                       none                      extended
//! ```
//!
//! As mono does it, the bool that a native function returns is its low byte, whatever the return value is declared to be, and a char that is passed, by value or
//! by reference, has 16 bits in every character set.
//!
//! # Invariants
//! A managed scalar is in its passed form: I32 extended, I64, F32, F64. A native one may have
//! arbitrary bits above its own width, because the System V convention does not define them.
use crate::emit::trusted;
use crate::signature::{load_scalar, store_scalar};
use crate::stubs::native::marshal_spec::{CharSet, MarshalSpec, native_type as nt};
use crate::stubs::native::sysv::Abi;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use vervet_types::{Prim, ScalarKind};

/// What a scalar is on the native side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Scalar {
    /// The same as on the managed side.
    Same(ScalarKind),
    /// A bool of that many bytes (1 or 4): not zero is true.
    Bool(u8),
    /// VARIANT_BOOL: 16 bits, -1 is true.
    VariantBool,
    /// A char as one byte.
    AnsiChar,
}

impl Scalar {
    /// The native form of a primitive, or of the underlying type of an enum.
    pub fn of(prim: Prim, spec: &MarshalSpec, char_set: CharSet) -> Scalar {
        match (prim, spec.native) {
            (Prim::Bool, nt::I1 | nt::U1) => Scalar::Bool(1),
            (Prim::Bool, nt::VARIANT_BOOL) => Scalar::VariantBool,
            (Prim::Bool, _) => Scalar::Bool(4),
            (Prim::Char, nt::I1 | nt::U1) => Scalar::AnsiChar,
            (Prim::Char, nt::I2 | nt::U2) => Scalar::Same(ScalarKind::U2),
            (Prim::Char, _) if char_set == CharSet::Ansi => Scalar::AnsiChar,
            (prim, _) => Scalar::Same(ScalarKind::of_prim(prim)),
        }
    }
    /// The native form of a parameter or result.
    pub fn passed(prim: Prim, spec: &MarshalSpec, char_set: CharSet) -> Scalar {
        match prim {
            Prim::Char => Scalar::Same(ScalarKind::U2),
            prim => Scalar::of(prim, spec, char_set),
        }
    }
    /// What is read of the register in which a native function returns it.
    pub fn returned(self) -> Scalar {
        match self {
            Scalar::Bool(_) | Scalar::VariantBool => Scalar::Bool(1),
            scalar => scalar,
        }
    }
    /// A pointer.
    pub const POINTER: Scalar = Scalar::Same(ScalarKind::Ptr);
    /// Whether managed and native memory are the same. A one-byte bool is not: native code may write any value that is not zero,
    /// where managed code has 1.
    pub fn is_identity(self) -> bool {
        matches!(self, Scalar::Same(_))
    }
    /// The kind of memory on the native side.
    pub fn native_kind(self) -> ScalarKind {
        match self {
            Scalar::Same(kind) => kind,
            Scalar::Bool(1) | Scalar::AnsiChar => ScalarKind::U1,
            Scalar::Bool(_) => ScalarKind::I4,
            Scalar::VariantBool => ScalarKind::I2,
        }
    }
    /// The kind of memory on the managed side.
    pub fn managed_kind(self) -> ScalarKind {
        match self {
            Scalar::Same(kind) => kind,
            Scalar::Bool(_) | Scalar::VariantBool => ScalarKind::U1,
            Scalar::AnsiChar => ScalarKind::U2,
        }
    }
    /// Bytes, and alignment, on the native side.
    pub fn size(self) -> u32 {
        self.native_kind().size()
    }
    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Same(ScalarKind::R4 | ScalarKind::R8))
    }
    /// How it is passed.
    pub fn abi(self) -> Abi {
        if self.is_float() {
            Abi::sse()
        } else {
            Abi::int()
        }
    }
    /// Converts from managed to native; both are in passed form.
    pub fn to_native(self, b: &mut FunctionBuilder, value: Value) -> Value {
        match self {
            Scalar::Same(_) => value,
            Scalar::AnsiChar => b.ins().band_imm_u(value, 0xff),
            Scalar::Bool(_) => {
                let set = b.ins().icmp_imm_u(IntCC::NotEqual, value, 0);
                b.ins().uextend(I32, set)
            }
            Scalar::VariantBool => {
                let set = b.ins().icmp_imm_u(IntCC::NotEqual, value, 0);
                let set = b.ins().uextend(I32, set);
                b.ins().ineg(set)
            }
        }
    }
    /// Converts from native, with arbitrary bits above its width, to managed.
    pub fn from_native(self, b: &mut FunctionBuilder, value: Value) -> Value {
        if self.is_float() {
            return value;
        }
        let kind = self.native_kind();
        let value = match b.func.dfg.value_type(value) {
            I64 if crate::signature::scalar_type(kind) == I32 => b.ins().ireduce(I32, value),
            _ => value,
        };
        let value = match kind {
            ScalarKind::I1 | ScalarKind::U1 => {
                let low = b.ins().ireduce(I8, value);
                if kind == ScalarKind::I1 {
                    b.ins().sextend(I32, low)
                } else {
                    b.ins().uextend(I32, low)
                }
            }
            ScalarKind::I2 | ScalarKind::U2 => {
                let low = b.ins().ireduce(I16, value);
                if kind == ScalarKind::I2 {
                    b.ins().sextend(I32, low)
                } else {
                    b.ins().uextend(I32, low)
                }
            }
            _ => value,
        };
        match self {
            Scalar::Bool(_) | Scalar::VariantBool => {
                let set = b.ins().icmp_imm_u(IntCC::NotEqual, value, 0);
                b.ins().uextend(I32, set)
            }
            _ => value,
        }
    }
    /// Loads the native form and converts it.
    pub fn load_native(
        self,
        b: &mut FunctionBuilder,
        flags: MemFlagsData,
        addr: Value,
        offset: i32,
    ) -> Value {
        let value = load_scalar(b, flags, self.native_kind(), addr, offset);
        self.from_native(b, value)
    }
    /// Converts and stores the native form.
    pub fn store_native(
        self,
        b: &mut FunctionBuilder,
        flags: MemFlagsData,
        value: Value,
        addr: Value,
        offset: i32,
    ) {
        let value = self.to_native(b, value);
        store_scalar(b, flags, self.native_kind(), value, addr, offset);
    }
    /// Converts to native, for an argument register: integers extended to a word, a float as it is.
    pub fn to_word(self, b: &mut FunctionBuilder, value: Value) -> Value {
        let value = self.to_native(b, value);
        match b.func.dfg.value_type(value) {
            I32 if matches!(self, Scalar::Same(ScalarKind::U1 | ScalarKind::U2)) => {
                b.ins().uextend(I64, value)
            }
            I32 => b.ins().sextend(I64, value),
            _ => value,
        }
    }
    /// Converts to native and stores a whole word of an argument block: integers extended, a float
    /// in the low bytes.
    pub fn store_word(self, b: &mut FunctionBuilder, value: Value, addr: Value, offset: i32) {
        let value = self.to_word(b, value);
        b.ins().store(trusted(), value, addr, offset);
    }
    /// Loads from a word of an argument block and converts to managed.
    pub fn load_word(self, b: &mut FunctionBuilder, addr: Value, offset: i32) -> Value {
        let ty = if self.is_float() {
            crate::signature::scalar_type(self.native_kind())
        } else {
            I64
        };
        let value = b.ins().load(ty, trusted(), addr, offset);
        self.from_native(b, value)
    }
}
