//! Targets that run the whole runtime, a process for each case: `reflect`, `program` and `command`.
//!
//! * `reflect`: a whole program shows a mutated library by reflection and runs none of its code. It must end with code 0.
//! * `program`: a program is mutated where that cannot make its code unsafe: names, flags, constants, attributes, layouts,
//!   relations, but not signatures and not what a class derives from. It must end in an orderly way.
//! * `command`: options and environment variables; a program that runs at all must say what it always says.

use super::images::{Part, change_cell, target_of};
use crate::corpus::Corpus;
use crate::mutate;
use crate::process::{self, Programs, run as run_process};
use crate::random::Random;
use crate::target::Target;
use std::cell::OnceCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use vervet_metadata::Table;

pub(super) const REFLECT: Target = Target {
    name: "reflect",
    about: "a mutated library shown by reflection: a process that ends with 0",
    run: run_reflect,
    generate: generate_reflect,
    corpus: || Corpus::read("reflect"),
    memory: 64 << 20,
    missing: process::missing,
};

pub(super) const PROGRAM: Target = Target {
    name: "program",
    about: "a program with mutated names, flags, constants and relations: it ends in an orderly way",
    run: run_program,
    generate: generate_program,
    corpus: || Corpus::read("program"),
    memory: 64 << 20,
    missing: process::missing,
};

pub(super) const COMMAND: Target = Target {
    name: "command",
    about: "options and environment variables: an orderly end, and the usual output if there is one",
    run: run_command,
    generate: generate_command,
    corpus: || Corpus::read("command"),
    memory: 64 << 20,
    missing: process::missing,
};

thread_local! {
    static PROGRAMS: OnceCell<Option<Programs>> = const { OnceCell::new() };
}

fn with_programs<T>(work: impl FnOnce(&Programs) -> T) -> Option<T> {
    PROGRAMS.with(|p| p.get_or_init(Programs::new).as_ref().map(work))
}

fn run_reflect(data: &[u8]) {
    with_programs(|p| {
        p.write("mutated.dll", data);
        let ended = run_process(p.runtime().arg("reflect.exe").arg("mutated.dll"));
        ended.check_orderly();
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    });
}

fn generate_reflect(random: &mut Random, _: &Corpus) -> Vec<u8> {
    let mut data = with_programs(|p| p.bytes("shapes.dll")).unwrap_or_default();
    for _ in 0..=random.below(8) {
        let part = *random.of(&[Part::Cell, Part::Cell, Part::Blob, Part::Blob, Part::Name]);
        match target_of(&data, part, &|_, _| true, random) {
            Some((_, _, at)) if part == Part::Cell => change_cell(&mut data[at], random),
            Some((_, _, at)) => mutate::in_place(&mut data, (at.start, at.len()), random),
            None => {}
        }
    }
    data
}

fn run_program(data: &[u8]) {
    with_programs(|p| {
        p.write("mutated.exe", data);
        run_process(p.runtime().arg("mutated.exe")).check_orderly();
    });
}

/// Whether a cell can change without making code that was verifiable unsafe, given a runtime that checks what it loads.
fn is_safe(table: Table, column: usize) -> bool {
    match table {
        // Flags; and not what it derives from, where its members begin, or its name, by which others find it.
        Table::TypeDef => column == 0,
        Table::MethodDef => column == 1,
        Table::Param => column == 0,
        Table::Module
        | Table::InterfaceImpl
        | Table::Constant
        | Table::CustomAttribute
        | Table::FieldMarshal
        | Table::DeclSecurity
        | Table::ClassLayout
        | Table::Event
        | Table::EventMap
        | Table::Property
        | Table::PropertyMap
        | Table::MethodSemantics
        | Table::MethodImpl
        | Table::ModuleRef
        | Table::Assembly
        | Table::AssemblyRef
        | Table::File
        | Table::ExportedType
        | Table::ManifestResource
        | Table::NestedClass
        | Table::GenericParam
        | Table::GenericParamConstraint => true,
        _ => false,
    }
}

fn generate_program(random: &mut Random, _: &Corpus) -> Vec<u8> {
    let mut data = with_programs(|p| p.bytes("program.exe")).unwrap_or_default();
    for _ in 0..=random.below(4) {
        let part = *random.of(&[Part::Cell, Part::Cell, Part::Name]);
        match target_of(&data, part, &is_safe, random) {
            Some((_, _, at)) if part == Part::Cell => change_cell(&mut data[at], random),
            Some((_, _, at)) => mutate::in_place(&mut data, (at.start, at.len()), random),
            None => {}
        }
    }
    data
}

/// Words with NUL between them; those before an empty word are `NAME=value` of the environment, the others options.
fn run_command(data: &[u8]) {
    let words: Vec<Vec<u8>> = data.split(|b| *b == 0).map(<[u8]>::to_vec).collect();
    let split = words.iter().position(Vec::is_empty).unwrap_or(words.len());
    let ended = with_programs(|p| {
        let mut command = p.runtime();
        for word in &words[..split] {
            if let Some(at) = word.iter().position(|b| *b == b'=').filter(|at| *at > 0) {
                let (name, value) = (word[..at].to_vec(), word[at + 1..].to_vec());
                command.env(OsString::from_vec(name), OsString::from_vec(value));
            }
        }
        for word in words.iter().skip(split + 1) {
            command.arg(OsString::from_vec(word.clone()));
        }
        run_process(command.arg("program.exe"))
    });
    if let Some(ended) = ended {
        ended.check_orderly();
        let said = format!("{}{}", ended.out, ended.err);
        assert!(
            !said.trim().is_empty(),
            "it says nothing and ends with {:?}",
            ended.code
        );
    }
}

/// Environment variables that the runtime or the C library reads.
const VARIABLES: &[&str] = &[
    "MONO_GC_PARAMS",
    "MONO_THREADS_PER_CPU",
    "MONO_ENV_OPTIONS",
    "MONO_PATH",
    "MONO_CONFIG",
    "MONO_CFG_DIR",
    "VERVET_LOG",
    "VERVET_DEBUG_STOP_EVERY_US",
    "VERVET_DEBUG_NO_MEMBARRIER",
    "VERVET_DEBUG_NO_GUARD_REGIONS",
    "VERVET_BACKGROUND_COMPILER",
    "VERVET_BACKTRACE",
    "HOME",
    "TMPDIR",
    "TZ",
    "LANG",
    "LC_ALL",
    "LANGUAGE",
    "TERM",
    "COLUMNS",
    "LINES",
    "PATH",
    "LD_LIBRARY_PATH",
    "MONO_DEBUG",
    "MONO_TRACE",
    "MONO_STRICT_IO_EMULATION",
    "MONO_REFLECTION_SERIALIZER",
    "MONO_IOMAP",
];
/// Values that are valid for some variable, empty, too large or of another kind.
const VALUES: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "100",
    "500",
    "99999999999",
    "18446744073709551616",
    "4m",
    "nursery-size=256k",
    "nursery-size=1g,max-heap-size=8m",
    "nursery-size=256k,max-heap-size=16m",
    "max-heap-size=1",
    "max-heap-size=17179869183g",
    "soft-heap-limit=1g",
    "trace",
    "vervet_runtime=trace",
    "[]",
    "/",
    "/nonexistent",
    "/dev/null",
    "\u{E9}\u{1F600}",
    "--debug",
    "--gc-debug=verify",
    "de_DE.UTF-8",
    "tr_TR",
    "zh_TW",
    "C",
    "xx_YY@zzz",
    "xterm",
    "dumb",
    "Europe/Berlin",
    ":/etc/passwd",
    "\u{7F}",
];
/// Options, valid and invalid ones.
const OPTIONS: &[&str] = &[
    "--debug",
    "--gc=nursery-size=1m",
    "--gc=nursery-size=1g,max-heap=8m",
    "--gc=max-heap=8m",
    "--gc-debug=verify,collect-every=500",
    "--gc-debug=poison,promote-in-place=2",
    "--gc-debug=no-managed-allocator",
    "--gc-debug=heap-shot,log",
    "--optimize=all",
    "-O=-all",
    "--stats",
    "--missing",
    "--verify-clif",
    "--trace=Program",
    "--verbose-jit=Switch",
    "--perf-map",
    "--runtime=v9",
    "--server",
    "--config=/nonexistent",
    "--config=program.exe",
    "--aot",
    "--version",
    "--help",
    "--",
    "run",
    "--regression",
    "x.exe",
    "-v",
];

fn generate_command(random: &mut Random, _: &Corpus) -> Vec<u8> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    for _ in 0..random.below(4) {
        let value = match random.below(4) {
            0 => (0..random.below(12))
                .map(|_| 1 + (random.bits() % 255) as u8)
                .collect(),
            1 => random.number().to_string().into_bytes(),
            _ => random.of(VALUES).as_bytes().to_vec(),
        };
        words.push([random.of(VARIABLES).as_bytes(), b"=", &value].concat());
    }
    words.push(Vec::new());
    for _ in 0..random.below(4) {
        let mut word = random.of(OPTIONS).as_bytes().to_vec();
        if random.once_in(4) {
            mutate::bytes(&mut word, random);
            word.retain(|b| *b != 0);
        }
        words.push(word);
    }
    words.join(&0)
}
