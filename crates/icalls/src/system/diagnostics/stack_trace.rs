//! Native half of System.Diagnostics.StackTrace and StackFrame.
//!
//! Keeps nothing: the symbol files are those of [`symbols`].
use crate::support::objects::{Fill, method_object};
use vervet_runtime::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::exceptions::symbols;
use vervet_runtime::exceptions::trace::{self, Frame};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

/// The `StackFrame[]` of frames.
pub fn frame_objects<'cx>(
    cx: &'cx Cx<'cx>,
    frames: &[Frame],
    need_file: bool,
) -> Result<ObjRef<'cx>> {
    cx.alloc_ref_array(cx.known(Known::StackFrame), frames.len(), |i| {
        frame_object(cx, &frames[i], need_file)
    })
}

/// A StackFrame object, with file and line if they are wanted and known.
fn frame_object<'cx>(cx: &'cx Cx<'cx>, frame: &Frame, need_file: bool) -> Result<ObjRef<'cx>> {
    let method = match frame.method {
        Some(m) => method_object(cx, m, None)?,
        None => ObjRef::NULL,
    };
    let line = match (frame.method, frame.il_offset) {
        (Some(m), Some(il)) if need_file => symbols::source_line(m, il),
        _ => None,
    };
    let file = cx.alloc_opt_str(line.as_ref().map(|l| l.file.as_str()))?;
    let internal = cx.alloc_opt_str(frame.internal_name.as_deref())?;
    Ok(Fill::new(cx, Known::StackFrame)?
        .set("methodBase", method)?
        .set("fileName", file)?
        .set("internalMethodName", internal)?
        .put("ilOffset", frame.il_offset.map_or(-1, |o| o as i32))?
        .put("nativeOffset", frame.native_offset as i32)?
        .put("lineNumber", line.as_ref().map_or(0, |l| l.line as i32))?
        .put("columnNumber", line.as_ref().map_or(0, |l| l.col as i32))?
        .object)
}

icalls! {
    /// The frames an exception has recorded; none if it was never thrown.
    "System.Diagnostics.StackTrace::get_trace" fn get_trace(cx, exception: ObjRef<'cx>, skip: i32, need_file: bool) -> ObjRef<'cx> {
        let frames = trace::frames_of_exception(cx, cx.non_null(exception)?);
        let frames = frames.get(skip.max(0) as usize..).unwrap_or(&[]);
        frame_objects(cx, frames, need_file)
    }

    /// One frame of the running thread; false beyond the last, and before the first (who asks counts until there is no
    /// more, and its count may have run over). The internal call itself counts as frame 0. As in mono, symbols tell the IL offset: without them it is 0.
    "System.Diagnostics.StackFrame::get_frame_info" fn get_frame_info(cx, skip: i32, need_file: bool, method: RefSlot<'cx>, il_offset: *mut i32, native_offset: *mut i32, file: RefSlot<'cx>, line: *mut i32, column: *mut i32) -> bool {
        method.set(ObjRef::NULL);
        let frames = trace::current_frames(cx, 0);
        let managed: Vec<&Frame> = frames.iter().filter(|f| f.method.is_some()).collect();
        let at = usize::try_from(skip).ok().and_then(|n| managed.get(n.saturating_sub(1)));
        let source = at.and_then(|f| symbols::source_line(f.method?, f.il_offset?));
        let il = match (at, &source) {
            (Some(frame), Some(_)) => frame.il_offset.map_or(-1, |o| o as i32),
            (Some(_), None) => 0,
            (None, _) => -1,
        };
        // SAFETY: managed code passes the addresses of four ints.
        unsafe {
            il_offset.write(il);
            native_offset.write(at.map_or(-1, |f| f.native_offset as i32));
        }
        if need_file {
            // Else they hold what the program has said, which stays.
            file.set(ObjRef::NULL);
            // SAFETY: as above.
            unsafe {
                line.write(source.as_ref().map_or(0, |s| s.line as i32));
                column.write(source.as_ref().map_or(0, |s| s.col as i32));
            }
        }
        if let Some(m) = at.and_then(|f| f.method) {
            method.set(method_object(cx, m, None)?);
        }
        if let Some(s) = source.filter(|_| need_file) {
            file.set(cx.alloc_str(&s.file)?);
        }
        Ok(at.is_some())
    }
}
