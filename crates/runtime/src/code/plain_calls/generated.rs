//! Plain calls that generated code makes: the part of `InternalInvoke` that needs no Rust frame.
//!
//! # How it works
//! The stub of `InternalInvoke` (`stubs/reflection.rs` in `vervet-jit`) asks [`target`] for each call. What the first call of a method, made by Rust code, has found
//! is [`offer`]ed to the calls that follow; they are made if the target object has exactly the class that the first one had. A method that waits holds no Rust frame then, so a green
//! thread in it holds no carrier.
//!
//! | word of the block | what |
//! |---|---|
//! | first six | `this` if the method has one, then the arguments; those behind are stale |
//! | [`PLAIN_RESULT`] | what the result becomes: see [`plain_result`] |
//! | [`PLAIN_NEW`] | the VTable of the object that a constructor is called on, otherwise 0 |
//!
//! # Invariants
//! * [`target`] is a leaf: it takes no lock and no memory.
//! * Each argument is read once, so what was looked at is what is passed, whoever writes to the array meanwhile.
//! * The block lies in a frame of managed code, where the collector finds the references in it.
//! * Where there are several domains, Rust code makes the call: one that crosses into another domain may have to end an abort.
use super::{METHODS, Target, Words, fill};
use crate::cx::{Cx, Result};
use crate::domain;
use crate::object::ObjRef;
use crate::remoting;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use vervet_abi::{PLAIN_CALL_WORDS, PLAIN_NEW, PLAIN_RESULT, VTable, plain_result};
use vervet_os::Published;
use vervet_types::{ClassRef, Known, MethodRef, Prim};

/// What generated code needs for the calls of a method on objects of one class.
pub(super) struct Offer {
    /// The exact class of the target objects. None: the method is static, or a constructor.
    receiver: Option<ClassRef>,
    words: &'static Words,
    result: usize,
    /// The VTable of the objects that a constructor is called on; null if the method is none.
    made: AtomicPtr<VTable>,
}

/// Code of the internal calls that make every call: of methods, and of constructors.
static SLOW: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Takes the code of the internal call, which makes the calls that generated code does not.
pub fn take_slow(method: MethodRef, code: usize) {
    let class = method.class;
    let constructors = class.universe().known(Known::RuntimeConstructorInfo);
    SLOW[usize::from(ptr::eq(class, constructors))].store(code, Ordering::Release);
}

/// Lets generated code make the calls of `method` that reach the method of `words` on objects of that class, unless it makes those on another class. Such a call has been made.
///
/// # Errors
/// There is no memory for a VTable.
pub fn offer<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    receiver: Option<ClassRef>,
    words: &'static Words,
) -> Result<()> {
    let Some(Some(plain)) = METHODS.get(method.id).and_then(Published::get) else {
        return Ok(());
    };
    if plain.offer.get().is_some() || domain::are_several() {
        return Ok(());
    }
    let made = match plain.target {
        Target::Null => Some(cx.rt().vtable_or_throw(cx, method.class)?),
        _ => None,
    };
    let class = words.result;
    let result = match class.prim {
        _ if made.is_some() => plain_result::MADE,
        Some(Prim::Void) => plain_result::NOTHING,
        _ if !cx.load(class.is_value_type())? => plain_result::REFERENCE,
        _ => ptr::from_ref(cx.rt().vtable_or_throw(cx, class)?) as usize,
    };
    plain.offer.put(Offer {
        receiver,
        words,
        result,
        made: AtomicPtr::new(
            made.map_or(ptr::null_mut(), |vtable| ptr::from_ref(vtable).cast_mut()),
        ),
    });
    Ok(())
}

/// The code that a call through reflection of the method, whose MethodBase `info` is, reaches, with the block filled; or 0, with the code in the first word that makes the call whatever it needs.
pub fn target(
    method: Option<MethodRef>,
    info: ObjRef<'_>,
    object: ObjRef<'_>,
    parameters: ObjRef<'_>,
    block: &mut [u64; PLAIN_CALL_WORDS],
) -> usize {
    if let Some(method) = method
        && let Some(code) = found(method, object, parameters, block)
    {
        return code;
    }
    let is_constructor = method.is_some_and(|method| {
        let constructors = method.class.universe().known(Known::RuntimeConstructorInfo);
        ptr::eq(constructors, info.class())
    });
    block[0] = SLOW[usize::from(is_constructor)].load(Ordering::Acquire) as u64;
    0
}

fn found(
    method: MethodRef,
    object: ObjRef<'_>,
    parameters: ObjRef<'_>,
    block: &mut [u64; PLAIN_CALL_WORDS],
) -> Option<usize> {
    let plain = METHODS.get(method.id)?.get()?.as_ref()?;
    let offer = plain.offer.get()?;
    if domain::are_several() {
        return None;
    }
    let words = offer.words;
    let fits = match (&plain.target, object.non_null()) {
        (Target::Any, _) => true,
        (Target::Null, object) => object.is_none(),
        (Target::Instance(_), Some(o)) => {
            let exact = |class: &ClassRef| ptr::eq(*class, o.class());
            offer.receiver.as_ref().is_some_and(exact) && !remoting::is_proxy(o)
        }
        (Target::Instance(_), None) => false,
    };
    let given = parameters.non_null().map_or(0, |array| array.array_len());
    if !fits || given != plain.params.len() {
        return None;
    }
    let made = offer.made.load(Ordering::Relaxed);
    // SAFETY: `offer` stores the address of a VTable, which lives for ever, or null, before the offer is published.
    let vtable = unsafe { made.as_ref() };
    if vtable.is_some_and(remoting::activation::is_asked_of) {
        return None;
    }
    if words.has_this {
        block[0] = object.addr() as u64;
    }
    fill(plain, words, parameters, block)?;
    block[PLAIN_RESULT] = offer.result as u64;
    block[PLAIN_NEW] = made as u64;
    words.direct.compiled()
}
