//! Lowered signatures: how the values of a managed signature travel in registers and on the stack.
//! This is the calling convention of managed code, in one place.
//!
//! # How it works
//! The convention is Cranelift's `CallConv::Tail`. The CLIF parameters are, in this order:
//!
//! ```text
//! this            if there is one: a reference; of a value type's method a byref (unboxed entry)
//! result buffer   if the result is a struct that does not travel as scalars: the address of memory of the caller
//! parameters      each as its [`Pass`] says
//! ```
//!
//! ```text
//! class                                  Pass              CLIF
//! void                                   None              -
//! bool, char, integers up to 32 bits     Scalar(I32)       i32, extended as the type demands
//! 64-bit integers, references, byrefs,
//! pointers, native integers              Scalar(I64)       i64
//! float, double                          Scalar(F32, F64)  f32, f64
//! small struct (Layout::scalars)         Scalars           one value for each scalar, also as a result
//! other struct                           Address           i64, the address of a copy
//! ```
//!
//! # Invariants
//! * The caller extends small integers to 32 bits, and the callee relies on it.
//! * The memory behind an `Address` belongs to the caller and does not change during the call. The
//!   callee reads it, and copies it before it changes anything.
//! * Two signatures with the same [`LoweredSignature::key`] are called alike, so they share their
//!   stubs.
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
    /// A small struct: its scalars (offset in the value, kind), each a CLIF parameter of its own.
    Scalars(SmallVec<[(u32, ScalarKind); 4]>),
    /// A struct by address of a copy; as a result: through the return buffer.
    Address,
}

/// The CLIF values that one argument or result consists of.
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
    /// The number of CLIF parameters it takes as an argument.
    pub fn count(&self) -> usize {
        match self {
            Pass::None => 0,
            Pass::Scalar(_) | Pass::Address => 1,
            Pass::Scalars(scalars) => scalars.len(),
        }
    }
    /// Adds to the key of a signature.
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

/// The letter of a CLIF type in a key.
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
    /// Whether there is a `this`.
    pub has_this: bool,
    /// How the result travels.
    pub ret: Pass,
    /// How each declared parameter travels.
    pub params: Vec<Pass>,
    /// The class of the result, for loads and stores.
    pub ret_class: ClassRef,
    /// The classes of the declared parameters.
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
    /// Lowers the signature of a method, with its type arguments substituted.
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
    /// Do all arguments and the result travel in general registers, each in one? A call may then load all of those registers and take the result
    /// for a word, as one of [`LoweredSignature::of_words`] does: the callee reads the registers that it has arguments in, and no others.
    pub fn travels_in_words(&self) -> bool {
        let (params, results) = (&self.clif.params, &self.clif.returns);
        params.len() <= INT_ARG_REGS as usize
            && results.len() <= 1
            && params.iter().chain(results).all(|p| p.value_type.is_int())
    }
    /// How many general registers have arguments.
    pub fn int_args(&self) -> u32 {
        let ints = self.clif.params.iter().filter(|p| p.value_type.is_int());
        (ints.count() as u32).min(INT_ARG_REGS)
    }
    /// As many words as there are general registers for arguments, and a word as the result; `word` is `System.Int64`.
    pub fn of_words(word: ClassRef) -> LoweredSignature {
        let count = INT_ARG_REGS as usize;
        let pass = Pass::Scalar(I64);
        LoweredSignature::new(
            false,
            pass.clone(),
            vec![pass; count],
            word,
            vec![word; count],
        )
    }
    /// The key of the signature: equal keys mean the same CLIF signature and the same use of its
    /// values.
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
    /// The index of the result buffer among the CLIF parameters, if there is one.
    pub fn ret_buffer_index(&self) -> Option<usize> {
        (self.ret == Pass::Address).then_some(self.has_this as usize)
    }
    /// The index of the first CLIF parameter of the declared parameter `param`; with the number of
    /// parameters, that of all CLIF parameters.
    pub fn first_value(&self, param: usize) -> usize {
        let head = self.has_this as usize + (self.ret == Pass::Address) as usize;
        head + self.params[..param].iter().map(Pass::count).sum::<usize>()
    }
    /// The values of the declared parameter `param` among the CLIF parameters of a function.
    pub fn values_of<'v>(&self, values: &'v [Value], param: usize) -> &'v [Value] {
        let first = self.first_value(param);
        &values[first..first + self.params[param].count()]
    }
}

/// Bytes of stack arguments of a Tail signature as Cranelift lays them out: 8 for each, the sum
/// rounded up to 16.
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

/// The kind of memory that a value of a class takes which travels as one scalar.
pub fn scalar_kind(class: ClassRef) -> ScalarKind {
    match class.stack_prim().ok().flatten() {
        Some(prim) => ScalarKind::of_prim(prim),
        None if class.is_reference_type().unwrap_or(false) => ScalarKind::Ref,
        None => ScalarKind::Ptr,
    }
}

/// The CLIF type that a scalar of this kind travels as.
pub fn scalar_type(kind: ScalarKind) -> Type {
    match kind {
        ScalarKind::I1 | ScalarKind::U1 | ScalarKind::I2 | ScalarKind::U2 | ScalarKind::I4 => I32,
        ScalarKind::R4 => F32,
        ScalarKind::R8 => F64,
        ScalarKind::I8 | ScalarKind::Ref | ScalarKind::Ptr => I64,
    }
}

/// Loads a scalar, extended as it travels.
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

/// Stores a scalar. There is no card mark, so this is not for references in the heap.
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

/// Loads a value of `class` from memory in its passed form. An `Address` value stays where it is:
/// the caller makes sure that the memory outlives the call and does not change.
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

/// Stores a value in its passed form to memory outside the heap. Not for `Address` values, which
/// are copied by their layout (`EmitExt::copy_value`).
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
