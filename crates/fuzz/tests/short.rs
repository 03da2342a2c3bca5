//! Every target for a few seconds, from a fresh seed, in processes of its own. `VERVET_FUZZ_SECONDS` says how many,
//! `VERVET_FUZZ_SEED` repeats a run.

use std::process::Command;

#[test]
fn every_target_runs_for_a_while_and_finds_nothing() {
    let setting = |name: &str| std::env::var(name).ok();
    let mut fuzz = Command::new(env!("CARGO_BIN_EXE_vervet-fuzz"));
    fuzz.arg("--seconds")
        .arg(setting("VERVET_FUZZ_SECONDS").unwrap_or("2".into()));
    if let Some(seed) = setting("VERVET_FUZZ_SEED") {
        fuzz.args(["--seed", &seed]);
    }
    let ended = fuzz.output().expect("the driver runs");
    let said = String::from_utf8_lossy(&ended.stdout);
    println!("{said}");
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}{errors}");
    assert!(said.lines().count() >= 12, "{said}");
}

#[test]
fn a_run_is_repeated_by_its_seed() {
    let run = |seed: &str| {
        let ended = Command::new(env!("CARGO_BIN_EXE_vervet-fuzz"))
            .args([
                "--seconds",
                "100",
                "--end",
                "300",
                "--digest",
                "--seed",
                seed,
            ])
            .arg("signature")
            .output()
            .expect("the driver runs");
        assert!(ended.status.success());
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        said.split("digest ").nth(1).map(str::to_owned)
    };
    let first = run("7");
    assert!(first.is_some());
    assert_eq!(first, run("7"));
    assert_ne!(first, run("8"));
}
