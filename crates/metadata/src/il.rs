//! The instruction set and its decoder (partition III).
//!
//! Invariant: decoding always advances, so iterating over any bytes ends; an
//! error ends the iteration. Branch targets are computed without wrapping but
//! are not checked to be instruction boundaries here.

use crate::bytes;
use crate::error::Error;
use crate::token::Token;

/// What follows an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// Nothing.
    None,
    /// An 8-bit argument or local number.
    Var8,
    /// A 16-bit argument or local number.
    Var16,
    /// An 8-bit integer.
    I8,
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer.
    I64,
    /// A 32-bit float.
    R4,
    /// A 64-bit float.
    R8,
    /// A metadata token.
    Token,
    /// An 8-bit displacement.
    Branch8,
    /// A 32-bit displacement.
    Branch32,
    /// A count and that many 32-bit displacements.
    Switch,
}

macro_rules! ops {
    ($($name:ident = $code:literal, $text:literal, $kind:ident;)*) => {
        /// An opcode; the value is its encoding, with 0xFE in the high byte of
        /// two-byte ones. Each mnemonic part is capitalised: `ldc.i4.m1` is
        /// `LdcI4M1`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[expect(missing_docs, reason = "the names are the specification's")]
        pub enum Op { $($name = $code,)* }

        impl Op {
            /// Every opcode, in order of encoding.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// The mnemonic.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => $text,)* }
            }

            /// What follows the opcode.
            #[inline]
            pub const fn operand_kind(self) -> OperandKind {
                match self { $(Op::$name => OperandKind::$kind,)* }
            }
        }
    };
}

ops! {
    Nop = 0x00, "nop", None;
    Break = 0x01, "break", None;
    Ldarg0 = 0x02, "ldarg.0", None;
    Ldarg1 = 0x03, "ldarg.1", None;
    Ldarg2 = 0x04, "ldarg.2", None;
    Ldarg3 = 0x05, "ldarg.3", None;
    Ldloc0 = 0x06, "ldloc.0", None;
    Ldloc1 = 0x07, "ldloc.1", None;
    Ldloc2 = 0x08, "ldloc.2", None;
    Ldloc3 = 0x09, "ldloc.3", None;
    Stloc0 = 0x0A, "stloc.0", None;
    Stloc1 = 0x0B, "stloc.1", None;
    Stloc2 = 0x0C, "stloc.2", None;
    Stloc3 = 0x0D, "stloc.3", None;
    LdargS = 0x0E, "ldarg.s", Var8;
    LdargaS = 0x0F, "ldarga.s", Var8;
    StargS = 0x10, "starg.s", Var8;
    LdlocS = 0x11, "ldloc.s", Var8;
    LdlocaS = 0x12, "ldloca.s", Var8;
    StlocS = 0x13, "stloc.s", Var8;
    Ldnull = 0x14, "ldnull", None;
    LdcI4M1 = 0x15, "ldc.i4.m1", None;
    LdcI40 = 0x16, "ldc.i4.0", None;
    LdcI41 = 0x17, "ldc.i4.1", None;
    LdcI42 = 0x18, "ldc.i4.2", None;
    LdcI43 = 0x19, "ldc.i4.3", None;
    LdcI44 = 0x1A, "ldc.i4.4", None;
    LdcI45 = 0x1B, "ldc.i4.5", None;
    LdcI46 = 0x1C, "ldc.i4.6", None;
    LdcI47 = 0x1D, "ldc.i4.7", None;
    LdcI48 = 0x1E, "ldc.i4.8", None;
    LdcI4S = 0x1F, "ldc.i4.s", I8;
    LdcI4 = 0x20, "ldc.i4", I32;
    LdcI8 = 0x21, "ldc.i8", I64;
    LdcR4 = 0x22, "ldc.r4", R4;
    LdcR8 = 0x23, "ldc.r8", R8;
    Dup = 0x25, "dup", None;
    Pop = 0x26, "pop", None;
    Jmp = 0x27, "jmp", Token;
    Call = 0x28, "call", Token;
    Calli = 0x29, "calli", Token;
    Ret = 0x2A, "ret", None;
    BrS = 0x2B, "br.s", Branch8;
    BrfalseS = 0x2C, "brfalse.s", Branch8;
    BrtrueS = 0x2D, "brtrue.s", Branch8;
    BeqS = 0x2E, "beq.s", Branch8;
    BgeS = 0x2F, "bge.s", Branch8;
    BgtS = 0x30, "bgt.s", Branch8;
    BleS = 0x31, "ble.s", Branch8;
    BltS = 0x32, "blt.s", Branch8;
    BneUnS = 0x33, "bne.un.s", Branch8;
    BgeUnS = 0x34, "bge.un.s", Branch8;
    BgtUnS = 0x35, "bgt.un.s", Branch8;
    BleUnS = 0x36, "ble.un.s", Branch8;
    BltUnS = 0x37, "blt.un.s", Branch8;
    Br = 0x38, "br", Branch32;
    Brfalse = 0x39, "brfalse", Branch32;
    Brtrue = 0x3A, "brtrue", Branch32;
    Beq = 0x3B, "beq", Branch32;
    Bge = 0x3C, "bge", Branch32;
    Bgt = 0x3D, "bgt", Branch32;
    Ble = 0x3E, "ble", Branch32;
    Blt = 0x3F, "blt", Branch32;
    BneUn = 0x40, "bne.un", Branch32;
    BgeUn = 0x41, "bge.un", Branch32;
    BgtUn = 0x42, "bgt.un", Branch32;
    BleUn = 0x43, "ble.un", Branch32;
    BltUn = 0x44, "blt.un", Branch32;
    Switch = 0x45, "switch", Switch;
    LdindI1 = 0x46, "ldind.i1", None;
    LdindU1 = 0x47, "ldind.u1", None;
    LdindI2 = 0x48, "ldind.i2", None;
    LdindU2 = 0x49, "ldind.u2", None;
    LdindI4 = 0x4A, "ldind.i4", None;
    LdindU4 = 0x4B, "ldind.u4", None;
    LdindI8 = 0x4C, "ldind.i8", None;
    LdindI = 0x4D, "ldind.i", None;
    LdindR4 = 0x4E, "ldind.r4", None;
    LdindR8 = 0x4F, "ldind.r8", None;
    LdindRef = 0x50, "ldind.ref", None;
    StindRef = 0x51, "stind.ref", None;
    StindI1 = 0x52, "stind.i1", None;
    StindI2 = 0x53, "stind.i2", None;
    StindI4 = 0x54, "stind.i4", None;
    StindI8 = 0x55, "stind.i8", None;
    StindR4 = 0x56, "stind.r4", None;
    StindR8 = 0x57, "stind.r8", None;
    Add = 0x58, "add", None;
    Sub = 0x59, "sub", None;
    Mul = 0x5A, "mul", None;
    Div = 0x5B, "div", None;
    DivUn = 0x5C, "div.un", None;
    Rem = 0x5D, "rem", None;
    RemUn = 0x5E, "rem.un", None;
    And = 0x5F, "and", None;
    Or = 0x60, "or", None;
    Xor = 0x61, "xor", None;
    Shl = 0x62, "shl", None;
    Shr = 0x63, "shr", None;
    ShrUn = 0x64, "shr.un", None;
    Neg = 0x65, "neg", None;
    Not = 0x66, "not", None;
    ConvI1 = 0x67, "conv.i1", None;
    ConvI2 = 0x68, "conv.i2", None;
    ConvI4 = 0x69, "conv.i4", None;
    ConvI8 = 0x6A, "conv.i8", None;
    ConvR4 = 0x6B, "conv.r4", None;
    ConvR8 = 0x6C, "conv.r8", None;
    ConvU4 = 0x6D, "conv.u4", None;
    ConvU8 = 0x6E, "conv.u8", None;
    Callvirt = 0x6F, "callvirt", Token;
    Cpobj = 0x70, "cpobj", Token;
    Ldobj = 0x71, "ldobj", Token;
    Ldstr = 0x72, "ldstr", Token;
    Newobj = 0x73, "newobj", Token;
    Castclass = 0x74, "castclass", Token;
    Isinst = 0x75, "isinst", Token;
    ConvRUn = 0x76, "conv.r.un", None;
    Unbox = 0x79, "unbox", Token;
    Throw = 0x7A, "throw", None;
    Ldfld = 0x7B, "ldfld", Token;
    Ldflda = 0x7C, "ldflda", Token;
    Stfld = 0x7D, "stfld", Token;
    Ldsfld = 0x7E, "ldsfld", Token;
    Ldsflda = 0x7F, "ldsflda", Token;
    Stsfld = 0x80, "stsfld", Token;
    Stobj = 0x81, "stobj", Token;
    ConvOvfI1Un = 0x82, "conv.ovf.i1.un", None;
    ConvOvfI2Un = 0x83, "conv.ovf.i2.un", None;
    ConvOvfI4Un = 0x84, "conv.ovf.i4.un", None;
    ConvOvfI8Un = 0x85, "conv.ovf.i8.un", None;
    ConvOvfU1Un = 0x86, "conv.ovf.u1.un", None;
    ConvOvfU2Un = 0x87, "conv.ovf.u2.un", None;
    ConvOvfU4Un = 0x88, "conv.ovf.u4.un", None;
    ConvOvfU8Un = 0x89, "conv.ovf.u8.un", None;
    ConvOvfIUn = 0x8A, "conv.ovf.i.un", None;
    ConvOvfUUn = 0x8B, "conv.ovf.u.un", None;
    Box = 0x8C, "box", Token;
    Newarr = 0x8D, "newarr", Token;
    Ldlen = 0x8E, "ldlen", None;
    Ldelema = 0x8F, "ldelema", Token;
    LdelemI1 = 0x90, "ldelem.i1", None;
    LdelemU1 = 0x91, "ldelem.u1", None;
    LdelemI2 = 0x92, "ldelem.i2", None;
    LdelemU2 = 0x93, "ldelem.u2", None;
    LdelemI4 = 0x94, "ldelem.i4", None;
    LdelemU4 = 0x95, "ldelem.u4", None;
    LdelemI8 = 0x96, "ldelem.i8", None;
    LdelemI = 0x97, "ldelem.i", None;
    LdelemR4 = 0x98, "ldelem.r4", None;
    LdelemR8 = 0x99, "ldelem.r8", None;
    LdelemRef = 0x9A, "ldelem.ref", None;
    StelemI = 0x9B, "stelem.i", None;
    StelemI1 = 0x9C, "stelem.i1", None;
    StelemI2 = 0x9D, "stelem.i2", None;
    StelemI4 = 0x9E, "stelem.i4", None;
    StelemI8 = 0x9F, "stelem.i8", None;
    StelemR4 = 0xA0, "stelem.r4", None;
    StelemR8 = 0xA1, "stelem.r8", None;
    StelemRef = 0xA2, "stelem.ref", None;
    Ldelem = 0xA3, "ldelem", Token;
    Stelem = 0xA4, "stelem", Token;
    UnboxAny = 0xA5, "unbox.any", Token;
    ConvOvfI1 = 0xB3, "conv.ovf.i1", None;
    ConvOvfU1 = 0xB4, "conv.ovf.u1", None;
    ConvOvfI2 = 0xB5, "conv.ovf.i2", None;
    ConvOvfU2 = 0xB6, "conv.ovf.u2", None;
    ConvOvfI4 = 0xB7, "conv.ovf.i4", None;
    ConvOvfU4 = 0xB8, "conv.ovf.u4", None;
    ConvOvfI8 = 0xB9, "conv.ovf.i8", None;
    ConvOvfU8 = 0xBA, "conv.ovf.u8", None;
    Refanyval = 0xC2, "refanyval", Token;
    Ckfinite = 0xC3, "ckfinite", None;
    Mkrefany = 0xC6, "mkrefany", Token;
    Ldtoken = 0xD0, "ldtoken", Token;
    ConvU2 = 0xD1, "conv.u2", None;
    ConvU1 = 0xD2, "conv.u1", None;
    ConvI = 0xD3, "conv.i", None;
    ConvOvfI = 0xD4, "conv.ovf.i", None;
    ConvOvfU = 0xD5, "conv.ovf.u", None;
    AddOvf = 0xD6, "add.ovf", None;
    AddOvfUn = 0xD7, "add.ovf.un", None;
    MulOvf = 0xD8, "mul.ovf", None;
    MulOvfUn = 0xD9, "mul.ovf.un", None;
    SubOvf = 0xDA, "sub.ovf", None;
    SubOvfUn = 0xDB, "sub.ovf.un", None;
    Endfinally = 0xDC, "endfinally", None;
    Leave = 0xDD, "leave", Branch32;
    LeaveS = 0xDE, "leave.s", Branch8;
    StindI = 0xDF, "stind.i", None;
    ConvU = 0xE0, "conv.u", None;
    Arglist = 0xFE00, "arglist", None;
    Ceq = 0xFE01, "ceq", None;
    Cgt = 0xFE02, "cgt", None;
    CgtUn = 0xFE03, "cgt.un", None;
    Clt = 0xFE04, "clt", None;
    CltUn = 0xFE05, "clt.un", None;
    Ldftn = 0xFE06, "ldftn", Token;
    Ldvirtftn = 0xFE07, "ldvirtftn", Token;
    Ldarg = 0xFE09, "ldarg", Var16;
    Ldarga = 0xFE0A, "ldarga", Var16;
    Starg = 0xFE0B, "starg", Var16;
    Ldloc = 0xFE0C, "ldloc", Var16;
    Ldloca = 0xFE0D, "ldloca", Var16;
    Stloc = 0xFE0E, "stloc", Var16;
    Localloc = 0xFE0F, "localloc", None;
    Endfilter = 0xFE11, "endfilter", None;
    Unaligned = 0xFE12, "unaligned.", I8;
    Volatile = 0xFE13, "volatile.", None;
    Tail = 0xFE14, "tail.", None;
    Initobj = 0xFE15, "initobj", Token;
    Constrained = 0xFE16, "constrained.", Token;
    Cpblk = 0xFE17, "cpblk", None;
    Initblk = 0xFE18, "initblk", None;
    No = 0xFE19, "no.", I8;
    Rethrow = 0xFE1A, "rethrow", None;
    Sizeof = 0xFE1C, "sizeof", Token;
    Refanytype = 0xFE1D, "refanytype", None;
    Readonly = 0xFE1E, "readonly.", None;
}

/// One-byte opcodes by encoding, and two-byte ones by their second byte.
const SHORT: [Option<Op>; 256] = by_byte(0x00);
const LONG: [Option<Op>; 256] = by_byte(0xFE);

const fn by_byte(prefix: u16) -> [Option<Op>; 256] {
    let mut table = [None; 256];
    let mut i = 0;
    while i < Op::ALL.len() {
        let op = Op::ALL[i];
        if op as u16 >> 8 == prefix {
            table[op as usize & 0xFF] = Some(op);
        }
        i += 1;
    }
    table
}

impl Op {
    /// The opcode at the start of `code`, with the number of bytes it takes.
    #[inline]
    pub fn decode(code: &[u8]) -> Option<(Op, usize)> {
        static ONE: [Option<Op>; 256] = SHORT;
        static TWO: [Option<Op>; 256] = LONG;
        let first = *code.first()?;
        if first == 0xFE {
            Some((TWO[usize::from(*code.get(1)?)]?, 2))
        } else {
            Some((ONE[usize::from(first)]?, 1))
        }
    }

    /// Whether control may not go on to the next instruction.
    pub const fn ends_block(self) -> bool {
        matches!(
            self,
            Op::Br
                | Op::BrS
                | Op::Leave
                | Op::LeaveS
                | Op::Ret
                | Op::Throw
                | Op::Rethrow
                | Op::Endfinally
                | Op::Endfilter
                | Op::Jmp
        )
    }
}

impl core::fmt::Display for Op {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// An instruction's operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand<'a> {
    /// None.
    None,
    /// An 8-bit integer.
    I8(i8),
    /// An argument or local number.
    Var(u16),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A 32-bit float.
    R4(f32),
    /// A 64-bit float.
    R8(f64),
    /// A metadata token.
    Token(Token),
    /// The target, as an offset in the code.
    Branch(u32),
    /// The targets, as offsets in the code.
    Switch(SwitchTargets<'a>),
}

/// The targets of a `switch`, decoded when iterated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchTargets<'a> {
    bytes: &'a [u8],
    base: u32,
}

impl<'a> SwitchTargets<'a> {
    /// How many targets there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / 4
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The targets as offsets in the code; each lies inside it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        let base = self.base;
        self.bytes
            .chunks_exact(4)
            .map(move |c| base.wrapping_add(u32::from_le_bytes([c[0], c[1], c[2], c[3]])))
    }
}

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instr<'a> {
    /// Where it starts in the code.
    pub offset: u32,
    /// How many bytes it takes.
    pub len: u32,
    /// Its opcode.
    pub op: Op,
    /// Its operand.
    pub operand: Operand<'a>,
}

impl Instr<'_> {
    /// Where the next instruction starts.
    pub fn end(&self) -> u32 {
        self.offset + self.len
    }
}

/// Decodes instructions one after another.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    at: usize,
}

impl<'a> Instructions<'a> {
    /// Decodes from the start of `code`.
    pub fn new(code: &'a [u8]) -> Instructions<'a> {
        Instructions { code, at: 0 }
    }

    /// Decodes `code` from `offset`.
    pub fn at(code: &'a [u8], offset: u32) -> Instructions<'a> {
        Instructions {
            code,
            at: offset as usize,
        }
    }

    /// Where the next instruction starts.
    pub fn offset(&self) -> u32 {
        self.at as u32
    }

    fn target(&self, next: usize, displacement: i32, offset: u32) -> Result<u32, Error> {
        let target = next as i64 + i64::from(displacement);
        if (0..self.code.len() as i64).contains(&target) {
            Ok(target as u32)
        } else {
            Err(Error::Il {
                reason: "a branch leaves the code",
                offset,
            })
        }
    }

    fn decode(&self) -> Result<Instr<'a>, Error> {
        let code = self.code;
        let offset = u32::try_from(self.at).map_err(|_| Error::Il {
            reason: "the code is too long",
            offset: u32::MAX,
        })?;
        let short = Error::Il {
            reason: "an instruction is truncated",
            offset,
        };
        let rest = code.get(self.at..).ok_or(short)?;
        let (op, head) = Op::decode(rest).ok_or(Error::Il {
            reason: "unknown opcode",
            offset,
        })?;
        let at = self.at + head;
        let byte = || code.get(at).copied().ok_or(short);
        let (operand, size) = match op.operand_kind() {
            OperandKind::None => (Operand::None, 0),
            OperandKind::Var8 => (Operand::Var(u16::from(byte()?)), 1),
            OperandKind::Var16 => (Operand::Var(bytes::u16_at(code, at).ok_or(short)?), 2),
            OperandKind::I8 => (Operand::I8(byte()? as i8), 1),
            OperandKind::I32 => (
                Operand::I32(bytes::u32_at(code, at).ok_or(short)? as i32),
                4,
            ),
            OperandKind::I64 => (
                Operand::I64(bytes::u64_at(code, at).ok_or(short)? as i64),
                8,
            ),
            OperandKind::R4 => (
                Operand::R4(f32::from_bits(bytes::u32_at(code, at).ok_or(short)?)),
                4,
            ),
            OperandKind::R8 => (
                Operand::R8(f64::from_bits(bytes::u64_at(code, at).ok_or(short)?)),
                8,
            ),
            OperandKind::Token => (
                Operand::Token(Token(bytes::u32_at(code, at).ok_or(short)?)),
                4,
            ),
            OperandKind::Branch8 => {
                let displacement = i32::from(byte()? as i8);
                (
                    Operand::Branch(self.target(at + 1, displacement, offset)?),
                    1,
                )
            }
            OperandKind::Branch32 => {
                let displacement = bytes::u32_at(code, at).ok_or(short)? as i32;
                (
                    Operand::Branch(self.target(at + 4, displacement, offset)?),
                    4,
                )
            }
            OperandKind::Switch => {
                let count = bytes::u32_at(code, at).ok_or(short)? as usize;
                let size = count.checked_mul(4).ok_or(short)?;
                let list = bytes::slice(code, at + 4, size).ok_or(short)?;
                let next = at + 4 + size;
                for c in list.chunks_exact(4) {
                    let displacement = i32::from_le_bytes([c[0], c[1], c[2], c[3]]);
                    self.target(next, displacement, offset)?;
                }
                (
                    Operand::Switch(SwitchTargets {
                        bytes: list,
                        base: next as u32,
                    }),
                    4 + size,
                )
            }
        };
        Ok(Instr {
            offset,
            len: (head + size) as u32,
            op,
            operand,
        })
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instr<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.code.len() {
            return None;
        }
        let result = self.decode();
        match &result {
            Ok(instr) => self.at += instr.len as usize,
            Err(_) => self.at = self.code.len(),
        }
        Some(result)
    }
}

impl core::fmt::Display for Instr<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "IL_{:04x}: ", self.offset)?;
        match self.operand {
            Operand::None => write!(f, "{}", self.op),
            Operand::I8(v) => write!(f, "{:<10} {v}", self.op),
            Operand::Var(v) => write!(f, "{:<10} {v}", self.op),
            Operand::I32(v) => write!(f, "{:<10} {v}", self.op),
            Operand::I64(v) => write!(f, "{:<10} {v}", self.op),
            Operand::R4(v) => write!(f, "{:<10} {v:?}", self.op),
            Operand::R8(v) => write!(f, "{:<10} {v:?}", self.op),
            Operand::Token(v) => write!(f, "{:<10} {v:?}", self.op),
            Operand::Branch(v) => write!(f, "{:<10} IL_{v:04x}", self.op),
            Operand::Switch(targets) => {
                write!(f, "{:<10} (", self.op)?;
                for (i, target) in targets.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}IL_{target:04x}")?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_decode_to_themselves() {
        assert_eq!(Op::ALL.len(), 219);
        for op in Op::ALL {
            let code = (*op as u16).to_be_bytes();
            let code = if code[0] == 0 { &code[1..] } else { &code[..] };
            assert_eq!(Op::decode(code), Some((*op, code.len())));
        }
        assert_eq!(Op::decode(&[0x24]), None);
        assert_eq!(Op::decode(&[0xFE]), None);
        assert_eq!(Op::decode(&[0xFE, 0x08]), None);
    }

    #[test]
    fn instructions_show_as_in_a_listing() {
        let code = [
            0x0E, 5, // ldarg.s
            0x1F, 0xFF, // ldc.i4.s
            0x45, 2, 0, 0, 0, 0, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, // switch
            0x2B, 0xFE, // br.s
            0x28, 1, 0, 0, 0x0A, // call
            0xFE, 0x16, 2, 0, 0, 0x1B, // constrained.
            0x2A,
        ];
        let text: Vec<_> = Instructions::new(&code)
            .map(|i| i.unwrap().to_string())
            .collect();
        assert_eq!(
            text,
            [
                "IL_0000: ldarg.s    5",
                "IL_0002: ldc.i4.s   -1",
                "IL_0004: switch     (IL_0011, IL_000d)",
                "IL_0011: br.s       IL_0011",
                "IL_0013: call       0x0a000001",
                "IL_0018: constrained. 0x1b000002",
                "IL_001e: ret",
            ]
        );
    }

    #[test]
    fn malformed_code_ends_the_iteration() {
        for code in [
            &[0x24][..],
            &[0x20, 1, 2, 3],
            &[0x2B, 0x7F],
            &[0x2B, 0xFD],
            &[0x45, 0xFF, 0xFF, 0xFF, 0xFF, 0],
            &[0x45, 1, 0, 0, 0, 0, 0, 0, 0],
            &[0xFE],
        ] {
            let mut all = Instructions::new(code);
            assert!(all.next().is_some_and(|i| i.is_err()), "{code:x?}");
            assert!(all.next().is_none());
        }
    }
}
