//! What is read of whole, cut off and damaged recordings.
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::Path;
use vervet_profile_report::summary::Wanted;
use vervet_profile_report::testing::{Buffer, header, small};
use vervet_profile_report::{Error, Filter, Recording};

fn read(data: &[u8]) -> Result<Recording, Error> {
    Recording::read(data, &Filter::default())
}

fn summary(recording: &mut Recording) -> String {
    let mut out = Vec::new();
    recording
        .summary(
            &mut out,
            &Wanted {
                rows: 10,
                verbose: true,
            },
        )
        .expect("a vector takes everything");
    String::from_utf8(out).expect("the summary is UTF-8")
}

fn packed(data: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(data).expect("a vector takes everything");
    out.finish().expect("a vector takes everything")
}

/// Where the buffers of a recording begin, and its end.
fn bounds(data: &[u8]) -> Vec<usize> {
    let id = [0x01, 0x4C, 0x50, 0x4D];
    let starts = data
        .windows(4)
        .enumerate()
        .filter(|(_, w)| *w == id)
        .map(|(at, _)| at);
    starts.chain([data.len()]).collect()
}

#[test]
fn the_summary_is_the_expected_one() {
    let mut recording = read(&small()).expect("it is a recording");
    assert_eq!(recording.losses, [""; 0]);
    let said = summary(&mut recording);
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/small.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&expected, &said).expect("the expected summary is written");
    }
    let expected = std::fs::read_to_string(expected).expect("the expected summary");
    assert_eq!(said, expected, "BLESS=1 writes it anew");
}

#[test]
fn a_packed_recording_is_the_same() {
    let plain = summary(&mut read(&small()).expect("plain"));
    let unpacked = summary(&mut read(&packed(&small())).expect("packed"));
    assert_eq!(plain, unpacked);
}

#[test]
fn a_recording_cut_off_anywhere_is_read_up_to_its_last_whole_buffer() {
    let data = small();
    let bounds = bounds(&data);
    let whole: Vec<String> = bounds
        .iter()
        .map(|end| summary(&mut read(&data[..*end]).expect("whole buffers")))
        .collect();
    for end in 0..=data.len() {
        let buffers = bounds.iter().filter(|b| **b <= end).count();
        match read(&data[..end]) {
            Err(Error::NoRecording(_)) => assert_eq!(buffers, 0, "cut off at {end}"),
            Err(other) => panic!("cut off at {end}: {other}"),
            Ok(mut recording) => {
                let is_whole = bounds.contains(&end);
                assert_eq!(
                    recording.losses.is_empty(),
                    is_whole,
                    "cut off at {end}: {:?}",
                    recording.losses
                );
                assert_eq!(
                    summary(&mut recording),
                    whole[buffers - 1],
                    "cut off at {end}"
                );
            }
        }
    }
}

#[test]
fn a_packed_recording_cut_off_says_so() {
    let data = packed(&small());
    let mut sizes = Vec::new();
    for end in (20..data.len() - 1).step_by(7) {
        match read(&data[..end]) {
            Err(Error::NoRecording(why)) => {
                assert!(why.contains("header") || why.contains("empty"), "{why}")
            }
            Err(other) => panic!("{other}"),
            Ok(mut recording) => {
                assert!(!recording.losses.is_empty(), "cut off at {end}");
                sizes.push(summary(&mut recording).len());
            }
        }
    }
    assert!(
        sizes.iter().max() > sizes.iter().min(),
        "some are read further than others"
    );
}

#[test]
fn damage_in_a_buffer_costs_the_rest_of_that_buffer() {
    let mut data = header("log:alloc");
    let mut first = Buffer::new(1);
    first
        .event(0x10, 10)
        .pointer(1)
        .object(8)
        .number(100)
        .number(0);
    first.event(0xFE, 20).byte(0).byte(0);
    let mut second = Buffer::new(2);
    second.event(0x00, 30).pointer(1).object(16).number(11);
    data.extend(first.bytes());
    let at = data.len();
    data.extend(second.bytes());
    let mut recording = read(&data).expect("it is a recording");
    assert_eq!(recording.losses.len(), 1);
    let loss = recording.losses[0].clone();
    assert!(
        loss.contains("0xfe") && loss.contains("4 bytes of its buffer are lost"),
        "{loss}"
    );
    assert!(summary(&mut recording).contains("2 objects, 111 B"));

    // Where no buffer is, nothing more is read, and that is said.
    data[at] ^= 0xFF;
    let mut recording = read(&data).expect("it is a recording");
    assert!(
        recording.losses[1].contains(&format!("no buffer at byte {at}")),
        "{:?}",
        recording.losses
    );
    assert!(summary(&mut recording).contains("1 objects, 100 B"));
}

#[test]
fn what_is_no_recording_is_refused_in_words() {
    let mut version = small();
    version[6] = 18;
    let mut flags = small();
    flags[28] = 1;
    let mut pointer = small();
    pointer[7] = 3;
    for (data, word) in [
        (b"".as_slice(), "empty"),
        (
            b"MZ\x90\0 this is no recording but a program, and longer",
            "does not begin as one",
        ),
        (&version, "version 18"),
        (&flags, "flags 0x1"),
        (&pointer, "a pointer has 3 bytes"),
        (&small()[..30], "ends within the header"),
    ] {
        match read(data) {
            Err(Error::NoRecording(why)) => assert!(why.contains(word), "{why}"),
            other => panic!("{word}: {:?}", other.err()),
        }
    }
}

#[test]
fn a_buffer_that_claims_too_much_takes_no_memory() {
    let mut data = header("log");
    let mut buffer = Buffer::new(1).bytes();
    buffer[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    data.extend(buffer);
    let recording = read(&data).expect("it is a recording");
    assert!(
        recording.losses[0].contains("0 of its 4294967295 bytes"),
        "{:?}",
        recording.losses
    );
}

#[test]
fn a_filter_leaves_out_other_threads_and_times() {
    let with = |time, thread: Option<&str>| {
        let filter = Filter {
            time,
            thread: thread.map(str::to_owned),
        };
        summary(&mut Recording::read(small().as_slice(), &filter).expect("it is a recording"))
    };
    assert!(with(Some((0, 5_500_000)), None).contains("Samples: 2,"));
    assert!(with(None, Some("Mai")).contains("Samples: 10,"));
    assert!(!with(None, Some("nobody")).contains("Samples:"));
    assert!(!with(Some((0, 10)), None).contains("Allocations:"));
}

#[test]
fn a_method_is_shown_between_its_callers_and_callees() {
    let mut recording = read(&small()).expect("it is a recording");
    let mut out = Vec::new();
    let measure = recording.default_measure().expect("there are samples");
    recording
        .peek(&mut out, "Program:Work", measure)
        .expect("there is such a method");
    let said = String::from_utf8(out).expect("UTF-8");
    let lines: Vec<&str> = said.lines().map(|l| l.trim()).collect();
    let method = lines
        .iter()
        .position(|l| l.ends_with("Program:Work (int) (self 6, 60.0 %)"));
    let method = method.unwrap_or_else(|| panic!("{said}"));
    assert!(
        lines[method - 1].ends_with("90.0 %      called by Program:Main (string[])"),
        "{said}"
    );
    assert!(
        lines[method + 1].ends_with("30.0 %      calls System.Text.StringBuilder:Append (string)"),
        "{said}"
    );
    let nobody = recording.peek(&mut Vec::new(), "Nobody", measure);
    assert!(
        nobody
            .expect_err("no such method")
            .to_string()
            .contains("'Nobody'")
    );
}
