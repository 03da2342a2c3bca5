//! JSON that may stand in a page.

/// A text in quotation marks. Nothing in it can end a script of HTML.
pub(super) fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..' ' | '\u{7F}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Values with commas between them, in brackets.
pub(super) fn list(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<String> = values.into_iter().collect();
    format!("[{}]", values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_script() {
        assert_eq!(
            text("</script>\"\\\n"),
            r#""\u003c/script\u003e\"\\\u000a""#
        );
    }
}
