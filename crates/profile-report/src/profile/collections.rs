//! Collections, and the pauses in which they stop the threads.
//!
//! A collection that marks beside the program begins in one pause and ends in another, perhaps on another thread. So the two are counted apart.
//!
//! # Invariants
//! * A pause lasts from when its thread holds the lock of stops until the threads are told to go on; where the recording has no such
//!   phases, from the start of the collection to its end.
//! * There is one collection of a generation at a time.
use super::Tally;
use crate::event::Phase;
use rustc_hash::FxHashMap;

/// A pause. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pause {
    pub generation: u8,
    /// When it began.
    pub began: u64,
    /// How long it took until all threads stood.
    pub stopping_ns: u64,
    /// From then until the threads were about to go on.
    pub work_ns: u64,
    /// How long it was in all.
    pub pause_ns: u64,
}

#[derive(Default)]
struct Open {
    began: u64,
    stopped: Option<u64>,
    resuming: Option<u64>,
}

/// All collections.
#[derive(Default)]
pub(crate) struct Collections {
    pub pauses: Vec<Pause>,
    /// Starts of collections by generation, whether or not they ended.
    pub starts: FxHashMap<u8, u64>,
    /// Collections by generation, from start to end.
    pub took: FxHashMap<u8, Tally>,
    /// Sizes of the heap: time, bytes.
    pub heap: Vec<(u64, u64)>,
    pub resizes: u64,
    pub moves: u64,
    pub finalizers: u64,
    pub finalizers_ns: u64,
    finalizing: FxHashMap<u64, u64>,
    started: FxHashMap<u8, u64>,
    open: FxHashMap<u64, Open>,
}

impl Collections {
    /// A phase begins on a thread.
    pub(crate) fn phase(&mut self, thread: u64, time: u64, phase: Phase, generation: u8) {
        match phase {
            Phase::Stopping | Phase::StoppingLocked => {
                self.open.insert(
                    thread,
                    Open {
                        began: time,
                        ..Open::default()
                    },
                );
            }
            Phase::Stopped => {
                if let Some(open) = self.open.get_mut(&thread) {
                    open.stopped = Some(time);
                }
            }
            Phase::Resuming => {
                if let Some(open) = self.open.get_mut(&thread) {
                    open.resuming = Some(time);
                }
            }
            Phase::Start => {
                self.started.insert(generation, time);
                *self.starts.entry(generation).or_default() += 1;
            }
            Phase::End => {
                let Some(start) = self.started.remove(&generation) else {
                    return;
                };
                let took = time.saturating_sub(start);
                self.took.entry(generation).or_default().add(took);
                if !self.open.contains_key(&thread) {
                    let pause = Pause {
                        generation,
                        began: start,
                        stopping_ns: 0,
                        work_ns: took,
                        pause_ns: took,
                    };
                    self.pauses.push(pause);
                }
            }
            Phase::Resumed => {
                let Some(open) = self.open.remove(&thread) else {
                    return;
                };
                let stopped = open.stopped.unwrap_or(open.began);
                self.pauses.push(Pause {
                    generation,
                    began: open.began,
                    stopping_ns: stopped.saturating_sub(open.began),
                    work_ns: open.resuming.unwrap_or(time).saturating_sub(stopped),
                    pause_ns: time.saturating_sub(open.began),
                });
            }
            Phase::ResumedUnlocked | Phase::Retired => {}
        }
    }

    /// The heap has another size.
    pub(crate) fn resize(&mut self, time: u64, bytes: u64) {
        self.resizes += 1;
        self.heap.push((time, bytes));
    }

    /// A finalizer begins or ends on a thread.
    pub(crate) fn finalizer(&mut self, thread: u64, time: u64, begins: bool) {
        if begins {
            self.finalizers += 1;
            self.finalizing.insert(thread, time);
        } else if let Some(began) = self.finalizing.remove(&thread) {
            self.finalizers_ns = self
                .finalizers_ns
                .saturating_add(time.saturating_sub(began));
        }
    }

    /// Pauses of a generation.
    pub(crate) fn of(&self, generation: u8) -> impl Iterator<Item = &Pause> {
        self.pauses
            .iter()
            .filter(move |p| p.generation == generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_from_the_stop_until_the_threads_go_on() {
        let mut all = Collections::default();
        for (thread, time, phase, generation) in [
            (1, 10, Phase::Stopping, 0),
            (1, 11, Phase::StoppingLocked, 0),
            (1, 15, Phase::Stopped, 0),
            (1, 16, Phase::Start, 0),
            (1, 36, Phase::End, 0),
            // One that marks beside the program begins here and ends on another thread.
            (1, 36, Phase::Start, 1),
            (1, 37, Phase::Resuming, 0),
            (2, 38, Phase::Stopping, 1),
            (1, 40, Phase::Resumed, 0),
            (1, 41, Phase::ResumedUnlocked, 0),
            (2, 42, Phase::StoppingLocked, 1),
            (2, 43, Phase::Stopped, 1),
            (2, 50, Phase::End, 1),
            (2, 51, Phase::Resuming, 1),
            (2, 52, Phase::Resumed, 1),
            // And one without the threads' phases; an end without a start.
            (1, 60, Phase::Start, 0),
            (1, 67, Phase::End, 0),
            (1, 70, Phase::End, 0),
        ] {
            all.phase(thread, time, phase, generation);
        }
        let pause = |generation, began, stopping_ns, work_ns, pause_ns| Pause {
            generation,
            began,
            stopping_ns,
            work_ns,
            pause_ns,
        };
        assert_eq!(
            all.pauses,
            [
                pause(0, 11, 4, 22, 29),
                pause(1, 42, 1, 8, 10),
                pause(0, 60, 0, 7, 7)
            ]
        );
        assert_eq!(
            all.took[&0],
            Tally {
                count: 2,
                sum: 27,
                max: 20
            }
        );
        assert_eq!(
            all.took[&1],
            Tally {
                count: 1,
                sum: 14,
                max: 14
            }
        );
        assert_eq!((all.starts[&0], all.starts[&1]), (2, 1));
    }
}
