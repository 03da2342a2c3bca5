//! IL as text.
//!
//! # How it works
//! An instruction is a label, the name in ten columns and the operand. A host's helper says how labels and ends of lines look, by formats of `printf`, and writes
//! what stands before an instruction, and tokens, by functions that give texts of `malloc`.
//!
//! [`mono_opcodes`] says of each opcode what follows it.
//!
//! # Invariants
//! * A host's format is used with one number, as mono uses it, and a host's function is called in Foreign state.
//! * A method's instructions are decoded in its whole code: labels are offsets there.
use crate::support::{MethodP, new_text, outside_if_attached, set, text};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write;
use vervet_metadata::il::OperandKind;
use vervet_metadata::{Instr, Instructions, Op, Operand};
use vervet_types::MethodRef;

type Indenter =
    unsafe extern "C" fn(*const Helper, Option<&'static vervet_types::Method>, u32) -> *mut c_char;

/// A `MonoDisHelper`.
#[repr(C)]
pub struct Helper {
    newline: *const c_char,
    label: *const c_char,
    target: *const c_char,
    indenter: Option<Indenter>,
    tokener: Option<Indenter>,
    user_data: *mut c_void,
}

/// Numbers of opcodes with two bytes follow those with one.
const LONG: c_int = 256;
/// The opcode of such a number in mono's list.
fn opcode(number: c_int) -> Option<Op> {
    let short = u8::try_from(number).ok().filter(|b| *b != 0xfe);
    match short {
        Some(byte) => Op::decode(&[byte, 0]),
        None => Op::decode(&[0xfe, u8::try_from(number.checked_sub(LONG)?).ok()?]),
    }
    .map(|(op, _)| op)
}

/// What follows an opcode, in mono's numbers.
const fn argument(op: Op) -> u8 {
    match op.operand_kind() {
        OperandKind::None => 0,
        OperandKind::Var16 => 7,
        OperandKind::Var8 => 8,
        OperandKind::Branch32 => 9,
        OperandKind::Branch8 => 10,
        OperandKind::Switch => 11,
        OperandKind::R8 => 12,
        OperandKind::R4 => 13,
        OperandKind::I32 => 14,
        OperandKind::I8 => 15,
        OperandKind::I64 => 16,
        OperandKind::Token => match op {
            Op::Ldfld | Op::Ldflda | Op::Stfld | Op::Ldsfld | Op::Ldsflda | Op::Stsfld => 2,
            Op::Call | Op::Callvirt | Op::Newobj | Op::Jmp | Op::Ldftn | Op::Ldvirtftn => 3,
            Op::Ldtoken => 4,
            Op::Ldstr => 5,
            Op::Calli => 6,
            _ => 1,
        },
    }
}
/// Where control goes after an opcode, in mono's numbers.
const fn flow(op: Op) -> u8 {
    match op {
        Op::Br | Op::BrS | Op::Leave | Op::LeaveS => 1,
        Op::Break | Op::Throw | Op::Rethrow => 3,
        Op::Jmp | Op::Call | Op::Calli | Op::Callvirt | Op::Newobj => 4,
        Op::Ret | Op::Endfinally | Op::Endfilter => 5,
        Op::Unaligned | Op::Volatile | Op::Tail | Op::Constrained | Op::Readonly => 6,
        _ => match op.operand_kind() {
            OperandKind::Branch8 | OperandKind::Branch32 | OperandKind::Switch => 2,
            _ => 0,
        },
    }
}

/// A `MonoOpcode`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Described {
    argument: u8,
    flow: u8,
    number: u16,
}
/// How many opcodes mono has: its own, which no program contains, are the last.
const COUNT: usize = 325;
/// By number.
#[unsafe(no_mangle)]
pub static mono_opcodes: [Described; COUNT] = described();

const fn described() -> [Described; COUNT] {
    const PREFIXES: [usize; 10] = [0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0x123, 0x124];
    let mut all = [Described {
        argument: 0,
        flow: 0,
        number: 0,
    }; COUNT];
    let mut i = 0;
    while i < COUNT {
        all[i].number = i as u16;
        i += 1;
    }
    i = 0;
    while i < PREFIXES.len() {
        all[PREFIXES[i]].flow = 6;
        i += 1;
    }
    i = 0;
    while i < Op::ALL.len() {
        let op = Op::ALL[i];
        let code = op as u16 as usize;
        let number = if code >> 8 == 0xfe {
            LONG as usize + (code & 0xff)
        } else {
            code
        };
        all[number].argument = argument(op);
        all[number].flow = flow(op);
        i += 1;
    }
    all
}

/// A number as a host's format writes it.
///
/// # Safety
/// The format takes one integer.
unsafe fn formatted(format: *const c_char, number: u32) -> String {
    let mut buffer = [0 as c_char; 128];
    // SAFETY: the caller's promise; the buffer has that size, and ends with a zero afterwards.
    unsafe {
        libc::snprintf(buffer.as_mut_ptr(), buffer.len(), format, number);
        CStr::from_ptr(buffer.as_ptr())
            .to_string_lossy()
            .into_owned()
    }
}
/// A floating-point number as C writes it by `%g`.
fn general(number: f64) -> String {
    let mut buffer = [0 as c_char; 64];
    // SAFETY: the format takes a double; the buffer has that size, and ends with a zero afterwards.
    unsafe {
        libc::snprintf(buffer.as_mut_ptr(), buffer.len(), c"%g".as_ptr(), number);
        CStr::from_ptr(buffer.as_ptr())
            .to_string_lossy()
            .into_owned()
    }
}

/// How a method is written.
struct Writer<'h> {
    helper: &'h Helper,
    method: MethodRef,
    out: String,
}
impl Writer<'_> {
    /// What the host's function writes for a number.
    fn asked(&mut self, function: Indenter, number: u32) {
        let (helper, method) = (std::ptr::from_ref(self.helper), Some(self.method));
        // SAFETY: the host's function, called as its type says; its text is of malloc and ends with a zero.
        unsafe {
            let text = outside_if_attached(|| function(helper, method, number));
            if !text.is_null() {
                self.out += &CStr::from_ptr(text).to_string_lossy();
                libc::free(text.cast());
            }
        }
    }
    fn target(&mut self, target: u32) {
        // SAFETY: the host's format for labels.
        self.out += &unsafe { formatted(self.helper.target, target) };
    }
    fn operand(&mut self, instr: &Instr<'_>) {
        let image = &self.method.module().image;
        let _ = match instr.operand {
            Operand::None => Ok(()),
            Operand::Var(n) => write!(self.out, "{n}"),
            Operand::I8(n) => write!(self.out, "{n}"),
            Operand::I32(n) => write!(self.out, "{n}"),
            Operand::I64(n) => write!(self.out, "{n}"),
            Operand::R4(x) => write!(self.out, "{}", general(x.into())),
            Operand::R8(x) => write!(self.out, "{}", general(x)),
            Operand::Token(token) if instr.op == Op::Ldstr => {
                let units = image.user_string(token.0).map(|s| s.to_string());
                write!(self.out, "\"{}\"", units.unwrap_or_default())
            }
            Operand::Token(token) => match self.helper.tokener {
                Some(function) => {
                    self.asked(function, token.0);
                    Ok(())
                }
                None => write!(self.out, "0x{:08x}", token.0),
            },
            Operand::Branch(target) => {
                self.target(target);
                Ok(())
            }
            Operand::Switch(targets) => {
                self.out.push('(');
                for (i, target) in targets.iter().enumerate() {
                    if i > 0 {
                        self.out += ", ";
                    }
                    self.target(target);
                }
                self.out.push(')');
                Ok(())
            }
        };
    }
    fn instruction(&mut self, instr: &Instr<'_>) {
        if let Some(function) = self.helper.indenter {
            self.asked(function, instr.offset);
        }
        // SAFETY: the host's format for labels, and its text for the end of a line.
        unsafe {
            self.out += &formatted(self.helper.label, instr.offset);
            let _ = write!(self.out, "{:<10}", instr.op.name());
            self.operand(instr);
            self.out += &CStr::from_ptr(self.helper.newline).to_string_lossy();
        }
    }
}

/// The instructions of a method from an address on, up to another; `one`: the first alone. Where the next begins goes to `next`.
///
/// # Safety
/// The helper is null or a host's; `next` is null or a variable.
unsafe fn written(
    helper: *const Helper,
    method: MethodP,
    range: std::ops::Range<*const u8>,
    one: bool,
    next: *mut *const u8,
) -> *mut c_char {
    let usual = Helper {
        newline: c"\n".as_ptr(),
        label: c"IL_%04x: ".as_ptr(),
        target: c"IL_%04x".as_ptr(),
        indenter: None,
        tokener: None,
        user_data: std::ptr::null_mut(),
    };
    let Some((method, body)) = method.and_then(|m| Some((m, m.body().ok()?))) else {
        return std::ptr::null_mut();
    };
    let start = body.code.as_ptr() as usize;
    let offsets =
        (range.start as usize).wrapping_sub(start)..(range.end as usize).wrapping_sub(start);
    // SAFETY: the caller's promise.
    let helper = unsafe { helper.as_ref() }.unwrap_or(&usual);
    let mut writer = Writer {
        helper,
        method,
        out: String::new(),
    };
    let mut end = offsets.start;
    for instr in Instructions::at(body.code, offsets.start as u32).map_while(Result::ok) {
        if instr.offset as usize >= offsets.end {
            break;
        }
        writer.instruction(&instr);
        end = instr.end() as usize;
        if one {
            break;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { set(next, (start + end) as *const u8) };
    new_text(&writer.out)
}

api! {
    fn mono_disasm_code(helper: *const Helper, method: MethodP, from: *const u8, to: *const u8) -> *mut c_char {
        written(helper, method, from..to, false, std::ptr::null_mut())
    }
    /// One instruction; where the next begins.
    fn mono_disasm_code_one(helper: *const Helper, method: MethodP, from: *const u8, next: *mut *const u8) -> *mut c_char {
        written(helper, method, from..(usize::MAX as *const u8), true, next)
    }
    fn mono_opcode_name(number: c_int) -> *const c_char { opcode(number).map_or(std::ptr::null(), |op| text(op.name())) }
    /// The number of the opcode there, and where its last byte is; -1: there is none.
    fn mono_opcode_value(at: *mut *const u8, end: *const u8) -> c_int {
        let first = *at;
        if first >= end { return -1; }
        if *first != 0xfe { return c_int::from(*first); }
        let second = first.add(1);
        if second >= end { return -1; }
        *at = second;
        LONG + c_int::from(*second)
    }
}
