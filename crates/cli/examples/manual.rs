//! The manual page and the shells' completions, made from the declaration of the command's options, so that they say what `--help` says.
//!
//! `cargo run -p vervet --example manual -- DIRECTORY` writes `vervet.1`, `vervet.bash`, `_vervet` (zsh) and `vervet.fish` into the directory.
use clap::CommandFactory;
use clap_complete::{Shell, generate_to};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::{Error, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vervet::options::Options;

/// What the command is called with in place of a program: the words, and what they do.
const COMMANDS: &[(&str, &str)] = &[
    (
        "vervet [options] program.exe [arguments]",
        "runs the program.",
    ),
    (
        "vervet run file.cs [more.cs | -r:x.dll] [-- arguments]",
        "compiles C# with mcs, keeps the result, and runs it.",
    ),
    (
        "vervet ref directory",
        "writes reference assemblies with the members that Vervet adds to the class library.",
    ),
    (
        "vervet cache [clear [--system]]",
        "shows or removes compiled code that is kept for the next run.",
    ),
    (
        "vervet aot [--system] [--profile=FILE] assembly...",
        "compiles assemblies ahead, for the user or for everybody.",
    ),
    (
        "vervet report [options] recording",
        "says what a recording of the log profiler says, in text, pictures and other tools' formats.",
    ),
    (
        "vervet top [options] process",
        "shows what a running program does.",
    ),
];

const FILES: &[(&str, &str)] = &[
    (
        "/usr/lib/mono",
        "the class libraries and the global assembly cache.",
    ),
    (
        "/etc/mono/config, ~/.mono/config",
        "which native libraries names stand for.",
    ),
    (
        "~/.cache/vervet/code",
        "compiled code that is kept for the user.",
    ),
    (
        "/var/cache/vervet/code",
        "compiled code that is kept for everybody.",
    ),
];

const STATUS: &[(&str, &str)] = &[
    ("the program's own", "if the program ran to its end."),
    (
        "1",
        "an exception that nobody caught, or options that are not understood.",
    ),
    (
        "2",
        "the program's file cannot be opened or is no assembly.",
    ),
    (
        "70",
        "an internal error of Vervet; the error stream says what and where.",
    ),
];

fn section(out: &mut Roff, heading: &str, rows: &[(&str, &str)]) {
    out.control("SH", [heading]);
    for (name, text) in rows {
        out.control("TP", []);
        out.text([bold(*name)]);
        out.text([roman(*text)]);
    }
}

fn manual(directory: &Path) -> Result<(), Error> {
    let command = Options::command().version(env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).section("1").manual("Vervet");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let mut commands = Roff::new();
    section(&mut commands, "SYNOPSIS", COMMANDS);
    commands.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut rest = Roff::new();
    section(&mut rest, "EXIT STATUS", STATUS);
    section(&mut rest, "FILES", FILES);
    rest.control("SH", ["SEE ALSO"]);
    rest.text([
        bold("mcs"),
        roman("(1), "),
        bold("mono"),
        roman("(1), /usr/share/doc/vervet-doc"),
    ]);
    rest.to_writer(&mut page)?;
    std::fs::write(directory.join("vervet.1"), page)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut command.clone(), "vervet", directory)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("Usage: manual DIRECTORY");
        return ExitCode::from(2);
    };
    match manual(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be said where the error stream cannot be written.
            let _ = writeln!(std::io::stderr(), "{}: {error}", directory.display());
            ExitCode::FAILURE
        }
    }
}
