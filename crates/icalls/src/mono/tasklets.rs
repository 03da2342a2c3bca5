//! Native half of Mono.Tasklets.Continuation.
//!
//! `Mark` and `Restore` throw what their internal calls return; `Store` throws what it finds in its out parameter.
use vervet_runtime::code::icall::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_runtime::threads::continuations;

/// The exception, as an object; null if there is none.
fn exception<'cx>(cx: &'cx Cx<'cx>, result: Result<()>) -> ObjRef<'cx> {
    result.map_or_else(|throw| cx.take_pending(throw), |()| ObjRef::NULL)
}

icalls! {
    /// What stands for the object here.
    "Mono.Tasklets.Continuation::alloc" fn alloc(cx) -> usize { Ok(continuations::alloc()) }
    /// The end of that.
    "Mono.Tasklets.Continuation::free" fn free(cx, continuation: usize) {
        continuations::free(continuation);
        Ok(())
    }
    /// The caller of `Mark` is the outermost frame that the continuation has.
    "Mono.Tasklets.Continuation::mark" fn mark(cx, continuation: usize) -> ObjRef<'cx> {
        Ok(exception(cx, continuations::mark(cx, continuation)))
    }
    /// Copies the stack. Returns `state`, and again for each call of `Restore`.
    "Mono.Tasklets.Continuation::store" fn store(cx, continuation: usize, state: i32, error: RefSlot<'cx>) -> i32 {
        // Before the copy: the variable lies in a frame that is copied.
        error.set(ObjRef::NULL);
        let thrown = exception(cx, continuations::store(cx, continuation));
        if thrown.is_null() {
            return Ok(state);
        }
        error.set(thrown);
        Ok(0)
    }
    /// Goes on where the stack was copied; returns only with an exception.
    "Mono.Tasklets.Continuation::restore" fn restore(cx, continuation: usize, state: i32) -> ObjRef<'cx> {
        Ok(exception(cx, continuations::restore(cx, continuation, state)))
    }
}
