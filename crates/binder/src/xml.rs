//! Reads configuration files as far as they can be read: elements by local name, whatever their namespace.
//!
//! A missing file counts as an empty one.
//!
//! # Invariants
//! * What stands before an error counts, as in Mono: the reader stops where it cannot go on, and closes what is open. It forgives what does not keep it from
//!   finding the elements: white space in front, `--` in a comment, `&` and `<` in a value, an attribute that is there twice, an end tag of another name.
//! * Reading takes time in proportion to the file, however it nests: an element belongs to one owner ([`grouped`]), there is no recursion, and no
//!   entities but the five predefined ones and characters by number are replaced.
//! * Only elements of the names that somebody reads ([`READ`]) take memory; the rest of a configuration, which is most of it, does not.

use crate::error::ConfigError;
use crate::name::is_space;
use std::borrow::Cow;
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

/// The names of elements that somebody reads. Whoever looks for another one adds it.
const READ: [&str; 14] = [
    "GreenThreads",
    "ThrowUnobservedTaskExceptions",
    "assemblyBinding",
    "assemblyIdentity",
    "bindingRedirect",
    "dependentAssembly",
    "dllentry",
    "dllmap",
    "legacyUnhandledExceptionPolicy",
    "probing",
    "requiredRuntime",
    "runtime",
    "startup",
    "supportedRuntime",
];

/// The elements of a text that somebody reads, in document order.
#[derive(Debug, Default)]
pub(crate) struct Document<'t> {
    elements: Vec<Element<'t>>,
}

#[derive(Debug)]
struct Element<'t> {
    /// Its name without the prefix.
    name: &'t str,
    attributes: Vec<(&'t str, Cow<'t, str>)>,
    /// The nearest element around it of those that are kept.
    parent: Option<usize>,
    /// The index behind what is inside.
    end: usize,
}

/// An element of a document.
#[derive(Clone, Copy)]
pub(crate) struct Node<'d, 't> {
    document: &'d Document<'t>,
    index: usize,
}

impl<'d> Node<'d, '_> {
    fn element(self) -> &'d Element<'d> {
        &self.document.elements[self.index]
    }
    /// Its place in document order.
    pub(crate) fn index(self) -> usize {
        self.index
    }
    /// The value of an attribute; the last counts.
    pub(crate) fn attribute(self, name: &str) -> Option<&'d str> {
        let mut all = self.element().attributes.iter().rev();
        all.find(|a| a.0 == name).map(|a| &*a.1)
    }
}

/// Where a reader is in a text.
struct Reader<'t> {
    rest: &'t str,
    /// The names of the elements that are kept.
    kept: &'static [&'static str],
    document: Document<'t>,
    /// Of each element that is open, the nearest one of those that are kept, which may be itself; [`OUTSIDE`] if there is none.
    open: Vec<u32>,
}

/// See [`Reader::open`].
const OUTSIDE: u32 = u32::MAX;

/// Reads a text as far as it can be read; a byte order mark in front is no part of it.
pub(crate) fn parse(text: &str) -> Document<'_> {
    parse_for(text, &READ)
}

/// Reads a text and keeps the elements of these names.
fn parse_for<'t>(text: &'t str, kept: &'static [&'static str]) -> Document<'t> {
    let mut reader = Reader {
        kept,
        rest: text.strip_prefix('\u{feff}').unwrap_or(text),
        document: Document::default(),
        open: Vec::new(),
    };
    while reader.step().is_some() {}
    while reader.close().is_some() {}
    reader.document
}

impl<'t> Reader<'t> {
    /// Reads the text up to the next mark-up, and that. None: the end, or an error.
    fn step(&mut self) -> Option<()> {
        let at = self.rest.find('<')?;
        let outside = self.rest[..at].trim_matches(is_space);
        if self.open.is_empty() && !outside.is_empty() {
            return None;
        }
        self.rest = &self.rest[at + 1..];
        for (start, end) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")] {
            if let Some(after) = self.rest.strip_prefix(start) {
                return self.skip_to(after, end);
            }
        }
        match self.rest.as_bytes().first()? {
            b'!' => self.document_type(),
            b'/' => {
                self.close()?;
                self.skip_to(self.rest, ">")
            }
            _ => self.element(),
        }
    }
    /// Closes the innermost element, if one is open.
    fn close(&mut self) -> Option<()> {
        let closed = self.open.pop()?;
        if closed != self.innermost() {
            self.document.elements[closed as usize].end = self.document.elements.len();
        }
        Some(())
    }
    /// The innermost open element of those that are kept.
    fn innermost(&self) -> u32 {
        self.open.last().copied().unwrap_or(OUTSIDE)
    }
    fn skip_to(&mut self, from: &'t str, end: &str) -> Option<()> {
        let at = from.find(end)?;
        self.rest = &from[at + end.len()..];
        Some(())
    }
    /// Skips a document type, with the declarations in it.
    fn document_type(&mut self) -> Option<()> {
        let (mut quote, mut depth) = (None, 0_usize);
        let end = self.rest.bytes().position(|byte| {
            match (quote, byte) {
                (Some(open), _) if open == byte => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'[' | b'<') => depth += 1,
                (None, b']') => depth = depth.saturating_sub(1),
                (None, b'>') if depth == 0 => return true,
                (None, b'>') => depth -= 1,
                _ => {}
            }
            false
        });
        // (The `>` of a declaration closes its `<`.)
        self.rest = &self.rest[end? + 1..];
        Some(())
    }
    /// Reads a start tag. It counts as soon as it is whole.
    fn element(&mut self) -> Option<()> {
        let name = self.word()?;
        let name = name.rsplit(':').next().unwrap_or(name);
        let is_kept = self.kept.contains(&name);
        let mut attributes = Vec::new();
        let is_empty = loop {
            self.rest = self.rest.trim_start_matches(is_space);
            if let Some(rest) = self.rest.strip_prefix('>') {
                self.rest = rest;
                break false;
            }
            if let Some(rest) = self.rest.strip_prefix("/>") {
                self.rest = rest;
                break true;
            }
            let key = self.word()?;
            let value = self.rest.trim_start_matches(is_space).strip_prefix('=')?;
            let value = value.trim_start_matches(is_space);
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, rest) = value[1..].split_once(quote)?;
            if is_kept {
                attributes.push((key, decoded(value)));
            }
            self.rest = rest;
        };
        let mut nearest = self.innermost();
        if is_kept {
            let index = self.document.elements.len();
            self.document.elements.push(Element {
                name,
                attributes,
                parent: (nearest != OUTSIDE).then_some(nearest as usize),
                end: index + 1,
            });
            nearest = u32::try_from(index).ok()?;
        }
        if !is_empty {
            self.open.push(nearest);
        }
        Some(())
    }
    /// A name: up to white space or a character that ends it.
    fn word(&mut self) -> Option<&'t str> {
        let ends = |c: char| is_space(c) || matches!(c, '=' | '/' | '>' | '<' | '"' | '\'');
        let (word, rest) = self.rest.split_at(self.rest.find(ends)?);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// A value with its entities replaced; what is none stays.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let entity = entity_in_front(rest);
        match entity.and_then(|(name, after)| Some((entity_of(name)?, after))) {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The name of an entity whose `&` has been read, and what follows it. Another `&` ends the search: every character is looked at once.
fn entity_in_front(text: &str) -> Option<(&str, &str)> {
    let end = text.find([';', '&'])?;
    let rest = text[end..].strip_prefix(';')?;
    Some((&text[..end], rest))
}

fn entity_of(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

impl<'t> Document<'t> {
    fn node(&self, index: usize) -> Node<'_, 't> {
        Node {
            document: self,
            index,
        }
    }
    /// All elements with this local name, in document order.
    pub(crate) fn elements(&self, name: &str) -> impl Iterator<Item = Node<'_, 't>> {
        let all = (0..self.elements.len()).map(|index| self.node(index));
        all.filter(move |node| is(*node, name))
    }
}

impl Document<'_> {
    /// Of each element, how many with this local name it is inside of.
    pub(crate) fn depths_in(&self, name: &str) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.elements.len());
        for element in &self.elements {
            let depth = (element.parent)
                .map_or(0, |p| depths[p] + u32::from(self.elements[p].name == name));
            depths.push(depth);
        }
        depths
    }
}

/// All elements inside an element with this local name, in document order.
pub(crate) fn elements<'d, 't>(
    node: Node<'d, 't>,
    name: &str,
) -> impl DoubleEndedIterator<Item = Node<'d, 't>> {
    let inside = node.index + 1..node.element().end;
    let all = inside.map(move |index| node.document.node(index));
    all.filter(move |inner| is(*inner, name))
}

/// An element, and elements inside it.
pub(crate) type Group<'d, 't> = (Node<'d, 't>, Vec<Node<'d, 't>>);

/// All elements with this local name, in document order, each with the elements inside it that it is the nearest such
/// ancestor of.
pub(crate) fn grouped<'d, 't>(document: &'d Document<'t>, owner: &str) -> Vec<Group<'d, 't>> {
    let mut groups: Vec<Group<'d, 't>> = Vec::new();
    // Of each element, the group that what is inside belongs to. A parent comes before what is in it.
    let mut of: Vec<Option<usize>> = Vec::with_capacity(document.elements.len());
    for (index, element) in document.elements.iter().enumerate() {
        let node = document.node(index);
        let mut group = element.parent.and_then(|parent| of[parent]);
        if element.name == owner {
            groups.push((node, Vec::new()));
            group = Some(groups.len() - 1);
        } else if let Some(group) = group {
            groups[group].1.push(node);
        }
        of.push(group);
    }
    groups
}

/// Whether an element has this local name.
pub(crate) fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.element().name == name
}

/// Whether an `enabled` attribute says yes.
pub(crate) fn is_enabled(node: Node<'_, '_>) -> bool {
    node.attribute("enabled")
        .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::{Document, elements, entity_in_front, grouped, parse_for};

    fn parse(text: &str) -> Document<'_> {
        parse_for(text, &["o", "x"])
    }

    fn found(text: &str) -> bool {
        parse(text).elements("x").next().is_some()
    }

    #[test]
    fn what_stands_before_an_error_counts() {
        for text in [
            "<a><x/>",
            "<a><x b='",
            "<a><x/></a>junk",
            "<a><x/><b c=d/></a>",
            "<a><x/><",
        ] {
            assert_eq!(found(text), !text.contains("<x b='"), "{text}");
        }
        for text in ["junk<x/>", "<a><b c=d/><x/></a>", "<a><!-- <x/>", "", "<"] {
            assert!(!found(text), "{text}");
        }
    }

    #[test]
    fn what_does_not_hide_elements_is_forgiven() {
        for text in [
            " \n<?xml version='1.0'?><a><x/></a>",
            "\u{feff}<a><!-- b -- c --><x/></a>",
            "<a><b c='& < >' c='d'/><x/></a>",
            "<a>&nbsp;<b></c><p:x/></a>",
            "<a><![CDATA[<b>]]><x/></a>",
            "<!DOCTYPE a [<!ENTITY e '>]'> <!-- > -->]><a><x/></a>",
        ] {
            assert!(found(text), "{text}");
        }
    }

    #[test]
    fn values_are_decoded_and_the_last_counts() {
        let document = parse("<x a='1' a='&lt;&amp;&#65;&#x42;&e;&'/>");
        let node = document.elements("x").next().unwrap();
        assert_eq!(node.attribute("a"), Some("<&AB&e;&"));
    }

    #[test]
    fn the_search_for_the_end_of_an_entity_ends_at_the_next_one() {
        assert_eq!(entity_in_front("amp;x"), Some(("amp", "x")));
        assert_eq!(entity_in_front("a&b;"), None);
        assert_eq!(super::decoded("&a&amp;&"), "&a&&");
    }

    #[test]
    fn elements_are_those_inside_and_groups_those_of_the_nearest_owner() {
        let document = parse("<r><o n='1'><x/><o n='2'><x/></o><x/></o><x/></r>");
        let outer = document.elements("o").next().unwrap();
        assert_eq!(elements(outer, "x").count(), 3);
        let groups = grouped(&document, "o");
        let sizes: Vec<usize> = groups.iter().map(|g| g.1.len()).collect();
        assert_eq!(sizes, [2, 1]);
    }

    #[test]
    fn what_nobody_reads_takes_no_memory() {
        let document = parse("<r a='1'><o><b><x/><c/></b></o><x/></r>");
        let parents: Vec<_> = document.elements.iter().map(|e| e.parent).collect();
        assert_eq!(parents, [None, Some(0), None]);
        let owner = document.elements("o").next().unwrap();
        assert_eq!(elements(owner, "x").count(), 1);
        assert!(super::parse(&"<a b='c'/>".repeat(1000)).elements.is_empty());
    }

    #[test]
    fn deep_files_take_no_stack_and_no_time() {
        let depth = 300_000;
        let text = format!("{}<x/>{}", "<o>".repeat(depth), "</o>".repeat(depth));
        let document = parse(&text);
        assert_eq!(grouped(&document, "o").len(), depth);
    }
}
