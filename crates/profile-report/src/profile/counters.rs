//! Counters: what they are, and how their values went.
//!
//! # Invariants
//! Whole numbers are written as differences, but those of performance counters and floating-point numbers as they are.
use crate::event::{CounterName, Value};
use rustc_hash::FxHashMap;

/// A counter.
pub(crate) struct Counter {
    pub section: String,
    pub name: String,
    pub unit: u64,
    pub value: Reading,
    /// Time, value; the last [`POINTS`] changes.
    pub history: Vec<(u64, f64)>,
    is_absolute: bool,
}

/// The value of a counter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reading {
    None,
    Whole(i128),
    Double(f64),
    Text(String),
}

/// How many changes of a counter are kept; then every second one is dropped.
const POINTS: usize = 4096;
const PERFORMANCE: u64 = 1 << 15;

/// All counters.
#[derive(Default)]
pub(crate) struct Counters {
    pub all: Vec<Counter>,
    by_index: FxHashMap<u64, usize>,
}

impl Counters {
    /// A counter is described. The first description of an index counts.
    pub(crate) fn describe(&mut self, counter: &CounterName<'_>) {
        if self.by_index.contains_key(&counter.index) {
            return;
        }
        let section = match &counter.category {
            Some(category) => category.clone().into_owned(),
            None => section(counter.section),
        };
        self.by_index.insert(counter.index, self.all.len());
        self.all.push(Counter {
            section,
            name: counter.name.clone().into_owned(),
            unit: counter.unit,
            value: Reading::None,
            history: Vec::new(),
            is_absolute: counter.section == PERFORMANCE,
        });
    }

    /// A counter has another value.
    pub(crate) fn change(&mut self, time: u64, index: u64, value: &Value<'_>) {
        let Some(counter) = self.by_index.get(&index).map(|n| &mut self.all[*n]) else {
            return;
        };
        counter.value = match (value, &counter.value) {
            (Value::Whole(n), Reading::Whole(before)) if !counter.is_absolute => {
                Reading::Whole(before.saturating_add(*n))
            }
            (Value::Whole(n), _) => Reading::Whole(*n),
            (Value::Double(n), _) => Reading::Double(*n),
            (Value::Text(text), _) => Reading::Text(text.as_deref().unwrap_or("").to_owned()),
        };
        let number = match &counter.value {
            Reading::Whole(n) => *n as f64,
            Reading::Double(n) => *n,
            Reading::None | Reading::Text(_) => return,
        };
        counter.history.push((time, number));
        if counter.history.len() > POINTS {
            let mut at = 0;
            counter.history.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }
}

impl Counter {
    /// The value with its unit.
    pub(crate) fn text(&self) -> String {
        let number = match &self.value {
            Reading::None => return "-".into(),
            Reading::Text(text) => return text.clone(),
            Reading::Whole(n) => *n as f64,
            Reading::Double(n) => *n,
        };
        match (self.unit >> 24, &self.value) {
            (1, _) => crate::units::bytes(number.clamp(0.0, u64::MAX as f64) as u64),
            // In steps of 100 ns.
            (2, _) => crate::units::time((number * 100.0).clamp(0.0, u64::MAX as f64) as u64),
            (4, _) => format!("{number:.1} %"),
            (_, Reading::Double(n)) => format!("{n:.2}"),
            _ => crate::units::count(number.clamp(i64::MIN as f64, i64::MAX as f64) as i64),
        }
    }

    /// Is there anything to see?
    pub(crate) fn is_zero(&self) -> bool {
        match &self.value {
            Reading::None => true,
            Reading::Whole(n) => *n == 0,
            Reading::Double(n) => *n == 0.0,
            Reading::Text(text) => text.is_empty(),
        }
    }
}

fn section(number: u64) -> String {
    let name = match number.trailing_zeros() {
        8 => "JIT",
        9 => "collector",
        10 => "metadata",
        11 => "generics",
        12 => "security",
        13 => "runtime",
        14 => "system",
        16 => "profiler",
        17 => "interpreter",
        _ => return format!("section {number:#x}"),
    };
    name.into()
}
