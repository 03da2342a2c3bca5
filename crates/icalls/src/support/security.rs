//! The security levels of CoreCLR's first model, which reflection tells of the class library's members.
//!
//! # Invariants
//! Only the core library is marked; all other code is transparent. Nothing is enforced.
use crate::support::marks;
use vervet_metadata::{Table, Token};
use vervet_runtime::cx::Cx;
use vervet_types::{ClassKind, ClassRef, Known, ModuleRef};

const TRANSPARENT: i32 = 0;
const SAFE_CRITICAL: i32 = 1;
const CRITICAL: i32 = 2;

/// The level of a class: its own mark, or that of the class around it.
pub fn of_class(cx: &Cx<'_>, class: ClassRef) -> i32 {
    let mut at = Some(class.def());
    while let Some(class) = at {
        if let ClassKind::Def { rid, .. } = class.kind {
            let level = mark(cx, class.module, Token::new(Table::TypeDef, rid));
            if level != TRANSPARENT {
                return level;
            }
        }
        at = class.declaring_type().ok().flatten();
    }
    TRANSPARENT
}

/// The level of a member: its own mark, or that of its class.
pub fn of_member(cx: &Cx<'_>, class: ClassRef, token: Token) -> i32 {
    match mark(cx, class.module, token) {
        TRANSPARENT => of_class(cx, class),
        level => level,
    }
}

fn mark(cx: &Cx<'_>, module: ModuleRef, token: Token) -> i32 {
    let has = |name| marks::is_on(module, token, "System.Security", name);
    if !std::ptr::eq(module, cx.known(Known::Object).module) {
        TRANSPARENT
    } else if has("SecuritySafeCriticalAttribute") {
        SAFE_CRITICAL
    } else if has("SecurityCriticalAttribute") {
        CRITICAL
    } else {
        TRANSPARENT
    }
}
