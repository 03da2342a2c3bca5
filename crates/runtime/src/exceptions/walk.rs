//! Walking managed frames: by frame pointers inside a piece of stack, by the record list between pieces.
//!
//! ```text
//!   record list             stack, innermost first
//!   exit record  ---------> managed frames, chained by frame pointers
//!   entry record ---------> Rust frames that called managed code (not walked)
//!   exit record  ---------> managed frames
//!   segment record          (managed code went on on the next segment of its stack)
//!   exit record  ---------> managed frames
//!   (null)                  the thread's first frames
//! ```
//!
//! # Invariants
//! * A walk begins at an exit record and sees only frames whose code is in the table. Where a frame returns to code that is not in the
//!   table, the piece ends: the next record is the entry record of that piece, and the walk goes on at the exit record before it.
//! * The walk takes no lock, so signal handlers may walk the stack that they interrupted.
use crate::code::{arena, table};
use crate::cx::Cx;
use vervet_abi::context::{Record, RecordKind, ThreadContext};
use vervet_types::MethodRef;

/// One frame.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Its code.
    pub code: &'static table::Code,
    /// Its frame pointer.
    pub fp: usize,
    /// Where it is: a return address, or the address of a trapping instruction.
    pub pc: usize,
    /// `pc` is the address of an instruction that trapped, not a return address.
    pub exact: bool,
    /// The record list as it was when this frame ran (what `resume` into it restores).
    pub record: *mut Record,
}

impl Frame {
    /// The address to look tables up with.
    pub fn probe(&self) -> usize {
        if self.exact { self.pc } else { self.pc - 1 }
    }
    /// The logical frames of a method's (or filter's) code, innermost first: what was inlined here, then the method,
    /// each with the IL offset reached. Empty for wrappers and stubs.
    pub fn logical(&self) -> impl Iterator<Item = (MethodRef, Option<u32>)> + use<> {
        let own = match self.code.kind {
            table::CodeKind::Method(m) | table::CodeKind::Filter(m) => {
                Some((m, self.code.il_offset(self.probe())))
            }
            table::CodeKind::Wrapper(_)
            | table::CodeKind::Callback(_)
            | table::CodeKind::Stub(_) => None,
        };
        let code = self.code;
        code.inlined(self.probe())
            .map(|(m, il)| (m, Some(il)))
            .chain(own)
    }
}

/// A walk, innermost frame first.
pub struct Walk {
    fp: usize,
    pc: usize,
    exact: bool,
    /// The exit record the current piece began at.
    exit: *mut Record,
    done: bool,
    first_wrapper: Option<MethodRef>,
}

impl Walk {
    /// The calling thread's, from the innermost exit record on.
    pub fn here(cx: &Cx<'_>) -> Walk {
        // SAFETY: a token's context is that of the calling thread, which is in Runtime state.
        unsafe { Walk::new(cx.context()) }
    }
    /// Begins at the innermost exit record of the context.
    ///
    /// # Safety
    /// The context is the calling thread's, or that of a thread that does not run. The frames that its records lead to stay active as long as
    /// the walk is used.
    pub unsafe fn new(context: *mut ThreadContext) -> Walk {
        // SAFETY: the caller's promise: nobody changes the list of records meanwhile.
        unsafe { Walk::from_record((*context).record) }
    }
    /// Begins at an exit record; a null record or an entry record gives an empty walk or goes on below it.
    ///
    /// # Safety
    /// The record is null or one of a thread as [`Walk::new`] wants it.
    pub unsafe fn from_record(record: *mut Record) -> Walk {
        let mut w = Walk {
            fp: 0,
            pc: 0,
            exact: false,
            exit: record,
            done: false,
            first_wrapper: None,
        };
        w.enter_piece(record);
        w
    }
    fn enter_piece(&mut self, mut record: *mut Record) {
        // SAFETY: records lie on this thread's stack below frames that are still active.
        unsafe {
            while let Some(r) = record.as_ref()
                && r.begins_piece()
            {
                record = r.previous;
            }
            match record.as_ref() {
                None => self.done = true,
                Some(r) => {
                    self.exit = record;
                    self.fp = r.fp;
                    self.pc = r.pc;
                    self.exact = r.kind == RecordKind::Throw as usize && r.method == 1;
                    self.first_wrapper = if r.method > 1 && r.kind != RecordKind::Throw as usize {
                        Some(&*(r.method as *const vervet_types::Method))
                    } else {
                        None
                    };
                }
            }
        }
    }
    /// The method whose icall or P/Invoke stub the piece of the frame that came last was left through, once: it is further in than that frame.
    pub fn take_wrapper(&mut self) -> Option<MethodRef> {
        self.first_wrapper.take()
    }
    /// The same, if that frame is not the stub's own.
    pub fn take_wrapper_beside(&mut self, frame: &Frame) -> Option<MethodRef> {
        let is_own = |method: &MethodRef| matches!(frame.code.kind, table::CodeKind::Wrapper(m) if m == *method);
        self.take_wrapper().filter(|m| !is_own(m))
    }
}

impl Iterator for Walk {
    type Item = Frame;
    fn next(&mut self) -> Option<Frame> {
        loop {
            if self.done {
                return None;
            }
            let probe = if self.exact {
                self.pc
            } else {
                self.pc.wrapping_sub(1)
            };
            let code = if arena::contains(probe) {
                table::find(probe)
            } else {
                None
            };
            // SAFETY: `exit` is a live record; `fp` is the frame pointer of a frame of JIT code, whose two words
            // are its caller's frame pointer and return address.
            unsafe {
                match code {
                    Some(code) => {
                        let frame = Frame {
                            code,
                            fp: self.fp,
                            pc: self.pc,
                            exact: self.exact,
                            record: (*self.exit).previous,
                        };
                        self.pc = *((self.fp + 8) as *const usize);
                        self.fp = *(self.fp as *const usize);
                        self.exact = false;
                        return Some(frame);
                    }
                    None => {
                        // The end of a piece: the record before the exit is the entry we came in by.
                        let entry = (*self.exit).previous;
                        if entry.is_null() {
                            self.done = true;
                        } else {
                            let below = (*entry).previous;
                            self.enter_piece(below);
                        }
                    }
                }
            }
        }
    }
}

/// The managed methods on the stack, innermost first, starting at the frame that called the running icall.
pub fn caller_methods(cx: &Cx<'_>) -> impl Iterator<Item = MethodRef> + use<> {
    Walk::here(cx)
        .filter(|f| matches!(f.code.kind, table::CodeKind::Method(_)))
        .flat_map(|f| f.logical().map(|l| l.0))
}

/// The inner methods of the current stack as text, for SIGQUIT, crash reports and internal errors.
///
/// # Safety
/// The context is the calling thread's.
pub unsafe fn describe(context: *mut ThreadContext) -> Vec<String> {
    let mut out = Vec::new();
    // SAFETY: the frames above this one stay active while it runs.
    let mut walk = unsafe { Walk::new(context) };
    while let Some(f) = walk.next() {
        if let Some(m) = walk.take_wrapper() {
            out.push(format!("(wrapper managed-to-native) {}", m.full_name()));
        }
        let filter = if matches!(f.code.kind, table::CodeKind::Filter(_)) {
            "(filter) "
        } else {
            ""
        };
        for (m, il) in f.logical() {
            let il = il.map_or(String::from("?"), |o| format!("0x{o:05x}"));
            out.push(format!("{filter}{} [{il}]", m.full_name()));
        }
        if let table::CodeKind::Wrapper(m) | table::CodeKind::Callback(m) = f.code.kind {
            out.push(format!("(wrapper) {}", m.full_name()));
        }
        if out.len() > 400 {
            out.push("...".into());
            break;
        }
    }
    out
}
