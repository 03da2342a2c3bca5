//! Calls: call, callvirt, calli, ldftn, jmp and the prefixes `constrained.` and `tail.`.
//!
//! # How it works
//! A call through a method's slot is the default; a virtual method goes through the object's VTable, an interface
//! method through its IMT with the method in `ThreadContext::hidden`, a generic virtual one through a helper that gives
//! the code. What can be decided here is called directly: final methods, sealed classes, exact instances.
//!
//! # Invariants
//! * Nothing happens between the store to `hidden` and the call.
//! * Arguments of small integer types are narrowed, structs travel as their shape says; a struct passed by
//!   address lies in memory that nobody changes during the call. (A filter of this method runs during the call.)
use crate::blob::Symbol;
use crate::emit::{Results, trusted};
use crate::signature::{Pass, Shape, load_passed, store_passed};
use crate::translate::calls::intrinsics;
use crate::translate::control::control_flow::{ADDRESS, WRITTEN};
use crate::translate::error::{Fail, Res};
use crate::translate::inlining::decision::never_returns;
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{Item, Kind, Note};
use cranelift_codegen::ir::{InstBuilder, SigRef, Value, types::*};
use smallvec::{SmallVec, smallvec};
use vervet_abi::{ThrowKind, call, context, vtable};
use vervet_metadata::Token;
use vervet_metadata::il::{Instr, Op};
use vervet_types::method::MethodKind;
use vervet_types::{ClassRef, LoadError, MethodRef, Prim};

/// How the code is found.
pub(crate) enum Dispatch {
    /// Through the method's slot.
    Direct(MethodRef),
    /// Through the VTable.
    Virtual(u32),
    /// Through the IMT.
    Interface(MethodRef),
    /// A generic virtual method: through a helper.
    Generic(MethodRef),
    /// A delegate's Invoke, in place.
    Invoke,
    /// An array's accessor, in place.
    Accessor(MethodRef),
}

/// A call that is ready to be emitted.
struct Prepared {
    args: SmallVec<[Value; 8]>,
    /// Where a struct result is put.
    result: Option<Value>,
    /// An address that may be one in this frame is passed.
    passes_frame: bool,
    /// An address in this frame is passed.
    exposes_frame: bool,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// The instruction after this one, if it is in the same block.
    pub(crate) fn next_instruction(&self) -> Option<&'a Instr<'static>> {
        let next = self.index + 1 + self.skip;
        let block = &self.plan.blocks[self.block];
        (next < block.end as usize).then(|| &self.plan.instrs[next])
    }
    /// Is the next instruction, in the same block, one of these?
    pub(crate) fn next_is(&self, ops: &[Op]) -> bool {
        self.next_instruction().is_some_and(|i| ops.contains(&i.op))
    }

    /// call and callvirt
    pub(crate) fn call(&mut self, token: Token, is_virtual: bool) -> Res {
        let method = self.method_named(token)?;
        if method.sig()?.call_conv == vervet_metadata::CallConvKind::VarArg {
            if method.is_pinvoke() {
                // Not supported: variable arguments of native functions.
                self.e.throw(ThrowKind::NotSupported);
                self.dead = true;
                return Ok(());
            }
            let sig = match self.scope.call_site_sig(token)? {
                Some(sig) => sig,
                None => method.sig()?,
            };
            self.var_args = Some(self.variable_arguments(sig)?);
        }
        if method.class.is_open || method.is_generic_def() {
            return Err(Fail::invalid(format!(
                "a call of the open method {}",
                method.full_name()
            )));
        }
        let shape = Shape::of_method(method)?;
        let count = shape.params.len() + shape.has_this as usize;
        if self.stack.len() < count {
            return Err(Fail::invalid("too few values on the stack"));
        }
        if intrinsics::expand(self, method)? {
            return Ok(());
        }
        let at = self.stack.len() - count;
        let (mut method, mut is_virtual) = (method, is_virtual);
        if method.is_abstract() && !is_virtual && self.prefixes.constrained.is_none() {
            // In an interface's own method mono takes it for callvirt.
            if !self.method.class.is_interface() {
                self.e.throw(ThrowKind::BadImageFormat);
                self.dead = true;
                return Ok(());
            }
            is_virtual = true;
        }
        if let Some(class) = self.prefixes.constrained
            && is_virtual
            && shape.has_this
        {
            (method, is_virtual) = self.constrained(class, method, at)?;
        }
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
        self.emit_call(dispatch, &shape, is_virtual)
    }

    /// `constrained.`: what is called, and whether virtually. Replaces `this` on the stack.
    fn constrained(
        &mut self,
        class: ClassRef,
        method: MethodRef,
        at: usize,
    ) -> Res<(MethodRef, bool)> {
        let this = self.stack[at];
        let address = self.as_native(&this)?;
        if !class.is_value_type()? {
            let flags = self.null_checked(&this, 0, 8);
            let value = self.e.b.ins().load(I64, flags, address, 0);
            self.stack[at] = Item {
                kind: Kind::Ref,
                value,
                class: Some(class),
                note: Note::None,
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
            self.stack[at] = Item {
                kind: Kind::ByRef,
                value: address,
                ..this
            };
            return Ok((m, false));
        }
        // An enum's hash code is that of its number, if that has 32 bits or more.
        if class.is_enum()?
            && method.name == "GetHashCode"
            && method.sig()?.params.is_empty()
            && let Some(number) = class.enum_underlying()?
            && matches!(number.prim, Some(Prim::I4 | Prim::U4 | Prim::I8 | Prim::U8))
            && !method.class.is_interface()
        {
            let m = number.find_virtual_impl(method)?;
            if std::ptr::eq(m.class, number) {
                self.stack[at] = Item {
                    kind: Kind::ByRef,
                    value: address,
                    ..this
                };
                return Ok((m, false));
            }
        }
        // An inherited method: on a box. Nothing of this block may be on the stack above but arguments.
        let flags = self.null_checked(&this, 0, self.size_of(class)?);
        let value = self.load_value(class, address, 0, flags)?;
        self.box_item(class, &value)?;
        let boxed = self.pop()?;
        self.stack[at] = boxed;
        match implementation {
            Some(m) if !m.class.is_interface() => Ok((m, false)),
            _ => Ok((method, true)),
        }
    }

    fn dispatch(&mut self, method: MethodRef, is_virtual: bool, at: usize) -> Res<Dispatch> {
        if !is_virtual || !method.is_virtual() {
            return Ok(Dispatch::Direct(method));
        }
        let this = self.stack[at];
        let generic = !method.method_args.is_empty();
        if let (Note::Exact | Note::Comparer(_), Some(class)) = (this.note, this.class)
            && !class.is_array()
            && !generic
            && !class.is_value_type()?
        {
            let found = if method.class.is_interface() {
                // An ambiguous one is an error of the call, not of this method.
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

    /// Pops the arguments into the values that travel.
    fn prepare(&mut self, shape: &Shape) -> Res<Prepared> {
        let count = shape.params.len();
        self.settle(count + shape.has_this as usize)?;
        let items = self.pop_n(count)?;
        let mut p = Prepared {
            args: SmallVec::new(),
            result: None,
            passes_frame: false,
            exposes_frame: false,
        };
        let this = if shape.has_this {
            Some(self.pop()?)
        } else {
            None
        };
        if let Some(this) = this {
            if this.kind.is_float() || this.kind == Kind::Struct {
                return Err(Fail::invalid("a value as `this`"));
            }
            p.exposes_frame |= matches!(this.note, Note::Frame);
            p.passes_frame |= this.kind == Kind::ByRef && !self.params.contains(&this.value);
            p.args.push(self.as_native(&this)?);
        }
        if shape.ret == Pass::Address {
            // Not released before the call: the arguments' temporaries are still in use.
            let at = self.temp_of(shape.ret_class)?;
            p.args.push(at);
            p.result = Some(at);
        }
        for (n, item) in items.iter().enumerate() {
            let class = shape.param_classes[n];
            match &shape.params[n] {
                Pass::None => {}
                Pass::Scalar(_) => {
                    // An address that travels as an integer is nobody's business but the program's.
                    let pointer = class.is_byref()
                        || class.is_ptr()
                        || class
                            .stack_prim()?
                            .is_some_and(|p| matches!(p, Prim::IntPtr | Prim::UIntPtr));
                    p.exposes_frame |= pointer && matches!(item.note, Note::Frame);
                    // What this method was given is no address in its own frame.
                    p.passes_frame |=
                        pointer && item.kind == Kind::ByRef && !self.params.contains(&item.value);
                    let value = self.coerce_to_class(item, class)?;
                    p.args.push(value);
                }
                pass @ Pass::Leaves(_) => {
                    self.check_struct(item, class)?;
                    let values = load_passed(&mut self.e.b, trusted(), item.value, 0, pass, class);
                    p.args.extend(values);
                }
                Pass::Address => {
                    self.check_struct(item, class)?;
                    p.exposes_frame = true;
                    let mut value = item.value;
                    let may_change =
                        |v: u32| self.has_filters || self.homes[v as usize].address_taken;
                    if matches!(item.note, Note::Variable(v) if may_change(v)) {
                        value = self.temp_of(class)?;
                        self.copy(
                            class,
                            value,
                            0,
                            trusted(),
                            item.value,
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

    fn push_results(&mut self, shape: &Shape, results: &Results, buffer: Option<Value>) -> Res {
        let class = shape.ret_class;
        match &shape.ret {
            Pass::None => {}
            Pass::Scalar(_) => self.push_class(class, results[0])?,
            pass @ Pass::Leaves(_) => {
                let at = self.temp_of(class)?;
                store_passed(&mut self.e.b, trusted(), results, at, 0, pass, class);
                self.push_item(Item {
                    kind: Kind::Struct,
                    value: at,
                    class: Some(class),
                    note: Note::None,
                });
            }
            Pass::Address => {
                let value = buffer.ok_or_else(|| Fail::internal("a result without a buffer"))?;
                self.push_item(Item {
                    kind: Kind::Struct,
                    value,
                    class: Some(class),
                    note: Note::None,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn emit_call(&mut self, dispatch: Dispatch, shape: &Shape, is_virtual: bool) -> Res {
        if let Dispatch::Direct(m) = dispatch
            && self.var_args.is_none()
            && self.try_inline(m, shape, is_virtual)?
        {
            return Ok(());
        }
        let count = shape.params.len();
        if self.stack.len() < count + shape.has_this as usize {
            return Err(Fail::invalid("too few values on the stack"));
        }
        let this = if shape.has_this {
            let at = self.stack.len() - count - 1;
            self.stack[at] = self.comparer(self.stack[at])?;
            Some(self.stack[at])
        } else {
            None
        };
        if this.is_some_and(|t| !t.kind.is_word()) {
            return Err(Fail::invalid("a value as `this`"));
        }
        let tail = self.prefixes.tail && self.next_is(&[Op::Ret]);
        let mut p = self.prepare(shape)?;
        if let Dispatch::Invoke = dispatch {
            let results = crate::stubs::delegate::emit_invoke(self.e, shape, &p.args);
            return self.push_results(shape, &results, p.result);
        }
        if let Dispatch::Accessor(m) = dispatch {
            let results = if self.prefixes.readonly && m.kind == MethodKind::ArrayAddress {
                let element = m
                    .class
                    .element()
                    .ok_or_else(|| Fail::internal("an array without elements"))?;
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
                crate::stubs::array::emit_accessor(self.e, m, shape, &p.args)
                    .map_err(Fail::from_compile)?
            };
            return self.push_results(shape, &results, p.result);
        }
        let last = matches!(dispatch, Dispatch::Direct(m) if never_returns(m));
        if last {
            self.e.cold();
        }
        let signature = self.e.b.import_signature(shape.clif.clone());
        let target = match dispatch {
            Dispatch::Invoke | Dispatch::Accessor(_) => {
                return Err(Fail::internal("expanded above"));
            }
            Dispatch::Direct(m) => {
                if let (true, Some(this)) = (is_virtual, &this)
                    && this.kind == Kind::Ref
                {
                    self.touch(this);
                }
                self.e.load_symbol(I64, Symbol::MethodSlot(m), 0)
            }
            Dispatch::Virtual(slot) => {
                let this = this.ok_or_else(|| Fail::invalid("a virtual call without `this`"))?;
                let vt = self.vtable_of(&this);
                self.e
                    .b
                    .ins()
                    .load(I64, trusted(), vt, vtable::SLOTS_OFFSET + 8 * slot as i32)
            }
            Dispatch::Interface(m) => {
                let this = this.ok_or_else(|| Fail::invalid("an interface call without `this`"))?;
                let vt = self.vtable_of(&this);
                let at = vtable::IMT_OFFSET + 8 * vtable::imt_index(m.id) as i32;
                let code = self.e.b.ins().load(I64, trusted(), vt, at);
                let handle = self.e.symbol(Symbol::MethodHandle(m));
                self.e.store_context(handle, context::HIDDEN);
                code
            }
            Dispatch::Generic(m) => {
                let handle = self.e.symbol(Symbol::MethodHandle(m));
                let this = p.args[0];
                self.e.helper_value(call::ResolveVirtual, [this, handle])
            }
        };
        let var_args = self.var_args.take();
        if let Some(block) = var_args {
            if matches!(dispatch, Dispatch::Interface(_)) {
                return Err(Fail::invalid("a vararg call of an interface method"));
            }
            self.e.store_context(block, context::HIDDEN);
        }
        if tail && var_args.is_none() && self.can_tail_call(shape, &p) {
            if let Some(buffer) = p.result {
                // Only reached if the result goes through the caller's own buffer.
                let own = self.params[self.shape.has_this as usize];
                p.args
                    .iter_mut()
                    .filter(|a| **a == buffer)
                    .for_each(|a| *a = own);
            }
            self.epilogue();
            self.e.begin_no_redirect();
            self.e
                .b
                .ins()
                .return_call_indirect(signature, target, &p.args);
            self.dead = true;
            return Ok(());
        }
        let results = self.e.call_indirect(signature, target, &p.args);
        if last {
            self.end_cold();
            return Ok(());
        }
        self.push_results(shape, &results, p.result)
    }

    /// In an inlined body: a call of its method, whose arguments are on the stack.
    pub(crate) fn call_itself(&mut self, shape: &Shape, never_returns: bool) -> Res {
        let p = self.prepare(shape)?;
        let signature = self.e.b.import_signature(shape.clif.clone());
        let results = self.e.call_method(self.method, signature, &p.args);
        if never_returns {
            self.end_cold();
            return Ok(());
        }
        self.push_results(shape, &results, p.result)
    }

    /// Control does not come here: ends the block, which is out of the way.
    fn end_cold(&mut self) {
        self.e.cold();
        self.e
            .b
            .ins()
            .trap(crate::emit::trap_code(ThrowKind::ExecutionEngine));
        self.dead = true;
    }

    /// Pops the variable arguments of a call site into a block in the frame: the call site's signature, then each
    /// argument, 8-aligned. Its address travels in `ThreadContext::hidden` (ECMA-335 I.12.3.2.3).
    fn variable_arguments(&mut self, sig: &'static vervet_types::MethodSig) -> Res<Value> {
        let extra = &sig.params[sig.sentinel.unwrap_or(sig.params.len())..];
        self.settle(extra.len())?;
        let items = self.pop_n(extra.len())?;
        let mut size = 8;
        for class in extra {
            size += self.size_of(class)?.next_multiple_of(8);
        }
        let slot = self.e.slot(size);
        let block = self.e.slot_addr(slot);
        let cookie = self.e.symbol(Symbol::Signature(sig));
        self.e.b.ins().store(trusted(), cookie, block, 0);
        let mut at = 8;
        for (class, item) in extra.iter().zip(&items) {
            if item.kind == Kind::Struct {
                self.check_struct(item, class)?;
                self.copy(
                    class,
                    block,
                    at,
                    trusted(),
                    item.value,
                    0,
                    trusted(),
                    Dest::Frame,
                )?;
            } else {
                let value = self.coerce_to_class(item, class)?;
                self.e.b.ins().store(trusted(), value, block, at);
            }
            at += self.size_of(class)?.next_multiple_of(8) as i32;
        }
        Ok(block)
    }

    /// arglist: the block this method was given.
    pub(crate) fn arglist(&mut self) -> Res {
        let Some(slot) = self.own_var_args else {
            return Err(Fail::invalid(
                "arglist in a method without variable arguments",
            ));
        };
        let from = self.e.slot_addr(slot);
        let block = self.e.b.ins().load(I64, trusted(), from, 0);
        let class = self
            .universe
            .known(vervet_types::Known::RuntimeArgumentHandle);
        let at = self.temp_of(class)?;
        self.e.b.ins().store(trusted(), block, at, 0);
        self.push_item(Item {
            kind: Kind::Struct,
            value: at,
            class: Some(class),
            note: Note::None,
        });
        Ok(())
    }

    /// `tail.` is honoured unless the callee could be given an address in this frame, or something has to be done
    /// at the end. An unmanaged pointer is trusted, as mono trusts it, unless it visibly is such an address.
    fn can_tail_call(&self, callee: &Shape, p: &Prepared) -> bool {
        let exposed = p.passes_frame
            && (self
                .homes
                .iter()
                .any(|h| h.address_taken || h.kind == Kind::Struct)
                || self.plan.has_localloc);
        !exposed
            && !p.exposes_frame
            && !self.e.has_handlers()
            && self.sync.is_none()
            && self.side_mark.is_none()
            && self.filter.is_none()
            && self.inline.is_none()
            && callee.clif.returns == self.shape.clif.returns
            && callee.ret == self.shape.ret
            && self.stack.is_empty()
    }

    /// calli
    pub(crate) fn call_indirect(&mut self, token: Token) -> Res {
        let sig = self.scope.stand_alone_sig(token)?;
        use vervet_metadata::CallConvKind as Cc;
        let target = self.pop()?;
        let target = self.as_native(&target)?;
        match sig.call_conv {
            Cc::Default => {}
            Cc::VarArg => {
                self.e.throw(ThrowKind::NotSupported);
                self.dead = true;
                return Ok(());
            }
            _ => return self.call_native(sig, target),
        }
        let shape = Shape::of(sig)?;
        let tail = self.prefixes.tail && self.next_is(&[Op::Ret]);
        let p = self.prepare(&shape)?;
        let signature: SigRef = self.e.b.import_signature(shape.clif.clone());
        if tail && p.result.is_none() && self.can_tail_call(&shape, &p) {
            self.epilogue();
            self.e.begin_no_redirect();
            self.e
                .b
                .ins()
                .return_call_indirect(signature, target, &p.args);
            self.dead = true;
            return Ok(());
        }
        let results = self.e.call_indirect(signature, target, &p.args);
        self.push_results(&shape, &results, p.result)
    }

    /// calli with an unmanaged convention.
    fn call_native(&mut self, sig: &'static vervet_types::MethodSig, target: Value) -> Res {
        let shape = Shape::of(sig)?;
        let p = self.prepare(&shape)?;
        let results = crate::stubs::native::pinvoke::emit_native_call(self.e, sig, target, &p.args)
            .map_err(Fail::from_compile)?;
        self.push_results(&shape, &results, p.result)
    }

    fn followed_by_delegate(&self) -> Res<bool> {
        use vervet_metadata::il::Operand;
        match self.next_instruction() {
            Some(Instr {
                op: Op::Newobj,
                operand: Operand::Token(t),
                ..
            }) => Ok(self.scope.method(*t)?.class.is_delegate()?),
            _ => Ok(false),
        }
    }

    /// ldftn
    pub(crate) fn load_function(&mut self, token: Token) -> Res {
        let method = self.method_named(token)?;
        // Before a delegate's constructor only the method matters.
        let value = if self.followed_by_delegate()? {
            self.i64(0)
        } else {
            self.e.symbol(Symbol::MethodStub(method))
        };
        self.push_item(Item {
            kind: Kind::Native,
            value,
            class: None,
            note: Note::Code(method, false),
        });
        Ok(())
    }

    /// ldvirtftn
    pub(crate) fn load_virtual_function(&mut self, token: Token) -> Res {
        let method = self.method_named(token)?;
        let object = self.pop_ref()?;
        if self.followed_by_delegate()? {
            self.explicit_null_check(object.value);
            let value = self.i64(0);
            self.push_item(Item {
                kind: Kind::Native,
                value,
                class: None,
                note: Note::Code(method, true),
            });
            return Ok(());
        }
        let value = if method.is_virtual() {
            let handle = self.e.symbol(Symbol::MethodHandle(method));
            self.e
                .helper_value(call::ResolveVirtual, [object.value, handle])
        } else {
            self.touch(&object);
            self.e.symbol(Symbol::MethodStub(method))
        };
        self.push(Kind::Native, value);
        Ok(())
    }

    /// jmp: a tail call with this method's arguments.
    pub(crate) fn jump_method(&mut self, token: Token) -> Res {
        let method = self.method_named(token)?;
        let shape = Shape::of_method(method)?;
        if shape.clif != self.shape.clif {
            return Err(Fail::invalid("jmp to a method with another signature"));
        }
        if !self.stack.is_empty() || self.e.has_handlers() || self.sync.is_some() {
            return Err(Fail::invalid("jmp where it is not allowed"));
        }
        // A struct that was passed by address and changed here: the caller's memory is not ours to write, and a frame that is
        // left holds nothing.
        let rewritten = (0..shape.params.len()).any(|n| {
            matches!(shape.params[n], Pass::Address)
                && self.plan.args[n + shape.has_this as usize] & (WRITTEN | ADDRESS) != 0
        });
        if rewritten {
            for index in 0..shape.params.len() + shape.has_this as usize {
                self.load_argument(index)?;
            }
            self.emit_call(Dispatch::Direct(method), &shape, false)?;
            return if self.dead { Ok(()) } else { self.ret() };
        }
        let mut args: SmallVec<[Value; 8]> = smallvec![];
        if shape.has_this {
            self.load_argument(0)?;
            args.push(self.pop()?.value);
        }
        if shape.ret == Pass::Address {
            args.push(self.params[shape.has_this as usize]);
        }
        for n in 0..shape.params.len() {
            let index = n + shape.has_this as usize;
            if self.plan.args[index] == 0 {
                args.extend_from_slice(shape.values_of(&self.params, n));
                continue;
            }
            self.load_variable(true, index)?;
            let item = self.pop()?;
            match &shape.params[n] {
                Pass::None => {}
                Pass::Scalar(_) => args.push(item.value),
                pass @ Pass::Leaves(_) => {
                    let class = shape.param_classes[n];
                    args.extend(load_passed(
                        &mut self.e.b,
                        trusted(),
                        item.value,
                        0,
                        pass,
                        class,
                    ));
                }
                // The caller's copy, which is still whole.
                Pass::Address => args.extend_from_slice(shape.values_of(&self.params, n)),
            }
        }
        let signature = self.e.b.import_signature(shape.clif.clone());
        let target = self.e.load_symbol(I64, Symbol::MethodSlot(method), 0);
        self.epilogue();
        self.e.begin_no_redirect();
        self.e
            .b
            .ins()
            .return_call_indirect(signature, target, &args);
        self.dead = true;
        Ok(())
    }
}
