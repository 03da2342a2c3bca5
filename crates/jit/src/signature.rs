//! How a managed signature is passed in registers and on the stack: the calling convention, in one place.
//!
//! # Invariants
//! `CallConv::Tail`. Order of CLIF parameters: `this` (if any), the return buffer's address (if the result
//! is a struct that does not travel as scalars), the arguments. A struct with [`vervet_types::Layout::leaves`]
//! travels as its leaves, as argument and as result; any other by address of a caller-owned copy that the
//! callee may not change before it copies it. I1/U1/I2/U2/Bool/Char travel as I32, already extended by the
//! caller (sign or zero by type); the callee relies on it. References, byrefs, pointers, native ints are I64.
//! The `this` of a value type's instance method is a byref (unboxed entry).
use cranelift_codegen::ir::{
    AbiParam, InstBuilder, MemFlagsData, Signature, Type, Value,
    types::{F32, F64, I32, I64},
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use smallvec::{SmallVec, smallvec};
use std::fmt::Write;
use vervet_types::{ClassRef, LoadError, MethodRef, MethodSig, Prim, ScalarKind};

/// Integer arguments that `CallConv::Tail` passes in registers.
pub const INT_ARG_REGS: u32 = 6;
/// Float arguments that `CallConv::Tail` passes in registers.
pub const FLOAT_ARG_REGS: u32 = 8;

/// How one value travels.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Pass {
    /// Nothing (void).
    None,
    /// One register-sized value of this CLIF type.
    Scalar(Type),
    /// A small struct: its leaves (offset in the value, kind), each a CLIF parameter of its own.
    Scalars(SmallVec<[(u32, ScalarKind); 4]>),
    /// A struct by address of a copy; as a result: through the return buffer.
    Address,
}

/// The values one argument or result consists of.
pub type Passed = SmallVec<[Value; 4]>;

impl Pass {
    /// How a value of the class travels. The class must be closed.
    pub fn of(class: ClassRef) -> Result<Pass, LoadError> {
        if class.prim == Some(Prim::Void) {
            return Ok(Pass::None);
        }
        if !class.is_value_type()? {
            return Ok(Pass::Scalar(I64));
        }
        if let Some(prim) = class.stack_prim()? {
            return Ok(Pass::Scalar(scalar_type(ScalarKind::of_prim(prim))));
        }
        match &class.layout()?.scalars {
            Some(scalars) => Ok(Pass::Scalars(
                scalars.iter().map(|l| (l.offset, l.kind)).collect(),
            )),
            None => Ok(Pass::Address),
        }
    }
    /// The CLIF types of the values it consists of as an argument.
    pub fn types(&self) -> SmallVec<[Type; 4]> {
        match self {
            Pass::None => smallvec![],
            Pass::Scalar(ty) => smallvec![*ty],
            Pass::Scalars(scalars) => scalars.iter().map(|(_, kind)| scalar_type(*kind)).collect(),
            Pass::Address => smallvec![I64],
        }
    }
    /// Number of CLIF parameters it takes as an argument.
    pub fn count(&self) -> usize {
        match self {
            Pass::None => 0,
            Pass::Scalar(_) | Pass::Address => 1,
            Pass::Scalars(scalars) => scalars.len(),
        }
    }
    fn write_key(&self, key: &mut String) {
        match self {
            Pass::None => key.push('v'),
            Pass::Scalar(ty) => key.push(type_key(*ty)),
            Pass::Address => key.push('a'),
            Pass::Scalars(scalars) => {
                key.push('{');
                for (offset, kind) in scalars {
                    let _ = write!(key, "{offset}{:?}", kind);
                }
                key.push('}');
            }
        }
    }
}

fn type_key(ty: Type) -> char {
    match ty {
        I32 => 'i',
        I64 => 'l',
        F32 => 'f',
        F64 => 'd',
        _ => '?',
    }
}

/// A lowered signature.
#[derive(Clone)]
pub struct LoweredSignature {
    /// Has a `this`.
    pub has_this: bool,
    /// How the result travels.
    pub ret: Pass,
    /// How each declared parameter travels.
    pub params: Vec<Pass>,
    /// The classes behind (ret, params), for loads and stores.
    pub ret_class: ClassRef,
    /// See `ret_class`.
    pub param_classes: Vec<ClassRef>,
    /// The CLIF signature (Tail).
    pub clif: Signature,
    /// Bytes of arguments on the stack.
    pub stack_arg_bytes: u32,
}

impl LoweredSignature {
    /// Lowers a signature.
    pub fn of(sig: &MethodSig) -> Result<LoweredSignature, LoadError> {
        let params = sig
            .params
            .iter()
            .map(|c| Pass::of(c))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(LoweredSignature::new(
            sig.has_this && !sig.explicit_this,
            Pass::of(sig.ret)?,
            params,
            sig.ret,
            sig.params.clone(),
        ))
    }
    /// The shape of a method, from its signature in the closed context.
    pub fn of_method(method: MethodRef) -> Result<LoweredSignature, LoadError> {
        LoweredSignature::of(method.sig()?)
    }
    /// Puts the parts together.
    pub fn new(
        has_this: bool,
        ret: Pass,
        params: Vec<Pass>,
        ret_class: ClassRef,
        param_classes: Vec<ClassRef>,
    ) -> LoweredSignature {
        let mut clif = Signature::new(CallConv::Tail);
        let mut add = |ty| clif.params.push(AbiParam::new(ty));
        if has_this {
            add(I64);
        }
        if ret == Pass::Address {
            add(I64);
        }
        params.iter().flat_map(Pass::types).for_each(add);
        if ret != Pass::Address {
            clif.returns
                .extend(ret.types().into_iter().map(AbiParam::new));
        }
        let stack_arg_bytes = stack_arg_bytes(&clif);
        LoweredSignature {
            has_this,
            ret,
            params,
            ret_class,
            param_classes,
            clif,
            stack_arg_bytes,
        }
    }
    /// A key such that equal keys mean the same CLIF signature and the same passing: for sharing stubs.
    pub fn key(&self) -> String {
        let mut key = String::with_capacity(self.params.len() + 3);
        if self.has_this {
            key.push('t');
        }
        self.ret.write_key(&mut key);
        key.push('(');
        self.params.iter().for_each(|p| p.write_key(&mut key));
        key
    }
    /// Index of the return buffer among the CLIF parameters.
    pub fn ret_buffer_index(&self) -> Option<usize> {
        (self.ret == Pass::Address).then_some(self.has_this as usize)
    }
    /// Index of the first CLIF parameter of the declared parameter `param` (or the number of all of them).
    pub fn first_value(&self, param: usize) -> usize {
        let head = self.has_this as usize + (self.ret == Pass::Address) as usize;
        head + self.params[..param].iter().map(Pass::count).sum::<usize>()
    }
    /// The values of the declared parameter `param` among a function's CLIF parameters.
    pub fn values_of<'v>(&self, values: &'v [Value], param: usize) -> &'v [Value] {
        let first = self.first_value(param);
        &values[first..first + self.params[param].count()]
    }
}

/// Bytes of stack arguments of a Tail signature (as Cranelift lays them out: 8 each, the total rounded to 16).
pub fn stack_arg_bytes(sig: &Signature) -> u32 {
    let floats = sig
        .params
        .iter()
        .filter(|p| p.value_type.is_float())
        .count() as u32;
    let ints = sig.params.len() as u32 - floats;
    let words = ints.saturating_sub(INT_ARG_REGS) + floats.saturating_sub(FLOAT_ARG_REGS);
    (words * 8).next_multiple_of(16)
}

/// The kind of memory a value of a class takes that travels as one scalar.
pub fn scalar_kind(class: ClassRef) -> ScalarKind {
    match class.stack_prim().ok().flatten() {
        Some(prim) => ScalarKind::of_prim(prim),
        None if class.is_reference_type().unwrap_or(false) => ScalarKind::Ref,
        None => ScalarKind::Ptr,
    }
}

/// The CLIF type that memory of a kind travels as.
pub fn scalar_type(kind: ScalarKind) -> Type {
    match kind {
        ScalarKind::I1 | ScalarKind::U1 | ScalarKind::I2 | ScalarKind::U2 | ScalarKind::I4 => I32,
        ScalarKind::R4 => F32,
        ScalarKind::R8 => F64,
        ScalarKind::I8 | ScalarKind::Ref | ScalarKind::Ptr => I64,
    }
}

/// Loads one leaf, extended as it travels.
pub fn load_scalar(
    b: &mut FunctionBuilder,
    flags: MemFlagsData,
    kind: ScalarKind,
    addr: Value,
    offset: i32,
) -> Value {
    match kind {
        ScalarKind::I1 => b.ins().sload8(I32, flags, addr, offset),
        ScalarKind::U1 => b.ins().uload8(I32, flags, addr, offset),
        ScalarKind::I2 => b.ins().sload16(I32, flags, addr, offset),
        ScalarKind::U2 => b.ins().uload16(I32, flags, addr, offset),
        _ => b.ins().load(scalar_type(kind), flags, addr, offset),
    }
}

/// Stores one leaf. No barrier: not for references in the heap.
pub fn store_scalar(
    b: &mut FunctionBuilder,
    flags: MemFlagsData,
    kind: ScalarKind,
    value: Value,
    addr: Value,
    offset: i32,
) {
    match kind {
        ScalarKind::I1 | ScalarKind::U1 => b.ins().istore8(flags, value, addr, offset),
        ScalarKind::I2 | ScalarKind::U2 => b.ins().istore16(flags, value, addr, offset),
        _ => b.ins().store(flags, value, addr, offset),
    };
}

/// Loads a value of `class` from memory into its passed form. An `Address` value stays where it is: the caller
/// sees to it that the memory is a copy that outlives the call.
pub fn load_passed(
    b: &mut FunctionBuilder,
    flags: MemFlagsData,
    addr: Value,
    offset: i32,
    pass: &Pass,
    class: ClassRef,
) -> Passed {
    match pass {
        Pass::None => smallvec![],
        Pass::Scalar(_) => smallvec![load_scalar(b, flags, scalar_kind(class), addr, offset)],
        Pass::Scalars(scalars) => scalars
            .iter()
            .map(|(at, kind)| load_scalar(b, flags, *kind, addr, offset + *at as i32))
            .collect(),
        Pass::Address if offset == 0 => smallvec![addr],
        Pass::Address => smallvec![b.ins().iadd_imm_s(addr, i64::from(offset))],
    }
}

/// Stores a value in its passed form to memory outside the heap (no barrier). Not for `Address` values, whose
/// copying needs the class's layout (see `stubs::emit::copy_value`).
pub fn store_passed(
    b: &mut FunctionBuilder,
    flags: MemFlagsData,
    values: &[Value],
    addr: Value,
    offset: i32,
    pass: &Pass,
    class: ClassRef,
) {
    match pass {
        Pass::None => {}
        Pass::Scalar(_) => store_scalar(b, flags, scalar_kind(class), values[0], addr, offset),
        Pass::Scalars(scalars) => {
            for ((at, kind), value) in scalars.iter().zip(values) {
                store_scalar(b, flags, *kind, *value, addr, offset + *at as i32);
            }
        }
        Pass::Address => unreachable!("a struct in memory is copied, not stored"),
    }
}
