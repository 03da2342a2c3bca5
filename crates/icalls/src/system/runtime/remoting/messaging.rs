//! Native half of System.Runtime.Remoting.Messaging.AsyncResult: a worker makes the call.
//!
//! Keeps nothing. What the call throws goes to whoever ends it; what the callback throws is the worker's.
use crate::support::invoke;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::interop::delegates::{self, async_call};
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// Makes the call that `BeginInvoke` queued. A worker of the thread pool runs this once for each call.
    "System.Runtime.Remoting.Messaging.AsyncResult::Invoke" fn invoke_async(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        async_call::check(cx, this)?;
        let outcome = match call(cx, this) {
            Ok(value) => Ok(value),
            Err(throw) => Err(cx.take_pending(throw)),
        };
        async_call::complete(cx, this, outcome)?;
        Ok(outcome.unwrap_or(ObjRef::NULL))
    }
}

fn call<'cx>(cx: &'cx Cx<'cx>, result: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let (delegate, arguments) = async_call::target(result);
    let method = delegates::invoke_method(cx, delegate.class())?;
    invoke::call(cx, method, delegate, arguments)
}
