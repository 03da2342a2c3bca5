//! The page in a browser: chromium without a window, if there is one. Without it the test says so and is no error.
use std::process::Command;
use vervet_profile_report::testing::small;
use vervet_profile_report::{Filter, Recording, write};

/// What a browser makes of a page, as HTML; `None` if there is no browser.
fn opened(address: &str, home: &std::path::Path) -> Option<String> {
    for browser in ["chromium", "chromium-browser", "google-chrome"] {
        let profile = format!("--user-data-dir={}", home.display());
        let mut command = Command::new(browser);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=2000",
            "--dump-dom",
            &profile,
            address,
        ]);
        if let Ok(output) = command.output() {
            return Some(String::from_utf8_lossy(&output.stdout).into_owned());
        }
    }
    None
}

#[test]
fn every_part_of_the_page_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let mut recording =
        Recording::read(small().as_slice(), &Filter::default()).expect("it is a recording");
    let mut out = Vec::new();
    write::html(&mut recording, "small.mlpd", &mut out).expect("a vector takes everything");
    let html = String::from_utf8(out).expect("UTF-8");
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "the page loads nothing"
    );
    std::fs::write(&page, html).expect("the page is written");
    // What is asked for by the address, what the page then shows, and a word of it.
    for (part, word) in [
        ("flame-graph", "callers of the innermost"),
        ("methods", "Program:Work (int)"),
        ("allocations", "System.String"),
        ("locks", "Program:Work &lt; Program:Main"),
        ("collections", "minor"),
        ("threads", "Main"),
        ("exceptions", "System.InvalidOperationException"),
        ("heapshots", "2 objects"),
        ("counters", "Working Set"),
    ] {
        let address = format!("file://{}#{part}", page.display());
        let Some(shown) = opened(&address, &folder.path().join("home")) else {
            println!("There is no chromium: the page is not looked at.");
            return;
        };
        let body = shown
            .split("<body")
            .nth(1)
            .unwrap_or_else(|| panic!("{part}: {shown}"));
        let attributes = body.split('>').next().unwrap_or("");
        let tab = format!(
            "data-tab=\"{}{}\"",
            part[..1].to_uppercase(),
            part[1..].replace('-', " ")
        );
        assert!(attributes.contains(&tab), "{part}: {attributes}");
        let main = body
            .split("<main")
            .nth(1)
            .and_then(|m| m.split("</main>").next())
            .unwrap_or("");
        assert!(main.contains(word), "{part}: '{word}' is not in {main}");
        if part == "flame-graph" {
            // all, Main, Work, memset, Append.
            assert!(attributes.contains("data-drawn=\"5\""), "{attributes}");
        }
    }
}
