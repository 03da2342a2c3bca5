//! Making managed exceptions from Rust.
//!
//! # Invariants
//! * The exception's own constructor runs, because the class library sets the default message and the HRESULT there.
//! * If making the exception throws (no memory, a class constructor that fails), that other exception is the one left pending.
use crate::cx::{Cx, Result, Throw, Value};
use crate::object::ObjRef;
use vervet_types::{ClassRef, Known, LoadError};

/// Makes an exception with a message, or its default one, and leaves it pending.
pub fn throw_message(_cx: &Cx<'_>, class: Known, message: Option<&str>) -> Throw {
    let cx = &Cx::current();
    let made = new(
        cx,
        cx.known(class),
        &message.into_iter().collect::<Vec<_>>(),
    );
    finish(cx, made)
}
/// Makes an exception whose constructor takes two strings.
pub fn throw_two(_cx: &Cx<'_>, class: Known, first: &str, second: &str) -> Throw {
    let cx = &Cx::current();
    let made = new(cx, cx.known(class), &[first, second]);
    finish(cx, made)
}
/// Makes a TypeLoadException that names a type and its assembly, with a message of its own.
pub fn throw_type_load(_cx: &Cx<'_>, class: &str, assembly: &str, message: &str) -> Throw {
    let cx = &Cx::current();
    let made = new(cx, cx.known(Known::TypeLoadException), &[class, assembly]);
    let made = made.and_then(|exception| {
        let text = cx.alloc_str(message)?;
        exception.write_ref(
            std::mem::offset_of!(vervet_abi::layouts::ExceptionObject, message),
            text,
        );
        Ok(exception)
    });
    finish(cx, made)
}
fn finish<'cx>(cx: &'cx Cx<'cx>, made: Result<ObjRef<'cx>>) -> Throw {
    match made {
        Ok(object) => cx.throw_object(object),
        Err(throw) => throw,
    }
}

/// A new exception of the class, constructed with those strings: two at most.
pub fn new<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, strings: &[&str]) -> Result<ObjRef<'cx>> {
    let string = cx.known(Known::String);
    let ctor = cx.load(class.methods().and_then(|all| {
        for m in all.iter().filter(|m| m.name == ".ctor" && !m.is_static()) {
            let sig = m.sig()?;
            if sig.params.len() == strings.len()
                && sig.params.iter().all(|p| std::ptr::eq(*p, string))
            {
                return Ok(*m);
            }
        }
        Err(LoadError::missing_method(class, ".ctor"))
    }))?;
    let object = cx.alloc(class)?;
    // On the stack, as references must be.
    let mut args = [Value::Void; 2];
    let args = &mut args[..strings.len()];
    for (arg, s) in args.iter_mut().zip(strings) {
        *arg = Value::Ref(cx.alloc_str(s)?);
    }
    cx.invoke(ctor, Some(Value::Ref(object)), args)?;
    Ok(object)
}

/// TypeInitializationException(type name, inner).
pub fn type_initialization<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    inner: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let tie = cx.known(Known::TypeInitializationException);
    let ctor = cx.load(tie.methods().and_then(|all| {
        for m in all.iter().filter(|m| m.name == ".ctor") {
            let sig = m.sig()?;
            if sig.params.len() == 2
                && std::ptr::eq(sig.params[0], cx.known(Known::String))
                && std::ptr::eq(sig.params[1], cx.known(Known::Exception))
            {
                return Ok(*m);
            }
        }
        Err(LoadError::missing_method(tie, ".ctor"))
    }))?;
    let object = cx.alloc(tie)?;
    // Of a nested class its own name alone, as in mono.
    let name = match class.namespace {
        "" => class.name.to_string(),
        namespace => format!("{namespace}.{}", class.name),
    };
    let name = cx.alloc_str(&name)?;
    cx.invoke(
        ctor,
        Some(Value::Ref(object)),
        &[Value::Ref(name), Value::Ref(inner)],
    )?;
    Ok(object)
}

impl<'cx> Cx<'cx> {
    /// Makes an exception with a message (its `(string)` constructor runs) and leaves it pending.
    pub fn throw(&self, class: Known, message: &str) -> Throw {
        throw_message(self, class, Some(message))
    }
    /// Makes an exception with its default message.
    pub fn throw_default(&self, class: Known) -> Throw {
        throw_message(self, class, None)
    }
    /// AppDomainUnloadedException, which says nothing, as in mono.
    pub fn throw_unloaded(&self) -> Throw {
        self.throw(Known::AppDomainUnloadedException, "")
    }
    /// ArgumentNullException for a parameter.
    pub fn throw_arg_null(&self, parameter: &str) -> Throw {
        throw_message(self, Known::ArgumentNullException, Some(parameter))
    }
    /// An exception whose constructor takes two strings, e.g. ArgumentException(message, parameter).
    pub fn throw2(&self, class: Known, first: &str, second: &str) -> Throw {
        throw_two(self, class, first, second)
    }
    /// NullReferenceException if the reference is null.
    pub fn non_null(&'cx self, object: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
        if object.is_null() {
            Err(self.throw_default(Known::NullReferenceException))
        } else {
            Ok(object)
        }
    }
}
