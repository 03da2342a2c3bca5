//! The cells of by-reference parameters: what native code is given the address of.
//!
//! # Invariants
//! * A cell is made before a call and taken back once, after it. Meanwhile it is the callee's, which may replace the word.
//! * What was given is remembered beside it: memory that the callee has left is freed here, memory that it has put there is the program's, but for
//!   strings, which are the caller's.
//! * A SafeHandle whose handle is lent is held until the cell is taken back. The cell names the object by a GC handle, because the variable may get
//!   another one during the call. A handle that the callee has left stays that of the same object.
use super::{allocate, release, structs, values};
use crate::cx::{Cx, Result};
use crate::memory::handles::{self, HandleKind};
use crate::object::ObjRef;
use vervet_jit::stubs::native::marshal_plan::{Conversion, Direction};

/// What native code is given the address of, for a by-reference parameter.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    /// The native word, which the callee may replace.
    word: usize,
    given: Given,
}

/// What the cell held before the call.
#[derive(Clone, Copy, Default)]
struct Given {
    word: usize,
    /// Of an array, how many elements it had; of a SafeHandle, a GC handle for the object whose handle is lent.
    extra: usize,
}

/// Makes the cell for the variable at that address; what it holds is converted if the callee reads it.
///
/// # Safety
/// A reference lies at the address.
pub unsafe fn lend<'cx>(
    cx: &'cx Cx<'cx>,
    conversion: &Conversion,
    variable: *const usize,
    direction: Direction,
) -> Result<usize> {
    // SAFETY: as the caller says.
    let object = unsafe { ObjRef::from_addr(*variable) };
    let mut given = Given::default();
    if direction.input && !(object.is_null() && matches!(conversion, Conversion::Handle(_))) {
        given.word = values::to_native(cx, conversion, object, true)?;
        given.extra = match conversion {
            Conversion::Array { .. } if !object.is_null() => object.array_len(),
            Conversion::Handle(_) => {
                handles::alloc_or_throw(cx, object, HandleKind::Normal)? as usize
            }
            _ => 0,
        };
    }
    let cell = allocate(size_of::<Cell>()) as *mut Cell;
    // SAFETY: the block has room for a cell.
    unsafe {
        cell.write(Cell {
            word: given.word,
            given,
        });
    }
    Ok(cell as usize)
}

/// The word that is in a cell now.
///
/// # Safety
/// [`lend`] made the cell.
pub unsafe fn word(address: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe { (*(address as *const Cell)).word }
}

/// Whether the callee was lent a handle and has left it: then the variable keeps its object.
///
/// # Safety
/// [`lend`] made the cell.
pub unsafe fn is_left(conversion: &Conversion, address: usize) -> bool {
    // SAFETY: as the caller says.
    let cell = unsafe { &*(address as *const Cell) };
    matches!(conversion, Conversion::Handle(_))
        && cell.given.extra != 0
        && cell.word == cell.given.word
}

/// Frees what a by-reference parameter's cell holds after the call: strings and builders' texts always, as they are the caller's; other memory if
/// the callee left what it was given. A lent SafeHandle is given back.
///
/// # Safety
/// [`lend`] made the cell for a call that is over.
pub unsafe fn take_back<'cx>(
    cx: &'cx Cx<'cx>,
    conversion: &Conversion,
    address: usize,
) -> Result<()> {
    // SAFETY: as the caller says.
    let cell = unsafe { *(address as *const Cell) };
    // SAFETY: the call is over, so nobody has the address.
    unsafe { release(address as *mut u8) };
    let is_left = cell.word == cell.given.word && cell.word != 0;
    let memory = cell.word as *mut u8;
    // SAFETY: the memory is what [`lend`] or the callee allocated, as the caller says.
    unsafe {
        match conversion {
            Conversion::String(encoding) | Conversion::StringBuilder(encoding) => {
                super::strings::free(memory, *encoding);
            }
            Conversion::Custom(declared) => {
                super::custom::clean_up_native(cx, declared, cell.word)?;
            }
            Conversion::Class(layout) if is_left => {
                structs::free(layout, memory);
                release(memory);
            }
            Conversion::Array { element, .. } if is_left => {
                for i in 0..cell.given.extra {
                    structs::free_one(element, memory.add(i * element.size() as usize));
                }
                release(memory);
            }
            Conversion::Handle(_) if cell.given.extra != 0 => {
                let lent = cell.given.extra as u32;
                let object = handles::target(lent).unwrap_or(ObjRef::NULL);
                handles::free(lent);
                values::back(cx, conversion, object, cell.given.word, false)?;
            }
            _ => {}
        }
    }
    Ok(())
}
