//! The format of `go tool pprof`: protocol buffers (profile.proto of the pprof project), packed by gzip.
//!
//! A profile has one value for each measure. `pprof -sample_index=alloc_space` and its menu choose among them; samples have the label
//! `thread`. The messages are few and flat, so their bytes are written here.
//!
//! # Invariants
//! Text 0 is empty; ids of functions and places begin at 1 and are equal.
use crate::stacks::Node;
use crate::{Error, Measure, Recording};
use flate2::{Compression, write::GzEncoder};
use rustc_hash::FxHashMap;
use std::io::Write;

/// Writes one measure, or all that the recording has.
pub fn pprof(
    recording: &mut Recording,
    measure: Option<Measure>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let bytes = message(recording, measure)?;
    let mut packed = GzEncoder::new(out, Compression::default());
    packed.write_all(&bytes)?;
    packed.finish()?;
    Ok(())
}

/// The names and units of the values of pprof that a measure has.
fn values(measure: Measure, has_time: bool) -> &'static [(&'static str, &'static str)] {
    match measure {
        Measure::Samples if has_time => &[("samples", "count"), ("time", "nanoseconds")],
        Measure::Samples => &[("samples", "count")],
        Measure::Calls => &[("calls", "nanoseconds")],
        Measure::Bytes => &[("alloc_space", "bytes")],
        Measure::Objects => &[("alloc_objects", "count")],
        Measure::Waits => &[("delay", "nanoseconds")],
        Measure::Throws => &[("throws", "count")],
    }
}

fn message(recording: &mut Recording, measure: Option<Measure>) -> Result<Vec<u8>, Error> {
    let (period, has_time) = (recording.period(), recording.has_time());
    let measures = recording.measures(measure)?;
    let columns: Vec<_> = measures.iter().flat_map(|m| values(*m, has_time)).collect();
    let mut rows: FxHashMap<(Node, Option<u32>), Vec<u64>> = FxHashMap::default();
    let mut column = 0;
    for measure in measures {
        let weights: Vec<_> = match measure {
            Measure::Samples => recording
                .profile
                .hits
                .iter()
                .map(|h| ((h.node, Some(h.thread)), [1, recording.time_of(h)]))
                .collect(),
            other => recording
                .weights(other)?
                .into_iter()
                .map(|(node, w)| ((node, None), [w, 0]))
                .collect(),
        };
        let count = values(measure, has_time).len();
        for (key, weights) in weights {
            let row = rows.entry(key).or_insert_with(|| vec![0; columns.len()]);
            for (sum, weight) in row[column..].iter_mut().zip(&weights[..count]) {
                *sum = sum.saturating_add(*weight);
            }
        }
        column += count;
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_unstable();

    let (mut out, mut texts) = (Proto::default(), Texts::default());
    for (name, unit) in &columns {
        out.message(1, &value_type(&mut texts, name, unit));
    }
    let mut functions: FxHashMap<u32, u64> = FxHashMap::default();
    let mut order = Vec::new();
    for ((node, thread), row) in rows {
        let mut sample = Proto::default();
        let places: Vec<u64> = recording
            .profile
            .stacks
            .frames(node)
            .map(|frame| {
                let next = functions.len() as u64 + 1;
                *functions.entry(frame).or_insert_with(|| {
                    order.push(frame);
                    next
                })
            })
            .collect();
        sample.packed(1, &places);
        sample.packed(2, &row);
        if let Some(thread) = thread {
            let mut label = Proto::default();
            label.number(1, texts.index("thread"));
            label.number(2, texts.index(&recording.profile.threads.label(thread)));
            sample.message(3, &label);
        }
        out.message(2, &sample);
    }
    for (at, frame) in order.into_iter().enumerate() {
        let id = at as u64 + 1;
        let (mut place, mut line, mut function) =
            (Proto::default(), Proto::default(), Proto::default());
        line.number(1, id);
        place.number(1, id);
        place.message(4, &line);
        out.message(4, &place);
        function.number(1, id);
        function.number(2, texts.index(&recording.profile.frames.short_name(frame)));
        function.number(3, texts.index(&recording.profile.frames.full_name(frame)));
        out.message(5, &function);
    }
    out.number(9, recording.header.start_ms.saturating_mul(1_000_000));
    out.number(10, recording.profile.duration());
    if period > 0 {
        out.message(11, &value_type(&mut texts, "time", "nanoseconds"));
        out.number(12, period);
    }
    let comment = texts.index(&format!("--profile={}", recording.header.arguments));
    out.packed(13, &[comment]);
    if let Some((name, ..)) = columns.first() {
        out.number(14, texts.index(name));
    }
    for text in &texts.all {
        out.bytes(6, text.as_bytes());
    }
    Ok(out.0)
}

fn value_type(texts: &mut Texts, name: &str, unit: &str) -> Proto {
    let mut value = Proto::default();
    value.number(1, texts.index(name));
    value.number(2, texts.index(unit));
    value
}

/// The table of texts.
struct Texts {
    all: Vec<String>,
    of: FxHashMap<String, u64>,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts {
            all: vec![String::new()],
            of: FxHashMap::from_iter([(String::new(), 0)]),
        }
    }
}

impl Texts {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(at) = self.of.get(text) {
            return *at;
        }
        self.all.push(text.to_owned());
        self.of.insert(text.to_owned(), self.all.len() as u64 - 1);
        self.all.len() as u64 - 1
    }
}

/// The bytes of a message.
#[derive(Default)]
struct Proto(Vec<u8>);

impl Proto {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }
    /// A number; 0 is what a reader assumes.
    fn number(&mut self, field: u64, n: u64) {
        if n != 0 {
            self.varint(field << 3);
            self.varint(n.min(i64::MAX as u64));
        }
    }
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
    fn message(&mut self, field: u64, message: &Proto) {
        self.bytes(field, &message.0);
    }
    fn packed(&mut self, field: u64, numbers: &[u64]) {
        let mut list = Proto::default();
        numbers
            .iter()
            .for_each(|n| list.varint((*n).min(i64::MAX as u64)));
        self.message(field, &list);
    }
}
