//! Short sequences that the stubs emit on top of [`Emitter`]: values in their passed form to and
//! from memory, the stack check, tail calls.
//!
//! # How it works
//! A stub is built with [`build`]. It gets the function's parameters and emits code through the
//! emitter and the methods of [`EmitExt`].
//!
//! # Invariants
//! * The collector scans frames conservatively and finds an object by an address inside it. A
//!   constant offset therefore belongs to the access, an index is extended from 32 bits, and no
//!   computed address outlives its use.
//! * A stub has no IL, so its IL map says so from the first instruction on.
use super::codegen::{Codegen, Request};
use super::emitter::{Emitter, Results, trusted};
use crate::blob::{Blob, Symbol};
use crate::emit::barrier;
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass, load_scalar, scalar_kind, store_scalar};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Signature, Type, Value};
use cranelift_frontend::FunctionBuilder;
use vervet_abi::call;
use vervet_types::{ClassRef, ScalarKind};

/// Values up to this many bytes are copied by emitted loads and stores.
const INLINE_COPY: u32 = 128;

/// Compiles a function that has no IL. `name` is for messages; `body` gets the parameters.
pub fn build(
    codegen: &Codegen,
    tier: Tier,
    name: &str,
    signature: Signature,
    body: impl FnOnce(&mut Emitter<'_>, &[Value]) -> Result<(), CompileError>,
) -> Result<Blob, CompileError> {
    let (mut blob, _) = codegen.function(
        Request {
            name,
            signature,
            tier,
            listing: false,
        },
        |e| {
            let params = e.params();
            body(e, &params)
        },
    )?;
    blob.il_map = vec![(0, u32::MAX)];
    Ok(blob)
}

/// What stubs emit. See the module.
pub trait EmitExt {
    /// A 64-bit constant.
    fn word(&mut self, value: i64) -> Value;
    /// The address of a new stack slot of that many bytes.
    fn stack(&mut self, bytes: u32) -> Value;
    /// The address of a new stack slot that is filled with zeros.
    fn zeroed_stack(&mut self, bytes: u32) -> Value;
    /// Calls a code address with a signature of the Tail convention.
    fn call_address(&mut self, signature: &Signature, code: Value, args: &[Value]) -> Results;
    /// Calls a code address in place of this function's own return.
    fn tail_call(&mut self, signature: &Signature, code: Value, args: &[Value]);
    /// Stores a reference where the heap may be, and marks the card.
    fn store_ref(&mut self, flags: MemFlagsData, value: Value, addr: Value, offset: i32);
    /// Stores a value in its passed form where the heap may be.
    fn store_value(
        &mut self,
        flags: MemFlagsData,
        values: &[Value],
        addr: Value,
        offset: i32,
        pass: &Pass,
        class: ClassRef,
    );
    /// Stores a value in its passed form to memory outside the heap.
    fn store_local(&mut self, values: &[Value], addr: Value, pass: &Pass, class: ClassRef);
    /// Copies a struct. `heap`: the destination may be in the heap.
    fn copy_value(&mut self, class: ClassRef, to: Value, from: Value, heap: bool);
    /// Copies bytes to memory outside the heap. References among them are copied as whole words.
    fn copy_bytes(&mut self, to: Value, to_offset: i32, from: Value, bytes: u32);
    /// Stores CLIF values one per 8-byte word, with the unused high bits zero.
    fn store_words(&mut self, values: &[Value], addr: Value);
    /// A stack block that holds the values, one per word.
    fn pack(&mut self, values: &[Value]) -> Value;
    /// The CLIF results of a function of that signature whose result lies at `addr`, outside the
    /// heap. A result by address is copied to the caller's buffer, one of `args`, the function's
    /// parameters.
    fn results_from_memory(
        &mut self,
        lowered: &LoweredSignature,
        args: &[Value],
        addr: Value,
    ) -> Results;
}

impl EmitExt for Emitter<'_> {
    fn word(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I64, value)
    }
    fn stack(&mut self, bytes: u32) -> Value {
        let slot = self.slot(bytes);
        self.slot_addr(slot)
    }
    fn zeroed_stack(&mut self, bytes: u32) -> Value {
        let at = self.stack(bytes);
        let bytes = bytes.max(1).next_multiple_of(8);
        if bytes <= INLINE_COPY {
            let none = self.word(0);
            for word in 0..bytes / 8 {
                self.b.ins().store(trusted(), none, at, 8 * word as i32);
            }
        } else {
            let (none, bytes) = (self.b.ins().iconst(I32, 0), self.word(i64::from(bytes)));
            self.helper(call::MemSet, [at, none, bytes]);
        }
        at
    }
    fn call_address(&mut self, signature: &Signature, code: Value, args: &[Value]) -> Results {
        let signature = self.b.import_signature(signature.clone());
        self.call_indirect(signature, code, args)
    }
    fn tail_call(&mut self, signature: &Signature, code: Value, args: &[Value]) {
        let signature = self.b.import_signature(signature.clone());
        self.return_call_indirect(signature, code, args);
    }
    fn store_ref(&mut self, flags: MemFlagsData, value: Value, addr: Value, offset: i32) {
        barrier::store_reference(self, flags, value, addr, offset);
    }
    fn store_value(
        &mut self,
        flags: MemFlagsData,
        values: &[Value],
        addr: Value,
        offset: i32,
        pass: &Pass,
        class: ClassRef,
    ) {
        match pass {
            Pass::None => {}
            Pass::Scalar(_) => match scalar_kind(class) {
                ScalarKind::Ref => self.store_ref(flags, values[0], addr, offset),
                kind => store_scalar(&mut self.b, flags, kind, values[0], addr, offset),
            },
            Pass::Scalars(scalars) => {
                for ((at, kind), value) in scalars.iter().zip(values) {
                    match kind {
                        ScalarKind::Ref => self.store_ref(flags, *value, addr, offset + *at as i32),
                        kind => store_scalar(
                            &mut self.b,
                            flags,
                            *kind,
                            *value,
                            addr,
                            offset + *at as i32,
                        ),
                    }
                }
            }
            Pass::Address => {
                let to = self.b.ins().iadd_imm_s(addr, i64::from(offset));
                self.copy_value(class, to, values[0], true);
            }
        }
    }
    fn store_local(&mut self, values: &[Value], addr: Value, pass: &Pass, class: ClassRef) {
        match pass {
            Pass::Address => self.copy_value(class, addr, values[0], false),
            pass => {
                crate::signature::store_passed(&mut self.b, trusted(), values, addr, 0, pass, class)
            }
        }
    }
    fn copy_value(&mut self, class: ClassRef, to: Value, from: Value, heap: bool) {
        let Ok(layout) = class.layout() else { return };
        if !layout.ref_map.is_empty() && (heap || layout.size > INLINE_COPY) {
            let handle = self.symbol(Symbol::ClassHandle(class));
            self.helper(call::CopyValue, [to, from, handle]);
        } else {
            self.copy_bytes(to, 0, from, layout.size);
        }
    }
    fn copy_bytes(&mut self, to: Value, to_offset: i32, from: Value, bytes: u32) {
        if bytes > INLINE_COPY {
            let to = self.b.ins().iadd_imm_s(to, i64::from(to_offset));
            let bytes = self.word(i64::from(bytes));
            self.helper(call::MemMove, [to, from, bytes]);
            return;
        }
        let mut at = 0;
        for kind in [
            ScalarKind::I8,
            ScalarKind::I4,
            ScalarKind::U2,
            ScalarKind::U1,
        ] {
            while bytes - at >= kind.size() {
                let value = load_scalar(&mut self.b, trusted(), kind, from, at as i32);
                store_scalar(
                    &mut self.b,
                    trusted(),
                    kind,
                    value,
                    to,
                    to_offset + at as i32,
                );
                at += kind.size();
            }
        }
    }
    fn store_words(&mut self, values: &[Value], addr: Value) {
        for (i, value) in values.iter().enumerate() {
            let value = widen(&mut self.b, *value);
            self.b.ins().store(trusted(), value, addr, 8 * i as i32);
        }
    }
    fn pack(&mut self, values: &[Value]) -> Value {
        let block = self.stack(8 * values.len() as u32);
        self.store_words(values, block);
        block
    }
    fn results_from_memory(
        &mut self,
        lowered: &LoweredSignature,
        args: &[Value],
        addr: Value,
    ) -> Results {
        match lowered.ret_buffer_index() {
            Some(buffer) => {
                self.copy_value(lowered.ret_class, args[buffer], addr, false);
                Results::new()
            }
            None => crate::signature::load_passed(
                &mut self.b,
                trusted(),
                addr,
                0,
                &lowered.ret,
                lowered.ret_class,
            ),
        }
    }
}

/// A value as the 64-bit integer of its bits.
fn widen(b: &mut FunctionBuilder, value: Value) -> Value {
    match b.func.dfg.value_type(value) {
        I32 => b.ins().uextend(I64, value),
        F32 => {
            let bits = b.ins().bitcast(I32, MemFlagsData::new(), value);
            b.ins().uextend(I64, bits)
        }
        _ => value,
    }
}

/// Zero of a CLIF type.
pub fn zero(b: &mut FunctionBuilder, ty: Type) -> Value {
    match ty {
        F32 => b.ins().f32const(Ieee32::with_bits(0)),
        F64 => b.ins().f64const(Ieee64::with_bits(0)),
        ty => b.ins().iconst(ty, 0),
    }
}
