//! No crate's modules grow together: the cycles of more than four modules are those listed here, and they only shrink.
use vervet_tidy::{modules::Graph, root};

/// The largest cycle that needs no entry.
const FREE: usize = 4;

/// Crates that have larger cycles, and the sizes of those, largest first. A cycle that has become smaller: change its entry.
const KNOWN: &[(&str, &[usize])] = &[("heap", &[15]), ("icalls", &[5])];

#[test]
fn cycles_only_shrink() {
    let crates = root().join("crates");
    let mut wrong = String::new();
    for entry in std::fs::read_dir(&crates).expect("the crates") {
        let name = entry.expect("a directory entry").file_name();
        let name = name.to_string_lossy();
        let sizes: Vec<usize> = Graph::of(&crates.join(&*name).join("src"))
            .cycles()
            .iter()
            .map(Vec::len)
            .filter(|n| *n > FREE)
            .collect();
        let known = KNOWN.iter().find(|k| k.0 == name).map_or(&[][..], |k| k.1);
        let fits = sizes.len() <= known.len() && sizes.iter().zip(known).all(|(is, was)| is <= was);
        if !fits {
            wrong.push_str(&format!("  {name}: {sizes:?}, expected {known:?}\n"));
        }
    }
    assert!(
        wrong.is_empty(),
        "cycles of more than {FREE} modules (`cargo run -p vervet-tidy -- cycles CRATE` shows them; \
         change the list in this file if they shrank):\n{wrong}"
    );
}
