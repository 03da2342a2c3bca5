//! Target `recording`: recordings of the log profiler, with the lengths of buffers made right, so that damage reaches the events.
//!
//! Oracles: reading ends; a recording with a whole header is read; one packed by gzip says the same; the weights of stacks are as many as
//! there are samples; every form can be written.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use std::io::Write;
use vervet_profile_report::summary::Wanted;
use vervet_profile_report::testing::{Buffer, header, repair, small};
use vervet_profile_report::{Filter, Measure, Recording, write};

pub(super) const RECORDING: Target = Target {
    name: "recording",
    about: "recordings of the profiler: reading ends, and what was read can be written in every form",
    run,
    generate,
    corpus: || Corpus::read("recording"),
    memory: 128 << 20,
    missing: || None,
};

/// Counts what is written, and sums up the last numbers of lines.
#[derive(Default)]
struct Sums {
    weight: u64,
    line: Vec<u8>,
}

impl Write for Sums {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        for byte in data {
            match byte {
                b'\n' => {
                    let text = String::from_utf8_lossy(&self.line).into_owned();
                    let weight = text.rsplit(' ').next().and_then(|w| w.parse::<u64>().ok());
                    let weight = weight.expect("a line ends with a weight");
                    self.weight = self.weight.saturating_add(weight);
                    self.line.clear();
                }
                byte => self.line.push(*byte),
            }
        }
        Ok(data.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(data: &[u8]) {
    one(data);
    let mut repaired = data.to_vec();
    repair(&mut repaired);
    one(&repaired);
}

fn one(data: &[u8]) {
    let Ok(mut recording) = Recording::read(data, &Filter::default()) else {
        return;
    };
    let summary = |recording: &mut Recording| {
        let mut out = Vec::new();
        let wanted = Wanted {
            rows: 8,
            verbose: false,
        };
        recording
            .summary(&mut out, &wanted)
            .expect("a vector takes everything");
        out
    };
    let said = summary(&mut recording);
    let mut again = Recording::read(data, &Filter::default()).expect("it was read before");
    assert!(summary(&mut again) == said, "two readings differ");
    let none = &mut std::io::sink();
    for (_, measure) in Measure::ALL {
        if !recording.has(measure) {
            continue;
        }
        let mut sums = Sums::default();
        write::collapsed(&mut recording, measure, &mut sums).expect("nothing fails");
        assert!(measure != Measure::Samples || sums.weight == recording.sample_count());
        write::flamegraph(&mut recording, measure, "title", none).expect("nothing fails");
        recording.peek(none, "", measure).ok();
    }
    write::html(&mut recording, "title", none).expect("nothing fails");
    if recording.default_measure().is_some() {
        write::speedscope(&mut recording, None, none).expect("nothing fails");
        write::pprof(&mut recording, None, none).expect("nothing fails");
    }
}

/// Bytes of events, and of what is in them.
const KINDS: &[u8] = &[
    0x00, 0x10, 0x11, 0x21, 0x31, 0x41, 0x61, 0x51, 0x71, 0x81, 0x91, 0xA1, 0xB1, 0x22, 0x42, 0x02,
    0x13, 0x23, 0x33, 0x43, 0x04, 0x84, 0x14, 0x05, 0x85, 0x06, 0x16, 0x26, 0x36, 0x46, 0x56, 0x07,
    0x17, 0x27, 0x37, 0x47, 0x18, 0x0A, 0x1A,
];

fn events(random: &mut Random) -> Vec<u8> {
    let mut buffer = Buffer::new(random.below(4) as u64);
    for _ in 0..random.below(60) {
        let time = match random.below(20) {
            0 => random.bits(),
            _ => random.below(1 << 30) as u64,
        };
        buffer.event(*random.of(KINDS), time);
        // Numbers, texts and lists as they may be wanted, mostly small, so that they refer to each other.
        for _ in 0..random.below(6) {
            match random.below(6) {
                0 => buffer.number(u64::from(random.number())),
                1 => buffer.byte(random.below(12) as u8),
                2 => {
                    buffer.text(random.of::<&str>(&["", "A:B (int)", "System.String", "<&\"';\n"]))
                }
                3 => {
                    let frames: Vec<u64> = (0..random.below(6))
                        .map(|_| random.below(8) as u64)
                        .collect();
                    buffer.frames(&frames)
                }
                _ => buffer.pointer(random.below(16) as u64 * 8),
            };
        }
    }
    buffer.bytes()
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut data = match random.below(4) {
        0 if !corpus.inputs.is_empty() => random.of(&corpus.inputs).1.clone(),
        0 | 1 => small(),
        _ => {
            let mut data = header(random.of::<&str>(&[
                "log:sample",
                "log:sample=0",
                "log:calls,sample-real=x9",
                "",
            ]));
            (0..random.below(4)).for_each(|_| data.extend(events(random)));
            data
        }
    };
    if !random.once_in(6) {
        // The header is mostly left alone: without it nothing is read.
        let start = if random.once_in(10) {
            0
        } else {
            60.min(data.len())
        };
        let mut tail = data.split_off(start);
        if !tail.is_empty() {
            mutate::bytes(&mut tail, random);
        }
        data.extend(tail);
    }
    data
}
