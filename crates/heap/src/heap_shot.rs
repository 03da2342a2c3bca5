//! The heap shot: what is alive, by class, as text for people.
//!
//! # Invariants
//! Objects are counted while the world is stopped, into a list of the collector's own. Names are looked up and text is made, which takes
//! malloc's memory, when the world runs again.
use crate::Heap;
use crate::memory::List;
use crate::model::{Model, World};

impl<M: Model, W: World> Heap<M, W> {
    /// Notes (header, bytes) of every object that is alive. The world is stopped, and everything is swept or marked; takes no
    /// memory but the list's.
    pub fn survey(&self, out: &mut List<(u64, usize)>) {
        for b in self.space.all_blocks() {
            // SAFETY: `each_object_of` finds live objects, which have their headers; the world is stopped.
            self.each_object_of(b, |o| unsafe {
                let header = *(o as *const u64);
                out.push((header & 0xFFFF_FFFF, M::size(o, header)));
            });
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
        crate::stats::write_stderr(&(head + &text));
    }
}
