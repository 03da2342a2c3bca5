//! `vervet report` as a command: standard input and output, files, exit codes, words for what is wrong.
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use vervet_profile_report::testing::small;

fn report(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_vervet"))
        .arg("report")
        .args(arguments)
        .env_remove("MONO_ENV_OPTIONS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().expect("the command ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_recording_is_read_from_standard_input_and_said_on_standard_output() {
    let (code, out, err) = report(&["-"], &small());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("Program:Work (int)"), "{out}");
    let (code, out, _) = report(&["-", "--collapsed", "-", "--value", "bytes"], &small());
    assert_eq!(code, Some(0));
    assert!(
        out.ends_with("System.InvalidOperationException 64\n"),
        "{out}"
    );
}

#[test]
fn what_was_cut_off_is_said_and_is_no_error() {
    let data = small();
    let (code, out, err) = report(&["-"], &data[..data.len() - 1]);
    assert_eq!(code, Some(0));
    assert!(out.contains("Samples: 10"), "{out}");
    assert!(
        err.starts_with("vervet report: The file ends within the buffer at byte "),
        "{err}"
    );
}

#[test]
fn what_is_wrong_is_said_in_words() {
    for (arguments, input, words) in [
        (
            &["-"][..],
            &b"no recording"[..],
            "this is no recording of the log profiler",
        ),
        (
            &["/nonexistent.mlpd"],
            b"",
            "/nonexistent.mlpd: No such file",
        ),
        (&["-", "--flame"], b"", "unexpected argument '--flame'"),
        (
            &["-", "--value", "cycles"],
            b"",
            "'cycles' is none of samples, calls,",
        ),
        (&["-", "--time", "3-1"], b"", "two moments in seconds"),
        (
            &["-", "--peek", "Nobody"],
            &small(),
            "no method in a stack has a name with 'Nobody'",
        ),
        (
            &["-", "--value", "calls", "--collapsed", "-"],
            &small(),
            "recorded with --profile=log:calls",
        ),
        (
            &["-", "--html", "/nonexistent/x.html"],
            &small(),
            "/nonexistent/x.html: No such file",
        ),
        (&[], b"", "Usage: vervet report"),
    ] {
        let (code, out, err) = report(arguments, input);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

#[test]
fn every_form_is_a_file_and_none_is_left_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (svg, html, json, pb, txt) = (
        path("x.svg"),
        path("x.html"),
        path("x.json"),
        path("x.pb.gz"),
        path("x.txt"),
    );
    let arguments = [
        "-",
        "--flamegraph",
        &svg,
        "--html",
        &html,
        "--speedscope",
        &json,
        "--pprof",
        &pb,
        "--collapsed",
        &txt,
    ];
    let (code, out, err) = report(&arguments, &small());
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));
    for (file, begins) in [
        (&svg, "<svg"),
        (&html, "<!DOCTYPE"),
        (&json, "{\"$schema"),
        (&txt, "Program:Main"),
    ] {
        let text = std::fs::read_to_string(file).expect(file);
        assert!(text.starts_with(begins), "{file}");
    }
    assert!(
        std::fs::read(&pb)
            .expect("the file of pprof")
            .starts_with(&[0x1F, 0x8B])
    );
    // There is nothing that a flame graph of calls could show: no file stays.
    let other = path("calls.svg");
    let (code, ..) = report(&["-", "--value", "calls", "--flamegraph", &other], &small());
    assert!(code == Some(1) && !Path::new(&other).exists());
}
