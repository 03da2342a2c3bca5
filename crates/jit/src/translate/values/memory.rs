//! Values in memory: loading, storing and copying by class.
//!
//! # Invariants
//! * A load of a struct gives a temporary. Temporaries are reused when the IL stack is empty.
//! * A store says where it goes: into this frame (no barrier) or anywhere (barrier for every reference).
//! * A copy's source stays intact while it goes on, so a stop in the middle loses nothing: what is copied to the heap
//!   always lies in a frame, where every word of it is a root. Each reference is then stored and marked for itself, in
//!   whole words through general registers; longer copies are left to a leaf helper, which cannot be stopped.
use crate::blob::Symbol;
use crate::emit::{barrier, trusted};
use crate::signature::{load_leaf, scalar_kind, store_leaf};
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{Item, Kind, Note, kind_of};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlot, Value, types::*};
use vervet_abi::call;
use vervet_types::{ClassRef, LeafKind};

/// Values up to this many bytes are copied inline.
const INLINE_COPY: u32 = 64;
/// Values up to this many bytes are zeroed inline.
const INLINE_ZERO: u32 = 128;

/// Where a store goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dest {
    /// This frame.
    Frame,
    /// The heap, or who knows.
    Anywhere,
}

/// Slots of struct temporaries. Those before `used` may be live.
#[derive(Default)]
pub struct Temps {
    pub(crate) slots: Vec<(StackSlot, u32, bool)>,
}

impl Temps {
    /// Nothing is on the IL stack: all are free.
    pub fn release(&mut self) {
        self.slots.iter_mut().for_each(|s| s.2 = false);
    }
    /// Who knows which are on the IL stack: none is free.
    pub fn retain(&mut self) {
        self.slots.iter_mut().for_each(|s| s.2 = true);
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// A temporary of that many bytes, live while the IL stack is not empty.
    pub fn temp(&mut self, size: u32) -> StackSlot {
        let size = size.max(1).next_multiple_of(8);
        if let Some(s) = self.temps.slots.iter_mut().find(|s| !s.2 && s.1 == size) {
            s.2 = true;
            return s.0;
        }
        let slot = self.e.slot(size);
        self.temps.slots.push((slot, size, true));
        slot
    }
    /// The address of a temporary for a value of the class.
    pub fn temp_of(&mut self, class: ClassRef) -> Res<Value> {
        let size = class.layout()?.size;
        let slot = self.temp(size);
        Ok(self.e.slot_addr(slot))
    }
    /// Bytes a value of the class takes in a variable.
    pub fn size_of(&self, class: ClassRef) -> Res<u32> {
        Ok(match kind_of(class)? {
            Kind::Struct => class.layout()?.size,
            _ => scalar_kind(class).size(),
        })
    }

    /// Loads a value of the class in its stack form.
    pub fn load_value(
        &mut self,
        class: ClassRef,
        base: Value,
        offset: i32,
        flags: MemFlagsData,
    ) -> Res<Item> {
        let kind = kind_of(class)?;
        let value = if kind == Kind::Struct {
            let to = self.temp_of(class)?;
            self.copy(class, to, 0, trusted(), base, offset, flags, Dest::Frame)?;
            to
        } else {
            load_leaf(&mut self.e.b, flags, scalar_kind(class), base, offset)
        };
        Ok(Item {
            kind,
            value,
            class: Some(class),
            note: Note::None,
        })
    }

    /// Stores a value, coerced to the class.
    pub fn store_value(
        &mut self,
        class: ClassRef,
        item: &Item,
        base: Value,
        offset: i32,
        flags: MemFlagsData,
        dest: Dest,
    ) -> Res {
        let kind = kind_of(class)?;
        if kind == Kind::Struct {
            self.check_struct(item, class)?;
            return self.copy(class, base, offset, flags, item.value, 0, trusted(), dest);
        }
        let value = self.coerce(item, kind)?;
        match scalar_kind(class) {
            LeafKind::Ref if dest == Dest::Anywhere => self.store_ref(flags, value, base, offset),
            leaf => store_leaf(&mut self.e.b, flags, leaf, value, base, offset),
        }
        Ok(())
    }

    /// Copies a struct.
    #[allow(clippy::too_many_arguments, reason = "two ends of a copy")]
    pub fn copy(
        &mut self,
        class: ClassRef,
        to: Value,
        to_offset: i32,
        to_flags: MemFlagsData,
        from: Value,
        from_offset: i32,
        from_flags: MemFlagsData,
        dest: Dest,
    ) -> Res {
        let layout = class.layout()?;
        let size = layout.size;
        let refs: &[u32] = if dest == Dest::Anywhere {
            &layout.ref_map
        } else {
            &[]
        };
        if size > INLINE_COPY || refs.len() > 4 {
            // A helper does not fault: both ends are touched first.
            if to_flags.trap_code().is_some() {
                self.e.b.ins().load(I8, to_flags, to, to_offset);
            }
            if from_flags.trap_code().is_some() {
                self.e.b.ins().load(I8, from_flags, from, from_offset);
            }
            let to = self.offset_address(to, to_offset);
            let from = self.offset_address(from, from_offset);
            if refs.is_empty() {
                if dest == Dest::Frame && size <= 2 * INLINE_COPY {
                    self.copy_words(to, 0, trusted(), from, 0, trusted(), size, &[]);
                    return Ok(());
                }
                if layout.ref_map.is_empty() {
                    let bytes = self.i64(i64::from(size));
                    self.e.helper(call::MemMove, [to, from, bytes]);
                } else {
                    let handle = self.e.symbol(Symbol::ClassHandle(class));
                    self.e.helper(call::CopyValue, [to, from, handle]);
                }
            } else {
                let handle = self.e.symbol(Symbol::ClassHandle(class));
                self.e.helper(call::CopyValue, [to, from, handle]);
            }
            return Ok(());
        }
        self.copy_words(
            to,
            to_offset,
            to_flags,
            from,
            from_offset,
            from_flags,
            size,
            refs,
        );
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "two ends of a copy")]
    fn copy_words(
        &mut self,
        to: Value,
        to_offset: i32,
        to_flags: MemFlagsData,
        from: Value,
        from_offset: i32,
        from_flags: MemFlagsData,
        size: u32,
        refs: &[u32],
    ) {
        let mut at = 0;
        for kind in [LeafKind::I8, LeafKind::I4, LeafKind::U2, LeafKind::U1] {
            while size - at >= kind.size() {
                let value = load_leaf(
                    &mut self.e.b,
                    from_flags,
                    kind,
                    from,
                    from_offset + at as i32,
                );
                if kind == LeafKind::I8 && refs.contains(&(at / 8)) {
                    self.store_ref(to_flags, value, to, to_offset + at as i32);
                } else {
                    store_leaf(
                        &mut self.e.b,
                        to_flags,
                        kind,
                        value,
                        to,
                        to_offset + at as i32,
                    );
                }
                at += kind.size();
            }
        }
    }

    /// An address with a constant added, for immediate use.
    pub fn offset_address(&mut self, base: Value, offset: i32) -> Value {
        if offset == 0 {
            base
        } else {
            self.e.b.ins().iadd_imm_s(base, i64::from(offset))
        }
    }

    /// Zeroes memory.
    pub fn zero(&mut self, base: Value, offset: i32, size: u32, flags: MemFlagsData) {
        if size > INLINE_ZERO {
            if flags.trap_code().is_some() {
                self.e.b.ins().load(I8, flags, base, offset);
            }
            let to = self.offset_address(base, offset);
            let byte = self.i32(0);
            let bytes = self.i64(i64::from(size));
            self.e.helper(call::MemSet, [to, byte, bytes]);
            return;
        }
        let (mut at, zero) = (0, self.i64(0));
        while size - at >= 8 {
            self.e.b.ins().store(flags, zero, base, offset + at as i32);
            at += 8;
        }
        if size > at {
            let zero = self.i32(0);
            for kind in [LeafKind::I4, LeafKind::U2, LeafKind::U1] {
                while size - at >= kind.size() {
                    store_leaf(&mut self.e.b, flags, kind, zero, base, offset + at as i32);
                    at += kind.size();
                }
            }
        }
    }
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Stores a reference where the heap may be; null needs no mark.
    pub fn store_ref(&mut self, flags: MemFlagsData, value: Value, base: Value, offset: i32) {
        if self.constant(value) == Some(0) {
            self.e.b.ins().store(flags, value, base, offset);
        } else {
            barrier::store_reference(self.e, flags, value, base, offset);
        }
    }
}
