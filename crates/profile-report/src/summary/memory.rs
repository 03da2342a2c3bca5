//! The sections about memory: allocations, collections, heapshots.
use super::table::Table;
use super::{Result, Wanted, Write};
use crate::Recording;
use crate::profile::Tally;
use crate::profile::collections::Pause;
use crate::units::{bytes, count, percent, time};
use rustc_hash::FxHashMap;

impl Recording {
    pub(super) fn allocations(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let p = &self.profile;
        if p.allocations.is_empty() {
            return Ok(());
        }
        let mut all = Tally::default();
        p.allocations.values().for_each(|t| all.merge(*t));
        let seconds = p.duration().max(1) as f64 / 1e9;
        writeln!(
            out,
            "\nAllocations: {} objects, {}, {} a second",
            count(all.count),
            bytes(all.sum),
            bytes((all.sum as f64 / seconds) as u64)
        )?;
        if let Some(period) = p.allocation_period {
            writeln!(
                out,
                "Estimated from {} of them: one about every {} was recorded",
                count(p.allocation_samples),
                bytes(period)
            )?;
        }
        let mut table = Table::new(&["bytes", "", "objects", "average", "class"]);
        let classes = p.by_class(p.allocations.iter().map(|((_, vtable), t)| (*vtable, *t)));
        for (class, tally) in classes.into_iter().take(wanted.rows()) {
            table.row([
                count(tally.sum),
                format!("{:.1} %", percent(tally.sum, all.sum)),
                count(tally.count),
                count(tally.sum / tally.count.max(1)),
                class,
            ]);
        }
        table.write(out)?;
        let mut table = Table::new(&["bytes", "", "objects", "where"]);
        let sites = p.allocations.iter().map(|((node, _), t)| (*node, *t));
        for (place, tally) in self.by_place(sites, 2).into_iter().take(wanted.rows()) {
            let share = format!("{:.1} %", percent(tally.sum, all.sum));
            table.row([count(tally.sum), share, count(tally.count), place]);
        }
        table.write(out)
    }

    pub(super) fn collections(&self, out: &mut dyn Write) -> Result<()> {
        let c = &self.profile.collections;
        if c.starts.is_empty() && c.resizes == 0 && c.finalizers == 0 {
            return Ok(());
        }
        let all = Spread::of(c.pauses.iter().map(|p| p.pause_ns));
        writeln!(
            out,
            "\nCollections: {}; {} pauses, {} in all ({:.1} % of the time)",
            count(c.starts.values().sum::<u64>()),
            count(c.pauses.len() as u64),
            time(all.sum),
            percent(all.sum, self.profile.duration())
        )?;
        let mut table = Table::new(&[
            "collections",
            "from start to end",
            "pauses",
            "in all",
            "half of them",
            "99 of 100",
            "longest",
            "stopping",
            "generation",
        ]);
        let mut generations: Vec<u8> = c
            .starts
            .keys()
            .copied()
            .chain(c.pauses.iter().map(|p| p.generation))
            .collect();
        generations.sort_unstable();
        generations.dedup();
        for generation in generations {
            let pauses = Spread::of(c.of(generation).map(|p| p.pause_ns));
            table.row([
                count(c.starts.get(&generation).copied().unwrap_or(0)),
                time(c.took.get(&generation).map_or(0, |t| t.sum)),
                count(pauses.sorted.len() as u64),
                time(pauses.sum),
                format!("<= {}", time(pauses.quantile(0.5))),
                format!("<= {}", time(pauses.quantile(0.99))),
                time(pauses.quantile(1.0)),
                format!(
                    "<= {}",
                    time(c.of(generation).map(|p| p.stopping_ns).max().unwrap_or(0))
                ),
                match generation {
                    0 => "minor".into(),
                    1 => "major".into(),
                    other => other.to_string(),
                },
            ]);
        }
        table.write(out)?;
        if let Some(longest) = c.pauses.iter().max_by_key(|p| p.pause_ns) {
            writeln!(out, "  {}", self.longest(longest))?;
        }
        let most = c.heap.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        if c.resizes > 0 || c.moves > 0 {
            writeln!(
                out,
                "  The heap had at most {} ({} changes of its size); {} objects moved",
                bytes(most),
                count(c.resizes),
                count(c.moves)
            )?;
        }
        if c.finalizers > 0 {
            writeln!(
                out,
                "  {} finalizers ran, for {}",
                count(c.finalizers),
                time(c.finalizers_ns)
            )?;
        }
        Ok(())
    }

    fn longest(&self, c: &Pause) -> String {
        format!(
            "The longest pause, {}, began at {:.3} s: the threads stood after {}, and for {}",
            time(c.pause_ns),
            self.profile.since_zero(c.began) as f64 / 1e9,
            time(c.stopping_ns),
            time(c.work_ns)
        )
    }

    pub(super) fn heapshots(&self, out: &mut dyn Write, wanted: &Wanted) -> Result<()> {
        let p = &self.profile;
        let mut before: FxHashMap<String, Tally> = FxHashMap::default();
        for (number, shot) in p.shots.iter().enumerate() {
            writeln!(
                out,
                "\nHeapshot {} at {:.3} s: {} objects, {}, {} references, {} roots",
                number + 1,
                p.since_zero(shot.time) as f64 / 1e9,
                count(shot.objects.count),
                bytes(shot.objects.sum),
                count(shot.references),
                count(shot.roots)
            )?;
            let classes = p.by_class(shot.classes.iter().map(|(vtable, t)| (*vtable, *t)));
            let mut table = match number {
                0 => Table::new(&["bytes", "", "objects", "class"]),
                _ => Table::new(&[
                    "bytes",
                    "",
                    "more bytes",
                    "objects",
                    "more objects",
                    "class",
                ]),
            };
            for (class, tally) in classes.iter().take(wanted.rows()) {
                let old = before.get(class).copied().unwrap_or_default();
                let more = |now: u64, then: u64| {
                    let n = i128::from(now) - i128::from(then);
                    format!("{}{}", if n > 0 { "+" } else { "" }, count(n))
                };
                let share = format!("{:.1} %", percent(tally.sum, shot.objects.sum));
                let (size, number_of, name) = (count(tally.sum), count(tally.count), class.clone());
                match number {
                    0 => table.row([size, share, number_of, name]),
                    _ => table.row([
                        size,
                        share,
                        more(tally.sum, old.sum),
                        number_of,
                        more(tally.count, old.count),
                        name,
                    ]),
                }
            }
            table.write(out)?;
            before = classes.into_iter().collect();
        }
        Ok(())
    }
}

/// Durations, sorted.
struct Spread {
    sorted: Vec<u64>,
    sum: u64,
}

impl Spread {
    fn of(all: impl Iterator<Item = u64>) -> Spread {
        let mut sorted: Vec<u64> = all.collect();
        sorted.sort_unstable();
        let sum = sorted.iter().fold(0u64, |sum, n| sum.saturating_add(*n));
        Spread { sorted, sum }
    }

    /// The smallest duration that so large a part of all does not exceed; 0 of none.
    fn quantile(&self, part: f64) -> u64 {
        let rank = (part * self.sorted.len() as f64).ceil() as usize;
        self.sorted
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_durations() {
        let spread = Spread::of([30, 10, 20, 40].into_iter());
        assert_eq!([0.5, 0.99, 1.0].map(|q| spread.quantile(q)), [20, 40, 40]);
        assert_eq!(Spread::of(std::iter::empty()).quantile(0.5), 0);
    }
}
