//! The format of speedscope.app: samples of each thread in the order of time, and one profile for each other measure.
//!
//! # Invariants
//! Equal stacks of a thread that follow each other are one entry, so a file grows with changes of stacks.
use super::json;
use crate::stacks::Node;
use crate::{Error, Measure, Recording};
use rustc_hash::FxHashMap;
use std::io::Write;

/// Writes one measure, or all that the recording has.
pub fn speedscope(
    recording: &mut Recording,
    measure: Option<Measure>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut profiles = Vec::new();
    for measure in recording.measures(measure)? {
        match measure {
            Measure::Samples => threads(recording, &mut profiles),
            other => profiles.push(sums(recording, other)?),
        }
    }
    let name = match recording.header.arguments.as_str() {
        "" => "recording",
        arguments => arguments,
    };
    write!(
        out,
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"vervet report\",\"name\":{},\"activeProfileIndex\":0,\"profiles\":[",
        json::text(name)
    )?;
    let mut frames = Names::default();
    for (at, profile) in profiles.iter().enumerate() {
        out.write_all(if at > 0 { b",\n" } else { b"\n" })?;
        profile.write(recording, &mut frames, out)?;
    }
    write!(out, "],\"shared\":{{\"frames\":[")?;
    for (at, name) in frames.names.iter().enumerate() {
        write!(
            out,
            "{}{{\"name\":{}}}",
            if at > 0 { ",\n" } else { "\n" },
            json::text(name)
        )?;
    }
    writeln!(out, "]}}}}")?;
    Ok(())
}

/// Names of frames, each once.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    of: FxHashMap<u32, usize>,
}

/// Stacks one after the other, and what they weigh.
struct Profile {
    name: String,
    unit: &'static str,
    entries: Vec<(Node, u64)>,
}

impl Profile {
    fn write(
        &self,
        recording: &Recording,
        frames: &mut Names,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let p = &recording.profile;
        let end = self
            .entries
            .iter()
            .fold(0u64, |sum, e| sum.saturating_add(e.1));
        write!(
            out,
            "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,\"endValue\":{end},\"weights\":[",
            json::text(&self.name),
            self.unit
        )?;
        for (at, (_, weight)) in self.entries.iter().enumerate() {
            write!(out, "{}{weight}", if at > 0 { "," } else { "" })?;
        }
        write!(out, "],\"samples\":[")?;
        for (at, (node, _)) in self.entries.iter().enumerate() {
            // From the outermost frame on.
            let mut numbers: Vec<String> = Vec::new();
            for frame in p.stacks.frames(*node) {
                let number = *frames.of.entry(frame).or_insert_with(|| {
                    frames.names.push(p.frames.full_name(frame));
                    frames.names.len() - 1
                });
                numbers.push(number.to_string());
            }
            numbers.reverse();
            write!(
                out,
                "{}{}",
                if at > 0 { "," } else { "" },
                json::list(numbers)
            )?;
        }
        write!(out, "]}}")?;
        Ok(())
    }
}

fn threads(recording: &Recording, profiles: &mut Vec<Profile>) {
    let p = &recording.profile;
    let unit = match recording.has_time() {
        false => "none",
        true => "nanoseconds",
    };
    let each = |hit| match recording.has_time() {
        false => 1,
        true => recording.time_of(hit),
    };
    let hits = p.hits.iter().map(|h| (h.thread, h.time, h.node, each(h)));
    let mut hits: Vec<_> = hits.collect();
    hits.sort_by_key(|h| (h.0, h.1));
    let first = profiles.len();
    let mut last = None;
    for (thread, _, node, each) in hits {
        if last != Some(thread) {
            last = Some(thread);
            profiles.push(Profile {
                name: p.threads.label(thread),
                unit,
                entries: Vec::new(),
            });
        }
        let Some(profile) = profiles.last_mut() else {
            continue;
        };
        match profile.entries.last_mut() {
            Some((before, weight)) if *before == node => *weight = weight.saturating_add(each),
            _ => profile.entries.push((node, each)),
        }
    }
    let weight = |p: &Profile| {
        p.entries
            .iter()
            .fold(0u64, |sum, e| sum.saturating_add(e.1))
    };
    profiles[first..].sort_by_key(|p| std::cmp::Reverse(weight(p)));
}

fn sums(recording: &mut Recording, measure: Measure) -> Result<Profile, Error> {
    let weights = recording.weights(measure)?;
    let mut entries: Vec<_> = weights
        .into_iter()
        .filter(|(_, weight)| *weight > 0)
        .collect();
    entries.sort_unstable();
    let unit = if measure.unit() == "count" {
        "none"
    } else {
        measure.unit()
    };
    Ok(Profile {
        name: measure.title().to_owned(),
        unit,
        entries,
    })
}
