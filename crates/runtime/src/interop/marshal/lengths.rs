//! How many elements an array has that native code passes or makes, as a program declares it (SizeConst, SizeParamIndex).
//!
//! # Invariants
//! The parameter that holds the length is read where the call has it: in the block of the call, at the place that the plan gives it. What is
//! there is never trusted to be of another type than declared, nor to be in range.
use crate::cx::{Cx, Result};
use vervet_abi::native_call::ReverseCall;
use vervet_jit::stubs::native::marshal_plan::{Conversion, plan};
use vervet_jit::stubs::native::sysv::NativeLocation;
use vervet_types::{Known, MethodRef, Prim};

/// The block that holds the arguments of a call, by its address.
#[derive(Clone, Copy)]
pub enum CallBlock {
    /// `NativeCall`: managed code calls native code.
    ToNative(usize),
    /// `ReverseCall`: native code calls managed code.
    Reverse(usize),
}

impl CallBlock {
    /// The address of the argument's word; None if it is no integer.
    ///
    /// # Safety
    /// It is the block of a call that has an argument there.
    unsafe fn word(self, place: NativeLocation) -> Option<*const u64> {
        // SAFETY: as the caller says.
        unsafe {
            match (self, place) {
                (_, NativeLocation::Sse(_)) => None,
                (CallBlock::ToNative(block), place) => {
                    Some((block + place.call_offset() as usize) as *const u64)
                }
                (CallBlock::Reverse(block), NativeLocation::Int(i)) => {
                    let block = block as *const ReverseCall;
                    Some((&raw const (*block).int_regs[i as usize]).cast())
                }
                (CallBlock::Reverse(block), NativeLocation::Stack(i)) => {
                    let stack = (*(block as *const ReverseCall)).stack as *const u64;
                    Some(stack.add(i as usize))
                }
            }
        }
    }
}

/// The value of an integer parameter, by value or by reference. None: it is no integer.
///
/// # Safety
/// The block is that of a call of `m`.
unsafe fn integer_argument<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    index: usize,
    block: CallBlock,
) -> Result<Option<i64>> {
    let (_, places, _) = cx.load(plan(m))?.places();
    // SAFETY: the block is that of a call of the method whose places these are.
    let word = |place: &NativeLocation| unsafe { block.word(*place) };
    let Some(at) = places.get(index).and_then(|p| p.first()).and_then(word) else {
        return Ok(None);
    };
    let class = cx.load(m.sig())?.params[index];
    let (class, at) = match class.element() {
        Some(of) if class.is_byref() => {
            // SAFETY: the word is an argument.
            let word = unsafe { *at };
            (of, word as *const u64)
        }
        _ => (class, at),
    };
    if at.is_null() {
        return Ok(Some(0));
    }
    // SAFETY: a number of that type lies there; of a register's or a stack's word it is the low bytes.
    Ok(unsafe {
        match cx.load(class.stack_prim())? {
            Some(Prim::I1) => Some(i64::from(*(at as *const i8))),
            Some(Prim::U1) => Some(i64::from(*(at as *const u8))),
            Some(Prim::I2) => Some(i64::from((at as *const i16).read_unaligned())),
            Some(Prim::U2 | Prim::Char) => Some(i64::from((at as *const u16).read_unaligned())),
            Some(Prim::I4) => Some(i64::from((at as *const i32).read_unaligned())),
            Some(Prim::U4) => Some(i64::from((at as *const u32).read_unaligned())),
            Some(Prim::I8 | Prim::U8 | Prim::IntPtr | Prim::UIntPtr) => {
                Some((at as *const i64).read_unaligned())
            }
            _ => None,
        }
    })
}

/// How many elements an array has that native code passes or makes: SizeConst and the parameter that SizeParamIndex names,
/// together; at least one of them is given. None: it is no array.
///
/// # Safety
/// The block is that of a call of `m`.
pub unsafe fn passed<'cx>(
    cx: &'cx Cx<'cx>,
    m: MethodRef,
    conversion: &Conversion,
    block: CallBlock,
) -> Result<Option<usize>> {
    let Conversion::Array {
        size_param,
        size_const,
        ..
    } = conversion
    else {
        return Ok(None);
    };
    let wrong = |text| cx.throw(Known::MarshalDirectiveException, text);
    let given = match size_param {
        None if size_const.unwrap_or(0) == 0 => {
            return Err(wrong(
                "Either SizeConst or SizeParamIndex should be specified when marshalling arrays to managed code.",
            ));
        }
        None => 0,
        Some(index) if *index as usize >= cx.load(m.sig())?.params.len() => {
            return Err(wrong("Array size control parameter index is out of range."));
        }
        // SAFETY: as the caller says.
        Some(index) => unsafe {
            integer_argument(cx, m, *index as usize, block)?
                .ok_or_else(|| wrong("The array size control parameter is no integer."))?
        },
    };
    // Vectors have fewer elements than that; a negative number is one of the same kind.
    match given.checked_add(i64::from(size_const.unwrap_or(0))) {
        Some(n @ 0..=0x7fff_ffff) => Ok(Some(n as usize)),
        _ => Err(cx.throw_default(Known::OverflowException)),
    }
}
