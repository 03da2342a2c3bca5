//! Where threads and raw memory meet, a share of the lines is comment.
use vervet_tidy::{comments, root};

/// Crates and the least percentage of their lines that is comment. It only grows.
const LEAST: &[(&str, usize)] = &[
    ("handles", 20),
    ("heap", 22),
    ("jit", 20),
    ("parking", 20),
    ("runtime", 20),
    ("sched", 20),
    ("types", 15),
];

#[test]
fn comments_do_not_get_fewer() {
    let mut wrong = String::new();
    for (name, least) in LEAST {
        let (comments, lines) = comments::share(&root().join("crates").join(name).join("src"));
        if comments * 100 < lines * least {
            wrong.push_str(&format!(
                "  {name}: {comments} of {lines} lines, less than {least} %\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "too few comments:\n{wrong}");
}
