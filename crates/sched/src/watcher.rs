//! The watcher's policy: when a thread is preempted, a processor retaken, a slot flushed. A pure function of what is seen and what was seen before.
//!
//! | seen | for | done |
//! |---|---|---|
//! | a processor runs one slice while others wait | 10 ms | the thread is asked to let others run, and again every 10 ms |
//! | a carrier with a processor is in one native call, and there is work for the processor, or no other is idle | 1 ms | the processor is retaken |
//! | the same, in a call that computes | 10 ms | the processor is retaken |
//! | a thread lies in a slot while a processor is idle and nobody searches | 1 ms | it is moved to the injector |
//! | a thread lies in a queue while a processor is idle and nobody searches | | a carrier is woken |
//! | a processor is idle, nobody polls, and threads wait for descriptors or deadlines | | a carrier is woken, which then polls |
//! | all are busy, threads wait for descriptors, and nobody has polled in this tick or the last | | the watcher polls |
//! | a timer is due whose processor is idle, in a native call, or has not come to it within a tick | | the watcher unparks the thread |
//! | all processors are idle | 20 ms | the watcher sleeps until a carrier runs |
//!
//! # Invariants
//! * Times begin when the watcher first sees a state, and it looks each millisecond. So what is to be done after `t` is done within `t` and two
//!   milliseconds, if the system gives the watcher its turn.
//! * A state that has changed and come back between two looks is another one: slices and native calls have numbers.
//! * A slice goes on in short native calls: a thread that does little but make them is preempted like any other.
use crate::owner::NativeCall;
use crate::timers::TICK;

/// How long a thread runs while others wait, in nanoseconds.
pub const SLICE: u64 = 10_000_000;
/// How long a carrier in a native call keeps its processor, in nanoseconds.
pub const NATIVE: u64 = 1_000_000;
/// How long the watcher watches idle processors before it sleeps, in nanoseconds.
pub const QUIET: u64 = 20_000_000;

/// Who holds a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    Nobody,
    /// That carrier, which runs threads.
    Running(u32),
    Native(NativeCall),
}
impl Holder {
    /// The carrier that holds it, be it in a native call.
    pub(crate) fn carrier(self) -> Option<u32> {
        match self {
            Holder::Nobody => None,
            Holder::Running(carrier) => Some(carrier),
            Holder::Native(call) => Some(call.carrier()),
        }
    }
}

/// A processor at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) holder: Holder,
    pub(crate) slice: u32,
    /// The thread that runs, or 0.
    pub(crate) current: u32,
    /// The thread in the slot, or 0.
    pub(crate) slot: u32,
    /// Are there threads in its queue?
    pub(crate) queued: bool,
    /// How many ticks ago a timer of its wheel became due, counting the tick itself; 0: none is due.
    pub(crate) due: u64,
}

/// Everything else, at the same moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overview {
    /// Nanoseconds.
    pub(crate) now: u64,
    /// Idle processors.
    pub(crate) idle: u32,
    /// Searching carriers.
    pub(crate) searching: u32,
    /// Does a carrier wait for descriptors and deadlines?
    pub(crate) polled: bool,
    /// Are there threads in the injector?
    pub(crate) injected: bool,
    /// May there be threads that wait for descriptors?
    pub(crate) waiters: bool,
    /// Ticks since the last poll.
    pub(crate) unpolled: u64,
}

/// What is to be done, to a processor or at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Preempt(u32),
    Retake(u32),
    FlushSlot(u32),
    Expire(u32),
    Poll,
    Wake,
}

/// How long the watcher sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// So many nanoseconds.
    For(u64),
    /// Until a carrier takes a processor.
    UntilActive,
    /// For ever: the scheduler has stopped.
    End,
}

/// Something that was seen, and when it was first seen.
#[derive(Clone, Copy, Debug)]
struct Since<T> {
    what: Option<T>,
    at: u64,
}

impl<T: PartialEq + Copy> Since<T> {
    const NEVER: Since<T> = Since { what: None, at: 0 };
    /// For how long the same has been seen, in nanoseconds; 0 for nothing.
    fn look(&mut self, what: Option<T>, now: u64) -> u64 {
        if self.what != what {
            *self = Since { what, at: now };
        }
        match what {
            None => 0,
            Some(_) => now - self.at,
        }
    }
}

/// What the watcher remembers of a processor.
#[derive(Clone, Debug)]
struct Seen {
    /// The carrier and its slice.
    slice: Since<(u32, u32)>,
    native: Since<NativeCall>,
    slot: Since<u32>,
    /// When the thread of this slice was asked to let others run.
    asked: Since<(u32, u32)>,
}

/// The memory of the watcher.
#[derive(Clone, Debug)]
pub struct Watcher {
    seen: Vec<Seen>,
    /// All processors are idle.
    quiet: Since<()>,
}

impl Watcher {
    /// One that has seen nothing yet.
    pub fn new(processors: usize) -> Watcher {
        let seen = Seen {
            slice: Since::NEVER,
            native: Since::NEVER,
            slot: Since::NEVER,
            asked: Since::NEVER,
        };
        Watcher {
            seen: vec![seen; processors],
            quiet: Since::NEVER,
        }
    }
    /// Looks at all processors: what is to be done, and how long the watcher may sleep after that.
    pub(crate) fn step(
        &mut self,
        all: &Overview,
        views: &[View],
        actions: &mut Vec<Action>,
    ) -> Pause {
        let free = all.idle > 0 && all.searching == 0;
        for (number, (view, seen)) in views.iter().zip(&mut self.seen).enumerate() {
            seen.step(number as u32, view, all, actions);
        }
        let queued = all.injected || views.iter().any(|v| v.queued);
        let unattended = !all.polled && all.waiters;
        if free && (queued || unattended) {
            actions.push(Action::Wake);
        } else if unattended && all.unpolled > 1 {
            actions.push(Action::Poll);
        }
        let idle = all.idle as usize == views.len() && actions.is_empty();
        if self.quiet.look(idle.then_some(()), all.now) >= QUIET {
            return Pause::UntilActive;
        }
        Pause::For(TICK)
    }
}

impl Seen {
    fn step(&mut self, number: u32, view: &View, all: &Overview, actions: &mut Vec<Action>) {
        let native = match view.holder {
            Holder::Native(call) => Some(call),
            Holder::Nobody | Holder::Running(_) => None,
        };
        let blocked = self.native.look(native, all.now);
        let keeps = match native {
            Some(call) if call.computes() => SLICE,
            _ => NATIVE,
        };
        // A long call is no running.
        let slice = (view.holder.carrier())
            .filter(|_| blocked < keeps)
            .map(|carrier| (carrier, view.slice));
        // Who waits for this processor. (Threads in another's queue are that one's: its own slice ends, too.)
        let others = view.queued || view.slot != 0 || all.injected;
        let ran = self.slice.look(slice, all.now);
        if ran >= SLICE && others {
            let asked = self.asked.what == slice && all.now - self.asked.at < SLICE;
            if !asked {
                self.asked = Since {
                    what: slice,
                    at: all.now,
                };
                actions.push(Action::Preempt(number));
            }
        }
        // Without an idle processor, what becomes ready next would find nobody.
        let needed = others || all.idle + all.searching == 0;
        let is_retaken = blocked >= keeps && needed;
        if is_retaken {
            actions.push(Action::Retake(number));
        }
        let runs = matches!(view.holder, Holder::Running(_));
        let slot = Some(view.slot).filter(|id| *id != 0);
        // (The same thread may have run and come back between two looks. Moving it then does no harm.)
        let waited = self.slot.look(slot, all.now);
        if waited >= TICK && all.idle > 0 && all.searching == 0 && !is_retaken {
            actions.push(Action::FlushSlot(number));
        }
        if view.due > 1 || view.due > 0 && !runs {
            actions.push(Action::Expire(number));
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::owner::OwnerWord;

    const QUIET_VIEW: View = View {
        holder: Holder::Nobody,
        slice: 0,
        current: 0,
        slot: 0,
        queued: false,
        due: 0,
    };
    /// A thread's 7th slice, while others wait in the queue.
    const BUSY_VIEW: View = View {
        holder: Holder::Running(1),
        slice: 7,
        current: 5,
        queued: true,
        ..QUIET_VIEW
    };
    fn overview(now_ms: u64) -> Overview {
        Overview {
            now: now_ms * 1_000_000,
            idle: 0,
            searching: 0,
            polled: true,
            injected: false,
            waiters: false,
            unpolled: 0,
        }
    }
    /// The actions of a step.
    fn step(watcher: &mut Watcher, all: Overview, view: View) -> Vec<Action> {
        let mut actions = Vec::new();
        watcher.step(&all, &[view], &mut actions);
        actions
    }

    #[test]
    fn a_slice_of_10_ms_ends_if_others_wait() {
        let mut watcher = Watcher::new(1);
        let view = BUSY_VIEW;
        for ms in 0..10 {
            assert_eq!(step(&mut watcher, overview(ms), view), []);
        }
        assert_eq!(step(&mut watcher, overview(10), view), [Action::Preempt(0)]);
        assert_eq!(step(&mut watcher, overview(11), view), []);
        assert_eq!(step(&mut watcher, overview(20), view), [Action::Preempt(0)]);
        let next = View { slice: 8, ..view };
        assert_eq!(step(&mut watcher, overview(30), next), []);
        let alone = View {
            queued: false,
            ..next
        };
        assert_eq!(step(&mut watcher, overview(50), alone), []);
        // As soon as somebody waits, it has run for long enough.
        assert_eq!(step(&mut watcher, overview(51), next), [Action::Preempt(0)]);
    }

    #[test]
    fn a_native_call_of_1_ms_loses_its_processor_if_that_is_needed() {
        let word = OwnerWord::new();
        let call = |n| View {
            holder: Holder::Native(word.enter_native(1, n)),
            slot: 3,
            ..QUIET_VIEW
        };
        let mut watcher = Watcher::new(1);
        assert_eq!(step(&mut watcher, overview(0), call(1)), []);
        assert_eq!(
            step(&mut watcher, overview(1), call(1)),
            [Action::Retake(0)]
        );
        // Another call each time is no long one.
        assert_eq!(step(&mut watcher, overview(2), call(2)), []);
        assert_eq!(step(&mut watcher, overview(3), call(3)), []);
        let unneeded = View { slot: 0, ..call(4) };
        let idle = |ms| Overview {
            idle: 1,
            ..overview(ms)
        };
        assert_eq!(step(&mut watcher, idle(4), unneeded), []);
        assert_eq!(step(&mut watcher, idle(9), unneeded), []);
        assert_eq!(
            step(&mut watcher, overview(10), unneeded),
            [Action::Retake(0)]
        );
    }

    #[test]
    fn a_call_that_computes_keeps_its_processor_for_a_slice() {
        let mut watcher = Watcher::new(1);
        let view = View {
            holder: Holder::Native(OwnerWord::new().enter_computing(1, 1)),
            ..BUSY_VIEW
        };
        for ms in 0..10 {
            assert_eq!(step(&mut watcher, overview(ms), view), []);
        }
        assert_eq!(step(&mut watcher, overview(10), view), [Action::Retake(0)]);
    }

    /// Each look may find such a thread in a call, or between two.
    #[test]
    fn a_slice_of_short_native_calls_ends_too() {
        let word = OwnerWord::new();
        let mut watcher = Watcher::new(1);
        let view = |ms: u64| View {
            holder: match ms % 3 {
                0 => Holder::Running(1),
                _ => Holder::Native(word.enter_native(1, ms)),
            },
            ..BUSY_VIEW
        };
        for ms in 0..10 {
            assert_eq!(step(&mut watcher, overview(ms), view(ms)), []);
        }
        let action = step(&mut watcher, overview(10), view(10));
        assert_eq!(action, [Action::Preempt(0)]);
    }

    #[test]
    fn a_thread_does_not_stay_in_a_slot_while_a_processor_is_idle() {
        let mut watcher = Watcher::new(1);
        let view = View {
            holder: Holder::Running(1),
            current: 5,
            slot: 6,
            ..QUIET_VIEW
        };
        let idle = |ms| Overview {
            idle: 1,
            ..overview(ms)
        };
        assert_eq!(step(&mut watcher, idle(0), view), []);
        assert_eq!(step(&mut watcher, idle(1), view), [Action::FlushSlot(0)]);
        let other = View { slot: 7, ..view };
        assert_eq!(step(&mut watcher, idle(2), other), []);
        // Nor behind a call that keeps the processor for longer.
        let call = OwnerWord::new().enter_computing(1, 1);
        let computing = View {
            holder: Holder::Native(call),
            ..other
        };
        let flushed = [Action::FlushSlot(0)];
        assert_eq!(step(&mut watcher, idle(3), computing), flushed);
        let other = View { slot: 8, ..view };
        assert_eq!(step(&mut watcher, overview(4), other), []);
    }

    /// The carrier of a busy processor has a tick's time to come to its timers.
    #[test]
    fn timers_that_nobody_comes_to_are_the_watchers() {
        let mut watcher = Watcher::new(1);
        let running = View {
            holder: Holder::Running(1),
            due: 1,
            ..QUIET_VIEW
        };
        assert_eq!(step(&mut watcher, overview(0), running), []);
        let late = View { due: 2, ..running };
        assert_eq!(step(&mut watcher, overview(1), late), [Action::Expire(0)]);
        let nobody = View {
            due: 1,
            ..QUIET_VIEW
        };
        assert_eq!(step(&mut watcher, overview(2), nobody), [Action::Expire(0)]);
    }

    /// With an idle processor a carrier is woken for it; if all are busy, the watcher does it itself.
    #[test]
    fn somebody_polls() {
        let mut watcher = Watcher::new(1);
        let view = View {
            holder: Holder::Running(1),
            ..QUIET_VIEW
        };
        let unpolled = |ticks, idle| Overview {
            polled: false,
            waiters: true,
            unpolled: ticks,
            idle,
            ..overview(0)
        };
        assert_eq!(step(&mut watcher, unpolled(1, 0), view), []);
        assert_eq!(step(&mut watcher, unpolled(2, 0), view), [Action::Poll]);
        assert_eq!(step(&mut watcher, unpolled(0, 1), view), [Action::Wake]);
    }

    /// Any use of a processor begins the 20 ms anew.
    #[test]
    fn it_sleeps_after_20_ms_without_anybody_running() {
        let mut watcher = Watcher::new(1);
        let idle = |ms| Overview {
            idle: 1,
            ..overview(ms)
        };
        let mut pause = |all, view| watcher.step(&all, &[view], &mut Vec::new());
        assert_eq!(pause(idle(0), QUIET_VIEW), Pause::For(TICK));
        assert_eq!(pause(idle(19), QUIET_VIEW), Pause::For(TICK));
        let running = View {
            holder: Holder::Running(1),
            ..QUIET_VIEW
        };
        assert_eq!(pause(overview(20), running), Pause::For(TICK));
        assert_eq!(pause(idle(21), QUIET_VIEW), Pause::For(TICK));
        assert_eq!(pause(idle(41), QUIET_VIEW), Pause::UntilActive);
    }
}
