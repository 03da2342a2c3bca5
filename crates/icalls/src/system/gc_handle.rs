//! Native half of System.Runtime.InteropServices.GCHandle.
//!
//! Keeps nothing: handles are the runtime's ([`vervet_runtime::handles`]).
use vervet_runtime::handles::{self, HandleKind};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

icalls! { "System.Runtime.InteropServices.GCHandle" =>
    "CheckCurrentDomain" fn check_current_domain(cx, handle: i32) -> bool { Ok(handles::kind(handle as u32).is_some()) }
    "GetTarget" fn get_target(cx, handle: i32) -> ObjRef<'cx> { Ok(handles::target(handle as u32).unwrap_or(ObjRef::NULL)) }
    /// A kind of -1 sets the target of an existing handle.
    "GetTargetHandle" fn get_target_handle(cx, obj: ObjRef<'cx>, handle: i32, kind: i32) -> i32 {
        if kind == -1 {
            handles::set_target(handle as u32, obj);
            return Ok(handle);
        }
        match HandleKind::from_i32(kind) {
            Some(k) => Ok(handles::alloc(obj, k) as i32),
            None => Err(cx.throw_default(Known::ArgumentException)),
        }
    }
    "FreeHandle" fn free_handle(cx, handle: i32) {
        handles::free(handle as u32);
        Ok(())
    }
    /// -2: not pinned; -1: not blittable; 0: no target.
    "GetAddrOfPinnedObject" fn get_addr_of_pinned_object(cx, handle: i32) -> isize {
        if handles::kind(handle as u32) != Some(HandleKind::Pinned) {
            return Ok(-2);
        }
        let target = handles::target(handle as u32).unwrap_or(ObjRef::NULL);
        if target.is_null() {
            return Ok(0);
        }
        if target.is_string() {
            return Ok(target.string_ptr() as isize);
        }
        if target.is_array() {
            return Ok(target.array_data() as isize);
        }
        Ok(if cx.load(target.class().layout())?.blittable { target.value_ptr() as isize } else { -1 })
    }
}
