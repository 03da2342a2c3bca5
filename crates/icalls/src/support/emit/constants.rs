//! Constants: the values of literal fields and of default arguments, as Constant rows have them (ECMA-335 II.22.9).
use crate::support::emit::error::{E, EmitError};
use crate::support::objects::is_known;
use vervet_abi::HEADER_SIZE;
use vervet_runtime::object::ObjRef;
use vervet_types::{Known, Prim};

const STRING: u8 = 0x0E;
const CLASS: u8 = 0x12;

/// The element type and the bytes of a boxed value; of null, a null reference.
///
/// # Errors
/// NotSupportedException: it is neither a string nor a primitive nor a DateTime.
pub fn of(value: ObjRef<'_>) -> E<(u8, Vec<u8>)> {
    let Some(value) = value.non_null() else {
        return Ok((CLASS, vec![0; 4]));
    };
    if value.is_string() {
        let units = value.units().iter();
        return Ok((STRING, units.flat_map(|u| u.to_le_bytes()).collect()));
    }
    let class = value.class();
    if is_known(class, Known::DateTime) {
        // Its ticks; the two upper bits say of which kind it is.
        let ticks = value.read::<u64>(HEADER_SIZE as usize) & (u64::MAX >> 2);
        return Ok((Prim::I8 as u8, ticks.to_le_bytes().to_vec()));
    }
    match class.stack_prim()? {
        Some(prim) if !matches!(prim, Prim::Void | Prim::IntPtr | Prim::UIntPtr) => {
            let word = |i: u32| value.read::<u8>((HEADER_SIZE + i) as usize);
            Ok((prim as u8, (0..prim.size()).map(word).collect()))
        }
        _ => {
            let text = format!("a constant of the type {class}");
            Err(EmitError::not_supported(&text))
        }
    }
}
