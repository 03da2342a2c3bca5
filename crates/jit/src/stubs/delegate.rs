//! Delegates: the members that the runtime implements, and the thunks that `invoke_impl` points to
//! (ECMA-335 II.14.6).
//!
//! # How it works
//! `Invoke` calls the code address in `invoke_impl`. Its first argument is `m_target`, or the
//! delegate itself if `m_target` is null:
//!
//! ```text
//! closed, instance method    invoke_impl = the method,      called with (m_target, args...)
//! everything else            invoke_impl = a thunk,         called with (delegate, args...)
//! ```
//!
//! A thunk belongs to a [`DelegateThunk`] and a signature, not to a method: it reads the code
//! address from the delegate.
//!
//! Which thunk a binding needs:
//!
//! ```text
//! binding             result in registers     result through a buffer
//! ClosedInstance      none                    ClosedInstance
//! ClosedStatic        none                    ClosedStatic (exchanges buffer and argument)
//!   ... with a null   ClosedInstance          as above
//!   m_target
//! OpenStatic          OpenStatic              OpenStatic
//! OpenInstance        OpenStatic              OpenInstance (exchanges buffer and argument)
//! OpenVirtual         OpenVirtual             OpenVirtual
//! Multicast           Multicast               Multicast
//! ```
//!
//! # Invariants
//! * A result buffer is passed between `this` and the arguments. A static method has its buffer
//!   first, an instance method second, so no code address fits both. For such signatures `Invoke`
//!   always passes the delegate, and every binding has a thunk.
//! * [`DelegateThunk::of`] is the only place that knows which binding needs which thunk.
//! * The `delegates` array of a multicast delegate is never written after the delegate is
//!   published, so one load of it is a consistent snapshot.
use crate::blob::{Blob, Symbol};
use crate::emit::front::StackCheck;
use crate::emit::sequences::{EmitExt, build, zero};
use crate::emit::{Codegen, Emitter, Results, null_trap, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Signature, Value};
use std::mem::offset_of;
use vervet_abi::layouts::{DelegateObject, MulticastDelegateObject};
use vervet_abi::{ThrowKind, call, object};
use vervet_types::MethodRef;

/// Offset of the method's handle.
const METHOD_PTR: i32 = offset_of!(DelegateObject, method_ptr) as i32;
/// Offset of the code address that `Invoke` calls.
const INVOKE_IMPL: i32 = offset_of!(DelegateObject, invoke_impl) as i32;
/// Offset of the target object.
const TARGET: i32 = offset_of!(DelegateObject, m_target) as i32;
const METHOD: i32 = offset_of!(DelegateObject, method) as i32;
/// Offset of the array of a multicast delegate.
const DELEGATES: i32 = offset_of!(MulticastDelegateObject, delegates) as i32;

/// How a delegate is bound to its method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binding {
    /// An instance method; its `this` is in `m_target` and may be null.
    ClosedInstance {
        /// `m_target` is null.
        null: bool,
    },
    /// A static method; its first argument is in `m_target` and may be null.
    ClosedStatic {
        /// `m_target` is null.
        null: bool,
    },
    /// A static method.
    OpenStatic,
    /// An instance method; `this` is the first argument of the call.
    OpenInstance,
    /// A virtual method, found in the class of the first argument of the call.
    OpenVirtual,
    /// Several delegates, in `delegates`.
    Multicast,
}

/// What a thunk does. Each is called with the delegate and the arguments of its `Invoke`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DelegateThunk {
    /// Drops the delegate: calls `method_ptr(args...)`, a static method.
    OpenStatic,
    /// Drops the delegate: calls `method_ptr(args...)`, an instance method.
    OpenInstance,
    /// Calls `method_ptr(m_target, args...)`, an instance method. Also where `m_target` is null.
    ClosedInstance,
    /// Calls `method_ptr(m_target, args...)`, a static method. Also where `m_target` is null.
    ClosedStatic,
    /// Resolves `method` on the first argument and calls it.
    OpenVirtual,
    /// Invokes each of `delegates`; the last result stands.
    Multicast,
}

impl DelegateThunk {
    /// How many kinds there are; `kind as usize` is below it.
    pub const COUNT: usize = DelegateThunk::Multicast as usize + 1;
    /// The thunk of a binding; `lowered` is the signature of the delegate's `Invoke`. None:
    /// `invoke_impl` is `method_ptr` (of a value type's instance method: its boxed entry).
    pub fn of(binding: Binding, lowered: &LoweredSignature) -> Option<DelegateThunk> {
        let buffer = passes_delegate_always(lowered);
        Some(match binding {
            Binding::ClosedInstance { null: false } | Binding::ClosedStatic { null: false }
                if !buffer =>
            {
                return None;
            }
            Binding::ClosedInstance { .. } => DelegateThunk::ClosedInstance,
            Binding::ClosedStatic { .. } if buffer => DelegateThunk::ClosedStatic,
            Binding::ClosedStatic { .. } => DelegateThunk::ClosedInstance,
            Binding::OpenInstance if buffer => DelegateThunk::OpenInstance,
            Binding::OpenStatic | Binding::OpenInstance => DelegateThunk::OpenStatic,
            Binding::OpenVirtual => DelegateThunk::OpenVirtual,
            Binding::Multicast => DelegateThunk::Multicast,
        })
    }
}

/// Whether `Invoke` always passes the delegate. See the module's first invariant.
fn passes_delegate_always(lowered: &LoweredSignature) -> bool {
    lowered.ret == Pass::Address
}

/// Compiles a thunk for delegates whose `Invoke` has that signature.
pub fn delegate_thunk(
    codegen: &Codegen,
    kind: DelegateThunk,
    lowered: &LoweredSignature,
) -> Result<Blob, CompileError> {
    build(
        codegen,
        Tier::Optimised,
        &format!("(delegate {kind:?})"),
        lowered.clif.clone(),
        |e, args| {
            let delegate = args[0];
            match kind {
                DelegateThunk::OpenStatic => {
                    let code = load(e, delegate, METHOD_PTR);
                    e.tail_call(&without_this(lowered), code, &args[1..]);
                }
                DelegateThunk::OpenInstance => {
                    let code = load(e, delegate, METHOD_PTR);
                    let args = receiver_first(lowered, args);
                    e.tail_call(&without_this(lowered), code, &args);
                }
                DelegateThunk::ClosedInstance | DelegateThunk::ClosedStatic => {
                    let code = load(e, delegate, METHOD_PTR);
                    let mut args = args.to_vec();
                    args[0] = load(e, delegate, TARGET);
                    if kind == DelegateThunk::ClosedStatic && passes_delegate_always(lowered) {
                        args.swap(0, 1);
                    }
                    e.tail_call(&lowered.clif, code, &args);
                }
                // It has a frame, which traces show.
                DelegateThunk::OpenVirtual => {
                    e.check = StackCheck::Always;
                    let method = load(e, delegate, METHOD);
                    let args = receiver_first(lowered, args);
                    e.throw_unless(args[0], ThrowKind::NullReference);
                    let code = e.helper_value(call::ResolveVirtual, [args[0], method]);
                    let results = e.call_address(&without_this(lowered), code, &args);
                    e.b.ins().return_(&results);
                }
                DelegateThunk::Multicast => multicast(e, lowered, args),
            }
            Ok(())
        },
    )
}

/// The body of a member of a delegate class that the runtime implements.
pub fn member(codegen: &Codegen, method: MethodRef) -> Result<Option<Blob>, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    let name = method.full_name();
    let blob = match method.name {
        // Called through reflection or a method pointer only: a call of Invoke in IL is expanded.
        "Invoke" => build(
            codegen,
            Tier::Optimised,
            &name,
            lowered.clif.clone(),
            |e, args| {
                let (code, first) = target_of(e, &lowered, args[0]);
                let mut args = args.to_vec();
                args[0] = first;
                e.tail_call(&lowered.clif, code, &args);
                Ok(())
            },
        ),
        ".ctor" => build(
            codegen,
            Tier::Optimised,
            &name,
            lowered.clif.clone(),
            |e, args| {
                e.helper(call::DelegateCtor, [args[0], args[1], args[2]]);
                e.b.ins().return_(&[]);
                Ok(())
            },
        ),
        // The arguments go to the runtime as a block of words; it knows their types by the method.
        "BeginInvoke" => build(
            codegen,
            Tier::Optimised,
            &name,
            lowered.clif.clone(),
            |e, args| {
                e.check = StackCheck::Always;
                let block = e.pack(&args[1..]);
                let handle = e.symbol(Symbol::MethodHandle(method));
                let result = e.helper_value(call::DelegateBeginInvoke, [args[0], handle, block]);
                e.b.ins().return_(&[result]);
                Ok(())
            },
        ),
        "EndInvoke" => build(
            codegen,
            Tier::Optimised,
            &name,
            lowered.clif.clone(),
            |e, args| {
                e.check = StackCheck::Always;
                let block = e.pack(&args[lowered.first_value(0)..]);
                let handle = e.symbol(Symbol::MethodHandle(method));
                if lowered.ret == Pass::Address {
                    e.helper(call::DelegateEndInvoke, [args[0], handle, block, args[1]]);
                    e.b.ins().return_(&[]);
                    return Ok(());
                }
                let ret = e.zeroed_stack(16);
                e.helper(call::DelegateEndInvoke, [args[0], handle, block, ret]);
                let results = e.results_from_memory(&lowered, args, ret);
                e.b.ins().return_(&results);
                Ok(())
            },
        ),
        _ => return Ok(None),
    };
    blob.map(Some)
}

/// Loads a word of an object that is not null.
fn load(e: &mut Emitter, object: Value, offset: i32) -> Value {
    e.b.ins().load(I64, trusted(), object, offset)
}

/// Emits a call of `Invoke`. `args` and the results are those of the call.
pub fn emit_invoke(e: &mut Emitter, lowered: &LoweredSignature, args: &[Value]) -> Results {
    let (code, first) = target_of(e, lowered, args[0]);
    let mut args = args.to_vec();
    args[0] = first;
    e.call_address(&lowered.clif, code, &args)
}

/// The code that `Invoke` of `delegate` calls, and its first argument. Null throws
/// NullReferenceException.
pub fn target_of(e: &mut Emitter, lowered: &LoweredSignature, delegate: Value) -> (Value, Value) {
    if e.has_handlers() {
        e.throw_unless(delegate, ThrowKind::NullReference);
    }
    let b = &mut e.b;
    let code = b.ins().load(I64, null_trap(), delegate, INVOKE_IMPL);
    if passes_delegate_always(lowered) {
        return (code, delegate);
    }
    let target = b.ins().load(I64, trusted(), delegate, TARGET);
    (code, b.ins().select(target, target, delegate))
}

/// The signature of `Invoke` without the delegate.
fn without_this(lowered: &LoweredSignature) -> Signature {
    let mut clif = lowered.clif.clone();
    clif.params.remove(0);
    clif
}

/// The arguments without the delegate, with the first declared one before the result buffer.
fn receiver_first(lowered: &LoweredSignature, args: &[Value]) -> Vec<Value> {
    let mut args = args[1..].to_vec();
    if passes_delegate_always(lowered) {
        args.swap(0, 1);
    }
    args
}

/// Calls each delegate of the array in order; the last result is returned (ECMA-335 I.8.9.3). An
/// exception leaves this function, and so ends the loop.
///
/// ```text
///     jump head(0, zero results)
/// head(i, results...):
///     brif i < count, body, end
/// body:
///     results = Invoke(delegates[i], args...)
///     jump head(i + 1, results...)
/// end:
///     return results...
/// ```
fn multicast(e: &mut Emitter, lowered: &LoweredSignature, args: &[Value]) {
    e.check = StackCheck::Always;
    // The array is immutable, so the count and the elements belong together.
    let array = load(e, args[0], DELEGATES);
    let b = &mut e.b;
    let count = b
        .ins()
        .load(I32, null_trap(), array, object::ARRAY_LENGTH_OFFSET);
    let (head, body, end) = (b.create_block(), b.create_block(), b.create_block());
    let mut start = vec![BlockArg::Value(b.ins().iconst(I32, 0))];
    b.append_block_param(head, I32);
    for ret in &lowered.clif.returns {
        start.push(BlockArg::Value(zero(b, ret.value_type)));
        b.append_block_param(head, ret.value_type);
    }
    b.ins().jump(head, &start);

    b.switch_to_block(head);
    let state = b.block_params(head).to_vec();
    let more = b.ins().icmp(IntCC::UnsignedLessThan, state[0], count);
    b.ins().brif(more, body, &[], end, &[]);

    b.switch_to_block(body);
    let index = b.ins().uextend(I64, state[0]);
    let offset = b.ins().ishl_imm_u(index, 3);
    let at = b.ins().iadd(array, offset);
    let one = b.ins().load(I64, trusted(), at, object::ARRAY_DATA_OFFSET);
    let mut args = args.to_vec();
    args[0] = one;
    let results = emit_invoke(e, lowered, &args);
    let b = &mut e.b;
    let mut next = vec![BlockArg::Value(b.ins().iadd_imm_s(state[0], 1))];
    next.extend(results.into_iter().map(BlockArg::Value));
    b.ins().jump(head, &next);

    b.switch_to_block(end);
    b.ins().return_(&state[1..]);
}
