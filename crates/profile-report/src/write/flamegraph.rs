//! A flame graph: the outermost frames at the bottom, as wide as what they weigh, what they call above them.
//!
//! The picture is one SVG file. In a browser its script zooms to a frame that is clicked, marks frames whose name contains what `Search`
//! asks for, and shows a frame's weight under the mouse; without a browser it is a picture.
//!
//! # Invariants
//! * Frames of less than [`LEAST`] pixels are left out, so the size is bounded by the picture's, not by the recording's.
//! * Every text is escaped: a name of a method cannot be markup.
use super::palette;
use crate::stacks::{Node, ROOT};
use crate::units::percent;
use crate::{Error, Measure, Recording};
use rustc_hash::FxHashMap;
use std::io::Write;

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW: usize = 17;
const TOP: usize = 54;
const BOTTOM: usize = 30;
/// Pixels of the narrowest frame.
const LEAST: f64 = 0.3;
/// Pixels of a letter.
const LETTER: f64 = 7.3;
const SCRIPT: &str = include_str!("flamegraph.js");

struct Block {
    node: Node,
    depth: usize,
    x: f64,
    width: f64,
}

/// Writes a flame graph with a title.
pub fn flamegraph(
    recording: &mut Recording,
    measure: Measure,
    title: &str,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let weights = recording.weights(measure)?;
    let p = &recording.profile;
    let subtrees = p.stacks.subtrees(&weights);
    let all = subtrees[ROOT as usize].max(1);
    let blocks = layout(&p.stacks.children(&subtrees), &subtrees);
    let deepest = blocks.iter().map(|b| b.depth).max().unwrap_or(0);
    let height = TOP + (deepest + 1) * ROW + BOTTOM;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"12\">"
    )?;
    writeln!(
        out,
        "<style>.f{{cursor:pointer}}.f:hover rect{{stroke:#000}}.far{{opacity:.45}}.b{{cursor:pointer;fill:#555}}text{{pointer-events:none}}.b{{pointer-events:all}}</style>"
    )?;
    writeln!(
        out,
        "<rect width=\"100%\" height=\"100%\" fill=\"#fcfcf8\"/>"
    )?;
    writeln!(
        out,
        "<text x=\"{}\" y=\"24\" font-size=\"17\" text-anchor=\"middle\">{}</text>",
        WIDTH / 2.0,
        escape(title)
    )?;
    writeln!(
        out,
        "<text id=\"reset\" class=\"b\" x=\"{MARGIN}\" y=\"24\" visibility=\"hidden\">Reset zoom</text><text id=\"search\" class=\"b\" x=\"{}\" y=\"24\" text-anchor=\"end\">Search</text>",
        WIDTH - MARGIN
    )?;
    writeln!(
        out,
        "<text id=\"says\" x=\"{MARGIN}\" y=\"{}\" data-all=\"{all}\"> </text>",
        height - 10
    )?;
    writeln!(out, "<g id=\"frames\">")?;
    for block in &blocks {
        let (name, colour) = match p.stacks.frame(block.node) {
            Some(frame) => (p.frames.full_name(frame), palette::colour(&p.frames, frame)),
            None => (
                format!("all ({})", measure.title().to_lowercase()),
                "hsl(45,30%,80%)".into(),
            ),
        };
        let short = p
            .stacks
            .frame(block.node)
            .map_or(name.clone(), |f| p.frames.short_name(f));
        let brief = p
            .stacks
            .frame(block.node)
            .map_or(name.clone(), |f| p.frames.brief_name(f));
        let weight = subtrees[block.node as usize];
        let y = TOP + (deepest - block.depth) * ROW;
        let says = format!(
            "{name} ({}, {:.2} %)",
            measure.text(weight),
            percent(weight, all)
        );
        writeln!(
            out,
            "<g class=\"f\" data-x=\"{:.3}\" data-w=\"{:.3}\" data-d=\"{}\" data-n=\"{}\" data-b=\"{}\"><title>{}</title><rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" rx=\"2\" fill=\"{colour}\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
            block.x,
            block.width,
            block.depth,
            escape(&short),
            escape(&brief),
            escape(&says),
            block.x,
            (block.width - 0.4).max(0.1),
            ROW - 1,
            block.x + 3.0,
            y + 12,
            escape(&fitting(&short, &brief, block.width))
        )?;
    }
    writeln!(out, "</g>\n<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>")?;
    Ok(())
}

fn layout(children: &FxHashMap<Node, Vec<Node>>, subtrees: &[u64]) -> Vec<Block> {
    let scale = (WIDTH - 2.0 * MARGIN) / subtrees[ROOT as usize].max(1) as f64;
    let mut blocks = Vec::new();
    let mut todo = vec![(ROOT, 0, MARGIN)];
    while let Some((node, depth, x)) = todo.pop() {
        let width = subtrees[node as usize] as f64 * scale;
        if width < LEAST {
            continue;
        }
        blocks.push(Block {
            node,
            depth,
            x,
            width,
        });
        let mut at = x;
        for child in children.get(&node).into_iter().flatten() {
            todo.push((*child, depth + 1, at));
            at += subtrees[*child as usize] as f64 * scale;
        }
    }
    blocks
}

/// A name, or the one without namespace, or as much of that as fits.
fn fitting(name: &str, brief: &str, width: f64) -> String {
    let room = ((width - 6.0) / LETTER).max(0.0) as usize;
    match (name.chars().count(), brief.chars().count()) {
        (n, _) if n <= room => name.to_owned(),
        (_, n) if n <= room => brief.to_owned(),
        _ if room < 4 => String::new(),
        _ => brief.chars().take(room - 2).chain("..".chars()).collect(),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'.. => out.push(c),
            _ => out.push('\u{FFFD}'),
        }
    }
    out
}
