//! Native half of Mono.Interop.ComInteropProxy.
//!
//! Keeps nothing: the runtime's `interop::com` has the table of proxies.
use vervet_runtime::interop::com::rcw;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// The proxy of an object of native code by its IUnknown; null if there is none yet.
    "Mono.Interop.ComInteropProxy::FindProxy" fn find_proxy(cx, unknown: usize) -> ObjRef<'cx> {
        Ok(rcw::find_proxy(cx, unknown))
    }
    /// Keeps the proxy of an object of native code, as long as it lives.
    "Mono.Interop.ComInteropProxy::AddProxy" fn add_proxy(cx, unknown: usize, proxy: ObjRef<'cx>) {
        rcw::add_proxy(cx, unknown, cx.non_null(proxy)?)
    }
}
