//! What a recording says, added up.
//!
//! Events are added as they stand in the file. What can only be known at the end – in which function an address is, what a class is called –
//! waits until [`Profile::finish`].
//!
//! # Invariants
//! * Memory grows with different stacks, classes, objects that are waited for and living handles, and with samples and collections; not
//!   with the number of other events.
//! * While calls are recorded, events have no stack of their own: theirs is that of the calls.
pub(crate) mod calls;
pub(crate) mod classes;
pub(crate) mod collections;
pub(crate) mod counters;
pub(crate) mod frames;
pub(crate) mod threads;

use crate::event::{ClauseKind, Event, HandleKind, MonitorEvent, Record};
use crate::stacks::{Frame, Node, ROOT, Stacks, Weights};
use frames::{Kind, Place};
use rustc_hash::FxHashMap;
use threads::Thread;

/// A number of things and a sum: bytes of objects, nanoseconds of waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub count: u64,
    pub sum: u64,
    pub max: u64,
}

/// Bytes of the largest object that lies in a piece with others.
const LARGEST_SMALL: u64 = 8256;

impl Tally {
    pub(crate) fn add(&mut self, amount: u64) {
        self.merge(Tally {
            count: 1,
            sum: amount,
            max: amount,
        });
    }
    /// An object that stands for others, because one is recorded about every `period` bytes. Small objects lie in pieces of memory that a thread is given, and each event
    /// is a period of these. A large object is given alone, and recorded once at most: those of its size come into the recording with a probability that grows with the size,
    /// and count as many as it takes to make up for that.
    pub(crate) fn of_sample(amount: u64, period: u64) -> Tally {
        // At least one byte: what has no size stands for a period of them.
        let share = amount.max(1) as f64 / period as f64;
        let stands_for = match amount > LARGEST_SMALL {
            false => 1.0 / share,
            true => -1.0 / (-share).exp_m1(),
        };
        Tally {
            count: stands_for.round() as u64,
            sum: (stands_for * amount as f64).round() as u64,
            max: amount,
        }
    }
    pub(crate) fn merge(&mut self, other: Tally) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }
}

/// Where something happened, and the VTable of the object it happened to (0: not known).
pub(crate) type Site = (Node, u64);

/// A sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub time: u64,
    pub thread: Thread,
    pub node: Node,
    pub address: Option<u64>,
}

/// Of what samples were in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hits {
    pub managed: u64,
    pub native: u64,
    /// Of these, without a symbol.
    pub unknown: u64,
}

/// GC handles of a kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Handles {
    pub made: u64,
    pub freed: u64,
    pub most: u64,
    living: u64,
}

/// A heapshot.
#[derive(Default)]
pub(crate) struct Shot {
    pub time: u64,
    pub objects: Tally,
    pub references: u64,
    pub roots: u64,
    pub classes: FxHashMap<u64, Tally>,
}

/// Which events count.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Nanoseconds since the first event of the recording.
    pub time: Option<(u64, u64)>,
    /// Threads whose name contains this.
    pub thread: Option<String>,
}

/// A recording, added up.
#[derive(Default)]
pub(crate) struct Profile {
    pub stacks: Stacks,
    pub frames: frames::Frames,
    pub classes: classes::Classes,
    pub threads: threads::Threads,
    pub collections: collections::Collections,
    pub calls: calls::Calls,
    pub counters: counters::Counters,
    pub hits: Vec<Hit>,
    pub hit_kinds: Hits,
    pub allocations: FxHashMap<Site, Tally>,
    /// Allocations are samples, one about every so many bytes, and what they stand for is added up.
    pub allocation_period: Option<u64>,
    /// How many samples they are.
    pub allocation_samples: u64,
    /// Bytes allocated in each hundredth of a second.
    pub allocation_rate: FxHashMap<u64, u64>,
    pub waits: FxHashMap<Site, Tally>,
    pub waited_objects: FxHashMap<u64, (Tally, u64)>,
    pub contentions: u64,
    pub timeouts: u64,
    waiting: FxHashMap<u64, (u64, u64, Node)>,
    pub throws: FxHashMap<Site, u64>,
    pub clauses: [u64; 4],
    pub handles: [Handles; 4],
    pub living_handles: FxHashMap<(u64, usize), Site>,
    pub shots: Vec<Shot>,
    open_shot: FxHashMap<u64, usize>,
    roots: FxHashMap<u64, u64>,
    pub domains: FxHashMap<u64, Option<String>>,
    pub images: u64,
    pub assemblies: Vec<String>,
    /// Events and bytes of each kind.
    pub kinds: FxHashMap<u8, Tally>,
    pub buffers: u64,
    /// The time that counts as 0, and the last one.
    pub zero: Option<u64>,
    pub last: u64,
    filter: Filter,
}

/// Nanoseconds in which allocated bytes are added up.
pub(crate) const RATE_STEP: u64 = 10_000_000;

impl Profile {
    pub(crate) fn new(filter: Filter, allocation_period: Option<u64>) -> Profile {
        Profile {
            filter,
            allocation_period,
            ..Profile::default()
        }
    }

    /// A buffer begins.
    pub(crate) fn buffer(&mut self, time: u64) {
        self.buffers += 1;
        self.zero.get_or_insert(time);
    }

    /// Nanoseconds since the time that counts as 0.
    pub(crate) fn since_zero(&self, time: u64) -> u64 {
        time.saturating_sub(self.zero.unwrap_or(time))
    }

    /// How long the recording is, in nanoseconds.
    pub(crate) fn duration(&self) -> u64 {
        self.since_zero(self.last)
    }

    /// Adds an event of a thread's buffer.
    pub(crate) fn add(&mut self, thread: u64, record: &Record<'_>) {
        self.kinds
            .entry(record.kind)
            .or_default()
            .add(record.size as u64);
        if !matches!(record.event, Event::Method { .. }) {
            self.last = self.last.max(record.time);
        }
        if self.announce(record) || !self.counts(thread, record) {
            return;
        }
        let time = record.time;
        match record.event {
            Event::Allocation {
                vtable,
                object,
                bytes,
                frames,
            } => {
                self.classes.saw(object, vtable);
                let node = self.stack(thread, frames);
                let tally = match self.allocation_period {
                    Some(period) => Tally::of_sample(bytes, period),
                    None => Tally {
                        count: 1,
                        sum: bytes,
                        max: bytes,
                    },
                };
                self.allocation_samples += 1;
                let site = self.allocations.entry((node, vtable)).or_default();
                site.merge(tally);
                let bytes = tally.sum;
                let step = self
                    .allocation_rate
                    .entry(self.since_zero(time) / RATE_STEP)
                    .or_default();
                *step = step.saturating_add(bytes);
                let of = self.threads.of(thread);
                let info = self.threads.info(of);
                info.objects = info.objects.saturating_add(tally.count);
                info.allocated = info.allocated.saturating_add(bytes);
            }
            Event::Sample {
                thread,
                address,
                frames,
            } => {
                let inner = frames.iter().rev().fold(ROOT, |below, method| {
                    let frame = self.frames.method(*method);
                    self.stacks.push(below, frame)
                });
                let thread = self.threads.at(thread, time);
                self.hits.push(Hit {
                    time,
                    thread,
                    node: inner,
                    address,
                });
            }
            Event::Throw { object, frames } => {
                let site = (self.stack(thread, frames), self.classes.vtable_of(object));
                *self.throws.entry(site).or_default() += 1;
                let of = self.threads.of(thread);
                self.threads.info(of).throws += 1;
            }
            Event::Clause { kind } => {
                let at = match kind {
                    ClauseKind::Catch => 0,
                    ClauseKind::Filter => 1,
                    ClauseKind::Finally => 2,
                    ClauseKind::Fault => 3,
                };
                self.clauses[at] += 1;
            }
            Event::Monitor {
                what,
                object,
                frames,
            } => {
                let node = self.stack(thread, frames);
                self.monitor(thread, time, what, object, node);
            }
            Event::Enter { method } => {
                let frame = self.frames.method(method);
                self.calls.enter(&mut self.stacks, thread, time, frame);
            }
            Event::Leave { method, .. } => {
                let frame = self.frames.method(method);
                self.calls.leave(thread, time, frame);
            }
            Event::Phase { phase, generation } => {
                self.collections.phase(thread, time, phase, generation)
            }
            Event::HeapSize { bytes } => self.collections.resize(time, bytes),
            Event::Finalizer { begins } => self.collections.finalizer(thread, time, begins),
            _ => self.add_rare(thread, record),
        }
    }

    fn add_rare(&mut self, thread: u64, record: &Record<'_>) {
        match &record.event {
            Event::Moves { pairs } => {
                self.collections.moves += pairs.len() as u64;
                pairs
                    .iter()
                    .for_each(|(from, to)| self.classes.moved(*from, *to));
            }
            Event::HandleMade {
                kind,
                handle,
                object,
                frames,
            } => {
                let site = (self.stack(thread, *frames), self.classes.vtable_of(*object));
                let handles = &mut self.handles[place(*kind)];
                handles.made += 1;
                handles.living += 1;
                handles.most = handles.most.max(handles.living);
                self.living_handles.insert((*handle, place(*kind)), site);
            }
            Event::HandleFreed { kind, handle } => {
                let handles = &mut self.handles[place(*kind)];
                handles.freed += 1;
                handles.living = handles.living.saturating_sub(1);
                self.living_handles.remove(&(*handle, place(*kind)));
            }
            Event::Heapshot { begins: true } => {
                self.open_shot.insert(thread, self.shots.len());
                // Those of collections before it are not the heapshot's.
                self.roots.insert(thread, 0);
                self.shots.push(Shot {
                    time: record.time,
                    ..Shot::default()
                });
            }
            Event::Heapshot { begins: false } => {
                let roots = self.roots.remove(&thread).unwrap_or(0);
                if let Some(shot) = self.open_shot.remove(&thread) {
                    self.shots[shot].roots = roots;
                }
            }
            Event::HeapObject {
                object,
                vtable,
                bytes,
                references,
            } => {
                self.classes.saw(*object, *vtable);
                if let Some(shot) = self.open_shot.get(&thread).map(|n| &mut self.shots[*n]) {
                    shot.references += references.len() as u64;
                    if *bytes > 0 {
                        shot.objects.add(*bytes);
                        shot.classes.entry(*vtable).or_default().add(*bytes);
                    }
                }
            }
            Event::Roots { pairs } => *self.roots.entry(thread).or_default() += pairs.len() as u64,
            _ => {}
        }
    }

    /// Adds what names something. False if the event does something else.
    fn announce(&mut self, record: &Record<'_>) -> bool {
        let time = record.time;
        match &record.event {
            Event::Class { id, name } => self.classes.name(*id, name),
            Event::VTable { id, class } => self.classes.vtable(*id, *class),
            Event::Image { .. } => self.images += 1,
            Event::Assembly { name } => self.assemblies.push(name.clone().into_owned()),
            Event::Domain { id, name } => {
                let domain = self.domains.entry(*id).or_default();
                if let Some(name) = name {
                    *domain = Some(name.clone().into_owned());
                }
            }
            Event::Thread { id, begins: true } => self.threads.begin(*id, time),
            Event::Thread { id, begins: false } => self.threads.end(*id, time),
            Event::ThreadName { id, name } => self.threads.name(*id, name),
            Event::Method {
                id,
                code,
                bytes,
                name,
            } => self.frames.name(*id, name, *code, *bytes),
            Event::Symbol { address, name } => self.frames.symbol(*address, name),
            Event::Stub {
                kind,
                code,
                bytes,
                name,
            } => {
                self.frames.stub(*kind, name.as_deref(), *code, *bytes);
            }
            Event::CounterNames { counters } => {
                counters.iter().for_each(|c| self.counters.describe(c))
            }
            Event::Counters { values } => {
                values
                    .iter()
                    .for_each(|(index, value)| self.counters.change(time, *index, value));
            }
            Event::OtherMetadata
            | Event::RootRange
            | Event::Binary
            | Event::Sync
            | Event::Precompiled
            | Event::FinalizerBatch { .. } => {}
            _ => return false,
        }
        true
    }

    /// Is the event one of those that were asked for?
    fn counts(&mut self, thread: u64, record: &Record<'_>) -> bool {
        if let Some((from, to)) = self.filter.time {
            let at = self.since_zero(record.time);
            // Calls that are active at the beginning are what later events lie in.
            let is_call = matches!(record.event, Event::Enter { .. } | Event::Leave { .. });
            if at >= to || at < from && !is_call {
                return false;
            }
            self.calls.from = self.zero.unwrap_or(0).saturating_add(from);
        }
        let Some(wanted) = &self.filter.thread else {
            return true;
        };
        let of = match record.event {
            Event::Sample { thread, .. } => self.threads.at(thread, record.time),
            _ => self.threads.of(thread),
        };
        self.threads.label(of).contains(wanted.as_str())
    }

    /// The stack of an event, from frames that are outermost first.
    fn stack(&mut self, thread: u64, frames: Option<&[u64]>) -> Node {
        let Some(frames) = frames else {
            return self.calls.stack(thread);
        };
        frames.iter().fold(ROOT, |below, method| {
            let frame = self.frames.method(*method);
            self.stacks.push(below, frame)
        })
    }

    fn monitor(&mut self, thread: u64, time: u64, what: MonitorEvent, object: u64, node: Node) {
        if what == MonitorEvent::Contention {
            self.contentions += 1;
            self.waiting.insert(thread, (object, time, node));
            self.waited_objects.entry(object).or_default().0.count += 1;
            return;
        }
        self.timeouts += u64::from(what == MonitorEvent::Fail);
        let Some((object, since, node)) = self.waiting.remove(&thread) else {
            return;
        };
        let waited = time.saturating_sub(since);
        let vtable = self.classes.vtable_of(object);
        self.waits.entry((node, vtable)).or_default().add(waited);
        let (tally, of) = self.waited_objects.entry(object).or_default();
        tally.merge(Tally {
            count: 0,
            sum: waited,
            max: waited,
        });
        *of = vtable;
        let of = self.threads.of(thread);
        let info = self.threads.info(of);
        info.waits += 1;
        info.waited_ns = info.waited_ns.saturating_add(waited);
    }

    /// Ends the reading: closes calls, finds out in which functions samples are.
    pub(crate) fn finish(&mut self) {
        self.calls.finish();
        let open: Vec<u64> = self.waiting.keys().copied().collect();
        for thread in open {
            // It waited until the end, or nothing said that it no longer did.
            if let Some((object, since, node)) = self.waiting.remove(&thread) {
                let waited = self.last.saturating_sub(since);
                let site = (node, self.classes.vtable_of(object));
                self.waits.entry(site).or_default().add(waited);
            }
        }
        self.frames.finish();
        let nowhere = self.frames.native("[native code]", Kind::Native);
        for hit in &mut self.hits {
            self.threads.info(hit.thread).samples += 1;
            let place = hit.address.map_or(Place::Unknown, |a| self.frames.at(a));
            match place {
                Place::Managed(frame) => {
                    self.hit_kinds.managed += 1;
                    if hit.node == ROOT {
                        hit.node = self.stacks.push(ROOT, frame);
                    }
                }
                Place::Native(frame) => {
                    self.hit_kinds.native += 1;
                    hit.node = self.stacks.push(hit.node, frame);
                }
                Place::Unknown => {
                    self.hit_kinds.native += 1;
                    self.hit_kinds.unknown += 1;
                    hit.node = self.stacks.push(hit.node, nowhere);
                }
            }
        }
    }

    /// Stacks with the class of the object as their innermost frame, where it is known.
    pub(crate) fn with_class<T>(
        &mut self,
        sites: &FxHashMap<Site, T>,
        weight: impl Fn(&T) -> u64,
    ) -> Weights {
        let mut out = Weights::default();
        for ((node, vtable), value) in sites {
            let node = match vtable {
                0 => *node,
                vtable => {
                    let frame = self.class_frame(*vtable);
                    self.stacks.push(*node, frame)
                }
            };
            let sum = out.entry(node).or_default();
            *sum = sum.saturating_add(weight(value));
        }
        out
    }

    fn class_frame(&mut self, vtable: u64) -> Frame {
        let name = self.classes.name_of_vtable(vtable);
        self.frames.native(&name, Kind::Class)
    }

    /// Sums of VTables, merged by the names of their classes, the largest first.
    pub(crate) fn by_class(
        &self,
        tallies: impl Iterator<Item = (u64, Tally)>,
    ) -> Vec<(String, Tally)> {
        let mut by_vtable: FxHashMap<u64, Tally> = FxHashMap::default();
        for (vtable, tally) in tallies {
            by_vtable.entry(vtable).or_default().merge(tally);
        }
        let mut by_name: FxHashMap<String, Tally> = FxHashMap::default();
        for (vtable, tally) in by_vtable {
            by_name
                .entry(self.classes.name_of_vtable(vtable))
                .or_default()
                .merge(tally);
        }
        let mut all: Vec<_> = by_name.into_iter().collect();
        all.sort_by(|a, b| (b.1.sum, b.1.count, &a.0).cmp(&(a.1.sum, a.1.count, &b.0)));
        all
    }
}

fn place(kind: HandleKind) -> usize {
    match kind {
        HandleKind::Weak => 0,
        HandleKind::WeakTrack => 1,
        HandleKind::Normal => 2,
        HandleKind::Pinned => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_object_stands_for_a_period_of_its_kind_or_for_itself_if_it_is_larger() {
        let of = |amount, period| {
            let tally = Tally::of_sample(amount, period);
            (tally.count, tally.sum, tally.max)
        };
        assert_eq!(of(100, 1_000_000), (10_000, 1_000_000, 100));
        assert_eq!(of(1000, 1000), (1, 1000, 1000));
        assert_eq!(of(0, 1000), (1000, 0, 0));
        // A large one stands for those of its size that were not recorded as well.
        assert_eq!(of(10_000, 10_000), (2, 15_820, 10_000));
        assert_eq!(of(1 << 40, 1000), (1, 1 << 40, 1 << 40));
        assert_eq!(of(u64::MAX, 1).0, 1);
    }
}
