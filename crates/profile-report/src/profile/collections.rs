//! Collections: what they took, and how long the threads were stopped.
//!
//! # Invariants
//! A pause lasts from the request to stop the threads until they are told to go on; where the recording has no such phases, from the start
//! of the collection to its end.
use crate::event::Phase;
use rustc_hash::FxHashMap;

/// A collection. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Collection {
    pub generation: u8,
    /// When the pause began.
    pub began: u64,
    /// From the start of the collector's work to its end.
    pub work_ns: u64,
    /// How long it took until all threads stood.
    pub stopping_ns: u64,
    /// How long the threads did not run.
    pub pause_ns: u64,
}

#[derive(Default)]
struct Open {
    stopping: Option<u64>,
    stopped: Option<u64>,
    start: Option<u64>,
    /// The collections of this pause, by their place in the list.
    done: Vec<usize>,
}

/// All collections.
#[derive(Default)]
pub(crate) struct Collections {
    pub all: Vec<Collection>,
    /// Starts of collections, by generation, whether or not they ended.
    pub starts: FxHashMap<u8, u64>,
    /// Sizes of the heap: time, bytes.
    pub heap: Vec<(u64, u64)>,
    pub resizes: u64,
    pub moves: u64,
    pub finalizers: u64,
    pub finalizers_ns: u64,
    finalizing: FxHashMap<u64, u64>,
    open: FxHashMap<u64, Open>,
}

impl Collections {
    /// A phase begins on a thread.
    pub(crate) fn phase(&mut self, thread: u64, time: u64, phase: Phase, generation: u8) {
        let open = self.open.entry(thread).or_default();
        match phase {
            Phase::Stopping => {
                *open = Open {
                    stopping: Some(time),
                    ..Open::default()
                }
            }
            Phase::Stopped => open.stopped = Some(time),
            Phase::Start => {
                open.start = Some(time);
                *self.starts.entry(generation).or_default() += 1;
            }
            Phase::End => {
                let Some(start) = open.start.take() else {
                    return;
                };
                let began = open.stopping.unwrap_or(start);
                open.done.push(self.all.len());
                self.all.push(Collection {
                    generation,
                    began,
                    work_ns: time.saturating_sub(start),
                    stopping_ns: open.stopped.map_or(0, |s| s.saturating_sub(began)),
                    pause_ns: time.saturating_sub(began),
                });
            }
            Phase::Resumed => {
                let open = std::mem::take(open);
                for at in open.done {
                    let done = &mut self.all[at];
                    done.pause_ns = time.saturating_sub(done.began);
                }
            }
            Phase::Resuming | Phase::StoppingLocked | Phase::ResumedUnlocked | Phase::Retired => {}
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

    /// Collections of a generation that ended.
    pub(crate) fn of(&self, generation: u8) -> impl Iterator<Item = &Collection> {
        self.all.iter().filter(move |c| c.generation == generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_from_the_stop_until_the_threads_go_on() {
        let mut all = Collections::default();
        for (time, phase) in [
            (10, Phase::Stopping),
            (11, Phase::StoppingLocked),
            (15, Phase::Stopped),
            (16, Phase::Start),
            (36, Phase::End),
            (37, Phase::Resuming),
            (40, Phase::Resumed),
            (41, Phase::ResumedUnlocked),
            // And one without the threads' phases.
            (50, Phase::Start),
            (57, Phase::End),
            // An end without a start.
            (60, Phase::End),
        ] {
            all.phase(1, time, phase, 0);
        }
        let first = Collection {
            generation: 0,
            began: 10,
            work_ns: 20,
            stopping_ns: 5,
            pause_ns: 30,
        };
        let second = Collection {
            generation: 0,
            began: 50,
            work_ns: 7,
            stopping_ns: 0,
            pause_ns: 7,
        };
        assert_eq!(all.all, [first, second]);
    }
}
