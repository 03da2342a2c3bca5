//! Stubs that depend on nothing but the key of a signature: made once, and kept for the next process.
//!
//! # Invariants
//! * A key says what sort of stub it is and everything that the compiler makes it from. So whoever has the key has the stub, in every process that uses
//!   the same cache. The keys of invoke stubs are those of [`LoweredSignature`]; the others begin with the name of their sort and a space, which
//!   those never contain.
use crate::code::cache;
use crate::cx::Cx;
use vervet_jit::blob::ColdResult;
use vervet_jit::signature::LoweredSignature;
use vervet_jit::stubs::delegate::DelegateThunk;
use vervet_jit::{Blob, CompileError, Compiler};

/// The stub by which the runtime calls managed code of a signature.
pub fn invoke_stub<'cx>(cx: &'cx Cx<'cx>, lowered: &LoweredSignature) -> Blob {
    kept(cx, &lowered.key(), |c| c.invoke_stub(lowered))
}

/// The thunk of a kind for an `Invoke` of a signature.
pub fn delegate_thunk<'cx>(
    cx: &'cx Cx<'cx>,
    kind: DelegateThunk,
    lowered: &LoweredSignature,
) -> Blob {
    let key = format!("delegate-thunk {kind:?} {}", lowered.key());
    kept(cx, &key, |c| c.delegate_thunk(kind, lowered))
}

/// The stub for calls that preserve all registers.
pub fn cold_call<'cx>(cx: &'cx Cx<'cx>, result: ColdResult) -> Blob {
    kept(cx, &format!("cold-call {result:?}"), |c| {
        c.cold_call(result)
    })
}

fn kept<'cx>(
    cx: &'cx Cx<'cx>,
    key: &str,
    make: impl Fn(&Compiler) -> Result<Blob, CompileError>,
) -> Blob {
    if let Some(blob) = cache::find_stub(key) {
        return blob;
    }
    let made =
        cx.native(|| crate::threads::service_stack::on_service_stack(|| make(&cx.rt().compiler)));
    let blob = made
        .unwrap_or_else(|e| crate::process::fatal::internal_error(&format!("the stub {key}: {e}")));
    crate::process::counters::stub(&blob);
    cache::keep_stub(key, &blob);
    blob
}
