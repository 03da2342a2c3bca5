//! Method bodies and their exception clauses (II.25.4).
//!
//! Invariant: every range of a body that was accepted lies inside its code.

use crate::bytes;
use crate::error::Error;
use crate::il::Instructions;
use crate::token::Token;

/// A method body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodBody<'a> {
    /// Deepest evaluation stack.
    pub max_stack: u16,
    /// Whether locals start zeroed.
    pub init_locals: bool,
    /// StandAloneSig of the locals, or nil.
    pub local_sig: Token,
    /// The instructions.
    pub code: &'a [u8],
    /// The exception clauses, in file order (innermost first).
    pub clauses: Vec<EhClause>,
}

/// What an exception clause does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EhKind {
    /// Handles exceptions of this type.
    Catch(Token),
    /// Handles what the filter at this offset accepts.
    Filter(u32),
    /// Runs on every exit.
    Finally,
    /// Runs on exceptional exit.
    Fault,
}

/// An exception clause; offsets are in bytes of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EhClause {
    /// What it does.
    pub kind: EhKind,
    /// Start of the protected range.
    pub try_offset: u32,
    /// Length of the protected range.
    pub try_len: u32,
    /// Start of the handler.
    pub handler_offset: u32,
    /// Length of the handler.
    pub handler_len: u32,
}

impl<'a> MethodBody<'a> {
    /// Parses the body at the start of `data`; `rva` is where that lies and
    /// only matters for the alignment of what follows the code.
    pub fn parse(data: &'a [u8], rva: u32) -> Result<MethodBody<'a>, Error> {
        let short = |at| Error::format("the method body is truncated", at);
        let first = *data.first().ok_or(short(0))?;
        if first & 3 == 2 {
            let code = bytes::slice(data, 1, usize::from(first >> 2)).ok_or(short(1))?;
            return Ok(MethodBody {
                max_stack: 8,
                init_locals: false,
                local_sig: Token::NIL,
                code,
                clauses: Vec::new(),
            });
        }
        if first & 3 != 3 {
            return Err(Error::format("unknown method header format", 0));
        }
        let flags = bytes::u16_at(data, 0).ok_or(short(0))?;
        let header = usize::from(flags >> 12) * 4;
        if header < 12 {
            return Err(Error::format("the fat method header is too small", 1));
        }
        let max_stack = bytes::u16_at(data, 2).ok_or(short(2))?;
        let code_size = bytes::u32_at(data, 4).ok_or(short(4))? as usize;
        let local_sig = Token(bytes::u32_at(data, 8).ok_or(short(8))?);
        let code = bytes::slice(data, header, code_size).ok_or(short(header))?;
        let mut body = MethodBody {
            max_stack,
            init_locals: flags & 0x10 != 0,
            local_sig,
            code,
            clauses: Vec::new(),
        };
        let mut more = flags & 8 != 0;
        let mut at = header + code_size;
        while more {
            // Sections are aligned to four bytes of address.
            at += (rva as usize).wrapping_add(at).wrapping_neg() & 3;
            let head = bytes::u32_at(data, at).ok_or(short(at))?;
            let (kind, fat) = (head as u8, head & 0x40 != 0);
            let size = if fat { head >> 8 } else { head >> 8 & 0xFF } as usize;
            if size < 4 {
                return Err(Error::format("a method data section is too small", at));
            }
            let section = bytes::slice(data, at, size);
            if kind & 0x3F == 1 {
                // Some writers leave the header or padding out of the size, so
                // it is the clauses that have to fit.
                let each = if fat { 24 } else { 12 };
                let list = bytes::slice(data, at + 4, size / each * each).ok_or(short(at))?;
                body.clauses.reserve_exact(list.len() / each);
                for (i, clause) in list.chunks_exact(each).enumerate() {
                    let offset = at + 4 + i * each;
                    let clause = if fat {
                        fat_clause(clause)
                    } else {
                        small_clause(clause)
                    };
                    body.clauses.push(check(clause, code.len(), offset)?);
                }
            } else if section.is_none() {
                return Err(short(at));
            }
            more = kind & 0x80 != 0;
            at += size;
        }
        Ok(body)
    }

    /// A body that was not read from bytes, if its ranges lie inside its code.
    ///
    /// # Errors
    /// A clause leaves the code.
    pub fn checked(self) -> Result<MethodBody<'a>, Error> {
        for c in &self.clauses {
            let (flags, last) = match c.kind {
                EhKind::Catch(token) => (0, token.0),
                EhKind::Filter(at) => (1, at),
                EhKind::Finally => (2, 0),
                EhKind::Fault => (4, 0),
            };
            let (tried, handler) = ([c.try_offset, c.try_len], [c.handler_offset, c.handler_len]);
            let raw = [flags, tried[0], tried[1], handler[0], handler[1], last];
            check(raw, self.code.len(), 0)?;
        }
        Ok(self)
    }

    /// Decodes the code.
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.code)
    }
}

/// Flags, try offset and length, handler offset and length, token or filter.
type RawClause = [u32; 6];

fn fat_clause(bytes: &[u8]) -> RawClause {
    core::array::from_fn(|i| bytes::u32_at(bytes, i * 4).unwrap_or(0))
}

fn small_clause(bytes: &[u8]) -> RawClause {
    let half = |at| u32::from(bytes::u16_at(bytes, at).unwrap_or(0));
    let byte = |at: usize| bytes.get(at).copied().map_or(0, u32::from);
    [
        half(0),
        half(2),
        byte(4),
        half(5),
        byte(7),
        bytes::u32_at(bytes, 8).unwrap_or(0),
    ]
}

fn check(raw: RawClause, code_len: usize, offset: usize) -> Result<EhClause, Error> {
    let [
        flags,
        try_offset,
        try_len,
        handler_offset,
        handler_len,
        last,
    ] = raw;
    let inside = |start: u32, len: u32| u64::from(start) + u64::from(len) <= code_len as u64;
    if !inside(try_offset, try_len) || !inside(handler_offset, handler_len) {
        return Err(Error::format("an exception clause leaves the code", offset));
    }
    let kind = match flags & 7 {
        0 => EhKind::Catch(Token(last)),
        1 if (last as usize) < code_len => EhKind::Filter(last),
        1 => {
            return Err(Error::format(
                "an exception filter lies outside the code",
                offset,
            ));
        }
        2 => EhKind::Finally,
        4 => EhKind::Fault,
        _ => return Err(Error::format("unknown kind of exception clause", offset)),
    };
    Ok(EhClause {
        kind,
        try_offset,
        try_len,
        handler_offset,
        handler_len,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_bodies() {
        let body = MethodBody::parse(&[0x0A, 0x00, 0x2A, 0xFF], 0x2050).unwrap();
        assert_eq!((body.code, body.max_stack), (&[0x00, 0x2A][..], 8));
        assert!(MethodBody::parse(&[0x0A, 0x00], 0).is_err());
        assert!(MethodBody::parse(&[0x01], 0).is_err());
        assert!(MethodBody::parse(&[], 0).is_err());
    }

    fn fat(code: &[u8], section: &[u8]) -> Vec<u8> {
        let mut out = vec![0x1B, 0x30, 2, 0];
        out.extend((code.len() as u32).to_le_bytes());
        out.extend(0x1100_0003u32.to_le_bytes());
        out.extend(code);
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(section);
        out
    }

    #[test]
    fn fat_bodies_with_small_and_fat_clauses() {
        let small = [1, 16, 0, 0, 2, 0, 1, 0, 2, 3, 0, 1, 0, 0, 0, 0];
        let body = fat(&[0; 5], &small);
        let body = MethodBody::parse(&body, 0x2000).unwrap();
        assert!(body.init_locals);
        assert_eq!(body.local_sig, Token(0x1100_0003));
        let finally = EhClause {
            kind: EhKind::Finally,
            try_offset: 1,
            try_len: 2,
            handler_offset: 3,
            handler_len: 1,
        };
        assert_eq!(body.clauses, [finally]);

        let mut section = 0x0000_1C41u32.to_le_bytes().to_vec();
        for v in [1u32, 1, 2, 3, 1, 4] {
            section.extend(v.to_le_bytes());
        }
        let good = fat(&[0; 5], &section);
        let body = MethodBody::parse(&good, 0x2000).unwrap();
        assert_eq!(
            body.clauses,
            [EhClause {
                kind: EhKind::Filter(4),
                ..finally
            }]
        );
        for cut in 0..good.len() {
            assert!(MethodBody::parse(&good[..cut], 0x2000).is_err());
        }
        let (try_len, filter) = (good.len() - 16, good.len() - 4);
        for at in [try_len, filter] {
            let mut bad = good.clone();
            bad[at] = 5;
            assert!(MethodBody::parse(&bad, 0x2000).is_err());
        }
    }
}
