//! `docs/options.md` names exactly the options that the command takes: those that `--help` prints, the words of `--gc` and
//! `--gc-debug`, and the options of mono that are accepted and ignored.
use std::collections::BTreeSet;
use std::process::Command;

/// What the command prints when it is called with `arguments`, on both streams.
fn says(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_vervet"))
        .args(arguments)
        .env_remove("MONO_ENV_OPTIONS")
        .env_remove("MONO_GC_PARAMS")
        .output()
        .expect("the command starts");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("the command prints UTF-8")
}

/// The names in the first column of the table below a heading, up to `=`, `[` or a space.
fn documented(heading: &str) -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/options.md");
    let text = std::fs::read_to_string(path).expect("docs/options.md");
    let section = text
        .split_once(&format!("## {heading}\n"))
        .unwrap_or_else(|| panic!("docs/options.md has no heading '{heading}'"))
        .1;
    let section = section.split("\n## ").next().unwrap_or(section);
    let mut found = BTreeSet::new();
    for row in section.lines().filter(|l| l.starts_with("| `")) {
        let cell = row.split(" | ").next().unwrap_or("");
        for span in cell.split('`').skip(1).step_by(2) {
            let end = span.find(['=', '[', ' ']).unwrap_or(span.len());
            found.insert(span[..end].to_owned());
        }
    }
    found
}

/// The words behind `is none of` in the error about a word that nobody knows.
fn listed(option: &str) -> BTreeSet<String> {
    let text = says(&[&format!("{option}=neverheardof"), "x.exe"]);
    let list = text
        .split_once("is none of ")
        .unwrap_or_else(|| panic!("{option} accepts anything: {text}"))
        .1;
    list.split(", ")
        .map(|w| w.trim().split(['=', '[']).next().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn options_are_those_of_help() {
    options_are_documented(&["--help"], "Options");
    options_are_documented(&["report", "--help"], "Reporting: `vervet report`");
    options_are_documented(
        &["top", "--help"],
        "Looking at a running program: `vervet top`",
    );
    options_are_documented(
        &["profile", "--help"],
        "Recording a running program: `vervet profile`",
    );
}

fn options_are_documented(arguments: &[&str], heading: &str) {
    let help = says(arguments);
    let mut printed = BTreeSet::new();
    for line in help.lines().filter(|l| l.trim_start().starts_with('-')) {
        for word in line.split([' ', ',', '[', '=']) {
            if word.starts_with('-') {
                printed.insert(word.to_owned());
            } else if !word.is_empty() {
                break;
            }
        }
    }
    let documented: BTreeSet<String> = documented(heading);
    // Short forms that mono has stand beside their long ones in the document; help does not print all of them.
    let long = |all: &BTreeSet<String>| -> BTreeSet<String> {
        all.iter()
            .filter(|o| o.starts_with("--"))
            .cloned()
            .collect()
    };
    assert_eq!(long(&documented), long(&printed));
}

#[test]
fn words_of_the_collector_are_those_it_takes() {
    let parameters = documented("Parameters of the collector: `--gc=LIST`");
    assert!(listed("--gc").is_subset(&parameters), "{parameters:?}");
    let words = documented("Debugging the collector: `--gc-debug=LIST`");
    assert_eq!(words, listed("--gc-debug"));
    // Every word that is documented is taken, alone or with a number.
    for (option, words) in [("--gc", parameters), ("--gc-debug", words)] {
        for word in words {
            let tries = [
                format!("{option}={word}"),
                format!("{option}={word}=4000000"),
            ];
            let taken = tries
                .iter()
                .any(|t| says(&[t, "there-is-no-such.exe"]).contains("Cannot open assembly"));
            assert!(taken, "{option}={word}");
        }
    }
}

#[test]
fn help_names_every_word_of_the_collector() {
    let help: String = says(&["--help"])
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for word in listed("--gc").into_iter().chain(listed("--gc-debug")) {
        assert!(help.contains(&word), "--help does not name {word}");
    }
}

#[test]
fn ignored_options_are_listed() {
    let documented = documented("Options of mono without effect");
    let ignored: BTreeSet<String> = vervet::options::IGNORED
        .iter()
        .map(|o| o.trim_end_matches('=').to_owned())
        .collect();
    assert_eq!(documented, ignored);
}
