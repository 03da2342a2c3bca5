//! Calls through reflection whose arguments need no conversion.
//!
//! `MethodBase.Invoke` of the class library asks for attributes and parameters and converts each argument before it calls the method by an internal call.
//! All of that does nothing where the target is an object of the method's class and each argument an object of its parameter's class. The JIT
//! (`calls/bypass.rs` in `vervet-jit`) asks [`is_plain`] first, and goes on behind it.
//!
//! # Invariants
//! * [`is_plain`] is a leaf: it takes no lock and no memory. It only reads what the first call of a method has found ([`learn`]); parents of classes that
//!   have instances are known.
//! * It says yes only if the code that is left out would do nothing that can be noticed.
use crate::object::ObjRef;
use crate::remoting;
use vervet_os::{Chunks, Published};
use vervet_types::method::MethodKind;
use vervet_types::{ClassRef, Known, LoadError, MethodRef};

/// A method whose calls may be plain.
struct Plain {
    target: Target,
    params: Box<[Param]>,
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
pub fn learn(method: MethodRef, is_constructor: bool) -> Result<(), LoadError> {
    let cell = METHODS.at(method.id);
    if cell.get().is_none() {
        cell.put(examine(method, is_constructor)?);
    }
    Ok(())
}

fn examine(method: MethodRef, is_constructor: bool) -> Result<Option<Plain>, LoadError> {
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
    }))
}

/// Is the object an instance of the class, going by the parents of its own?
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
        && plain.params.iter().enumerate().all(|(i, param)| {
            let arg = parameters.element_ref(i).non_null();
            match (param, arg) {
                (Param::Box(class), Some(o)) => std::ptr::eq(o.class(), *class),
                (Param::Box(_), None) => false,
                // `Missing.Value` stands for the default value of a parameter.
                (Param::Object(class), Some(o)) => {
                    !remoting::is_proxy(o)
                        && descends(o, class)
                        && !std::ptr::eq(o.class(), class.universe().known(Known::Missing))
                }
                (Param::Object(_), None) => true,
            }
        })
}
