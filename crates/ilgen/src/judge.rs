//! Which of a program's results are wrong.
//!
//! Invariants: what all peers print for a method is right; where they differ, or one of them does not get there, the
//! method is left out, and counted. A tested lane that ends by itself in any other way than exit code 0 is wrong
//! whatever it printed.

use crate::lanes::{End, Lane, Outcome};
use std::collections::BTreeSet;

/// A wrong result of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the program in the assembly.
    pub program: usize,
    /// The method whose result is wrong, or the first without one.
    pub method: usize,
    /// Index of the lane.
    pub lane: usize,
    /// How the lane ended.
    pub end: End,
}

/// What the outcomes of all lanes for one assembly say.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Wrong results, the first of each program and lane.
    pub findings: Vec<Finding>,
    /// Results that were compared.
    pub compared: usize,
    /// Results on which the peers differ.
    pub disputed: Vec<String>,
}

/// `P3.m14.0` as program and method.
fn place(name: &str) -> Option<(usize, usize)> {
    let mut parts = name.split('.');
    let program = parts.next()?.strip_prefix('P')?.parse().ok()?;
    let method = parts.next()?.strip_prefix('m')?.parse().ok()?;
    Some((program, method))
}

/// The names of the results in a line: the last two words are name and sum.
fn names(outcome: &Outcome) -> Vec<&str> {
    let name = |l: &'_ String| l.rfind(' ').map(|at| l[..at].rfind(' ').map_or(0, |b| b + 1)..);
    outcome
        .lines
        .iter()
        .filter_map(|l| name(l).map(|r| &l[r]))
        .filter_map(|rest| rest.split(' ').next())
        .filter(|n| place(n).is_some())
        .collect()
}

/// Compares the lanes; there is one peer at least.
pub fn judge(lanes: &[Lane], outcomes: &[Outcome]) -> Verdict {
    let mut verdict = Verdict::default();
    let peers: Vec<&Outcome> = (0..lanes.len())
        .filter(|i| lanes[*i].peer)
        .map(|i| &outcomes[i])
        .collect();
    let longest = peers.iter().max_by_key(|p| p.lines.len()).expect("a peer");
    let mut found = BTreeSet::new();
    for name in names(longest) {
        let Some((program, method)) = place(name) else {
            continue;
        };
        let right = peers[0].result(name);
        if right.is_none() || peers.iter().any(|p| p.result(name) != right) {
            verdict.disputed.push(name.to_string());
            continue;
        }
        verdict.compared += 1;
        for (i, lane) in lanes.iter().enumerate() {
            if lane.peer || outcomes[i].result(name) == right {
                continue;
            }
            if found.insert((program, i)) {
                verdict.findings.push(Finding {
                    program,
                    method,
                    lane: i,
                    end: outcomes[i].end,
                });
            }
        }
    }
    // A lane that printed everything and then died.
    for (i, lane) in lanes.iter().enumerate() {
        let wrong = outcomes[i].end != End::Exit(0);
        if !lane.peer && wrong && !verdict.findings.iter().any(|f| f.lane == i) {
            verdict.findings.push(Finding {
                program: 0,
                method: 0,
                lane: i,
                end: outcomes[i].end,
            });
        }
    }
    verdict
}
