//! Native half of `System.ArgIterator`: walking a block of variable arguments.
//!
//! # Invariants
//! A block (made by the compiler at the call site) is the call site's signature, then each argument, 8-aligned. An
//! iterator is `{sig, args, next_arg, num_args}`; `args` points to the next argument.
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::Result;
use vervet_runtime::{Cx, icalls};
use vervet_types::{Class, ClassRef, Known, MethodSig};

/// The iterator as managed code lays it out.
#[repr(C)]
pub struct ArgIterator {
    sig: *const MethodSig,
    args: *mut u8,
    next_arg: i32,
    num_args: i32,
}
/// System.TypedReference.
#[repr(C)]
pub struct TypedReference {
    ty: usize,
    value: *mut u8,
    class: usize,
}

/// The class of the next argument, and the bytes it takes.
fn next<'cx>(cx: &'cx Cx<'cx>, it: &ArgIterator) -> Result<(ClassRef, usize)> {
    // SAFETY: `Setup` stored the address of a signature, which lives for ever; else it is null.
    let sig = unsafe { it.sig.as_ref() };
    // An iterator that no `Setup` filled, or one at its end.
    let position = sig.and_then(|s| {
        let first = s
            .params
            .len()
            .checked_sub(usize::try_from(it.num_args).ok()?)?;
        s.params
            .get(first.checked_add(usize::try_from(it.next_arg).ok()?)?)
    });
    let Some(&class) = position else {
        return Err(cx.throw_default(Known::InvalidOperationException));
    };
    let is_value = cx.load(class.is_value_type())?;
    let size = if is_value {
        cx.load(class.layout())?.size as usize
    } else {
        8
    };
    Ok((class, size.next_multiple_of(8)))
}

/// Stores the next argument as a typed reference to its slot in the block, and advances the iterator.
fn take<'cx>(cx: &'cx Cx<'cx>, it: *mut ArgIterator, result: *mut TypedReference) -> Result<()> {
    // SAFETY: managed code passes the address of its iterator and of a typed reference on its stack.
    unsafe {
        let it = &mut *it;
        let (class, size) = next(cx, it)?;
        let class = class as *const _ as usize;
        *result = TypedReference {
            ty: class,
            value: it.args,
            class,
        };
        it.args = it.args.add(size);
        it.next_arg += 1;
    }
    Ok(())
}

icalls! {
    /// Points the iterator at the first variable argument of a block that the JIT laid out at the call site.
    "System.ArgIterator::Setup" fn setup(cx, this: *mut ArgIterator, block: *mut usize, start: usize) -> () {
        if block.is_null() {
            return Err(cx.throw_default(Known::ArgumentException));
        }
        // SAFETY: `block` is what `arglist` gave; managed code passes the address of its iterator.
        unsafe {
            let sig = *block as *const MethodSig;
            let params = &(*sig).params;
            let num_args = params.len() - (*sig).sentinel.unwrap_or(params.len());
            *this = ArgIterator { sig, args: block.add(1).cast(), next_arg: 0, num_args: num_args as i32 };
        }
        Ok(())
    }
    /// The next argument as a typed reference to its slot in the block. The iterator advances.
    "System.ArgIterator::IntGetNextArg" fn int_get_next_arg(cx, this: *mut ArgIterator, result: *mut TypedReference) -> () {
        take(cx, this, result)
    }
    /// The type is the caller's to know: the argument is taken as it is.
    "System.ArgIterator::IntGetNextArgWithType" fn int_get_next_arg_with_type(cx, this: *mut ArgIterator, result: *mut TypedReference, ty: Handle<Class>) -> () {
        take(cx, this, result)?;
        let class = cx.class_of_handle(ty)? as *const _ as usize;
        // SAFETY: managed code passes the addresses of its own iterator and result, which live on its stack.
        unsafe { ((*result).ty, (*result).class) = (class, class) };
        Ok(())
    }
    /// The type handle of the next argument. The iterator does not advance.
    "System.ArgIterator::IntGetNextArgType" fn int_get_next_arg_type(cx, this: *mut ArgIterator) -> usize {
        // SAFETY: managed code passes the addresses of its own iterator and result, which live on its stack.
        Ok(next(cx, unsafe { &*this })?.0 as *const _ as usize)
    }
}
