//! Declarative security: what the metadata demands. Nothing here enforces it, as in mono.
//!
//! # Invariants
//! As in mono, an entry's blob begins two bytes behind the length's first, however long that is.
use crate::support::{AssemblyP, ClassP, MethodP};
use std::ffi::c_char;
use vervet_metadata::Table;
use vervet_types::{Module, Token};

/// A `MonoDeclSecurityEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry {
    blob: *const c_char,
    size: u32,
    index: u32,
}
/// A `MonoDeclSecurityActions`: what is demanded, of this domain's own permissions, and one of several.
#[repr(C)]
pub struct Actions {
    demand: Entry,
    own: Entry,
    choice: Entry,
}
const NOTHING: Entry = Entry {
    blob: std::ptr::null(),
    size: 0,
    index: 0,
};

/// Numbers of the actions that fill an [`Actions`].
type Kinds = [u32; 3];
const DEMANDS: Kinds = [0x02, 0x0d, 0x12];
const LINK_DEMANDS: Kinds = [0x06, 0x0e, 0x10];
const INHERITANCE_DEMANDS: Kinds = [0x07, 0x0f, 0x11];

/// What the metadata are about: a module and a token.
type Owner = Option<(&'static Module, Token)>;
fn of_method(method: MethodP) -> Owner {
    let method = method?.definition();
    Some((method.module(), method.token()))
}
fn of_class(class: ClassP) -> Owner {
    let class = class?.def();
    Some((class.module, class.token()))
}
fn of_assembly(assembly: AssemblyP) -> Owner {
    Some((assembly?.manifest, Token::new(Table::Assembly, 1)))
}

/// The actions of an owner and their entries, in the order of the rows.
fn rows(owner: Owner) -> Vec<(u32, Entry)> {
    let Some((module, token)) = owner else {
        return Vec::new();
    };
    let image = &module.image;
    let cell = |rid, column| {
        image
            .tables()
            .raw_cell(Table::DeclSecurity, rid, column)
            .unwrap_or(0)
    };
    let entry = |index| {
        let blob = image.blob(index).unwrap_or_default();
        let blob_start = crate::tables::blob_start(blob);
        Entry {
            blob: blob_start.wrapping_add(2),
            size: blob.len() as u32,
            index,
        }
    };
    let rids = image.decl_security_of(token);
    rids.map(|rid| (cell(rid, 0), entry(cell(rid, 2))))
        .collect()
}
/// A bit for each action.
fn flags(owner: Owner) -> u32 {
    rows(owner)
        .iter()
        .fold(0, |bits, (action, _)| bits | 1 << (action - 1).min(31))
}
/// Fills what is empty. True: the owner has such actions.
fn fill(actions: &mut Actions, owner: Owner, kinds: Kinds) -> bool {
    let mut found = false;
    for (action, entry) in rows(owner) {
        let places = [&mut actions.demand, &mut actions.own, &mut actions.choice];
        for (place, kind) in places.into_iter().zip(kinds) {
            if kind == action {
                found = true;
                if place.blob.is_null() {
                    *place = entry;
                }
            }
        }
    }
    found
}
/// # Safety
/// `actions` is null or may be written.
unsafe fn cleared<'a>(actions: *mut Actions) -> Option<&'a mut Actions> {
    if actions.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        actions.write(Actions {
            demand: NOTHING,
            own: NOTHING,
            choice: NOTHING,
        });
        Some(&mut *actions)
    }
}
/// # Safety
/// `entry` is null or may be written.
unsafe fn action(owner: Owner, action: u32, entry: *mut Entry) -> u8 {
    let found = rows(owner).into_iter().find(|row| row.0 == action);
    if let Some((_, found)) = found {
        // SAFETY: the caller's promise.
        unsafe { crate::support::set(entry, found) };
    }
    u8::from(found.is_some())
}

query_api! {
    fn mono_declsec_flags_from_method(method: MethodP) -> u32 { flags(of_method(method)) }
    fn mono_declsec_flags_from_class(class: ClassP) -> u32 { flags(of_class(class)) }
    fn mono_declsec_flags_from_assembly(assembly: AssemblyP) -> u32 { flags(of_assembly(assembly)) }
    /// The method's demands, and where it has none, those of its class.
    fn mono_declsec_get_demands(method: MethodP, demands: *mut Actions) -> u8 {
        let Some(demands) = cleared(demands) else { return 0 };
        let own = fill(demands, of_method(method), DEMANDS);
        u8::from(fill(demands, of_class(method.map(|m| m.class)), DEMANDS) | own)
    }
    fn mono_declsec_get_linkdemands(method: MethodP, class: *mut Actions, own: *mut Actions) -> u8 {
        let (Some(of_its_class), Some(own)) = (cleared(class), cleared(own)) else { return 0 };
        let found = fill(own, of_method(method), LINK_DEMANDS);
        u8::from(fill(of_its_class, of_class(method.map(|m| m.class)), LINK_DEMANDS) | found)
    }
    fn mono_declsec_get_inheritdemands_class(class: ClassP, demands: *mut Actions) -> u8 {
        cleared(demands).map_or(0, |d| u8::from(fill(d, of_class(class), INHERITANCE_DEMANDS)))
    }
    fn mono_declsec_get_inheritdemands_method(method: MethodP, demands: *mut Actions) -> u8 {
        cleared(demands).map_or(0, |d| u8::from(fill(d, of_method(method), INHERITANCE_DEMANDS)))
    }
    fn mono_declsec_get_method_action(method: MethodP, number: u32, entry: *mut Entry) -> u8 { action(of_method(method), number, entry) }
    fn mono_declsec_get_class_action(class: ClassP, number: u32, entry: *mut Entry) -> u8 { action(of_class(class), number, entry) }
    fn mono_declsec_get_assembly_action(assembly: AssemblyP, number: u32, entry: *mut Entry) -> u8 { action(of_assembly(assembly), number, entry) }
}
