//! Target `body`: method bodies with their exception clauses, instructions and constants.
//!
//! The first byte of an input is the address modulo 4. Oracles: every range of a body that was accepted lies in its code; the
//! instructions cover the code without a gap; a body that was written is read back.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_metadata::body::{EhClause, EhKind};
use vervet_metadata::constants::decode_constant;
use vervet_metadata::{Instructions, MethodBody, Token};

pub(super) const BODY: Target = Target {
    name: "body",
    about: "method bodies and clauses: ranges lie in the code, instructions cover it",
    run,
    generate,
    corpus: || Corpus::read("body"),
    memory: 1 << 20,
    missing: || None,
};

fn run(data: &[u8]) {
    let Some((rva, data)) = data.split_first() else {
        return;
    };
    let rva = u32::from(*rva);
    if let Ok(body) = MethodBody::parse(data, rva) {
        check(&body);
        let written = encode(&body, rva);
        let again = MethodBody::parse(&written, rva).expect("what was written is read");
        assert_eq!(
            (
                again.code,
                &again.clauses,
                again.local_sig,
                again.init_locals
            ),
            (body.code, &body.clauses, body.local_sig, body.init_locals)
        );
    }
    for kind in 0..0x20 {
        if let Ok(value) = decode_constant(kind, data) {
            assert!(!format!("{value:?}").is_empty());
        }
    }
}

fn check(body: &MethodBody<'_>) {
    let end = body.code.len() as u64;
    let inside = |from: u32, len: u32| u64::from(from) + u64::from(len) <= end;
    for clause in &body.clauses {
        assert!(inside(clause.try_offset, clause.try_len), "{clause:?}");
        assert!(
            inside(clause.handler_offset, clause.handler_len),
            "{clause:?}"
        );
        if let EhKind::Filter(at) = clause.kind {
            assert!(inside(at, 0), "{clause:?}");
        }
    }
    let mut at = 0;
    for instr in body.instructions() {
        let Ok(instr) = instr else { break };
        assert_eq!(instr.offset, at, "a gap before {instr}");
        assert!(instr.end() > at && u64::from(instr.end()) <= end);
        at = instr.end();
        assert!(!instr.to_string().is_empty());
        let from_here = Instructions::at(body.code, instr.offset).next();
        assert_eq!(from_here.and_then(Result::ok).map(|i| i.end()), Some(at));
    }
}

/// Writes a fat body, with fat clauses.
fn encode(body: &MethodBody<'_>, rva: u32) -> Vec<u8> {
    let flags = 3u16
        | if body.init_locals { 0x10 } else { 0 }
        | if body.clauses.is_empty() { 0 } else { 8 };
    let mut out = (flags | 0x3000).to_le_bytes().to_vec();
    out.extend(body.max_stack.to_le_bytes());
    out.extend((body.code.len() as u32).to_le_bytes());
    out.extend(body.local_sig.0.to_le_bytes());
    out.extend(body.code);
    if body.clauses.is_empty() {
        return out;
    }
    while !(rva as usize + out.len()).is_multiple_of(4) {
        out.push(0);
    }
    // A section holds what its 24 bits can say; the rest goes to another.
    let most = 0xFF_FFFF / 24;
    let mut left = body.clauses.as_slice();
    while !left.is_empty() {
        let (now, later) = left.split_at(left.len().min(most));
        let more = if later.is_empty() { 0 } else { 0x80 };
        out.extend((0x41 | more | (now.len() as u32 * 24 + 4) << 8).to_le_bytes());
        for clause in now {
            let (kind, extra) = match clause.kind {
                EhKind::Catch(token) => (0, token.0),
                EhKind::Filter(at) => (1, at),
                EhKind::Finally => (2, 0),
                EhKind::Fault => (4, 0),
            };
            for word in [
                kind,
                clause.try_offset,
                clause.try_len,
                clause.handler_offset,
                clause.handler_len,
                extra,
            ] {
                out.extend(word.to_le_bytes());
            }
        }
        left = later;
    }
    out
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    if random.once_in(3) && !corpus.inputs.is_empty() {
        let mut data = random.of(&corpus.inputs).1.clone();
        mutate::bytes(&mut data, random);
        return data;
    }
    let code: Vec<u8> = (0..random.below(80))
        .map(|_| {
            *random.of(&[
                0, 2, 0x2A, 0x20, 0x45, 0xFE, 0x28, 0x2B, 0xDE, 0x72, 0x16, 0xDC,
            ])
        })
        .collect();
    let n = code.len() as u32 + 1;
    let mut within = || (random.bits() % u64::from(n)) as u32;
    let clauses = (0..within() % 5)
        .map(|_| {
            let (a, b) = (within(), within());
            EhClause {
                kind: match within() % 4 {
                    0 => EhKind::Catch(Token(0x0100_0001)),
                    1 => EhKind::Filter(a),
                    2 => EhKind::Finally,
                    _ => EhKind::Fault,
                },
                try_offset: a,
                try_len: within() % (n - a),
                handler_offset: b,
                handler_len: within() % (n - b),
            }
        })
        .collect();
    let body = MethodBody {
        max_stack: 8,
        init_locals: true,
        local_sig: Token(0x1100_0001),
        code: &code,
        clauses,
    };
    let rva = random.below(4) as u32;
    let mut data = vec![rva as u8];
    data.extend(encode(&body, rva));
    if !random.once_in(4) {
        mutate::bytes(&mut data, random);
    }
    data
}
