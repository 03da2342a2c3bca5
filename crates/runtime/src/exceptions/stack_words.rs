//! A managed stack as words: what a walk notes where it may take no memory, and the frames and the text that the words become elsewhere.
//!
//! # Invariants
//! * [`collect`] takes no memory and no lock, so signal handlers use it, and whoever has stopped the world.
//! * A word stays valid: code and methods are never freed.
use crate::arch::Registers;
use crate::code::{arena, table};
use crate::exceptions::trace::{Frame, RawFrame};
use crate::exceptions::walk::{Frame as WalkFrame, Walk};
use crate::safepoint::stash;
use crate::threads::managed_stack;
use std::ptr::null_mut;
use vervet_abi::ThreadContext;
use vervet_types::{Method, MethodRef};

/// A frame's code address, or the address of the method whose stub was left through; the two highest bits say which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Word(pub(crate) u64);

const TAG: u32 = 62;
/// The address that the frame returns to.
const RETURN: u64 = 0;
/// The address of the instruction that the frame is at.
const EXACT: u64 = 1;
/// The address of a method.
const STUB: u64 = 2;

impl Word {
    fn new(address: usize, tag: u64) -> Word {
        Word(address as u64 | tag << TAG)
    }
    fn pc(address: usize, is_exact: bool) -> Word {
        Word::new(address, if is_exact { EXACT } else { RETURN })
    }
    fn parts(self) -> (usize, u64) {
        ((self.0 & ((1 << TAG) - 1)) as usize, self.0 >> TAG)
    }
}

/// Walks a managed stack, innermost frame first, as long as `note` says so. `managed_at` has the program counter and the frame pointer of a thread
/// that was interrupted in managed code; without it the walk begins where managed code was left.
///
/// # Safety
/// The context is that of a thread which does not run meanwhile, and `managed_at` are its registers: it is the calling thread, in a signal handler,
/// or the world is stopped.
pub(crate) unsafe fn collect(
    context: *mut ThreadContext,
    managed_at: Option<Registers>,
    mut note: impl FnMut(Word) -> bool,
) {
    // SAFETY: in Managed state fp chains through frames of this thread's stack; each is checked to lie on it.
    unsafe {
        if let Some(Registers {
            mut pc, sp, mut fp, ..
        }) = managed_at
        {
            let mut exact = true;
            let code_at = |pc: usize, exact| {
                arena::contains(pc).then(|| table::find(if exact { pc } else { pc - 1 }))?
            };
            while let Some(code) = code_at(pc, exact) {
                let is_on_stack = match (*context).segment {
                    0 => fp >= (*context).true_limit - (1 << 20) && fp < (*context).stack_base - 16,
                    _ => managed_stack::contains(context, fp + 16),
                };
                if !note(Word::pc(pc, exact)) || !is_on_stack {
                    break;
                }
                if exact && code.is_frameless() {
                    pc = *(sp as *const usize);
                } else {
                    pc = *((fp + 8) as *const usize);
                    fp = *(fp as *const usize);
                }
                exact = false;
            }
        }
    }
    // SAFETY: the records of the thread, which does nothing else meanwhile. One whose frames are put away is parked, so the world is stopped.
    unsafe {
        stash::with_frames(context, || {
            let mut walk = Walk::new(context);
            loop {
                let next = walk.next();
                if let Some(m) = walk.take_wrapper()
                    && !note(Word::new(m as *const Method as usize, STUB))
                {
                    return;
                }
                let Some(f) = next else { return };
                if !note(Word::pc(f.pc, f.exact)) {
                    return;
                }
            }
        });
    }
}

/// The frames of a stack, innermost first.
pub(crate) fn frames(words: &[Word]) -> Vec<Frame> {
    let mut frames = Vec::new();
    // The method whose stub was left through last, which has one frame, not two.
    let mut stub: Option<MethodRef> = None;
    for word in words {
        let (address, tag) = word.parts();
        if tag == STUB {
            // SAFETY: the word is the address of a method, which lives for ever.
            let m: MethodRef = unsafe { &*(address as *const Method) };
            stub = Some(m);
            frames.extend(RawFrame::wrapper(m).of_other_thread());
            continue;
        }
        let left = stub.take();
        let exact = tag == EXACT;
        let Some(code) = table::find(if exact { address } else { address - 1 }) else {
            continue;
        };
        if let table::CodeKind::Wrapper(m) = code.kind
            && left.is_some_and(|l| std::ptr::eq(l, m))
        {
            continue;
        }
        let frame = WalkFrame {
            code,
            fp: 0,
            pc: address,
            exact,
            record: null_mut(),
        };
        frames.extend(RawFrame::of(&frame).filter_map(RawFrame::of_other_thread));
    }
    frames
}

/// The lines of a stack, innermost frame first, without indentation.
pub(crate) fn lines(words: impl IntoIterator<Item = Word>) -> Vec<String> {
    let mut lines = Vec::new();
    // The method whose stub was left through last, which has one line, not two.
    let mut stub: Option<MethodRef> = None;
    for word in words {
        let (address, tag) = word.parts();
        if tag == STUB {
            // SAFETY: the word is the address of a method, which lives for ever.
            let m: MethodRef = unsafe { &*(address as *const Method) };
            stub = Some(m);
            lines.push(format!("(wrapper managed-to-native) {}", m.full_name()));
            continue;
        }
        let left = stub.take();
        let probe = if tag == EXACT { address } else { address - 1 };
        let Some(code) = table::find(probe) else {
            continue;
        };
        for (m, il) in code.inlined(probe) {
            lines.push(format!("{} [0x{il:05x}]", m.full_name()));
        }
        let il = code
            .il_offset(probe)
            .map_or(String::from("?"), |o| format!("0x{o:05x}"));
        match code.kind {
            table::CodeKind::Method(m) => lines.push(format!("{} [{il}]", m.full_name())),
            table::CodeKind::Filter(m) => lines.push(format!("(filter) {} [{il}]", m.full_name())),
            table::CodeKind::Wrapper(m) if left.is_some_and(|l| std::ptr::eq(l, m)) => {}
            table::CodeKind::Wrapper(m) | table::CodeKind::Callback(m) => {
                lines.push(format!("(wrapper) {}", m.full_name()))
            }
            table::CodeKind::Stub(_) => {}
        }
    }
    lines
}
