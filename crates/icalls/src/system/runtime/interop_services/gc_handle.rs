//! Native half of System.Runtime.InteropServices.GCHandle.
//!
//! Keeps nothing: handles are the runtime's ([`vervet_runtime::memory::handles`]). A value that is not a handle in use gives an
//! exception where mono reads null, crashes or ends the process; freeing one is nothing, as in mono.
use vervet_runtime::cx::{Cx, Result, Throw};
use vervet_runtime::memory::handles::{self, HandleKind};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;
use vervet_types::class::type_flags;

fn not_in_use(cx: &Cx<'_>) -> Throw {
    cx.throw(
        Known::InvalidOperationException,
        "Handle is not initialized.",
    )
}
fn target<'cx>(cx: &'cx Cx<'cx>, handle: i32) -> Result<ObjRef<'cx>> {
    handles::target(handle as u32).ok_or_else(|| not_in_use(cx))
}

icalls! {
    /// Was the handle allocated in the current domain?
    "System.Runtime.InteropServices.GCHandle::CheckCurrentDomain" fn check_current_domain(cx, handle: i32) -> bool { Ok(handles::is_of_current_domain(handle as u32)) }
    /// The handle's target; null for a weak handle whose target has died.
    "System.Runtime.InteropServices.GCHandle::GetTarget" fn get_target(cx, handle: i32) -> ObjRef<'cx> { target(cx, handle) }
    /// A kind of -1 sets the target of an existing handle.
    "System.Runtime.InteropServices.GCHandle::GetTargetHandle" fn get_target_handle(cx, obj: ObjRef<'cx>, handle: i32, kind: i32) -> i32 {
        if kind == -1 {
            return if handles::set_target(handle as u32, obj) { Ok(handle) } else { Err(not_in_use(cx)) };
        }
        match HandleKind::from_i32(kind) {
            Some(k) => Ok(handles::alloc_or_throw(cx, obj, k)? as i32),
            None => Err(cx.throw_default(Known::ArgumentException)),
        }
    }
    /// Frees the handle.
    "System.Runtime.InteropServices.GCHandle::FreeHandle" fn free_handle(cx, handle: i32) {
        handles::free(handle as u32);
        Ok(())
    }
    /// -2: not pinned; -1: of a class whose fields have no order of their own; 0: no target. Mono looks no further either:
    /// a box of a structure with references, or an array of references, has an address.
    "System.Runtime.InteropServices.GCHandle::GetAddrOfPinnedObject" fn get_addr_of_pinned_object(cx, handle: i32) -> isize {
        if HandleKind::of(handle as u32) != Some(HandleKind::Pinned) {
            return Ok(-2);
        }
        let target = target(cx, handle)?;
        Ok(if target.is_null() {
            0
        } else if target.is_string() {
            target.string_ptr() as isize
        } else if target.is_array() {
            target.array_data() as isize
        } else if target.class().flags & type_flags::LAYOUT_MASK == 0 {
            -1
        } else {
            target.value_ptr() as isize
        })
    }
}
