//! The command against servers of a few lines.
#![forbid(unsafe_code)]
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output};

/// A server that answers every read with `answer`, until the test ends.
fn server(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            std::thread::spawn(move || {
                let mut request = [0; 1024];
                while matches!(stream.read(&mut request), Ok(1..)) {
                    if stream.write_all(answer).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

fn load(server: SocketAddr, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vervet-load"))
        .args([&server.to_string(), "--seconds=0.3", "--warm-up=0.1"])
        .args(["--expect=Hi", "--name=test"])
        .args(options)
        .output()
        .expect("the command")
}

const HI: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nHi";

/// The value of a figure in the output.
fn figure(output: &Output, name: &str) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|l| l.split(' ').next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in:\n{text}{errors}"));
    let value = line.split(' ').nth(1).expect("a value");
    value.parse().expect("a number")
}

#[test]
fn all_figures_are_printed_and_percentiles_are_in_order() {
    let output = load(server(HI), &["--connections=4", "--threads=2"]);
    assert!(figure(&output, "test-requests") > 10.0);
    let times = ["p50", "p90", "p95", "p99", "max"].map(|p| figure(&output, &format!("test-{p}")));
    let fewest = figure(&output, "test-fewest");
    assert!((0.0..=100.0).contains(&fewest), "{fewest}");
    assert!(times[0] > 0.0 && times.is_sorted(), "{times:?}");
    assert!(output.status.success());
}

#[test]
fn a_rate_is_kept() {
    let output = load(server(HI), &["--connections=4", "--rate=200"]);
    let rate = figure(&output, "test-requests");
    assert!((100.0..=300.0).contains(&rate), "{rate}");
}

#[test]
fn a_wrong_body_ends_the_run() {
    let output = load(
        server(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nNo"),
        &[],
    );
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the body is \"No\""));
}

#[test]
fn too_many_connections_are_an_error_that_names_the_limit() {
    let output = load(server(HI), &["--connections=2000000000"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("file descriptors"));
}
