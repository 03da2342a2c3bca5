//! Collections as mutators ask for them, and what every stop of the world has in common.
//!
//! # Invariants
//! * All collections go through [`Heap::stopped`]: turn, yield request, stop of the world, gate, verifier, figures, log.
//! * A thread that waited while another collected does not collect again: it compares the count of collections with the one it saw.
use crate::Heap;
use crate::model::{Model, Phase, World};
use crate::stats::{self, Collection};
use crate::threads::gate;
use std::sync::atomic::Ordering::*;
use vervet_os::clock;

/// Must a minor collection find out what is reachable?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracing {
    /// The program asked for a collection.
    Always,
    /// The nursery is full.
    AsNeeded,
}

impl<M: Model, W: World> Heap<M, W> {
    /// Stops the world, does `work` if that is still `wanted`, and lets the world go on. For a major collection the gate is shut; the work of a
    /// minor one shuts it itself.
    pub(crate) fn stopped(
        &self,
        what: Collection,
        wanted: impl Fn() -> bool,
        mut work: impl FnMut(&mut gate::Stop<'_>) -> stats::Outcome,
    ) {
        let before = clock::now();
        let mut done = None;
        match what {
            Collection::Major => self.gate.turn.take(),
            Collection::Minor if self.gate.turn.is_taken() => {
                // Whoever ran instead of this thread would need memory, too.
                self.world
                    .blocking_briefly(&mut || self.gate.turn.let_pass());
            }
            Collection::Minor => {}
        }
        let mut yield_request = Some(self.gate.request_yield());
        let major = what == Collection::Major && self.ends_cycle();
        let tell = |phase| self.world.phase(phase, major);
        tell(Phase::BeforeStop);
        self.world.stopped(&mut || {
            tell(Phase::Stopped);
            if !wanted() {
                tell(Phase::BeforeStart);
                return;
            }
            tell(Phase::Begins);
            let _affinity = self.major.avoid_current_processor();
            yield_request = None;
            let mut stop = self.gate.stop();
            if self.config.debug.verify_before {
                stop.shut();
                self.verify("before a collection");
                stop.open();
            }
            if let Collection::Major = what {
                stop.shut();
            }
            let outcome = work(&mut stop);
            self.minors.fetch_add(1, AcqRel);
            self.reserve.set_strained(self.is_strained());
            if self.config.debug.verify_after {
                self.verify("after a collection");
            }
            self.world
                .collected(self, what == Collection::Major && !self.major.is_marking());
            // Measured here: once the world runs, this thread may be the one that gets no processor.
            done = Some((outcome, clock::now() - before));
            tell(Phase::Ends(self.committed()));
            tell(Phase::BeforeStart);
        });
        tell(Phase::Started);
        if let Collection::Major = what {
            self.gate.turn.end();
        }
        if let Some((outcome, ns)) = done {
            self.note(what, ns, outcome);
        }
        if self.wants_help.load(Relaxed) {
            self.start_threads();
        }
    }
    fn note(&self, what: Collection, ns: u64, outcome: stats::Outcome) {
        let pauses = match what {
            Collection::Minor => &self.stats.minor,
            Collection::Major => &self.stats.major,
        };
        pauses.record(ns);
        self.stats
            .promoted
            .fetch_add(outcome.promoted as u64, Relaxed);
        self.stats
            .survived
            .fetch_add(outcome.survived as u64, Relaxed);
        self.stats.pinned.fetch_add(outcome.pinned as u64, Relaxed);
        if self.config.debug.log {
            self.log(what, ns, outcome);
        }
    }
    /// One line for `log`, in one write, so that lines of several threads do not mix. Words and `name=value` pairs, in this
    /// order; sizes in bytes: `gc N minor|major pause_us=… promoted=… survived=… pinned=… evacuated=… old=… large=…
    /// blocks=…`. N counts stops, `pinned` objects, `blocks` those in use, and `evacuated` all bytes moved out of sparse
    /// blocks so far.
    fn log(&self, what: Collection, ns: u64, outcome: stats::Outcome) {
        let line = format!(
            "gc {} {} pause_us={:.1} promoted={} survived={} pinned={} evacuated={} old={} large={} blocks={}\n",
            self.stats.minor.count() + self.stats.major.count(),
            match what {
                Collection::Minor => "minor",
                Collection::Major => "major",
            },
            ns as f64 / 1e3,
            outcome.promoted,
            outcome.survived,
            outcome.pinned,
            self.stats.evacuated.load(Relaxed),
            self.old.bytes.load(Relaxed),
            self.large.bytes.load(Relaxed),
            self.space.in_use()
        );
        stats::write_stderr(&line);
    }
    /// Collects the nursery now.
    pub fn collect_minor(&self) {
        self.minor_unless_after(self.minors.load(Acquire), Tracing::Always, || {});
    }
    /// Collects the nursery, unless another thread did since the count of collections was `seen`. If this thread did, it calls `then` before the
    /// world goes on.
    pub(crate) fn minor_unless_after(&self, seen: u32, tracing: Tracing, mut then: impl FnMut()) {
        self.stopped(
            Collection::Minor,
            || self.minors.load(Acquire) == seen,
            |stop| {
                let outcome = if self.promotes_all(tracing) {
                    self.promote_everything(stop)
                } else {
                    self.minor(false, stop)
                };
                self.assist();
                then();
                outcome
            },
        );
        self.consider_major();
        if self.world.wants_cycle() {
            self.collect_all();
        }
        if self.finalizers.waiting() > 0 {
            self.world.finalizers_wait();
        }
    }
    fn promotes_all(&self, tracing: Tracing) -> bool {
        let every = self.config.debug.promote_in_place * 2;
        let forced = every > 0 && self.minor_count() % every == every / 2;
        if self.major.is_marking() {
            return false;
        }
        forced || tracing == Tracing::AsNeeded && !self.has_holes() && self.promote_all.take()
    }
    /// Collects everything for the program, and waits until that is done.
    pub fn collect_all(&self) {
        let ticket = self.ask_for_the_program();
        self.wait_for_major(ticket);
    }
}
