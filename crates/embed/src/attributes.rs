//! Custom attributes: the rows of an entity, and their objects.
//!
//! # Invariants
//! * A `MonoCustomAttrInfo` begins as the header says, because hosts read it: how many attributes there are, then the constructor and the bytes of each. The
//!   token of the entity follows. It lives until the host frees it. Null: the entity has no attribute.
//! * As in mono, an entity of whose attributes one has no constructor that can be found has none.
use crate::signatures::scope;
use crate::support::{
    AssemblyP, Bool, ClassP, EventP, FieldP, ImageP, MethodP, Object, PropertyP, object, or_null,
};
use std::ffi::c_int;
use vervet_icalls::system::mono_custom_attrs as rows;
use vervet_metadata::Table;
use vervet_runtime::ObjRef;
use vervet_runtime::cx::{Cx, Result};
use vervet_types::{ClassRef, Known, MethodRef, ModuleRef, Token};

/// A `MonoCustomAttrInfo`, in front of its entries and of the entity's token.
#[repr(C)]
pub struct Info {
    count: c_int,
    /// Not used.
    cached: c_int,
    module: ModuleRef,
}
/// A `MonoCustomAttrEntry`.
#[repr(C)]
struct Entry {
    constructor: MethodRef,
    size: u32,
    blob: *const u8,
}

impl Info {
    /// Where the entries begin, and where the token is, in a block for so many.
    fn places(block: *mut Info, count: usize) -> (*mut Entry, *mut u32) {
        let entries = block.wrapping_add(1).cast::<Entry>();
        (entries, entries.wrapping_add(count).cast())
    }
    /// The entity.
    ///
    /// # Safety
    /// The block was made by [`info`].
    unsafe fn owner(this: *const Info) -> (ModuleRef, Token) {
        // SAFETY: the caller's promise.
        unsafe {
            let (_, token) = Info::places(this.cast_mut(), (*this).count as usize);
            ((*this).module, Token(*token))
        }
    }
}

fn info(module: ModuleRef, owner: Token) -> *mut Info {
    let (image, scope) = (&module.image, scope(module));
    let entry = |rid| {
        let row = image.custom_attribute(rid).ok()?;
        let blob = image.blob(row.value).ok()?;
        let constructor = scope.method(row.constructor).ok()?;
        Some(Entry {
            constructor,
            size: blob.len() as u32,
            blob: blob.as_ptr(),
        })
    };
    let all: Option<Vec<Entry>> = image.custom_attributes_of(owner).map(entry).collect();
    let mut all = all.unwrap_or_default();
    all.retain(|e| rows::is_visible(module, owner, e.constructor.class));
    if all.is_empty() {
        return std::ptr::null_mut();
    }
    let bytes = size_of::<Info>() + all.len() * size_of::<Entry>() + size_of::<u64>();
    // SAFETY: the block has room for the three parts, which are aligned to 8 bytes; the host frees it by `mono_custom_attrs_free`.
    unsafe {
        let block = libc::malloc(bytes).cast::<Info>();
        if block.is_null() {
            crate::support::fail("out of memory");
        }
        let (entries, token) = Info::places(block, all.len());
        block.write(Info {
            count: all.len() as c_int,
            cached: 0,
            module,
        });
        token.write(owner.0);
        for (i, entry) in all.into_iter().enumerate() {
            entries.add(i).write(entry);
        }
        block
    }
}

/// Is the attribute one of the class, or of one that derives from it?
fn fits(row: &rows::Row, class: ClassRef) -> bool {
    let own = row.constructor.class;
    own == class
        || own.is_subclass_of(class).unwrap_or(false)
        || class.is_interface() && own.implements(class).unwrap_or(false)
}

fn find<'cx>(
    cx: &'cx Cx<'cx>,
    (module, owner): (ModuleRef, Token),
    class: ClassP,
) -> Result<ObjRef<'cx>> {
    for row in rows::rows(cx, module, owner)? {
        if class.is_some_and(|c| fits(&row, c)) {
            return rows::instantiate(cx, &row);
        }
    }
    Ok(ObjRef::NULL)
}

query_api! {
    fn mono_custom_attrs_from_class(class: ClassP) -> *mut Info {
        class.map_or(std::ptr::null_mut(), |c| { let d = c.def(); info(d.module, d.token()) })
    }
    fn mono_custom_attrs_from_method(method: MethodP) -> *mut Info {
        method.map_or(std::ptr::null_mut(), |m| { let d = m.definition(); info(d.module(), d.token()) })
    }
    fn mono_custom_attrs_from_field(_class: ClassP, field: FieldP) -> *mut Info {
        field.map_or(std::ptr::null_mut(), |f| info(f.class.module, f.definition().token()))
    }
    fn mono_custom_attrs_from_property(_class: ClassP, property: PropertyP) -> *mut Info {
        property.map_or(std::ptr::null_mut(), |p| info(p.module, Token::new(Table::Property, p.rid)))
    }
    fn mono_custom_attrs_from_event(_class: ClassP, event: EventP) -> *mut Info {
        event.map_or(std::ptr::null_mut(), |e| info(e.class.module, Token::new(Table::Event, e.rid)))
    }
    fn mono_custom_attrs_from_assembly(assembly: AssemblyP) -> *mut Info {
        assembly.map_or(std::ptr::null_mut(), |a| info(a.manifest, Token::new(Table::Assembly, 1)))
    }
    /// Parameter 0 is the result.
    fn mono_custom_attrs_from_param(method: MethodP, param: u32) -> *mut Info {
        let Some(method) = method else { return std::ptr::null_mut() };
        let method = method.definition();
        let image = &method.module().image;
        let row = image.method_params(method.rid).find(|&rid| image.param(rid).is_ok_and(|p| u32::from(p.sequence) == param));
        row.map_or(std::ptr::null_mut(), |rid| info(method.module(), Token::new(Table::Param, rid)))
    }
    fn mono_custom_attrs_from_index(image: ImageP, index: u32) -> *mut Info {
        // A coded index of HasCustomAttribute: the kind is in the low five bits.
        const KINDS: [u8; 22] = [0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b];
        let (Some(image), Some(kind)) = (image, KINDS.get((index & 31) as usize)) else { return std::ptr::null_mut() };
        info(image, Token(u32::from(*kind) << 24 | index >> 5))
    }
    fn mono_custom_attrs_free(info: *mut Info) { libc::free(info.cast()); }
}

object_api! {
    fn mono_custom_attrs_has_attr(cx; info: *const Info, class: ClassP) -> Bool {
        let Some(class) = class else { return 0 };
        if info.is_null() {
            return 0;
        }
        let (module, owner) = Info::owner(info);
        match rows::rows(cx, module, owner) {
            Ok(all) => Bool::from(all.iter().any(|r| fits(r, class))),
            Err(throw) => { let _ = cx.take_pending(throw); 0 }
        }
    }
    fn mono_custom_attrs_get_attr(cx; info: *const Info, class: ClassP) -> Object {
        if info.is_null() { return std::ptr::null_mut(); }
        or_null(cx, find(cx, Info::owner(info), class))
    }
    /// All of them, in an array.
    fn mono_custom_attrs_construct(cx; info: *const Info) -> Object {
        let all = match info.is_null() {
            true => Ok(Vec::new()),
            false => {
                let (module, owner) = Info::owner(info);
                rows::rows(cx, module, owner)
            }
        };
        or_null(cx, all.and_then(|all| cx.alloc_ref_array(cx.known(Known::Attribute), all.len(), |i| rows::instantiate(cx, &all[i]))))
    }
    fn mono_reflection_get_custom_attrs(cx; target: Object) -> Object {
        let all = rows::of_provider(cx, object(target));
        or_null(cx, all.and_then(|all| cx.alloc_ref_array(cx.known(Known::Attribute), all.len(), |i| rows::instantiate(cx, &all[i]))))
    }
    fn mono_reflection_get_custom_attrs_info(cx; target: Object) -> *mut Info {
        match rows::provider(cx, object(target)) {
            Ok(Some((module, owner))) => info(module, owner),
            Ok(None) => std::ptr::null_mut(),
            Err(throw) => { let _ = cx.take_pending(throw); std::ptr::null_mut() }
        }
    }
    fn mono_reflection_get_custom_attrs_by_type(cx; target: Object, class: ClassP, _error: *mut crate::exceptions::Error) -> Object {
        let all = rows::of_provider(cx, object(target));
        or_null(cx, all.and_then(|all| {
            let all: Vec<_> = all.into_iter().filter(|r| class.is_none_or(|c| fits(r, c))).collect();
            cx.alloc_ref_array(cx.known(Known::Attribute), all.len(), |i| rows::instantiate(cx, &all[i]))
        }))
    }
}
