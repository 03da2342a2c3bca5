//! Heapshots and reports of roots: what is alive at the end of a collection, and what keeps it.
//!
//! ```text
//!   end of a collection ── due? ──┬── the cycle is over ─────> roots, objects with their references
//!                                 └── it is a minor one, or the first pause of a cycle ──> a major collection is asked for, which has the heapshot
//! ```
//!
//! # Invariants
//! * It runs on the thread that collects, while the world is stopped, behind the collection's work: addresses are those that objects have from then on.
//! * At the end of a cycle all that is named is alive. So each target of a reference is an object of the same heapshot, and each object is reached from
//!   roots by references, but for what died while the cycle marked.
//! * It waits for the writer when that has much to do, but no longer than the writer makes progress: the writer may wait for a thread that is stopped.
use crate::memory::{handles, thread_static_classes};
use crate::profiler::heapshot::{Due, due};
use crate::profiler::hooks::{calling_thread, push_in_stop, thread_id};
use crate::safepoint::{Stopped, ThreadView, view_parked};
use vervet_abi::ThreadContext;
use vervet_abi::context::ROOT_WORDS;
use vervet_heap::{Snapshot, SnapshotVisitor};
use vervet_profiler::record::Kind;
use vervet_profiler::roots::{pseudo_slot, source};

/// Words of a record: a heapshot collects them on the stack of the thread that collects.
const WORDS: usize = 128;
/// The most words of roots in a record: 32 pairs, as mono has them.
const ROOTS: usize = 64;

/// The end of a collection, on the thread that collects; the world is stopped.
pub(super) fn collected(world: &Stopped, heap: &dyn Snapshot, ends_cycle: bool) {
    match due(ends_cycle) {
        Due::Nothing => {}
        Due::Roots => report_roots(world, heap),
        Due::Heapshot => shoot(world, heap),
    }
}

fn shoot(world: &Stopped, heap: &dyn Snapshot) {
    let mut batch = Batch::new();
    batch.push(Kind::ShotBegin, 0, &[]);
    report_roots(world, heap);
    heap.objects(&mut batch);
    batch.flush();
    batch.push(Kind::ShotEnd, 0, &[]);
}

/// Words of a record that is not complete, and whose records they are. Every record of a heapshot has the same thread, as its readers want it.
struct Batch {
    thread: u64,
    words: [u64; WORDS],
    length: usize,
    /// Where the last reference of the object lies: the file has differences.
    last_offset: usize,
}

impl Batch {
    fn new() -> Batch {
        Batch {
            thread: calling_thread(),
            words: [0; WORDS],
            length: 0,
            last_offset: 0,
        }
    }
    fn push(&self, kind: Kind, extra: u32, payload: &[u64]) {
        push_in_stop(kind, extra, self.thread, payload);
    }
    /// Pushes the object that was collected.
    fn flush(&mut self) {
        if self.length > 0 {
            self.push(Kind::ShotObject, 0, &self.words[..self.length]);
        }
    }
    /// Pushes the roots that were collected.
    fn flush_roots(&mut self) {
        if self.length > 0 {
            self.push(Kind::Roots, 0, &self.words[..self.length]);
            self.length = 0;
        }
    }
    fn root(&mut self, slot: u64, object: usize) {
        self.words[self.length..self.length + 2].copy_from_slice(&[slot, object as u64]);
        self.length += 2;
        if self.length == ROOTS {
            self.flush_roots();
        }
    }
    fn range(&self, source: u8, (start, bytes): (usize, usize), key: u64) {
        let payload = [start as u64, bytes as u64, key];
        self.push(Kind::RootRange, source.into(), &payload);
    }

    /// What a thread refers to: from its stacks and registers, from its context, from its thread statics.
    fn thread(&mut self, heap: &dyn Snapshot, t: &ThreadView<'_>) {
        // SAFETY: the view is that of a thread that is stopped or parked. Its context is never freed, and nobody writes to it meanwhile.
        unsafe {
            let context = t.context;
            let key = thread_id(context);
            let stack = stack_of(context);
            self.range(source::STACK, stack, key);
            for range in t.ranges {
                heap.referred(*range, &mut |object| self.root(stack.0 as u64, object));
            }
            let bytes = size_of::<ThreadContext>();
            self.range(source::THREADING, (context as usize, bytes), key);
            for offset in ROOT_WORDS {
                let slot = context as usize + offset;
                match *(slot as *const usize) {
                    0 => {}
                    object => self.root(slot as u64, object),
                }
            }
            thread_static_classes::each_thread_block(context, |start, bytes| {
                self.range(source::THREAD_STATIC, (start, bytes), key);
            });
        }
    }
}

impl SnapshotVisitor for Batch {
    fn object(&mut self, object: usize, header: u64, bytes: usize, is_old: bool) {
        self.flush();
        let vtable = header & 0xFFFF_FFFF;
        let head = [object as u64, vtable, bytes as u64, is_old.into()];
        self.words[..4].copy_from_slice(&head);
        (self.length, self.last_offset) = (4, 0);
    }
    fn reference(&mut self, offset: usize, target: usize) {
        if self.length == WORDS {
            self.flush();
            // What has no bytes goes on with the references of an object that was there.
            self.words[2] = 0;
            (self.length, self.last_offset) = (4, 0);
        }
        let difference = (offset - self.last_offset) as u64;
        self.words[self.length..self.length + 2].copy_from_slice(&[difference, target as u64]);
        (self.length, self.last_offset) = (self.length + 2, offset);
    }
}

/// The range that stands for a thread's stack: the OS thread's stack; of a green thread, whose pieces come and go, the highest word of the first one.
///
/// # Safety
/// The context is that of a thread that is stopped or parked.
unsafe fn stack_of(context: *mut ThreadContext) -> (usize, usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match ((*context).green, (*context).managed_base) {
            (0, _) => {
                let (low, high) = ((*context).native_end, (*context).stack_base);
                (low, high.saturating_sub(low))
            }
            (_, base) => ((base & !7) - 8, 8),
        }
    }
}

/// Where an object that a queue keeps is said to be kept.
fn queue_slot(is_critical: bool) -> u64 {
    match is_critical {
        false => pseudo_slot::FINALIZER_QUEUE,
        true => pseudo_slot::CRITICAL_FINALIZER_QUEUE,
    }
}

/// Everything outside the heap that keeps objects, and what the heap keeps for its own reasons.
fn report_roots(world: &Stopped, heap: &dyn Snapshot) {
    let mut batch = Batch::new();
    world.for_each_running(|t| batch.thread(heap, &t));
    // SAFETY: the visitor gets the contexts of parked green threads.
    world.for_each_parked(|context| unsafe { view_parked(context, |t| batch.thread(heap, &t)) });
    heap.statics(&mut |slot, object| batch.root(slot as u64, object));
    for kind in [handles::HandleKind::Normal, handles::HandleKind::Pinned] {
        if let Some(words) = handles::TABLES.words_of(kind) {
            batch.range(source::HANDLE, words, 0);
        }
    }
    handles::TABLES.each_strong(|_, slot, object| batch.root(slot as u64, object));
    let pseudo = |slot: u64| (slot as usize, 1);
    for slot in [false, true].map(queue_slot) {
        batch.range(source::FINALIZER_QUEUE, pseudo(slot), 0);
    }
    heap.queued(&mut |is_critical, object| batch.root(queue_slot(is_critical), object));
    batch.range(source::EPHEMERON, pseudo(pseudo_slot::EPHEMERONS), 0);
    heap.ephemerons(&mut |value| batch.root(pseudo_slot::EPHEMERONS, value));
    batch.flush_roots();
}

const _: () = assert!(ROOTS <= WORDS && WORDS.is_multiple_of(2));
