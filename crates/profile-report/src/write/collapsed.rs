//! Stacks as lines: frames from the outermost to the innermost, with semicolons between them, then a space and what the stack weighs.
//!
//! # Invariants
//! * A line has a semicolon nowhere else.
//! * Lines are written one by one: memory does not grow with what is written.
use crate::stacks::ROOT;
use crate::{Error, Measure, Recording};
use std::io::Write;

/// Writes what each stack weighs.
pub fn collapsed(
    recording: &mut Recording,
    measure: Measure,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let weights = recording.weights(measure)?;
    let p = &recording.profile;
    let children = p.stacks.children(&p.stacks.subtrees(&weights));
    let mut line = String::new();
    let mut todo = vec![(ROOT, 0)];
    while let Some((node, outer)) = todo.pop() {
        line.truncate(outer);
        if let Some(frame) = p.stacks.frame(node) {
            if !line.is_empty() {
                line.push(';');
            }
            line.push_str(&p.frames.full_name(frame).replace([';', '\n', '\r'], ":"));
            if let Some(weight) = weights.get(&node).filter(|w| **w > 0) {
                writeln!(out, "{line} {weight}")?;
            }
        }
        let below = children.get(&node).into_iter().flatten();
        todo.extend(below.rev().map(|n| (*n, line.len())));
    }
    Ok(())
}
