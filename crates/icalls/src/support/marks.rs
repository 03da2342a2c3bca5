//! Whether something has a custom attribute, told by the attribute's name.
//!
//! # Invariants
//! No attribute is made, and nothing is loaded: an attribute whose class cannot be found has its name all the same.
use crate::support::objects::is_known;
use vervet_metadata::{Table, Token};
use vervet_types::{ClassKind, ClassRef, Known, ModuleRef};

/// Is the attribute on the TypeDef of a class, by its full name?
pub fn is_on_class(class: ClassRef, namespace: &str, name: &str) -> bool {
    let def = class.def();
    let ClassKind::Def { rid, .. } = def.kind else {
        return false;
    };
    let token = Token::new(Table::TypeDef, rid);
    is_on(def.module, token, namespace, name)
}

/// May its values lie on the stack only: a struct with IsByRefLikeAttribute, or one that refers to a frame?
pub fn is_stack_only(class: ClassRef) -> bool {
    is_on_class(
        class,
        "System.Runtime.CompilerServices",
        "IsByRefLikeAttribute",
    ) || is_known(class, Known::TypedReference)
}

/// Is the attribute on what a token names, by its full name?
pub fn is_on(module: ModuleRef, token: Token, namespace: &str, name: &str) -> bool {
    let image = &module.image;
    image.custom_attributes_of(token).any(|row| {
        let owner = || {
            let ctor = image.custom_attribute(row).ok()?.constructor;
            let class = match ctor.table()? {
                Table::MemberRef => image.member_ref(ctor.rid()).ok()?.class,
                Table::MethodDef => Token::new(Table::TypeDef, image.method_owner(ctor.rid())?),
                _ => return None,
            };
            image.type_name(class).ok()
        };
        owner().is_some_and(|n| n.namespace == namespace && n.name == name)
    })
}
