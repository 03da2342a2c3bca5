//! Native half of System.Reflection.Emit.DynamicMethod.
//!
//! # How it works
//! Managed code calls `create_dynamic_method` once for each object, at the first `CreateDelegate` or `Invoke`, after it did the same for the
//! dynamic methods that the body refers to. If those refer back, the object has no method yet: the method is made at the first reference
//! then, and waits for its body in `referenced_by`.
//!
//! ```text
//! referenced_by   mhandle
//! 0               0          nobody has asked for it
//! method          0          another body refers to it; it has no body and cannot be called
//! method          method     created
//! ```
//!
//! # Invariants
//! Methods and bodies live for ever.
use crate::support::emit::bodies::{self, ClauseAction};
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::{self, handles, read};
use crate::support::objects;
use std::mem::offset_of;
use vervet_abi::layouts::{DynamicMethodObject, MonoArrayMethodObject};
use vervet_metadata::{EhClause, EhKind, MethodBody, Token};
use vervet_os::LeafLock;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, DynBody, DynToken, Known, LoadError, Local, Method, MethodRef};

/// Held while `referenced_by` is looked at and written.
static FIRST: LeafLock<()> = LeafLock::new(());

/// The class whose member a dynamic method counts as: its owner, if that can have one, else System.Object.
fn owner<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> E<ClassRef> {
    let owner = object.read_ref(offset_of!(DynamicMethodObject, owner));
    let object_class = cx.known(Known::Object);
    let Some(owner) = owner.non_null() else {
        return Ok(object_class);
    };
    let class = read::class(owner)?;
    Ok(if class.is_open || class.rid() == 0 {
        object_class
    } else {
        class
    })
}

/// The method of a DynamicMethod object, made if there is none.
fn method_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> E<MethodRef> {
    const METHOD: usize = offset_of!(DynamicMethodObject, referenced_by);
    // SAFETY: only this function writes the field, below, and what it writes lives for ever.
    let made: Handle<Method> = unsafe { Handle::from_word(object.read(METHOD)) };
    if let Some(method) = made.get() {
        return Ok(method);
    }
    let class = owner(cx, object)?;
    let name = object.read_ref(offset_of!(DynamicMethodObject, name));
    let ret = object.read_ref(offset_of!(DynamicMethodObject, return_type));
    let ret = match ret.non_null() {
        Some(ty) => read::class(ty)?,
        None => cx.known(Known::Void),
    };
    let params = object.read_ref(offset_of!(DynamicMethodObject, parameters));
    let params = read::classes(params)?;
    if ret.is_open || params.iter().any(|p| p.is_open) {
        return Err(EmitError::not_supported(
            "the signature contains a generic parameter",
        ));
    }
    let home = match object
        .read_ref(offset_of!(DynamicMethodObject, owner))
        .non_null()
    {
        Some(owner) => read::class(owner)?.module,
        None => {
            let module = object.read_ref(offset_of!(DynamicMethodObject, module));
            handles::runtime_module(module)?
        }
    };
    let flags = object.read(offset_of!(DynamicMethodObject, attributes));
    let name: &'static str = name.text().leak();
    let method = cx
        .universe()
        .add_dynamic_method((class, home), name, flags, ret, params);
    // Two bodies that two threads create may refer to one object, so its monitor is not held here. Of two threads the first one's method
    // stays; nobody has seen the other's.
    let _first = FIRST.lock();
    // SAFETY: only the next lines write the field, and what they write lives for ever.
    let made: Handle<Method> = unsafe { Handle::from_word(object.read(METHOD)) };
    if made.get().is_none() {
        object.write(METHOD, method as *const Method as usize);
    }
    Ok(made.get().unwrap_or(method))
}

/// What a token names: element of `refs`.
fn token<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<DynToken> {
    let Some(object) = object.non_null() else {
        return Ok(DynToken::None);
    };
    if object.is_string() {
        let number = cx.domain().add_dynamic_literal(cx, object.units())?;
        return Ok(DynToken::Literal(number));
    }
    target(cx, object).map_err(|e| e.throw(cx))
}
/// The same for what is no string.
fn target<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> E<DynToken> {
    let class = object.class();
    let is = |known| objects::is_known(class, known);
    Ok(
        if is(Known::RuntimeMethodInfo) || is(Known::RuntimeConstructorInfo) {
            DynToken::Method(handles::runtime_method(object)?)
        } else if is(Known::RuntimeFieldInfo) {
            DynToken::Field(handles::runtime_field(object)?)
        } else if is(Known::DynamicMethod) {
            DynToken::Method(method_of(cx, object)?)
        } else if is(Known::SignatureHelper) {
            DynToken::Signature(read::signature(cx.universe(), object)?)
        } else if is(Known::MethodBuilder) || is(Known::ConstructorBuilder) {
            DynToken::Method(handles::created_method(object)?)
        } else if is(Known::MonoArrayMethod) {
            DynToken::Method(array_method(object)?)
        } else if is(Known::FieldBuilder) {
            DynToken::Field(handles::created_field(object)?)
        } else {
            DynToken::Type(read::class(object)?)
        },
    )
}

/// The method of an array that a MonoArrayMethod names.
fn array_method(object: ObjRef<'_>) -> E<MethodRef> {
    let array = read::class(object.read_ref(offset_of!(MonoArrayMethodObject, parent)))?;
    let name = object.read_ref(offset_of!(MonoArrayMethodObject, name));
    let name = name.text();
    let params = read::classes(object.read_ref(offset_of!(MonoArrayMethodObject, parameters)))?;
    for &method in array.methods()? {
        if method.name == name && method.sig()?.params == params {
            return Ok(method);
        }
    }
    Err(EmitError::Load(LoadError::missing_method(array, &name)))
}

/// The body that the object describes.
fn body<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, method: MethodRef) -> Result<DynBody> {
    let generator = cx.non_null(object.read_ref(offset_of!(DynamicMethodObject, ilgen)))?;
    let refs = object.read_ref(offset_of!(DynamicMethodObject, refs));
    let count: i32 = object.read(offset_of!(DynamicMethodObject, nrefs));
    let mut tokens = Vec::new();
    for i in 0..count.max(0) as usize {
        // A string literal may be allocated: the reference is read anew each time.
        match refs.non_null().filter(|r| i < r.array_len()) {
            Some(refs) => tokens.push(token(cx, refs.element_ref(i))?),
            None => break,
        }
    }
    let source = bodies::of(generator);
    let mut locals = Vec::new();
    let read_locals = source.for_each_local(|local| {
        locals.push(Local {
            ty: read::class(local.ty)?,
            pinned: local.pinned,
        });
        Ok(())
    });
    read_locals.map_err(|e| e.throw(cx))?;
    let mut clauses = Vec::new();
    let read_clauses = source.for_each_clause(|clause| {
        let kind = match clause.action {
            ClauseAction::Catch(ty) => {
                // A catch without a type, which only SetCode's callers can ask for, catches everything.
                let class = match ty.non_null() {
                    Some(ty) => read::class(ty)?,
                    None => cx.known(Known::Object),
                };
                tokens.push(DynToken::Type(class));
                EhKind::Catch(Token(tokens.len() as u32))
            }
            ClauseAction::Filter(at) => EhKind::Filter(at),
            ClauseAction::Finally => EhKind::Finally,
            ClauseAction::Fault => EhKind::Fault,
        };
        clauses.push(EhClause {
            kind,
            try_offset: clause.tried.0,
            try_len: clause.tried.1,
            handler_offset: clause.handler.0,
            handler_len: clause.handler.1,
        });
        Ok(())
    });
    read_clauses.map_err(|e| e.throw(cx))?;
    let init_locals: u8 = object.read(offset_of!(DynamicMethodObject, init_locals));
    let il = MethodBody {
        max_stack: source.max_stack,
        init_locals: init_locals != 0,
        // Any token that is not nil: the list of locals is the body's own.
        local_sig: Token(1),
        code: source.code.leak(),
        clauses,
    };
    let il = il
        .checked()
        .map_err(|e| cx.throw(Known::InvalidProgramException, &e.to_string()))?;
    Ok(DynBody {
        il,
        locals,
        tokens,
        method,
    })
}

icalls! {
    /// Makes the method of a DynamicMethod object, from what its ILGenerator has collected.
    "System.Reflection.Emit.DynamicMethod::create_dynamic_method" fn create_dynamic_method(cx, m: ObjRef<'cx>) {
        emit::check(cx)?;
        let m = cx.non_null(m)?;
        let method = method_of(cx, m).map_err(|e| e.throw(cx))?;
        let body = body(cx, m, method)?;
        method.set_dynamic_body(body);
        m.write(offset_of!(DynamicMethodObject, mhandle), method as *const Method as usize);
        Ok(())
    }
}
