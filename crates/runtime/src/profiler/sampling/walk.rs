//! The walker: the managed frames of a thread that was interrupted at any instruction.
//!
//! # How it works
//! ```text
//!   where the thread is                        where its innermost managed frame is
//!   -----------------------------------------  ---------------------------------------------------------------------------------
//!   Managed, in code of the table              there; where the caller is say the instructions ([`shape`])
//!   Managed, elsewhere in the arena: a stub    its caller, at the stack pointer
//!   in a thunk, in any state                   what the thunk notes ([`unwind`])
//!   Managed, in a leaf helper                  in the frame of the thunk that called it, which the context names
//!   Managed, elsewhere                         not known: a library's handler has interrupted managed code
//!   Runtime, Native                            at the innermost exit record
//!   Parked, Detached                           there is none
//! ```
//! From there frame pointers lead outwards, up to a return address that lies outside of the
//! arena; there the list of records goes on.
//!
//! # Invariants
//! * The walker takes no lock and no memory, and reads no thread-local word. So a signal
//!   handler may walk whatever it has interrupted.
//! * It believes nothing that it reads: each address lies on a stack of the thread ([`Memory`])
//!   before it is read, frame pointers rise, and the number of records is bounded. So no value
//!   of a register makes it fault or go on for ever.
//! * A walk that does not reach the thread's first managed frame says so ([`CUT`]), and so does
//!   one that cannot begin ([`FRAMELESS`]).
use crate::arch::Registers;
use crate::arch::unwind::{self, Rule};
use crate::code::{arena, table};
use vervet_abi::context::{IN_LEAF, Record, RecordKind, State, ThreadContext};
use vervet_abi::stack::Segment;
use vervet_profiler::sample::{CUT, FRAMELESS, FrameKind, FrameWord, IN_NATIVE, IN_RUNTIME};

/// What a walk found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walked {
    /// How many frames.
    pub count: usize,
    /// [`IN_NATIVE`], [`IN_RUNTIME`], [`FRAMELESS`], [`CUT`].
    pub flags: u32,
}

/// Segments that a managed stack has at most: each is eight times as large as the one before.
const MOST_SEGMENTS: usize = 32;
/// Records in front of a managed frame: more is a list that goes in a circle.
const MOST_RECORDS: usize = 1024;

/// The words of the thread's stacks.
pub trait Memory {
    /// The word at an address; None: it lies on no stack of the thread.
    fn word(&self, at: usize) -> Option<usize>;
}

/// The stacks of the calling thread.
pub struct Own {
    /// The part of the native stack that is in use.
    native: (usize, usize),
    /// The current segment of the managed stack.
    segment: (usize, usize),
    earlier: *const Segment,
}

impl Own {
    /// Those of a context. `sp` is the thread's stack pointer.
    ///
    /// # Safety
    /// The context is the calling thread's; the stack pointer is that of the code that the
    /// handler interrupted.
    pub unsafe fn new(context: *mut ThreadContext, sp: usize) -> Own {
        // SAFETY: words of the calling thread's context, which its own code may be about to change: hence volatile.
        unsafe {
            let base = (&raw const (*context).stack_base).read_volatile();
            let end = (&raw const (*context).native_end).read_volatile();
            let native_sp = (&raw const (*context).native_sp).read_volatile();
            let record = (&raw const (*context).record).read_volatile() as usize;
            let has = |at: usize| at != 0 && (end..base).contains(&at);
            // In use is what lies above the stack pointer, and above everything that the
            // records of a thread on another stack name.
            let low = match (has(sp), has(native_sp), has(record)) {
                (true, _, _) => sp,
                (_, true, _) => native_sp,
                (_, _, true) => record,
                _ => base,
            };
            let segment = (&raw const (*context).segment).read_volatile() as *const Segment;
            let (low_segment, top, earlier) = match segment.as_ref() {
                // (While the carrier writes frames back that were put away, the header may be zeros still.)
                Some(s) if s.low != 0 => (s.low, s.bounds().1, s.previous.cast_const()),
                _ => (0, 0, std::ptr::null()),
            };
            Own {
                native: (low, base),
                segment: (low_segment, top),
                earlier,
            }
        }
    }
    fn has(&self, at: usize) -> bool {
        let within = |(low, high): (usize, usize)| at >= low && at < high && high - at >= 8;
        if within(self.native) || within(self.segment) {
            return true;
        }
        let mut segment = self.earlier;
        for _ in 0..MOST_SEGMENTS {
            // SAFETY: the list of the calling thread's segments, which are mapped as long as they are on it.
            match unsafe { segment.as_ref() } {
                None => return false,
                Some(s) if within(s.bounds()) => return true,
                Some(s) => segment = s.previous,
            }
        }
        false
    }
}

impl Memory for Own {
    fn word(&self, at: usize) -> Option<usize> {
        if !at.is_multiple_of(8) || !self.has(at) {
            return None;
        }
        // SAFETY: the word lies on a stack of the calling thread, in the part that is in use.
        Some(unsafe { vervet_os::memory::stack_word(at) })
    }
}

/// The frames, as far as they have room.
struct Frames<'a> {
    words: &'a mut [FrameWord],
    count: usize,
    flags: u32,
}

impl Frames<'_> {
    /// False: there is no room.
    fn push(&mut self, address: usize, kind: FrameKind) -> bool {
        match self.words.get_mut(self.count) {
            Some(word) => {
                *word = FrameWord::new(address, kind);
                self.count += 1;
                true
            }
            None => {
                self.flags |= CUT;
                false
            }
        }
    }
}

/// Where a frame is.
#[derive(Clone, Copy)]
struct At {
    pc: usize,
    fp: usize,
    kind: FrameKind,
}

/// How a walk begins.
enum Start {
    /// At that frame.
    Frame(At),
    /// At the innermost exit record.
    Records,
    /// Not at all.
    Unknown,
}

/// Walks the thread with that context, innermost frame first. `registers` are those of the
/// calling thread's interrupted code; without them the walk begins at the innermost exit
/// record.
///
/// # Safety
/// The context is that of an attached thread or a green thread. With registers it is the
/// calling thread's.
pub unsafe fn walk(
    context: *mut ThreadContext,
    memory: &impl Memory,
    registers: Option<&Registers>,
    words: &mut [FrameWord],
) -> Walked {
    let mut frames = Frames {
        words,
        count: 0,
        flags: 0,
    };
    // SAFETY: contexts are never freed; the words change under us, hence volatile.
    let (state, record, critical, leaf_fp, resuming) = unsafe {
        (
            (&raw const (*context).state).read_volatile(),
            (&raw const (*context).record).read_volatile() as usize,
            (&raw const (*context).critical).read_volatile(),
            (&raw const (*context).leaf_fp).read_volatile(),
            (&raw const (*context).resuming).read_volatile(),
        )
    };
    frames.flags = match state {
        s if s == State::Runtime as u8 => IN_RUNTIME,
        s if s == State::Native as u8 => IN_NATIVE,
        _ => 0,
    };
    let is_managed = state == State::Managed as u8;
    let start = match registers {
        _ if !is_managed && frames.flags == 0 => Start::Unknown,
        None if is_managed => Start::Unknown,
        None => Start::Records,
        Some(r) if is_managed && arena::contains(r.pc) => in_arena(memory, r, &mut frames),
        Some(r) => match unwind::rule_at(r.pc) {
            Some(rule) => in_thunk(memory, r, rule),
            None if is_managed && critical == IN_LEAF => frame_at(memory, leaf_fp),
            None if is_managed || resuming != 0 => Start::Unknown,
            // A handler has interrupted a thunk that has unlinked its record and is not in
            // managed code yet.
            None if record_of(memory, record).is_some_and(|r| r.begins_piece()) => Start::Unknown,
            None => Start::Records,
        },
    };
    match start {
        Start::Frame(at) => outwards(memory, Some(at), record, &mut frames),
        Start::Records => outwards(memory, None, record, &mut frames),
        Start::Unknown => {
            frames.count = 0;
            frames.flags |= FRAMELESS;
        }
    }
    Walked {
        count: frames.count,
        flags: frames.flags,
    }
}

/// A thread in managed code: notes the frame that it is in, if that is made by code of the
/// table.
fn in_arena(memory: &impl Memory, r: &Registers, frames: &mut Frames<'_>) -> Start {
    let Some(code) = table::find(r.pc) else {
        // A stack check calls the grow thunk: its own return address lies below that of the
        // function's caller.
        let below = 8 * usize::from(r.pc == crate::arch::grow_address());
        let at = r.sp.wrapping_add(below);
        return caller(memory, at, r.fp, FrameKind::Return);
    };
    if !frames.push(r.pc, FrameKind::Exact) {
        return Start::Unknown;
    }
    match shape::at(code.start, code.end, r.pc) {
        Some(shape::Shape::AtSp(more)) => {
            caller(memory, r.sp.wrapping_add(more), r.fp, FrameKind::Return)
        }
        Some(shape::Shape::InFrame(more)) => frame_at(memory, r.fp.wrapping_add(more)),
        None => Start::Unknown,
    }
}

fn in_thunk(memory: &impl Memory, r: &Registers, rule: Rule) -> Start {
    let exact = |start| match start {
        Start::Frame(at) => Start::Frame(At {
            kind: FrameKind::Exact,
            ..at
        }),
        other => other,
    };
    let target = |fp| {
        Start::Frame(At {
            pc: r.rdi,
            fp,
            kind: FrameKind::Exact,
        })
    };
    match rule {
        Rule::AtSp => caller(memory, r.sp, r.fp, FrameKind::Return),
        Rule::AtSp8 => caller(memory, r.sp.wrapping_add(8), r.fp, FrameKind::Return),
        Rule::InFrame => frame_at(memory, r.fp),
        Rule::InRecords => Start::Records,
        Rule::InR11 => Start::Frame(At {
            pc: r.r11,
            fp: r.fp,
            kind: FrameKind::Return,
        }),
        Rule::InFrameMoved => frame_at(memory, r.fp.wrapping_add(r.r11)),
        Rule::ExactAtSp => caller(memory, r.sp, r.fp, FrameKind::Exact),
        Rule::ExactAtSp8 => caller(memory, r.sp.wrapping_add(8), r.fp, FrameKind::Exact),
        Rule::ExactInFrame => exact(frame_at(memory, r.fp)),
        Rule::TargetFrameInRdx => target(r.rdx),
        Rule::TargetFrameInRbp => target(r.fp),
    }
}

/// The frame whose address lies at `at`, with that frame pointer.
fn caller(memory: &impl Memory, at: usize, fp: usize, kind: FrameKind) -> Start {
    match memory.word(at) {
        Some(pc) => Start::Frame(At { pc, fp, kind }),
        None => Start::Unknown,
    }
}

/// The frame that a frame with that frame pointer returns to.
fn frame_at(memory: &impl Memory, fp: usize) -> Start {
    match (memory.word(fp), memory.word(fp.wrapping_add(8))) {
        (Some(fp), Some(pc)) => Start::Frame(At {
            pc,
            fp,
            kind: FrameKind::Return,
        }),
        _ => Start::Unknown,
    }
}

fn record_of(memory: &impl Memory, at: usize) -> Option<Record> {
    if at == 0 {
        return None;
    }
    let word = |n: usize| memory.word(at.wrapping_add(8 * n));
    Some(Record {
        previous: word(0)? as *mut Record,
        kind: word(1)?,
        sp: word(2)?,
        fp: word(3)?,
        pc: word(4)?,
        method: word(5)?,
    })
}

/// Notes the frames from `at` on, or from the innermost exit record on. `record` is the
/// innermost record.
fn outwards(memory: &impl Memory, mut at: Option<At>, mut record: usize, frames: &mut Frames<'_>) {
    let mut records = 0;
    loop {
        if let Some(frame) = at.take()
            && !piece(memory, frame, frames)
        {
            return;
        }
        // The next piece of managed stack begins at the next exit record.
        let exit = loop {
            if record == 0 {
                return;
            }
            records += 1;
            let Some(r) = record_of(memory, record).filter(|_| records < MOST_RECORDS) else {
                frames.flags |= CUT;
                return;
            };
            record = r.previous as usize;
            if !r.begins_piece() {
                break r;
            }
        };
        let is_throw = exit.kind == RecordKind::Throw as usize;
        if exit.method > 1 && !is_throw && !frames.push(exit.method, FrameKind::Stub) {
            return;
        }
        at = Some(At {
            pc: exit.pc,
            fp: exit.fp,
            kind: match is_throw && exit.method == 1 {
                true => FrameKind::Exact,
                false => FrameKind::Return,
            },
        });
    }
}

/// Notes the frames of one piece of managed stack; false: the walk ends here.
fn piece(memory: &impl Memory, mut at: At, frames: &mut Frames<'_>) -> bool {
    loop {
        if !arena::contains(at.pc) {
            // Managed code is called by thunks only.
            let is_whole = unwind::rule_at(at.pc).is_some();
            frames.flags |= if is_whole { 0 } else { CUT };
            return is_whole;
        }
        if !frames.push(at.pc, at.kind) {
            return false;
        }
        match frame_at(memory, at.fp) {
            // The outermost frame's caller keeps no frame pointer.
            Start::Frame(next) if next.fp > at.fp || !arena::contains(next.pc) => at = next,
            _ => {
                frames.flags |= CUT;
                return false;
            }
        }
    }
}

/// What the instructions of compiled code say of their frame.
mod shape {
    use vervet_jit::emit::frameless::MARK;

    /// Where the address of the caller is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum Shape {
        /// So many bytes above the stack pointer; the frame pointer is the caller's.
        AtSp(usize),
        /// In the frame, so many bytes above the frame pointer.
        InFrame(usize),
    }

    /// What the linker puts behind a function with a stack check: a call, and three numbers.
    const BEHIND: usize = 17;
    /// What stands first in a function that counts its calls: `sub dword [counter], 1; jle prestub`.
    const COUNT: usize = 13;
    /// No prologue is longer.
    const LONGEST_PROLOGUE: usize = 128;

    const PUSH_RBP: &[u8] = &[0x55];
    const MOV_RBP_RSP: &[u8] = &[0x48, 0x89, 0xE5];
    /// `mov rsp, rbp; pop rbp`.
    const LEAVE: &[u8] = &[0x48, 0x89, 0xEC, 0x5D];

    /// At the instruction `pc` of the code `[start, end)`; None: it cannot be told.
    pub(super) fn at(start: usize, end: usize, pc: usize) -> Option<Shape> {
        // SAFETY: the caller's code is in the table, so it is whole and never written again.
        let code = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) };
        of(code, pc - start)
    }

    /// The same for bytes.
    pub(super) fn of(code: &[u8], pc: usize) -> Option<Shape> {
        if code.starts_with(&MARK) {
            return Some(Shape::AtSp(0));
        }
        if pc < LONGEST_PROLOGUE
            && let Some(shape) = in_prologue(code, pc)?
        {
            return Some(shape);
        }
        let here = &code[pc..];
        let returns = matches!(here, [0xC3, ..] | [0xC2, ..]);
        let behind_count = match code {
            [0x83, 0x2D, ..] => &code[COUNT.min(code.len())..],
            _ => code,
        };
        let checks =
            behind_count.starts_with(&[0x4C, 0x8D, 0x9C, 0x24]) || is_compare(behind_count);
        if returns || (checks && pc + BEHIND == code.len()) || is_behind_leave(code, pc) {
            return Some(Shape::AtSp(0));
        }
        Some(Shape::InFrame(0))
    }

    /// `cmp rsp, [r15 + n]`, `cmp r11, [r15 + n]`.
    fn is_compare(code: &[u8]) -> bool {
        code.starts_with(&[0x49, 0x3B, 0x67]) || code.starts_with(&[0x4D, 0x3B, 0x5F])
    }

    /// Follows the prologue up to `pc`. None: it is none that is known; `Some(None)`: the
    /// instruction lies behind it.
    fn in_prologue(code: &[u8], pc: usize) -> Option<Option<Shape>> {
        let mut at = 0;
        while !code[at..].starts_with(PUSH_RBP) {
            if at == pc {
                return Some(Some(Shape::AtSp(0)));
            }
            at += before_frame(&code[at..])?;
            if at > pc {
                return None;
            }
        }
        if pc == at {
            return Some(Some(Shape::AtSp(0)));
        }
        at += PUSH_RBP.len();
        if !code[at..].starts_with(MOV_RBP_RSP) {
            return None;
        }
        if pc == at {
            return Some(Some(Shape::AtSp(8)));
        }
        at += MOV_RBP_RSP.len();
        // A function whose tail calls have more stack arguments than it has moves its frame
        // down: the two words are copied one after the other.
        let moved = move_of_frame(&code[at..]);
        Some(match moved {
            Some((from, to, bytes)) if (at + from..at + to).contains(&pc) => {
                Some(Shape::InFrame(bytes))
            }
            _ => None,
        })
    }

    /// The length of an instruction that may stand before the frame is made.
    fn before_frame(code: &[u8]) -> Option<usize> {
        Some(match code {
            [0x4C, 0x8D, 0x9C, 0x24, ..] => 8,
            _ if is_compare(code) => 4,
            [0x0F, 0x82, ..] => 6,
            [0x83, 0x2D, ..] => 7,
            [0x0F, 0x8E, ..] => 6,
            [0xF3, 0x0F, 0x1E, 0xFA, ..] => 4,
            [0x90, ..] => 1,
            [0x66, 0x90, ..] => 2,
            [0x0F, 0x1F, 0x00, ..] => 3,
            [0x0F, 0x1F, 0x40, ..] => 4,
            [0x0F, 0x1F, 0x44, ..] => 5,
            [0x66, 0x0F, 0x1F, 0x44, ..] => 6,
            [0x0F, 0x1F, 0x80, ..] => 7,
            [0x0F, 0x1F, 0x84, ..] => 8,
            _ => return None,
        })
    }

    /// `sub rsp, n; mov rbp, rsp`, and four moves of the two words: from where to where the
    /// frame is not whole at rbp, and n.
    fn move_of_frame(code: &[u8]) -> Option<(usize, usize, usize)> {
        let (sub, bytes) = match code {
            [0x48, 0x83, 0xEC, n, ..] => (4, *n as usize),
            [0x48, 0x81, 0xEC, a, b, c, d, ..] => {
                (7, u32::from_le_bytes([*a, *b, *c, *d]) as usize)
            }
            _ => return None,
        };
        let rest = code.get(sub..)?.strip_prefix(MOV_RBP_RSP)?;
        let (from, mut at) = (sub + MOV_RBP_RSP.len(), 0);
        for is_load in [true, false, true, false] {
            at += match (is_load, rest.get(at..)?) {
                (true, [0x4C, 0x8B, 0x5C, 0x24, ..]) => 5,
                (true, [0x4C, 0x8B, 0x9C, 0x24, ..]) => 8,
                (false, [0x4C, 0x89, 0x1C, 0x24, ..]) => 4,
                (false, [0x4C, 0x89, 0x5C, 0x24, ..]) => 5,
                _ => return None,
            };
        }
        Some((from, from + at, bytes))
    }

    /// Is the frame undone, and does the instruction belong to a tail call?
    fn is_behind_leave(code: &[u8], pc: usize) -> bool {
        /// Two moves and an addition.
        const LONGEST: usize = 4 + 8 + 7;
        let first = pc.saturating_sub(LONGEST).max(LEAVE.len());
        (first..=pc).any(|from| code[..from].ends_with(LEAVE) && leads(&code[from..pc]))
    }

    /// Are these whole instructions that move the return address of a tail call?
    fn leads(mut code: &[u8]) -> bool {
        while !code.is_empty() {
            let length = match code {
                // mov r, [rsp]; mov [rsp + n], r; add rsp, n
                [0x48 | 0x4C, 0x8B, modrm, 0x24, ..] if modrm & 0xC7 == 0x04 => 4,
                [0x48 | 0x4C, 0x89, modrm, 0x24, ..] if modrm & 0xC7 == 0x44 => 5,
                [0x48 | 0x4C, 0x89, modrm, 0x24, ..] if modrm & 0xC7 == 0x84 => 8,
                [0x48, 0x83, 0xC4, ..] => 4,
                [0x48, 0x81, 0xC4, ..] => 7,
                _ => return false,
            };
            match code.get(length..) {
                Some(rest) => code = rest,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::shape::{Shape, of};

    #[test]
    fn the_bytes_say_where_the_caller_is() {
        #[rustfmt::skip]
        let code = [
            0x49, 0x3B, 0x67, 0x00,                   // 0: cmp rsp, [r15]
            0x0F, 0x82, 0, 0, 0, 0,                   // 4: jb
            0x66, 0x90,                               // 10: nop
            0x55,                                     // 12: push rbp
            0x48, 0x89, 0xE5,                         // 13: mov rbp, rsp
            0x48, 0x83, 0xEC, 0x20,                   // 16: sub rsp, 32
            0x90,                                     // 20: nop
            0x48, 0x83, 0xC4, 0x20,                   // 21: add rsp, 32
            0x48, 0x89, 0xEC,                         // 25: mov rsp, rbp
            0x5D,                                     // 28: pop rbp
            0x48, 0x8B, 0x14, 0x24,                   // 29: mov rdx, [rsp]
            0x48, 0x89, 0x54, 0x24, 0x10,             // 33: mov [rsp + 16], rdx
            0x48, 0x83, 0xC4, 0x10,                   // 38: add rsp, 16
            0xFF, 0xE0,                               // 42: jmp rax
            0xFF, 0xE0,                               // 44: jmp rax
            0xC3,                                     // 46: ret
            0xE8, 0, 0, 0, 0,                         // 47: call grow
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let frame = Some(Shape::InFrame(0));
        for (pc, want) in [
            (0, Some(Shape::AtSp(0))),
            (4, Some(Shape::AtSp(0))),
            (10, Some(Shape::AtSp(0))),
            (12, Some(Shape::AtSp(0))),
            (13, Some(Shape::AtSp(8))),
            (16, frame),
            (20, frame),
            (21, frame),
            (25, frame),
            (28, frame),
            (29, Some(Shape::AtSp(0))),
            (33, Some(Shape::AtSp(0))),
            (38, Some(Shape::AtSp(0))),
            (42, Some(Shape::AtSp(0))),
            (44, frame),
            (46, Some(Shape::AtSp(0))),
            (47, Some(Shape::AtSp(0))),
        ] {
            assert_eq!(of(&code, pc), want, "at {pc}");
        }
    }

    #[test]
    fn a_frame_that_is_moved_down_is_found_meanwhile() {
        #[rustfmt::skip]
        let code = [
            0x55,                                     // 0: push rbp
            0x48, 0x89, 0xE5,                         // 1: mov rbp, rsp
            0x48, 0x83, 0xEC, 0x20,                   // 4: sub rsp, 32
            0x48, 0x89, 0xE5,                         // 8: mov rbp, rsp
            0x4C, 0x8B, 0x5C, 0x24, 0x20,             // 11: mov r11, [rsp + 32]
            0x4C, 0x89, 0x1C, 0x24,                   // 16: mov [rsp], r11
            0x4C, 0x8B, 0x5C, 0x24, 0x28,             // 20: mov r11, [rsp + 40]
            0x4C, 0x89, 0x5C, 0x24, 0x08,             // 25: mov [rsp + 8], r11
            0x90,                                     // 30: nop
        ];
        for (pc, more) in [
            (4, 0),
            (8, 0),
            (11, 32),
            (16, 32),
            (20, 32),
            (25, 32),
            (30, 0),
        ] {
            assert_eq!(of(&code, pc), Some(Shape::InFrame(more)), "at {pc}");
        }
    }

    #[test]
    fn a_prologue_that_is_not_known_is_said_to_be_so() {
        assert_eq!(of(&[0x48, 0x31, 0xC0, 0x55, 0x48, 0x89, 0xE5], 3), None);
    }
}
