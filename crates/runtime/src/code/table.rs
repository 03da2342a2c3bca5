//! From an address to the code it lies in; read by unwinders and signal handlers, without locks.
//!
//! # Invariants
//! Code is published in order of addresses (the arena's lock is held), entries are never removed, and the count
//! is stored after the entry (release).
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_jit::blob::{InlineSite, MAY_BE_REMOTE};
use vervet_jit::{CallSite, Clause, Handler};
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::MethodRef;

/// What a piece of code is.
#[derive(Clone, Copy)]
pub enum CodeKind {
    /// A method's body.
    Method(MethodRef),
    /// A filter of a method.
    Filter(MethodRef),
    /// A generated wrapper around a method (P/Invoke, delegate invoke ...).
    Wrapper(MethodRef),
    /// A stub that belongs to no method, by name; hidden in traces.
    Stub(&'static str),
}

/// The name of invoke stubs.
pub const INVOKE_STUB: &str = "runtime-invoke";
/// The name of thunks that call all of a delegate's targets.
pub const MULTICAST_THUNK: &str = "delegate-invoke";

/// `Invoke` of the classes that have a thunk of that name, by its first byte.
static MULTICASTS: LeafLock<BTreeMap<usize, MethodRef>> = LeafLock::new(BTreeMap::new());

/// Says whose `Invoke` a thunk is.
pub fn name_multicast(start: usize, invoke: MethodRef) {
    MULTICASTS.lock().insert(start, invoke);
}

/// A piece of code and its tables. Offsets are from `start`.
pub struct Code {
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// What it is.
    pub kind: CodeKind,
    /// The domain that it was linked for.
    pub domain: u32,
    /// Calls, by return address.
    pub call_sites: Vec<CallSite>,
    /// Landing pads.
    pub handlers: Vec<Handler>,
    /// Clauses.
    pub clauses: Vec<Clause>,
    /// Code addresses of the filters.
    pub filters: Vec<usize>,
    /// Hardware traps.
    pub traps: Vec<(u32, u8)>,
    /// IL map.
    pub il_map: Vec<(u32, u32)>,
    /// Inlined calls; see [`vervet_jit::inlined_frames`].
    pub inline_sites: Vec<InlineSite>,
    /// See `inline_sites`.
    pub inline_map: Vec<(u32, u32, u32)>,
    /// Behind the prologue.
    pub prologue_end: u32,
    /// Ranges where no call may be put between two instructions; sorted.
    pub no_redirect: Vec<(u32, u32)>,
}

static CODES: Chunks<Published<Code>> = Chunks::new();
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Publishes a piece of code; called with the arena's lock held.
pub fn publish(code: Code) -> &'static Code {
    let n = COUNT.load(Ordering::Relaxed);
    let code = CODES.at(n).put(code);
    COUNT.store(n + 1, Ordering::Release);
    code
}

/// The code that `pc` lies in. For a return address ask with the address minus one.
pub fn find(pc: usize) -> Option<&'static Code> {
    let (mut low, mut high) = (0, COUNT.load(Ordering::Acquire));
    while low < high {
        let mid = low + (high - low) / 2;
        let c = CODES.get(mid)?.get()?;
        if pc >= c.end {
            low = mid + 1;
        } else if pc < c.start {
            high = mid;
        } else {
            return Some(c);
        }
    }
    None
}

/// All code, in order of addresses.
pub fn all() -> impl Iterator<Item = &'static Code> {
    (0..COUNT.load(Ordering::Acquire)).map_while(|n| CODES.get(n)?.get())
}

impl Code {
    /// The call site with that return address.
    pub fn call_site(&self, pc: usize) -> Option<&CallSite> {
        let off = (pc - self.start) as u32;
        self.call_sites
            .binary_search_by_key(&off, |s| s.ret)
            .ok()
            .map(|i| &self.call_sites[i])
    }
    /// The IL offset at a code address. For a return address pass the address minus one.
    pub fn il_offset(&self, pc: usize) -> Option<u32> {
        let off = (pc - self.start) as u32;
        let i = self.il_map.partition_point(|e| e.0 <= off);
        i.checked_sub(1)
            .map(|i| self.il_map[i].1)
            .filter(|o| *o != u32::MAX)
            .map(|o| o & !MAY_BE_REMOTE)
    }
    /// Does the code there call a method of what might be a transparent proxy? For a return address pass the address minus one.
    pub fn may_call_remotely(&self, pc: usize) -> bool {
        let off = (pc - self.start) as u32;
        let il = self.il_map.partition_point(|e| e.0 <= off).checked_sub(1);
        let inlined = self.inline_map.partition_point(|e| e.0 <= off);
        let il = match inlined.checked_sub(1).map(|i| self.inline_map[i]) {
            Some((_, site, il)) if site != 0 => il,
            _ => il.map_or(0, |i| self.il_map[i].1),
        };
        il != u32::MAX && il & MAY_BE_REMOTE != 0
    }
    /// The trap at exactly that address.
    pub fn trap(&self, pc: usize) -> Option<u8> {
        let off = (pc - self.start) as u32;
        self.traps
            .binary_search_by_key(&off, |t| t.0)
            .ok()
            .map(|i| self.traps[i].1)
    }
    /// May a thread that was stopped at `pc` be made to call something there, which may throw? Not in a prologue or an
    /// epilogue, where its frame is not whole, nor where two instructions belong together. And not where there are
    /// handlers: those are found by return addresses of calls, so such code polls in every loop instead.
    pub fn may_call_at(&self, pc: usize) -> bool {
        let off = (pc - self.start) as u32;
        matches!(self.kind, CodeKind::Method(m) if !m.is_synchronized())
            && self.clauses.is_empty()
            && self.handlers.is_empty()
            && self.prologue_end != 0
            && off >= self.prologue_end
            && !self.is_whole_step(pc)
    }
    /// Does the instruction at `pc` belong together with the one before it or after it: a store of a reference with its card mark, the
    /// exchange of a sync word with the count of what the thread holds?
    pub fn is_whole_step(&self, pc: usize) -> bool {
        let off = (pc - self.start) as u32;
        let after = self.no_redirect.partition_point(|r| r.1 <= off);
        self.no_redirect.get(after).is_some_and(|r| off >= r.0)
    }
    /// Is the frame still being made at this address?
    pub fn in_prologue(&self, pc: usize) -> bool {
        pc - self.start < self.prologue_end as usize
    }
    /// The methods inlined at a code address, innermost first, with the IL offset reached in each. For a return
    /// address pass the address minus one.
    pub fn inlined(&self, pc: usize) -> impl Iterator<Item = (MethodRef, u32)> + use<'_> {
        vervet_jit::inlined_frames(
            &self.inline_sites,
            &self.inline_map,
            (pc - self.start) as u32,
        )
    }
    /// Is it an invoke stub, which Rust code calls?
    pub fn is_invoke_stub(&self) -> bool {
        matches!(self.kind, CodeKind::Stub(INVOKE_STUB))
    }
    /// The `Invoke` that it calls all targets for, if it is a thunk of that kind.
    pub fn multicast(&self) -> Option<MethodRef> {
        match self.kind {
            CodeKind::Stub(MULTICAST_THUNK) => MULTICASTS.lock().get(&self.start).copied(),
            _ => None,
        }
    }
    /// The method it belongs to.
    pub fn method(&self) -> Option<MethodRef> {
        match self.kind {
            CodeKind::Method(m) | CodeKind::Filter(m) | CodeKind::Wrapper(m) => Some(m),
            CodeKind::Stub(_) => None,
        }
    }
}
