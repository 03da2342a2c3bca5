//! Managed code calls native code: P/Invoke stubs, delegates around native functions, unmanaged
//! `calli`.
//!
//! # How it works
//! A stub does these steps:
//!
//! 1. Convert each argument as its plan says ([`Call::convert`]).
//! 2. Store the references that must stay alive to a block in the frame.
//! 3. Fill a [`native_call`] block: registers, stack words, target.
//! 4. Call the native thunk, which leaves managed mode, loads the registers, calls, and returns to
//!    managed mode.
//! 5. Convert the result, and write `ref` and `out` arguments back.
//!
//! The call block (`native_call::NativeCall`), which the native thunk reads and writes:
//!
//! ```text
//! target                   the native function
//! integer registers        rdi .. r9, by `NativeLocation::Int`
//! SSE registers            xmm0 .. xmm7, by `NativeLocation::Sse`
//! result                   rax, rdx; xmm0, xmm1
//! number of stack words    0 for most calls
//! al                       number of SSE registers, for variadic functions
//! clear_errno              SetLastError
//! stack words ...          by `NativeLocation::Stack`
//! ```
//!
//! A call whose arguments and result each travel in one register, five general ones at most, needs no block: managed code passes them in the same registers,
//! and the plain native thunk calls with these as they are ([`Call::in_registers`]).
//!
//! # Invariants
//! * While native code runs, a collection may take place. Everything that native code has a pointer
//!   to stays in place, because a frame refers to it: the references in a block that the
//!   conservative scan reads, the pointers into them in the call block, or in the argument
//!   registers that the plain thunk has pushed.
//! * All conversions are done before the block is filled, so no helper runs between filling it and
//!   the call.
//! * Without SetLastError the program does not see the errno of the call: the thunk does not store it to the thread context.
//! * Conversions are undone after a normal return only. Native code does not throw; when the
//!   conversion of a later argument fails, the copies of earlier ones, and a held SafeHandle, are
//!   not released.
use crate::blob::{Blob, Symbol};
use crate::emit::front::StackCheck;
use crate::emit::sequences::{EmitExt, build};
use crate::emit::{Codegen, Emitter, Results, null_trap, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass, load_scalar, store_scalar};
use crate::stubs::native::layout::NativeLayout;
use crate::stubs::native::marshal_plan::{MarshalPlan, ParamPlan, RESULT, plan, plan_of_sig};
use crate::stubs::native::scalar::Scalar;
use crate::stubs::native::sysv::{Abi, Eightbyte, NativeLocation, NativeLocations};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, BlockArg, InstBuilder, Signature, StackSlot, Value};
use cranelift_codegen::isa::CallConv;
use smallvec::{SmallVec, smallvec};
use std::mem::offset_of;
use vervet_abi::context::HIDDEN;
use vervet_abi::helpers::result::Nothing;
use vervet_abi::layouts::DelegateObject;
use vervet_abi::{Declared, ThrowKind, call, native_call, object, vtable};
use vervet_types::{MethodRef, MethodSig, NativeFunction};

/// The body of a P/Invoke method.
pub fn pinvoke(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    let plan = plan(method)?;
    build(
        codegen,
        Tier::Optimised,
        &method.full_name(),
        lowered.clif.clone(),
        |e, args| {
            e.check = StackCheck::Always;
            class_init(e, method)?;
            let target = bound_address(e, method);
            let results = emit(e, Some(method), plan, &lowered, target, args);
            e.b.ins().return_(&results);
            Ok(())
        },
    )
}

/// The code that `invoke_impl` of a delegate around a native function points to; `method` is the
/// delegate class's `Invoke`. It is called with the delegate, whose `extra_arg` is the function's
/// address and whose `m_target` is null.
pub fn native_delegate_thunk(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    let plan = plan(method)?;
    build(
        codegen,
        Tier::Quick,
        &method.full_name(),
        lowered.clif.clone(),
        |e, args| {
            e.check = StackCheck::Always;
            let target = e.b.ins().load(
                I64,
                trusted(),
                args[0],
                offset_of!(DelegateObject, extra_arg) as i32,
            );
            let results = emit(e, Some(method), plan, &lowered, target, args);
            e.b.ins().return_(&results);
            Ok(())
        },
    )
}

/// The body of a method that stands for a native function ([`MethodKind::NativeFunction`](vervet_types::method::MethodKind)).
pub fn native_function(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    let Some(function) = method.native_function() else {
        return Err(CompileError::Internal {
            method: method.full_name(),
            offset: 0,
            reason: "it stands for no native function".to_owned(),
        });
    };
    let lowered = LoweredSignature::of_method(method)?;
    let plan = plan(method)?;
    build(
        codegen,
        Tier::Quick,
        &method.full_name(),
        lowered.clif.clone(),
        |e, args| {
            e.check = StackCheck::Always;
            let target = match function {
                NativeFunction::At { address, .. } => e.word(address as i64),
                NativeFunction::OfInterface { slot } => {
                    let first = args[lowered.first_value(0)];
                    let functions = e.b.ins().load(I64, trusted(), first, 0);
                    e.b.ins().load(I64, trusted(), functions, 8 * slot as i32)
                }
            };
            let results = emit(e, Some(method), plan, &lowered, target, args);
            e.b.ins().return_(&results);
            Ok(())
        },
    )
}

/// Emits an unmanaged `calli`. `args` are the values of a managed call of that signature (a result
/// buffer first, if there is one), and the results are as that call's. Marshalling is the default
/// one; what needs a helper throws NotSupportedException, because the helpers find a plan by its
/// method.
pub fn emit_native_call(
    e: &mut Emitter,
    sig: &'static MethodSig,
    target: Value,
    args: &[Value],
) -> Result<Results, CompileError> {
    let lowered = LoweredSignature::of(sig)?;
    let plan = plan_of_sig(sig)?;
    Ok(emit(e, None, &plan, &lowered, target, args))
}

/// Whether a call of the method may be made without its stub, once the function is bound ([`emit_bound`]): nothing is converted that can fail, and arguments and
/// result travel in registers.
///
/// # Errors
/// [`CompileError`] if the signature has no plan.
pub fn is_plain(method: MethodRef) -> Result<bool, CompileError> {
    let plan = plan(method)?;
    let (_, _, total) = plan.places();
    let is_plain = |param: &ParamPlan| {
        matches!(
            param,
            ParamPlan::Scalar(_)
                | ParamPlan::Direct
                | ParamPlan::BlittableArray { .. }
                | ParamPlan::BlittableObject(_)
        )
    };
    Ok(method.is_static()
        && !plan.set_last_error
        && plan.unsupported().is_none()
        && plan.params.iter().all(is_plain)
        && matches!(plan.ret, ParamPlan::None | ParamPlan::Scalar(_))
        && fits_registers(&total))
}

/// Emits the call of a P/Invoke method that [`is_plain`] in its caller. `target` is the native function. The record that the thunk links names the method, so
/// stack walks find it as they find the method of an internal call.
pub fn emit_bound(
    e: &mut Emitter,
    method: MethodRef,
    lowered: &LoweredSignature,
    target: Value,
    args: &[Value],
) -> Result<Results, CompileError> {
    e.check = StackCheck::Always;
    let mut call = Call {
        method: e.symbol(Symbol::MethodHandle(method)),
        plan: plan(method)?,
        lowered,
        args,
        roots: Vec::new(),
        backs: Vec::new(),
    };
    let (_, places, _) = call.plan.places();
    let natives: Vec<Native> = (0..call.plan.params.len())
        .map(|i| call.convert(e, i))
        .collect();
    let held = call.hold_roots(e);
    let results = call.in_registers(e, target, &natives, &places);
    // The frame is the caller's, which may live long after the call.
    if let Some(held) = held {
        let none = e.word(0);
        for n in 0..call.roots.len() {
            e.b.ins().stack_store(I64, none, held, 8 * n as i32);
        }
    }
    e.poll_interrupts(call::Poll);
    Ok(results)
}

/// Whether the arguments of a call need no block. The last general register is the thunk's.
fn fits_registers(total: &NativeLocations) -> bool {
    total.stack == 0 && total.ints < 6
}

/// Runs a class constructor that must run before the first call of a static method (ECMA-335
/// II.10.5.3.1).
fn class_init(e: &mut Emitter, method: MethodRef) -> Result<(), CompileError> {
    let class = method.class;
    if !method.is_static() || class.is_before_field_init() || class.cctor()?.is_none() {
        return Ok(());
    }
    let vt = e.symbol(Symbol::VTable(class));
    let state =
        e.b.ins()
            .uload8(I32, trusted(), vt, vtable::INIT_STATE_OFFSET);
    let done =
        e.b.ins()
            .icmp_imm_u(IntCC::Equal, state, i64::from(vtable::INIT_DONE));
    let (init, on) = (e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(init);
    e.b.ins().brif(done, on, &[], init, &[]);
    e.b.switch_to_block(init);
    e.helper(call::ClassInit, [vt]);
    e.b.ins().jump(on, &[]);
    e.b.switch_to_block(on);
    Ok(())
}

/// The address of the native function. The cell is 0 until the first call binds it, which loads the
/// library and looks the function up. Two threads may bind it at the same time; both store the same
/// address.
///
/// ```text
///     cell = load [pinvoke cell]
///     brif cell, go(cell), bind
/// bind: (cold)
///     bound = call BindPInvoke(method)
///     jump go(bound)
/// ```
fn bound_address(e: &mut Emitter, method: MethodRef) -> Value {
    let cell = e.load_symbol(I64, Symbol::PInvokeCell(method), 0);
    let (bind, go) = (e.b.create_block(), e.b.create_block());
    e.b.set_cold_block(bind);
    e.b.append_block_param(go, I64);
    e.b.ins()
        .brif(cell, go, &[BlockArg::Value(cell)], bind, &[]);
    e.b.switch_to_block(bind);
    let handle = e.symbol(Symbol::MethodHandle(method));
    let bound = e.helper_value(call::BindPInvoke, [handle]);
    e.b.ins().jump(go, &[BlockArg::Value(bound)]);
    e.b.switch_to_block(go);
    e.b.block_params(go)[0]
}

/// A converted argument.
enum Native {
    /// A managed scalar, converted when it is stored.
    Scalar(Scalar, Value),
    /// A word.
    Word(Value),
    /// A struct in memory.
    Memory(Value),
}

/// Something to do after the call.
enum Back {
    /// Native copy at the address, to the managed scalar behind the by-ref.
    Scalar(Scalar, Value, Value),
    /// The parameter's struct: native address, managed address.
    Struct(usize, Value, Value),
    /// The parameter: managed word, native word.
    Word(usize, Value, Value),
}

/// A call during its emission.
struct Call<'c> {
    method: Value,
    plan: &'c MarshalPlan,
    lowered: &'c LoweredSignature,
    args: &'c [Value],
    /// References that must stay alive while native code runs.
    roots: Vec<Value>,
    backs: Vec<Back>,
}

/// Emits the call. `method` is what the helpers find the plan by.
fn emit(
    e: &mut Emitter,
    method: Option<MethodRef>,
    plan: &MarshalPlan,
    lowered: &LoweredSignature,
    target: Value,
    args: &[Value],
) -> Results {
    let handle = match method {
        Some(method) => e.symbol(Symbol::MethodHandle(method)),
        None => e.word(0),
    };
    if let Some(index) = plan.unsupported() {
        if method.is_some() {
            let (index, none) = (e.word(index), e.word(0));
            e.helper_value(call::MarshalToNative, [handle, index, none]);
        } else {
            e.throw(ThrowKind::NotSupported);
            let rest = e.b.create_block();
            e.b.seal_block(rest);
            e.b.switch_to_block(rest);
        }
        // Not reached; the rest only keeps the function well-formed.
        return lowered
            .clif
            .returns
            .iter()
            .map(|r| crate::emit::sequences::zero(&mut e.b, r.value_type))
            .collect();
    }
    let mut call = Call {
        method: handle,
        plan,
        lowered,
        args,
        roots: Vec::new(),
        backs: Vec::new(),
    };
    if lowered.has_this {
        call.roots.push(args[0]);
    }
    // Arguments are converted before locations in the call block are filled: a conversion may call
    // a helper, and a helper may run managed code.
    let (hidden, places, total) = plan.places();
    let natives: Vec<Native> = (0..plan.params.len()).map(|i| call.convert(e, i)).collect();
    let ret_memory = result_memory(e, plan);
    call.hold_roots(e);

    if call.travels_in_registers(&natives, &total, ret_memory) {
        let results = call.in_registers(e, target, &natives, &places);
        call.write_back(e, None);
        e.poll_interrupts(call::Poll);
        return results;
    }
    let stack_words = total.stack;
    let block = e.stack(native_call::STACK_WORDS as u32 + 8 * stack_words);
    store_word(e, target, block, native_call::TARGET);
    for (value, offset) in [
        (i64::from(stack_words), native_call::N_STACK_WORDS),
        (i64::from(total.sses), native_call::AL),
        (i64::from(plan.set_last_error), native_call::CLEAR_ERRNO),
    ] {
        let value = e.word(value);
        store_word(e, value, block, offset);
    }
    if let Some(place) = hidden {
        store_word(
            e,
            ret_memory.expect("the result has memory"),
            block,
            place.call_offset(),
        );
    }
    for ((native, places), plan) in natives.iter().zip(&places).zip(&plan.params) {
        place_argument(e, block, native, places, &plan.abi());
    }
    e.b.ins().sequence_point();
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.resize(2, AbiParam::new(I64));
    let signature = e.b.import_signature(signature);
    e.call_symbol(Symbol::NativeThunk, signature, &[block, call.method]);
    let results = call.result(e, block, ret_memory);
    call.write_back(e, Some(block));
    // An abort may have ended the native call. Its caller may return, or make the next, without looking.
    e.poll_interrupts(call::Poll);
    results
}

/// Stores a word.
fn store_word(e: &mut Emitter, value: Value, addr: Value, offset: i32) {
    e.b.ins().store(trusted(), value, addr, offset);
}

/// Memory for the native result, if it is a struct.
fn result_memory(e: &mut Emitter, plan: &MarshalPlan) -> Option<Value> {
    match &plan.ret {
        ParamPlan::Struct(layout) | ParamPlan::StructCopy(layout) => {
            Some(e.zeroed_stack(layout.size.next_multiple_of(8)))
        }
        _ => None,
    }
}

/// Stores an argument to its locations in the call block.
fn place_argument(
    e: &mut Emitter,
    block: Value,
    native: &Native,
    places: &[NativeLocation],
    abi: &Abi,
) {
    match native {
        Native::Scalar(scalar, value) => {
            scalar.store_word(&mut e.b, *value, block, places[0].call_offset())
        }
        Native::Word(value) => store_word(e, *value, block, places[0].call_offset()),
        Native::Memory(addr) => match abi {
            Abi::Memory(size) => e.copy_bytes(block, places[0].call_offset(), *addr, *size),
            _ => {
                for (i, place) in places.iter().enumerate() {
                    let word = e.b.ins().load(I64, trusted(), *addr, 8 * i as i32);
                    store_word(e, word, block, place.call_offset());
                }
            }
        },
    }
}

impl Call<'_> {
    /// The address of a struct argument, in memory that may be read in whole words.
    fn struct_address(&self, e: &mut Emitter, i: usize, layout: &NativeLayout) -> Value {
        let values = self.lowered.values_of(self.args, i);
        let pass = &self.lowered.params[i];
        if *pass == Pass::Address && layout.size.is_multiple_of(8) {
            return values[0];
        }
        let class = self.lowered.param_classes[i];
        let managed = class.layout().map_or(layout.size, |l| l.size);
        let copy = e.zeroed_stack(managed.max(layout.size));
        e.store_local(values, copy, pass, class);
        copy
    }
    /// The address of a native copy of a struct argument.
    fn struct_copy(&mut self, e: &mut Emitter, i: usize, layout: &NativeLayout) -> Value {
        let managed = self.struct_address(e, i, layout);
        let native = e.zeroed_stack(layout.size.next_multiple_of(8));
        self.convert_struct(e, call::MarshalStructToNative, i as i64, managed, native);
        self.back_if_needed(i, managed, native);
        native
    }
    /// Converts an argument, and notes what must be done after the call.
    fn convert(&mut self, e: &mut Emitter, i: usize) -> Native {
        let values = self.lowered.values_of(self.args, i);
        let index = i as i64;
        match &self.plan.params[i] {
            ParamPlan::Scalar(scalar) => Native::Scalar(*scalar, values[0]),
            ParamPlan::Direct => {
                // Native code may keep it for as long as the variable lives.
                if self.lowered.param_classes[i].is_byref() {
                    e.expose(values[0]);
                }
                self.roots.push(values[0]);
                Native::Word(values[0])
            }
            ParamPlan::Struct(layout) => Native::Memory(self.struct_address(e, i, layout)),
            ParamPlan::StructPointer(layout) if layout.blittable => {
                Native::Word(self.struct_address(e, i, layout))
            }
            ParamPlan::StructPointer(layout) => Native::Word(self.struct_copy(e, i, layout)),
            ParamPlan::ByRefScalar(scalar, direction) => {
                // Native code writes a native value, so it gets the address of a copy.
                let copy = e.zeroed_stack(8);
                if direction.input {
                    null_check(e, values[0]);
                    let value =
                        load_scalar(&mut e.b, null_trap(), scalar.managed_kind(), values[0], 0);
                    scalar.store_native(&mut e.b, trusted(), value, copy, 0);
                }
                if direction.output {
                    self.backs.push(Back::Scalar(*scalar, values[0], copy));
                }
                Native::Word(copy)
            }
            // The elements are passed as they are. The array cannot move, because this frame refers
            // to it.
            ParamPlan::BlittableArray { data_offset, .. } => {
                self.pinned(e, values[0], *data_offset)
            }
            ParamPlan::BlittableObject(_) => self.pinned(e, values[0], object::HEADER_SIZE as i32),
            ParamPlan::HandleRef(offset) => {
                let Pass::Scalars(scalars) = &self.lowered.params[i] else {
                    let handle = e.b.ins().load(I64, trusted(), values[0], *offset as i32);
                    return Native::Word(handle);
                };
                self.roots.extend(values);
                let handle = scalars
                    .iter()
                    .position(|(at, _)| at == offset)
                    .unwrap_or(values.len() - 1);
                Native::Word(values[handle])
            }
            ParamPlan::StructCopy(layout) => Native::Memory(self.struct_copy(e, i, layout)),
            // The helper converts into a native copy, and back after the call if the direction says
            // so.
            ParamPlan::ByRefStruct(layout, direction) => {
                let native = e.zeroed_stack(layout.size);
                if direction.input {
                    self.convert_struct(e, call::MarshalStructToNative, index, values[0], native);
                }
                if direction.output {
                    self.backs.push(Back::Struct(i, native, values[0]));
                }
                self.back_if_needed(i, values[0], native);
                Native::Word(native)
            }
            // One word on each side. The helper may allocate native memory, which it frees after
            // the call.
            ParamPlan::Convert { .. } => {
                let managed = values[0];
                self.roots.push(managed);
                let index = e.word(index);
                let native = e.helper_value(call::MarshalToNative, [self.method, index, managed]);
                self.back_if_needed(i, managed, native);
                Native::Word(native)
            }
            ParamPlan::None | ParamPlan::Unsupported(_) => Native::Word(e.word(0)),
        }
    }
    /// The address of what lies at that offset in an object; null gives 0. The object stays in
    /// place while the frame refers to it.
    fn pinned(&mut self, e: &mut Emitter, object: Value, offset: i32) -> Native {
        self.roots.push(object);
        let data = e.b.ins().iadd_imm_s(object, i64::from(offset));
        Native::Word(e.b.ins().select(object, data, object))
    }
    /// Notes that the helper must run after the call, if the plan says so.
    fn back_if_needed(&mut self, i: usize, managed: Value, native: Value) {
        if self.plan.params[i].needs_back(false) {
            self.backs.push(Back::Word(i, managed, native));
        }
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
    /// Stores the references that must stay alive to the frame, in a slot that only the collector reads: it stays in memory, whatever the passes over the
    /// caller find. The sequence point keeps the stores before the call.
    fn hold_roots(&self, e: &mut Emitter) -> Option<StackSlot> {
        if self.roots.is_empty() {
            return None;
        }
        let slot = e.slot(8 * self.roots.len() as u32);
        e.notes.keep(slot);
        let at = e.slot_addr(slot);
        e.store_words(&self.roots, at);
        e.b.ins().sequence_point();
        Some(slot)
    }
    /// Does the call need no block?
    fn travels_in_registers(
        &self,
        natives: &[Native],
        total: &NativeLocations,
        ret_memory: Option<Value>,
    ) -> bool {
        fits_registers(total)
            && ret_memory.is_none()
            && !self.plan.set_last_error
            && !natives.iter().any(|n| matches!(n, Native::Memory(_)))
            // What is converted back may look at the block.
            && !self.backs.iter().any(|b| matches!(b, Back::Word(..)))
    }
    /// Whether no argument can be an address.
    fn refers_to_nothing(&self) -> bool {
        let is_narrow = |p: &ParamPlan| match p {
            ParamPlan::None => true,
            ParamPlan::Scalar(scalar) => {
                let ty = crate::signature::scalar_type(scalar.native_kind());
                ty.is_float() || ty.bits() < 64
            }
            _ => false,
        };
        self.roots.is_empty() && self.plan.params.iter().all(is_narrow)
    }
    /// Emits the call without a block.
    ///
    /// The Tail convention passes the first six integers and the first eight floats in the same registers as System V, each kind counted on its own. So an argument
    /// is where C looks for it, and the integers that are missing are filled up:
    ///
    /// ```text
    /// rdi rsi rdx rcx r8       integers and pointers, each extended to a word; 0 where there is none
    /// r9                       the address of the function
    /// xmm0 .. xmm7             floats, as they are
    /// rax, xmm0                the result
    /// context.hidden           the method, for the record that the thunk links
    /// ```
    ///
    /// ```text
    ///     store method, context.hidden
    ///     v9 = call_indirect plain_native_thunk(v1, v2, 0, 0, 0, target, v3: f64)
    /// ```
    fn in_registers(
        &self,
        e: &mut Emitter,
        target: Value,
        natives: &[Native],
        places: &[SmallVec<[NativeLocation; 2]>],
    ) -> Results {
        let mut ints: SmallVec<[Value; 6]> = smallvec![];
        let mut floats: SmallVec<[Value; 8]> = smallvec![];
        for (i, (native, place)) in natives.iter().zip(places).enumerate() {
            let value = match native {
                Native::Scalar(scalar, value) => scalar.to_word(&mut e.b, *value),
                Native::Word(value) | Native::Memory(value) => *value,
            };
            match place.first() {
                Some(NativeLocation::Sse(_)) => floats.push(value),
                Some(_) => ints.push(value),
                None => debug_assert!(matches!(self.plan.params[i], ParamPlan::None)),
            }
        }
        while ints.len() < 5 {
            ints.push(e.word(0));
        }
        ints.push(target);
        let mut signature = Signature::new(CallConv::Tail);
        for value in ints.iter().chain(&floats) {
            let ty = e.b.func.dfg.value_type(*value);
            signature.params.push(AbiParam::new(ty));
        }
        let result = match &self.plan.ret {
            ParamPlan::None | ParamPlan::Unsupported(_) => None,
            ParamPlan::Scalar(scalar) if scalar.is_float() => {
                Some(crate::signature::scalar_type(scalar.native_kind()))
            }
            _ => Some(I64),
        };
        signature.returns.extend(result.map(AbiParam::new));
        let signature = e.b.import_signature(signature);
        let args: Vec<Value> = ints.into_iter().chain(floats).collect();
        e.store_context(self.method, HIDDEN);
        let thunk = match self.refers_to_nothing() {
            true => Symbol::ScalarNativeThunk,
            false => Symbol::PlainNativeThunk,
        };
        let returned = e.call_symbol(thunk, signature, &args);
        match &self.plan.ret {
            ParamPlan::Scalar(scalar) => {
                smallvec![scalar.returned().from_native(&mut e.b, returned[0])]
            }
            ParamPlan::Convert { .. } => {
                smallvec![e.helper_value(call::MarshalResult, [self.method, returned[0]])]
            }
            _ => returned,
        }
    }
    /// Emits what was noted for after the call. `block` is the call block, if the call has one.
    fn write_back(&self, e: &mut Emitter, block: Option<Value>) {
        for back in &self.backs {
            match back {
                Back::Scalar(scalar, managed, copy) => {
                    let value = scalar.load_native(&mut e.b, trusted(), *copy, 0);
                    null_check(e, *managed);
                    store_scalar(
                        &mut e.b,
                        null_trap(),
                        scalar.managed_kind(),
                        value,
                        *managed,
                        0,
                    );
                }
                Back::Struct(i, native, managed) => {
                    let helper = call::MarshalStructToManaged;
                    self.convert_struct(e, helper, *i as i64, *native, *managed);
                }
                Back::Word(i, managed, native) => {
                    let index = e.word(*i as i64);
                    let block = block.expect("a call that converts back has a block");
                    e.helper(
                        call::MarshalBack,
                        [self.method, index, *managed, *native, block],
                    );
                }
            }
        }
    }
    /// The managed result.
    fn result(&self, e: &mut Emitter, block: Value, memory: Option<Value>) -> Results {
        let offset = native_call::RET_INT;
        match &self.plan.ret {
            ParamPlan::None | ParamPlan::Unsupported(_) => smallvec![],
            ParamPlan::Scalar(scalar) => {
                let offset = if scalar.is_float() {
                    native_call::RET_SSE
                } else {
                    offset
                };
                smallvec![scalar.returned().load_word(&mut e.b, block, offset)]
            }
            ParamPlan::Struct(layout) => {
                let memory = memory.expect("a struct has memory");
                self.gather(e, block, layout, memory);
                e.results_from_memory(self.lowered, self.args, memory)
            }
            ParamPlan::StructCopy(layout) => {
                let memory = memory.expect("a struct has memory");
                self.gather(e, block, layout, memory);
                let size = self.lowered.ret_class.layout().map_or(16, |l| l.size);
                let managed = e.zeroed_stack(size);
                self.convert_struct(e, call::MarshalStructToManaged, RESULT, memory, managed);
                e.results_from_memory(self.lowered, self.args, managed)
            }
            ParamPlan::Convert { .. } => {
                let native = e.b.ins().load(I64, trusted(), block, offset);
                smallvec![e.helper_value(call::MarshalResult, [self.method, native])]
            }
            _ => smallvec![e.b.ins().load(I64, trusted(), block, offset)],
        }
    }
    /// Stores a struct that came back in registers (rax, rdx, xmm0, xmm1) to its memory.
    fn gather(&self, e: &mut Emitter, block: Value, layout: &NativeLayout, memory: Value) {
        if let Abi::Words(words) = &layout.abi {
            for (i, offset) in result_offsets(words, native_call::RET_INT, native_call::RET_SSE)
                .into_iter()
                .enumerate()
            {
                let word = e.b.ins().load(I64, trusted(), block, offset);
                store_word(e, word, memory, 8 * i as i32);
            }
        }
    }
}

/// A null `ref` argument throws NullReferenceException: by the access that follows, or explicitly
/// where a fault would have no handler.
fn null_check(e: &mut Emitter, address: Value) {
    if e.has_handlers() {
        e.throw_unless(address, ThrowKind::NullReference);
    }
}

/// The offsets of the eightbytes of a struct result, given those of the first integer and the first
/// float register.
pub fn result_offsets(words: &[Eightbyte], ints: i32, sses: i32) -> Vec<i32> {
    let (mut ints, mut sses) = (ints, sses);
    let mut next = |word: &Eightbyte| {
        let counter = if *word == Eightbyte::Int {
            &mut ints
        } else {
            &mut sses
        };
        *counter += 8;
        *counter - 8
    };
    words.iter().map(&mut next).collect()
}
