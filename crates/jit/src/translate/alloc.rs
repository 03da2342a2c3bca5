//! Allocation of objects: the one inline sequence, and the helpers behind it.
//!
//! # Invariants
//! Between the load of `alloc_next` and its store the thread is `critical`; each of these plain byte stores is
//! fenced by `sequence_point`, which emits nothing but keeps them apart. The header is stored before `alloc_next`.
//! A slow path is entered with `critical` 0 again.
use super::stack::{Item, Kind, Note};
use super::{Res, Translator};
use crate::blob::Symbol;
use crate::codegen::trusted;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::*};
use vervet_abi::object::{HEADER_SIZE, LARGE_OBJECT_SIZE, OBJECT_ALIGN};
use vervet_abi::{Helper, context};
use vervet_types::ClassRef;

impl<'a, 'f> Translator<'a, 'f> {
    /// A new, zeroed instance of a class with fixed size (a value type: its box).
    pub(crate) fn allocate(&mut self, class: ClassRef) -> Res<Value> {
        let vtable = self.e.symbol(Symbol::VTable(class));
        let layout = class.layout()?;
        let size = (HEADER_SIZE + layout.size).next_multiple_of(OBJECT_ALIGN);
        if size > LARGE_OBJECT_SIZE || class.finalizer()?.is_some() {
            return Ok(self.e.helper_value(Helper::AllocObject, &[vtable]));
        }
        let (slow, fast, join) = (
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
        );
        self.e.b.set_cold_block(slow);
        self.e.b.append_block_param(join, I64);
        let cx = self.e.context();
        let (one, zero) = (self.i32(1), self.i32(0));
        self.e
            .b
            .ins()
            .istore8(trusted(), one, cx, context::CRITICAL);
        self.e.b.ins().sequence_point();
        let next = self.e.b.ins().load(I64, trusted(), cx, context::ALLOC_NEXT);
        let end = self.e.b.ins().load(I64, trusted(), cx, context::ALLOC_END);
        let after = self.e.b.ins().iadd_imm_s(next, i64::from(size));
        let full = self.e.b.ins().icmp(IntCC::UnsignedGreaterThan, after, end);
        self.e.b.ins().brif(full, slow, &[], fast, &[]);
        self.e.b.seal_block(slow);
        self.e.b.seal_block(fast);
        self.e.b.switch_to_block(slow);
        self.e
            .b
            .ins()
            .istore8(trusted(), zero, cx, context::CRITICAL);
        self.e.b.ins().sequence_point();
        let object = self.e.helper_value(Helper::AllocObject, &[vtable]);
        self.e.b.ins().jump(join, &[BlockArg::Value(object)]);
        self.e.b.switch_to_block(fast);
        // Header and sync word (0) in one store.
        self.e.b.ins().store(trusted(), vtable, next, 0);
        self.e
            .b
            .ins()
            .store(trusted(), after, cx, context::ALLOC_NEXT);
        self.e.b.ins().sequence_point();
        self.e
            .b
            .ins()
            .istore8(trusted(), zero, cx, context::CRITICAL);
        self.e.b.ins().sequence_point();
        self.e.b.ins().jump(join, &[BlockArg::Value(next)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(self.e.b.block_params(join)[0])
    }

    /// newarr
    pub(crate) fn new_array(&mut self, element: ClassRef) -> Res {
        let length = self.pop()?;
        let length = self.as_native(&length)?;
        let array = self.universe.sz_array(element);
        let vtable = self.e.symbol(Symbol::VTable(array));
        let value = self.e.helper_value(Helper::AllocArray, &[vtable, length]);
        self.push_item(Item {
            kind: Kind::Ref,
            value,
            class: Some(array),
            note: Note::Exact,
        });
        Ok(())
    }
}
