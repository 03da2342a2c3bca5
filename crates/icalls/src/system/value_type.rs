//! Native half of System.ValueType.
//!
//! # Invariants
//! * Fields are looked at one by one, so padding is never compared; what needs the field's own Equals or GetHashCode (references, floats, structs) is
//!   handed back to managed code as boxed values.
//! * What a class consists of is found once: ids of classes are not used again.
use crate::support::objects::load;
use vervet_os::{Chunks, Published};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, RefSlot, icalls};
use vervet_types::{FieldRef, Known, Prim};

/// A part of a value that is compared and hashed as a whole.
#[derive(Clone, Copy)]
struct Piece {
    /// Bytes from the start of the box.
    offset: u32,
    /// Of a number or pointer, which is looked at by its bits. 0: the field's own Equals and GetHashCode are called.
    size: u32,
    field: FieldRef,
}

/// What the values of a class consist of. By the class's id; it does not change.
static PIECES: Chunks<Published<Box<[Piece]>>> = Chunks::new();

/// The pieces of a boxed value.
fn pieces(cx: &Cx<'_>, object: ObjRef<'_>) -> Result<&'static [Piece]> {
    let class = object.class();
    let cell = PIECES.at(class.id);
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let mut found = Vec::new();
    for field in load(cx, || class.fields())?
        .iter()
        .filter(|f| !f.is_static())
    {
        found.push(Piece {
            offset: load(cx, || field.offset())? + vervet_abi::HEADER_SIZE,
            size: bits_size(cx, field)?.unwrap_or(0) as u32,
            field,
        });
    }
    Ok(cell.put(found.into()))
}
/// A field's value as an object.
fn boxed<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    field: FieldRef,
    offset: usize,
) -> Result<ObjRef<'cx>> {
    let ty = load(cx, || field.ty())?;
    if !load(cx, || ty.is_value_type())? && !ty.is_ptr() && !ty.is_fn_ptr() {
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
    let ty = load(cx, || field.ty())?;
    if ty.is_ptr() || ty.is_fn_ptr() {
        return Ok(Some(8));
    }
    Ok(match ty.prim {
        Some(Prim::R4 | Prim::R8 | Prim::Void) | None => None,
        Some(p) => Some(p.size() as usize),
    })
}
/// The bytes of a number or pointer, as a number.
fn bits(object: ObjRef<'_>, piece: Piece) -> u64 {
    let at = object.addr() + piece.offset as usize;
    // SAFETY: the field has `size` bytes at `offset`, perhaps not aligned.
    unsafe {
        match piece.size {
            1 => u64::from((at as *const u8).read()),
            2 => u64::from((at as *const u16).read_unaligned()),
            4 => u64::from((at as *const u32).read_unaligned()),
            _ => (at as *const u64).read_unaligned(),
        }
    }
}
/// The fields' values, of each of the objects in turn.
fn object_array<'cx>(
    cx: &'cx Cx<'cx>,
    objects: &[ObjRef<'cx>],
    source: &[Piece],
) -> Result<ObjRef<'cx>> {
    let n = objects.len();
    cx.alloc_ref_array(cx.known(Known::Object), source.len() * n, |i| {
        let piece = source[i / n];
        boxed(cx, objects[i % n], piece.field, piece.offset as usize)
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
        let mut rest = smallvec::SmallVec::<[Piece; 8]>::new();
        for piece in pieces(cx, o1)? {
            match piece.size {
                0 => rest.push(*piece),
                _ if bits(o1, *piece) != bits(o2, *piece) => return Ok(false),
                _ => {}
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
        let mut rest = smallvec::SmallVec::<[Piece; 8]>::new();
        for piece in pieces(cx, o)? {
            match piece.size {
                0 => rest.push(*piece),
                _ => {
                    let b = bits(o, *piece);
                    hash = hash.wrapping_mul(31) ^ (b as i32) ^ ((b >> 32) as i32);
                }
            }
        }
        if !rest.is_empty() {
            out.set(object_array(cx, &[o], &rest)?);
        }
        Ok(hash)
    }
}
