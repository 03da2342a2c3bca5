//! Runs many programs in all lanes, and reduces what differs.
//!
//! Invariants: a program is named by its seed alone; the numbers at the end count what was really compared; a lane that
//! is not installed is said to be skipped.

use crate::Campaign;
use crate::emit;
use crate::generate::{self, Size};
use crate::judge::{self, Finding, Verdict};
use crate::lanes::{self, End, Lane, Outcome};
use crate::reduce;
use crate::tree::Program;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

const LIMIT: Duration = Duration::from_secs(600);

/// Runs what `c` says; false: something differed.
pub fn run(c: &Campaign) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let began = Instant::now();
    let seed = c.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(1, |d| d.as_nanos() as u64 / 1000 % 1_000_000_000)
    });
    let mut runner = Runner::new(c, folder.path(), seed)?;
    println!(
        "seed {seed}: {} programs of {} methods",
        c.programs, c.methods
    );
    let mut done = 0;
    while done < c.programs {
        if c.progress && done > 0 {
            println!("{done} programs, {} s", began.elapsed().as_secs());
        }
        if c.seconds.is_some_and(|s| began.elapsed().as_secs() >= s) {
            break;
        }
        let n = c.batch.min(c.programs - done);
        let seeds: Vec<u64> = (0..n)
            .map(|i| seed.wrapping_add((done + i) as u64))
            .collect();
        runner.batch(&seeds)?;
        done += n;
    }
    println!(
        "{done} programs from seed {seed}, {} results compared in {} lanes, {} left out because the peers differ, {} unconfirmed, \
         {} differences, {} s",
        runner.compared,
        runner.lanes.iter().filter(|l| !l.peer).count(),
        runner.disputed,
        runner.unconfirmed,
        runner.found,
        began.elapsed().as_secs()
    );
    Ok(runner.found == 0)
}

/// The state of a campaign.
struct Runner<'a> {
    c: &'a Campaign,
    folder: &'a Path,
    lanes: Vec<Lane>,
    compared: usize,
    disputed: usize,
    unconfirmed: usize,
    found: usize,
    reduced: usize,
}

/// Whether a command can be started.
fn starts(command: &str, argument: &str) -> bool {
    let mut c = Command::new(command);
    c.arg(argument).stdin(Stdio::null());
    c.stdout(Stdio::null()).stderr(Stdio::null());
    c.status().is_ok()
}

impl<'a> Runner<'a> {
    fn new(c: &'a Campaign, folder: &'a Path, seed: u64) -> Result<Self, String> {
        let words = |all: &[&str]| all.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        let mut lanes = Vec::new();
        let mut add = |name: &str, command: Vec<String>, peer| {
            lanes.push(Lane {
                name: name.into(),
                command,
                peer,
            });
        };
        if starts(&c.mono, "--version") {
            add("mono", words(&[&c.mono]), true);
        } else {
            println!("mono is not installed: skipped");
        }
        if starts(&c.dotnet, "--info") {
            let config = folder.join("random.json");
            let text = r#"{"runtimeOptions":{"tfm":"net8.0","framework":{"name":"Microsoft.NETCore.App","version":"8.0.0"}}}"#;
            std::fs::write(&config, text).map_err(|e| e.to_string())?;
            let config = config.display().to_string();
            add(
                "coreclr",
                words(&[&c.dotnet, "exec", "--runtimeconfig", &config]),
                true,
            );
        } else {
            println!("dotnet (.NET 8) is not installed: skipped");
        }
        if c.between_peers {
            if lanes.len() < 2 {
                return Err("two peers are needed".into());
            }
            lanes[0].peer = false;
        } else {
            let vervet = c.vervet.display().to_string();
            // Both tiers; one of them, the seed says which, with collections. `--lane` finds out whether they matter.
            let collect = format!(
                "--gc-debug=verify,poison,collect-every={},promote-in-place=3",
                [211, 503, 1009, 2003][seed as usize % 4]
            );
            let collect = collect.as_str();
            let (quick, all) = match (seed / 4).is_multiple_of(2) {
                true => (vec![collect], vec!["-O=all"]),
                false => (vec![], vec!["-O=all", collect]),
            };
            for options in [quick, all] {
                let name = format!("vervet {}", options.join(" "));
                if name.contains(&c.lane) {
                    let mut command = words(&[&vervet]);
                    command.extend(words(&options));
                    lanes.push(Lane {
                        name,
                        command,
                        peer: false,
                    });
                }
            }
        }
        if !lanes.iter().any(|l| l.peer) {
            return Err("no peer is installed (Debian package mono-runtime)".into());
        }
        Ok(Runner {
            c,
            folder,
            lanes,
            compared: 0,
            disputed: 0,
            unconfirmed: 0,
            found: 0,
            reduced: 0,
        })
    }
    /// The file of an assembly: in a folder of its own, since all have one identity and .NET looks beside the program.
    fn exe(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        Ok(folder.join("random.exe"))
    }
    fn program(&self, seed: u64) -> Program {
        let (methods, nodes) = (self.c.methods, self.c.nodes);
        generate::program(seed, Size { methods, nodes })
    }
    /// Runs an assembly in all lanes.
    fn outcomes(&self, exe: &Path, args: &[&str]) -> Result<Vec<Outcome>, String> {
        let run = |l: &Lane| {
            l.run(exe, args, LIMIT)
                .map_err(|e| format!("{}: {e}", l.name))
        };
        self.lanes.iter().map(run).collect()
    }
    fn judged(&self, programs: &[(&Program, Option<&[usize]>)]) -> Result<Verdict, String> {
        let exe = self.exe("all")?;
        lanes::assemble(&emit::assembly(programs), &exe)?;
        Ok(judge::judge(&self.lanes, &self.outcomes(&exe, &[])?))
    }
    fn batch(&mut self, seeds: &[u64]) -> Result<(), String> {
        let programs: Vec<Program> = seeds.iter().map(|s| self.program(*s)).collect();
        let all: Vec<_> = programs.iter().map(|p| (p, None)).collect();
        let verdict = match self.judged(&all) {
            Ok(v) => v,
            Err(e) => return Err(format!("seeds from {}: {e}", seeds[0])),
        };
        if verdict.cut_short && seeds.len() > 1 {
            // What comes after the end of a peer would be lost: each program alone.
            return seeds.iter().try_for_each(|s| self.batch(&[*s]));
        }
        self.unconfirmed += verdict.unconfirmed.len();
        self.compared += verdict.compared;
        self.disputed += verdict.disputed.len();
        if self.c.disputes {
            for name in &verdict.disputed {
                println!("the peers differ: seeds from {}, {name}", seeds[0]);
            }
            for name in &verdict.unconfirmed {
                println!("the only peer differs: seeds from {}, {name}", seeds[0]);
            }
        }
        let mut seen = Vec::new();
        for f in &verdict.findings {
            self.found += 1;
            println!(
                "DIFFERS: seed {}, m{}, {} ({:?})",
                seeds[f.program], f.method, self.lanes[f.lane].name, f.end
            );
            if self.reduced < self.c.reduce && !seen.contains(&f.program) {
                seen.push(f.program);
                self.reduced += 1;
                self.reduce(&programs[f.program], f)?;
            }
        }
        Ok(())
    }
    /// Whether that lane differs from peers that agree, on that method alone.
    fn differs(&self, program: &Program, f: &Finding) -> bool {
        let Ok(exe) = self.exe("reduced") else {
            return false;
        };
        let runs = [f.method];
        if lanes::assemble(&emit::assembly(&[(program, Some(&runs))]), &exe).is_err() {
            return false;
        }
        let tested = self.lanes[f.lane].run(&exe, &[], LIMIT / 10);
        let Ok(tested) = tested else { return false };
        // The quick peer first: most attempts end here.
        let peers = self.lanes.iter().filter(|l| l.peer);
        let mut right: Option<Vec<String>> = None;
        for peer in peers {
            let Ok(o) = peer.run(&exe, &[], LIMIT / 10) else {
                return false;
            };
            if o.end != End::Exit(0) || right.as_ref().is_some_and(|r| *r != o.lines) {
                return false;
            }
            if tested.end == End::Exit(0) && tested.lines == o.lines {
                return false;
            }
            right = Some(o.lines);
        }
        true
    }
    fn reduce(&mut self, program: &Program, f: &Finding) -> Result<(), String> {
        if !self.differs(program, f) {
            println!("  alone it does not differ: seed {}", program.seed);
            return Ok(());
        }
        let small = reduce::reduce(program, f.method, self.c.tries, &mut |p| self.differs(p, f));
        let il = emit::assembly(&[(&small, Some(&[f.method]))]);
        let Some(out) = &self.c.out else {
            println!("{}", il.split("Start(string[])").last().unwrap_or(""));
            return Ok(());
        };
        std::fs::create_dir_all(out).map_err(|e| e.to_string())?;
        let stem = format!("{}-m{}", program.seed, f.method);
        let path = out.join(format!("{stem}.il"));
        let exe = self.exe("shown")?;
        lanes::assemble(&il, &exe)?;
        let mut report = format!(
            "Seed {}, m{}: differs in `{}`.\n",
            program.seed, f.method, self.lanes[f.lane].name
        );
        for (lane, o) in self.lanes.iter().zip(self.outcomes(&exe, &["v"])?) {
            writeln!(
                report,
                "\n{} ({:?}):\n{}\n{}",
                lane.name,
                o.end,
                o.lines.join("\n"),
                o.errors
            )
            .ok();
        }
        std::fs::write(&path, il).map_err(|e| e.to_string())?;
        std::fs::write(out.join(format!("{stem}.txt")), report).map_err(|e| e.to_string())?;
        println!("  reduced: {}", path.display());
        Ok(())
    }
}
