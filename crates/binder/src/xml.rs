//! Reads configuration files: elements by local name, whatever their namespace.
//!
//! A missing file counts as an empty one. A malformed file is an error that the caller may print and ignore, as Mono does.
//!
//! # Invariants
//! Reading takes time and memory in proportion to the file, however it nests: an element belongs to one owner
//! ([`grouped`]), and entities, which multiply text, are refused. It takes a bounded stack: the parser calls itself
//! for each level of nesting, so [`nests_too_deep`] refuses deep files before the parser sees them.

use crate::error::ConfigError;
use roxmltree::{Document, Node, ParsingOptions};
use std::io::ErrorKind;
use std::path::Path;

/// How deep the elements of a file may nest.
pub(crate) const MAX_XML_DEPTH: usize = 250;

/// The text of a file, or `None` when there is none.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(ConfigError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Parses a text; a byte order mark in front is no part of it.
pub(crate) fn parse<'t>(text: &'t str, path: &Path) -> Result<Document<'t>, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if nests_too_deep(text) {
        return Err(ConfigError::Nested {
            path: path.to_owned(),
        });
    }
    // A document type is skipped, as in Mono. One that declares entities is refused, because a few of them, each made of
    // hundreds of another, are text without end; without declarations there is nothing to refer to.
    let options = ParsingOptions {
        allow_dtd: !text.contains("<!ENTITY"),
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|source| ConfigError::Parse {
        path: path.to_owned(),
        source,
    })
}

/// Whether elements nest deeper than [`MAX_XML_DEPTH`]. It may say so of a malformed file or of one with a document type
/// where they do not; it never denies it where they do, in the part that the parser reads before its first error.
fn nests_too_deep(text: &str) -> bool {
    // A document type holds quoted text that looks like anything, so in such a file each element counts as a level.
    let has_document_type = text.contains("<!DOCTYPE");
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];
        if let Some((start, end)) = skipped.iter().find(|(start, _)| rest.starts_with(start))
            && !has_document_type
        {
            // (The end of a comment is looked for behind its start: `<!-->` is none.)
            rest = &rest[start.len()..];
            let Some(at) = rest.find(end) else {
                return false;
            };
            rest = &rest[at + end.len()..];
        } else if rest.starts_with('/') {
            if !has_document_type {
                depth = depth.saturating_sub(1);
            }
        } else if !rest.starts_with(['!', '?']) {
            let (tag, after) = rest.split_at(end_of_tag(rest));
            if has_document_type {
                depth += 1;
            } else {
                depth += usize::from(!tag.ends_with('/'));
                rest = after;
            }
            if depth > MAX_XML_DEPTH {
                return true;
            }
        }
    }
    false
}

/// Where the tag that `text` begins with ends: at the first `>` outside quotes.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    let end = text.bytes().position(|byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None => {
            if byte == b'"' || byte == b'\'' {
                quote = Some(byte);
            }
            byte == b'>'
        }
    });
    end.unwrap_or(text.len())
}

/// All elements below `node` with this local name, in document order.
pub(crate) fn elements<'a, 't: 'a>(
    node: Node<'a, 't>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 't>> {
    node.descendants().filter(move |inner| is(*inner, name))
}

/// An element, and elements inside it.
pub(crate) type Group<'a, 't> = (Node<'a, 't>, Vec<Node<'a, 't>>);

/// All elements below `node` with this local name, in document order, each with the elements inside it that it is the
/// nearest such ancestor of.
pub(crate) fn grouped<'a, 't: 'a>(node: Node<'a, 't>, owner: &str) -> Vec<Group<'a, 't>> {
    let mut groups: Vec<Group<'a, 't>> = Vec::new();
    // The ancestors of the next node, each with the group that what is inside belongs to.
    let mut around: Vec<(Node<'a, 't>, Option<usize>)> = Vec::new();
    for inner in node.descendants().filter(Node::is_element) {
        while around
            .last()
            .is_some_and(|(last, _)| Some(*last) != inner.parent())
        {
            around.pop();
        }
        let mut group = around.last().and_then(|(_, group)| *group);
        if is(inner, owner) {
            groups.push((inner, Vec::new()));
            group = Some(groups.len() - 1);
        } else if let Some(group) = group {
            groups[group].1.push(inner);
        }
        around.push((inner, group));
    }
    groups
}

/// Whether a node is an element with this local name.
pub(crate) fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// Whether an `enabled` attribute says yes.
pub(crate) fn is_enabled(node: Node<'_, '_>) -> bool {
    node.attribute("enabled")
        .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::{MAX_XML_DEPTH, parse};
    use crate::error::ConfigError;
    use std::path::Path;

    fn is_too_deep(text: &str) -> bool {
        matches!(
            parse(text, Path::new("x.config")),
            Err(ConfigError::Nested { .. })
        )
    }
    fn nested(depth: usize) -> String {
        format!("{}{}", "<a b='/>'>".repeat(depth), "</a>".repeat(depth))
    }

    #[test]
    fn what_nests_too_deep_is_refused_before_it_is_parsed() {
        assert!(parse(&nested(MAX_XML_DEPTH), Path::new("x")).is_ok());
        // (The parser would take a stack of some 300 bytes for each.)
        for depth in [MAX_XML_DEPTH + 1, 1_000_000] {
            let elements = nested(depth);
            assert!(is_too_deep(&elements));
            // What looks like the start of something long, where it is something else.
            assert!(is_too_deep(&format!(
                "<!DOCTYPE a SYSTEM '<!--'>{elements}"
            )));
            assert!(is_too_deep(&format!(
                "<!DOCTYPE a [<!-- <? -->]>{elements}"
            )));
            assert!(is_too_deep(&format!("<r c='<!--' d=\"'\">{elements}</r>")));
            assert!(is_too_deep(&format!("<r><!--></a></a>-->{elements}</r>")));
        }
    }

    #[test]
    fn many_elements_side_by_side_are_not_deep() {
        let many = "<a c='x > y'><b/><b d='1'/></a><!-- <a><a> --><![CDATA[<a><a>]]><?p <a>?>"
            .repeat(1000);
        assert!(parse(&format!("<r>{many}</r>"), Path::new("x")).is_ok());
    }
}
