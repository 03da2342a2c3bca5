//! The grammar of type names as reflection has them: `Outer+Inner`2[[A, asm],B][,]*&, Assembly, Version=1.0.0.0`.
//!
//! ```text
//! name      = [namespace "."] identifier { "+" identifier }
//! type      = name [ "[" argument { "," argument } "]" ] { suffix } [ "&" ] [ "," assembly ]
//! argument  = type without assembly | "[" type "]"
//! suffix    = "[]" | "[,]" | "[*]" | "*"
//! ```
//! A backslash takes its meaning from the character behind it.
//!
//! # Invariants
//! Parsing is bounded by the text and [`MAX_DEPTH`]; nothing is looked up. Names are kept unescaped.
use std::iter::Peekable;
use std::str::Chars;

/// How deeply arguments may nest.
const MAX_DEPTH: u32 = 100;

/// A parsed type name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TypeName {
    /// Namespace of the outermost type.
    pub namespace: String,
    /// Name of the outermost type.
    pub name: String,
    /// Names of the nested types, outside in.
    pub nested: Vec<String>,
    /// Generic arguments.
    pub args: Vec<TypeName>,
    /// Arrays, pointers and byref, inside out.
    pub suffixes: Vec<Suffix>,
    /// Display name of the assembly.
    pub assembly: Option<String>,
}

/// What may follow a type's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suffix {
    /// `[]`
    Vector,
    /// `[,]` of that rank; `[*]` has rank 1.
    Array(u32),
    /// `*`
    Pointer,
    /// `&`
    ByRef,
}

impl TypeName {
    /// Reads a whole text. As in mono, it ends at a NUL, and blanks in front of it are spaces only.
    pub fn parse(text: &str) -> Option<TypeName> {
        let text = text.split('\0').next().unwrap_or("");
        let mut p = Parser {
            rest: text.trim_start_matches(' ').chars().peekable(),
        };
        let name = p.type_name(0, true)?;
        p.rest.peek().is_none().then_some(name)
    }
    /// Namespace and name, with the nested names.
    pub fn full(&self) -> String {
        let mut s = if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.namespace, self.name)
        };
        for n in &self.nested {
            s.push('+');
            s.push_str(n);
        }
        s
    }
}

/// A cursor over the text of a name.
struct Parser<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Parser<'_> {
    /// Takes one character if it is the next.
    fn eat(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }
    /// Skips white space.
    fn spaces(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }
    /// Up to a character of the grammar; dots that are not escaped are remembered.
    fn identifier(&mut self, last_dot: &mut Option<usize>) -> Option<String> {
        let mut out = String::new();
        *last_dot = None;
        while let Some(&c) = self.rest.peek() {
            match c {
                '\\' => {
                    self.rest.next();
                    out.push(self.rest.next()?);
                    continue;
                }
                '+' | ',' | '[' | ']' | '*' | '&' => break,
                '.' => *last_dot = Some(out.len()),
                _ => {}
            }
            out.push(c);
            self.rest.next();
        }
        (!out.is_empty()).then_some(out)
    }
    /// Reads a name with its suffixes and arguments; with `qualified`, the assembly's name too.
    fn type_name(&mut self, depth: u32, qualified: bool) -> Option<TypeName> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut name = TypeName::default();
        let mut dot = None;
        let text = self.identifier(&mut dot)?;
        match dot {
            // A name that begins with its only dot (`.ctor`-like) has no namespace.
            Some(at) if at > 0 => {
                name.namespace = text[..at].to_string();
                name.name = text[at + 1..].to_string();
            }
            _ => name.name = text,
        }
        if name.name.is_empty() || name.name == "." {
            return None;
        }
        while self.eat('+') {
            name.nested.push(self.identifier(&mut dot)?);
        }
        self.suffixes(&mut name, depth)?;
        self.spaces();
        if qualified && self.eat(',') {
            self.spaces();
            let mut assembly = String::new();
            while let Some(c) = self.rest.next_if(|c| depth == 0 || *c != ']') {
                // In an argument's brackets the one character that has to be escaped is the closing one.
                let escaped = (c == '\\' && depth > 0)
                    .then(|| self.rest.next_if_eq(&']'))
                    .flatten();
                assembly.push(escaped.unwrap_or(c));
            }
            if assembly.is_empty() || lacks_its_last_part(&assembly) {
                return None;
            }
            name.assembly = Some(assembly);
        }
        Some(name)
    }
    /// Reads arrays, pointers, `&` and arguments. Nothing may follow `&`.
    fn suffixes(&mut self, name: &mut TypeName, depth: u32) -> Option<()> {
        loop {
            if name.suffixes.last() == Some(&Suffix::ByRef) {
                return Some(());
            }
            match self.rest.peek() {
                Some('*') => {
                    self.rest.next();
                    name.suffixes.push(Suffix::Pointer);
                }
                Some('&') => {
                    self.rest.next();
                    name.suffixes.push(Suffix::ByRef);
                }
                Some('[') => {
                    self.rest.next();
                    self.spaces();
                    match *self.rest.peek()? {
                        ']' => {
                            self.rest.next();
                            name.suffixes.push(Suffix::Vector);
                        }
                        ',' | '*' => {
                            let (mut rank, mut bounds) = (1, false);
                            loop {
                                match self.rest.next()? {
                                    ',' => rank += 1,
                                    '*' => bounds = true,
                                    ' ' => {}
                                    ']' => break,
                                    _ => return None,
                                }
                            }
                            // A star stands for an array of rank 1 that is no vector.
                            if bounds && rank > 1 {
                                return None;
                            }
                            name.suffixes.push(Suffix::Array(rank));
                        }
                        _ => {
                            if !name.args.is_empty() || !name.suffixes.is_empty() {
                                return None;
                            }
                            self.arguments(name, depth)?;
                        }
                    }
                }
                _ => return Some(()),
            }
        }
    }
    /// Reads the generic arguments up to the closing bracket.
    fn arguments(&mut self, name: &mut TypeName, depth: u32) -> Option<()> {
        loop {
            self.spaces();
            if self.eat('[') {
                self.spaces();
                name.args.push(self.type_name(depth + 1, true)?);
                if !self.eat(']') {
                    return None;
                }
            } else {
                name.args.push(self.type_name(depth + 1, false)?);
            }
            self.spaces();
            match self.rest.next()? {
                ',' => {}
                ']' => return Some(()),
                _ => return None,
            }
        }
    }
}

/// Does an assembly's name end with the comma of a part that is not there? In one with other characters than a simple name's the comma parts nothing.
fn lacks_its_last_part(assembly: &str) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || ".-_$@".contains(c);
    let unquoted = assembly.strip_prefix('"');
    let rest = unquoted.unwrap_or(assembly).trim_start_matches(plain);
    let rest = match unquoted {
        Some(_) => rest.strip_prefix('"').unwrap_or_default(),
        None => rest,
    };
    rest.starts_with(',') && assembly.trim_end().ends_with(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_nested_and_qualified() {
        let n = TypeName::parse("A.B.C+D+E, asm, Version=1.0.0.0").unwrap();
        assert_eq!((n.namespace.as_str(), n.name.as_str()), ("A.B", "C"));
        assert_eq!(n.nested, ["D", "E"]);
        assert_eq!(n.assembly.as_deref(), Some("asm, Version=1.0.0.0"));
        assert_eq!(n.full(), "A.B.C+D+E");
    }
    #[test]
    fn arguments_and_suffixes() {
        let n = TypeName::parse("D`2[[K, a, Culture=neutral],V[]][,][]*&").unwrap();
        assert_eq!(n.args[0].assembly.as_deref(), Some("a, Culture=neutral"));
        assert_eq!(n.args[1].suffixes, [Suffix::Vector]);
        assert_eq!(
            n.suffixes,
            [
                Suffix::Array(2),
                Suffix::Vector,
                Suffix::Pointer,
                Suffix::ByRef
            ]
        );
        assert_eq!(
            TypeName::parse("X[*]").unwrap().suffixes,
            [Suffix::Array(1)]
        );
    }
    #[test]
    fn escapes_and_errors() {
        assert_eq!(TypeName::parse(r"N.A\+B\,C").unwrap().name, "A+B,C");
        let argument = &TypeName::parse(r"A[[B, a\]b]]").unwrap().args[0];
        assert_eq!(argument.assembly.as_deref(), Some("a]b"));
        for bad in [
            "",
            "A[",
            "A[[B]",
            "A]",
            "A&&",
            "A, ",
            "A, B,",
            "A, B, C=D , ",
            "A+",
            "A[B][C]",
            r"A\",
            ".",
            "A.",
            "A.[]",
            "A[*,*]",
            "A[,*]",
            "\0A",
        ] {
            assert_eq!(TypeName::parse(bad), None, "{bad}");
        }
        // As mono reads them.
        assert_eq!(TypeName::parse("  A\0+").unwrap().name, "A");
        assert_eq!(TypeName::parse("\u{A0}A").unwrap().name, "\u{A0}A");
        let deep = "A[".repeat(10_000);
        assert_eq!(TypeName::parse(&deep), None);
    }
}
