//! Get, Set and Address of arrays with bounds, and of vectors, whose accessors reflection can name.
//!
//! # How it works
//! An array of several dimensions has one record (length, lower bound; 4 bytes each) per dimension
//! behind its header, and then the elements in row-major order:
//!
//! ```text
//! index0 = i - lower0;  check index0 < length0 (unsigned)
//! index1 = j - lower1;  check index1 < length1
//! flat   = index0 * length1 + index1
//! at     = array + uextend(flat) * size       ; the offset of the data belongs to the access
//! ```
//!
//! # Invariants
//! * The first load reads the array's length or first bound; it is the null check.
//! * The flat index is below the number of elements, which fits in 32 bits, so 32-bit arithmetic is
//!   exact. It is zero-extended before it meets the reference, so no address outside the array is
//!   formed.
use crate::blob::{Blob, Symbol};
use crate::emit::sequences::{EmitExt, build};
use crate::emit::{Codegen, Emitter, Results, null_trap, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass, load_passed};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use smallvec::smallvec;
use vervet_abi::{ThrowKind, call, object, vtable};
use vervet_types::method::MethodKind;
use vervet_types::{ClassRef, LoadError, MethodRef};

/// The body of an accessor.
pub fn accessor(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    build(
        codegen,
        Tier::Optimised,
        &method.full_name(),
        lowered.clif.clone(),
        |e, args| {
            let results = emit_accessor(e, method, &lowered, args)?;
            e.b.ins().return_(&results);
            Ok(())
        },
    )
}

/// Emits what a call of an accessor does. `args` and the results are those of the call.
pub fn emit_accessor(
    e: &mut Emitter,
    method: MethodRef,
    lowered: &LoweredSignature,
    args: &[Value],
) -> Result<Results, CompileError> {
    let class = method.class;
    let Some(element) = class.element() else {
        let reason = "the class is no array".to_owned();
        return Err(CompileError::Invalid {
            method: method.full_name(),
            offset: 0,
            reason,
        });
    };
    let pass = Pass::of(element)?;
    let references = element.is_reference_type()?;
    let (array, rank) = (args[0], class.rank().unwrap_or(1) as usize);
    let indices: Vec<Value> = (0..rank).map(|i| lowered.values_of(args, i)[0]).collect();
    let (base, offset) = element_address(e, class, element_size(element)?, array, &indices);
    Ok(match method.kind {
        MethodKind::ArrayGet => match lowered.ret_buffer_index() {
            Some(buffer) => {
                let from = e.b.ins().iadd_imm_s(base, i64::from(offset));
                e.copy_value(element, args[buffer], from, false);
                Results::new()
            }
            None => load_passed(&mut e.b, trusted(), base, offset, &pass, element),
        },
        MethodKind::ArraySet => {
            let values = lowered.values_of(args, rank);
            if references {
                check_store(e, array, values[0]);
            }
            e.store_value(trusted(), values, base, offset, &pass, element);
            Results::new()
        }
        _ => {
            if references {
                check_exact(e, array, element);
            }
            smallvec![e.b.ins().iadd_imm_s(base, i64::from(offset))]
        }
    })
}

/// Bytes of an element.
pub fn element_size(element: ClassRef) -> Result<u32, LoadError> {
    if !element.is_value_type()? {
        return Ok(8);
    }
    match element.stack_prim()? {
        Some(prim) => Ok(prim.size()),
        None => Ok(element.layout()?.size),
    }
}

/// Checks the indices (i32 each) of an array of static class `class`, and returns the element's
/// address as base and offset. Null and indices out of range throw.
pub fn element_address(
    e: &mut Emitter,
    class: ClassRef,
    size: u32,
    array: Value,
    indices: &[Value],
) -> (Value, i32) {
    let vector = class.is_sz_array();
    if e.has_handlers() {
        e.throw_unless(array, ThrowKind::NullReference);
    }
    let mut flat = None;
    for (i, index) in indices.iter().enumerate() {
        let b = &mut e.b;
        let (length, index) = if vector {
            (
                b.ins()
                    .load(I32, null_trap(), array, object::ARRAY_LENGTH_OFFSET),
                *index,
            )
        } else {
            let at = object::ARRAY_BOUNDS_OFFSET + (i as u32 * object::BOUND_SIZE) as i32;
            let flags = if i == 0 { null_trap() } else { trusted() };
            let length = b.ins().load(I32, flags, array, at);
            let lower = b.ins().load(I32, trusted(), array, at + 4);
            (length, b.ins().isub(*index, lower))
        };
        let outside = b
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
        e.throw_if(outside, ThrowKind::IndexOutOfRange);
        let b = &mut e.b;
        flat = Some(match flat {
            None => index,
            Some(flat) => {
                let row = b.ins().imul(flat, length);
                b.ins().iadd(row, index)
            }
        });
    }
    let b = &mut e.b;
    let flat = flat.expect("an array has a dimension");
    let flat = b.ins().uextend(I64, flat);
    let bytes = b.ins().imul_imm_s(flat, i64::from(size));
    let offset = if vector {
        object::ARRAY_DATA_OFFSET
    } else {
        object::md_array_data_offset(indices.len() as u32)
    };
    (b.ins().iadd(array, bytes), offset)
}

/// Loads the element class of an array.
fn element_class(e: &mut Emitter, array: Value) -> Value {
    let b = &mut e.b;
    let vtable = b.ins().load(I32, trusted(), array, object::VTABLE_OFFSET);
    let vtable = b.ins().uextend(I64, vtable);
    b.ins()
        .load(I64, trusted(), vtable, vtable::ELEMENT_CLASS_OFFSET)
}

/// Throws ArrayTypeMismatchException unless `value` may be stored. Null and an exact match are
/// decided here, the rest by the helper.
fn check_store(e: &mut Emitter, array: Value, value: Value) {
    let b = &mut e.b;
    let (test, slow, done) = (b.create_block(), b.create_block(), b.create_block());
    b.set_cold_block(slow);
    b.ins().brif(value, test, &[], done, &[]);
    b.seal_block(test);
    b.switch_to_block(test);
    let vtable = b.ins().load(I32, trusted(), value, object::VTABLE_OFFSET);
    let vtable = b.ins().uextend(I64, vtable);
    let class = b.ins().load(I64, trusted(), vtable, vtable::CLASS_OFFSET);
    let wanted = element_class(e, array);
    let b = &mut e.b;
    let same = b.ins().icmp(IntCC::Equal, class, wanted);
    b.ins().brif(same, done, &[], slow, &[]);
    b.seal_block(slow);
    b.switch_to_block(slow);
    e.helper(call::CheckArrayStore, [array, value]);
    let b = &mut e.b;
    b.ins().jump(done, &[]);
    b.seal_block(done);
    b.switch_to_block(done);
}

/// Throws ArrayTypeMismatchException unless the array's element type is exactly `element`, because
/// the address that is taken can be used for a store.
fn check_exact(e: &mut Emitter, array: Value, element: ClassRef) {
    let handle = e.symbol(Symbol::ClassHandle(element));
    let found = element_class(e, array);
    let b = &mut e.b;
    let (slow, done) = (b.create_block(), b.create_block());
    b.set_cold_block(slow);
    let same = b.ins().icmp(IntCC::Equal, found, handle);
    b.ins().brif(same, done, &[], slow, &[]);
    b.seal_block(slow);
    b.switch_to_block(slow);
    e.helper(call::CheckLdelema, [array, handle]);
    let b = &mut e.b;
    b.ins().jump(done, &[]);
    b.seal_block(done);
    b.switch_to_block(done);
}
