//! What row cells give addresses of: method bodies, and the initial values of fields.
//!
//! # Invariants
//! * Instructions keep their offsets: a token is replaced in place.
//! * A body that cannot be read is copied as it is if its length is known (in an image that grows), and is an error otherwise.
use super::container::Text;
use super::heaps::NewHeaps;
use super::{Rows, missing};
use crate::body::{EhClause, EhKind, MethodBody};
use crate::error::Error;
use crate::il::{Instructions, Operand};
use crate::image::Image;
use crate::signature::{SigType, parse_field_sig};
use crate::tables::schema::Table;
use crate::token::Token;

/// The table number of user string tokens.
const USER_STRING: u32 = 0x70;

/// Writes all bodies and field data, and their addresses into the rows.
pub(super) fn write(
    image: &Image<'_>,
    rows: &mut Rows,
    heaps: &mut NewHeaps,
    text: &mut Text,
) -> Result<(), Error> {
    let mut methods = std::mem::take(rows.table(Table::MethodDef));
    for row in methods.iter_mut().filter(|r| r.cells[0] != 0) {
        let body = match image.method_body(row.cells[0]) {
            Ok(body) => {
                let code = renumbered(image, rows, heaps, body.code)?;
                encode(&body, &code, rows)?
            }
            Err(_) if image.grows().is_some() => image.rva_data(row.cells[0])?.to_vec(),
            Err(e) => return Err(e),
        };
        // A tiny header needs no alignment.
        let align = if body.first().is_some_and(|b| b & 3 == 2) {
            1
        } else {
            4
        };
        row.cells[0] = text.add(&body, align)?;
    }
    *rows.table(Table::MethodDef) = methods;
    let mut data = std::mem::take(rows.table(Table::FieldRva));
    for row in &mut data {
        let old = image.tables().cell(Table::FieldRva, row.old, 1);
        let bytes = image.rva_data(row.cells[0])?;
        let len = match image.grows() {
            Some(_) => bytes.len(),
            None => field_size(image, old.unwrap_or(0))?.min(bytes.len()),
        };
        row.cells[0] = text.add(&bytes[..len], 8)?;
    }
    *rows.table(Table::FieldRva) = data;
    Ok(())
}

/// The code with the new tokens of members and user strings.
fn renumbered(
    image: &Image<'_>,
    rows: &Rows,
    heaps: &mut NewHeaps,
    code: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut out = code.to_vec();
    for instruction in Instructions::new(code).map_while(Result::ok) {
        let Operand::Token(token) = instruction.operand else {
            continue;
        };
        let new = if token.0 >> 24 == USER_STRING {
            match image.user_string(token.0) {
                Ok(text) => Token(USER_STRING << 24 | heaps.user_string(text.bytes())?),
                // Beyond every heap.
                Err(_) => Token(USER_STRING << 24 | 0xFF_FFFF),
            }
        } else {
            match token.table() {
                Some(table @ (Table::MethodDef | Table::Field)) => {
                    Token::new(table, rows.number(table, token.rid()).unwrap_or(0))
                }
                _ => continue,
            }
        };
        // A token is the last operand of its instruction.
        let end = instruction.end() as usize;
        out[end - 4..end].copy_from_slice(&new.0.to_le_bytes());
    }
    Ok(out)
}

/// A body as it is written (II.25.4): with a tiny header if that is enough.
fn encode(body: &MethodBody<'_>, code: &[u8], rows: &Rows) -> Result<Vec<u8>, Error> {
    // As mono writes it, an odd size is tiny up to 31 only.
    let limit = if code.len().is_multiple_of(2) { 64 } else { 32 };
    let tiny = code.len() < limit
        && body.max_stack <= 8
        && body.local_sig.is_nil()
        && body.clauses.is_empty();
    if tiny {
        let mut out = vec![(code.len() as u8) << 2 | 2];
        out.extend(code);
        return Ok(out);
    }
    let mut out = Vec::with_capacity(16 + code.len() + 24 * body.clauses.len());
    let mut flags = 0x3003u16;
    if body.init_locals {
        flags |= 0x10;
    }
    if !body.clauses.is_empty() {
        flags |= 8;
    }
    out.extend(flags.to_le_bytes());
    out.extend(body.max_stack.to_le_bytes());
    out.extend((code.len() as u32).to_le_bytes());
    out.extend(body.local_sig.0.to_le_bytes());
    out.extend(code);
    if !body.clauses.is_empty() {
        out.resize(out.len().next_multiple_of(4), 0);
        clauses(&mut out, &body.clauses, rows)?;
    }
    Ok(out)
}

/// Appends a section of exception clauses: a small one if they fit.
fn clauses(out: &mut Vec<u8>, list: &[EhClause], rows: &Rows) -> Result<(), Error> {
    let small = list.len() <= 20
        && list.iter().all(|c| {
            c.try_offset <= 0xFFFF
                && c.handler_offset <= 0xFFFF
                && c.try_len <= 0xFF
                && c.handler_len <= 0xFF
        });
    let size = 4 + list.len() * if small { 12 } else { 24 };
    if size >= 1 << 24 {
        return Err(Error::format("too many exception clauses", list.len()));
    }
    let kind: u32 = if small { 1 } else { 0x41 };
    out.extend((kind | (size as u32) << 8).to_le_bytes());
    for c in list {
        let (flags, last) = match c.kind {
            EhKind::Catch(token) => match token.table() {
                Some(table) if token.rid() != 0 => {
                    let rid = token.rid();
                    let new = rows.number(table, rid).ok_or(missing(table, rid))?;
                    (0u32, Token::new(table, new).0)
                }
                _ => (0, token.0),
            },
            EhKind::Filter(at) => (1, at),
            EhKind::Finally => (2, 0),
            EhKind::Fault => (4, 0),
        };
        if small {
            out.extend((flags as u16).to_le_bytes());
            out.extend((c.try_offset as u16).to_le_bytes());
            out.push(c.try_len as u8);
            out.extend((c.handler_offset as u16).to_le_bytes());
            out.push(c.handler_len as u8);
        } else {
            for word in [
                flags,
                c.try_offset,
                c.try_len,
                c.handler_offset,
                c.handler_len,
            ] {
                out.extend(word.to_le_bytes());
            }
        }
        out.extend(last.to_le_bytes());
    }
    Ok(())
}

/// The size of a field with an initial value, in a file: that of its type.
pub(super) fn field_size(image: &Image<'_>, field: u32) -> Result<usize, Error> {
    let mut ty = parse_field_sig(image.blob(image.field(field)?.signature)?)?;
    while let SigType::Modified { inner, .. } = ty {
        ty = *inner;
    }
    Ok(match ty {
        SigType::Bool | SigType::I1 | SigType::U1 => 1,
        SigType::Char | SigType::I2 | SigType::U2 => 2,
        SigType::I4 | SigType::U4 | SigType::R4 => 4,
        SigType::I8 | SigType::U8 | SigType::R8 => 8,
        SigType::ValueType(token) if token.is(Table::TypeDef) => {
            let layout = image.class_layout_of(token.rid());
            let row = layout.map(|rid| image.class_layout(rid)).transpose()?;
            row.map_or(0, |r| r.class_size as usize)
        }
        _ => 0,
    })
}
