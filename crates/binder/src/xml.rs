//! Reads configuration files: elements by local name, whatever their namespace.
//!
//! A missing file counts as an empty one. A malformed file is an error that the caller may print and ignore, as Mono does.
//!
//! # Invariants
//! Reading takes time and memory in proportion to the file, however it nests: an element belongs to one owner
//! ([`grouped`]), and entities, which multiply text, are refused.

use crate::error::ConfigError;
use roxmltree::{Document, Node, ParsingOptions};
use std::io::ErrorKind;
use std::path::Path;

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
