//! What flame graphs and conversions show: one number for each stack.
use crate::profile::Hit;
use crate::stacks::Weights;
use crate::{Error, Recording, units};

/// Where hits of waits lie: a place for each kind of wait.
const WAITS: std::ops::Range<u64> = 0x1000..0x10_1000;
/// Microseconds of waiting that a hit stands for, unless the option says otherwise.
const DEFAULT_WAIT_US: u64 = 10_000;

/// What a stack weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Samples.
    Samples,
    /// Nanoseconds in calls that were recorded one by one.
    Calls,
    /// Bytes allocated; the class is the innermost frame.
    Bytes,
    /// Objects allocated, likewise.
    Objects,
    /// Nanoseconds of waits for monitors; the class of the monitor's object is the innermost frame, where it is known.
    Waits,
    /// Exceptions thrown; the exception's class is the innermost frame, where it is known.
    Throws,
}

impl Measure {
    /// All of them, with the words for the command line, in the order of preference.
    pub const ALL: [(&'static str, Measure); 6] = [
        ("samples", Measure::Samples),
        ("calls", Measure::Calls),
        ("bytes", Measure::Bytes),
        ("objects", Measure::Objects),
        ("waits", Measure::Waits),
        ("throws", Measure::Throws),
    ];

    /// The measure that a word of the command line names. `Err` is a sentence.
    pub fn from_word(word: &str) -> Result<Measure, String> {
        let found = Measure::ALL.iter().find(|(name, _)| *name == word);
        found.map(|(_, measure)| *measure).ok_or_else(|| {
            let words: Vec<&str> = Measure::ALL.iter().map(|(name, _)| *name).collect();
            format!("'{word}' is none of {}", words.join(", "))
        })
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        let found = Measure::ALL.iter().find(|(_, measure)| *measure == self);
        found.map_or("samples", |(word, _)| word)
    }

    /// A heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Measure::Samples => "Samples",
            Measure::Calls => "Time in calls",
            Measure::Bytes => "Allocated bytes",
            Measure::Objects => "Allocated objects",
            Measure::Waits => "Waits for monitors",
            Measure::Throws => "Exceptions thrown",
        }
    }

    /// The unit, as the formats of other tools name it.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Measure::Calls | Measure::Waits => "nanoseconds",
            Measure::Bytes => "bytes",
            Measure::Samples | Measure::Objects | Measure::Throws => "count",
        }
    }

    /// A weight for people.
    pub(crate) fn text(self, weight: u64) -> String {
        match self.unit() {
            "nanoseconds" => units::time(weight),
            "bytes" => units::bytes(weight),
            _ => units::count(weight),
        }
    }

    /// Which options of the profiler record it.
    fn needs(self) -> &'static str {
        match self {
            Measure::Samples => "sample or sample-real",
            Measure::Calls => "calls",
            Measure::Bytes | Measure::Objects => "alloc",
            Measure::Waits => "monitor",
            Measure::Throws => "exception",
        }
    }
}

impl Recording {
    /// The first measure of which the recording has anything.
    pub fn default_measure(&self) -> Option<Measure> {
        let all = Measure::ALL.iter().map(|(_, measure)| *measure);
        all.into_iter().find(|m| self.has(*m))
    }

    /// The measure that is wanted, or all that the recording has. `Err` if that is none.
    pub(crate) fn measures(&self, wanted: Option<Measure>) -> Result<Vec<Measure>, Error> {
        let all = Measure::ALL.iter().map(|(_, measure)| *measure);
        let there: Vec<Measure> = match wanted {
            Some(measure) => vec![measure],
            None => all.filter(|m| self.has(*m)).collect(),
        };
        match there.is_empty() {
            true => Err(Error::NothingThere(
                "the recording has no samples, calls, allocations, waits or exceptions".into(),
            )),
            false => Ok(there),
        }
    }

    /// Has the recording anything of a measure?
    pub fn has(&self, measure: Measure) -> bool {
        let profile = &self.profile;
        match measure {
            Measure::Samples => !profile.hits.is_empty(),
            Measure::Calls => profile.calls.total > 0,
            Measure::Bytes | Measure::Objects => !profile.allocations.is_empty(),
            Measure::Waits => !profile.waits.is_empty(),
            Measure::Throws => !profile.throws.is_empty(),
        }
    }

    /// The weights of stacks. `Err` if there are none.
    pub(crate) fn weights(&mut self, measure: Measure) -> Result<Weights, Error> {
        if !self.has(measure) {
            return Err(Error::NothingThere(format!(
                "the recording has no {}: they are recorded with --profile=log:{}",
                measure.title().to_lowercase(),
                measure.needs()
            )));
        }
        let profile = &mut self.profile;
        Ok(match measure {
            Measure::Samples => {
                let mut weights = Weights::default();
                for hit in &profile.hits {
                    *weights.entry(hit.node).or_default() += 1;
                }
                weights
            }
            Measure::Calls => profile.calls.own_ns.clone(),
            Measure::Bytes | Measure::Objects => {
                let sites = std::mem::take(&mut profile.allocations);
                let weights = profile.with_class(&sites, |t| match measure {
                    Measure::Bytes => t.sum,
                    _ => t.count,
                });
                profile.allocations = sites;
                weights
            }
            Measure::Waits => {
                let sites = std::mem::take(&mut profile.waits);
                let weights = profile.with_class(&sites, |t| t.sum.max(1));
                profile.waits = sites;
                weights
            }
            Measure::Throws => {
                let sites = std::mem::take(&mut profile.throws);
                let weights = profile.with_class(&sites, |n| *n);
                profile.throws = sites;
                weights
            }
        })
    }

    /// How many samples there are.
    pub fn sample_count(&self) -> u64 {
        self.profile.hits.len() as u64
    }

    /// Nanoseconds that a hit stands for; 0: the options that the header names do not say. Threads that run and waits are sampled at rates of their own.
    pub(crate) fn time_of(&self, hit: &Hit) -> u64 {
        match self.wait_period() {
            Some(period) if hit.address.is_some_and(|at| WAITS.contains(&at)) => period,
            _ => self.period(),
        }
    }
    /// Does a hit stand for a time?
    pub(crate) fn has_time(&self) -> bool {
        self.period() > 0 || self.wait_period().is_some()
    }
    /// Nanoseconds of waiting that a hit stands for, if waits are sampled.
    fn wait_period(&self) -> Option<u64> {
        let options = self.header.arguments.split([',', ':']);
        let mut us = options.filter_map(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            (name == "waits").then(|| value.parse().unwrap_or(DEFAULT_WAIT_US))
        });
        us.next_back().map(|us| us.saturating_mul(1000))
    }
    /// Nanoseconds between two samples of a thread, from the options that the header names; 0 if it has no samples.
    pub(crate) fn period(&self) -> u64 {
        let options = self.header.arguments.split([',', ':']);
        let rate = options.filter_map(|option| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let digits = value.trim_start_matches(|c: char| !c.is_ascii_digit());
            matches!(name, "sample" | "sample-real" | "sampling-real")
                .then(|| digits.parse().unwrap_or(100u64))
        });
        rate.fold(None, |_, rate| Some(rate))
            .filter(|r| *r > 0)
            .map_or(0, |r| 1_000_000_000 / r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_measures() {
        for (word, measure) in Measure::ALL {
            assert_eq!(Measure::from_word(word), Ok(measure));
            assert_eq!(measure.word(), word);
        }
        let said = Measure::from_word("cycles").unwrap_err();
        assert_eq!(
            said,
            "'cycles' is none of samples, calls, bytes, objects, waits, throws"
        );
    }
}
