//! Casts, boxes, indirect access, memory blocks, tokens and literals.
//!
//! # How it works
//! A cast compares classes, because VTables are per domain. What can be decided in place depends on
//! the class ([`Test`]):
//!
//! ```text
//! sealed class          class(object) == C
//! other class           supers(object)[depth of C] == C, if the list is long enough
//! interface, array,     the VTable remembers answers for a few classes; the helper has the others
//!   variant delegate
//! ```
//!
//! # Invariants
//! * An inline test may say yes. For a throwing cast only the helper says no: a transparent proxy
//!   is an instance of whatever its real proxy says.
//! * A box is written before the reference to it is pushed, and no allocation comes between, so no
//!   one sees a box without its value.
use crate::blob::Symbol;
use crate::emit::{null_trap, trusted};
use crate::signature::{load_scalar, store_scalar};
use crate::translate::error::{Res, TranslateError};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::*};
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::{ThrowKind, call, vtable};
use vervet_metadata::Token;
use vervet_metadata::il::{Op, Operand};
use vervet_types::check::can_access_method;
use vervet_types::resolve::TokenTarget;
use vervet_types::{Class, ClassRef, Known, LiteralRef, LoadError, MethodRef, R, ScalarKind};

/// What a cast does with an object that is no instance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cast {
    /// `isinst`: its result is null.
    Asks,
    /// `castclass`: it throws.
    Throws,
    /// The same where mono's shared code looks the class up ([`Scope::is_cast_shared`](vervet_types::resolve::Scope::is_cast_shared)).
    ThrowsShared,
}

/// How a cast can be decided in place.
enum Test {
    /// Only exact instances: sealed classes without variance.
    Exact,
    /// The class is at this index of the ancestors of its subclasses.
    Ancestor(i32),
    /// What the VTable remembers, or the helper.
    Helper,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// The class that a type token names, which can be loaded. Code that runs is closed, so the class has no free type
    /// variables.
    pub(crate) fn class(&mut self, token: Token) -> Res<ClassRef> {
        self.class_checked(token, Class::check_operand)
    }

    /// The same for `sizeof`.
    pub(crate) fn sized_class(&mut self, token: Token) -> Res<ClassRef> {
        self.class_checked(token, Class::check_sized)
    }

    fn class_checked(&mut self, token: Token, check: fn(ClassRef) -> R<()>) -> Res<ClassRef> {
        let named = self.body.scope.type_(token);
        let named = named.and_then(|class| class.check_named().map(|()| class));
        let class = named.map_err(LoadError::of_operand)?;
        if class.is_open {
            return Err(TranslateError::invalid(format!(
                "the open type {}",
                class.full_name()
            )));
        }
        if !class.is_named_only() {
            check(class)?;
        }
        Ok(class)
    }

    /// The method that a token names. If it is not accessible from the method being compiled, the instruction throws when it runs, as in mono, and ends
    /// the block: None.
    pub(crate) fn method_named(&mut self, token: Token) -> Res<Option<MethodRef>> {
        let method = self.body.scope.method(token)?;
        method.class.check_called()?;
        if can_access_method(self.body.method, method)? {
            return Ok(Some(method));
        }
        let [from, to] = [self.body.method, method].map(Symbol::MethodHandle);
        let from = self.e.symbol(from);
        let to = self.e.symbol(to);
        self.e.helper(call::ThrowMethodAccess, [from, to]);
        // The helper does not return, but the block must end.
        self.e.throw(ThrowKind::ExecutionEngine);
        self.body.dead = true;
        Ok(None)
    }

    /// The inline test for a class.
    fn test_for(&self, class: ClassRef) -> Res<Test> {
        // Its ancestors are not known. There are no objects of it yet.
        if class.is_named_only() {
            return Ok(Test::Helper);
        }
        // A transparent proxy may stand for an instance of any class derived from
        // MarshalByRefObject, even a sealed one.
        let sealed_remote = class.is_sealed() && !class.is_array() && class.is_marshal_by_ref()?;
        if sealed_remote
            || class.is_array()
            || class.is_interface()
            || class.is_delegate()? && class.is_inst()
            || class.is_ptr()
        {
            return Ok(Test::Helper);
        }
        if class.is_sealed() || class.is_value_type()? {
            return Ok(Test::Exact);
        }
        let supers = class.supers()?;
        let depth = supers.len() as i32 - 1;
        // A transparent proxy is an instance of what its real proxy says.
        if depth == 0 || class.is_marshal_by_ref()? {
            return Ok(Test::Helper);
        }
        Ok(Test::Ancestor(depth))
    }

    /// The cast of a `castclass` or `unbox.any`.
    pub(crate) fn throwing_cast(&self, token: Token) -> Res<Cast> {
        Ok(match self.body.scope.is_cast_shared(token)? {
            true => Cast::ThrowsShared,
            false => Cast::Throws,
        })
    }

    /// The helper's answer to a cast. `args` are the object and the class.
    fn ask_helper(&mut self, cast: Cast, args: [Value; 2]) -> Value {
        match cast {
            Cast::Asks => self.e.cold_helper_value(call::IsInst, args),
            Cast::Throws => self.e.cold_helper_value(call::CastClass, args),
            Cast::ThrowsShared => self.e.cold_helper_value(call::CastClassShared, args),
        }
    }

    /// `castclass` and `isinst` (ECMA-335 III.4.3, III.4.6). A cast to Nullable<T> is one to T,
    /// because a boxed nullable is a boxed T. The sequence for a class that is not sealed:
    ///
    /// ```text
    ///     brif object, look, join(object)              ; null passes
    /// look:
    ///     vt = uload32 object
    ///     brif vt.depth >= d, compare, no              ; d: the number of the class's ancestors
    /// compare:
    ///     brif vt.supers[d] == class, join(object), no
    /// no: (cold)
    ///     value = call CastClass(object, class)        ; isinst: null
    ///     jump join(value)
    /// ```
    ///
    /// For a sealed class `isinst` is a select between the object and null.
    pub(crate) fn cast(&mut self, class: ClassRef, cast: Cast) -> Res {
        let operand = self.pop_ref()?;
        let class = class.nullable_arg().unwrap_or(class);
        let known = Some(class);
        if let ValueFact::Null = operand.fact {
            self.push_value(StackValue {
                stack_type: StackType::Ref,
                class: known,
                ..operand
            });
            return Ok(());
        }
        if std::ptr::eq(class, self.session.universe.known(Known::Object)) {
            self.push_value(operand);
            return Ok(());
        }
        let object = operand.value;
        // Null passes every cast (ECMA-335 III.4.3), so it goes to the join at once.
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        if self.e.is_brief {
            let value = match cast {
                Cast::Asks => self.e.helper_value(call::IsInst, [object, handle]),
                Cast::Throws => self.e.helper_value(call::CastClass, [object, handle]),
                Cast::ThrowsShared => self.e.helper_value(call::CastClassShared, [object, handle]),
            };
            self.push_value(StackValue {
                stack_type: StackType::Ref,
                value,
                class: known,
                fact: ValueFact::None,
            });
            return Ok(());
        }
        let test = self.test_for(class)?;
        let join = self.e.b.create_block();
        self.e.b.append_block_param(join, I64);
        let look = self.e.b.create_block();
        let same = [BlockArg::Value(object)];
        self.e.b.ins().brif(object, look, &[], join, &same);
        self.e.b.seal_block(look);
        self.e.b.switch_to_block(look);
        let vt = self.e.b.ins().uload32(trusted(), object, 0);
        match test {
            Test::Exact => {
                let at = vtable::CLASS_OFFSET;
                let own = self.e.b.ins().load(I64, trusted(), vt, at);
                let exact = self.e.b.ins().icmp(IntCC::Equal, own, handle);
                if cast != Cast::Asks {
                    self.cast_decided(exact, object, [object, handle], join, cast);
                } else {
                    let zero = self.i64(0);
                    let value = self.e.b.ins().select(exact, object, zero);
                    self.e.b.ins().jump(join, &[BlockArg::Value(value)]);
                }
            }
            Test::Helper => self.cast_remembered(class, vt, [object, handle], join, cast),
            Test::Ancestor(depth) => {
                // The VTable holds the number of ancestors; a shorter list cannot contain the
                // class.
                let deep = self
                    .e
                    .b
                    .ins()
                    .load(I32, trusted(), vt, vtable::DEPTH_OFFSET);
                let enough = self.e.b.ins().icmp_imm_u(
                    IntCC::UnsignedGreaterThanOrEqual,
                    deep,
                    i64::from(depth),
                );
                let (compare, no) = (self.e.b.create_block(), self.e.b.create_block());
                self.e.b.ins().brif(enough, compare, &[], no, &[]);
                self.e.b.seal_block(compare);
                self.e.b.switch_to_block(compare);
                let supers = self
                    .e
                    .b
                    .ins()
                    .load(I64, trusted(), vt, vtable::SUPERS_OFFSET);
                let ancestor = self.e.b.ins().load(I64, trusted(), supers, 8 * depth);
                let is = self.e.b.ins().icmp(IntCC::Equal, ancestor, handle);
                self.e.b.ins().brif(is, join, &same, no, &[]);
                self.e.b.seal_block(no);
                self.e.b.switch_to_block(no);
                self.e.b.set_cold_block(no);
                // Transparent proxies and the like: the helper has the last word when throwing.
                if cast != Cast::Asks {
                    let value = self.ask_helper(cast, [object, handle]);
                    self.e.b.ins().jump(join, &[BlockArg::Value(value)]);
                } else {
                    let value = self.i64(0);
                    self.e.b.ins().jump(join, &[BlockArg::Value(value)]);
                }
            }
        }
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        let value = self.e.b.block_params(join)[0];
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value,
            class: known,
            fact: ValueFact::None,
        });
        Ok(())
    }

    /// A cast that the VTable may remember. `args` are the object and the class.
    fn cast_remembered(
        &mut self,
        class: ClassRef,
        vt: Value,
        args: [Value; 2],
        join: cranelift_codegen::ir::Block,
        cast: Cast,
    ) {
        let [object, handle] = args;
        let index = vtable::cast_index(class.stable_hash()) as i32;
        let at = vtable::CASTS_OFFSET + 8 * index;
        let same = [BlockArg::Value(object)];
        let null = self.i64(0);
        let no = (cast == Cast::Asks).then(|| self.e.b.ins().iadd_imm_s(handle, 1));
        // The second place only if the first has another class.
        for place in [at, at + 8] {
            let known = self.e.b.ins().load(I64, trusted(), vt, place);
            let yes = self.e.b.ins().icmp(IntCC::Equal, known, handle);
            let is_last = place != at;
            match no {
                None if is_last => self.cast_decided(yes, object, args, join, cast),
                None => self.unless(yes, join, &same),
                Some(no) => {
                    self.unless(yes, join, &same);
                    let is_no = self.e.b.ins().icmp(IntCC::Equal, known, no);
                    match is_last {
                        true => self.cast_decided(is_no, null, args, join, cast),
                        false => self.unless(is_no, join, &[BlockArg::Value(null)]),
                    }
                }
            }
        }
    }

    /// Jumps to the block if the condition holds, and goes on in a new one otherwise.
    fn unless(&mut self, condition: Value, to: cranelift_codegen::ir::Block, with: &[BlockArg]) {
        let on = self.e.b.create_block();
        self.e.b.ins().brif(condition, to, with, on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
    }

    /// The end of a cast: if `is_known`, its result is `result`, otherwise the helper's. `args` are the object and the class.
    fn cast_decided(
        &mut self,
        is_known: Value,
        result: Value,
        args: [Value; 2],
        join: cranelift_codegen::ir::Block,
        cast: Cast,
    ) {
        let cold = self.e.b.create_block();
        self.e.b.set_cold_block(cold);
        self.e
            .b
            .ins()
            .brif(is_known, join, &[BlockArg::Value(result)], cold, &[]);
        self.e.b.seal_block(cold);
        self.e.b.switch_to_block(cold);
        let value = self.ask_helper(cast, args);
        self.e.b.ins().jump(join, &[BlockArg::Value(value)]);
    }

    /// `box` (ECMA-335 III.4.1). Three patterns of generic code need no box:
    ///
    /// ```text
    /// box T                   T is a reference type       nothing
    /// box T; brtrue           x != null                   the constant 1, unless T is Nullable<>
    /// box T; unbox.any T      (T)(object)x                the value itself
    /// ```
    pub(crate) fn box_value(&mut self, class: ClassRef) -> Res {
        if !class.is_value_type()? {
            let operand = self.pop()?;
            if !operand.stack_type.is_word() {
                return Err(TranslateError::invalid(
                    "box of a value that is not of that type",
                ));
            }
            self.push_value(operand);
            return Ok(());
        }
        if class.nullable_arg().is_none()
            && self.next_is(&[Op::Brtrue, Op::BrtrueS, Op::Brfalse, Op::BrfalseS])
        {
            // `x != null` in generic code.
            self.pop()?;
            let value = self.i32(1);
            self.push(StackType::I32, value);
            return Ok(());
        }
        // `(T)(object)x` in generic code. (As in mono and CoreCLR, an int32 stays as it is even if the type is smaller.)
        if class.nullable_arg().is_none()
            && let Some(next) = self.next_instruction()
            && let (Op::UnboxAny, Operand::Token(t)) = (next.op, next.operand)
            && std::ptr::eq(self.body.scope.type_(t)?, class)
        {
            self.body.skip += 1;
            let mut operand = self.pop()?;
            let kind = stack_type_of(class)?;
            if kind == StackType::Struct {
                self.check_struct(&operand, class)?;
            } else {
                operand.value = self.coerce(&operand, kind)?;
                operand.stack_type = kind;
            }
            self.push_value(StackValue {
                class: Some(class),
                ..operand
            });
            return Ok(());
        }
        // A by-ref-like struct holds addresses of stack memory and must not get to the heap.
        if class.instance_layout()?.has_by_ref_like {
            let text = format!("Cannot box IsByRefLike type {}", class.full_name());
            return Err(LoadError::bad_image(self.body.scope.module, text).into());
        }
        let operand = self.pop()?;
        match self.put_off_box(class, &operand)? {
            true => Ok(()),
            false => self.box_operand(class, &operand),
        }
    }

    /// Boxes a value.
    pub(crate) fn box_operand(&mut self, class: ClassRef, operand: &StackValue) -> Res {
        if let Some(inner) = class.nullable_arg() {
            return self.box_nullable(class, inner, operand);
        }
        // The value to be boxed is an SSA value, or lies in this frame, so a collection during the
        // allocation finds its references.
        let object = self.allocate(class)?;
        self.store_value(
            class,
            operand,
            object,
            HEADER_SIZE as i32,
            trusted(),
            Dest::Anywhere,
        )?;
        self.push_instance(class, object);
        Ok(())
    }

    /// `unbox` (ECMA-335 III.4.32): the address of the value in the box. For Nullable<T> there is
    /// none in the box, so it is that of a copy in the frame.
    pub(crate) fn unbox(&mut self, class: ClassRef) -> Res {
        if !class.is_value_type()? {
            return Err(TranslateError::invalid("unbox of a reference type"));
        }
        let operand = self.pop_ref()?;
        if let Some(inner) = class.nullable_arg() {
            let at = self.unbox_nullable(class, inner, operand.value)?;
            self.push_value(StackValue {
                stack_type: StackType::ByRef,
                value: at,
                class: None,
                fact: ValueFact::Frame,
            });
            return Ok(());
        }
        let value = self.unboxed_address(class, &operand)?;
        self.push_address(value);
        Ok(())
    }

    /// The address of the value in a box, after a check of its class. The helper accepts an enum as
    /// its underlying type and the reverse (ECMA-335 III.4.32).
    ///
    /// ```text
    ///     vt = uload32 object                          ; faults on null
    ///     brif vt.class == class, join(object + 8), cold
    /// cold:
    ///     at = call Unbox(object, class)               ; or InvalidCastException
    ///     jump join(at)
    /// ```
    ///
    /// A box that was made here of a value of the class needs no check.
    fn unboxed_address(&mut self, class: ClassRef, operand: &StackValue) -> Res<Value> {
        if let (ValueFact::Exact, Some(boxed)) = (operand.fact, operand.class)
            && std::ptr::eq(boxed, class)
        {
            return Ok(self
                .e
                .b
                .ins()
                .iadd_imm_s(operand.value, i64::from(HEADER_SIZE)));
        }
        // Reading the VTable is the null check.
        let flags = self.null_checked(operand, 0, 4);
        let vt = self.e.b.ins().uload32(flags, operand.value, 0);
        let own = self
            .e
            .b
            .ins()
            .load(I64, trusted(), vt, vtable::CLASS_OFFSET);
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        let exact = self.e.b.ins().icmp(IntCC::Equal, own, handle);
        let inside = self
            .e
            .b
            .ins()
            .iadd_imm_s(operand.value, i64::from(HEADER_SIZE));
        let (cold, join) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.set_cold_block(cold);
        self.e.b.append_block_param(join, I64);
        self.e
            .b
            .ins()
            .brif(exact, join, &[BlockArg::Value(inside)], cold, &[]);
        self.e.b.seal_block(cold);
        self.e.b.switch_to_block(cold);
        let slow = self.e.helper_value(call::Unbox, [operand.value, handle]);
        self.e.b.ins().jump(join, &[BlockArg::Value(slow)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(self.e.b.block_params(join)[0])
    }

    /// `unbox.any` (ECMA-335 III.4.33): for a reference type it is `castclass`.
    pub(crate) fn unbox_any(&mut self, class: ClassRef, token: Token) -> Res {
        if !class.is_value_type()? {
            let cast = self.throwing_cast(token)?;
            return self.cast(class, cast);
        }
        let operand = self.pop_ref()?;
        let at = if let Some(inner) = class.nullable_arg() {
            self.unbox_nullable(class, inner, operand.value)?
        } else {
            self.unboxed_address(class, &operand)?
        };
        let operand = self.load_value(class, at, 0, trusted())?;
        self.push_value(operand);
        Ok(())
    }

    /// Where a store through an address goes.
    fn dest(operand: &StackValue) -> Dest {
        if let ValueFact::Frame = operand.fact {
            Dest::Frame
        } else {
            Dest::Anywhere
        }
    }

    /// After a `volatile.` access; see `after_access` in module `fields`.
    fn after_indirect(&mut self) {
        if self.body.prefixes.volatile {
            self.e.b.ins().sequence_point();
        }
    }

    /// `ldind.<type>` (ECMA-335 III.3.42).
    pub(crate) fn load_indirect(&mut self, leaf: ScalarKind, kind: StackType) -> Res {
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, leaf.size());
        let value = load_scalar(&mut self.e.b, flags, leaf, at.value, 0);
        self.push(kind, value);
        self.after_indirect();
        Ok(())
    }

    /// `stind.<type>` (ECMA-335 III.3.62). The address may point into the heap, so a reference
    /// marks its card.
    pub(crate) fn store_indirect(&mut self, leaf: ScalarKind, kind: StackType) -> Res {
        self.spill_aliased(2)?;
        let value = self.pop()?;
        let at = self.pop_address()?;
        let value = self.coerce(&value, kind)?;
        let flags = self.null_checked(&at, 0, leaf.size());
        if leaf == ScalarKind::Ref && Self::dest(&at) == Dest::Anywhere {
            self.store_ref(flags, value, at.value, 0);
        } else {
            store_scalar(&mut self.e.b, flags, leaf, value, at.value, 0);
        }
        self.after_indirect();
        Ok(())
    }

    /// `ldobj` (ECMA-335 III.4.13).
    pub(crate) fn load_object(&mut self, class: ClassRef) -> Res {
        let at = self.pop_address()?;
        let size = self.size_of(class)?;
        let flags = self.null_checked(&at, 0, size);
        let operand = self.load_value(class, at.value, 0, flags)?;
        self.push_value(operand);
        self.after_indirect();
        Ok(())
    }

    /// `stobj` (ECMA-335 III.4.29).
    pub(crate) fn store_object(&mut self, class: ClassRef) -> Res {
        self.spill_aliased(2)?;
        let value = self.pop()?;
        let at = self.pop_address()?;
        let size = self.size_of(class)?;
        let flags = self.null_checked(&at, 0, size);
        self.store_value(class, &value, at.value, 0, flags, Self::dest(&at))?;
        self.after_indirect();
        Ok(())
    }

    /// `cpobj` (ECMA-335 III.4.4).
    pub(crate) fn copy_object(&mut self, class: ClassRef) -> Res {
        let from = self.pop_address()?;
        let size = self.size_of(class)?;
        let flags = self.null_checked(&from, 0, size);
        let operand = self.load_value(class, from.value, 0, flags)?;
        self.push_value(operand);
        self.store_object(class)
    }

    /// `initobj` (ECMA-335 III.4.5). For a reference type it stores null.
    pub(crate) fn init_object(&mut self, class: ClassRef) -> Res {
        self.spill_aliased(1)?;
        let at = self.pop_address()?;
        let size = self.size_of(class)?;
        let flags = self.null_checked(&at, 0, size);
        self.zero(at.value, 0, size, flags);
        Ok(())
    }

    /// `cpblk` (ECMA-335 III.3.30).
    pub(crate) fn copy_block(&mut self) -> Res {
        self.spill_aliased(3)?;
        let size = self.pop()?;
        let from = self.pop_address()?;
        let to = self.pop_address()?;
        let size = self.unsigned_size(&size)?;
        self.move_block(&to, &from, size, 1);
        Ok(())
    }
    /// Copies `size` bytes without references, in units of 1 or 2 bytes, between two addresses.
    pub(crate) fn move_block(
        &mut self,
        to: &StackValue,
        from: &StackValue,
        size: Value,
        unit: i64,
    ) {
        self.block_null_checks(size, &[to, from]);
        self.move_bytes(to.value, from.value, size, unit);
        self.after_indirect();
    }

    /// `initblk` (ECMA-335 III.3.36).
    pub(crate) fn init_block(&mut self) -> Res {
        self.spill_aliased(3)?;
        let size = self.pop()?;
        let byte = self.pop_i32()?;
        let at = self.pop_address()?;
        let size = self.unsigned_size(&size)?;
        self.block_null_checks(size, &[&at]);
        self.e.helper(call::MemSet, [at.value, byte, size]);
        self.after_indirect();
        Ok(())
    }

    /// The size operand of a block instruction, which is unsigned.
    fn unsigned_size(&mut self, operand: &StackValue) -> Res<Value> {
        match operand.stack_type {
            StackType::I32 => Ok(self.e.b.ins().uextend(I64, operand.value)),
            _ => self.as_native(operand),
        }
    }

    /// Throws NullReferenceException for a null address, unless the size is 0.
    fn block_null_checks(&mut self, size: Value, ends: &[&StackValue]) {
        // Neither end is accessed if the size is 0, so a null address is allowed then (as in mono
        // and CoreCLR).
        for end in ends {
            if matches!(end.fact, ValueFact::Frame | ValueFact::NonNull) {
                continue;
            }
            let low = self.is_low(end.value);
            let some = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, size, 0);
            let bad = self.e.b.ins().band(low, some);
            self.e.throw_if(bad, vervet_abi::ThrowKind::NullReference);
        }
    }

    /// `ldstr` (ECMA-335 III.4.16): loads from the root slot of the interned string, which the
    /// runtime fills when it links the code.
    pub(crate) fn load_string(&mut self, token: Token) -> Res {
        let symbol = match self.body.scope.literal(token)? {
            LiteralRef::Module(module, token) => Symbol::Literal(module, token),
            LiteralRef::Dynamic(number) => Symbol::DynamicLiteral(number),
        };
        let value = self.e.load_symbol(I64, symbol, 0);
        self.push_instance(self.session.universe.known(Known::String), value);
        Ok(())
    }

    /// `ldtoken` (ECMA-335 III.4.17). Followed by `Type.GetTypeFromHandle`, as `typeof` is, it
    /// loads the Type object; followed by `InitializeArray`, it fills the array (`array_data`).
    pub(crate) fn load_token(&mut self, token: Token) -> Res {
        let target = self.body.scope.token(token)?;
        if let TokenTarget::Field(field) = target
            && self.try_fill_array(field)?
        {
            return Ok(());
        }
        let (symbol, known) = match target {
            TokenTarget::Type(class) => {
                class.check_token()?;
                if let Some(next) = self.next_instruction()
                    && let (Op::Call, Operand::Token(t)) = (next.op, next.operand)
                {
                    let m = self.body.scope.method(t)?;
                    if m.name == "GetTypeFromHandle"
                        && std::ptr::eq(m.class, self.session.universe.known(Known::Type))
                    {
                        self.body.skip += 1;
                        let value = self.e.load_symbol(I64, Symbol::TypeObject(class), 0);
                        self.push_value(StackValue {
                            stack_type: StackType::Ref,
                            value,
                            class: Some(self.session.universe.known(Known::Type)),
                            fact: ValueFact::NonNull,
                        });
                        return Ok(());
                    }
                }
                (Symbol::ClassHandle(class), Known::RuntimeTypeHandle)
            }
            TokenTarget::Method(m) => (Symbol::MethodHandle(m), Known::RuntimeMethodHandle),
            TokenTarget::Field(f) => (Symbol::FieldHandle(f), Known::RuntimeFieldHandle),
        };
        let class = self.session.universe.known(known);
        let handle = self.e.symbol(symbol);
        let at = self.temp_of(class)?;
        self.e.b.ins().store(trusted(), handle, at, 0);
        self.push_value(StackValue {
            stack_type: StackType::Struct,
            value: at,
            class: Some(class),
            fact: ValueFact::None,
        });
        Ok(())
    }

    /// `sizeof` (ECMA-335 III.4.25).
    pub(crate) fn size_of_type(&mut self, class: ClassRef) -> Res {
        let size = if class.is_value_type()? {
            class.layout()?.size
        } else {
            8
        };
        let value = self.i32(size as i32);
        self.push(StackType::I32, value);
        Ok(())
    }

    /// Loads the VTable of an object; outside protected regions this is the null check.
    pub(crate) fn vtable_of(&mut self, operand: &StackValue) -> Value {
        let flags = match operand.fact {
            ValueFact::Exact => trusted(),
            _ if self.e.has_handlers() => self.null_checked(operand, 0, 4),
            _ => null_trap(),
        };
        self.e.b.ins().uload32(flags, operand.value, 0)
    }

    /// Whether values of the class are structs on the stack.
    pub(crate) fn is_struct(&self, class: ClassRef) -> Res<bool> {
        Ok(stack_type_of(class)? == StackType::Struct)
    }
}
