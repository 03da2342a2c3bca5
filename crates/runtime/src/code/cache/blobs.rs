//! A blob as bytes that hold in every process, and back.
//!
//! # Invariants
//! * What is written depends on the blob and on the set's numbers, not on ids or addresses: two processes write the same bytes for the same
//!   code ([`super`] says what makes code differ).
//! * Reading is total, and what it returns can be linked and walked without a check: every offset lies in the code, every index in its
//!   table, tables that are searched are sorted.
//! * A symbol that holds only in this process (the cookie of a signature) cannot be written.
use super::names::{Finder, Namer};
use vervet_abi::Helper;
use vervet_codecache::wire::{Damaged, Read};
use vervet_jit::blob::{
    Clause, ClauseKind, ColdResult, InlineSite, ProfiledCall, TO_CODE, TO_COUNTER,
};
use vervet_jit::{Blob, CallSite, Handler, Reloc, RelocKind, Symbol};

/// The longest code of one method that is kept.
const LONGEST: usize = 4 << 20;
/// Bytes between a frame's pointer and its stack pointer beside the frame's own: saved registers and arguments of calls.
const FRAME_SLACK: u32 = 4096;

impl Namer<'_> {
    /// Writes a blob. None: it cannot be kept.
    pub fn blob(&mut self, blob: &Blob) -> Option<()> {
        self.piece(blob)?;
        self.out.count(blob.clauses.len());
        for c in &blob.clauses {
            match c.kind {
                ClauseKind::Catch(class) => {
                    self.out.byte(0);
                    self.class(class)?;
                }
                ClauseKind::Filter(n) => {
                    self.out.byte(1);
                    self.out.u32(n);
                }
                ClauseKind::Finally => self.out.byte(2),
                ClauseKind::Fault => self.out.byte(3),
            }
        }
        // A filter has the clauses of its method, without the one that leaves the monitor.
        self.out.count(blob.filters.len());
        for f in &blob.filters {
            if !f.filters.is_empty() || f.clauses.len() > blob.clauses.len() {
                return None;
            }
            self.out.count(f.clauses.len());
            self.piece(f)?;
        }
        self.out.count(blob.initialise.len());
        blob.initialise.iter().try_for_each(|c| self.class(c))
    }
    /// Writes what a method and a filter both have.
    fn piece(&mut self, blob: &Blob) -> Option<()> {
        if blob.code.len() > LONGEST || blob.align > 4096 {
            return None;
        }
        self.out.string(&blob.code);
        for n in [
            blob.align,
            u32::from(blob.places),
            blob.prologue_end,
            blob.stack_arg_bytes,
            blob.frame_size,
            u32::from(blob.exposes_frame),
        ] {
            self.out.u32(n);
        }
        let mut symbols: Vec<Symbol> = Vec::new();
        let numbers: Vec<usize> = blob
            .relocs
            .iter()
            .map(|r| {
                symbols
                    .iter()
                    .position(|s| *s == r.symbol)
                    .unwrap_or_else(|| {
                        symbols.push(r.symbol);
                        symbols.len() - 1
                    })
            })
            .collect();
        self.out.count(symbols.len());
        symbols.iter().try_for_each(|s| self.symbol(*s))?;
        self.out.count(blob.relocs.len());
        for (r, number) in blob.relocs.iter().zip(numbers) {
            self.out.u32(r.offset);
            match r.kind {
                RelocKind::Abs8 => self.out.byte(0),
                RelocKind::PcRel4 => self.out.byte(1),
                RelocKind::Abs4 => return None,
            }
            self.out.signed(r.addend);
            self.out.count(number);
        }
        let out = &mut self.out;
        out.count(blob.call_sites.len());
        for s in &blob.call_sites {
            [s.ret, s.frame_offset, s.first_handler, s.handler_count]
                .iter()
                .for_each(|n| out.u32(*n));
        }
        out.count(blob.handlers.len());
        for h in &blob.handlers {
            [h.clause, h.code].iter().for_each(|n| out.u32(*n));
        }
        out.count(blob.traps.len());
        for t in &blob.traps {
            out.u32(t.0);
            out.byte(t.1);
        }
        out.count(blob.il_map.len());
        for m in &blob.il_map {
            [m.0, m.1].iter().for_each(|n| out.u32(*n));
        }
        out.count(blob.inline_map.len());
        for m in &blob.inline_map {
            [m.0, m.1, m.2].iter().for_each(|n| out.u32(*n));
        }
        out.count(blob.no_redirect.len());
        for r in &blob.no_redirect {
            [r.0, r.1].iter().for_each(|n| out.u32(*n));
        }
        out.count(blob.inline_sites.len());
        for s in &blob.inline_sites {
            self.method(s.method)?;
            self.out.u32(s.parent);
            self.out.u32(s.il_offset);
        }
        self.out.count(blob.profiled.len());
        for call in &blob.profiled {
            self.method(call.method)?;
            self.out.u32(call.il_offset);
            self.out
                .byte(u8::from(call.is_delegate) | u8::from(call.is_counted) << 1);
        }
        Some(())
    }
    fn symbol(&mut self, symbol: Symbol) -> Option<()> {
        let (tag, class, method, field) = match symbol {
            Symbol::MethodSlot(m) => (0, None, Some(m), None),
            Symbol::MethodStub(m) => (1, None, Some(m), None),
            Symbol::MethodHandle(m) => (2, None, Some(m), None),
            Symbol::PInvokeCell(m) => (3, None, Some(m), None),
            Symbol::VTable(c) => (4, Some(c), None, None),
            Symbol::StaticRefs(c) => (5, Some(c), None, None),
            Symbol::StaticValues(c) => (6, Some(c), None, None),
            Symbol::TypeObject(c) => (7, Some(c), None, None),
            Symbol::ClassHandle(c) => (8, Some(c), None, None),
            Symbol::StaticCard(f) => (9, None, None, Some(f)),
            Symbol::RvaData(f) => (10, None, None, Some(f)),
            Symbol::FieldHandle(f) => (11, None, None, Some(f)),
            Symbol::Literal(..) => (12, None, None, None),
            Symbol::Helper(_) => (13, None, None, None),
            Symbol::CardTable => (14, None, None, None),
            Symbol::HandleRows => (15, None, None, None),
            Symbol::NativeThunk => (16, None, None, None),
            Symbol::SelfCode => (17, None, None, None),
            Symbol::CallCounter(m) => (18, None, Some(m), None),
            Symbol::Prestub(m) => (19, None, Some(m), None),
            Symbol::PlainNativeThunk => (20, None, None, None),
            Symbol::RvaImage(f) => (21, None, None, Some(f)),
            Symbol::PreservingHelper(_) => (22, None, None, None),
            Symbol::ColdCall(_) => (23, None, None, None),
            Symbol::ScalarNativeThunk => (24, None, None, None),
            Symbol::Profile(_) => (25, None, None, None),
            Symbol::GuessedVTable(c) => (26, Some(c), None, None),
            Symbol::DeferringHelper(_) => (27, None, None, None),
            // Its address is the identity of a signature in this process.
            Symbol::Signature(_) => return None,
            // Its number counts what this process has made.
            Symbol::DynamicLiteral(_) => return None,
        };
        self.out.byte(tag);
        match symbol {
            Symbol::Literal(module, token) => {
                self.module(module)?;
                self.out.u32(token);
            }
            Symbol::Helper(h) | Symbol::PreservingHelper(h) | Symbol::DeferringHelper(h) => {
                self.out.u32(h as u32)
            }
            Symbol::ColdCall(result) => self.out.byte(result as u8),
            Symbol::Profile(number) => self.out.u32(number),
            _ => {}
        }
        method.map_or(Some(()), |m| self.method(m))?;
        class.map_or(Some(()), |c| self.class(c))?;
        field.map_or(Some(()), |f| self.field(f))
    }
}

/// Whether the compiler makes such a relocation. Addresses of things are used as they are, so there is no addend; a call is relative to its end, four
/// bytes behind the place; and what is relative is near: the code itself, a helper's stub, a counter, a prestub. (Code that notes callees names the counter by its address, too.)
fn is_possible(kind: RelocKind, symbol: Symbol, addend: i64, len: usize) -> bool {
    let own = || (-4..=len as i64).contains(&addend);
    match (kind, symbol) {
        (RelocKind::PcRel4, Symbol::SelfCode) => own(),
        (RelocKind::PcRel4, Symbol::Helper(_) | Symbol::Prestub(_)) => addend == TO_CODE,
        (RelocKind::PcRel4, Symbol::CallCounter(_)) => addend == TO_COUNTER,
        (_, Symbol::Prestub(_)) => false,
        (RelocKind::Abs8, _) => addend == 0,
        _ => false,
    }
}

/// An offset into code of that length, its end included.
fn within(n: u32, len: usize) -> Read<u32> {
    match n as usize <= len {
        true => Ok(n),
        false => Err(Damaged),
    }
}

/// An offset into code of that length, before its end.
fn inside(n: u32, len: usize) -> Read<u32> {
    match (n as usize) < len {
        true => Ok(n),
        false => Err(Damaged),
    }
}

/// Whether a table is in order of a key, and no key comes twice.
fn ascending<T>(table: &[T], key: impl Fn(&T) -> u32) -> Read<()> {
    match table.is_sorted_by(|a, b| key(a) < key(b)) {
        true => Ok(()),
        false => Err(Damaged),
    }
}

/// Whether a table is in order of a key.
fn sorted<T>(table: &[T], key: impl Fn(&T) -> u32) -> Read<()> {
    match table.is_sorted_by_key(key) {
        true => Ok(()),
        false => Err(Damaged),
    }
}

impl Finder<'_> {
    /// Reads a blob.
    pub fn blob(&mut self) -> Read<Blob> {
        let mut blob = self.piece()?;
        let count = self.read.count()?;
        for _ in 0..count {
            let kind = match self.read.byte()? {
                0 => ClauseKind::Catch(self.class()?),
                1 => ClauseKind::Filter(self.read.u32()?),
                2 => ClauseKind::Finally,
                3 => ClauseKind::Fault,
                _ => return Err(Damaged),
            };
            blob.clauses.push(Clause { kind });
        }
        let filters = self.read.count()?;
        for _ in 0..filters {
            let clauses = self.read.u32()? as usize;
            let mut filter = self.piece()?;
            filter.clauses = blob.clauses.get(..clauses).ok_or(Damaged)?.to_vec();
            blob.filters.push(filter);
        }
        blob.initialise = self.list(Finder::class)?;
        for c in &blob.clauses {
            if matches!(c.kind, ClauseKind::Filter(n) if n as usize >= filters) {
                return Err(Damaged);
            }
        }
        for piece in blob.filters.iter().chain([&blob]) {
            let known =
                |h: &Handler| h.clause == u32::MAX || (h.clause as usize) < piece.clauses.len();
            // Filters have no filters of their own.
            let filters = piece.filters.len();
            let nested = |h: &Handler| {
                let clause = piece.clauses.get(h.clause as usize);
                matches!(clause, Some(Clause { kind: ClauseKind::Filter(n) }) if *n as usize >= filters)
            };
            if !piece.handlers.iter().all(known) || piece.handlers.iter().any(nested) {
                return Err(Damaged);
            }
        }
        Ok(blob)
    }
    fn piece(&mut self) -> Read<Blob> {
        let code = self.read.string()?.to_vec();
        let len = code.len();
        let [
            align,
            places,
            prologue_end,
            stack_arg_bytes,
            frame_size,
            exposes_frame,
        ] = self.numbers()?;
        if len == 0 || len > LONGEST || !align.is_power_of_two() || !(16..=4096).contains(&align) {
            return Err(Damaged);
        }
        if places > 0xF {
            return Err(Damaged);
        }
        let mut blob = Blob {
            code,
            align,
            places: places as u8,
            prologue_end: within(prologue_end, len)?,
            stack_arg_bytes,
            frame_size,
            exposes_frame: exposes_frame != 0,
            ..Blob::default()
        };
        blob.relocs = self.relocs(len)?;
        blob.call_sites = self.list(|f| {
            let [ret, frame_offset, first_handler, handler_count] = f.numbers()?;
            // Code after a call that returns is never behind the end; a call that does not return may be the last instruction.
            let has_frame = frame_offset <= frame_size.saturating_add(FRAME_SLACK);
            if handler_count > 0 && !has_frame || ret == 0 {
                return Err(Damaged);
            }
            Ok(CallSite {
                ret: within(ret, len)?,
                frame_offset,
                first_handler,
                handler_count,
            })
        })?;
        blob.handlers = self.list(|f| {
            let [clause, code] = f.numbers()?;
            Ok(Handler {
                clause,
                code: inside(code, len)?,
            })
        })?;
        for s in &blob.call_sites {
            let end = u64::from(s.first_handler) + u64::from(s.handler_count);
            if end > blob.handlers.len() as u64 {
                return Err(Damaged);
            }
        }
        blob.traps = self.list(|f| Ok((within(f.read.u32()?, len)?, f.read.byte()?)))?;
        blob.il_map = self.list(|f| {
            let [code, il] = f.numbers()?;
            Ok((within(code, len)?, il))
        })?;
        blob.inline_map = self.list(|f| {
            let [code, site, il] = f.numbers()?;
            Ok((within(code, len)?, site, il))
        })?;
        blob.no_redirect = self.list(|f| {
            let [start, end] = f.numbers()?;
            match start <= end {
                true => Ok((start, within(end, len)?)),
                false => Err(Damaged),
            }
        })?;
        let mut number = 0;
        blob.inline_sites = self.list(|f| {
            let method = f.method()?;
            let [parent, il_offset] = f.numbers()?;
            number += 1;
            // A site lies in one before it, so walking outwards ends.
            match parent < number {
                true => Ok(InlineSite {
                    method,
                    parent,
                    il_offset,
                }),
                false => Err(Damaged),
            }
        })?;
        if blob.inline_map.iter().any(|m| m.1 > number) {
            return Err(Damaged);
        }
        blob.profiled = self.profiled(&blob.relocs)?;
        ascending(&blob.call_sites, |s| s.ret)?;
        ascending(&blob.traps, |t| t.0)?;
        sorted(&blob.il_map, |m| m.0)?;
        sorted(&blob.inline_map, |m| m.0)?;
        if !blob.no_redirect.is_sorted_by(|a, b| a.1 <= b.0) {
            return Err(Damaged);
        }
        Ok(blob)
    }
    /// Reads the calls that note their callees. The relocations name the cells of no others.
    fn profiled(&mut self, relocs: &[Reloc]) -> Read<Vec<ProfiledCall>> {
        let calls = self.list(|f| {
            let (method, il_offset) = (f.method()?, f.read.u32()?);
            let kind = f.read.byte()?;
            (kind < 4).then_some(()).ok_or(Damaged)?;
            Ok(ProfiledCall {
                method,
                il_offset,
                is_delegate: kind & 1 != 0,
                is_counted: kind & 2 != 0,
            })
        })?;
        let has_cell = |r: &Reloc| match r.symbol {
            Symbol::Profile(number) => (number as usize) < calls.len(),
            _ => true,
        };
        match relocs.iter().all(has_cell) {
            true => Ok(calls),
            false => Err(Damaged),
        }
    }
    /// Reads symbols and the relocations of code of that length.
    fn relocs(&mut self, len: usize) -> Read<Vec<Reloc>> {
        let symbols = self.list(Finder::symbol)?;
        self.list(|f| {
            let offset = f.read.u32()?;
            let (kind, size) = match f.read.byte()? {
                0 => (RelocKind::Abs8, 8),
                1 => (RelocKind::PcRel4, 4),
                _ => return Err(Damaged),
            };
            let addend = f.read.signed()?;
            let number = f.read.u32()? as usize;
            let symbol = *symbols.get(number).ok_or(Damaged)?;
            let end = within(offset.saturating_add(size), len)?;
            if end < size || !is_possible(kind, symbol, addend, len) {
                return Err(Damaged);
            }
            Ok(Reloc {
                offset,
                kind,
                symbol,
                addend,
            })
        })
    }
    pub(super) fn numbers<const N: usize>(&mut self) -> Read<[u32; N]> {
        let mut all = [0; N];
        for n in &mut all {
            *n = self.read.u32()?;
        }
        Ok(all)
    }
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.read.count()?;
        let mut list = Vec::with_capacity(count.min(1 << 16));
        for _ in 0..count {
            list.push(item(self)?);
        }
        Ok(list)
    }
    fn symbol(&mut self) -> Read<Symbol> {
        Ok(match self.read.byte()? {
            0 => Symbol::MethodSlot(self.method()?),
            1 => Symbol::MethodStub(self.method()?),
            2 => Symbol::MethodHandle(self.method()?),
            3 => Symbol::PInvokeCell(self.method()?),
            4 => Symbol::VTable(self.class()?),
            5 => Symbol::StaticRefs(self.class()?),
            6 => Symbol::StaticValues(self.class()?),
            7 => Symbol::TypeObject(self.class()?),
            8 => Symbol::ClassHandle(self.class()?),
            9 => Symbol::StaticCard(self.field()?),
            10 => Symbol::RvaData(self.field()?),
            11 => Symbol::FieldHandle(self.field()?),
            12 => Symbol::Literal(self.module()?, self.read.u32()?),
            13 => Symbol::Helper(self.helper()?),
            14 => Symbol::CardTable,
            15 => Symbol::HandleRows,
            16 => Symbol::NativeThunk,
            17 => Symbol::SelfCode,
            18 => Symbol::CallCounter(self.method()?),
            19 => Symbol::Prestub(self.method()?),
            20 => Symbol::PlainNativeThunk,
            21 => Symbol::RvaImage(self.field()?),
            22 => Symbol::PreservingHelper(self.preserving_helper()?),
            23 => {
                let number = usize::from(self.read.byte()?);
                Symbol::ColdCall(*ColdResult::ALL.get(number).ok_or(Damaged)?)
            }
            24 => Symbol::ScalarNativeThunk,
            25 => Symbol::Profile(self.read.u32()?),
            26 => Symbol::GuessedVTable(self.class()?),
            27 => Symbol::DeferringHelper(self.preserving_helper()?),
            _ => return Err(Damaged),
        })
    }
    fn preserving_helper(&mut self) -> Read<Helper> {
        let helper = self.helper()?;
        match helper.preserves_registers() {
            true => Ok(helper),
            false => Err(Damaged),
        }
    }
    fn helper(&mut self) -> Read<Helper> {
        let number = self.read.u32()? as usize;
        Helper::ALL.get(number).copied().ok_or(Damaged)
    }
}
