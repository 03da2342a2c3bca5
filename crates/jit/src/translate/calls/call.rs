//! Calls: `call`, `callvirt`, `calli`, `ldftn`, `jmp`, and the prefixes `constrained.` and `tail.`.
//!
//! # How it works
//! A call goes through these steps: the method is resolved from its token; an intrinsic is expanded
//! in place; [`Translator::dispatch`] decides how the code is found; a method that is known exactly
//! may be inlined; [`Translator::prepare`] pops the arguments into the values that travel; the call
//! is emitted.
//!
//! ```text
//! Dispatch     code address                                      used for
//! Direct       load [method's slot]                              static, final, sealed, exact class
//! Virtual      load [vtable + SLOTS + 8 * slot]                  other virtual methods
//! Interface    load [vtable + IMT + 8 * imt_index(hash of method)]       interface methods
//!                  and context.hidden = method
//! Generic      what the VTable remembers, or ResolveVirtual(this, method)   generic virtual methods
//! Invoke       load [delegate + invoke_impl]                     delegates
//! Accessor     no call                                           arrays' Get, Set, Address
//! ```
//!
//! A method's slot holds the address of the prestub until the method is compiled, and of its code
//! from then on. Several interface methods may share an entry of the IMT; its thunk then selects by
//! `context.hidden`.
//!
//! A virtual call outside protected regions, and an interface call:
//!
//! ```text
//!     v1 = uload32 user3 v0                  ; the VTable; faults on null
//!     v2 = load.i64 v1 + SLOTS + 8 * slot
//!     call_indirect v2(v0, ...)
//!
//!     v1 = uload32 user3 v0
//!     v2 = load.i64 v1 + IMT + 8 * index
//!     v3 = symbol_value method
//!     store v3, context.hidden
//!     call_indirect v2(v0, ...)
//! ```
//!
//! # Invariants
//! * Between the store to `context.hidden` and the call no other call and no allocation is emitted:
//!   both use the word.
//! * Arguments of small integer types are narrowed. A struct that is passed by address lies in
//!   memory that nothing writes during the call, including a filter of this method, which runs
//!   while the call is active.
//! * A tail call is made only if no address in this frame can reach the callee, because the frame
//!   is gone when the callee runs.
use crate::blob::Symbol;
use crate::emit::{Results, trusted};
use crate::optimise::Rarely;
use crate::signature::{LoweredSignature, Pass, load_passed, store_passed};
use crate::stubs::cold_call::result_of;
use crate::translate::calls::intrinsics;
use crate::translate::control::control_flow::{ADDRESS, WRITTEN};
use crate::translate::error::{Res, TranslateError};
use crate::translate::inlining::decision::{is_exact, never_returns};
use crate::translate::translator::Translator;
use crate::translate::values::exposure::keeps_no_pointer;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{InstBuilder, SigRef, Value, types::*};
use smallvec::{SmallVec, smallvec};
use vervet_abi::{ThrowKind, call, context};
use vervet_metadata::Token;
use vervet_metadata::il::{Instr, Op};
use vervet_types::method::MethodKind;
use vervet_types::{ClassRef, LoadError, MethodRef, Prim};

/// How the code of a callee is found.
#[derive(Clone)]
pub(crate) enum Dispatch {
    /// Through the method's slot.
    Direct(MethodRef),
    /// Through this slot of the VTable.
    Virtual(u32),
    /// Through the interface method table.
    Interface(MethodRef),
    /// A generic virtual method: a helper finds the instantiation.
    Generic(MethodRef),
    /// A delegate's Invoke: expanded here.
    Invoke,
    /// An array's accessor: expanded here.
    Accessor(MethodRef),
}

/// A call whose arguments have been popped. The two flags decide whether a tail call is safe.
struct Prepared {
    /// The CLIF arguments: `this`, the buffer of a struct result, then the values of each
    /// parameter.
    args: SmallVec<[Value; 8]>,
    /// The buffer of a struct result.
    result: Option<Value>,
    /// An address is passed that may be one in this frame.
    passes_frame: bool,
    /// An address is passed that is certainly one in this frame.
    exposes_frame: bool,
}

/// Loads the signature of a method that an instruction names. As in mono, that a type in it cannot be loaded is an error of the operand, which does not say why;
/// of an instance of a generic method, and of a constructor behind `newobj`, it is the cause.
pub(crate) fn check_signature(method: MethodRef) -> Res {
    match method.sig() {
        Err(error) if method.method_args().is_empty() => Err(error.of_operand().into()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// The next instruction, if it is in the same block.
    pub(crate) fn next_instruction(&self) -> Option<&'a Instr<'static>> {
        let next = self.body.index + 1 + self.body.skip;
        let block = &self.body.plan.blocks[self.body.block];
        (next < block.end as usize).then(|| &self.body.plan.instrs[next])
    }
    /// Whether the next instruction, in the same block, is one of these.
    pub(crate) fn next_is(&self, ops: &[Op]) -> bool {
        self.next_instruction().is_some_and(|i| ops.contains(&i.op))
    }

    /// `call` (ECMA-335 III.3.19) and `callvirt` (III.4.2).
    pub(crate) fn call(&mut self, token: Token, is_virtual: bool) -> Res {
        let Some(method) = self.method_named(token)? else {
            return Ok(());
        };
        check_signature(method)?;
        // A vararg call has a signature of its own at the call site, with the types behind the
        // sentinel (ECMA-335 II.23.2.2).
        if method.sig()?.call_conv == vervet_metadata::CallConvKind::VarArg {
            if method.is_pinvoke() {
                // Not supported: variable arguments of native functions.
                self.e.throw(ThrowKind::NotSupported);
                self.body.dead = true;
                return Ok(());
            }
            let sig = match self.body.scope.call_site_sig(token)? {
                Some(sig) => sig,
                None => method.sig()?,
            };
            self.body.var_args = Some(self.variable_arguments(sig)?);
        }
        if method.class.is_open || method.is_generic_def() {
            return Err(TranslateError::invalid(format!(
                "a call of the open method {}",
                method.full_name()
            )));
        }
        let lowered = LoweredSignature::of_method(method)?;
        let count = lowered.params.len() + lowered.has_this as usize;
        // `tail.`, inlining and the expansions below rely on the arguments being there.
        if self.body.stack.len() < count {
            return Err(TranslateError::invalid("too few values on the stack"));
        }
        self.look_for_kept_pointers(method, count, is_virtual)?;
        if intrinsics::expand(self, method)? || is_virtual && self.hash_of_key(method)? {
            return Ok(());
        }
        if is_virtual && lowered.has_this && (!method.is_virtual() || method.is_final()) {
            // Mono's method calls on its own `this` directly.
            let this = self.body.stack[self.body.stack.len() - count];
            let is_this =
                self.body.method.has_this() && !self.may_be_remote(&this, method.class, false)?;
            if !is_this {
                self.mark_remote(method)?;
            }
        }
        let at = self.body.stack.len() - count;
        let (mut method, mut is_virtual) = (method, is_virtual);
        if method.is_abstract() && !is_virtual && self.body.prefixes.constrained.is_none() {
            // ECMA-335 forbids `call` of an abstract method. Mono treats it as `callvirt` in the
            // methods of an interface.
            if !self.body.method.class.is_interface() {
                self.e.throw(ThrowKind::BadImageFormat);
                self.body.dead = true;
                return Ok(());
            }
            is_virtual = true;
        }
        if let Some(class) = self.body.prefixes.constrained
            && is_virtual
            && lowered.has_this
        {
            (method, is_virtual) = self.constrained(class, method, at)?;
        }
        // A delegate's Invoke and an array's accessors are expanded here: their bodies would be
        // generated by the same functions.
        let invoke = is_virtual
            && method.name == "Invoke"
            && method.is_runtime()
            && method.class.is_delegate()?;
        let dispatch = match method.kind {
            _ if invoke => Dispatch::Invoke,
            MethodKind::ArrayGet | MethodKind::ArraySet | MethodKind::ArrayAddress => {
                Dispatch::Accessor(method)
            }
            _ => self.dispatch(method, is_virtual, at)?,
        };
        if self.try_guarded(&dispatch, method, &lowered)? {
            return Ok(());
        }
        self.emit_call(dispatch, &lowered, is_virtual)
    }

    /// Records that the call which follows is one that mono makes through a wrapper, if the method is that of a MarshalByRefObject.
    pub(crate) fn mark_remote(&mut self, method: MethodRef) -> Res {
        if method.class.is_marshal_by_ref()? {
            self.e.at_remote_call();
        }
        Ok(())
    }

    /// `constrained.` (ECMA-335 III.2.1): `this` on the stack, at index `at`, is the address of a
    /// value of `class`. Returns what is called, and whether virtually. There are three cases:
    ///
    /// * A reference type: the reference is loaded, and the call is virtual.
    /// * A value type that implements the method: the call is direct, with the address as `this`.
    /// * A value type that inherits it from Object, ValueType or Enum: the value is boxed.
    fn constrained(
        &mut self,
        class: ClassRef,
        method: MethodRef,
        at: usize,
    ) -> Res<(MethodRef, bool)> {
        let this = self.body.stack[at];
        let address = self.as_native(&this)?;
        if !class.is_value_type()? {
            let flags = self.null_checked(&this, 0, 8);
            let value = self.e.b.ins().load(I64, flags, address, 0);
            self.body.stack[at] = StackValue {
                stack_type: StackType::Ref,
                value,
                class: Some(class),
                fact: match is_exact(class)? {
                    true => ValueFact::ExactOrNull,
                    false => ValueFact::None,
                },
            };
            return Ok((method, true));
        }
        let implementation = if method.class.is_interface() {
            class.find_interface_impl(method)?
        } else if method.is_virtual() {
            Some(class.find_virtual_impl(method)?)
        } else {
            None
        };
        if let Some(m) = implementation
            && std::ptr::eq(m.class, class)
        {
            self.body.stack[at] = StackValue {
                stack_type: StackType::ByRef,
                value: address,
                ..this
            };
            return Ok((m, false));
        }
        // The hash code of an enum is that of its underlying integer, for 32 and 64 bits, so that
        // no box is needed.
        if class.is_enum()?
            && method.name == "GetHashCode"
            && method.sig()?.params.is_empty()
            && let Some(number) = class.enum_underlying()?
            && matches!(number.prim, Some(Prim::I4 | Prim::U4 | Prim::I8 | Prim::U8))
            && !method.class.is_interface()
        {
            let m = number.find_virtual_impl(method)?;
            if std::ptr::eq(m.class, number) {
                self.body.stack[at] = StackValue {
                    stack_type: StackType::ByRef,
                    value: address,
                    ..this
                };
                return Ok((m, false));
            }
        }
        // An inherited method: on a box. Nothing of this block may be on the stack above but arguments.
        let flags = self.null_checked(&this, 0, self.size_of(class)?);
        let value = self.load_value(class, address, 0, flags)?;
        self.box_operand(class, &value)?;
        let boxed = self.pop()?;
        self.body.stack[at] = boxed;
        match implementation {
            Some(m) if !m.class.is_interface() => Ok((m, false)),
            _ => Ok((method, true)),
        }
    }

    /// How the code of `method` is found, with `this` at stack index `at`.
    fn dispatch(&mut self, method: MethodRef, is_virtual: bool, at: usize) -> Res<Dispatch> {
        if !is_virtual || !method.is_virtual() {
            return Ok(Dispatch::Direct(method));
        }
        let this = self.body.stack[at];
        let generic = !method.method_args().is_empty();
        if let ValueFact::Exact | ValueFact::ExactOrNull | ValueFact::Comparer(_) = this.fact
            && let Some(class) = this.class
            && !class.is_array()
            && !class.is_value_type()?
            // Code that cannot be verified may call the method on an object of any class.
            && (method.class.is_interface() || class.is_subclass_of(method.class)?)
        {
            let found = if method.class.is_interface() {
                // An ambiguous implementation is an error at run time of this call. It must not
                // keep the method from being compiled.
                match class.find_interface_impl(method) {
                    Err(LoadError::Ambiguous { .. }) => None,
                    other => other?,
                }
            } else {
                Some(class.find_virtual_impl(method)?)
            };
            if let Some(m) = found
                && !m.is_abstract()
                && !m.class.is_interface()
            {
                return Ok(Dispatch::Direct(m));
            }
        }
        if method.class.is_interface() {
            return Ok(if generic {
                Dispatch::Generic(method)
            } else {
                Dispatch::Interface(method)
            });
        }
        if method.is_final() || method.class.is_sealed() || method.class.is_value_type()? {
            return Ok(Dispatch::Direct(method));
        }
        if generic {
            return Ok(Dispatch::Generic(method));
        }
        match method.slot()? {
            Some(slot) => Ok(Dispatch::Virtual(slot)),
            None => Ok(Dispatch::Direct(method)),
        }
    }

    /// Pops the arguments into the CLIF values that travel, and notes whether addresses in this
    /// frame are among them.
    fn prepare(&mut self, lowered: &LoweredSignature) -> Res<Prepared> {
        let count = lowered.params.len();
        self.spill_aliased(count + lowered.has_this as usize)?;
        let operands = self.pop_n(count)?;
        let mut p = Prepared {
            args: SmallVec::new(),
            result: None,
            passes_frame: false,
            exposes_frame: false,
        };
        let this = if lowered.has_this {
            Some(self.pop()?)
        } else {
            None
        };
        if let Some(this) = this {
            if this.stack_type.is_float() || this.stack_type == StackType::Struct {
                return Err(TranslateError::invalid("a value as `this`"));
            }
            // What matters for tail calls is whether the callee could use an address in this frame.
            p.exposes_frame |= matches!(this.fact, ValueFact::Frame);
            p.passes_frame |=
                this.stack_type == StackType::ByRef && !self.body.params.contains(&this.value);
            p.args.push(self.as_native(&this)?);
        }
        if lowered.ret == Pass::Address {
            // The temporary is requested before the arguments are popped, while theirs are still in
            // use, so it cannot be one of them.
            let at = self.temp_of(lowered.ret_class)?;
            p.args.push(at);
            p.result = Some(at);
        }
        for (n, operand) in operands.iter().enumerate() {
            let class = lowered.param_classes[n];
            match &lowered.params[n] {
                Pass::None => {}
                Pass::Scalar(_) => {
                    // Only parameters that are addresses count. An address that the program passes
                    // as an integer is the program's responsibility.
                    let pointer = class.is_byref()
                        || class.is_ptr()
                        || class
                            .stack_prim()?
                            .is_some_and(|p| matches!(p, Prim::IntPtr | Prim::UIntPtr));
                    p.exposes_frame |= pointer && matches!(operand.fact, ValueFact::Frame);
                    // A value that this method was given as a parameter cannot be an address in its
                    // own frame.
                    p.passes_frame |= pointer
                        && operand.stack_type == StackType::ByRef
                        && !self.body.params.contains(&operand.value);
                    let value = self.coerce_to_class(operand, class)?;
                    p.args.push(value);
                }
                pass @ Pass::Scalars(_) => {
                    self.check_struct(operand, class)?;
                    let values =
                        load_passed(&mut self.e.b, trusted(), operand.value, 0, pass, class);
                    p.args.extend(values);
                }
                Pass::Address => {
                    self.check_struct(operand, class)?;
                    // What this method was given and has not changed lies with a caller that waits.
                    p.exposes_frame |= !self.body.params.contains(&operand.value);
                    let mut value = operand.value;
                    let may_change = |v: u32| {
                        self.session.has_filters || self.body.variables[v as usize].address_taken
                    };
                    if matches!(operand.fact, ValueFact::Variable(v) if may_change(v)) {
                        value = self.temp_of(class)?;
                        self.copy(
                            class,
                            value,
                            0,
                            trusted(),
                            operand.value,
                            0,
                            trusted(),
                            Dest::Frame,
                        )?;
                    }
                    p.args.push(value);
                }
            }
        }
        Ok(p)
    }

    /// Pushes the result of a call. A small struct that came back in registers is stored to a
    /// temporary.
    fn push_results(
        &mut self,
        lowered: &LoweredSignature,
        results: &Results,
        buffer: Option<Value>,
    ) -> Res {
        let class = lowered.ret_class;
        match &lowered.ret {
            Pass::None => {}
            Pass::Scalar(_) => self.push_class(class, results[0])?,
            pass @ Pass::Scalars(_) => {
                let at = self.temp_of(class)?;
                store_passed(&mut self.e.b, trusted(), results, at, 0, pass, class);
                self.push_value(StackValue {
                    stack_type: StackType::Struct,
                    value: at,
                    class: Some(class),
                    fact: ValueFact::None,
                });
            }
            Pass::Address => {
                let value =
                    buffer.ok_or_else(|| TranslateError::internal("a result without a buffer"))?;
                self.push_value(StackValue {
                    stack_type: StackType::Struct,
                    value,
                    class: Some(class),
                    fact: ValueFact::None,
                });
            }
        }
        Ok(())
    }

    /// Emits a call whose arguments are on the stack.
    pub(crate) fn emit_call(
        &mut self,
        dispatch: Dispatch,
        lowered: &LoweredSignature,
        is_virtual: bool,
    ) -> Res {
        if let Dispatch::Direct(m) = dispatch
            && self.body.var_args.is_none()
            && self.try_inline(m, lowered, is_virtual)?
        {
            return Ok(());
        }
        let count = lowered.params.len();
        if self.body.stack.len() < count + lowered.has_this as usize {
            return Err(TranslateError::invalid("too few values on the stack"));
        }
        let this = if lowered.has_this {
            let at = self.body.stack.len() - count - 1;
            self.body.stack[at] = self.comparer(self.body.stack[at])?;
            Some(self.body.stack[at])
        } else {
            None
        };
        if this.is_some_and(|t| !t.stack_type.is_word()) {
            return Err(TranslateError::invalid("a value as `this`"));
        }
        let tail = self.body.prefixes.tail && self.next_is(&[Op::Ret]);
        match dispatch {
            Dispatch::Direct(m) if keeps_no_pointer(m) => self.take_exposed(count),
            // The method may take what it is given for something else.
            _ if self.body.var_args.is_some() => self.expose_arguments(count),
            Dispatch::Invoke => self.expose_arguments(count),
            _ => {}
        }
        if let (Dispatch::Direct(m) | Dispatch::Interface(m) | Dispatch::Generic(m), Some(this)) =
            (&dispatch, &this)
            && !m.class.is_value_type()?
        {
            self.expose(this);
        }
        let mut p = self.prepare(lowered)?;
        if let (Dispatch::Direct(m), Some(last)) = (&dispatch, p.args.last_mut()) {
            *last = self.ready_call(m, *last);
        }
        if let (Dispatch::Invoke, Some(this)) = (&dispatch, &this) {
            self.note_callee(&dispatch, this)?;
            let results = crate::stubs::delegate::emit_invoke(self.e, lowered, &p.args);
            return self.push_results(lowered, &results, p.result);
        }
        if let Dispatch::Accessor(m) = dispatch {
            let results = self.emit_accessor(m, lowered, &p)?;
            return self.push_results(lowered, &results, p.result);
        }
        if let Dispatch::Direct(m) = dispatch
            && !tail
            && self.body.var_args.is_none()
            && let Some(results) = self.native_in_place(m, lowered, &p.args)?
        {
            return self.push_results(lowered, &results, p.result);
        }
        let last = match (&dispatch, &this) {
            // A real proxy may answer in the place of the method.
            (Dispatch::Direct(m), Some(this)) => {
                never_returns(m) && !self.may_be_remote(this, m.class, false)?
            }
            (Dispatch::Direct(m), None) => never_returns(m),
            _ => false,
        };
        // A method that only throws is not called often; its call, and all that leads only there,
        // is placed behind the hot code.
        if last {
            self.e.cold();
        }
        self.note_slow_path();
        if let Some(this) = &this {
            self.note_callee(&dispatch, this)?;
        }
        let signature = self.e.b.import_signature(lowered.clif.clone());
        // For an interface method this sets `context.hidden`, so nothing that calls is emitted between
        // this and the call.
        let target = self.call_target(
            &dispatch,
            this.as_ref(),
            p.args.first().copied(),
            is_virtual,
        )?;
        let has_var_args = self.pass_var_args(&dispatch)?;
        if tail && !has_var_args && self.can_tail_call(lowered, &p) {
            self.end_by_call(p, signature, target);
            return Ok(());
        }
        if last {
            self.e.call_indirect(signature, target, &p.args);
            self.end_cold();
            return Ok(());
        }
        let results = self.call_code(lowered, signature, target, &p.args);
        self.push_results(lowered, &results, p.result)
    }

    /// Notes that the current block calls, in a method of the core library that is inlined: the pass over rare paths looks whether another way does not.
    fn note_slow_path(&mut self) {
        if self.body.inline.is_some()
            && self.body.method.class.module.is_corlib()
            && let Some(block) = self.e.b.current_block()
        {
            self.e.notes.slow_path(block);
        }
    }
    /// Passes the block of variable arguments, if the call has one.
    fn pass_var_args(&mut self, dispatch: &Dispatch) -> Res<bool> {
        let Some(block) = self.body.var_args.take() else {
            return Ok(false);
        };
        if matches!(dispatch, Dispatch::Interface(_)) {
            return Err(TranslateError::invalid(
                "a vararg call of an interface method",
            ));
        }
        self.e.store_context(block, context::HIDDEN);
        Ok(true)
    }
    /// Ends the method by a call that takes its frame's place.
    fn end_by_call(&mut self, mut p: Prepared, signature: SigRef, target: Value) {
        // The result goes to this method's own result buffer; the callee writes there directly.
        if let Some(buffer) = p.result {
            // Only reached if the result goes through the caller's own buffer.
            let own = self.body.params[self.body.lowered.has_this as usize];
            p.args
                .iter_mut()
                .filter(|a| **a == buffer)
                .for_each(|a| *a = own);
        }
        self.epilogue();
        self.e.begin_no_redirect();
        self.e.return_call_indirect(signature, target, &p.args);
        self.body.dead = true;
    }

    /// Calls code of a method, from a place that the session may say runs rarely.
    fn call_code(
        &mut self,
        lowered: &LoweredSignature,
        signature: SigRef,
        target: Value,
        args: &[Value],
    ) -> Results {
        let rarely = match std::mem::take(&mut self.session.is_cold_call) {
            true => Rarely::Always,
            false if self.is_repeated() => Rarely::InColdBlocks,
            false => return self.e.call_indirect(signature, target, args),
        };
        let result = result_of(lowered);
        self.e
            .call_indirect_rarely(signature, rarely, result, target, args)
    }

    /// Emits an array accessor. With `readonly.` the address is not checked for its exact type
    /// (ECMA-335 III.2.3).
    fn emit_accessor(
        &mut self,
        m: MethodRef,
        lowered: &LoweredSignature,
        p: &Prepared,
    ) -> Res<Results> {
        Ok(
            if self.body.prefixes.readonly && m.kind == MethodKind::ArrayAddress {
                let element = m
                    .class
                    .element()
                    .ok_or_else(|| TranslateError::internal("an array without elements"))?;
                let size = crate::stubs::array::element_size(element)?;
                let (base, offset) = crate::stubs::array::element_address(
                    self.e,
                    m.class,
                    size,
                    p.args[0],
                    &p.args[1..],
                );
                smallvec![self.offset_address(base, offset)]
            } else {
                crate::stubs::array::emit_accessor(self.e, m, lowered, &p.args)
                    .map_err(TranslateError::from_compile)?
            },
        )
    }

    /// In an inlined body: calls the method whose body this is. Its arguments are on the stack.
    pub(crate) fn call_itself(&mut self, lowered: &LoweredSignature, never_returns: bool) -> Res {
        let p = self.prepare(lowered)?;
        let signature = self.e.b.import_signature(lowered.clif.clone());
        let target = self
            .e
            .load_symbol(I64, Symbol::MethodSlot(self.body.method), 0);
        if never_returns {
            self.e.call_indirect(signature, target, &p.args);
            self.end_cold();
            return Ok(());
        }
        let results = self.call_code(lowered, signature, target, &p.args);
        self.push_results(lowered, &results, p.result)
    }

    /// Ends a block after a call that never returns.
    fn end_cold(&mut self) {
        self.e.cold();
        self.e
            .b
            .ins()
            .trap(crate::emit::trap_code(ThrowKind::ExecutionEngine));
        self.body.dead = true;
    }

    /// Pops the variable arguments of a call site into a block in the frame (ECMA-335 I.12.3.2.3).
    /// The address of the block travels in `context.hidden`:
    ///
    /// ```text
    ///  0  signature of the call site
    ///  8  first variable argument, 8-aligned
    ///     ...
    /// ```
    fn variable_arguments(&mut self, sig: &'static vervet_types::MethodSig) -> Res<Value> {
        let extra = &sig.params[sig.sentinel.unwrap_or(sig.params.len())..];
        self.spill_aliased(extra.len())?;
        self.expose_arguments(extra.len());
        let operands = self.pop_n(extra.len())?;
        let mut size = 8;
        for class in extra {
            size += self.size_of(class)?.next_multiple_of(8);
        }
        let slot = self.e.slot(size);
        // ArgIterator has its address as an IntPtr.
        self.e.frame_pointers += 1;
        let block = self.e.slot_addr(slot);
        let cookie = self.e.symbol(Symbol::Signature(sig));
        self.e.b.ins().store(trusted(), cookie, block, 0);
        let mut at = 8;
        for (class, operand) in extra.iter().zip(&operands) {
            if operand.stack_type == StackType::Struct {
                self.check_struct(operand, class)?;
                self.copy(
                    class,
                    block,
                    at,
                    trusted(),
                    operand.value,
                    0,
                    trusted(),
                    Dest::Frame,
                )?;
            } else {
                let value = self.coerce_to_class(operand, class)?;
                self.e.b.ins().store(trusted(), value, block, at);
            }
            at += self.size_of(class)?.next_multiple_of(8) as i32;
        }
        Ok(block)
    }

    /// `arglist` (ECMA-335 III.3.4): the address of the block that this method was given.
    pub(crate) fn arglist(&mut self) -> Res {
        let Some(slot) = self.body.own_var_args else {
            return Err(TranslateError::invalid(
                "arglist in a method without variable arguments",
            ));
        };
        let from = self.e.slot_addr(slot);
        let block = self.e.b.ins().load(I64, trusted(), from, 0);
        let class = self
            .session
            .universe
            .known(vervet_types::Known::RuntimeArgumentHandle);
        let at = self.temp_of(class)?;
        self.e.b.ins().store(trusted(), block, at, 0);
        self.push_value(StackValue {
            stack_type: StackType::Struct,
            value: at,
            class: Some(class),
            fact: ValueFact::None,
        });
        Ok(())
    }

    /// Whether a `tail.` call may replace this method's frame (ECMA-335 III.2.4). All of these must
    /// hold:
    ///
    /// * No address in this frame can reach the callee. One may if it is passed visibly
    ///   (`exposes_frame`), or if some address is passed while this frame has variables that an
    ///   address can lead to (`passes_frame`). An unmanaged pointer that is not visibly such an
    ///   address is assumed to point elsewhere, as mono assumes.
    /// * Nothing has to be done after the call: no handler, no monitor, no localloc memory to free.
    /// * The results travel alike.
    /// * Nothing else is on the IL stack.
    fn can_tail_call(&self, callee: &LoweredSignature, p: &Prepared) -> bool {
        let exposed = p.passes_frame
            && (self
                .body
                .variables
                .iter()
                .any(|h| h.address_taken || h.kind == StackType::Struct)
                || self.body.plan.has_localloc);
        !exposed
            && !p.exposes_frame
            && !self.e.has_handlers()
            && self.body.sync.is_none()
            && self.body.localloc_mark.is_none()
            && self.body.filter.is_none()
            && self.body.inline.is_none()
            && callee.clif.returns == self.body.lowered.clif.returns
            && callee.ret == self.body.lowered.ret
            && self.body.stack.is_empty()
    }

    /// `calli` (ECMA-335 III.3.20).
    pub(crate) fn call_indirect(&mut self, token: Token) -> Res {
        let sig = self.body.scope.stand_alone_sig(token)?;
        use vervet_metadata::CallConvKind as Cc;
        let target = self.pop()?;
        let target = self.as_native(&target)?;
        match sig.call_conv {
            Cc::Default => {}
            Cc::VarArg => {
                self.e.throw(ThrowKind::NotSupported);
                self.body.dead = true;
                return Ok(());
            }
            _ => return self.call_native(sig, target),
        }
        let lowered = LoweredSignature::of(sig)?;
        let tail = self.body.prefixes.tail && self.next_is(&[Op::Ret]);
        // The function may have other parameters.
        self.expose_arguments(lowered.params.len() + usize::from(lowered.has_this));
        let p = self.prepare(&lowered)?;
        let signature: SigRef = self.e.b.import_signature(lowered.clif.clone());
        if tail && p.result.is_none() && self.can_tail_call(&lowered, &p) {
            self.epilogue();
            self.e.begin_no_redirect();
            self.e.return_call_indirect(signature, target, &p.args);
            self.body.dead = true;
            return Ok(());
        }
        let results = self.e.call_indirect(signature, target, &p.args);
        self.push_results(&lowered, &results, p.result)
    }

    /// `calli` with an unmanaged calling convention.
    fn call_native(&mut self, sig: &'static vervet_types::MethodSig, target: Value) -> Res {
        let lowered = LoweredSignature::of(sig)?;
        let p = self.prepare(&lowered)?;
        let results = crate::stubs::native::pinvoke::emit_native_call(self.e, sig, target, &p.args)
            .map_err(TranslateError::from_compile)?;
        self.push_results(&lowered, &results, p.result)
    }

    /// Whether the next instruction creates a delegate.
    fn followed_by_delegate(&self) -> Res<bool> {
        use vervet_metadata::il::Operand;
        match self.next_instruction() {
            Some(Instr {
                op: Op::Newobj,
                operand: Operand::Token(t),
                ..
            }) => Ok(self.body.scope.method(*t)?.class.is_delegate()?),
            _ => Ok(false),
        }
    }

    /// `ldftn` (ECMA-335 III.3.41). The address is that of the method's permanent stub, because the
    /// address of its code can change. The constructor of a delegate takes the method itself
    /// instead.
    pub(crate) fn load_function(&mut self, token: Token) -> Res {
        let Some(method) = self.method_named(token)? else {
            return Ok(());
        };
        // Before a delegate's constructor only the method matters.
        let value = if self.followed_by_delegate()? {
            self.i64(0)
        } else {
            self.e.symbol(Symbol::MethodStub(method))
        };
        self.push_value(StackValue {
            stack_type: StackType::Native,
            value,
            class: None,
            fact: ValueFact::Code(method, false),
        });
        Ok(())
    }

    /// `ldvirtftn` (ECMA-335 III.4.18).
    pub(crate) fn load_virtual_function(&mut self, token: Token) -> Res {
        // As in mono, whether the method is accessible is not asked here.
        let method = self.body.scope.method(token)?;
        let object = self.pop_ref()?;
        if self.followed_by_delegate()? {
            self.explicit_null_check(object.value);
            let value = self.i64(0);
            self.push_value(StackValue {
                stack_type: StackType::Native,
                value,
                class: None,
                fact: ValueFact::Code(method, true),
            });
            return Ok(());
        }
        let value = if method.is_virtual() {
            let handle = self.e.symbol(Symbol::MethodHandle(method));
            self.e
                .helper_value(call::ResolveVirtual, [object.value, handle])
        } else {
            self.null_check(&object);
            self.e.symbol(Symbol::MethodStub(method))
        };
        self.push(StackType::Native, value);
        Ok(())
    }

    /// `jmp` (ECMA-335 III.3.37): a tail call with the current values of this method's arguments.
    pub(crate) fn jump_method(&mut self, token: Token) -> Res {
        // As in mono, whether the method is accessible is not asked here.
        let method = self.body.scope.method(token)?;
        let lowered = LoweredSignature::of_method(method)?;
        // Equal values may be other arguments: a struct of two numbers travels as two.
        let own = self.body.lowered;
        let is_same = lowered.has_this == own.has_this && lowered.params == own.params;
        if !is_same || lowered.clif != own.clif {
            return Err(TranslateError::invalid(
                "jmp to a method with another signature",
            ));
        }
        if !self.body.stack.is_empty() || self.e.has_handlers() || self.body.sync.is_some() {
            return Err(TranslateError::invalid("jmp where it is not allowed"));
        }
        // A struct argument that was passed by address and changed here cannot be passed on: the
        // caller's memory must not be written, and this frame's memory is gone when the callee
        // runs. Then an ordinary call is made.
        let rewritten = (0..lowered.params.len()).any(|n| {
            matches!(lowered.params[n], Pass::Address)
                && self.body.plan.args[n + lowered.has_this as usize] & (WRITTEN | ADDRESS) != 0
        });
        if rewritten {
            for index in 0..lowered.params.len() + lowered.has_this as usize {
                self.load_argument(index)?;
            }
            self.emit_call(Dispatch::Direct(method), &lowered, false)?;
            return if self.body.dead { Ok(()) } else { self.ret() };
        }
        let mut args: SmallVec<[Value; 8]> = smallvec![];
        if lowered.has_this {
            self.load_argument(0)?;
            args.push(self.pop()?.value);
        }
        if lowered.ret == Pass::Address {
            args.push(self.body.params[lowered.has_this as usize]);
        }
        for n in 0..lowered.params.len() {
            let index = n + lowered.has_this as usize;
            if self.body.plan.args[index] == 0 {
                args.extend_from_slice(lowered.values_of(&self.body.params, n));
                continue;
            }
            self.load_variable(true, index)?;
            let operand = self.pop()?;
            match &lowered.params[n] {
                Pass::None => {}
                Pass::Scalar(_) => args.push(operand.value),
                pass @ Pass::Scalars(_) => {
                    let class = lowered.param_classes[n];
                    args.extend(load_passed(
                        &mut self.e.b,
                        trusted(),
                        operand.value,
                        0,
                        pass,
                        class,
                    ));
                }
                // The caller's copy, which this method has not changed.
                Pass::Address => args.extend_from_slice(lowered.values_of(&self.body.params, n)),
            }
        }
        // Of an own address in another type no more is known than of any argument's.
        for value in &args {
            if self.e.b.func.dfg.value_type(*value) == I64 {
                self.e.expose(*value);
            }
        }
        let signature = self.e.b.import_signature(lowered.clif.clone());
        let target = self.e.load_symbol(I64, Symbol::MethodSlot(method), 0);
        self.epilogue();
        self.e.begin_no_redirect();
        self.e.return_call_indirect(signature, target, &args);
        self.body.dead = true;
        Ok(())
    }
}
