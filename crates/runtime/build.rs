//! Compiles the assemblies of our own, that of the grafts (`managed/Vervet.Grafts`) and `managed/Vervet.Threading`, with Debian's C# compiler.
//!
//! The results lie in `OUT_DIR` and are part of the runtime (`src/classes/grafts.rs`, `src/loader.rs`). Without a C# compiler they are
//! empty files and the build prints a warning: such a runtime works, has no grafts, and does not find Vervet.Threading.
use std::path::{Path, PathBuf};
use std::process::Command;

/// An assembly, and its sources below `managed`, in a folder of its name.
struct Assembly {
    name: &'static str,
    sources: &'static [&'static str],
}
const ASSEMBLIES: [Assembly; 2] = [
    Assembly {
        name: "Vervet.Grafts",
        sources: &[
            "GraftOntoAttribute.cs",
            "ThreadGraft.cs",
            "TaskGraft.cs",
            "GreenScheduler.cs",
            "GreenScheduler.Queue.cs",
        ],
    },
    Assembly {
        name: "Vervet.Threading",
        sources: &[
            "AssemblyInfo.cs",
            "GreenThread.cs",
            "GreenThreadOptions.cs",
            "Native.cs",
            "Scheduler.cs",
            "SchedulerStatistics.cs",
        ],
    },
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
    let managed = variable("CARGO_MANIFEST_DIR").join("../../managed");
    for Assembly { name, sources } in ASSEMBLIES {
        let result = variable("OUT_DIR").join(format!("{name}.dll"));
        let sources: Vec<PathBuf> = sources.iter().map(|s| managed.join(name).join(s)).collect();
        for source in &sources {
            println!("cargo:rerun-if-changed={}", source.display());
        }
        if let Err(reason) = compile(&sources, &result) {
            println!(
                "cargo:warning={name}.dll was not built, so programs will not find what it has: {reason}"
            );
            std::fs::write(&result, []).expect("an empty file in OUT_DIR");
        }
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
        "{} does not compile:\n{said}",
        result.display()
    );
    Err(format!(
        "mcs does not run: {}",
        said.trim().replace('\n', "; ")
    ))
}
