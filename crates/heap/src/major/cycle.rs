//! The collector's thread, and a cycle from its first pause to its last swept block.
//!
//! # Invariants
//! * Cycles are asked for by tickets: `asked` is the number of the last cycle wanted, `begun` of the last begun, `ended` of the last ended. A
//!   ticket is larger than `begun`, because a cycle that has begun may have marked what died since.
//! * One thread, the collector's, runs cycles, one after the other.
use super::marker::Marker;
use super::marking::Marking;
use super::sweep::BATCH;
use crate::model::{Model, World};
use crate::space::BlockId;
use crate::{Heap, stats};
use std::sync::atomic::Ordering::*;
use std::time::Duration;
use vervet_os::scheduling::be_nicer;
use vervet_os::{clock, futex};

/// The niceness of the collector's thread: if the program keeps all processors busy, the kernel gives the thread about a quarter of one.
/// Mutators assist when that is too little (`pacing`).
const NICENESS: i32 = 5;
/// A cycle is one pause only if there are at most so many parked threads, because the pause scans all of them.
const FEW_PARKED: usize = 64;
/// If no cycle begins for this long after one, the memory that the next one would need is given back to the system too.
const REST: Duration = Duration::from_secs(5);

impl<M: Model, W: World> Heap<M, W> {
    pub(crate) fn marking<'h>(&'h self, own: &'h mut Marker) -> Marking<'h, M, W> {
        Marking {
            heap: self,
            own,
            exclusive: false,
        }
    }
    /// The worker that marks while no other does: beside the program, when only the collector's thread marks (minor collections do not touch
    /// `mark` bits of old blocks while the gate is open), and in those parts of a pause that one thread does.
    pub(crate) fn exclusive_marking<'h>(&'h self, own: &'h mut Marker) -> Marking<'h, M, W> {
        Marking {
            exclusive: true,
            ..self.marking(own)
        }
    }
    /// Bytes of the old generation.
    pub fn old_bytes(&self) -> usize {
        self.old.bytes.load(Relaxed) + self.large.bytes.load(Relaxed)
    }
    /// Asks for a cycle that begins later than this call. Returns the ticket to wait with ([`Heap::wait_for_major`]).
    pub fn ask_for_major(&self) -> u32 {
        self.ask(self.next_cycle())
    }
    /// The same, for the program: neither that cycle nor one before it keeps memory for what was in use of late.
    pub(crate) fn ask_for_the_program(&self) -> u32 {
        loop {
            let ticket = self.next_cycle();
            self.major.by_program.fetch_max(ticket, AcqRel);
            // Had it begun before the program's wish was known, it might have been swept without it.
            if self.next_cycle() == ticket {
                return self.ask(ticket);
            }
        }
    }
    /// The first cycle that will mark nothing that has died before now: one that has begun may have marked it.
    fn next_cycle(&self) -> u32 {
        self.major.begun.load(Acquire) + 1
    }
    /// Asks for all cycles up to one.
    fn ask(&self, ticket: u32) -> u32 {
        self.major.asked.fetch_max(ticket, AcqRel);
        // The collector's thread looks at `asked` after it has stored itself under the lock, so it is not left asleep.
        self.start_threads();
        if let Some(t) = &*self.major.collector.lock() {
            t.unpark();
        }
        ticket
    }
    /// Waits until the cycle with that ticket has ended.
    pub fn wait_for_major(&self, ticket: u32) {
        self.world.blocking(&mut || {
            loop {
                let ended = self.major.ended.load(Acquire);
                if ended.wrapping_sub(ticket) as i32 >= 0 {
                    return;
                }
                futex::wait(&self.major.ended, ended, None);
            }
        });
    }
    /// The body of the collector's thread: it runs cycles as they are asked for.
    pub(crate) fn collector(&'static self) {
        vervet_os::signal::block_all();
        self.major.affinity.set_current_thread();
        be_nicer(NICENESS);
        *self.major.collector.lock() = Some(std::thread::current());
        let is_idle = || self.major.asked.load(Acquire) == self.major.ended.load(Acquire);
        let mut ran = false;
        loop {
            if ran {
                let end = clock::now() + REST.as_nanos() as u64;
                while is_idle() && clock::now() < end {
                    std::thread::park_timeout(REST);
                }
                if is_idle() {
                    self.trim(0);
                }
            }
            while is_idle() {
                std::thread::park();
            }
            self.cycle();
            ran = true;
            let now = self.major.begun.load(Acquire);
            self.major.asked.fetch_max(now, AcqRel);
            self.major.ended.store(now, Release);
            futex::wake(&self.major.ended, i32::MAX);
            if self.finalizers.waiting() > 0 {
                self.world.finalizers_wait();
            }
        }
    }

    /// May the next cycle mark in its only pause, because there is little to mark?
    fn marks_at_once(&self) -> bool {
        !self.config.debug.concurrent_marking
            && self.old_bytes() <= self.config.stop_below
            && self.world.parked_count() <= FEW_PARKED
    }
    /// Would a pause of a major collection be the last of its cycle?
    pub(crate) fn ends_cycle(&self) -> bool {
        self.major.is_marking() || self.marks_at_once()
    }
    /// Runs one cycle, from the initial mark pause to the last swept block.
    fn cycle(&self) {
        let at_once = self.marks_at_once();
        self.stopped(
            stats::Collection::Major,
            || true,
            |stop| {
                self.major.begun.fetch_add(1, AcqRel);
                let outcome = self.minor(true, stop);
                self.initial_mark();
                if at_once {
                    self.final_mark(false);
                }
                outcome
            },
        );
        if !at_once {
            self.scan_statics_beside();
            self.scan_parked_beside();
            self.drain_concurrently();
            // Precleaning: scans the cards written to meanwhile, and the threads that have run, so that the final mark pause has fewer.
            for _ in 0..2 {
                self.scan_parked_beside();
                let (mut b, used) = (0, self.space.used());
                while b < used {
                    let end = (b + BATCH).min(used);
                    self.gate.step(|| {
                        let mut marker = self.major.marker(0);
                        let mut m = self.exclusive_marking(&mut marker);
                        // A block may take long, if all its cards were written to.
                        while b < end && !self.gate.yield_requested() {
                            m.rescan_modified(BlockId::new(b));
                            b += 1;
                        }
                    });
                    self.be_slow();
                }
                self.drain_concurrently();
            }
            self.stopped(
                stats::Collection::Major,
                || true,
                |stop| {
                    let outcome = self.minor(true, stop);
                    self.final_mark(true);
                    outcome
                },
            );
        }
        self.sweep();
        self.gate.turn.end();
        if self.config.debug.heap_shot {
            self.print_shot();
        }
    }
}
