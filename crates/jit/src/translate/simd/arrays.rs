//! Vectors that are made of arrays or elements, stored in arrays, and read lane by lane.
//!
//! # How it works
//! ```text
//! new Vector<T>(array, index)        array is not null and index + Count is no more than its length:
//!                                        load.i8x16 array + data + index * size
//! v.CopyTo(array, index)             the same, and store
//! v[index]                           extractlane if the index is a constant; else the bytes go to memory and the lane comes from there
//! ```
//! A body that would throw is called, and throws.
//!
//! # Invariants
//! A store goes to the elements of the array that was checked.
use super::expand::Argument;
use super::lanes::Lanes;
use crate::emit::trusted;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackValue, ValueFact};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::*};
use vervet_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use vervet_types::{ClassRef, MethodRef, Prim};

/// Are the parameters an array of the vector's elements, and perhaps an index?
fn takes_array(params: &[ClassRef], lanes: Lanes) -> bool {
    let [array, rest @ ..] = params else {
        return false;
    };
    let is_index = |p: &ClassRef| p.prim == Some(Prim::I4);
    array.is_sz_array()
        && array.element().is_some_and(|e| is_lane(e, lanes))
        && rest.len() <= 1
        && rest.iter().all(is_index)
}

/// Is the class that of the vector's elements?
fn is_lane(class: ClassRef, lanes: Lanes) -> bool {
    class.prim.and_then(Lanes::of) == Some(lanes)
}

impl Translator<'_, '_> {
    /// The constructors.
    pub(super) fn make_vector(&mut self, method: MethodRef, lanes: Lanes) -> Res<bool> {
        let params = &method.sig()?.params;
        // A value of the variable that is constructed may be on the stack.
        self.spill_aliased(params.len() + 1)?;
        if let [one] = params[..]
            && is_lane(one, lanes)
        {
            let lane = self.pop_lane(one, lanes.ty.lane_type())?;
            let at = self.pop_address()?;
            let value = self.e.b.ins().splat(lanes.ty, lane);
            let flags = self.null_checked(&at, 0, 16);
            self.e.b.ins().store(flags, value, at.value, 0);
            return Ok(true);
        }
        if !takes_array(params, lanes) {
            return Ok(false);
        }
        let (array, index) = self.pop_array_and_index(params.len())?;
        let at = self.pop_address()?;
        let zeros = self.zero_vector(I8X16);
        // Where the body throws, it has zeroed the vector before.
        let flags = self.null_checked(&at, 0, 16);
        self.e.b.ins().store(flags, zeros, at.value, 0);
        let mut args = vec![Argument::Vector(zeros), Argument::Scalar(array.value)];
        args.extend(index.map(Argument::Scalar));
        let check = |t: &mut Self, slow| t.has_lanes(&array, index, lanes, slow);
        let value = self.or_body(check, method, &args, |t| {
            let from = t.lanes_of_array(&array, index, lanes);
            let bytes = t.e.b.ins().load(I8X16, trusted(), from, ARRAY_DATA_OFFSET);
            Some(bytes)
        })?;
        let value = value.expect("a constructor gives the vector");
        self.e.b.ins().store(trusted(), value, at.value, 0);
        Ok(true)
    }
    /// `CopyTo`.
    pub(super) fn copy_vector(&mut self, method: MethodRef, lanes: Lanes) -> Res<bool> {
        let params = &method.sig()?.params;
        if !takes_array(params, lanes) {
            return Ok(false);
        }
        self.spill_aliased(params.len() + 1)?;
        let (array, index) = self.pop_array_and_index(params.len())?;
        let value = self.pop_this_simd(I8X16)?;
        let mut args = vec![Argument::Vector(value), Argument::Scalar(array.value)];
        args.extend(index.map(Argument::Scalar));
        let check = |t: &mut Self, slow| t.has_lanes(&array, index, lanes, slow);
        self.or_body(check, method, &args, |t| {
            let to = t.lanes_of_array(&array, index, lanes);
            (t.e.b.ins()).store(trusted(), value, to, ARRAY_DATA_OFFSET);
            None
        })?;
        Ok(true)
    }
    /// Pops an array and the index behind it, if there is one.
    fn pop_array_and_index(&mut self, params: usize) -> Res<(StackValue, Option<Value>)> {
        let index = match params {
            2 => Some(self.pop_i32()?),
            _ => None,
        };
        Ok((self.pop_ref()?, index))
    }
    /// Has the array all lanes from the index on? Null has none: goes to `slow` then.
    fn has_lanes(
        &mut self,
        array: &StackValue,
        index: Option<Value>,
        lanes: Lanes,
        slow: Block,
    ) -> Value {
        if !matches!(array.fact, ValueFact::NonNull | ValueFact::Exact) {
            let some = self.e.b.create_block();
            self.e.b.ins().brif(array.value, some, &[], slow, &[]);
            self.e.b.seal_block(some);
            self.e.b.switch_to_block(some);
        }
        let length = (self.e.b.ins()).uload32(trusted(), array.value, ARRAY_LENGTH_OFFSET);
        let count = i64::from(lanes.count());
        let end = match index {
            None => self.i64(count),
            Some(index) => {
                let wide = self.e.b.ins().uextend(I64, index);
                self.e.b.ins().iadd_imm_s(wide, count)
            }
        };
        // A negative index is a large number here.
        (self.e.b.ins()).icmp(IntCC::UnsignedLessThanOrEqual, end, length)
    }
    /// The address whose offset `ARRAY_DATA_OFFSET` is that of the element with the index.
    fn lanes_of_array(&mut self, array: &StackValue, index: Option<Value>, lanes: Lanes) -> Value {
        let Some(index) = index else {
            return array.value;
        };
        let wide = self.e.b.ins().uextend(I64, index);
        let shift = i64::from(lanes.size().trailing_zeros());
        let scaled = self.e.b.ins().ishl_imm_u(wide, shift);
        self.e.b.ins().iadd(array.value, scaled)
    }

    /// The indexer.
    pub(super) fn vector_item(&mut self, method: MethodRef, lanes: Lanes) -> Res<bool> {
        let element = method.sig()?.ret;
        let index = self.pop_i32()?;
        let value = self.pop_this_simd(lanes.ty)?;
        let count = i64::from(lanes.count());
        if let Some(known) = self.constant(index).filter(|n| (0..count).contains(n)) {
            let lane = self.e.b.ins().extractlane(value, known as u8);
            self.push_lane(element, lane, lanes)?;
            return Ok(true);
        }
        let check =
            |t: &mut Self, _| (t.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThan, index, count);
        let args = [Argument::Vector(value), Argument::Scalar(index)];
        let slot = self.temp(16);
        let result = self.or_body(check, method, &args, |t| {
            let at = t.e.slot_addr(slot);
            t.e.b.ins().store(trusted(), value, at, 0);
            let wide = t.e.b.ins().uextend(I64, index);
            let shift = i64::from(lanes.size().trailing_zeros());
            let scaled = t.e.b.ins().ishl_imm_u(wide, shift);
            let at = t.e.b.ins().iadd(at, scaled);
            let kind = crate::signature::scalar_kind(element);
            Some(crate::signature::load_scalar(
                &mut t.e.b,
                trusted(),
                kind,
                at,
                0,
            ))
        })?;
        let result = result.expect("an indexer gives an element");
        self.push_class(element, result)?;
        Ok(true)
    }
}
