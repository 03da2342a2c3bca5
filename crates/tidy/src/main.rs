//! What the checks see of a crate: `cargo run -p vervet-tidy -- cycles|comments CRATE...`.
use std::path::Path;
use vervet_tidy::{comments, modules::Graph, root};

fn cycles(name: &str, source: &Path) {
    let graph = Graph::of(source);
    for cycle in graph.cycles() {
        println!("{name}: a cycle of {} modules", cycle.len());
        for from in &cycle {
            for (to, item) in graph.arrows.get(from).into_iter().flatten() {
                if cycle.contains(to) {
                    println!("  {} -> {}: {item}", from.join("::"), to.join("::"));
                }
            }
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    for name in arguments {
        let source = root().join("crates").join(&name).join("src");
        match what.as_str() {
            "cycles" => cycles(&name, &source),
            "comments" => {
                let (comments, lines) = comments::share(&source);
                println!(
                    "{name}: {comments} of {lines} lines, {:.1} %",
                    comments as f64 * 100.0 / lines as f64
                );
            }
            _ => {
                eprintln!("vervet-tidy: cycles or comments, then names of crates");
                std::process::exit(2);
            }
        }
    }
}
