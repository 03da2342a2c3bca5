//! Native half of System.Runtime.Remoting.Proxies.RealProxy.
//!
//! Keeps nothing: the runtime's `remoting` makes the proxies.
use vervet_runtime::remoting::{self, classes};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

icalls! {
    /// A new transparent proxy of the real proxy. The name of a class that is not loaded here is not looked at.
    "System.Runtime.Remoting.Proxies.RealProxy::InternalGetTransparentProxy" fn internal_get_transparent_proxy(cx, this: ObjRef<'cx>, class_name: ObjRef<'cx>) -> ObjRef<'cx> {
        classes::make(cx, cx.non_null(this)?)
    }
    /// The class that a transparent proxy stands for. Of a proxy that was made for an interface it is MarshalByRefObject, by which managed code sees that such
    /// a proxy may be cast to whatever its type info allows.
    "System.Runtime.Remoting.Proxies.RealProxy::InternalGetProxyType" fn internal_get_proxy_type(cx, proxy: ObjRef<'cx>) -> ObjRef<'cx> {
        let proxy = cx.non_null(proxy)?;
        if !remoting::is_proxy(proxy) {
            return Err(cx.throw_default(Known::ArgumentException));
        }
        cx.type_object(classes::base_class(proxy))
    }
}
