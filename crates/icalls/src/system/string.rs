//! Native half of System.String.
//!
//! Keeps nothing: interned strings are the domain's. The constructors are not called as icalls (`newobj` goes to
//! `CreateString`).
use vervet_runtime::ObjRef;
use vervet_runtime::icalls;

icalls! {
    /// A string of this length whose characters are zero until managed code writes them.
    "System.String::FastAllocateString" fn fast_allocate_string(cx, length: i32) -> ObjRef<'cx> {
        match usize::try_from(length) {
            Ok(n) => cx.alloc_string_uninit(n),
            Err(_) => Err(cx.rt().throw_out_of_memory(cx)),
        }
    }
    /// The domain's only string of this text.
    "System.String::InternalIntern" fn internal_intern(cx, s: ObjRef<'cx>) -> ObjRef<'cx> {
        Ok(cx.domain().intern_object(cx.non_null(s)?))
    }
    /// The interned string, or null.
    "System.String::InternalIsInterned" fn internal_is_interned(cx, s: ObjRef<'cx>) -> ObjRef<'cx> {
        let s = cx.non_null(s)?;
        Ok(cx.domain().is_interned(s.units()).unwrap_or(ObjRef::NULL))
    }
}
