//! The verifier: walks the whole heap and checks what the collector relies on.
//!
//! # Invariants
//! It changes nothing. What it finds wrong ends the process with a sentence that names the object and the field.
use crate::Heap;
use crate::conservative::{Cursor, each_young, object_at};
use crate::ephemerons::Row;
use crate::memory::List;
use crate::model::{Contents, Model, World};
use crate::space::{BLOCK, CARD, CLEAN, Kind};
use std::sync::atomic::Ordering::*;

impl<M: Model, W: World> Heap<M, W> {
    /// Checks every object, reference and card. The world is stopped and nobody collects.
    pub fn verify(&self, when: &str) {
        let space = &self.space;
        for b in 0..space.used() {
            match space.kind(b) {
                Kind::Old => {
                    let base = space.address(b);
                    let mut end = base;
                    let room = self.old.rooms.of(space, b);
                    for card in (base..base + BLOCK).step_by(CARD) {
                        let mut bits = space.live_starts(b, card);
                        while bits != 0 {
                            let o = card + 8 * bits.trailing_zeros() as usize;
                            bits &= bits - 1;
                            if o < end {
                                self.wrong(when, o, "begins inside the object before it");
                            }
                            end = o + self.check_object(when, o, true);
                            if room.is_some_and(|used| !used.covers(o - base, end - base)) {
                                self.wrong(when, o, "lies in what counts as a hole of its block");
                            }
                        }
                    }
                    if end > base + BLOCK {
                        self.wrong(when, end, "an object does not end inside its block");
                    }
                }
                Kind::Nursery => each_young::<M>(space, b, |o, _| {
                    self.check_object(when, o, false);
                }),
                Kind::Large => {
                    let at = space.address(b);
                    // SAFETY: the first word of a large object.
                    if unsafe { *(at as *const u64) } != 0 && self.is_listed(b) {
                        self.check_object(when, at, true);
                    }
                }
                Kind::Statics => self.each_static(b, |f| self.check_field(when, 0, f, true)),
                Kind::Survivors => self.wrong(
                    when,
                    space.address(b),
                    "lies in a block nobody has finished",
                ),
                // Taken: a thread in Native state may be making root memory.
                Kind::Free | Kind::LargeTail | Kind::Taken => {}
            }
        }
        self.world
            .roots(&mut |f| self.check_field(when, 0, f, false));
        self.world.strong_handles(false, &mut |o| {
            self.check_reference(when, 0, 0, o);
            (o, space.kind_at(o) == Kind::Nursery)
        });
    }
    fn is_listed(&self, block: usize) -> bool {
        self.large.heads.lock().as_slice().contains(&(block as u32))
    }
    fn check_object(&self, when: &str, object: usize, old: bool) -> usize {
        // SAFETY: an object found by its start bit or a walk.
        unsafe {
            let header = *(object as *const u64);
            if header & 1 != 0 || !M::is_plausible(header) {
                self.wrong(when, object, &format!("has the header {header:#x}"));
            }
            if !crate::descriptor::check::<M>(object, header) {
                self.wrong(when, object, "is not as its descriptor says");
            }
            match M::contents(header) {
                Contents::Plain => {}
                Contents::References => M::visit(object, header, 0, usize::MAX, |f| {
                    self.check_field(when, object, f, old)
                }),
                Contents::Ephemerons => Row::of::<M>(object).pairs().for_each(|pair| {
                    self.check_field(when, object, pair.key(), old);
                    self.check_field(when, object, pair.value(), old);
                }),
            }
            M::size(object, header)
        }
    }
    fn check_field(&self, when: &str, object: usize, field: usize, old: bool) {
        // SAFETY: the address of a reference field.
        let v = unsafe { *(field as *const usize) };
        self.check_reference(when, object, field, v);
        if old
            && self.space.kind_at(v) == Kind::Nursery
            && self.space.block_of(field).is_some()
            && self.space.card(field).load(Relaxed) == CLEAN
            && !self.is_being_stored(v)
        {
            self.wrong(
                when,
                object,
                &format!(
                    "refers to the young {} from a clean card (field {field:#x})",
                    self.say(v)
                ),
            );
        }
    }
    fn check_reference(&self, when: &str, object: usize, field: usize, v: usize) {
        if v == 0 {
            return;
        }
        let right = v & 7 == 0 && object_at::<M>(&self.space, v, &mut Cursor::default()) == Some(v);
        if !right {
            self.wrong(
                when,
                object,
                &format!(
                    "refers to {v:#x} from field {field:#x}, where no object begins ({:?} block)",
                    self.space.kind_at(v)
                ),
            );
        }
    }
    /// May a thread have been stopped between storing this reference and marking the card? It then still holds the reference,
    /// with which it will mark the card; the object is pinned meanwhile.
    fn is_being_stored(&self, object: usize) -> bool {
        let mut found = false;
        self.world.mutators(&mut |m| {
            if m.interrupted {
                for &(from, to) in m.ranges {
                    for at in (from..to).step_by(8) {
                        // SAFETY: the world says these words are readable, and their threads are stopped.
                        found |= unsafe { vervet_os::memory::stack_word(at) } == object;
                    }
                }
            }
        });
        found
    }
    fn say(&self, object: usize) -> String {
        if object == 0 {
            return "a root".into();
        }
        // SAFETY: the callers found an object there.
        let header = unsafe { *(object as *const u64) };
        if M::is_plausible(header) {
            format!(
                "{} at {object:#x} ({:?} block)",
                M::name(header),
                self.space.kind_at(object)
            )
        } else {
            format!(
                "what is at {object:#x} ({:?} block)",
                self.space.kind_at(object)
            )
        }
    }
    fn wrong(&self, when: &str, object: usize, what: &str) -> ! {
        self.fail(&format!(
            "the heap is damaged, {when}: {} {what}",
            self.say(object)
        ))
    }

    /// Notes (header, bytes) of every object that is alive. The world is stopped, and everything is swept or marked; takes no
    /// memory but the list's.
    pub fn survey(&self, out: &mut List<(u64, usize)>) {
        let space = &self.space;
        let mut note = |o: usize| {
            // SAFETY: a live object.
            unsafe {
                let header = *(o as *const u64);
                out.push((header & 0xFFFF_FFFF, M::size(o, header)));
            }
        };
        for b in 0..space.used() {
            match space.kind(b) {
                Kind::Old => {
                    let base = space.address(b);
                    for card in (base..base + BLOCK).step_by(CARD) {
                        let mut bits = space.live_starts(b, card);
                        while bits != 0 {
                            note(card + 8 * bits.trailing_zeros() as usize);
                            bits &= bits - 1;
                        }
                    }
                }
                Kind::Nursery => each_young::<M>(space, b, |o, _| note(o)),
                Kind::Large if self.is_listed(b) => note(space.address(b)),
                _ => {}
            }
        }
    }
    /// What was alive, by class: (name, objects, bytes), the largest first. The world runs.
    pub fn by_class(survey: &List<(u64, usize)>) -> Vec<(String, usize, usize)> {
        let mut sums = std::collections::HashMap::<u64, (usize, usize)>::new();
        for &(header, bytes) in survey.as_slice() {
            let sum = sums.entry(header).or_default();
            sum.0 += 1;
            sum.1 += bytes;
        }
        let mut all: Vec<_> = sums
            .into_iter()
            .map(|(header, (n, bytes))| (M::name(header), n, bytes))
            .collect();
        all.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)));
        all
    }
    /// What is alive, by class.
    pub fn shot(&self) -> Vec<(String, usize, usize)> {
        let mut survey = match List::new(1 << 28) {
            Ok(list) => list,
            Err(_) => return Vec::new(),
        };
        self.world.stopped(&mut || {
            let mut stop = self.gate.stop();
            stop.shut();
            self.survey(&mut survey);
        });
        Self::by_class(&survey)
    }
    /// Prints what is alive, in one write.
    pub(crate) fn print_shot(&self) {
        use std::fmt::Write;
        let (mut text, mut objects, mut bytes) = (String::new(), 0, 0);
        for (name, n, size) in self.shot() {
            let _ = writeln!(text, "{size:>12} {n:>10}  {name}");
            (objects, bytes) = (objects + n, bytes + size);
        }
        let head = format!(
            "heap-shot: {objects} objects, {bytes} bytes\n       bytes    objects  class\n"
        );
        crate::events::say(&(head + &text));
    }
}
