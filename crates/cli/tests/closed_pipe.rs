//! What the command does if nobody reads what it prints.
use std::process::{Command, Stdio};

#[test]
fn version_into_a_closed_pipe_is_no_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut child = Command::new(env!("CARGO_BIN_EXE_vervet"));
    child.arg("--version").stdout(writer).stderr(Stdio::piped());
    let output = child.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}
