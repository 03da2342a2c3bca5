//! The same numbers as mono's own reader, if `mprof-report` is installed. Without it the test says so and is no error.
use std::process::Command;
use vervet_profile_report::summary::Wanted;
use vervet_profile_report::testing::small;
use vervet_profile_report::{Filter, Recording};

#[test]
fn totals_are_those_of_mprof_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("small.mlpd");
    std::fs::write(&file, small()).expect("the recording is written");
    let Ok(output) = Command::new("mprof-report").arg(&file).output() else {
        println!("There is no mprof-report: nothing is compared.");
        return;
    };
    let theirs = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut ours = Vec::new();
    let mut recording =
        Recording::read(small().as_slice(), &Filter::default()).expect("it is a recording");
    recording
        .summary(&mut ours, &Wanted::default())
        .expect("a vector takes everything");
    let ours = String::from_utf8(ours).expect("UTF-8");
    for (their, our) in [
        (
            "Total memory allocated: 192 bytes in 5 objects",
            "Allocations: 5 objects, 192 B",
        ),
        ("Managed hits:         9 (90.0%)", "90.0 % in managed code"),
        ("Unresolved hits:      0 ( 0.0%)", "(0.0 % without a name)"),
        ("Throws: 1", "Exceptions: 1 thrown"),
        ("Executed catch clauses: 1", "clauses that ran: 1 catch"),
        (
            "Lock contentions: 1",
            "Monitors: 1 waits for 1 objects, 2.00 ms in all",
        ),
        ("0.002000 secs total wait time", "2.00 ms"),
        (
            "GC handles normal: created: 1, destroyed: 0, max: 1",
            "    1      0               1  normal",
        ),
        (
            "GC handles weak: created: 1, destroyed: 1, max: 1",
            "    1      1               1  weak\n",
        ),
        (
            "Gen0 collections: 1, max time: 490us, total time: 490us",
            "490.0 us",
        ),
        ("Max heap size: 4194304", "at most 4.0 MiB"),
        ("Object moves: 1", "1 objects moved"),
        ("Compiled methods: 4", "4 methods with 512 B of code"),
        (
            "size: 96, object count: 2, class count: 2",
            "Heapshot 1 at 0.021 s: 2 objects, 96 B",
        ),
    ] {
        assert!(
            theirs.contains(their),
            "mprof-report does not say '{their}':\n{theirs}"
        );
        assert!(
            ours.contains(our),
            "the summary does not say '{our}':\n{ours}"
        );
    }
}
