//! The other forms: what is in them, and that they are what they say.
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use vervet_profile_report::testing::{Buffer, header, small};
use vervet_profile_report::{Error, Filter, Measure, Recording, write};

fn small_recording() -> Recording {
    Recording::read(small().as_slice(), &Filter::default()).expect("it is a recording")
}

fn text(form: impl Fn(&mut dyn std::io::Write) -> Result<(), Error>) -> String {
    let mut out = Vec::new();
    form(&mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

fn collapsed(measure: Measure) -> String {
    text(|out| write::collapsed(&mut small_recording(), measure, out))
}

#[test]
fn stacks_are_lines() {
    assert_eq!(
        collapsed(Measure::Samples),
        "Program:Main (string[]);Program:Work (int) 6\n\
         Program:Main (string[]);Program:Work (int);System.Text.StringBuilder:Append (string) 3\n\
         Program:Main (string[]);memset 1\n"
    );
    assert_eq!(
        collapsed(Measure::Bytes),
        "Program:Main (string[]);Program:Work (int);System.String 128\n\
         Program:Main (string[]);System.InvalidOperationException 64\n"
    );
    assert_eq!(
        collapsed(Measure::Waits),
        "Program:Main (string[]);Program:Work (int);(wrapper managed-to-native) System.Threading.Monitor:Enter (object);System.String 2000000\n"
    );
    assert_eq!(
        collapsed(Measure::Throws),
        "Program:Main (string[]);System.InvalidOperationException 1\n"
    );
}

#[test]
fn what_was_not_recorded_is_an_error_that_says_how_to_record_it() {
    let said = write::collapsed(&mut small_recording(), Measure::Calls, &mut Vec::new());
    let said = said.expect_err("no calls").to_string();
    assert_eq!(
        said,
        "the recording has no time in calls: they are recorded with --profile=log:calls"
    );
}

#[test]
fn a_flame_graph_is_a_picture_whose_frames_lie_on_their_callers() {
    let svg = text(|out| {
        write::flamegraph(
            &mut small_recording(),
            Measure::Samples,
            "a <title> & more",
            out,
        )
    });
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let number = |node: roxmltree::Node<'_, '_>, name| -> f64 {
        node.attribute(name)
            .and_then(|v| v.parse().ok())
            .unwrap_or_else(|| panic!("{name} of {node:?}"))
    };
    let frames: Vec<_> = document
        .descendants()
        .filter(|n| n.attribute("class") == Some("f"))
        .collect();
    let found: BTreeMap<&str, (f64, f64, f64)> = frames
        .iter()
        .map(|f| {
            (
                f.attribute("data-n").unwrap_or(""),
                (
                    number(*f, "data-d"),
                    number(*f, "data-x"),
                    number(*f, "data-w"),
                ),
            )
        })
        .collect();
    let wide = found["all (samples)"].2;
    assert!((wide - 1180.0).abs() < 0.01);
    for (name, depth, share) in [
        ("Program:Main", 1.0, 1.0),
        ("Program:Work", 2.0, 0.9),
        ("memset", 2.0, 0.1),
        ("System.Text.StringBuilder:Append", 3.0, 0.3),
    ] {
        let (d, _, w) = found[name];
        assert!(
            d == depth && (w - share * wide).abs() < 0.01,
            "{name}: {:?}",
            found[name]
        );
    }
    for (_, (depth, x, width)) in found.iter().filter(|(_, f)| f.0 > 0.0) {
        let below = found
            .values()
            .any(|(d, a, w)| *d == depth - 1.0 && *a <= x + 0.01 && a + w >= x + width - 0.01);
        assert!(below, "a frame stands on nothing: {found:?}");
    }
    assert!(svg.contains("a &lt;title&gt; &amp; more") && !svg.contains("http://www.w3.org/1999"));
}

#[test]
fn names_cannot_be_markup_and_deep_stacks_end() {
    let mut data = header("log:calls");
    let mut buffer = Buffer::new(1);
    buffer
        .event(0x43, 1)
        .method(1)
        .pointer(0)
        .number(0)
        .text("</script><script>alert(1)//\u{1}\"'&:M (]]>)");
    for n in 0..5_000 {
        buffer.event(0x23, 10 + n).method(1);
    }
    buffer.event(0x13, 1_000_000).method(1);
    data.extend(buffer.bytes());
    let read = || Recording::read(data.as_slice(), &Filter::default()).expect("it is a recording");
    let svg = text(|out| write::flamegraph(&mut read(), Measure::Calls, "deep", out));
    roxmltree::Document::parse(&svg).expect("well-formed XML");
    let html = text(|out| write::html(&mut read(), "</script>", out));
    assert_eq!(
        html.matches("</script>").count(),
        2,
        "the page has two scripts and nothing ends them early"
    );
    let lines = text(|out| write::collapsed(&mut read(), Measure::Calls, out));
    assert!(lines.lines().all(|l| l.matches(';').count() < 1024));
}

#[test]
fn speedscope_has_threads_and_the_other_measures() {
    let json = text(|out| write::speedscope(&mut small_recording(), None, out));
    for part in [
        r#""name":"Main","unit":"nanoseconds","startValue":0,"endValue":10000000,"weights":[6000000,3000000,1000000],"samples":[[1,0],[1,0,2],[1,3]]"#,
        r#""name":"Allocated bytes","unit":"bytes","startValue":0,"endValue":192"#,
        r#""name":"Waits for monitors","unit":"nanoseconds""#,
        r#"{"name":"Program:Main (string[])"}"#,
    ] {
        assert!(json.contains(part), "{part}\nis not in\n{json}");
    }
    let balance = |open, close| json.matches(open).count() == json.matches(close).count();
    assert!(balance('{', '}') && balance('[', ']'));
}

/// Fields of a message: number, and a number or bytes.
fn fields(mut data: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn varint(data: &mut &[u8]) -> u64 {
        let mut n = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = data.split_first().expect("a number ends");
            *data = rest;
            n |= u64::from(byte & 0x7F) << shift;
            if *byte < 0x80 {
                break;
            }
        }
        n
    }
    let mut out = Vec::new();
    while !data.is_empty() {
        let tag = varint(&mut data);
        let number = varint(&mut data);
        match tag & 7 {
            0 => out.push((tag >> 3, number, Vec::new())),
            2 => {
                let (bytes, rest) = data.split_at(number as usize);
                data = rest;
                out.push((tag >> 3, 0, bytes.to_vec()));
            }
            other => panic!("wire type {other}"),
        }
    }
    out
}

#[test]
fn pprof_has_a_value_for_each_measure() {
    let mut packed = Vec::new();
    write::pprof(&mut small_recording(), None, &mut packed).expect("a vector takes everything");
    let mut bytes = Vec::new();
    GzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .expect("gzip");
    let all = fields(&bytes);
    let texts: Vec<String> = all
        .iter()
        .filter(|f| f.0 == 6)
        .map(|f| String::from_utf8(f.2.clone()).expect("UTF-8"))
        .collect();
    assert_eq!(texts[0], "");
    let text = |n: u64| texts[n as usize].as_str();
    let types: Vec<&str> = all
        .iter()
        .filter(|f| f.0 == 1)
        .map(|f| text(fields(&f.2)[0].1))
        .collect();
    assert_eq!(
        types,
        [
            "samples",
            "time",
            "alloc_space",
            "alloc_objects",
            "delay",
            "throws"
        ]
    );
    let mut sums = vec![0; types.len()];
    let places = all.iter().filter(|f| f.0 == 4).count() as u64;
    for sample in all.iter().filter(|f| f.0 == 2) {
        let parts = fields(&sample.2);
        let numbers = |at: usize| {
            // A packed list is a row of numbers without tags: give each one.
            let tagged: Vec<u8> = parts[at]
                .2
                .split_inclusive(|b| *b < 0x80)
                .flat_map(|n| [&[8], n].concat())
                .collect();
            fields(&tagged)
                .into_iter()
                .map(|f| f.1)
                .collect::<Vec<u64>>()
        };
        assert!(numbers(0).iter().all(|id| (1..=places).contains(id)));
        for (sum, value) in sums.iter_mut().zip(numbers(1)) {
            *sum += value;
        }
    }
    assert_eq!(sums, [10, 10_000_000, 192, 5, 2_000_000, 1]);
    let functions: Vec<&str> = all
        .iter()
        .filter(|f| f.0 == 5)
        .map(|f| text(fields(&f.2)[1].1))
        .collect();
    assert!(functions.contains(&"Program:Work") && functions.len() as u64 == places);
}

/// Two threads' hits: one ran, one waited; each stands for the time of its own rate.
#[test]
fn a_wait_takes_the_time_that_its_rate_says() {
    let mut buffer = Buffer::new(9);
    for (at, address) in [(1_000_000, 0x40_0010), (2_000_000, 0x2000)] {
        let event = buffer.event(0x07, at);
        event.pointer(0x71).number(1).pointer(address).frames(&[]);
    }
    let mut data = header("log:sample=1000,waits=20000");
    data.extend(buffer.bytes());
    let mut recording = Recording::read(data.as_slice(), &Filter::default()).expect("it is one");
    let mut form = Vec::new();
    write::speedscope(&mut recording, None, &mut form).expect("a vector takes everything");
    let form = String::from_utf8(form).expect("UTF-8");
    let sum = "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":21000000";
    assert!(form.contains(sum), "{form}");
}
