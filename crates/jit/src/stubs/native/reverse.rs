//! Native code calls managed code: the reverse stubs of delegate classes and of COM interfaces.
//!
//! # How it works
//! Native code calls the reverse thunk that was made for the delegate. The thunk, which is assembly
//! in the runtime, saves the argument registers in a [`native_call::ReverseCall`] block, enters
//! managed mode, finds the delegate, and calls the reverse stub of its class with `(delegate,
//! block)`. The stub converts the arguments as the [`MarshalPlan`] of the class's `Invoke` says,
//! calls as `Invoke` does, and stores the result to the block.
//!
//! # What is called
//! | stub | it is called with | it calls |
//! |---|---|---|
//! | of a delegate class | the delegate | what `Invoke` calls |
//! | of a method of a COM interface | the object that the interface belongs to | the static wrapper of the method, with the object as first argument |
//! | of a function that all COM interfaces have | the object | a helper, with the block as it is |
//!
//! # Invariants
//! * A wrapper of a COM method returns an HRESULT, or has the preserved signature; what the method throws does not leave it in the first case.
//! * Exceptions pass through the stub. The first pass of an exception goes on in the managed frames
//!   below the native ones (docs/decisions/0013-exceptions-skip-native-frames.md).
use crate::blob::{Blob, Symbol};
use crate::emit::front::StackCheck;
use crate::emit::sequences::{EmitExt, build, zero};
use crate::emit::{Codegen, Emitter, Results, null_trap, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass, load_passed, load_scalar, store_scalar};
use crate::stubs::delegate;
use crate::stubs::native::layout::NativeLayout;
use crate::stubs::native::marshal_plan::{MarshalPlan, ParamPlan, RESULT, plan};
use crate::stubs::native::pinvoke::result_offsets;
use crate::stubs::native::scalar::Scalar;
use crate::stubs::native::sysv::{Abi, NativeLocation};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value};
use cranelift_codegen::isa::CallConv;
use smallvec::smallvec;
use vervet_abi::helpers::result::Nothing;
use vervet_abi::{Declared, call, native_call};
use vervet_types::MethodRef;

/// The reverse stub of a delegate class; `method` is its `Invoke`.
pub fn reverse_stub(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    converting(codegen, method, Callee::Delegate)
}

/// The reverse stub of a method of a COM interface. It is called with the object in place of a delegate, and calls the static method `wrapper` with it; the wrapper's
/// plan has been kept ([`keep_com_plan`](crate::stubs::native::marshal_plan::keep_com_plan)).
pub fn com_stub(codegen: &Codegen, wrapper: MethodRef) -> Result<Blob, CompileError> {
    converting(codegen, wrapper, Callee::Static(wrapper))
}

/// A reverse stub that converts the arguments and the result as the plan of `method` says.
fn converting(codegen: &Codegen, method: MethodRef, callee: Callee) -> Result<Blob, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    let plan = plan(method)?;
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.resize(2, AbiParam::new(I64));
    build(
        codegen,
        Tier::Quick,
        &method.full_name(),
        signature,
        |e, args| {
            e.check = StackCheck::Always;
            let method = e.symbol(Symbol::MethodHandle(method));
            let mut call = Reverse {
                method,
                block: args[1],
                stack: None,
                plan,
                lowered: &lowered,
                callee,
                backs: Vec::new(),
            };
            call.emit(e, args[0]);
            e.b.ins().return_(&[]);
            Ok(())
        },
    )
}

/// The reverse stub of a function that every COM interface of the runtime's has: it leaves the call to a helper, by its number in the table of functions.
pub fn com_unknown_stub(codegen: &Codegen, slot: u32) -> Result<Blob, CompileError> {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.resize(2, AbiParam::new(I64));
    let name = format!("function {slot} of COM interfaces");
    build(codegen, Tier::Quick, &name, signature, |e, args| {
        e.check = StackCheck::Always;
        let slot = e.word(i64::from(slot));
        e.helper(call::ComFunction, [slot, args[1]]);
        e.b.ins().return_(&[]);
        Ok(())
    })
}

/// What a reverse stub calls.
#[derive(Clone, Copy)]
enum Callee {
    /// The delegate that it is given.
    Delegate,
    /// This method, with the object that it is given as first argument.
    Static(MethodRef),
}

/// Something to do after the call.
enum Back {
    /// The managed copy at the address goes to native memory.
    Scalar(Scalar, Value, Value),
    /// `MarshalArgBack` with the word, or the word in memory (by-ref), and the native word.
    Word(usize, Value, Value),
    /// See `Word`.
    WordIn(usize, Value, Value),
    /// A struct: managed address, native address.
    Struct(usize, Value, Value),
}

/// A reverse call during its emission.
struct Reverse<'c> {
    method: Value,
    block: Value,
    /// Address of the stack arguments, once it is needed.
    stack: Option<Value>,
    plan: &'c MarshalPlan,
    lowered: &'c LoweredSignature,
    callee: Callee,
    backs: Vec<Back>,
}

impl Reverse<'_> {
    /// Emits the stub's body.
    fn emit(&mut self, e: &mut Emitter, delegate: Value) {
        if let Some(index) = self.plan.unsupported() {
            let (index, none) = (e.word(index), e.word(0));
            e.helper_value(call::MarshalToNative, [self.method, index, none]);
            return;
        }
        let (hidden, places, total) = self.plan.places();
        if total.stack > 0 {
            self.stack =
                Some(
                    e.b.ins()
                        .load(I64, trusted(), self.block, native_call::REVERSE_STACK),
                );
        }
        let mut values: Vec<Value> = Vec::new();
        for (i, places) in places.iter().enumerate() {
            let arg = self.convert(e, i, places);
            values.extend(arg);
        }
        let size = self.lowered.ret_class.layout().map_or(16, |l| l.size);
        let buffer =
            (self.lowered.ret == Pass::Address).then(|| e.zeroed_stack(size.next_multiple_of(8)));
        let mut args = Vec::new();
        let code = match self.callee {
            Callee::Delegate => {
                let (code, first) = delegate::target_of(e, self.lowered, delegate);
                args.push(first);
                args.extend(buffer);
                code
            }
            Callee::Static(method) => {
                args.extend(buffer);
                // Native code has passed the interface's address there.
                values[0] = delegate;
                e.load_symbol(I64, Symbol::MethodSlot(method), 0)
            }
        };
        args.extend(values);
        let results = e.call_address(&self.lowered.clif, code, &args);
        self.result(e, &results, buffer, hidden);
        self.write_back(e);
    }
    /// Base and offset of an eightbyte that native code passed.
    fn place(&self, place: NativeLocation) -> (Value, i32) {
        match place {
            NativeLocation::Int(i) => (self.block, native_call::REVERSE_INT_REGS + 8 * i as i32),
            NativeLocation::Sse(i) => (self.block, native_call::REVERSE_SSE_REGS + 8 * i as i32),
            NativeLocation::Stack(i) => {
                (self.stack.expect("there are stack arguments"), 8 * i as i32)
            }
        }
    }
    /// Loads an eightbyte.
    fn native_word(&self, e: &mut Emitter, place: NativeLocation) -> Value {
        let (at, offset) = self.place(place);
        e.b.ins().load(I64, trusted(), at, offset)
    }
    /// The address of a struct argument in its native form.
    fn struct_address(
        &self,
        e: &mut Emitter,
        layout: &NativeLayout,
        places: &[NativeLocation],
    ) -> Value {
        if let Abi::Memory(_) = layout.abi {
            let (at, offset) = self.place(places[0]);
            return e.b.ins().iadd_imm_s(at, i64::from(offset));
        }
        let copy = e.stack(8 * places.len() as u32);
        for (i, place) in places.iter().enumerate() {
            let word = self.native_word(e, *place);
            e.b.ins().store(trusted(), word, copy, 8 * i as i32);
        }
        copy
    }
    /// A native address; for null, which callers pass for what they do not want, that of zeros in this frame: managed code sees zeros, and what it
    /// writes is lost.
    fn present(&self, e: &mut Emitter, place: NativeLocation, bytes: u32) -> Value {
        let native = self.native_word(e, place);
        let zeros = e.zeroed_stack(bytes);
        e.b.ins().select(native, native, zeros)
    }
    /// A struct in managed memory, in its passed form.
    fn passed(&self, e: &mut Emitter, i: usize, addr: Value) -> Results {
        load_passed(
            &mut e.b,
            trusted(),
            addr,
            0,
            &self.lowered.params[i],
            self.lowered.param_classes[i],
        )
    }
    /// Zeroed memory for the managed form of a struct.
    fn managed_struct(&self, e: &mut Emitter, layout: &NativeLayout) -> Value {
        let size = layout.class.layout().map_or(layout.size, |l| l.size);
        e.zeroed_stack(size)
    }
    /// Calls a helper that converts a struct.
    fn convert_struct(
        &self,
        e: &mut Emitter,
        helper: impl Declared<4, Nothing>,
        index: i64,
        from: Value,
        to: Value,
    ) {
        let index = e.word(index);
        e.helper(helper, [self.method, index, from, to]);
    }
    /// Converts an argument to its managed form, and notes what must be done after the call.
    fn convert(&mut self, e: &mut Emitter, i: usize, places: &[NativeLocation]) -> Results {
        match &self.plan.params[i] {
            ParamPlan::Scalar(scalar) => {
                let (at, offset) = self.place(places[0]);
                smallvec![scalar.load_word(&mut e.b, at, offset)]
            }
            ParamPlan::Direct => smallvec![self.native_word(e, places[0])],
            ParamPlan::Struct(layout) => {
                let at = self.struct_address(e, layout, places);
                self.passed(e, i, at)
            }
            ParamPlan::StructPointer(layout) if !layout.blittable => {
                let native = self.present(e, places[0], layout.size);
                let managed = self.managed_struct(e, layout);
                self.convert_struct(e, call::MarshalStructToManaged, i as i64, native, managed);
                self.passed(e, i, managed)
            }
            ParamPlan::StructPointer(layout) => {
                let native = self.present(e, places[0], layout.size);
                let managed = self.managed_struct(e, layout);
                e.copy_bytes(managed, 0, native, layout.size);
                self.passed(e, i, managed)
            }
            ParamPlan::ByRefScalar(scalar, direction) => {
                let native = self.present(e, places[0], 8);
                let copy = e.zeroed_stack(8);
                if direction.input {
                    let value = scalar.load_native(&mut e.b, null_trap(), native, 0);
                    store_scalar(&mut e.b, trusted(), scalar.managed_kind(), value, copy, 0);
                }
                if direction.output {
                    self.backs.push(Back::Scalar(*scalar, copy, native));
                }
                smallvec![copy]
            }
            ParamPlan::StructCopy(layout) => {
                let native = self.struct_address(e, layout, places);
                let managed = self.managed_struct(e, layout);
                self.convert_struct(e, call::MarshalStructToManaged, i as i64, native, managed);
                self.passed(e, i, managed)
            }
            ParamPlan::ByRefStruct(layout, direction) => {
                let native = self.present(e, places[0], layout.size);
                let managed = self.managed_struct(e, layout);
                if direction.input {
                    self.convert_struct(e, call::MarshalStructToManaged, i as i64, native, managed);
                }
                if direction.output {
                    self.backs.push(Back::Struct(i, managed, native));
                }
                smallvec![managed]
            }
            ParamPlan::HandleRef(offset) => {
                let native = self.native_word(e, places[0]);
                let copy = e.zeroed_stack(16);
                e.b.ins().store(trusted(), native, copy, *offset as i32);
                self.passed(e, i, copy)
            }
            ParamPlan::Convert { by_ref: true, .. } => {
                let native = self.native_word(e, places[0]);
                let managed = self.word_to_managed(e, i, native);
                let copy = e.pack(&[managed]);
                if self.plan.params[i].needs_back(true) {
                    self.backs.push(Back::WordIn(i, copy, native));
                }
                smallvec![copy]
            }
            ParamPlan::Convert { .. }
            | ParamPlan::BlittableArray { .. }
            | ParamPlan::BlittableObject(_) => {
                let native = self.native_word(e, places[0]);
                let managed = self.word_to_managed(e, i, native);
                if self.plan.params[i].needs_back(true) {
                    self.backs.push(Back::Word(i, managed, native));
                }
                smallvec![managed]
            }
            ParamPlan::None | ParamPlan::Unsupported(_) => self.lowered.params[i]
                .types()
                .iter()
                .map(|ty| zero(&mut e.b, *ty))
                .collect(),
        }
    }
    /// Calls the helper that converts a word.
    fn word_to_managed(&self, e: &mut Emitter, i: usize, native: Value) -> Value {
        let index = e.word(i as i64);
        e.helper_value(
            call::MarshalArgToManaged,
            [self.method, index, native, self.block],
        )
    }
    /// Emits what was noted for after the call.
    fn write_back(&self, e: &mut Emitter) {
        for back in &self.backs {
            match *back {
                Back::Scalar(scalar, managed, native) => {
                    let value = load_scalar(&mut e.b, trusted(), scalar.managed_kind(), managed, 0);
                    scalar.store_native(&mut e.b, null_trap(), value, native, 0);
                }
                Back::Word(i, managed, native) => self.word_back(e, i, managed, native),
                Back::WordIn(i, at, native) => {
                    let managed = e.b.ins().load(I64, trusted(), at, 0);
                    self.word_back(e, i, managed, native);
                }
                Back::Struct(i, managed, native) => {
                    self.convert_struct(e, call::MarshalStructToNative, i as i64, managed, native);
                }
            }
        }
    }
    /// Calls the helper that writes a word back.
    fn word_back(&self, e: &mut Emitter, i: usize, managed: Value, native: Value) {
        let index = e.word(i as i64);
        e.helper(call::MarshalArgBack, [self.method, index, managed, native]);
    }
    /// Stores the managed result, in its native form, to the block that the reverse thunk loads the
    /// result registers from; a result in memory also to the address that the caller passed.
    fn result(
        &self,
        e: &mut Emitter,
        results: &[Value],
        buffer: Option<Value>,
        hidden: Option<NativeLocation>,
    ) {
        let block = self.block;
        match &self.plan.ret {
            ParamPlan::None | ParamPlan::Unsupported(_) => {}
            ParamPlan::Scalar(scalar) => {
                let offset = if scalar.is_float() {
                    native_call::REVERSE_RET_SSE
                } else {
                    native_call::REVERSE_RET_INT
                };
                scalar.store_word(&mut e.b, results[0], block, offset);
            }
            ParamPlan::Struct(layout) => {
                let managed = self.result_memory(e, results, buffer, layout);
                self.struct_result(e, layout, managed, hidden);
            }
            ParamPlan::StructCopy(layout) => {
                let managed = self.result_memory(e, results, buffer, layout);
                let native = e.zeroed_stack(layout.size.next_multiple_of(8));
                self.convert_struct(e, call::MarshalStructToNative, RESULT, managed, native);
                self.struct_result(e, layout, native, hidden);
            }
            ParamPlan::Convert { .. } => {
                let native = e.helper_value(call::MarshalResultToNative, [self.method, results[0]]);
                e.b.ins()
                    .store(trusted(), native, block, native_call::REVERSE_RET_INT);
            }
            _ => {
                e.b.ins()
                    .store(trusted(), results[0], block, native_call::REVERSE_RET_INT);
            }
        }
    }
    /// The address of a struct result, managed form; the memory may be read in whole words.
    fn result_memory(
        &self,
        e: &mut Emitter,
        results: &[Value],
        buffer: Option<Value>,
        layout: &NativeLayout,
    ) -> Value {
        buffer.unwrap_or_else(|| {
            let size = layout
                .class
                .layout()
                .map_or(16, |l| l.size)
                .max(layout.size);
            let copy = e.zeroed_stack(size);
            e.store_local(results, copy, &self.lowered.ret, self.lowered.ret_class);
            copy
        })
    }
    /// Returns a struct in its native form.
    fn struct_result(
        &self,
        e: &mut Emitter,
        layout: &NativeLayout,
        native: Value,
        hidden: Option<NativeLocation>,
    ) {
        match (&layout.abi, hidden) {
            (Abi::Memory(size), Some(hidden)) => {
                let to = self.native_word(e, hidden);
                e.copy_bytes(to, 0, native, *size);
                e.b.ins()
                    .store(trusted(), to, self.block, native_call::REVERSE_RET_INT);
            }
            (Abi::Words(words), _) => {
                let offsets = result_offsets(
                    words,
                    native_call::REVERSE_RET_INT,
                    native_call::REVERSE_RET_SSE,
                );
                for (i, offset) in offsets.into_iter().enumerate() {
                    let word = e.b.ins().load(I64, trusted(), native, 8 * i as i32);
                    e.b.ins().store(trusted(), word, self.block, offset);
                }
            }
            _ => {}
        }
    }
}
