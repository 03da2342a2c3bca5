//! What a piece of code knows about its instructions, packed: traps, steps that belong together, positions in the IL, inlined calls.
//!
//! A program has these tables of all its code, and looks at them when it throws, is sampled or is stopped. Packed they take a fifth of the memory.
//! Each is a row of records in order of code offsets. A record has the distance from the record before it and what belongs to that place, as
//! LEB128 numbers. A look-up reads from the start of its row:
//!
//! ```text
//! il_map of the blob          row of the IL            what the look-up at code offset 12 reads
//! (0x00, none)                00 01                    at 0: none
//! (0x04, IL 0)                04 02                    at 4: none + 1 = 0
//! (0x0b, IL 5)                07 0a                    at 11: 5, the last that is not behind 12
//! (0x20, IL 11)               15 0c                    at 32: behind
//! ```
//!
//! Differences of IL offsets have a sign, because code is not in the order of the IL.
//!
//! # Invariants
//! * A look-up allocates nothing and takes no lock: signal handlers look things up.
//! * A row is what [`Packed::of`] wrote, so reading it does not fail. (A row that cannot be read ends there.)
use std::iter::from_fn;
use vervet_codecache::wire::{In, Out};
use vervet_jit::Blob;
use vervet_jit::blob::MAY_BE_REMOTE;

/// See the module.
pub struct Packed {
    bytes: Box<[u8]>,
    /// Where each row but the last ends, in [`Row`]'s order.
    ends: [u32; 4],
}

/// The rows, in their order.
#[derive(Clone, Copy)]
enum Row {
    /// Traps: distance, kind.
    Traps,
    /// Ranges in which nothing may come between two instructions: distance from the end of the one before, length.
    Whole,
    /// Positions of the method itself: distance, difference of IL offsets.
    Il,
    /// Positions of inlined bodies: distance, site, difference of IL offsets.
    Inlined,
    /// Inlined calls, by number from 1: id of the method, the site that it lies in, IL offset of the call there.
    Sites,
}

impl Packed {
    /// Packs the tables of a blob.
    pub fn of(blob: &Blob) -> Packed {
        let mut out = Out::default();
        let mut ends = [0; 4];
        let mut last = 0;
        for (at, kind) in &blob.traps {
            out.u32(at - last);
            out.byte(*kind);
            last = *at;
        }
        ends[Row::Traps as usize] = out.bytes.len() as u32;
        last = 0;
        for (start, end) in &blob.no_redirect {
            out.u32(start - last);
            out.u32(end - start);
            last = *end;
        }
        ends[Row::Whole as usize] = out.bytes.len() as u32;
        let (mut last, mut last_il) = (0, 0);
        for (at, il) in &blob.il_map {
            out.u32(at - last);
            out.signed(il.wrapping_sub(last_il) as i32 as i64);
            (last, last_il) = (*at, *il);
        }
        ends[Row::Il as usize] = out.bytes.len() as u32;
        let (mut last, mut last_il) = (0, 0);
        for (at, site, il) in &blob.inline_map {
            out.u32(at - last);
            out.u32(*site);
            out.signed(il.wrapping_sub(last_il) as i32 as i64);
            (last, last_il) = (*at, *il);
        }
        ends[Row::Inlined as usize] = out.bytes.len() as u32;
        for site in &blob.inline_sites {
            out.u32(site.method.id);
            out.u32(site.parent);
            out.u32(site.il_offset);
        }
        Packed {
            bytes: out.bytes.into(),
            ends,
        }
    }

    fn row(&self, row: Row) -> In<'_> {
        let bound = |n: usize| self.ends.get(n).map_or(self.bytes.len(), |e| *e as usize);
        let start = (row as usize).checked_sub(1).map_or(0, bound);
        In::new(&self.bytes[start..bound(row as usize)])
    }

    /// The kind of the trap at exactly that offset.
    pub fn trap(&self, offset: u32) -> Option<u8> {
        let (mut row, mut at) = (self.row(Row::Traps), 0);
        from_fn(move || {
            at += row.u32().ok()?;
            Some((at, row.byte().ok()?))
        })
        .take_while(|t| t.0 <= offset)
        .find(|t| t.0 == offset)
        .map(|t| t.1)
    }

    /// Does the instruction at the offset belong together with one beside it?
    pub fn is_whole_step(&self, offset: u32) -> bool {
        let (mut row, mut at) = (self.row(Row::Whole), 0);
        from_fn(move || {
            let start = at + row.u32().ok()?;
            at = start + row.u32().ok()?;
            Some(start..at)
        })
        .take_while(|r| r.start <= offset)
        .any(|r| r.contains(&offset))
    }

    /// The IL offset at a code offset as the compiler wrote it, in the compiled method itself.
    fn il(&self, offset: u32) -> Option<u32> {
        let (mut row, mut at, mut il) = (self.row(Row::Il), 0, 0u32);
        from_fn(move || {
            at += row.u32().ok()?;
            il = il.wrapping_add(row.signed().ok()? as u32);
            Some((at, il))
        })
        .take_while(|m| m.0 <= offset)
        .last()
        .map(|m| m.1)
        .filter(|il| *il != u32::MAX)
    }

    /// The IL offset at a code offset, in the compiled method itself.
    pub fn il_offset(&self, offset: u32) -> Option<u32> {
        Some(self.il(offset)? & !MAY_BE_REMOTE)
    }

    /// The inlined call that code at an offset belongs to, 0 if to none, and the IL offset in it as the compiler wrote it.
    fn inlined_at(&self, offset: u32) -> (u32, u32) {
        let (mut row, mut at, mut il) = (self.row(Row::Inlined), 0, 0u32);
        from_fn(move || {
            at += row.u32().ok()?;
            let site = row.u32().ok()?;
            il = il.wrapping_add(row.signed().ok()? as u32);
            Some((at, site, il))
        })
        .take_while(|m| m.0 <= offset)
        .last()
        .map_or((0, 0), |m| (m.1, m.2))
    }

    /// Does the code there call a method of what might be a transparent proxy?
    pub fn may_call_remotely(&self, offset: u32) -> bool {
        match self.inlined_at(offset) {
            (0, _) => self.il(offset),
            (_, il) => Some(il),
        }
        .is_some_and(|il| il != u32::MAX && il & MAY_BE_REMOTE != 0)
    }

    /// The inlined methods, by id, that the code at an offset belongs to, innermost first, each with the IL offset reached in it. The compiled method itself
    /// comes after them.
    pub fn inlined(&self, offset: u32) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let (mut site, mut il) = self.inlined_at(offset);
        il &= !MAY_BE_REMOTE;
        from_fn(move || {
            let before = site.checked_sub(1)?;
            let mut row = self.row(Row::Sites);
            let mut read = move || Some([row.u32().ok()?, row.u32().ok()?, row.u32().ok()?]);
            for _ in 0..before {
                read()?;
            }
            let [method, parent, call] = read()?;
            let frame = (method, il);
            (site, il) = (parent, call);
            Some(frame)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob() -> Blob {
        Blob {
            traps: vec![(0, 3), (7, 1), (1000, 2)],
            no_redirect: vec![(4, 8), (8, 9), (300, 301)],
            il_map: vec![
                (0, u32::MAX),
                (5, 40),
                (9, 12 | MAY_BE_REMOTE),
                (200, u32::MAX),
                (300, 13),
            ],
            inline_map: vec![(9, 1, 2), (12, 0, 0), (20, 2, 1 | MAY_BE_REMOTE)],
            ..Blob::default()
        }
    }

    #[test]
    fn every_offset_reads_as_in_the_unpacked_tables() {
        let blob = blob();
        let packed = Packed::of(&blob);
        for offset in 0..1100 {
            let trap = blob.traps.iter().find(|t| t.0 == offset).map(|t| t.1);
            assert_eq!(packed.trap(offset), trap, "{offset}");
            let whole = (blob.no_redirect.iter()).any(|r| (r.0..r.1).contains(&offset));
            assert_eq!(packed.is_whole_step(offset), whole, "{offset}");
            let il = (blob.il_map.iter().rfind(|m| m.0 <= offset)).map(|m| m.1);
            let il = il.filter(|il| *il != u32::MAX);
            assert_eq!(packed.il(offset), il, "{offset}");
            let at = blob.inline_map.iter().rfind(|m| m.0 <= offset);
            let at = at.map_or((0, 0), |m| (m.1, m.2));
            assert_eq!(packed.inlined_at(offset), at, "{offset}");
            let remote = match at {
                (0, _) => il.is_some_and(|il| il & MAY_BE_REMOTE != 0),
                (_, il) => il & MAY_BE_REMOTE != 0,
            };
            assert_eq!(packed.may_call_remotely(offset), remote, "{offset}");
        }
    }

    #[test]
    fn nothing_is_known_of_code_without_tables() {
        let packed = Packed::of(&Blob::default());
        assert_eq!(packed.trap(0), None);
        assert!(!packed.is_whole_step(0));
        assert_eq!(packed.il_offset(9), None);
        assert!(!packed.may_call_remotely(9));
        assert_eq!(packed.inlined(9).count(), 0);
    }

    #[test]
    fn inlined_calls_are_walked_outwards() {
        let mut out = Out::default();
        // Site 1: method 500 called at 7 of the method itself. Site 2: method 3 called at 90 of site 1.
        for n in [500, 0, 7, 3, 1, 90] {
            out.u32(n);
        }
        let mut packed = Packed::of(&blob());
        let bytes: Vec<u8> = packed.bytes.iter().chain(&out.bytes).copied().collect();
        packed.bytes = bytes.into();
        let at = |offset| packed.inlined(offset).collect::<Vec<_>>();
        assert_eq!(at(8), []);
        assert_eq!(at(9), [(500, 2)]);
        assert_eq!(at(12), []);
        assert_eq!(at(25), [(3, 1), (500, 90)]);
    }
}
