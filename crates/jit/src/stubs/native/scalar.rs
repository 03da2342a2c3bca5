//! Native scalars: values that are converted inline, if they need it at all.
//!
//! # Invariants
//! A managed scalar here is in its passed form (I32 extended, I64, F32, F64). A native one is the same but for what
//! [`Scalar::is_identity`] excludes; a callee of native code may leave rubbish above the low bits.
use crate::emit::trusted;
use crate::signature::{load_leaf, store_leaf};
use crate::stubs::native::marshal_spec::{CharSet, MarshalSpec, native_type as nt};
use crate::stubs::native::sysv::Abi;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use vervet_types::{LeafKind, Prim};

/// What a scalar is on the native side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Scalar {
    /// The same as on the managed side.
    Same(LeafKind),
    /// A bool of that many bytes (1 or 4): not zero is true.
    Bool(u8),
    /// VARIANT_BOOL: 16 bits, -1 is true.
    VariantBool,
    /// A char as one byte.
    AnsiChar,
}

impl Scalar {
    /// Of a primitive (or of an enum's underlying one).
    pub fn of(prim: Prim, spec: &MarshalSpec, char_set: CharSet) -> Scalar {
        match (prim, spec.native) {
            (Prim::Bool, nt::I1 | nt::U1) => Scalar::Bool(1),
            (Prim::Bool, nt::VARIANT_BOOL) => Scalar::VariantBool,
            (Prim::Bool, _) => Scalar::Bool(4),
            (Prim::Char, nt::I1 | nt::U1) => Scalar::AnsiChar,
            (Prim::Char, nt::I2 | nt::U2) => Scalar::Same(LeafKind::U2),
            (Prim::Char, _) if char_set == CharSet::Ansi => Scalar::AnsiChar,
            (prim, _) => Scalar::Same(LeafKind::of_prim(prim)),
        }
    }
    /// A pointer.
    pub const POINTER: Scalar = Scalar::Same(LeafKind::Ptr);
    /// Are both sides' memory the same? (A one-byte bool is.)
    pub fn is_identity(self) -> bool {
        matches!(self, Scalar::Same(_) | Scalar::Bool(1))
    }
    /// Memory on the native side.
    pub fn native_kind(self) -> LeafKind {
        match self {
            Scalar::Same(kind) => kind,
            Scalar::Bool(1) | Scalar::AnsiChar => LeafKind::U1,
            Scalar::Bool(_) => LeafKind::I4,
            Scalar::VariantBool => LeafKind::I2,
        }
    }
    /// Memory on the managed side.
    pub fn managed_kind(self) -> LeafKind {
        match self {
            Scalar::Same(kind) => kind,
            Scalar::Bool(_) | Scalar::VariantBool => LeafKind::U1,
            Scalar::AnsiChar => LeafKind::U2,
        }
    }
    /// Bytes (and alignment) on the native side.
    pub fn size(self) -> u32 {
        self.native_kind().size()
    }
    /// Is it a float?
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Same(LeafKind::R4 | LeafKind::R8))
    }
    /// How it travels.
    pub fn abi(self) -> Abi {
        if self.is_float() {
            Abi::sse()
        } else {
            Abi::int()
        }
    }
    /// From managed to native, both as passed.
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
    /// From native, with whatever lies above its low bits, to managed.
    pub fn from_native(self, b: &mut FunctionBuilder, value: Value) -> Value {
        if self.is_float() {
            return value;
        }
        let kind = self.native_kind();
        let value = match b.func.dfg.value_type(value) {
            I64 if crate::signature::leaf_type(kind) == I32 => b.ins().ireduce(I32, value),
            _ => value,
        };
        let value = match kind {
            LeafKind::I1 | LeafKind::U1 => {
                let low = b.ins().ireduce(I8, value);
                if kind == LeafKind::I1 {
                    b.ins().sextend(I32, low)
                } else {
                    b.ins().uextend(I32, low)
                }
            }
            LeafKind::I2 | LeafKind::U2 => {
                let low = b.ins().ireduce(I16, value);
                if kind == LeafKind::I2 {
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
        let value = load_leaf(b, flags, self.native_kind(), addr, offset);
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
        store_leaf(b, flags, self.native_kind(), value, addr, offset);
    }
    /// Converts to native and stores it as a whole word of an argument block: integers extended, a float in the low
    /// bytes.
    pub fn store_word(self, b: &mut FunctionBuilder, value: Value, addr: Value, offset: i32) {
        let value = self.to_native(b, value);
        let value = match b.func.dfg.value_type(value) {
            I32 if matches!(self, Scalar::Same(LeafKind::U1 | LeafKind::U2)) => {
                b.ins().uextend(I64, value)
            }
            I32 => b.ins().sextend(I64, value),
            _ => value,
        };
        b.ins().store(trusted(), value, addr, offset);
    }
    /// Loads from a word of an argument block and converts to managed.
    pub fn load_word(self, b: &mut FunctionBuilder, addr: Value, offset: i32) -> Value {
        let ty = if self.is_float() {
            crate::signature::leaf_type(self.native_kind())
        } else {
            I64
        };
        let value = b.ins().load(ty, trusted(), addr, offset);
        self.from_native(b, value)
    }
}
