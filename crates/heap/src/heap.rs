//! The state of a heap: how it is made, and what can be asked of it.
//!
//! # Invariants
//! * There is no path back from the modules that define the fields to [`Heap`]: data lies below, what works with all of it (`allocate`,
//!   `collect`, `minor`, `major`) above.
//! * A heap is never dropped. Its threads refer to it as long as the process lives.
//! * A field is atomic, behind a [`LeafLock`], or [`Exclusive`] to the thread that collects.
use crate::config::Config;
use crate::major::state;
use crate::memory::{self, List};
use crate::minor::{aging, nursery, promote_all_policy, worker};
use crate::model::{Model, World};
use crate::references::{ephemerons, finalizers};
use crate::roots::static_area;
use crate::space::{self, large_objects, lines, old, recyclable, reserve};
use crate::stats::Stats;
use crate::threads::exclusive::{Borrowed, Exclusive};
use crate::threads::{gate, mark_stack, workers};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use vervet_os::LeafLock;

/// Bytes of address space that a heap of `reserve` bytes takes, with the tables beside it and without the card table.
pub const fn address_space(reserve: usize) -> usize {
    space::address_space(reserve) + reserve / space::BLOCK * size_of::<lines::Lines>()
}

/// Lists that collections use, kept so that their memory is reused.
pub(crate) struct Scratch {
    /// Words of stacks that may be references, in ascending order: to young objects for a minor collection, to others for a marker.
    pub candidates: List<usize>,
    /// Pinned young objects, in ascending order.
    pub pins: List<usize>,
    /// Old blocks that are being evacuated.
    pub evacuated: List<space::BlockId>,
    /// Copies made by the evacuation that hold references.
    pub moved: List<usize>,
}

/// A heap. See the crate.
pub struct Heap<M: Model, W: World> {
    /// The world.
    pub world: W,
    pub(crate) config: Config,
    pub(crate) space: space::Space,
    pub(crate) nursery: LeafLock<nursery::Nursery>,
    pub(crate) old: old::Old,
    pub(crate) large: large_objects::LargeObjects,
    pub(crate) statics: LeafLock<static_area::StaticArea>,
    /// Finalizers.
    pub finalizers: finalizers::Finalizers,
    pub(crate) major: state::Major,
    pub(crate) gate: gate::Gate,
    pub(crate) workers: workers::WorkerPool,
    /// Have the collector's thread and the helpers been started?
    pub(crate) started: AtomicBool,
    pub(crate) shared_stack: mark_stack::SharedMarkStack,
    pub(crate) minor_workers: Vec<Exclusive<worker::MinorWorker>>,
    pub(crate) scratch: Exclusive<Scratch>,
    pub(crate) pending: Exclusive<ephemerons::PendingEphemerons>,
    /// Should the next minor collection wake the helpers?
    pub(crate) wants_help: AtomicBool,
    /// Nanoseconds that copying a kilobyte took lately: by one worker, and with helpers.
    pub(crate) copy_cost: [AtomicU64; 2],
    /// Minor collections in which helpers might have been worth it.
    pub(crate) collections_with_work: AtomicU32,
    /// Percentage of the young bytes that survived the last collection that had enough of them.
    pub(crate) survival: AtomicU32,
    pub(crate) promote_all: promote_all_policy::PromoteAllPolicy,
    pub(crate) aging: aging::Aging,
    pub(crate) reserve: reserve::CopyReserve,
    pub(crate) minors: AtomicU32,
    /// Allocations until the next collection, if the configuration asks for such ([`crate::Debug::collect_every`]).
    pub(crate) countdown: AtomicUsize,
    /// No thread keeps a TLAB: every allocation comes to [`Heap::allocate`].
    pub(crate) sees_all: AtomicBool,
    /// What happened so far.
    pub stats: Stats,
    _model: std::marker::PhantomData<M>,
}

impl<M: Model, W: World> Heap<M, W> {
    /// Reserves a heap. It lives as long as the process. Its threads are started when they are first needed, or by [`Heap::start_threads`].
    ///
    /// # Errors
    /// What the system says if it grants no memory. InvalidInput: the range is too small for what its collections may need.
    pub fn start(config: Config, world: W) -> io::Result<&'static Heap<M, W>> {
        let space = space::Space::new(config.reserve, config.cards, config.card_mask)?;
        let (low, high) = space.range();
        let config = config.fit(high - low)?;
        let recyclable = recyclable::RecyclableBlocks::new(&space)?;
        let pool = workers::WorkerPool::new(config.helpers);
        let n = pool.count();
        let heap: &'static Heap<M, W> = Box::leak(Box::new(Heap {
            world,
            space,
            nursery: LeafLock::new(nursery::Nursery::new(config.nursery / space::BLOCK)?),
            old: old::Old {
                recyclable,
                bytes: AtomicUsize::new(0),
                at_mark: AtomicUsize::new(0),
            },
            large: large_objects::LargeObjects {
                heads: LeafLock::new(List::new(1 << 24)?),
                bytes: AtomicUsize::new(0),
            },
            statics: LeafLock::default(),
            finalizers: finalizers::Finalizers::new()?,
            major: state::Major::new(n, config.min_major.min(config.max_heap / 2))?,
            gate: gate::Gate::default(),
            workers: pool,
            started: AtomicBool::new(false),
            shared_stack: mark_stack::SharedMarkStack::new()?,
            minor_workers: (0..n)
                .map(|_| worker::MinorWorker::new().map(Exclusive::new))
                .collect::<io::Result<_>>()?,
            pending: Exclusive::new(ephemerons::PendingEphemerons::new()?),
            scratch: Exclusive::new(Scratch {
                candidates: List::new(memory::UNBOUNDED)?,
                pins: List::new(memory::UNBOUNDED)?,
                evacuated: List::new(1 << 24)?,
                moved: List::new(memory::UNBOUNDED)?,
            }),
            wants_help: AtomicBool::new(false),
            copy_cost: [const { AtomicU64::new(0) }; 2],
            collections_with_work: AtomicU32::new(0),
            survival: AtomicU32::new(0),
            promote_all: promote_all_policy::PromoteAllPolicy::default(),
            aging: aging::Aging::default(),
            reserve: reserve::CopyReserve::default(),
            minors: AtomicU32::new(0),
            countdown: AtomicUsize::new(config.debug.collect_every as usize),
            sees_all: AtomicBool::new(config.debug.no_tlabs),
            stats: Stats::default(),
            config,
            _model: std::marker::PhantomData,
        }));
        Ok(heap)
    }
    /// Starts the collector's thread and its helpers, at the first call: when a major collection is asked for, or a minor one wants help. A program that may
    /// leave no thread for them, because it starts threads of its own, has it called before. Called by a thread of the program, whose
    /// priority they begin with, while the world runs. Without the collector's thread the program cannot go on.
    pub fn start_threads(&self) {
        if self.started.load(Acquire) || self.started.swap(true, AcqRel) {
            return;
        }
        // SAFETY: `Heap::start`, which alone makes heaps, has leaked this one.
        let heap: &'static Heap<M, W> = unsafe { &*std::ptr::from_ref(self) };
        let collector = std::thread::Builder::new()
            .name("GC".into())
            .stack_size(512 << 10)
            .spawn(move || heap.collector());
        if let Err(e) = collector {
            self.fail(&format!("the collector's thread cannot be started: {e}"));
        }
        self.workers.start();
    }
    /// Borrows what the worker of that number owns.
    pub(crate) fn minor_worker(&self, index: usize) -> Borrowed<'_, worker::MinorWorker> {
        self.minor_workers[index].borrow()
    }

    /// Minor collections so far, those that begin major ones included.
    pub fn minor_count(&self) -> u32 {
        self.minors.load(Acquire)
    }
    /// Does a major collection mark?
    pub fn is_marking(&self) -> bool {
        self.major.is_marking()
    }
    /// Major collections that have ended.
    pub fn major_count(&self) -> u32 {
        self.major.count()
    }
    /// Bytes of old objects, and of young memory handed out.
    pub fn bytes(&self) -> usize {
        self.old_bytes() + self.nursery.lock().handed_out
    }
    /// Bytes of blocks in use.
    pub fn committed(&self) -> usize {
        self.space.in_use() * space::BLOCK
    }
    /// Is the object young?
    pub fn is_young(&self, object: usize) -> bool {
        self.space.kind_at(object) == space::BlockKind::Nursery
    }
    /// Does the verifier run?
    pub fn verifies(&self) -> bool {
        self.config.debug.verify_before || self.config.debug.verify_after
    }
    /// Do these notes on a parked thread say that minor collections pass it by?
    pub fn is_passed_by(&self, notes: u32) -> bool {
        notes >= nursery::FIRST_ROUND
    }
    /// Does the address lie in the range the heap has reserved?
    pub fn contains(&self, address: usize) -> bool {
        let (from, to) = self.space.range();
        (from..to).contains(&address)
    }
    /// The object's finalizer is to run when nothing refers to it.
    pub fn register_finalizer(&self, object: usize) {
        self.finalizers.register(&self.space, object);
    }
    /// The object's finalizer is not to run.
    pub fn suppress_finalizer(&self, object: usize) {
        self.finalizers.suppress(&self.space, object);
    }
    /// Queues all objects with finalizers, first those that `is_early` says yes to: the process ends. It is called while the world is stopped, and may read
    /// headers.
    pub fn queue_all_finalizers(&self, is_early: impl Fn(usize) -> bool) {
        self.world.stopped(&mut || {
            let mut stop = self.gate.stop();
            stop.shut();
            self.finalizers.queue_all::<M>(&self.space, &is_early);
        });
    }

    /// Queues the registered objects that `wanted` says yes to, reachable or not. It is called while the world is stopped, and may read headers.
    pub fn queue_finalizers_where(&self, wanted: impl Fn(usize) -> bool) {
        self.world.stopped(&mut || {
            let mut stop = self.gate.stop();
            stop.shut();
            self.finalizers.queue_where::<M>(&self.space, &wanted);
        });
    }

    /// The collector cannot go on: the address space is used up in the middle of a collection.
    pub(crate) fn exhausted(&self, during: &str) -> ! {
        self.fail(&format!(
            "the heap's address range is used up during {during}"
        ))
    }
    pub(crate) fn fail(&self, what: &str) -> ! {
        (self.config.fail)(what)
    }
}
