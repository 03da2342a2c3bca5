//! Where an abort has to wait: in a finally or fault, in a filter, in a class constructor, and while the runtime has the
//! program's code run on its behalf.
//!
//! # Invariants
//! What is protected depends on the frames of the calling thread's stack and on [`Region`]s alone.
use crate::code::table::CodeKind;
use crate::cx::Cx;
use crate::exceptions::walk::{Frame, Walk};
use std::cell::Cell;
use vervet_metadata::body::EhKind;

thread_local! {
    static REGIONS: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, the calling thread is not aborted by others.
pub struct Region(());
impl Region {
    /// Begins; nests.
    pub fn begin() -> Region {
        REGIONS.set(REGIONS.get() + 1);
        Region(())
    }
}
impl Drop for Region {
    fn drop(&mut self) {
        REGIONS.set(REGIONS.get() - 1);
    }
}

/// Must an abort of the calling thread wait? The thread is in Runtime state.
pub fn is_protected(cx: &Cx<'_>) -> bool {
    REGIONS.get() > 0 || Walk::new(cx.context()).any(|frame| protects(&frame))
}

fn protects(frame: &Frame) -> bool {
    let method = match frame.code.kind {
        CodeKind::Filter(_) => return true,
        CodeKind::Method(method) => method,
        CodeKind::Wrapper(_) | CodeKind::Stub(_) => return false,
    };
    if frame.logical().any(|(method, _)| method.is_cctor()) {
        return true;
    }
    // Inlined methods have no handlers: the frame's own offset says it all.
    if frame.code.clauses.is_empty() {
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
