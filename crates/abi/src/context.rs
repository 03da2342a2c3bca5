//! The context of a (green) thread: what the pinned register (r15) points to.
//!
//! # Invariants
//! * Only the owner writes a context, but for `interrupts` and `limit`, which a requester may raise.
//! * `critical` and `state` are plain bytes: the reader is a signal handler on the same thread, or a
//!   stopper that has run membarrier.
//! * Records (exit and entry) form one list headed in `record`, innermost first.

/// What [`ThreadContext::critical`] is inside a leaf helper.
pub const IN_LEAF: u8 = 2;

/// What a thread is doing, as the collector sees it (one byte of the context).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// JIT code or a listed stub: stopped by signal at any instruction unless `critical`.
    Managed = 0,
    /// Our own code that may touch objects; polls when it goes back.
    Runtime = 1,
    /// P/Invoke, blocking calls, long work: holds no reference the collector cannot see.
    Native = 2,
    /// C code of a host that may hold raw references: stopped by signal anywhere, and its stack is scanned whole.
    Foreign = 3,
    /// Not attached.
    Detached = 4,
    /// A green thread that runs on no carrier: its stacks are as it left them.
    Parked = 5,
}

/// What [`ThreadContext::scan_sp`] says of a parked thread that has left its native stack.
pub const NO_NATIVE_STACK: usize = 1;

/// What lies between two pieces of managed stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum RecordKind {
    /// Managed code called an icall or a helper (state became Runtime).
    Icall = 0,
    /// Managed code called native code (state became Native).
    Native = 1,
    /// Managed code threw, trapped, or entered the prestub.
    Throw = 2,
    /// Our code called managed code.
    Entry = 3,
    /// Native code called managed code (reverse P/Invoke).
    NativeEntry = 4,
    /// Managed code called managed code on the next segment of its stack. The record before this one says where.
    Segment = 5,
    /// As `Icall`; the call may leave the native stack while its thread is parked, and is then made again.
    Reentrant = 6,
}

/// A link of the record list, on the stack of the thunk that pushed it.
#[repr(C)]
#[derive(Debug)]
pub struct Record {
    /// The next outer record.
    pub previous: *mut Record,
    /// What this is ([`RecordKind`] as usize).
    pub kind: usize,
    /// Stack pointer of the managed code at the call (exit) or of the caller (entry); scanning starts here.
    pub sp: usize,
    /// Frame pointer of the managed frame that left (exit), or of the thunk (entry).
    pub fp: usize,
    /// Return address into the managed frame that left (exit), or 0.
    pub pc: usize,
    /// Exit: the method whose stub this is (`&'static Method`), or 0 for a helper.
    pub method: usize,
}

/// A function that calls nothing makes a frame of up to so many bytes, its callee's return address included, without a look at the limit.
pub const UNCHECKED_FRAME: u32 = 128;
/// A function whose frame has up to so many bytes compares the stack pointer itself with the limit.
pub const SMALL_FRAME: u32 = 256;

impl Record {
    /// Was managed code entered from native code here? Such a record lies on the native stack.
    pub fn is_entry(&self) -> bool {
        self.kind == RecordKind::Entry as usize || self.kind == RecordKind::NativeEntry as usize
    }
    /// Does managed code begin here, with its frames innermost, whoever called it?
    pub fn begins_piece(&self) -> bool {
        self.is_entry() || self.kind == RecordKind::Segment as usize
    }
}

/// Bits of [`ThreadContext::interrupts`]. Others set them by atomic operations; a loop that polls, and the end of a catch, call the
/// runtime while any is set.
pub mod interrupts {
    /// The exception of an abort was raised and has not been reset: it is raised again at the end of each catch.
    pub const RAISED: u32 = 1;
    /// An abort was asked for.
    pub const ABORT: u32 = 2;
    /// The thread is asked to suspend itself, if its ThreadState still says so.
    pub const SUSPEND: u32 = 4;
    /// The thread has suspended itself.
    pub const SUSPENDED: u32 = 8;
    /// A green thread is to let others run.
    pub const PREEMPT: u32 = 16;
    /// The collector scans the stacks of a parked green thread: who wants to run it waits. It asks the thread for nothing.
    pub const SCANNING: u32 = 32;
    /// Beside ABORT: a system call that native code waits in is to end. The signal's handler takes it away when it has seen one end, so native code sees one
    /// EINTR for an abort.
    pub const END_CALL: u32 = 64;
}

/// Offsets of the words of a context that are references (or 0): the collector visits and updates them.
pub const ROOT_WORDS: [usize; 6] = [
    std::mem::offset_of!(ThreadContext, pending),
    std::mem::offset_of!(ThreadContext, cold_result),
    std::mem::offset_of!(ThreadContext, thread_object),
    std::mem::offset_of!(ThreadContext, internal_thread),
    std::mem::offset_of!(ThreadContext, start_target),
    std::mem::offset_of!(ThreadContext, start_argument),
];

/// See the module. Offsets are taken by generated code and by the asm thunks.
#[repr(C)]
pub struct ThreadContext {
    /// Prologues compare the stack pointer with this: the real limit, or `deep_limit`; MAX makes every prologue a poll.
    pub limit: usize,
    /// The real limit.
    pub true_limit: usize,
    /// Bits of [`interrupts`].
    pub interrupts: u32,
    /// Non-zero: the thread must not be stopped here.
    pub critical: u8,
    /// A [`State`].
    pub state: u8,
    /// The list of records is cut already, and the thread goes on at a landing pad next: a walk from the records would miss frames.
    pub resuming: u8,
    /// Padding.
    pub _pad: u8,
    /// Next free byte of the allocation window.
    pub alloc_next: usize,
    /// End of the allocation window.
    pub alloc_end: usize,
    /// Bytes of windows and large objects the thread was given so far.
    pub alloc_taken: usize,
    /// Hidden argument: stored directly before a call, read by the first instruction of a stub.
    pub hidden: usize,
    /// The exception in flight from our code to managed code (an object reference), or 0.
    pub pending: usize,
    /// What a helper that preserves all registers has returned (a reference), or 0. The code that called it takes it and stores 0.
    pub cold_result: usize,
    /// Innermost record.
    pub record: *mut Record,
    /// Table of the thread's thread-static blocks, indexed by `VTable::thread_static_index`.
    pub thread_statics: *mut *mut u8,
    /// Number of entries of `thread_statics`.
    pub thread_statics_len: usize,
    /// What is being called through a stub that preserves all registers: the body of a helper, from the stub to its thunk; a method's code, from the caller to the stub, and
    /// then, back to the caller, what it returned, if that is no reference.
    pub cold_function: usize,
    /// Where native frames go when managed code is left: the address of the innermost entry record. 0: they go below the managed frame, on
    /// the same stack.
    pub native_sp: usize,
    /// Next free byte of the localloc stack (localloc).
    pub localloc_next: usize,
    /// End of the localloc stack's current chunk.
    pub localloc_end: usize,
    /// Id of the managed thread in thin locks (1..2^22).
    pub owner_id: u32,
    /// Saved errno of the last native call with SetLastError.
    pub last_error: i32,
    /// List of running filters, innermost first.
    pub filters: usize,
    /// The managed Thread object (a root), or 0.
    pub thread_object: usize,
    /// The InternalThread object (a root), or 0.
    pub internal_thread: usize,
    /// The runtime's own data of the thread.
    pub runtime: usize,
    /// Highest address of the native stack: the OS thread's own.
    pub stack_base: usize,
    /// Id of the current domain.
    pub domain: u32,
    /// Monitors this thread is in: its owner id is given to another thread only if it is in none.
    pub locks_held: u32,
    /// Native or waiting for the world: everything the thread refers to lies at this address or above it on its stack.
    pub scan_sp: usize,
    /// The thread's free slots of GC handles ([`handles::lane`](crate::handles::lane)).
    pub handle_lanes: usize,
    /// Highest address of the managed stack's first segment; 0: managed frames lie on the native stack, between native ones.
    pub managed_base: usize,
    /// The segment of the managed stack that managed frames are made on; 0 if `managed_base` is.
    pub segment: usize,
    /// The lowest address of the native stack that is ours to use.
    pub native_low: usize,
    /// The lowest address that the native stack reaches.
    pub native_end: usize,
    /// Start of the localloc stack.
    pub localloc_low: usize,
    /// How deep on the stack the frame lies that caught the abort under way last; 0: none has.
    pub abort_caught_at: usize,
    /// How many regions the thread is in in which it is not aborted by others.
    pub protected_regions: u32,
    /// The thread makes a StackOverflowException because its native stack is used up.
    pub overflows: u32,
    /// The runtime's record of the green thread; 0: the context is that of an OS thread.
    pub green: usize,
    /// A green thread that has not begun: the object whose method it calls (a root), or 0.
    pub start_target: usize,
    /// A green thread that has not begun: the argument (a root), or 0.
    pub start_argument: usize,
    /// The record of the internal call under way that leaves the native stack, because the green thread parks; 0: none does.
    pub leaves_at: usize,
    /// The code of the internal call that has left the native stack.
    pub left_function: usize,
    /// A green thread: where each of the collector's lists goes on that the context is in; 0: it is not in that list.
    pub gc_links: [usize; 2],
    /// A green thread: what the collector has found about its references; 0: the thread has run since.
    pub gc_notes: u32,
    /// A green thread, with the verifier on: a checksum of what its stack referred to when the collector wrote `gc_notes`.
    pub gc_checksum: u32,
    /// A green thread: the cycle of marking in which its references were marked; 0: they have changed since.
    pub gc_scanned: u32,
    /// If the profiler records calls: how many of the methods that it records are active.
    pub recorded_calls: u32,
    /// While `critical` is [`IN_LEAF`]: the frame pointer of the thunk that called the leaf helper. The C library's functions keep none.
    pub leaf_fp: usize,
    /// How deep the stack may become before the runtime looks at it: `limit` is this if it is above the real one. 0: it never looks.
    pub deep_limit: usize,
    /// The highest address on the managed stack's first segment that code has made an unmanaged pointer of without knowing what lies there; 0: none. Others
    /// may use the memory while the thread waits.
    pub exposed: usize,
    /// A green thread that is parked: the copy of its frames, while they are not on its stack; 0: there is none.
    pub stash: usize,
}

macro_rules! offsets { ($($name:ident = $field:ident),* $(,)?) => { $(
    #[doc = concat!("Offset of `", stringify!($field), "`.")]
    pub const $name: i32 = std::mem::offset_of!(ThreadContext, $field) as i32;
)* } }
offsets! {
    LIMIT = limit, TRUE_LIMIT = true_limit, INTERRUPTS = interrupts, CRITICAL = critical, STATE = state,
    ALLOC_NEXT = alloc_next, ALLOC_END = alloc_end, HIDDEN = hidden, PENDING = pending, COLD_RESULT = cold_result, COLD_FUNCTION = cold_function, RECORD = record,
    THREAD_STATICS = thread_statics, THREAD_STATICS_LEN = thread_statics_len,
    LOCALLOC_NEXT = localloc_next, LOCALLOC_END = localloc_end,
    OWNER_ID = owner_id, LAST_ERROR = last_error, FILTERS = filters, SCAN_SP = scan_sp,
    LOCKS_HELD = locks_held, HANDLE_LANES = handle_lanes, DOMAIN = domain,
    GREEN = green, MANAGED_BASE = managed_base, EXPOSED = exposed,
}
