//! Source positions: which method and which IL offset an emitted instruction belongs to.
//!
//! # How it works
//! Cranelift keeps one 32-bit source location for each instruction and hands them back with the machine code. In the
//! method that is compiled the location is the IL offset. In an inlined body one number is not enough, so the location
//! is an index in a list of (inline site, IL offset) pairs:
//!
//! ```text
//! bit  31          30            29        28 .. 0
//!      0      NO_REDIRECT     INLINED      IL offset, or index in `inlined` if INLINED is set
//! ```
//!
//! An IL offset has [`MAY_BE_REMOTE`] added at calls that mono makes through a wrapper, which its stack traces show.
//!
//! ```text
//! emitter                       site   location          what an instruction there resolves to
//! at(0)                         0      0                 Main, IL 0
//! at(5); enter(A)               1      INLINED | 0       A, IL 0; Main, IL 5
//! at(2)                         1      INLINED | 1       A, IL 2; Main, IL 5
//! leave (swap back)             0      5                 Main, IL 5
//! ```
//!
//! # Invariants
//! An instruction between a heap store and its card mark has [`NO_REDIRECT`]: the runtime does not raise an asynchronous
//! exception there, because the card mark would be skipped.
use crate::blob::InlineSite;
use cranelift_codegen::ir::SourceLoc;
use std::cell::Cell;
use vervet_types::MethodRef;

/// Bit of a source location: the runtime must not raise an asynchronous exception here.
pub const NO_REDIRECT: u32 = 1 << 30;
/// Bit of a source location: the other bits are an index in [`Positions::inlined`].
const INLINED: u32 = 1 << 29;
/// Bit of an IL offset: the code there calls a method of a MarshalByRefObject that might be a transparent proxy.
pub const MAY_BE_REMOTE: u32 = 1 << 28;

thread_local! {
    static REACHED: Cell<u32> = const { Cell::new(0) };
}

/// The IL offset that the compile on this thread has reached, for reports of internal errors.
pub fn current_offset() -> u32 {
    REACHED.with(Cell::get)
}

/// A position that [`Positions::swap`] can go back to: the inline site (0: the compiled method itself) and the source
/// location within it.
#[derive(Clone, Copy)]
pub struct Position {
    site: u32,
    location: u32,
}

/// The current position of an emitter, and the inlined bodies it has entered so far.
#[derive(Default)]
pub struct Positions {
    site: u32,
    location: u32,
    /// The calls that were replaced by a body. Site `n` is `sites[n - 1]`.
    pub sites: Vec<InlineSite>,
    inlined: Vec<(u32, u32)>,
}

impl Positions {
    /// Moves to an IL offset of the current method and returns the source location of what follows.
    pub fn at(&mut self, il_offset: u32) -> SourceLoc {
        if self.site == 0 {
            self.location = il_offset;
            REACHED.with(|c| c.set(il_offset));
        } else {
            self.location = INLINED | self.inlined.len() as u32;
            self.inlined.push((self.site, il_offset));
        }
        self.current()
    }
    /// Says of what follows, up to the next move, that its call has [`MAY_BE_REMOTE`].
    pub fn at_remote_call(&mut self) -> SourceLoc {
        if self.location & INLINED == 0 {
            self.location |= MAY_BE_REMOTE;
        } else {
            let (site, il) = self.inlined[(self.location & !INLINED) as usize];
            self.location = INLINED | self.inlined.len() as u32;
            self.inlined.push((site, il | MAY_BE_REMOTE));
        }
        self.current()
    }
    /// Whether the call that follows has [`MAY_BE_REMOTE`].
    pub fn is_at_remote_call(&self) -> bool {
        let il = match self.location & INLINED {
            0 => self.location,
            _ => self.inlined[(self.location & !INLINED) as usize].1,
        };
        il & MAY_BE_REMOTE != 0
    }
    /// Records the IL offset reached for error reports only.
    pub fn reached(&self, il_offset: u32) {
        if self.site == 0 {
            REACHED.with(|c| c.set(il_offset));
        }
    }
    /// The current source location.
    pub fn current(&self) -> SourceLoc {
        SourceLoc::new(self.location)
    }
    /// The current source location, marked as one where no asynchronous exception may be raised.
    pub fn no_redirect(&self) -> SourceLoc {
        SourceLoc::new(self.location | NO_REDIRECT)
    }
    /// Starts the body of a method that is inlined at the current position, which is returned.
    pub fn enter(&mut self, method: MethodRef) -> Position {
        let outer = Position {
            site: self.site,
            location: self.location,
        };
        let (parent, il_offset) = match outer.location & INLINED {
            0 => (0, outer.location),
            _ => self.inlined[(outer.location & !INLINED) as usize],
        };
        self.sites.push(InlineSite {
            method,
            parent,
            il_offset: il_offset & !MAY_BE_REMOTE,
        });
        self.site = self.sites.len() as u32;
        self.at(0);
        outer
    }
    /// Replaces the current position and returns it.
    pub fn swap(&mut self, position: Position) -> Position {
        let before = Position {
            site: self.site,
            location: self.location,
        };
        (self.site, self.location) = (position.site, position.location);
        before
    }
    /// What a source location (without [`NO_REDIRECT`]) stands for: the IL offset in the compiled method, then the inline
    /// site and the IL offset in the inlined method. Both are 0 for code of the compiled method itself. For inlined code the
    /// first number is the offset of the outermost inlined call.
    pub fn resolve(&self, location: u32) -> (u32, (u32, u32)) {
        if location & INLINED == 0 {
            return (location, (0, 0));
        }
        let inlined = self.inlined[(location & !INLINED) as usize];
        let (mut site, mut il) = inlined;
        while site != 0 {
            let call = &self.sites[site as usize - 1];
            (site, il) = (call.parent, call.il_offset);
        }
        (il, inlined)
    }
}
