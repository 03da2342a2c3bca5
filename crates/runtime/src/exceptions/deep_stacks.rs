//! Deep stacks: the methods whose frames fill them get code with smaller frames.
//!
//! The single-pass register allocator gives each value a place of its own in the frame: one of a long method has tens of kilobytes, a hundred times what the
//! other allocator makes of it. A recursion of such methods would use up a stack on which it has room. So when a stack becomes deep, and each time that it has
//! become deeper by a part, the thread walks that part: methods that take much of it are compiled again at their next call (`code/hot.rs`).
//!
//! # Invariants
//! * What is looked at is how much of the stack is in use, not how often a method was called: a program whose stack stays shallow pays nothing.
//! * A thread whose stack does not grow looks at most once for each part of it. One whose stack grows looks when it maps a further piece.
use crate::code::call_counts;
use crate::cx::Cx;
use crate::exceptions::walk::Walk;
use rustc_hash::FxHashMap;

/// A method takes much of a part if its frames have one byte in so many.
const MUCH: usize = 256;

/// The stack of the calling thread, which is in Runtime state, has become deep, or deeper by that many bytes.
pub(super) fn has_become_deeper(bytes: usize) {
    let cx = Cx::current();
    let mut taken = FxHashMap::default();
    let (mut inner, mut left) = (0, bytes);
    for frame in Walk::here(&cx) {
        // A frame lies between the frame pointers of its callee and its own. What lies between those of two pieces of the stack has no one owner.
        let size = frame.fp.checked_sub(inner).filter(|_| inner != 0);
        inner = frame.fp;
        let Some(size) = size else { continue };
        *taken.entry(frame.code.start).or_insert(0) += size;
        left = left.saturating_sub(size);
        if left == 0 {
            break;
        }
    }
    for (code, size) in taken {
        if size >= bytes / MUCH {
            // SAFETY: the start of code in the table, which is never freed.
            unsafe { call_counts::replace_at_next_call(code) };
        }
    }
}
