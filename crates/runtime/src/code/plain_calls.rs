//! Calls through reflection whose arguments need no conversion.
//!
//! `MethodBase.Invoke` of the class library asks for attributes and parameters and converts each argument before it calls the method by an internal call.
//! All of that does nothing where the target is an object of the method's class and each argument an object of its parameter's class. The JIT
//! (`calls/bypass.rs` in `vervet-jit`) asks [`is_plain`] first, and goes on behind it.
//!
//! | argument | in the array | word |
//! |---|---|---|
//! | a class, not an interface or array | null, or an object of the class | the reference |
//! | bool, char, an integer, an enum | a box of exactly that type | the value, extended by its sign |
//! | a float, another struct, `ref` | | none: the call is made with a look at the signature |
//!
//! Where in addition all arguments and the result are integers or references, [`arguments`] makes a word of each, and [`call`] makes the call: the first one, and
//! those on other classes than the first. The others are made by generated code ([`generated`]).
//!
//! # Invariants
//! * [`is_plain`] is a leaf: it takes no lock and no memory. It only reads what the first call of a method has found ([`learn`]); parents of classes that
//!   have instances are known.
//! * It says yes only if the code that is left out would do nothing that can be noticed.
pub mod generated;

use crate::code::invoke::{self, Direct, REGISTERS};
use crate::cx::{Cx, Result, Value};
use crate::object::ObjRef;
use crate::remoting;
use vervet_abi::object::HEADER_SIZE;
use vervet_os::{Chunks, Published};
use vervet_types::method::MethodKind;
use vervet_types::{ClassRef, Known, LoadError, MethodRef, Prim};

/// A method whose calls may be plain.
struct Plain {
    target: Target,
    params: Box<[Param]>,
    /// The class of `Missing.Value`, which stands for the default value of a parameter.
    missing: ClassRef,
    /// What generated code makes calls by, once one was made.
    offer: Published<generated::Offer>,
}

/// What the object of a call must be.
enum Target {
    /// Anything: the method is static.
    Any,
    /// Null: the constructor makes the object.
    Null,
    /// An object of that class.
    Instance(ClassRef),
}

/// What an argument must be.
enum Param {
    /// A box of exactly that class.
    Box(ClassRef),
    /// Null, or an object of that class.
    Object(ClassRef),
}

/// By number of the method. An empty inside: no call of it is plain.
static METHODS: Chunks<Published<Option<Plain>>> = Chunks::new();

/// Finds out whether calls of a method may be plain.
///
/// # Errors
/// A class of the signature cannot be loaded.
pub fn learn(method: MethodRef, is_constructor: bool) -> std::result::Result<(), LoadError> {
    let cell = METHODS.at(method.id);
    if cell.get().is_none() {
        cell.put(examine(method, is_constructor)?);
    }
    Ok(())
}

fn examine(
    method: MethodRef,
    is_constructor: bool,
) -> std::result::Result<Option<Plain>, LoadError> {
    let class = method.class;
    if method.kind != MethodKind::Normal
        || method.is_open()
        || class.is_open
        || class.is_interface()
        || class.is_nullable()
        || is_constructor && (method.is_static() || class.is_abstract())
    {
        return Ok(None);
    }
    let target = match (is_constructor, method.is_static()) {
        (true, _) => Target::Null,
        (_, true) => Target::Any,
        _ => Target::Instance(class),
    };
    let sig = method.sig()?;
    if sig.ret.is_byref() {
        return Ok(None);
    }
    let missing = class.universe().known(Known::Missing);
    let mut params = Vec::new();
    for &param in &sig.params {
        if param.is_byref()
            || param.is_ptr()
            || param.is_fn_ptr()
            || param.is_nullable()
            || param.is_interface()
            || param.is_array()
            || std::ptr::eq(param, missing)
        {
            return Ok(None);
        }
        params.push(match param.is_value_type()? {
            true => Param::Box(param),
            false => Param::Object(param),
        });
    }
    Ok(Some(Plain {
        target,
        params: params.into(),
        missing,
        offer: Published::new(),
    }))
}

/// Is the object an instance of the class, going by the parents of its own?
#[inline]
fn descends(object: ObjRef<'_>, from: ClassRef) -> bool {
    let mut at = Some(object.class());
    while let Some(class) = at {
        if std::ptr::eq(class, from) {
            return true;
        }
        at = class.parent().ok().flatten();
    }
    false
}

/// Does a call of the method on that object, with that `object[]` or null, need no conversion and no error?
pub fn is_plain(method: MethodRef, object: ObjRef<'_>, parameters: ObjRef<'_>) -> bool {
    let Some(Some(plain)) = METHODS.get(method.id).and_then(Published::get) else {
        return false;
    };
    let fits = match plain.target {
        Target::Any => true,
        Target::Null => object.is_null(),
        Target::Instance(class) => object
            .non_null()
            .is_some_and(|o| !remoting::is_proxy(o) && descends(o, class)),
    };
    let given = match parameters.non_null() {
        Some(array) => array.array_len(),
        None => 0,
    };
    fits && given == plain.params.len()
        && (plain.params.iter().enumerate())
            .all(|(i, param)| plain.takes(parameters.element_ref(i), param))
}

impl Plain {
    /// Is an argument passed as it is?
    #[inline]
    fn takes(&self, arg: ObjRef<'_>, param: &Param) -> bool {
        match (param, arg.non_null()) {
            (Param::Box(class), Some(o)) => std::ptr::eq(o.class(), *class),
            (Param::Box(_), None) => false,
            (Param::Object(class), Some(o)) => {
                !remoting::is_proxy(o)
                    && descends(o, class)
                    && !std::ptr::eq(o.class(), self.missing)
            }
            (Param::Object(_), None) => true,
        }
    }
}

/// How a method is called whose arguments and result are words: without a look at its signature, and without memory for the arguments.
///
/// A call through reflection costs mostly what it asks the type system: which way each parameter travels, what it is converted from, what the result becomes. None of that
/// changes from call to call.
pub struct Words {
    direct: Direct,
    params: Box<[Word]>,
    /// What the method returns.
    pub result: ClassRef,
    has_this: bool,
}

/// An argument as a word.
#[derive(Clone, Copy)]
enum Word {
    /// The reference itself.
    Reference,
    /// An integer of that type in a box.
    Integer(Prim),
}

/// By number of the method. An empty inside: it is not called so.
static WORDS: Chunks<Published<Option<Words>>> = Chunks::new();

/// How the method is called by words, if it can be.
///
/// # Errors
/// TypeLoadException and its kin, or there is no memory for code.
pub fn words_of<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<Option<&'static Words>> {
    let cell = WORDS.at(method.id);
    if let Some(known) = cell.get() {
        return Ok(known.as_ref());
    }
    Ok(cell.put(find_words(cx, method)?).as_ref())
}

fn find_words<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<Option<Words>> {
    let class = method.class;
    let sig = cx.load(method.sig())?;
    let has_this = !method.is_static();
    // Structs have another `this`, and a constructor of String is another method.
    if sig.params.len() + usize::from(has_this) > REGISTERS
        || cx.load(class.is_value_type())?
        || std::ptr::eq(class, cx.known(Known::String))
        || class.is_array()
    {
        return Ok(None);
    }
    if word(cx, sig.ret)?.is_none() {
        return Ok(None);
    }
    let mut params = Vec::new();
    for param in &sig.params {
        match word(cx, param)? {
            Some(word) => params.push(word),
            None => return Ok(None),
        }
    }
    Ok(Direct::of(cx, method)?.map(|direct| Words {
        direct,
        params: params.into(),
        result: sig.ret,
        has_this,
    }))
}

/// How a value of the class is passed, if as a reference or as an integer.
fn word<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<Option<Word>> {
    use Prim::*;
    if class.is_byref() || class.is_ptr() || class.is_fn_ptr() || class.is_nullable() {
        return Ok(None);
    }
    if !cx.load(class.is_value_type())? {
        return Ok(Some(Word::Reference));
    }
    Ok(match cx.load(class.stack_prim())? {
        Some(p @ (Void | Bool | Char | I1 | U1 | I2 | U2 | I4 | U4 | I8 | U8)) => {
            Some(Word::Integer(p))
        }
        _ => None,
    })
}

/// The integer in a box.
#[inline]
fn unboxed(boxed: ObjRef<'_>, prim: Prim) -> u64 {
    let at = HEADER_SIZE as usize;
    match prim {
        Prim::Bool | Prim::U1 => u64::from(boxed.read::<u8>(at)),
        Prim::I1 => boxed.read::<i8>(at) as u64,
        Prim::Char | Prim::U2 => u64::from(boxed.read::<u16>(at)),
        Prim::I2 => boxed.read::<i16>(at) as u64,
        Prim::I4 | Prim::U4 => boxed.read::<i32>(at) as u64,
        _ => boxed.read::<u64>(at),
    }
}

/// The arguments of a plain call of the first method as words for the second, which overrides it or is it; room for `this` in front. None: an argument does not fit.
///
/// Each argument is read once, and what was read is looked at: [`is_plain`] has seen the array before, but another thread may have written to it since.
pub fn arguments(
    method: MethodRef,
    words: &Words,
    parameters: ObjRef<'_>,
) -> Option<[u64; REGISTERS]> {
    let plain = METHODS.get(method.id)?.get()?.as_ref()?;
    let mut block = [0u64; REGISTERS];
    fill(plain, words, parameters, &mut block)?;
    Some(block)
}

/// Makes the words of the arguments, behind the room for `this`. None: an argument does not fit.
#[inline]
fn fill(plain: &Plain, words: &Words, parameters: ObjRef<'_>, block: &mut [u64]) -> Option<()> {
    let first = usize::from(words.has_this);
    for (i, (word, param)) in words.params.iter().zip(&plain.params).enumerate() {
        let arg = parameters.element_ref(i);
        if !plain.takes(arg, param) {
            return None;
        }
        block[first + i] = match word {
            Word::Reference => arg.addr() as u64,
            Word::Integer(prim) => unboxed(arg, *prim),
        };
    }
    Some(())
}

/// Makes a call with the words of its arguments, on `this` if the method has one. What the method returns, not boxed.
///
/// # Errors
/// What the method throws.
pub fn call<'cx>(
    cx: &'cx Cx<'cx>,
    words: &Words,
    this: ObjRef<'cx>,
    mut block: [u64; REGISTERS],
) -> Result<Value<'cx>> {
    if words.has_this {
        block[0] = this.addr() as u64;
    }
    // SAFETY: each word is a value of its parameter's type, and they lie in this frame.
    let raw = unsafe { words.direct.call(cx, &block)? };
    match words.result.prim {
        Some(Prim::Void) => Ok(Value::Void),
        _ => invoke::value_of(cx, words.result, raw),
    }
}
