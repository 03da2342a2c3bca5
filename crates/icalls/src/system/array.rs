//! Native half of System.Array.
//!
//! Keeps nothing. Element indices that managed code has checked are flat, whatever the rank.
use crate::support::objects::load;
use crate::system::runtime_type::refuse_stack_only;
use vervet_abi::vtable::flags;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::memory::allocate;
use vervet_runtime::memory::copy;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::{ClassRef, Known, MAX_RANK, Prim};

/// The class of the array's elements.
fn element_class(array: ObjRef<'_>) -> ClassRef {
    array
        .class()
        .element()
        .expect("an array has an element type")
}
/// Do the elements consist of or contain references?
fn has_ref_elements(array: ObjRef<'_>) -> bool {
    array.vtable().flags & flags::ELEMENT_REFS != 0
}
/// The address of an element, given its flat index. The caller holds the reference, which pins the array.
fn element_address(array: ObjRef<'_>, pos: usize) -> *mut u8 {
    debug_assert!(pos < array.array_len());
    // SAFETY: `pos` is an element of the array.
    unsafe { array.array_data().add(pos * array.vtable().size as usize) }
}
/// Are the elements references themselves?
fn is_reference_element(cx: &Cx<'_>, element: ClassRef) -> Result<bool> {
    Ok(!load(cx, || element.is_value_type())? && !element.is_ptr() && !element.is_fn_ptr())
}
fn index_out_of_range(cx: &Cx<'_>) -> vervet_runtime::Throw {
    cx.throw_default(Known::IndexOutOfRangeException)
}

/// Element `pos`, boxed.
pub fn get_value<'cx>(cx: &'cx Cx<'cx>, array: ObjRef<'cx>, pos: usize) -> Result<ObjRef<'cx>> {
    let element = element_class(array);
    if element.is_ptr() || element.is_fn_ptr() {
        return Err(crate::support::fields::not_supported(
            cx,
            "Type is not supported",
        ));
    }
    if is_reference_element(cx, element)? {
        return Ok(array.element_ref(pos));
    }
    // SAFETY: the address is that of an element of this class.
    unsafe { cx.box_value(element, element_address(array, pos)) }
}

#[derive(Clone, Copy)]
enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// The number in memory of that kind; None for bool and native ints, which do not convert.
///
/// # Safety
/// `at` points to a value of that kind.
unsafe fn read_number(kind: Prim, at: *const u8) -> Option<Number> {
    use Number::*;
    // SAFETY: the caller promises a value of the given kind at the address.
    unsafe {
        Some(match kind {
            Prim::U1 => Unsigned(*at as u64),
            Prim::U2 | Prim::Char => Unsigned((at as *const u16).read_unaligned() as u64),
            Prim::U4 => Unsigned((at as *const u32).read_unaligned() as u64),
            Prim::U8 => Unsigned((at as *const u64).read_unaligned()),
            Prim::I1 => Signed(*at as i8 as i64),
            Prim::I2 => Signed((at as *const i16).read_unaligned() as i64),
            Prim::I4 => Signed((at as *const i32).read_unaligned() as i64),
            Prim::I8 => Signed((at as *const i64).read_unaligned()),
            Prim::R4 => Float((at as *const f32).read_unaligned() as f64),
            Prim::R8 => Float((at as *const f64).read_unaligned()),
            _ => return None,
        })
    }
}

/// Stores a number of kind `from` into memory of kind `to` if that is a widening conversion.
///
/// # Safety
/// `at` points to writable memory of kind `to`, `source` to a value of kind `from`.
unsafe fn widen(from: Prim, source: *const u8, to: Prim, at: *mut u8) -> bool {
    let (from_size, to_size) = (from.size(), to.size());
    // SAFETY: the caller promises a value of the given kind at the address.
    let Some(value) = (unsafe { read_number(from, source) }) else {
        return false;
    };
    // Integers fit into any float, as mono has it; a signed target must be wider than an unsigned source.
    let bits = match (value, to) {
        (Number::Unsigned(v), Prim::U1 | Prim::U2 | Prim::U4 | Prim::U8 | Prim::Char)
            if to_size >= from_size =>
        {
            v
        }
        (Number::Unsigned(v), Prim::I1 | Prim::I2 | Prim::I4 | Prim::I8) if to_size > from_size => {
            v
        }
        (Number::Signed(v), Prim::I1 | Prim::I2 | Prim::I4 | Prim::I8) if to_size >= from_size => {
            v as u64
        }
        (Number::Unsigned(v), Prim::R4) => (v as f32).to_bits() as u64,
        (Number::Unsigned(v), Prim::R8) => (v as f64).to_bits(),
        (Number::Signed(v), Prim::R4) => (v as f32).to_bits() as u64,
        (Number::Signed(v), Prim::R8) => (v as f64).to_bits(),
        (Number::Float(v), Prim::R4) if from == Prim::R4 => (v as f32).to_bits() as u64,
        (Number::Float(v), Prim::R8) => v.to_bits(),
        _ => return false,
    };
    // SAFETY: the low bytes of `bits` are the value, little end first.
    unsafe { std::ptr::copy_nonoverlapping(bits.to_ne_bytes().as_ptr(), at, to_size as usize) };
    true
}

/// Stores into element `pos`, unboxing and widening.
pub fn set_value<'cx>(
    cx: &'cx Cx<'cx>,
    array: ObjRef<'cx>,
    value: ObjRef<'cx>,
    pos: usize,
) -> Result<()> {
    let element = element_class(array);
    if element.is_ptr() || element.is_fn_ptr() {
        return Err(crate::support::fields::not_supported(
            cx,
            "Type is not supported",
        ));
    }
    let (at, size, refs) = (
        element_address(array, pos),
        array.vtable().size as usize,
        has_ref_elements(array),
    );
    if is_reference_element(cx, element)? {
        if !value.is_null() && !load(cx, || cx.universe().is_assignable(value.class(), element))? {
            return Err(cx.throw(Known::InvalidCastException, ""));
        }
        array.set_element_ref(pos, value);
        return Ok(());
    }
    if value.is_null() {
        // SAFETY: the element has `size` bytes; zero is null for its references.
        unsafe { copy::clear_value(at, size, refs) };
        return Ok(());
    }
    if let Some(inner) = element.nullable_arg() {
        let class = value.class();
        let inner_size = load(cx, || inner.layout())?.size as usize;
        let mut taken = inner_size;
        if !std::ptr::eq(inner, class) {
            // Mono takes the bytes of a number or enum of another type as they are.
            let kinds = (
                load(cx, || inner.stack_prim())?,
                load(cx, || class.stack_prim())?,
            );
            if !matches!(kinds, (Some(_), Some(_))) || !load(cx, || class.is_value_type())? {
                return Err(cx.throw(Known::InvalidCastException, ""));
            }
            taken = taken.min(load(cx, || class.layout())?.size as usize);
        }
        let (has, inner_at) = vervet_runtime::classes::nullable::nullable_offsets(cx, element)?;
        // SAFETY: the element is a Nullable of that layout, the box holds its argument, or a number or enum of no fewer bytes than are taken.
        unsafe {
            *at.add(has as usize) = 1;
            let to = at.add(inner_at as usize);
            if taken < inner_size {
                std::ptr::write_bytes(to, 0, inner_size);
            }
            copy::copy_value(to, value.value_ptr(), taken, refs);
        }
        return Ok(());
    }
    let class = value.class();
    if std::ptr::eq(class, element) {
        // SAFETY: the box holds a value of the element's class.
        unsafe { copy::copy_value(at, value.value_ptr(), size, refs) };
        return Ok(());
    }
    let (Some(to), true) = (
        load(cx, || element.stack_prim())?,
        load(cx, || class.is_value_type())?,
    ) else {
        return Err(cx.throw(Known::InvalidCastException, ""));
    };
    let Some(from) = load(cx, || class.stack_prim())? else {
        return Err(cx.throw(Known::InvalidCastException, ""));
    };
    if matches!(from, Prim::IntPtr | Prim::UIntPtr) || matches!(to, Prim::IntPtr | Prim::UIntPtr) {
        return Err(cx.throw(Known::InvalidCastException, ""));
    }
    if to == Prim::Bool && from != to && load(cx, || class.is_enum())? {
        return Err(cx.throw(Known::InvalidCastException, ""));
    }
    // An enum may be stored as its underlying kind and the other way round.
    if from == to && (load(cx, || class.is_enum())? || load(cx, || element.is_enum())?) {
        // SAFETY: both sides have the same kind.
        unsafe { std::ptr::copy_nonoverlapping(value.value_ptr(), at, size) };
        return Ok(());
    }
    // SAFETY: both are of the kinds just determined.
    if unsafe { widen(from, value.value_ptr(), to, at) } {
        return Ok(());
    }
    Err(cx.throw2(
        Known::ArgumentException,
        "not a widening conversion",
        "value",
    ))
}

/// The flat index for an array of indices.
fn flat_index<'cx>(cx: &'cx Cx<'cx>, array: ObjRef<'cx>, indices: ObjRef<'cx>) -> Result<usize> {
    if indices.is_null() {
        return Err(cx.throw_arg_null("indices"));
    }
    let rank = array.vtable().rank as usize;
    if indices.array_len() != rank {
        return Err(cx.throw_default(Known::ArgumentException));
    }
    let mut flat = 0usize;
    for (dim, index) in indices.elements::<i32>().iter().enumerate() {
        let (len, lower) = array.array_bounds(dim);
        let at = *index as i64 - lower as i64;
        if at < 0 || at >= len as i64 {
            return Err(index_out_of_range(cx));
        }
        flat = flat * len as usize + at as usize;
    }
    Ok(flat)
}

/// The length and the lower bound of a dimension. A dimension that does not exist is an IndexOutOfRangeException.
fn bounds_of<'cx>(cx: &'cx Cx<'cx>, array: ObjRef<'cx>, dimension: i32) -> Result<(u32, i32)> {
    if dimension < 0 || dimension >= array.vtable().rank as i32 {
        return Err(index_out_of_range(cx));
    }
    Ok(array.array_bounds(dimension as usize))
}

/// May elements of `from` be copied to `to` without looking at each?
fn copies_as_is(cx: &Cx<'_>, from: ClassRef, to: ClassRef) -> Result<bool> {
    if std::ptr::eq(from, to) {
        return Ok(true);
    }
    if !is_reference_element(cx, from)? || !is_reference_element(cx, to)? {
        return Ok(false);
    }
    load(cx, || cx.universe().is_assignable(from, to))
}

icalls! {
    /// The number of dimensions.
    "System.Array::GetRank" fn get_rank(cx, this: ObjRef<'cx>) -> i32 { Ok(cx.non_null(this)?.vtable().rank as i32) }
    /// The number of elements along one dimension. A dimension that does not exist is an IndexOutOfRangeException.
    "System.Array::GetLength" fn get_length(cx, this: ObjRef<'cx>, dimension: i32) -> i32 {
        Ok(bounds_of(cx, cx.non_null(this)?, dimension)?.0 as i32)
    }
    /// The first index of one dimension.
    "System.Array::GetLowerBound" fn get_lower_bound(cx, this: ObjRef<'cx>, dimension: i32) -> i32 {
        Ok(bounds_of(cx, cx.non_null(this)?, dimension)?.1)
    }
    /// Raw read; the index was checked.
    "System.Array::GetGenericValueImpl" fn get_generic_value_impl(cx, this: ObjRef<'cx>, pos: i32, value: *mut u8) {
        let this = cx.non_null(this)?;
        if pos < 0 || pos as usize >= this.array_len() {
            return Err(index_out_of_range(cx));
        }
        // SAFETY: `value` is a slot of the element's type.
        unsafe { copy::copy_value(value, element_address(this, pos as usize), this.vtable().size as usize, has_ref_elements(this)) };
        Ok(())
    }
    /// Raw store; the index was checked.
    "System.Array::SetGenericValueImpl" fn set_generic_value_impl(cx, this: ObjRef<'cx>, pos: i32, value: *mut u8) {
        let this = cx.non_null(this)?;
        if pos < 0 || pos as usize >= this.array_len() {
            return Err(index_out_of_range(cx));
        }
        // SAFETY: `value` is a slot of the element's type.
        unsafe { copy::copy_value(element_address(this, pos as usize), value, this.vtable().size as usize, has_ref_elements(this)) };
        Ok(())
    }
    /// The element at one index per dimension, boxed. Throws if the number of indices is not the rank.
    "System.Array::GetValue" fn get_value_indices(cx, this: ObjRef<'cx>, indices: ObjRef<'cx>) -> ObjRef<'cx> {
        let this = cx.non_null(this)?;
        let at = flat_index(cx, this, indices)?;
        get_value(cx, this, at)
    }
    /// Stores an element at one index per dimension, with the widening conversions that managed code allows.
    "System.Array::SetValue" fn set_value_indices(cx, this: ObjRef<'cx>, value: ObjRef<'cx>, indices: ObjRef<'cx>) {
        let this = cx.non_null(this)?;
        let at = flat_index(cx, this, indices)?;
        set_value(cx, this, value, at)
    }
    /// The element at a flat index, boxed.
    "System.Array::GetValueImpl" fn get_value_impl(cx, this: ObjRef<'cx>, pos: i32) -> ObjRef<'cx> {
        let this = cx.non_null(this)?;
        if pos < 0 || pos as usize >= this.array_len() {
            return Err(index_out_of_range(cx));
        }
        get_value(cx, this, pos as usize)
    }
    /// Stores an element at a flat index.
    "System.Array::SetValueImpl" fn set_value_impl(cx, this: ObjRef<'cx>, value: ObjRef<'cx>, pos: i32) {
        let this = cx.non_null(this)?;
        if pos < 0 || pos as usize >= this.array_len() {
            return Err(index_out_of_range(cx));
        }
        set_value(cx, this, value, pos as usize)
    }
    /// False sends managed code to its slow path.
    "System.Array::FastCopy" fn fast_copy(cx, source: ObjRef<'cx>, source_idx: i32, dest: ObjRef<'cx>, dest_idx: i32, length: i32) -> bool {
        let (source, dest) = (cx.non_null(source)?, cx.non_null(dest)?);
        let plain = |a: ObjRef<'_>| a.vtable().flags & flags::SZ_ARRAY != 0;
        if !plain(source) || !plain(dest) || source_idx < 0 || dest_idx < 0 || length < 0 {
            return Ok(false);
        }
        let (from, to, n) = (source_idx as usize, dest_idx as usize, length as usize);
        if from + n > source.array_len() || to + n > dest.array_len() {
            return Ok(false);
        }
        if source.vtable().element_class != dest.vtable().element_class && !copies_as_is(cx, element_class(source), element_class(dest))? {
            return Ok(false);
        }
        let size = dest.vtable().size as usize;
        // SAFETY: both ranges were checked; the elements have the same representation.
        unsafe {
            copy::move_bytes(cx, dest.array_data().add(to * size), source.array_data().add(from * size), n * size, has_ref_elements(dest));
        }
        Ok(true)
    }
    /// An array of the lengths given, with lower bounds unless `bounds` is null.
    "System.Array::CreateInstanceImpl" fn create_instance_impl(cx, element_type: ObjRef<'cx>, lengths: ObjRef<'cx>, bounds: ObjRef<'cx>) -> ObjRef<'cx> {
        // Mono takes a by-ref type for what it refers to.
        let element = cx.class_of(element_type)?;
        let element = element.element().filter(|_| element.is_byref()).unwrap_or(element);
        let what = if element.is_open || element.is_generic_def() {
            Some("Array type can not be an open generic type")
        } else if element.prim == Some(Prim::Void) {
            Some("Array type can not be void")
        } else {
            None
        };
        if let Some(message) = what {
            return Err(crate::support::fields::not_supported(cx, message));
        }
        if std::ptr::eq(element, cx.known(Known::TypedReference)) {
            return Err(cx.throw(Known::InvalidProgramException, "Arrays of System.TypedReference types are invalid."));
        }
        refuse_stack_only(cx, element)?;
        load(cx, || element.check_asked())?;
        let lengths = cx.non_null(lengths)?;
        let rank = lengths.array_len();
        if rank == 0 {
            // A check in mono's C code.
            let text = "assertion `mono_array_handle_length (lengths) > 0' failed";
            return Err(cx.throw2(Known::ArgumentException, text, "lengths"));
        }
        if !bounds.is_null() && bounds.array_len() != rank {
            return Err(cx.throw_default(Known::ArgumentException));
        }
        if rank > MAX_RANK as usize {
            let shown = if rank <= 255 { format!("{}[{}] has too many dimensions.", element.full_name(), ",".repeat(rank - 1)) } else { "An array has too many dimensions.".to_owned() };
            return Err(cx.throw(Known::TypeLoadException, &shown));
        }
        if lengths.elements::<i32>().iter().any(|n| *n < 0) {
            return Err(cx.throw2(Known::ArgumentOutOfRangeException, "", "MonoArgumentException:NULL"));
        }
        let element = cx.load(element.nested())?;
        let dims: Vec<(i64, i32)> = (0..lengths.array_len())
            .map(|i| (lengths.elements::<i32>()[i] as i64, if bounds.is_null() { 0 } else { bounds.elements::<i32>()[i] }))
            .collect();
        let u = cx.universe();
        if dims.len() == 1 && dims[0].1 == 0 {
            let vt = cx.rt().vtable_or_throw(cx, u.sz_array(element))?;
            return allocate::alloc_array(cx, vt, dims[0].0);
        }
        let vt = cx.rt().vtable_or_throw(cx, u.array(element, dims.len() as u32))?;
        allocate::alloc_md_array(cx, vt, &dims)
    }
    /// Clears a range of elements given by flat indices.
    "System.Array::ClearInternal" fn clear_internal(cx, array: ObjRef<'cx>, index: i32, count: i32) {
        let array = cx.non_null(array)?;
        let (at, n) = (index as usize, count as usize);
        if index < 0 || count < 0 || at + n > array.array_len() {
            return Err(index_out_of_range(cx));
        }
        let size = array.vtable().size as usize;
        // SAFETY: the range was checked; zero is null for references, and null needs no card.
        unsafe { copy::clear_bytes(cx, array.array_data().add(at * size), n * size, has_ref_elements(array)) };
        Ok(())
    }
}
