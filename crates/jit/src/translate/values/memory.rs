//! Values in memory: loading, storing, copying and zeroing by class.
//!
//! # How it works
//! A struct value on the IL stack is an address, so loading a struct copies it to a temporary in
//! this frame, and storing it copies it from there. Copies up to [`INLINE_COPY`] bytes are emitted
//! as loads and stores of falling width; longer ones call a helper.
//!
//! # Invariants
//! * Temporaries are reused as soon as the IL stack is empty.
//! * Each store says where it goes: [`Dest::Frame`] needs no barrier, [`Dest::Anywhere`] marks the card of every reference stored.
//! * A thread may be stopped between two instructions of a copy. The source is intact until the copy is complete, and a copy to the heap always has
//!   its source in a frame, where the conservative scan sees every word. So each reference is visible to the collector throughout.
//! * A reference is copied as one 64-bit word through a general register. Two halves, or a vector register, would hide it from the scan and could be
//!   seen half-written by the concurrent marker.
//! * Longer copies with references go to `CopyValue`, a leaf helper: a thread in it is not stopped by signal before it has marked the cards.
use crate::blob::Symbol;
use crate::emit::{barrier, trusted};
use crate::signature::{load_scalar, scalar_kind, store_scalar};
use crate::translate::error::Res;
use crate::translate::simd::{is_simd, simd_vectors_in};
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlot, Type, Value, types::*};
use smallvec::{SmallVec, smallvec};
use vervet_abi::call;
use vervet_types::{ClassRef, LoadError, ScalarKind};

/// Values up to this many bytes are copied by emitted loads and stores.
const INLINE_COPY: u32 = 64;
/// Structs of more bytes than this are copied in whole words.
const MOST_IN_HALVES: u32 = 32;
/// Memory up to this many bytes is zeroed by emitted stores.
const INLINE_ZERO: u32 = 128;

/// Where a store goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dest {
    /// This frame. The collector scans frames as a whole, so no card is marked.
    Frame,
    /// The heap, or memory that may be the heap.
    Anywhere,
}

impl<'a, 'f> Translator<'a, 'f> {
    /// A temporary of that many bytes, which stays valid until the IL stack is empty. In optimised code it is a slot of its own, which takes the
    /// memory of the temporary later if it takes any.
    pub fn temp(&mut self, size: u32) -> StackSlot {
        let memory = self.temp_memory(size);
        if !self.e.notes.promote() {
            return memory;
        }
        let slot = self.e.slot(size);
        self.e.notes.shares(slot, memory);
        slot
    }
    /// The memory of a temporary.
    fn temp_memory(&mut self, size: u32) -> StackSlot {
        let size = size.max(1).next_multiple_of(8);
        if let Some(s) = self
            .session
            .temps
            .slots
            .iter_mut()
            .find(|s| !s.2 && s.1 == size)
        {
            s.2 = true;
            return s.0;
        }
        let slot = self.e.slot(size);
        self.session.temps.slots.push((slot, size, true));
        slot
    }
    /// The address of a temporary for a value of the class.
    pub fn temp_of(&mut self, class: ClassRef) -> Res<Value> {
        let size = class.layout()?.size;
        let slot = self.temp(size);
        self.note_class(slot, class)?;
        Ok(self.e.slot_addr(slot))
    }
    /// Notes which words of a slot hold references: it holds one value of the class.
    pub fn note_class(&mut self, slot: StackSlot, class: ClassRef) -> Res {
        match stack_type_of(class)? {
            StackType::Struct => self.e.notes.holds(slot, &class.layout()?.ref_map),
            StackType::Ref => self.e.notes.holds(slot, &[0]),
            StackType::ByRef | StackType::Native => {}
            _ => self.e.notes.holds(slot, &[]),
        }
        Ok(())
    }
    /// The bytes that a value of the class takes in a field, an array element or a variable.
    pub fn size_of(&self, class: ClassRef) -> Res<u32> {
        Ok(match stack_type_of(class)? {
            StackType::Struct => class.layout()?.size,
            _ => scalar_kind(class).size(),
        })
    }

    /// Loads a value of the class, as it is on the IL stack.
    pub fn load_value(
        &mut self,
        class: ClassRef,
        base: Value,
        offset: i32,
        flags: MemFlagsData,
    ) -> Res<StackValue> {
        let kind = stack_type_of(class)?;
        let value = if kind == StackType::Struct {
            let to = self.temp_of(class)?;
            self.copy(class, to, 0, trusted(), base, offset, flags, Dest::Frame)?;
            to
        } else {
            load_scalar(&mut self.e.b, flags, scalar_kind(class), base, offset)
        };
        Ok(StackValue {
            stack_type: kind,
            value,
            class: Some(class),
            fact: ValueFact::None,
        })
    }

    /// Stores a value, coerced to the class.
    pub fn store_value(
        &mut self,
        class: ClassRef,
        operand: &StackValue,
        base: Value,
        offset: i32,
        flags: MemFlagsData,
        dest: Dest,
    ) -> Res {
        let kind = stack_type_of(class)?;
        if kind == StackType::Struct {
            self.check_struct(operand, class)?;
            return self.copy(
                class,
                base,
                offset,
                flags,
                operand.value,
                0,
                trusted(),
                dest,
            );
        }
        let value = self.coerce(operand, kind)?;
        match scalar_kind(class) {
            ScalarKind::Ref if dest == Dest::Anywhere => self.store_ref(flags, value, base, offset),
            leaf => store_scalar(&mut self.e.b, flags, leaf, value, base, offset),
        }
        Ok(())
    }

    /// Copies a struct of the class from `from + from_offset` to `to + to_offset`. The flags say
    /// which of the accesses may fault because of a null address.
    #[expect(clippy::too_many_arguments, reason = "two ends of a copy")]
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
        if is_simd(class) {
            let bytes = (self.e.b.ins()).load(I8X16, from_flags, from, from_offset);
            self.e.b.ins().store(to_flags, bytes, to, to_offset);
            return Ok(());
        }
        let layout = class.layout()?;
        let size = layout.size;
        let refs: &[u32] = if dest == Dest::Anywhere {
            &layout.ref_map
        } else {
            &[]
        };
        if size > INLINE_COPY || refs.len() > 4 {
            // A fault inside a helper would not be a NullReferenceException of this method, so both
            // ends are read here first.
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
                    self.copy_words(to, 0, trusted(), from, 0, trusted(), size, &[], (&[], &[]));
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
            (&simd_vectors_in(class)?, &halves_in(class)?),
        );
        Ok(())
    }

    /// Copies `size` bytes by loads and stores. `refs` holds the indices of the 8-byte words that
    /// are references, `vectors` the offsets of vectors, which are copied whole, and `halves` those of
    /// words that are copied in halves. A struct of a reference and an int, to the heap:
    ///
    /// ```text
    ///     v2 = load.i64 v1+0
    ///     store v2, v0+0
    ///     istore8 v2, card(v0)                    ; docs/decisions/0006-card-mark-is-the-low-byte.md
    ///     sequence_point
    ///     v3 = load.i32 v1+8
    ///     store v3, v0+8
    /// ```
    #[expect(clippy::too_many_arguments, reason = "two ends of a copy")]
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
        (vectors, halves): (&[u32], &[u32]),
    ) {
        // Falling widths: words first, then the rest, so that references stay whole.
        let mut at = 0;
        for kind in [
            ScalarKind::I8,
            ScalarKind::I4,
            ScalarKind::U2,
            ScalarKind::U1,
        ] {
            while size - at >= kind.size() {
                if vectors.contains(&at) {
                    let bytes =
                        (self.e.b.ins()).load(I8X16, from_flags, from, from_offset + at as i32);
                    (self.e.b.ins()).store(to_flags, bytes, to, to_offset + at as i32);
                    at += 16;
                    continue;
                }
                let kind = match halves.contains(&(at & !7)) {
                    true => ScalarKind::I4,
                    false => kind,
                };
                let value = load_scalar(
                    &mut self.e.b,
                    from_flags,
                    kind,
                    from,
                    from_offset + at as i32,
                );
                if kind == ScalarKind::I8 && refs.contains(&(at / 8)) {
                    self.store_ref(to_flags, value, to, to_offset + at as i32);
                } else {
                    store_scalar(
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

    /// An address with a constant added. It must be used at once: a sum that stays in a register
    /// alone may lie outside the object, where the collector does not look for it.
    pub fn offset_address(&mut self, base: Value, offset: i32) -> Value {
        if offset == 0 {
            base
        } else {
            self.e.b.ins().iadd_imm_s(base, i64::from(offset))
        }
    }

    /// Zeros in a vector register, as lanes of a type.
    pub(crate) fn zero_vector(&mut self, ty: Type) -> Value {
        let zeros = self.e.b.func.dfg.constants.insert([0; 16][..].into());
        self.e.b.ins().vconst(ty, zeros)
    }
    /// Zeroes `size` bytes at `base + offset`. Null references need neither a card mark nor whole
    /// words, so long memory goes to `MemSet`.
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
        // Vectors and whole words first; the tail in falling widths.
        let mut at = 0;
        if size >= 16 {
            let zeros = self.zero_vector(I8X16);
            while size - at >= 16 {
                self.e.b.ins().store(flags, zeros, base, offset + at as i32);
                at += 16;
            }
        }
        let zero = self.i64(0);
        while size - at >= 8 {
            self.e.b.ins().store(flags, zero, base, offset + at as i32);
            at += 8;
        }
        if size > at {
            let zero = self.i32(0);
            for kind in [ScalarKind::I4, ScalarKind::U2, ScalarKind::U1] {
                while size - at >= kind.size() {
                    store_scalar(&mut self.e.b, flags, kind, zero, base, offset + at as i32);
                    at += kind.size();
                }
            }
        }
    }
}

/// The offsets of words of a struct that hold two fields of four bytes and no longer one. They are
/// copied in halves: a processor that has two halves in its store buffer does not load them as a
/// word until they have left it, which takes some twelve cycles.
fn halves_in(class: ClassRef) -> Result<SmallVec<[u32; 4]>, LoadError> {
    // By word: whether a field begins in its first half and in its second, and whether one is longer.
    let mut words: SmallVec<[[bool; 3]; 4]> =
        smallvec![[false; 3]; class.layout()?.size as usize / 8];
    if class.layout()?.size <= MOST_IN_HALVES {
        add_fields(class, 0, &mut words)?;
    }
    let is_halved = |n: &usize| words[*n] == [true, true, false];
    Ok((0..words.len())
        .filter(is_halved)
        .map(|n| 8 * n as u32)
        .collect())
}

/// Notes the fields of a value that lies at an offset.
fn add_fields(class: ClassRef, at: u32, words: &mut [[bool; 3]]) -> Result<(), LoadError> {
    if class.prim.is_some() || !class.is_value_type()? || class.is_enum()? {
        let size = scalar_kind(class).size();
        let Some(word) = words.get_mut(at as usize / 8) else {
            return Ok(());
        };
        match size {
            4 if at.is_multiple_of(4) => word[at as usize / 4 % 2] = true,
            // Words with shorter or longer fields are copied whole, padding included.
            _ => word[2] = true,
        }
        return Ok(());
    }
    for field in class.fields()? {
        if !field.is_static() {
            add_fields(field.ty()?, at + field.offset()?, words)?;
        }
    }
    Ok(())
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Stores a reference where the heap may be, and marks its card. Null needs no mark.
    pub fn store_ref(&mut self, flags: MemFlagsData, value: Value, base: Value, offset: i32) {
        if self.constant(value) == Some(0) {
            self.e.b.ins().store(flags, value, base, offset);
        } else {
            barrier::store_reference(self.e, flags, value, base, offset);
        }
    }
}
