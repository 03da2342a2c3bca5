//! From an address to the code it lies in; read by unwinders and signal handlers, without locks.
//!
//! # Invariants
//! Code is published in order of addresses (the arena's lock is held), entries are never removed, and the count
//! is stored after the entry (release).
use crate::code::packed::Packed;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_jit::emit::frameless;
use vervet_jit::{Blob, CallSite, Clause, ClauseKind, Handler};
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
    /// What native code calls a delegate by; the method is `Invoke`.
    Callback(MethodRef),
    /// A stub that belongs to no method, by name; hidden in traces.
    Stub(&'static str),
}

/// The name of invoke stubs.
pub const INVOKE_STUB: &str = "runtime-invoke";
/// The name of thunks that call all of a delegate's targets.
pub const MULTICAST_THUNK: &str = "delegate-invoke";

/// The name of thunks that look a delegate's method up in its first argument.
pub const OPEN_VIRTUAL_THUNK: &str = "delegate-invoke-virtual";

/// `Invoke` of the classes that have a thunk of one of these names, by its first byte.
static INVOKES: LeafLock<BTreeMap<usize, MethodRef>> = LeafLock::new(BTreeMap::new());

/// Says whose `Invoke` a thunk is.
pub fn name_thunk(start: usize, invoke: MethodRef) {
    INVOKES.lock().insert(start, invoke);
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
    /// Behind the prologue.
    pub prologue_end: u32,
    /// It makes unmanaged pointers to its own frame, which others may use while its thread waits.
    pub exposes_frame: bool,
    /// What throwing needs to know; None: there is no handler and no clause.
    pub handling: Option<Box<Handling>>,
    /// What is known about its instructions.
    pub packed: Packed,
}

/// The exception clauses of a piece of code, and where its handlers are.
pub struct Handling {
    /// Calls that have handlers, by return address.
    pub call_sites: Box<[CallSite]>,
    /// Landing pads.
    pub handlers: Box<[Handler]>,
    /// Clauses.
    pub clauses: Box<[Clause]>,
    /// Code addresses of the filters.
    pub filters: Box<[usize]>,
}

impl Handling {
    /// That of a blob, whose filters lie at these addresses.
    pub fn of(blob: &Blob, filters: Vec<usize>) -> Option<Box<Handling>> {
        let with_handlers = blob.call_sites.iter().filter(|s| s.handler_count > 0);
        let handling = Handling {
            call_sites: with_handlers.copied().collect(),
            handlers: blob.handlers.clone().into(),
            clauses: blob.clauses.clone().into(),
            filters: filters.into(),
        };
        let is_empty = handling.call_sites.is_empty() && handling.clauses.is_empty();
        (!is_empty).then(|| Box::new(handling))
    }
    /// The call with handlers that returns to that code offset.
    fn call_site(&self, offset: u32) -> Option<&CallSite> {
        let n = self.call_sites.binary_search_by_key(&offset, |s| s.ret);
        n.ok().map(|n| &self.call_sites[n])
    }
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
    fn offset(&self, pc: usize) -> u32 {
        (pc - self.start) as u32
    }
    /// Distance of the stack pointer below the frame pointer where a handler of the call begins that returns to `pc`. None: the call has no handlers.
    pub fn handler_frame(&self, pc: usize) -> Option<usize> {
        let site = self.handling.as_ref()?.call_site(self.offset(pc))?;
        Some(site.frame_offset as usize)
    }
    /// The handlers of the call that returns to `pc`, innermost clause first.
    pub fn handlers(&self, pc: usize) -> &[Handler] {
        let find = |h: &'_ Handling| {
            let site = h.call_site(self.offset(pc))?;
            let first = site.first_handler as usize;
            Some(first..first + site.handler_count as usize)
        };
        match &self.handling {
            Some(h) => find(h).map_or(&[], |range| &h.handlers[range]),
            None => &[],
        }
    }
    /// What a clause does.
    pub fn clause(&self, number: u32) -> &ClauseKind {
        let handling = self.handling.as_ref().expect("a handler of this code");
        &handling.clauses[number as usize].kind
    }
    /// The address of a filter's code.
    pub fn filter(&self, number: u32) -> usize {
        let handling = self.handling.as_ref().expect("a filter of this code");
        handling.filters[number as usize]
    }
    /// Has it exception clauses?
    pub fn has_clauses(&self) -> bool {
        self.handling
            .as_ref()
            .is_some_and(|h| !h.clauses.is_empty())
    }
    /// The IL offset at a code address. For a return address pass the address minus one.
    pub fn il_offset(&self, pc: usize) -> Option<u32> {
        self.packed.il_offset(self.offset(pc))
    }
    /// Does the code there call a method of what might be a transparent proxy? For a return address pass the address minus one.
    pub fn may_call_remotely(&self, pc: usize) -> bool {
        self.packed.may_call_remotely(self.offset(pc))
    }
    /// The trap at exactly that address.
    pub fn trap(&self, pc: usize) -> Option<u8> {
        self.packed.trap(self.offset(pc))
    }
    /// May a thread that was stopped at `pc` be made to call something there, which may throw? Not in a prologue or an
    /// epilogue, where its frame is not whole, nor where two instructions belong together. And not where there are
    /// handlers: those are found by return addresses of calls, so such code polls in every loop instead.
    pub fn may_call_at(&self, pc: usize) -> bool {
        matches!(self.kind, CodeKind::Method(_))
            && !self.polls_in_loops()
            && self.prologue_end != 0
            && self.offset(pc) >= self.prologue_end
            && !self.is_whole_step(pc)
    }
    /// Has it handlers, or is it synchronized, which is a handler, too? Such code tests for requests in every loop.
    pub fn polls_in_loops(&self) -> bool {
        self.handling.is_some() || matches!(self.kind, CodeKind::Method(m) if m.is_synchronized())
    }
    /// Does the instruction at `pc` belong together with the one before it or after it: a store of a reference with its card mark, the
    /// exchange of a sync word with the count of what the thread holds?
    pub fn is_whole_step(&self, pc: usize) -> bool {
        self.packed.is_whole_step(self.offset(pc))
    }
    /// Has it no frame? The return address is at the stack pointer then, at each instruction.
    pub fn is_frameless(&self) -> bool {
        // SAFETY: the code is in the table, so it is mapped and never written again.
        let code =
            unsafe { std::slice::from_raw_parts(self.start as *const u8, self.end - self.start) };
        code.starts_with(&frameless::MARK)
    }
    /// Is the frame still being made at this address?
    pub fn in_prologue(&self, pc: usize) -> bool {
        pc - self.start < self.prologue_end as usize
    }
    /// The methods inlined at a code address, innermost first, with the IL offset reached in each. For a return
    /// address pass the address minus one.
    pub fn inlined(&self, pc: usize) -> impl Iterator<Item = (MethodRef, u32)> + use<'_> {
        // Code with inlined calls is a method's, or a wrapper of one.
        let universe = self.method().map(|m| m.class.universe());
        let inlined = self.packed.inlined(self.offset(pc));
        inlined.map_while(move |(id, il)| Some((universe?.method_by_id(id)?, il)))
    }
    /// Is it an invoke stub, which Rust code calls?
    pub fn is_invoke_stub(&self) -> bool {
        matches!(self.kind, CodeKind::Stub(INVOKE_STUB))
    }
    /// The `Invoke` that it is for, if it is a thunk that has its class's name.
    pub fn thunk_of(&self) -> Option<MethodRef> {
        match self.kind {
            CodeKind::Stub(MULTICAST_THUNK | OPEN_VIRTUAL_THUNK) => {
                INVOKES.lock().get(&self.start).copied()
            }
            _ => None,
        }
    }
    /// The method it belongs to.
    pub fn method(&self) -> Option<MethodRef> {
        match self.kind {
            CodeKind::Method(m)
            | CodeKind::Filter(m)
            | CodeKind::Wrapper(m)
            | CodeKind::Callback(m) => Some(m),
            CodeKind::Stub(_) => None,
        }
    }
}
