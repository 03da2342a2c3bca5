//! Calls on proxies of native code's objects, which are COM interfaces.
//!
//! # Invariants
//! A method of an imported interface is native code's; any other one is called on the `__ComObject`, never by a message.
use super::{calls, classes};
use crate::code;
use crate::cx::{Cx, Result, Value};
use crate::interop::com::rcw;
use crate::object::ObjRef;
use smallvec::SmallVec;
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_types::{Known, MethodRef};

/// A call on a proxy: of a method of an imported interface the native function, of another method that of the `__ComObject`.
///
/// # Safety
/// As for [`calls::invoke`].
pub unsafe fn invoke<'cx>(
    cx: &'cx Cx<'cx>,
    real: ObjRef<'cx>,
    method: MethodRef,
    lowered: &LoweredSignature,
    words: *const u64,
    out: *mut u8,
) -> Result<()> {
    let object = match rcw::com_object(real) {
        Some(object) => object,
        None => return Err(cx.throw_default(Known::InvalidOperationException)),
    };
    if !rcw::is_native(method) {
        let target = classes::called(cx, object.class(), method)?;
        // SAFETY: the caller's promise.
        return unsafe { calls::invoke_words(cx, object, target, lowered, words, out) };
    }
    let interface = rcw::declared_interface(cx, object, method.class)?;
    let function = rcw::function_of(cx, method)?;
    let keeps = rcw::keeps_signature(method);
    let count: usize = calls::count_of_words(lowered);
    let mut all: SmallVec<[u64; 16]> = SmallVec::new();
    if keeps && lowered.ret == Pass::Address {
        all.push(out as u64);
    }
    all.push(interface as u64);
    // SAFETY: the stub stored one word per CLIF parameter.
    all.extend_from_slice(unsafe { std::slice::from_raw_parts(words, count) });
    if !keeps && lowered.ret != Pass::None {
        all.push(out as u64);
    }
    let ret = code::invoke::invoke_words(cx, function, all)?;
    if keeps {
        // SAFETY: the caller's promise.
        unsafe { calls::store_result(lowered, &ret, out) };
        return Ok(());
    }
    match ret[0] as u32 as i32 {
        failed if failed < 0 => {
            let throw = cx.known_method(Known::Marshal, "ThrowExceptionForHR", 1)?;
            cx.invoke(throw, None, &[Value::Int(i64::from(failed))])?;
            Ok(())
        }
        _ => Ok(()),
    }
}
