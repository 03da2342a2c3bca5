//! Objects thrown that are no exceptions (ECMA-335 I.10.5; `RuntimeCompatibilityAttribute`).
//!
//! # Invariants
//! * A RuntimeWrappedException travels in place of such an object, and has the trace.
//! * Who catches decides what is seen: code of an assembly that says WrapNonExceptionThrows sees the wrapper, other code the object itself. An
//!   assembly's answer never changes, so a racing second computation gives the same.
//! * Rust code sees exceptions only.
use crate::classes::casts;
use crate::cx::{Cx, Value};
use crate::object::ObjRef;
use vervet_metadata::{CustomAttrReader, Table, Token};
use vervet_os::{Chunks, Published};
use vervet_types::{Known, MethodRef, ModuleRef};

static WRAPS: Chunks<Published<bool>> = Chunks::new();

/// Does code of that module see wrapped objects?
fn wraps(module: ModuleRef) -> bool {
    *WRAPS.at(module.id).put(says_so(module).unwrap_or(false))
}

fn says_so(module: ModuleRef) -> Option<bool> {
    let image = &module.assembly()?.manifest.image;
    for rid in image.custom_attributes_of(Token::new(Table::Assembly, 1)) {
        let row = image.custom_attribute(rid).ok()?;
        let owner = match row.constructor.table()? {
            Table::MemberRef => image.member_ref(row.constructor.rid()).ok()?.class,
            _ => Token::new(Table::TypeDef, image.method_owner(row.constructor.rid())?),
        };
        if image
            .type_name(owner)
            .is_ok_and(|n| n.name == "RuntimeCompatibilityAttribute")
        {
            let mut reader = CustomAttrReader::new(image.blob(row.value).ok()?).ok()?;
            for _ in 0..reader.named_count().ok()? {
                let arg = reader.named_arg().ok()?;
                let value = reader.u8().ok()? != 0;
                if arg.name == "WrapNonExceptionThrows" {
                    return Some(value);
                }
            }
        }
    }
    None
}

/// What is being thrown.
pub(super) struct Thrown<'a> {
    /// The exception, or the wrapper.
    pub exception: ObjRef<'a>,
    /// What is wrapped.
    object: Option<ObjRef<'a>>,
}
impl<'a> Thrown<'a> {
    /// Wraps what is no exception.
    pub fn of(cx: &Cx<'_>, object: ObjRef<'a>) -> Thrown<'a> {
        let is_wrapped = !is_exception(cx, object);
        Thrown {
            exception: if is_wrapped { wrapper(object) } else { object },
            object: is_wrapped.then_some(object),
        }
    }
    /// What clauses of that method see.
    pub fn seen_by(&self, method: Option<MethodRef>) -> ObjRef<'a> {
        match (self.object, method) {
            (Some(object), Some(method)) if !wraps(method.home()) => object,
            _ => self.exception,
        }
    }
}

/// Is the object an exception?
pub(super) fn is_exception(cx: &Cx<'_>, object: ObjRef<'_>) -> bool {
    let exception = cx.known(Known::Exception);
    casts::is_assignable(cx.universe(), object.class(), exception).unwrap_or(true)
}

/// A RuntimeWrappedException around an object, or what is thrown when that is made.
fn wrapper(object: ObjRef<'_>) -> ObjRef<'_> {
    let cx = &Cx::current();
    let class = cx.known(Known::RuntimeWrappedException);
    let Ok(Some(ctor)) = class.find_method(".ctor", Some(1)) else {
        return object;
    };
    let made = cx.alloc(class).and_then(|w| {
        // SAFETY: the same live object, under the lifetime of this token.
        let thrown = unsafe { ObjRef::from_addr(object.addr()) };
        cx.invoke(ctor, Some(Value::Ref(w)), &[Value::Ref(thrown)])?;
        Ok(w)
    });
    match made {
        // SAFETY: the new object is live; it stays on the caller's stack.
        Ok(w) => unsafe { ObjRef::from_addr(w.addr()) },
        // SAFETY: constructing the wrapper threw, so the pending word is a live exception object.
        Err(throw) => unsafe { ObjRef::from_addr(cx.take_pending(throw).addr()) },
    }
}
