//! What a function does before its frame is made: machine code in front of what Cranelift compiled,
//! and behind it.
//!
//! ```text
//! start:   sub dword [counter], 1    ; only in functions that count their calls
//!          jle prestub               ; with all arguments where the caller put them
//!          lea r11, [rsp - frame]    ; not for a small frame: the stack guard has room for one
//!          cmp r11, [r15 + limit]
//!          jb  more
//! body:    ...                       ; what Cranelift compiled
//! more:    call Grow                 ; with all arguments where the caller put them
//!          .int bytes of stack arguments, frame, distance from here back to body
//! ```
//!
//! `Grow` never returns to `more`. It reads the three numbers at its return address, serves interrupt
//! requests if the limit was raised for them, and goes on at `body`, on a larger segment of the stack
//! if this one has no room for the frame.
//!
//! The prestub, too, is entered as the function was, and jumps to the method's code: to what it put
//! in its place, or to this, behind the count.
//!
//! # Invariants
//! * The subtraction is not atomic: a thread may overwrite what another has counted, or the count
//!   that the prestub begins again with. So every call that finds no positive count goes to the
//!   prestub, not only the one that reaches zero.
//! * A call that went to the prestub is not counted again: whatever other threads do to the counter,
//!   it goes on, and reaches the check.
//! * The check comes before the frame is made, so nothing below the guard is ever touched.
//! * Count and check change r11 and flags only. r11 carries no argument in either calling convention.
//! * The code in front has a length that keeps the alignment of the body.
use crate::blob::{Blob, Reloc, RelocKind, Symbol};
use vervet_abi::Helper;
use vervet_abi::context::{LIMIT, SMALL_FRAME, UNCHECKED_FRAME};
use vervet_types::MethodRef;

/// What a call takes besides the frame: the return address and the saved frame pointer, of the
/// function and of its callee.
const CALLS: u32 = 32;

/// Which functions check their stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackCheck {
    /// This one, whatever its frame: it calls.
    Always,
    /// This one, if the guard has no room for its frame.
    LargeFrame,
    /// Not this one: there is no stack to check.
    Never,
}

/// The code in front of a function.
pub(super) struct Front {
    code: Vec<u8>,
    relocs: Vec<Reloc>,
    check: Option<Check>,
}

/// The stack check within it.
struct Check {
    frame: u32,
    /// Where the distance of the jump ends.
    jump_end: usize,
}

impl Front {
    /// The code for a function with a frame of that many bytes, whose body has that alignment; None:
    /// it needs none.
    pub(super) fn new(
        counted: Option<MethodRef>,
        check: StackCheck,
        frame: u32,
        align: u32,
    ) -> Option<Front> {
        let mut front = Front {
            code: Vec::with_capacity(64),
            relocs: Vec::new(),
            check: None,
        };
        if let Some(method) = counted {
            front.count(method);
        }
        let frame = frame + CALLS;
        match check {
            StackCheck::Always => front.check(frame),
            StackCheck::LargeFrame if frame > UNCHECKED_FRAME => front.check(frame),
            StackCheck::LargeFrame | StackCheck::Never => {}
        }
        if front.code.is_empty() {
            return None;
        }
        let body = front.code.len().next_multiple_of(align as usize);
        let pad = body - front.code.len();
        nops(&mut front.code, pad);
        Some(front)
    }
    /// Adds the count. The comparison is signed: a count that fell below zero without being noticed
    /// is noticed at the next call.
    fn count(&mut self, method: MethodRef) {
        let mut near = |place: usize, symbol, addend| {
            self.relocs.push(Reloc {
                offset: place as u32,
                kind: RelocKind::PcRel4,
                symbol,
                addend,
            });
        };
        self.code.extend(COUNT);
        near(2, Symbol::CallCounter(method), TO_COUNTER);
        near(9, Symbol::Prestub(method), TO_CODE);
    }
    /// Adds the check of the stack for a frame of that many bytes.
    fn check(&mut self, frame: u32) {
        let code = &mut self.code;
        if frame > SMALL_FRAME {
            code.extend([0x4C, 0x8D, 0x9C, 0x24]); // lea r11, [rsp - frame]
            code.extend((-(frame as i32)).to_le_bytes());
            code.extend([0x4D, 0x3B, 0x5F, LIMIT as u8]); // cmp r11, [r15 + limit]
        } else {
            code.extend([0x49, 0x3B, 0x67, LIMIT as u8]); // cmp rsp, [r15 + limit]
        }
        code.extend([0x0F, 0x82, 0, 0, 0, 0]); // jb more
        self.check = Some(Check {
            frame,
            jump_end: code.len(),
        });
    }
    /// By how many bytes the body moves.
    pub(super) fn len(&self) -> u32 {
        self.code.len() as u32
    }
    /// Puts the code around the body.
    pub(super) fn add(self, blob: &mut Blob) {
        let body = self.code.len();
        shift(blob, body as u32);
        blob.code.splice(..0, self.code);
        blob.relocs.extend(self.relocs);
        if let Some(check) = self.check {
            check.more(blob, body);
        }
    }
}

/// From the distance in an instruction to what it is relative to, its end: of the subtraction, behind
/// which an immediate byte stands, and of a jump.
pub const TO_COUNTER: i64 = -5;
/// See [`TO_COUNTER`].
pub const TO_CODE: i64 = -4;

/// `sub dword [rip + counter], 1` and `jle prestub`.
const COUNT: [u8; 13] = [0x83, 0x2D, 0, 0, 0, 0, 1, 0x0F, 0x8E, 0, 0, 0, 0];

/// Where in a function's code a call goes on that is not to be counted: behind the count, or at the
/// start if the function does not count.
pub fn behind_count(code: &[u8; 16]) -> usize {
    let counts = code[..2] == COUNT[..2] && code[6..9] == COUNT[6..9];
    if counts { COUNT.len() } else { 0 }
}

/// The address of the counter of a function that begins there with these bytes; None: it does not count.
pub fn counter_from(code: &[u8; 16], start: usize) -> Option<usize> {
    let distance = i32::from_le_bytes(code[2..6].try_into().ok()?);
    (behind_count(code) != 0)
        .then(|| start.wrapping_add_signed(distance as isize + 2 - TO_COUNTER as isize))
}

impl Check {
    /// Adds what runs if there is no room, behind a function whose body begins there.
    fn more(self, blob: &mut Blob, body: usize) {
        let more = blob.code.len();
        let distance = (more - self.jump_end) as u32;
        blob.code[self.jump_end - 4..self.jump_end].copy_from_slice(&distance.to_le_bytes());
        blob.code.extend([0xE8, 0, 0, 0, 0]); // call Grow
        blob.relocs.push(Reloc {
            offset: more as u32 + 1,
            kind: RelocKind::PcRel4,
            symbol: Symbol::Helper(Helper::Grow),
            addend: TO_CODE,
        });
        let numbers = blob.code.len();
        blob.code.extend(blob.stack_arg_bytes.to_le_bytes());
        blob.code.extend(self.frame.to_le_bytes());
        blob.code.extend(((numbers - body) as u32).to_le_bytes());
        // No asynchronous exception here: the frame is not made.
        blob.no_redirect.push((more as u32, blob.code.len() as u32));
    }
}

/// Instructions without effect, of that many bytes in all.
fn nops(code: &mut Vec<u8>, mut bytes: usize) {
    // The multi-byte forms that both vendors' optimisation manuals list.
    const NOPS: [&[u8]; 8] = [
        &[0x90],
        &[0x66, 0x90],
        &[0x0F, 0x1F, 0x00],
        &[0x0F, 0x1F, 0x40, 0x00],
        &[0x0F, 0x1F, 0x44, 0x00, 0x00],
        &[0x66, 0x0F, 0x1F, 0x44, 0x00, 0x00],
        &[0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00],
        &[0x0F, 0x1F, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    ];
    while bytes > 0 {
        let one = bytes.min(NOPS.len());
        code.extend(NOPS[one - 1]);
        bytes -= one;
    }
}

/// Adds `by` to all offsets of the blob's tables.
fn shift(blob: &mut Blob, by: u32) {
    for r in &mut blob.relocs {
        r.offset += by;
    }
    for s in &mut blob.call_sites {
        s.ret += by;
    }
    for h in &mut blob.handlers {
        h.code += by;
    }
    for t in &mut blob.traps {
        t.0 += by;
    }
    for m in &mut blob.il_map {
        m.0 += by;
    }
    for m in &mut blob.inline_map {
        m.0 += by;
    }
    for r in &mut blob.no_redirect {
        *r = (r.0 + by, r.1 + by);
    }
    if blob.prologue_end != 0 {
        blob.prologue_end += by;
    }
}
