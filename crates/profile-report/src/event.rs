//! What can stand in a recording.
use std::borrow::Cow;

/// A text of the recording.
pub(crate) type Text<'e> = Cow<'e, str>;

/// An event. Frames are methods; `None` where the recorder wrote no stack.
#[derive(Debug, PartialEq)]
pub(crate) enum Event<'e> {
    /// An object was allocated. Frames are outermost first.
    Allocation {
        vtable: u64,
        object: u64,
        bytes: u64,
        frames: Option<&'e [u64]>,
    },
    /// A phase of a collection began.
    Phase { phase: Phase, generation: u8 },
    /// The heap has another size.
    HeapSize { bytes: u64 },
    /// Objects moved: from, to.
    Moves { pairs: &'e [(u64, u64)] },
    /// A GC handle was made. Frames are outermost first.
    HandleMade {
        kind: HandleKind,
        handle: u64,
        object: u64,
        frames: Option<&'e [u64]>,
    },
    /// A GC handle was freed.
    HandleFreed { kind: HandleKind, handle: u64 },
    /// A batch of finalizers began (true) or ended.
    FinalizerBatch { begins: bool },
    /// A finalizer began (true) or ended.
    Finalizer { begins: bool },
    /// A class has an id.
    Class { id: u64, name: Text<'e> },
    /// A VTable belongs to a class.
    VTable { id: u64, class: u64 },
    /// An image was loaded.
    Image { name: Text<'e> },
    /// An assembly was loaded.
    Assembly { name: Text<'e> },
    /// A domain was loaded, unloaded, or named.
    Domain { id: u64, name: Option<Text<'e>> },
    /// A thread began (true) or ended.
    Thread { id: u64, begins: bool },
    /// A thread has a name.
    ThreadName { id: u64, name: Text<'e> },
    /// Something that only `stats` counts: a context, an unloaded image or assembly.
    OtherMetadata,
    /// A method was entered.
    Enter { method: u64 },
    /// A method was left; by an exception if `thrown`.
    Leave { method: u64, thrown: bool },
    /// A method has a name and code.
    Method {
        id: u64,
        code: u64,
        bytes: u64,
        name: Text<'e>,
    },
    /// An exception was thrown. Frames are outermost first.
    Throw {
        object: u64,
        frames: Option<&'e [u64]>,
    },
    /// A clause ran.
    Clause { kind: ClauseKind },
    /// A thread waits for a monitor, or no longer does. Frames are outermost first.
    Monitor {
        what: MonitorEvent,
        object: u64,
        frames: Option<&'e [u64]>,
    },
    /// A heapshot begins (true) or ends.
    Heapshot { begins: bool },
    /// An object of a heapshot; 0 bytes add references to one that came before. References are offset, target.
    HeapObject {
        object: u64,
        vtable: u64,
        bytes: u64,
        references: &'e [(u64, u64)],
    },
    /// Roots: slot, object.
    Roots { pairs: &'e [(u64, u64)] },
    /// A range of roots is registered or no longer so.
    RootRange,
    /// A sample of a thread. Frames are innermost first.
    Sample {
        thread: u64,
        address: Option<u64>,
        frames: &'e [u64],
    },
    /// A function outside of managed code.
    Symbol { address: u64, name: Text<'e> },
    /// A file of such functions.
    Binary,
    /// What the counters are.
    CounterNames { counters: Vec<CounterName<'e>> },
    /// Values of counters, by index.
    Counters { values: Vec<(u64, Value<'e>)> },
    /// Code that belongs to no method.
    Stub {
        kind: u8,
        code: u64,
        bytes: u64,
        name: Option<Text<'e>>,
    },
    /// All events before this in the file are older than all that follow.
    Sync,
    /// The id of precompiled code.
    Precompiled,
}

/// A phase of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Start,
    End,
    /// The threads are about to be stopped.
    Stopping,
    Stopped,
    /// The threads are about to go on.
    Resuming,
    Resumed,
    /// The lock of stops is held.
    StoppingLocked,
    /// The lock of stops is free again.
    ResumedUnlocked,
    /// A phase of older versions.
    Retired,
}

/// A kind of GC handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleKind {
    Weak,
    WeakTrack,
    Normal,
    Pinned,
}

/// The kinds in the order of their numbers, with the words for them.
pub(crate) const HANDLE_KINDS: [(HandleKind, &str); 4] = [
    (HandleKind::Weak, "weak"),
    (HandleKind::WeakTrack, "weak, tracking resurrection"),
    (HandleKind::Normal, "normal"),
    (HandleKind::Pinned, "pinned"),
];

/// A kind of exception clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClauseKind {
    Catch,
    Filter,
    Finally,
    Fault,
}

/// What happened at a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MonitorEvent {
    Contention,
    Done,
    Fail,
}

/// The description of a counter.
#[derive(Debug, PartialEq)]
pub(crate) struct CounterName<'e> {
    pub section: u64,
    pub category: Option<Text<'e>>,
    pub name: Text<'e>,
    pub kind: u64,
    pub unit: u64,
    pub index: u64,
}

/// The value of a counter.
#[derive(Debug, PartialEq)]
pub(crate) enum Value<'e> {
    /// A whole number: the difference from the value before.
    Whole(i128),
    Double(f64),
    Text(Option<Text<'e>>),
}

/// An event with its time, in nanoseconds of the recorder's clock.
#[derive(Debug, PartialEq)]
pub(crate) struct Record<'e> {
    pub time: u64,
    /// The byte that says what it is.
    pub kind: u8,
    /// Bytes that it takes in the file.
    pub size: usize,
    pub event: Event<'e>,
}
