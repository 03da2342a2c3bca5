//! `box` and `unbox` of Nullable<T> (ECMA-335 I.8.2.4): a box holds the T, and null stands for no value.
//!
//! # How it works
//! ```text
//! box                                       unbox
//!     brif [n + flag], some, join(null)         zero the slot
//! some:                                         brif object, some, join
//!     o = allocate T                        some:
//!     copy [n + value] to o                     vt = uload32 object
//!     jump join(o)                              brif vt.class == T, copy, other
//!                                           copy:
//!                                               copy o's value to [slot + value]; [slot + flag] = 1
//!                                               jump join
//!                                           other: (cold)
//!                                               call UnboxNullable             ; or InvalidCastException
//! ```
//!
//! # Invariants
//! * A box of a Nullable itself does not exist.
//! * What else than a box of T is taken, the helper says: as in mono, a box of an enum is one of its underlying type, but not the reverse.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::I64};
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::{call, vtable};
use vervet_types::ClassRef;

impl Translator<'_, '_> {
    /// Boxes a Nullable of class `class` over `inner`: pushes the box, or null.
    pub(super) fn box_nullable(
        &mut self,
        class: ClassRef,
        inner: ClassRef,
        operand: &StackValue,
    ) -> Res {
        self.check_struct(operand, class)?;
        let (flag, value) = class.nullable_fields()?;
        let (flag, value) = (flag.offset()? as i32, value.offset()? as i32);
        let has = (self.e.b.ins()).uload8(I64, trusted(), operand.value, flag);
        let (some, join) = (self.e.b.create_block(), self.e.b.create_block());
        let result = self.e.b.append_block_param(join, I64);
        // What says that there is no value is the null.
        let none = [BlockArg::Value(has)];
        self.e.b.ins().brif(has, some, &[], join, &none);
        self.e.b.seal_block(some);
        self.e.b.switch_to_block(some);
        let object = self.allocate(inner)?;
        let content = self.load_value(inner, operand.value, value, trusted())?;
        self.store_value(
            inner,
            &content,
            object,
            HEADER_SIZE as i32,
            trusted(),
            Dest::Anywhere,
        )?;
        self.e.b.ins().jump(join, &[BlockArg::Value(object)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value: result,
            class: Some(inner),
            fact: ValueFact::None,
        });
        Ok(())
    }

    /// Writes the Nullable that a box or null stands for to a slot of the frame, whose address this is.
    pub(super) fn unbox_nullable(
        &mut self,
        class: ClassRef,
        inner: ClassRef,
        object: Value,
    ) -> Res<Value> {
        let (flag, value) = class.nullable_fields()?;
        let (flag, value) = (flag.offset()? as i32, value.offset()? as i32);
        let size = class.layout()?.size;
        // This is no temporary, because the program may keep the address in a variable.
        let slot = self.e.slot(size);
        self.note_class(slot, class)?;
        let at = self.e.slot_addr(slot);
        self.zero(at, 0, size.next_multiple_of(8), trusted());
        let [some, copy, other, join] = [(); 4].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(other);
        self.e.b.ins().brif(object, some, &[], join, &[]);
        self.e.b.seal_block(some);
        self.e.b.switch_to_block(some);
        let vt = self.e.b.ins().uload32(trusted(), object, 0);
        let own = (self.e.b.ins()).load(I64, trusted(), vt, vtable::CLASS_OFFSET);
        let wanted = self.e.symbol(Symbol::ClassHandle(inner));
        let exact = self.e.b.ins().icmp(IntCC::Equal, own, wanted);
        self.e.b.ins().brif(exact, copy, &[], other, &[]);
        self.e.b.seal_block(copy);
        self.e.b.seal_block(other);
        self.e.b.switch_to_block(copy);
        let content = self.load_value(inner, object, HEADER_SIZE as i32, trusted())?;
        self.store_value(inner, &content, at, value, trusted(), Dest::Frame)?;
        let one = self.i32(1);
        self.e.b.ins().istore8(trusted(), one, at, flag);
        self.e.b.ins().jump(join, &[]);
        self.e.b.switch_to_block(other);
        // Memory of its own: the slot above may become values.
        let unboxed = self.e.slot(size);
        let there = self.e.slot_addr(unboxed);
        let handle = self.e.symbol(Symbol::ClassHandle(class));
        self.e.helper(call::UnboxNullable, [object, handle, there]);
        let (to, from) = (trusted(), trusted());
        self.copy(class, at, 0, to, there, 0, from, Dest::Frame)?;
        self.e.b.ins().jump(join, &[]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(at)
    }
}
