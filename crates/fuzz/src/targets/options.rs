//! Target `options`: command lines, `--gc`, `--gc-debug` and MONO_GC_PARAMS.
//!
//! An input is words with NUL between them; the last one is also read as each of the lists. Oracles: what is wrong is said in
//! words; what follows the program reaches the program; a heap's configuration is one that a heap can be made with.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use clap::Parser;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use vervet::options::{Command, Options, mono_style};
use vervet_runtime::memory::gc::options::GcOptions;

pub(super) const OPTIONS: Target = Target {
    name: "options",
    about: "command lines and the collector's parameters: errors in words, sizes in bounds",
    run,
    generate,
    corpus: || Corpus::read("options"),
    // The parser of options is made anew each time.
    memory: 4 << 20,
    missing: || None,
};

fn lists(text: &str) {
    let mut gc = GcOptions::default();
    let wrong = [gc.parameters(text), gc.mono(text), gc.debug(text)];
    for text in wrong.iter().filter_map(|w| w.as_ref().err()) {
        assert!(text.len() > 10, "{text}");
    }
    let config = gc.config();
    assert!(
        (256 << 10..=1 << 30).contains(&config.nursery),
        "{config:?}"
    );
    assert_eq!(config.nursery % (64 << 10), 0);
    assert!(config.max_heap >= 8 << 20);
}

fn run(data: &[u8]) {
    let words: Vec<Vec<u8>> = data.split(|b| *b == 0).map(<[u8]>::to_vec).collect();
    if let Some(last) = words.last() {
        lists(&String::from_utf8_lossy(last));
    }
    let mut args = vec![OsString::from("vervet")];
    args.extend(words.into_iter().map(OsString::from_vec));
    let given = args.clone();
    let args = match mono_style(args) {
        Ok(args) => args,
        Err(text) => {
            assert!(
                text.starts_with("Unknown command line option: '-"),
                "{text}"
            );
            return;
        }
    };
    let options = match Options::try_parse_from(args) {
        Ok(options) => options,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return;
        }
    };
    assert!(
        given.ends_with(&options.rest),
        "{given:?}: {:?}",
        options.rest
    );
    match options.what() {
        Ok(Command::Program { path, args }) => {
            assert_eq!(path.as_os_str(), options.rest[0]);
            assert_eq!(args.len() + 1, options.rest.len());
        }
        Ok(Command::Source { files, .. }) => assert!(!files.is_empty()),
        Ok(Command::Regression { files }) => assert!(!files.is_empty()),
        Ok(Command::Reference { directory }) => {
            assert_eq!(directory.as_os_str(), options.rest[1]);
            assert_eq!(options.rest.len(), 2);
        }
        Ok(
            Command::Cache { .. }
            | Command::Report { .. }
            | Command::Top { .. }
            | Command::Profile { .. }
            | Command::Worker,
        ) => {}
        Ok(Command::Ahead(plan)) => assert!(!plan.assemblies.is_empty()),
        Err(text) => assert!(text.len() > 10, "{text}"),
    }
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "\0",
        "--gc=",
        "--gc-debug=",
        "--gc",
        "nursery-size=",
        "max-heap=",
        "max-heap-size=",
        "4m",
        "1g",
        "256k",
        "17179869183g",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "K",
        ",",
        "=",
        "verify",
        "collect-every=",
        "promote-in-place=",
        "--debug",
        "--config",
        "--optimize=",
        "-O=all",
        "-O",
        "--runtime=v4.0.30319",
        "--trace",
        "--trace=",
        "--version",
        "--version=number",
        "-V",
        "-h",
        "--",
        "-",
        "run",
        "a.cs",
        "--regression",
        "--aot",
        "--server",
        "--profile=log",
        "program.exe",
        "--verbose-jit=",
    ];
    let mut data = if corpus.inputs.is_empty() {
        Vec::new()
    } else {
        random.of(&corpus.inputs).1.clone()
    };
    mutate::text(&mut data, WORDS, random);
    data
}
