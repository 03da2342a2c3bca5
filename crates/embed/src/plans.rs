//! Plans: how methods are called whose arguments and result are words in general registers, which most are.
//!
//! # How it works
//! What a call has to know of the method's types is found once: which words are references or pointers, and used as they are, and which are values of a
//! primitive type. Then a call loads the words, narrows them, and enters managed code.
//!
//! # Invariants
//! * A plan lives for ever. A method without one has none for good, and is called by its signature.
//! * No argument or result of a planned method is a struct, a floating-point number or a Nullable, and `this` is an object.
use vervet_os::{Chunks, Published};
use vervet_runtime::arch::StraightCall;
use vervet_runtime::code::invoke::{Direct, REGISTERS};
use vervet_runtime::cx::{Cx, Result};
use vervet_types::{ClassRef, Known, MethodRef, Prim};

/// What a planned method returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    Nothing,
    Reference,
    /// A pointer or an address.
    Pointer,
    Prim(Prim),
}

pub struct Plan {
    target: Direct,
    has_this: bool,
    count: usize,
    /// For each word, the type of a value; None: a reference or a pointer.
    kinds: [Option<Prim>; REGISTERS],
    result: Returned,
}

static ALL: Chunks<Published<Option<Plan>>> = Chunks::new();

/// A value's type, in which it travels as one word; None inside: a reference or pointer. None: it does not.
fn kind<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<Option<Option<Prim>>> {
    if class.is_byref() || class.is_ptr() || class.is_fn_ptr() || !cx.load(class.is_value_type())? {
        return Ok(Some(None));
    }
    Ok(match cx.load(class.stack_prim())? {
        None | Some(Prim::R4 | Prim::R8 | Prim::Void) => None,
        prim => Some(prim),
    })
}
fn returned<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<Option<Returned>> {
    if class.prim == Some(Prim::Void) {
        return Ok(Some(Returned::Nothing));
    }
    Ok(match kind(cx, class)? {
        None => None,
        Some(Some(prim)) => Some(Returned::Prim(prim)),
        Some(None) if crate::kinds::is_reference(class) => Some(Returned::Reference),
        Some(None) => Some(Returned::Pointer),
    })
}

fn make<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<Option<Plan>> {
    let sig = cx.load(method.sig())?;
    let has_this = !method.is_static();
    let count = sig.params.len() + usize::from(has_this);
    // The constructor of a string is a function that returns it.
    let makes_string = method.name == ".ctor" && crate::kinds::is(method.class, Known::String);
    if count > REGISTERS
        || makes_string
        || sig.ret.is_nullable()
        || has_this && cx.load(method.class.is_value_type())?
    {
        return Ok(None);
    }
    let (Some(target), Some(result)) = (Direct::of(cx, method)?, returned(cx, sig.ret)?) else {
        return Ok(None);
    };
    let mut kinds = [None; REGISTERS];
    for (slot, class) in kinds[usize::from(has_this)..].iter_mut().zip(&sig.params) {
        match kind(cx, class)? {
            Some(found) => *slot = found,
            None => return Ok(None),
        }
    }
    Ok(Some(Plan {
        target,
        has_this,
        count,
        kinds,
        result,
    }))
}

/// The method's plan.
#[inline]
pub fn of<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Option<&'static Plan> {
    let cell = ALL.at(method.id);
    match cell.get() {
        Some(known) => known.as_ref(),
        None => first(cx, method),
    }
}
#[cold]
fn first<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Option<&'static Plan> {
    match make(cx, method) {
        Ok(plan) => ALL.at(method.id).put(plan).as_ref(),
        // What cannot be loaded is an exception of the call.
        Err(throw) => {
            let _ = cx.take_pending(throw);
            None
        }
    }
}

impl Plan {
    /// `this`, if there is one, and the arguments.
    pub fn count(&self) -> usize {
        self.count
    }
    pub fn has_this(&self) -> bool {
        self.has_this
    }
    /// For each of these words the type of its value; None: it is used as it is.
    pub fn kinds(&self) -> &[Option<Prim>] {
        &self.kinds[..self.count]
    }
    pub fn result(&self) -> Returned {
        self.result
    }
    /// What C calls the method by without Rust code in between, if the words and the result are used as they are.
    pub fn straight<'cx>(&self, cx: &'cx Cx<'cx>, fallback: usize) -> Option<StraightCall> {
        let is_small = |kind: &Option<Prim>| kind.is_some_and(is_small);
        let is_plain = match self.result {
            Returned::Prim(prim) => !is_small(&Some(prim)),
            _ => true,
        };
        if !is_plain || self.count == REGISTERS || self.kinds().iter().any(is_small) {
            return None;
        }
        let record = std::ptr::from_ref(self) as usize;
        let words = (self.count, self.has_this);
        match self.target.straight(cx, words, (fallback, record)) {
            Ok(call) => Some(call),
            Err(throw) => {
                let _ = cx.take_pending(throw);
                None
            }
        }
    }
    /// Calls the method.
    ///
    /// # Errors
    /// NullReferenceException, if `this` is null.
    ///
    /// # Safety
    /// The words lie in a frame, and are `this` and values of the parameters' types. No word behind them is a reference that is not live.
    #[inline]
    pub unsafe fn call<'cx>(&self, cx: &'cx Cx<'cx>, words: &[u64; REGISTERS]) -> Result<u64> {
        if self.has_this && words[0] == 0 {
            return Err(cx.throw_default(Known::NullReferenceException));
        }
        // SAFETY: the caller's promise.
        unsafe { self.target.call(cx, words) }
    }
}

/// Is a value of the type less than what an instruction of 32 bits reads?
fn is_small(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Bool | Prim::U1 | Prim::I1 | Prim::Char | Prim::U2 | Prim::I2
    )
}
/// A word as the type says: C and managed code leave the upper bits as they are.
#[inline]
pub fn narrow(prim: Prim, word: u64) -> i64 {
    match prim {
        Prim::Bool | Prim::U1 => i64::from(word as u8),
        Prim::I1 => i64::from(word as i8),
        Prim::Char | Prim::U2 => i64::from(word as u16),
        Prim::I2 => i64::from(word as i16),
        Prim::I4 => i64::from(word as i32),
        Prim::U4 => i64::from(word as u32),
        _ => word as i64,
    }
}
/// The word of a value of that type in memory.
///
/// # Safety
/// It lies there, at any address.
#[inline]
pub unsafe fn load(prim: Prim, at: *const u8) -> u64 {
    // SAFETY: the caller's promise: so many bytes are a value of the type.
    unsafe {
        match prim {
            Prim::Bool | Prim::U1 => u64::from(*at),
            Prim::I1 => i64::from(at.cast::<i8>().read()) as u64,
            Prim::Char | Prim::U2 => u64::from(at.cast::<u16>().read_unaligned()),
            Prim::I2 => i64::from(at.cast::<i16>().read_unaligned()) as u64,
            Prim::I4 => i64::from(at.cast::<i32>().read_unaligned()) as u64,
            Prim::U4 => u64::from(at.cast::<u32>().read_unaligned()),
            _ => at.cast::<u64>().read_unaligned(),
        }
    }
}
