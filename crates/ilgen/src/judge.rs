//! Decides which of a program's results are wrong.
//!
//! Invariants:
//! * What all peers print for a method is right. Where the peers differ, or one of them does not get to the method, the method
//!   is left out and counted.
//! * A lone peer may be wrong (Mono is, in one of a thousand results). Where all tested lanes agree and the lone peer alone
//!   prints something else, that is counted and is no finding.
//! * A tested lane that does not end with exit code 0 by itself is wrong, whatever it printed.

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
    /// Results on which only a lone peer differs.
    pub unconfirmed: Vec<String>,
    /// Whether a peer did not get to its end.
    pub cut_short: bool,
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
    let name = |l: &'_ String| {
        l.rfind(' ')
            .map(|at| l[..at].rfind(' ').map_or(0, |b| b + 1)..)
    };
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
    verdict.cut_short = peers.iter().any(|p| p.end != End::Exit(0));
    let tested = || (0..lanes.len()).filter(|i| !lanes[*i].peer);
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
        let first = tested().next().and_then(|i| outcomes[i].result(name));
        let agree = first.is_some() && tested().all(|i| outcomes[i].result(name) == first);
        if peers.len() == 1 && tested().count() > 1 && agree && first != right {
            verdict.unconfirmed.push(name.to_string());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str, peer: bool) -> Lane {
        Lane {
            name: name.into(),
            command: vec![],
            peer,
        }
    }
    fn outcome(text: &str, end: End) -> Outcome {
        Outcome {
            lines: text.lines().map(str::to_string).collect(),
            errors: String::new(),
            end,
        }
    }
    fn verdict(peers: [&str; 2], tested: &str, end: End) -> Verdict {
        let lanes = [lane("a", true), lane("b", true), lane("t", false)];
        let fine = |t| outcome(t, End::Exit(0));
        judge(
            &lanes,
            &[fine(peers[0]), fine(peers[1]), outcome(tested, end)],
        )
    }

    #[test]
    fn what_peers_agree_on_is_right() {
        let v = verdict(
            ["P0.m1.0 a\nP1.m2.0 b"; 2],
            "P0.m1.0 a\nP1.m2.0 c",
            End::Exit(0),
        );
        assert_eq!(v.compared, 2);
        assert_eq!(v.findings.len(), 1);
        assert_eq!((v.findings[0].program, v.findings[0].method), (1, 2));
    }
    #[test]
    fn what_peers_dispute_is_left_out() {
        let v = verdict(
            ["P0.m1.0 a\nP0.m2.0 x", "P0.m1.0 b\nP0.m2.0 x"],
            "P0.m1.0 c\nP0.m2.0 x",
            End::Exit(0),
        );
        assert_eq!((v.compared, v.findings.len()), (1, 0));
        assert_eq!(v.disputed, ["P0.m1.0"]);
    }
    #[test]
    fn a_peer_that_stops_early_says_nothing_about_the_rest() {
        let v = verdict(
            ["P0.m1.0 a\nP0.m2.0 x", "P0.m1.0 a"],
            "P0.m1.0 a\nP0.m2.0 y",
            End::Exit(0),
        );
        assert_eq!((v.compared, v.findings.len()), (1, 0));
    }
    #[test]
    fn a_missing_result_and_a_crash_are_wrong() {
        let v = verdict(["P0.m1.0 a\nP0.m2.0 b"; 2], "P0.m1.0 a", End::Exit(70));
        assert_eq!(v.findings[0].method, 2);
        let v = verdict(["P0.m1.0 a"; 2], "P0.m1.0 a", End::Exit(134));
        assert_eq!(v.findings.len(), 1);
        let v = verdict(["P0.m1.0 a"; 2], "P0.m1.0 a", End::Exit(0));
        assert!(v.findings.is_empty());
    }
    #[test]
    fn a_lone_peer_is_not_believed_against_all_lanes() {
        let lanes = [lane("a", true), lane("t", false), lane("u", false)];
        let all = |t: [&str; 3]| judge(&lanes, &t.map(|t| outcome(t, End::Exit(0))));
        let v = all(["P0.m1.0 a", "P0.m1.0 b", "P0.m1.0 b"]);
        assert_eq!((v.findings.len(), v.unconfirmed.len()), (0, 1));
        let v = all(["P0.m1.0 a", "P0.m1.0 b", "P0.m1.0 a"]);
        assert_eq!((v.findings.len(), v.findings[0].lane), (1, 1));
        let v = all(["P0.m1.0 a", "", ""]);
        assert_eq!(v.findings.len(), 2);
    }
    #[test]
    fn the_trace_before_a_result_is_no_part_of_it() {
        let o = outcome(" 1 -2=X P3.m14.1 00ff", End::Exit(0));
        assert_eq!(o.result("P3.m14.1"), Some("00ff"));
        assert_eq!(o.result("P3.m1"), None);
    }
}
