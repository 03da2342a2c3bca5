//! Compiles the assembly of the grafts (`managed/Vervet.Grafts`) with Debian's C# compiler.
//!
//! The result lies in `OUT_DIR` and is part of the runtime (`src/classes/grafts.rs`). Without a C# compiler the result is
//! an empty file and the build prints a warning: such a runtime works and has no grafts.
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources of the assembly, below `managed/Vervet.Grafts`.
const SOURCES: [&str; 5] = [
    "GraftOntoAttribute.cs",
    "ThreadGraft.cs",
    "TaskGraft.cs",
    "GreenScheduler.cs",
    "GreenScheduler.Queue.cs",
];
/// Where Debian installs the compiler. It is watched, so that another compiler builds the assembly anew.
const COMPILER: &str = "/usr/bin/mcs";
/// Watched while there is no compiler. A file that does not exist cannot be watched: cargo would build the crate every time.
const PROGRAMS: &str = "/usr/bin";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = Path::new(COMPILER).exists();
    let watched = if compiler { COMPILER } else { PROGRAMS };
    println!("cargo:rerun-if-changed={watched}");
    let variable = |name: &str| PathBuf::from(std::env::var_os(name).expect("cargo sets it"));
    let folder = variable("CARGO_MANIFEST_DIR").join("../../managed/Vervet.Grafts");
    let result = variable("OUT_DIR").join("Vervet.Grafts.dll");
    let mut sources = Vec::new();
    for name in SOURCES {
        let source = folder.join(name);
        println!("cargo:rerun-if-changed={}", source.display());
        sources.push(source);
    }
    if let Err(reason) = compile(&sources, &result) {
        println!(
            "cargo:warning=Vervet.Grafts.dll was not built, so programs will not find Thread.IsGreenThread: {reason}"
        );
        std::fs::write(&result, []).expect("an empty file in OUT_DIR");
    }
}

/// Compiles the sources. `Err` says why there is no compiler; an error in the sources ends the build.
fn compile(sources: &[PathBuf], result: &Path) -> Result<(), String> {
    let run = Command::new("mcs")
        .args(["-nologo", "-target:library", "-optimize", "-warnaserror"])
        .arg(format!("-out:{}", result.display()))
        .args(sources)
        .output()
        .map_err(|e| format!("mcs cannot be run ({e}); the package mono-mcs has it"))?;
    if run.status.success() {
        return Ok(());
    }
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(
        !said.contains("error CS"),
        "managed/Vervet.Grafts does not compile:\n{said}"
    );
    Err(format!(
        "mcs does not run: {}",
        said.trim().replace('\n', "; ")
    ))
}
