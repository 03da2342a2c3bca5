//! Delegates: their runtime-implemented members and the thunks behind `invoke_impl`.
//!
//! # How it works
//! `Invoke` calls `invoke_impl(m_target, args...)`, or `invoke_impl(delegate, args...)` if `m_target` is null, so
//! that of a closed instance delegate `invoke_impl` is the method itself. Everything else goes through a thunk of
//! the delegate type's shape that is entered with the delegate.
//!
//! # Invariants
//! * Where the result comes back through a buffer, the buffer lies between `this` and the arguments, so a static
//!   method and an instance method have it in different places and no code address can serve as `invoke_impl` as it
//!   is: for such shapes `Invoke` always passes the delegate and every binding has a thunk.
//! * [`DelegateThunk::of`] is the one place that knows which binding needs which thunk.
//! * The `delegates` array is never written after its delegate is published: reading it once is the snapshot.
use crate::blob::{Blob, Symbol};
use crate::emit::sequences::{EmitExt, build, zero};
use crate::emit::{Codegen, Emitter, Results, null_trap, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{Pass, Shape};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Signature, Value};
use std::mem::offset_of;
use vervet_abi::layouts::{DelegateObject, MulticastDelegateObject};
use vervet_abi::{ThrowKind, call, object};
use vervet_types::MethodRef;

const METHOD_PTR: i32 = offset_of!(DelegateObject, method_ptr) as i32;
const INVOKE_IMPL: i32 = offset_of!(DelegateObject, invoke_impl) as i32;
const TARGET: i32 = offset_of!(DelegateObject, m_target) as i32;
const METHOD: i32 = offset_of!(DelegateObject, method) as i32;
const DELEGATES: i32 = offset_of!(MulticastDelegateObject, delegates) as i32;

/// How a delegate is bound to its method.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binding {
    /// An instance method and its `this` in `m_target` (which may be null).
    ClosedInstance {
        /// `m_target` is null.
        null: bool,
    },
    /// A static method and its first argument in `m_target` (which may be null).
    ClosedStatic {
        /// `m_target` is null.
        null: bool,
    },
    /// A static method.
    OpenStatic,
    /// An instance method; `this` is the delegate's first argument.
    OpenInstance,
    /// A virtual method found from `this`, the delegate's first argument.
    OpenVirtual,
    /// Several targets in `delegates`.
    Multicast,
}

/// What a thunk does. Each is entered with the delegate and the arguments of its `Invoke`.
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
    /// The thunk of a binding, where `shape` is that of the delegate's `Invoke`. None: `invoke_impl` is
    /// `method_ptr` (of a value type's instance method: its boxed entry).
    pub fn of(binding: Binding, shape: &Shape) -> Option<DelegateThunk> {
        let buffer = passes_delegate_always(shape);
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

/// See the module's first invariant.
fn passes_delegate_always(shape: &Shape) -> bool {
    shape.ret == Pass::Address
}

/// Makes a thunk for delegates whose `Invoke` has that shape.
pub fn delegate_thunk(
    codegen: &Codegen,
    kind: DelegateThunk,
    shape: &Shape,
) -> Result<Blob, CompileError> {
    build(
        codegen,
        Tier::Optimised,
        &format!("(delegate {kind:?})"),
        shape.clif.clone(),
        |e, args| {
            let delegate = args[0];
            match kind {
                DelegateThunk::OpenStatic => {
                    let code = load(e, delegate, METHOD_PTR);
                    e.tail_call(&without_this(shape), code, &args[1..]);
                }
                DelegateThunk::OpenInstance => {
                    let code = load(e, delegate, METHOD_PTR);
                    let args = receiver_first(shape, args);
                    e.tail_call(&without_this(shape), code, &args);
                }
                DelegateThunk::ClosedInstance | DelegateThunk::ClosedStatic => {
                    let code = load(e, delegate, METHOD_PTR);
                    let mut args = args.to_vec();
                    args[0] = load(e, delegate, TARGET);
                    if kind == DelegateThunk::ClosedStatic && passes_delegate_always(shape) {
                        args.swap(0, 1);
                    }
                    e.tail_call(&shape.clif, code, &args);
                }
                DelegateThunk::OpenVirtual => {
                    let method = load(e, delegate, METHOD);
                    let args = receiver_first(shape, args);
                    let code = e.helper_value(call::ResolveVirtual, [args[0], method]);
                    e.tail_call(&without_this(shape), code, &args);
                }
                DelegateThunk::Multicast => multicast(e, shape, args),
            }
            Ok(())
        },
    )
}

/// The body of a runtime-implemented member of a delegate class.
pub fn member(codegen: &Codegen, method: MethodRef) -> Result<Option<Blob>, CompileError> {
    let shape = Shape::of_method(method)?;
    let name = method.full_name();
    let blob = match method.name {
        "Invoke" => build(
            codegen,
            Tier::Optimised,
            &name,
            shape.clif.clone(),
            |e, args| {
                let (code, first) = target_of(e, &shape, args[0]);
                let mut args = args.to_vec();
                args[0] = first;
                e.tail_call(&shape.clif, code, &args);
                Ok(())
            },
        ),
        ".ctor" => build(
            codegen,
            Tier::Optimised,
            &name,
            shape.clif.clone(),
            |e, args| {
                e.helper(call::DelegateCtor, [args[0], args[1], args[2]]);
                e.b.ins().return_(&[]);
                Ok(())
            },
        ),
        "BeginInvoke" => build(
            codegen,
            Tier::Optimised,
            &name,
            shape.clif.clone(),
            |e, args| {
                e.stack_check(args);
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
            shape.clif.clone(),
            |e, args| {
                e.stack_check(args);
                let block = e.pack(&args[shape.first_value(0)..]);
                let handle = e.symbol(Symbol::MethodHandle(method));
                if shape.ret == Pass::Address {
                    e.helper(call::DelegateEndInvoke, [args[0], handle, block, args[1]]);
                    e.b.ins().return_(&[]);
                    return Ok(());
                }
                let ret = e.zeroed_stack(16);
                e.helper(call::DelegateEndInvoke, [args[0], handle, block, ret]);
                let results = e.results_from_memory(&shape, args, ret);
                e.b.ins().return_(&results);
                Ok(())
            },
        ),
        _ => return Ok(None),
    };
    blob.map(Some)
}

fn load(e: &mut Emitter, object: Value, offset: i32) -> Value {
    e.b.ins().load(I64, trusted(), object, offset)
}

/// A call of `Invoke`, inline; `args` and the result are those of the call.
pub fn emit_invoke(e: &mut Emitter, shape: &Shape, args: &[Value]) -> Results {
    let (code, first) = target_of(e, shape, args[0]);
    let mut args = args.to_vec();
    args[0] = first;
    e.call_address(&shape.clif, code, &args)
}

/// What `Invoke` of `delegate` calls, and its first argument. Null is a NullReferenceException.
pub fn target_of(e: &mut Emitter, shape: &Shape, delegate: Value) -> (Value, Value) {
    if e.has_handlers() {
        e.throw_unless(delegate, ThrowKind::NullReference);
    }
    let b = &mut e.b;
    let code = b.ins().load(I64, null_trap(), delegate, INVOKE_IMPL);
    if passes_delegate_always(shape) {
        return (code, delegate);
    }
    let target = b.ins().load(I64, trusted(), delegate, TARGET);
    (code, b.ins().select(target, target, delegate))
}

/// The signature of `Invoke` without the delegate.
fn without_this(shape: &Shape) -> Signature {
    let mut clif = shape.clif.clone();
    clif.params.remove(0);
    clif
}

/// The arguments without the delegate, the first declared one in front of the return buffer.
fn receiver_first(shape: &Shape, args: &[Value]) -> Vec<Value> {
    let mut args = args[1..].to_vec();
    if passes_delegate_always(shape) {
        args.swap(0, 1);
    }
    args
}

fn multicast(e: &mut Emitter, shape: &Shape, args: &[Value]) {
    e.stack_check(args);
    let array = load(e, args[0], DELEGATES);
    let b = &mut e.b;
    let count = b
        .ins()
        .load(I32, null_trap(), array, object::ARRAY_LENGTH_OFFSET);
    let (head, body, end) = (b.create_block(), b.create_block(), b.create_block());
    let mut start = vec![BlockArg::Value(b.ins().iconst(I32, 0))];
    b.append_block_param(head, I32);
    for ret in &shape.clif.returns {
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
    let results = emit_invoke(e, shape, &args);
    let b = &mut e.b;
    let mut next = vec![BlockArg::Value(b.ins().iadd_imm_s(state[0], 1))];
    next.extend(results.into_iter().map(BlockArg::Value));
    b.ins().jump(head, &next);

    b.switch_to_block(end);
    b.ins().return_(&state[1..]);
}
