//! Native half of System.ValueType.
//!
//! Keeps nothing. Fields are looked at one by one, so padding is never compared; what needs the field's own
//! Equals or GetHashCode (references, floats, structs) is handed back to managed code as boxed values.
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, RefSlot, icalls};
use vervet_types::{FieldRef, Known, Prim};

/// The instance fields of a boxed value's class.
fn fields(cx: &Cx<'_>, object: ObjRef<'_>) -> Result<Vec<FieldRef>> {
    Ok(cx
        .load(object.class().fields())?
        .iter()
        .copied()
        .filter(|f| !f.is_static())
        .collect())
}
/// A field's value as an object.
fn boxed<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    field: FieldRef,
    offset: usize,
) -> Result<ObjRef<'cx>> {
    let ty = cx.load(field.ty())?;
    if !cx.load(ty.is_value_type())? && !ty.is_ptr() && !ty.is_fn_ptr() {
        return Ok(object.read_ref(offset));
    }
    let ty = if ty.is_ptr() || ty.is_fn_ptr() {
        cx.known(Known::IntPtr)
    } else {
        ty
    };
    // SAFETY: the field lies at that offset and has that type.
    unsafe { cx.box_value(ty, (object.addr() + offset) as *const u8) }
}
/// Size of a field that may be compared and hashed by its bits: integers and pointers.
fn bits_size(cx: &Cx<'_>, field: FieldRef) -> Result<Option<usize>> {
    let ty = cx.load(field.ty())?;
    if ty.is_ptr() || ty.is_fn_ptr() {
        return Ok(Some(8));
    }
    Ok(match ty.prim {
        Some(Prim::R4 | Prim::R8 | Prim::Void) | None => None,
        Some(p) => Some(p.size() as usize),
    })
}
fn bits(object: ObjRef<'_>, offset: usize, size: usize) -> u64 {
    let mut b = [0u8; 8];
    // SAFETY: the field has `size` bytes at `offset`.
    unsafe {
        std::ptr::copy_nonoverlapping((object.addr() + offset) as *const u8, b.as_mut_ptr(), size)
    };
    u64::from_ne_bytes(b)
}
/// The fields' values, of each of the objects in turn.
fn object_array<'cx>(
    cx: &'cx Cx<'cx>,
    objects: &[ObjRef<'cx>],
    source: &[(FieldRef, usize)],
) -> Result<ObjRef<'cx>> {
    let n = objects.len();
    cx.alloc_ref_array(cx.known(Known::Object), source.len() * n, |i| {
        let (field, offset) = source[i / n];
        boxed(cx, objects[i % n], field, offset)
    })
}

icalls! {
    /// The result if `fields` comes back null; otherwise `fields` holds the pairs that managed code compares.
    "System.ValueType::InternalEquals" fn internal_equals(cx, o1: ObjRef<'cx>, o2: ObjRef<'cx>, out: RefSlot<'cx>) -> bool {
        out.set(ObjRef::NULL);
        let (o1, o2) = (cx.non_null(o1)?, cx.non_null(o2)?);
        if !std::ptr::eq(o1.vtable(), o2.vtable()) {
            return Ok(false);
        }
        let mut rest = smallvec::SmallVec::<[(FieldRef, usize); 8]>::new();
        for f in fields(cx, o1)? {
            let offset = cx.load(f.offset())? as usize + vervet_abi::HEADER_SIZE as usize;
            match bits_size(cx, f)? {
                Some(size) if bits(o1, offset, size) != bits(o2, offset, size) => return Ok(false),
                Some(_) => {}
                None => rest.push((f, offset)),
            }
        }
        if rest.is_empty() {
            return Ok(true);
        }
        out.set(object_array(cx, &[o1, o2], &rest)?);
        Ok(false)
    }
    /// The hash of the fields that are hashed by their bits; the others come back in `fields`.
    "System.ValueType::InternalGetHashCode" fn internal_get_hash_code(cx, o: ObjRef<'cx>, out: RefSlot<'cx>) -> i32 {
        out.set(ObjRef::NULL);
        let o = cx.non_null(o)?;
        let mut hash = (o.class().id as i32).wrapping_mul(0x61C8_8647);
        let mut rest = smallvec::SmallVec::<[(FieldRef, usize); 8]>::new();
        for f in fields(cx, o)? {
            let offset = cx.load(f.offset())? as usize + vervet_abi::HEADER_SIZE as usize;
            match bits_size(cx, f)? {
                Some(size) => {
                    let b = bits(o, offset, size);
                    hash = hash.wrapping_mul(31) ^ (b as i32) ^ ((b >> 32) as i32);
                }
                None => rest.push((f, offset)),
            }
        }
        if !rest.is_empty() {
            out.set(object_array(cx, &[o], &rest)?);
        }
        Ok(hash)
    }
}
