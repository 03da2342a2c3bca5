//! Objects thrown that are no exceptions (ECMA-335 I.10.5; `RuntimeCompatibilityAttribute`).
//!
//! # Invariants
//! * An assembly that says WrapNonExceptionThrows throws a RuntimeWrappedException in place of such an object. An
//!   assembly's answer never changes, so a racing second computation gives the same.
//! * Rust code gets exceptions only: what leaves managed code for it is wrapped, whoever has thrown it.
use crate::classes::casts;
use crate::cx::{Cx, Value};
use crate::exceptions::walk;
use crate::object::ObjRef;
use vervet_metadata::{CustomAttrReader, Table, Token};
use vervet_os::{Chunks, Published};
use vervet_types::{Known, ModuleRef};

static WRAPS: Chunks<Published<bool>> = Chunks::new();

/// Does code of that module throw wrapped objects?
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

/// What is thrown when the innermost managed frame throws `object`.
pub fn wrap<'a>(_cx: &Cx<'_>, object: ObjRef<'a>) -> ObjRef<'a> {
    let cx = &Cx::current();
    if is_exception(cx, object) {
        return object;
    }
    let Some(thrower) = walk::caller_methods(cx).next() else {
        return object;
    };
    match wraps(thrower.module()) {
        true => wrapper(object),
        false => object,
    }
}

/// Is the object an exception?
pub(super) fn is_exception(cx: &Cx<'_>, object: ObjRef<'_>) -> bool {
    let exception = cx.known(Known::Exception);
    casts::is_assignable(cx.universe(), object.class(), exception).unwrap_or(true)
}

/// A RuntimeWrappedException around an object, or what is thrown when that is made.
pub(super) fn wrapper(object: ObjRef<'_>) -> ObjRef<'_> {
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
