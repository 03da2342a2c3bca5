//! Callers and callees of methods: `vervet report --peek NAME`.
use super::Write;
use super::table::Table;
use crate::stacks::{Frame, ROOT};
use crate::units::percent;
use crate::{Error, Measure, Recording};
use rustc_hash::FxHashMap;

type Sums = FxHashMap<Frame, u64>;

/// Writes a block for each method whose name contains `name`.
pub(super) fn write(
    recording: &mut Recording,
    out: &mut dyn Write,
    name: &str,
    measure: Measure,
) -> Result<(), Error> {
    let weights = recording.weights(measure)?;
    let p = &recording.profile;
    let shares = p.stacks.by_frame(&weights);
    let subtrees = p.stacks.subtrees(&weights);
    let all = subtrees.first().copied().unwrap_or(0);
    let mut found: Vec<Frame> = shares
        .keys()
        .copied()
        .filter(|f| p.frames.full_name(*f).contains(name))
        .collect();
    if found.is_empty() {
        return Err(Error::NothingThere(format!(
            "no method in a stack has a name with '{name}' in it"
        )));
    }
    found.sort_by_key(|f| (std::cmp::Reverse(shares[f].all), *f));
    let (mut callers, mut callees): (FxHashMap<Frame, Sums>, FxHashMap<Frame, Sums>) =
        Default::default();
    for node in 1..p.stacks.len() as u32 {
        let weight = subtrees[node as usize];
        let parent = p.stacks.parent(node);
        if let (Some(inner), true) = (p.stacks.frame(node), weight > 0) {
            let outer = if parent == ROOT {
                Frame::MAX
            } else {
                p.stacks.frame(parent).unwrap_or(Frame::MAX)
            };
            let add = |sums: &mut Sums, frame| {
                let sum = sums.entry(frame).or_default();
                *sum = sum.saturating_add(weight);
            };
            add(callers.entry(inner).or_default(), outer);
            add(callees.entry(outer).or_default(), inner);
        }
    }
    let row = |frame: Frame, weight: u64, relation: &str| {
        let name = match frame {
            Frame::MAX => "[outermost]".to_owned(),
            frame => p.frames.full_name(frame),
        };
        [
            measure.text(weight),
            format!("{:.1} %", percent(weight, all)),
            format!("{relation}{name}"),
        ]
    };
    for frame in found.into_iter().take(10) {
        let mut table = Table::new(&[measure.word(), "", "method"]);
        for (other, weight) in largest(callers.get(&frame)) {
            table.row(row(other, weight, "    called by "));
        }
        let share = shares[&frame];
        let [weight, part, name] = row(frame, share.all, "");
        let own = format!(
            "(self {}, {:.1} %)",
            measure.text(share.own),
            percent(share.own, all)
        );
        table.row([weight, part, format!("{name} {own}")]);
        for (other, weight) in largest(callees.get(&frame)) {
            table.row(row(other, weight, "    calls "));
        }
        table.write(out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// The twelve largest.
fn largest(sums: Option<&Sums>) -> Vec<(Frame, u64)> {
    let mut sorted: Vec<_> = sums.into_iter().flatten().map(|(f, w)| (*f, *w)).collect();
    sorted.sort_by_key(|(frame, weight)| (std::cmp::Reverse(*weight), *frame));
    sorted.truncate(12);
    sorted
}
