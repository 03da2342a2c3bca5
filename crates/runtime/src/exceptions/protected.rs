//! Where an abort has to wait: in a finally or fault, in a filter, in a class constructor, in the methods of [`WHOLE`], and while the
//! runtime has the program's code run on its behalf.
//!
//! # Invariants
//! What is protected depends on the frames of the calling thread's stack and on [`Region`]s alone.
use crate::code::table::{Code, CodeKind};
use crate::cx::Cx;
use crate::exceptions::walk::{Frame, Walk};
use vervet_abi::ThreadContext;
use vervet_metadata::body::EhKind;
use vervet_types::Method;

/// Methods (namespace, class, name) of the class library whose callers' finally blocks take it that they ran to their end, and throw
/// something else if they did not. (Mono aborts there too, and then they throw.) None of them takes long.
const WHOLE: [(&str, &str, &str); 1] = [(
    "System.Net.Sockets",
    "SafeSocketHandle",
    "RegisterForBlockingSyscall",
)];

/// While it lives, its thread is not aborted by others.
pub struct Region(*mut ThreadContext);
impl Region {
    /// Begins; nests. The context is the calling thread's.
    pub fn begin(cx: &Cx<'_>) -> Region {
        // SAFETY: a token holds the context of the calling thread.
        unsafe { (*cx.context()).protected_regions += 1 };
        Region(cx.context())
    }
}
impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: regions do not leave the thread that began them, whose context is never freed.
        unsafe { (*self.0).protected_regions -= 1 };
    }
}

/// While it lives, the calling thread is not aborted by others if it is about to run a filter, a class constructor or a method of
/// [`WHOLE`]. The frame of that code is not made yet, so [`is_protected`] does not find it.
pub(crate) fn entering(cx: &Cx<'_>, code: &Code) -> Option<Region> {
    let protects = match code.kind {
        CodeKind::Filter(_) => true,
        CodeKind::Method(method) => method.is_cctor() || is_whole(method),
        CodeKind::Wrapper(_) | CodeKind::Callback(_) | CodeKind::Stub(_) => false,
    };
    protects.then(|| Region::begin(cx))
}

/// Must an abort of the calling thread wait? The thread is in Runtime state.
pub fn is_protected(cx: &Cx<'_>) -> bool {
    // SAFETY: a token holds the context of the calling thread.
    let regions = unsafe { (*cx.context()).protected_regions };
    regions > 0 || Walk::here(cx).any(|frame| protects(&frame))
}

fn protects(frame: &Frame) -> bool {
    let method = match frame.code.kind {
        CodeKind::Filter(_) => return true,
        CodeKind::Method(method) => method,
        CodeKind::Wrapper(_) | CodeKind::Callback(_) | CodeKind::Stub(_) => return false,
    };
    if frame
        .logical()
        .any(|(method, _)| method.is_cctor() || is_whole(method))
    {
        return true;
    }
    // Inlined methods have no handlers: the frame's own offset says it all.
    if !frame.code.has_clauses() {
        return false;
    }
    let Some(at) = frame.code.il_offset(frame.probe()) else {
        return false;
    };
    let Ok(body) = method.body() else {
        return false;
    };
    body.clauses.iter().any(|c| {
        matches!(c.kind, EhKind::Finally | EhKind::Fault)
            && at.wrapping_sub(c.handler_offset) < c.handler_len
    })
}

fn is_whole(method: &Method) -> bool {
    WHOLE.iter().any(|(namespace, class, name)| {
        let of = method.class;
        method.name == *name && of.name == *class && of.namespace == *namespace
    })
}
