//! `newobj`: objects, values, strings, arrays of several dimensions, delegates (ECMA-335 III.4.21).
//!
//! # How it works
//! ```text
//! class            memory                          constructor
//! object           allocated here                  called with `this`
//! value type       zeroed temporary in the frame   called with its address, then loaded
//! string           none                            String.CreateString(...) with a null `this`
//! array, rank > 1  helper                          none: lengths are given to the helper
//! delegate         allocated here                  stores of target and code, or a helper
//! ```
//!
//! `new C(x)` for a class and `new S(x)` for a struct:
//!
//! ```text
//!     object = allocate C                    ; fast_paths::alloc
//!     call [slot of C..ctor](object, x)      ; or its body, inlined
//!
//!     at = stack_addr temporary;  store 0, at
//!     call [slot of S..ctor](at, x)
//!     the value is at
//! ```
//!
//! # Invariants
//! * While memory is allocated, which may run a collection, the constructor's arguments stay on the
//!   IL stack: they are SSA values in registers or slots of this frame, which the collector scans.
//! * A value type is constructed in memory of this frame and loaded from there afterwards. The
//!   constructor may let its address escape, but the value that is pushed is the one at its end.
use crate::blob::Symbol;
use crate::emit::{barrier, trusted};
use crate::signature::LoweredSignature;
use crate::stubs::delegate::{Binding, DelegateThunk};
use crate::translate::calls::call::{Dispatch, check_signature};
use crate::translate::calls::intrinsics;
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::*};
use std::mem::offset_of;
use vervet_abi::layouts::DelegateObject;
use vervet_abi::{call, vtable};
use vervet_metadata::Token;
use vervet_types::method::MethodKind;
use vervet_types::{ClassRef, LoadError, MethodRef};

/// Refuses a constructor whose class has no objects. As in mono the method is not compiled then, so nothing of it runs, and whether the constructor is accessible is not asked.
fn refuse_abstract(ctor: MethodRef) -> Res {
    let class = ctor.class;
    let has_none = class.is_abstract() && !class.is_array() || class.is_interface();
    if !has_none || !ctor.has_this() || class.is_open {
        return Ok(());
    }
    ctor.sig()?;
    class.check_operand()?;
    Err(LoadError::Abstract(class.full_name()).into())
}

impl<'a, 'f> Translator<'a, 'f> {
    /// `newobj`.
    pub(crate) fn new_object(&mut self, token: Token) -> Res {
        // As in mono, whether a delegate's constructor is accessible is not asked behind `ldftn`.
        let named = self.body.scope.method(token)?;
        let is_bound =
            matches!(self.body.stack.last(), Some(v) if matches!(v.fact, ValueFact::Code(..)));
        refuse_abstract(named)?;
        let ctor = match is_bound && named.class.is_delegate()? {
            true => named,
            false => match self.method_named(token)? {
                Some(ctor) => ctor,
                None => return Ok(()),
            },
        };
        let class = ctor.class;
        if class.is_open {
            return Err(TranslateError::invalid(format!(
                "an instance of the open type {}",
                class.full_name()
            )));
        }
        // The constructor is resolved first, as in mono.
        let count = ctor.sig()?.params.len();
        self.look_for_kept_pointers(ctor, count, false)?;
        class.check_operand()?;
        if class.is_delegate()? {
            if let Some(invoke) = class.find_method("Invoke", None)? {
                check_signature(invoke)?;
            }
            return self.new_delegate(class);
        }
        if class.is_array() {
            return self.new_md_array(ctor);
        }
        if !ctor.has_this() {
            return Err(TranslateError::invalid("newobj of a static method"));
        }
        if std::ptr::eq(
            class,
            self.session.universe.known(vervet_types::Known::String),
        ) {
            return self.new_string(ctor);
        }
        self.construct(ctor)
    }

    /// Makes an object or a value by a constructor whose arguments are on the stack, and pushes it.
    pub(crate) fn construct(&mut self, ctor: MethodRef) -> Res {
        let class = ctor.class;
        self.mark_remote(ctor)?;
        let lowered = LoweredSignature::of_method(ctor)?;
        refuse_abstract(ctor)?;
        let count = lowered.params.len();
        if self.body.stack.len() < count {
            return Err(TranslateError::invalid("too few values on the stack"));
        }
        let at = self.body.stack.len() - count;
        if class.is_value_type()? {
            let address = self.zeroed(class)?;
            self.body.stack.insert(
                at,
                StackValue {
                    stack_type: StackType::ByRef,
                    value: address,
                    class: None,
                    fact: ValueFact::Frame,
                },
            );
            if !intrinsics::expand(self, ctor)? {
                self.emit_call(Dispatch::Direct(ctor), &lowered, false)?;
            }
            let operand = self.value_at(class, address)?;
            self.push_value(operand);
            return Ok(());
        }
        // The arguments stay on the model's stack while the object is allocated.
        self.spill_aliased(0)?;
        let (object, fact) = match class.is_marshal_by_ref()? {
            true => (self.allocate_remote(class)?, ValueFact::NonNull),
            false => (self.allocate(class)?, ValueFact::Exact),
        };
        let instance = StackValue {
            stack_type: StackType::Ref,
            value: object,
            class: Some(class),
            fact,
        };
        self.body.stack.insert(at, instance);
        // The constructor of Object does nothing.
        let trivial = count == 0
            && std::ptr::eq(
                class,
                self.session.universe.known(vervet_types::Known::Object),
            );
        if trivial {
            self.body.stack.truncate(at);
        } else {
            self.emit_call(Dispatch::Direct(ctor), &lowered, false)?;
        }
        self.push_value(instance);
        Ok(())
    }

    /// The address of zeroed memory in this frame for a value of a class. It is what `this` of a value type's constructor is (ECMA-335 III.4.21).
    fn zeroed(&mut self, class: ClassRef) -> Res<Value> {
        let size = self.size_of(class)?;
        let slot = self.temp(size);
        self.note_class(slot, class)?;
        let address = self.e.slot_addr(slot);
        self.zero(address, 0, size.next_multiple_of(8), trusted());
        Ok(address)
    }
    /// The value in memory of this frame that nothing else writes.
    fn value_at(&mut self, class: ClassRef, address: Value) -> Res<StackValue> {
        if !self.is_struct(class)? {
            return self.load_value(class, address, 0, trusted());
        }
        Ok(StackValue {
            stack_type: StackType::Struct,
            value: address,
            class: Some(class),
            fact: ValueFact::None,
        })
    }
    /// The value of a class whose fields are zero.
    pub(crate) fn zeros_of(&mut self, class: ClassRef) -> Res<StackValue> {
        let address = self.zeroed(class)?;
        self.value_at(class, address)
    }

    /// Allocates an object of a class that derives from MarshalByRefObject. If the class library has asked for it, it may be a transparent proxy:
    ///
    /// ```text
    ///     bits = load vtable + remoting
    ///     brif bits & ACTIVATION, cold, own
    /// own:
    ///     join(allocate C)
    /// cold:
    ///     join(call AllocRemote(vtable))
    /// ```
    fn allocate_remote(&mut self, class: ClassRef) -> Res<Value> {
        let vt = self.e.symbol(Symbol::VTable(class));
        let bits = (self.e.b.ins()).load(I32, trusted(), vt, vtable::REMOTING_OFFSET);
        let asks = (self.e.b.ins()).band_imm_u(bits, i64::from(vtable::remoting::ACTIVATION));
        let (cold, own, join) = (
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
        );
        self.e.b.append_block_param(join, I64);
        self.e.b.set_cold_block(cold);
        self.e.b.ins().brif(asks, cold, &[], own, &[]);
        self.e.b.seal_block(cold);
        self.e.b.seal_block(own);
        self.e.b.switch_to_block(own);
        let object = self.allocate(class)?;
        self.e.b.ins().jump(join, &[BlockArg::Value(object)]);
        self.e.b.switch_to_block(cold);
        let object = self.e.helper_value(call::AllocRemote, [vt]);
        self.e.b.ins().jump(join, &[BlockArg::Value(object)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(self.e.b.block_params(join)[0])
    }

    /// `new string(...)`. A string cannot be resized after its allocation, so its constructors have
    /// no bodies; the class library has methods `CreateString` with the same parameters, which
    /// return the string.
    fn new_string(&mut self, ctor: MethodRef) -> Res {
        let params = &ctor.sig()?.params;
        for m in ctor.class.methods()? {
            if m.name == "CreateString" && m.has_this() && m.sig()?.params == *params {
                let lowered = LoweredSignature::of_method(m)?;
                if self.body.stack.len() < params.len() {
                    return Err(TranslateError::invalid("too few values on the stack"));
                }
                let at = self.body.stack.len() - params.len();
                let null = self.i64(0);
                self.body.stack.insert(
                    at,
                    StackValue {
                        stack_type: StackType::Ref,
                        value: null,
                        class: None,
                        fact: ValueFact::Null,
                    },
                );
                return self.emit_call(Dispatch::Direct(m), &lowered, false);
            }
        }
        Err(TranslateError::Load(
            vervet_types::LoadError::missing_method(ctor.class, "CreateString"),
        ))
    }

    /// An array with one constructor argument per dimension, or with two: lower bound and length
    /// (ECMA-335 II.14.2). The helper takes them from memory.
    fn new_md_array(&mut self, ctor: MethodRef) -> Res {
        let MethodKind::ArrayCtor { with_bounds } = ctor.kind else {
            return Err(TranslateError::invalid("not a constructor of an array"));
        };
        let count = ctor.sig()?.params.len();
        let rank = ctor.class.rank().unwrap_or(1) as usize;
        let operands = self.pop_n(count)?;
        let (lengths, bounds) = (self.temp(4 * count as u32), self.temp(4 * count as u32));
        let (lengths, bounds) = (self.e.slot_addr(lengths), self.e.slot_addr(bounds));
        let (mut n_lengths, mut n_bounds) = (0, 0);
        for (n, operand) in operands.iter().enumerate() {
            let value = self.coerce(operand, StackType::I32)?;
            if with_bounds && n % 2 == 0 {
                self.e.b.ins().store(trusted(), value, bounds, 4 * n_bounds);
                n_bounds += 1;
            } else {
                self.e
                    .b
                    .ins()
                    .store(trusted(), value, lengths, 4 * n_lengths);
                n_lengths += 1;
            }
        }
        let vt = self.e.symbol(Symbol::VTable(ctor.class));
        let value = if ctor.class.is_sz_array() {
            // `new T[n][]...` on a vector of vectors: one length per level.
            let levels = self.e.b.ins().iconst(I32, count as i64);
            self.e
                .helper_value(call::AllocJaggedArray, [vt, lengths, levels])
        } else {
            if n_lengths as usize != rank {
                return Err(TranslateError::invalid("the wrong number of dimensions"));
            }
            let bounds = if with_bounds { bounds } else { self.i64(0) };
            self.e
                .helper_value(call::AllocMdArray, [vt, lengths, bounds])
        };
        self.push_instance(ctor.class, value);
        Ok(())
    }

    /// A delegate. If the code address comes straight from `ldftn`, the method is known here, and
    /// the code stores the fields itself where [`binds_directly`] allows it; otherwise a helper
    /// gets the method, so that it can decide which thunk the delegate needs without looking the
    /// address up.
    ///
    /// ```text
    ///     delegate = allocate D
    ///     brif target, bound, unbound
    /// unbound: (cold)
    ///     call DelegateCtorMethod(delegate, target, method, is_virtual)
    ///     jump done
    /// bound:
    ///     delegate.method_ptr = delegate.invoke_impl = stub of the method
    ///     delegate.method = method
    ///     delegate.m_target = target                ; with its card
    ///     jump done
    /// ```
    fn new_delegate(&mut self, class: ClassRef) -> Res {
        let code = self.pop()?;
        let operand = self.pop()?;
        let target = self.as_native(&operand)?;
        let delegate = self.allocate(class)?;
        match code.fact {
            ValueFact::Code(method, is_virtual)
                if binds_directly(class, method, is_virtual)?
                    && (method.is_static()
                        || !self.may_be_remote(&operand, method.class, false)?) =>
            {
                let (bound, unbound, done) = (
                    self.e.b.create_block(),
                    self.e.b.create_block(),
                    self.e.b.create_block(),
                );
                self.e.b.set_cold_block(unbound);
                self.e.b.ins().brif(target, bound, &[], unbound, &[]);
                self.e.b.seal_block(bound);
                self.e.b.seal_block(unbound);
                self.e.b.switch_to_block(unbound);
                self.construct_delegate(delegate, target, method, is_virtual);
                self.e.b.ins().jump(done, &[]);
                self.e.b.switch_to_block(bound);
                let stub = self.e.symbol(Symbol::MethodStub(method));
                let handle = self.e.symbol(Symbol::MethodHandle(method));
                for (value, offset) in [
                    (stub, offset_of!(DelegateObject, method_ptr)),
                    (stub, offset_of!(DelegateObject, invoke_impl)),
                    (handle, offset_of!(DelegateObject, method)),
                ] {
                    let ins = self.e.b.ins();
                    ins.store(trusted(), value, delegate, offset as i32);
                }
                let at = offset_of!(DelegateObject, m_target) as i32;
                barrier::store_reference(self.e, trusted(), target, delegate, at);
                self.e.b.ins().jump(done, &[]);
                self.e.b.seal_block(done);
                self.e.b.switch_to_block(done);
            }
            ValueFact::Code(method, is_virtual) => {
                self.construct_delegate(delegate, target, method, is_virtual);
            }
            _ => {
                let code = self.as_native(&code)?;
                self.e.helper(call::DelegateCtor, [delegate, target, code]);
            }
        }
        self.push_instance(class, delegate);
        Ok(())
    }

    /// Calls the helper that fills a delegate over a known method.
    fn construct_delegate(
        &mut self,
        delegate: Value,
        target: Value,
        method: MethodRef,
        is_virtual: bool,
    ) {
        let handle = self.e.symbol(Symbol::MethodHandle(method));
        let flag = self.i32(is_virtual as i32);
        self.e
            .helper(call::DelegateCtorMethod, [delegate, target, handle, flag]);
    }
}

/// Whether `invoke_impl` of a delegate of `class` over `method` is the method's own stub whenever
/// the target is not null: the delegate is closed, needs no thunk, and neither the class of the
/// target nor a box has a say in which code is called.
fn binds_directly(class: ClassRef, method: MethodRef, is_virtual: bool) -> Res<bool> {
    let Some(invoke) = class.find_method("Invoke", None)? else {
        return Ok(false);
    };
    if method.param_count + u32::from(!method.is_static()) != invoke.param_count + 1
        || is_virtual && method.is_virtual()
        || method.is_abstract()
        || !method.is_static() && method.class.is_value_type()?
    {
        return Ok(false);
    }
    let binding = match method.is_static() {
        true => Binding::ClosedStatic { null: false },
        false => Binding::ClosedInstance { null: false },
    };
    let lowered = LoweredSignature::of_method(invoke)?;
    Ok(DelegateThunk::of(binding, &lowered).is_none())
}
