//! The frames of the calling thread, as numbers.
//!
//! # Invariants
//! * The thread is in Runtime or Native state, below an exit record, so its frames do not change.
//! * A return address that was found in the table of code is remembered: code is never removed from it. So a walk costs two loads for each frame.
//! * Nothing here takes a lock or memory.
use crate::code::{arena, table};
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::{Record, RecordKind};
use vervet_profiler::options::MOST_FRAMES;
use vervet_profiler::sample::{FrameKind, FrameWord};

/// Frames, innermost first.
pub struct Trace {
    words: [u64; MOST_FRAMES as usize],
    count: usize,
}

/// Return addresses that were found in the table.
static KNOWN: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];

/// Does a frame of managed code return there?
fn is_managed(pc: usize) -> bool {
    let place = &KNOWN[(pc ^ pc >> 12) & 4095];
    if place.load(Ordering::Relaxed) == pc {
        return true;
    }
    let found = arena::contains(pc.wrapping_sub(1)) && table::find(pc - 1).is_some();
    if found {
        place.store(pc, Ordering::Relaxed);
    }
    found
}

impl Trace {
    /// The frames of the context's thread, at most so many.
    ///
    /// # Safety
    /// The context is the calling thread's, which is attached and not in Managed state.
    pub unsafe fn here(context: *mut ThreadContext, most: u32) -> Trace {
        let mut trace = Trace {
            words: [0; MOST_FRAMES as usize],
            count: 0,
        };
        let most = most.min(MOST_FRAMES) as usize;
        // SAFETY: the caller's promise: the records and the frames between them belong to frames that are still active.
        unsafe {
            let mut record = (*context).record;
            while trace.count < most {
                while let Some(r) = record.as_ref()
                    && r.begins_piece()
                {
                    record = r.previous;
                }
                let Some(r) = record.as_ref() else { break };
                trace.piece(r, most);
                record = match r.previous.as_ref() {
                    Some(entry) => entry.previous,
                    None => break,
                };
            }
        }
        trace
    }

    /// Adds the frames of the piece that was left through an exit record.
    ///
    /// # Safety
    /// The frames are active.
    unsafe fn piece(&mut self, exit: &Record, most: usize) {
        let throws = exit.kind == RecordKind::Throw as usize;
        if exit.method > 1 && !throws {
            self.add(exit.method, FrameKind::Stub, most);
        }
        let (mut pc, mut fp) = (exit.pc, exit.fp);
        if throws && exit.method == 1 {
            // The address of the instruction that trapped.
            if !arena::contains(pc) || table::find(pc).is_none() {
                return;
            }
            self.add(pc, FrameKind::Exact, most);
            // SAFETY: a frame of managed code, whose two words are its caller's frame pointer and the address that it returns to.
            (fp, pc) = unsafe { (*(fp as *const usize), *((fp + 8) as *const usize)) };
        }
        while is_managed(pc) && self.add(pc, FrameKind::Return, most) {
            // SAFETY: as above.
            (fp, pc) = unsafe { (*(fp as *const usize), *((fp + 8) as *const usize)) };
        }
    }

    /// Adds a frame; false if there is no more room.
    fn add(&mut self, address: usize, kind: FrameKind, most: usize) -> bool {
        if self.count < most {
            self.words[self.count] = FrameWord::new(address, kind).0;
            self.count += 1;
        }
        self.count < most
    }
    /// The frames as words of a record.
    pub fn words(&self) -> &[u64] {
        &self.words[..self.count]
    }
}
