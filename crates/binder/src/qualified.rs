//! The assembly's name in a type's name: `System.Uri, System, Version=4.0.0.0, Custom=null`.
//!
//! Mono reads it more leniently than a name by itself: keys that it does not know are skipped, and the first part that is not followed by
//! a comma or a blank ends the name, whatever comes behind. Programs rely on it: System.Transactions and WCF ask for types with
//! `Custom=null`. Keys are capitalized, the rest of their letters ignores case.
use crate::error::NameError;
use crate::name::{AssemblyName, Version, is_space};
use crate::token::PublicKeyToken;

/// Reads the name. What is wrong is a token that is no token: no assembly has it.
pub fn parse(text: &str) -> Result<AssemblyName, NameError> {
    let (simple, mut rest) = simple_name(text);
    let mut name = AssemblyName::simple(simple);
    while !rest.is_empty() {
        rest = part(&mut name, rest).ok_or_else(|| NameError::Part {
            name: text.to_owned(),
            part: rest.to_owned(),
        })?;
        let next = rest.trim_start_matches(|c| is_space(c) || c == ',');
        if next.len() == rest.len() {
            break;
        }
        rest = next;
    }
    Ok(name)
}

/// The simple name, and what follows its comma. A name that is followed by anything else is all of the text. White space behind it is part of it, unless a
/// comma follows.
fn simple_name(text: &str) -> (&str, &str) {
    let unquoted = text.strip_prefix('"');
    let start = unquoted.unwrap_or(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || is_space(c) || ".-_$@".contains(c);
    let rest = start.trim_start_matches(plain);
    let name = &start[..start.len() - rest.len()];
    let rest = match unquoted {
        Some(_) => match rest.strip_prefix('"') {
            Some(rest) if !rest.starts_with(',') => return (name, ""),
            Some(rest) => rest,
            None => return (start, ""),
        },
        None => rest,
    };
    match (rest.strip_prefix(','), unquoted) {
        (Some(rest), None) => (
            name.trim_end_matches(is_space),
            rest.trim_start_matches(is_space),
        ),
        (Some(rest), Some(_)) => (name, rest.trim_start_matches(is_space)),
        (None, _) => (start, ""),
    }
}

/// Reads one part; what follows it, or None if it holds a token that is none.
fn part<'t>(name: &mut AssemblyName, text: &'t str) -> Option<&'t str> {
    let keyed = |key: &str| {
        let (head, value) = text.split_at_checked(key.len())?;
        let capital = head.as_bytes()[0] == key.as_bytes()[0];
        (capital && head.eq_ignore_ascii_case(key)).then_some(value)
    };
    let to_comma = |value: &'t str| value.split_at(value.find(',').unwrap_or(value.len()));
    if let Some(value) = keyed("Version=") {
        let (version, rest) = version(value);
        name.version = Some(version);
        return Some(rest);
    }
    if let Some(value) = keyed("Culture=") {
        const NEUTRAL: &str = "neutral";
        if let Some((head, rest)) = value.split_at_checked(NEUTRAL.len())
            && head.eq_ignore_ascii_case(NEUTRAL)
        {
            name.culture = Some(String::new());
            return Some(rest);
        }
        let (culture, rest) = to_comma(value);
        name.culture = Some(culture.to_owned());
        return Some(rest);
    }
    if let Some(value) = keyed("PublicKeyToken=") {
        if let Some(rest) = value.strip_prefix("null") {
            name.token_is_null = true;
            return Some(rest);
        }
        let (token, rest) = to_comma(value);
        if !token.is_empty() {
            // What is longer than a token is cut off.
            let token = token.get(..16).unwrap_or(token);
            name.public_key_token = Some(PublicKeyToken::parse(token)?);
        }
        return Some(rest);
    }
    Some(to_comma(text).1)
}

/// Up to four numbers with dots between them, each cut to sixteen bits; what follows them.
fn version(mut text: &str) -> (Version, &str) {
    let mut version = Version::default();
    for (i, number) in version.iter_mut().enumerate() {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        *number = text[..text.len() - rest.len()]
            .bytes()
            .fold(0, |value: u16, digit| {
                value.wrapping_mul(10).wrapping_add(u16::from(digit - b'0'))
            });
        text = rest;
        if i == 3 {
            break;
        }
        match text.strip_prefix('.') {
            Some(rest) => text = rest,
            None => break,
        }
    }
    (version, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        parse(text).map_or_else(|e| e.to_string(), |name| name.to_string())
    }

    #[test]
    fn unknown_keys_are_skipped() {
        const SYSTEM: &str =
            "System, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
        for text in [
            "System, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089, Custom=null",
            "System, Version=4.0.0.0, Custom=null, Culture=neutral, PublicKeyToken=B77A5C561934E089",
            "System,Version=4.0.0.0,=x,Foo,PublicKeyToken=b77a5c561934e089",
            "System,, Version=4.0.0.0 PublicKeyToken=b77a5c561934e089",
            "\"System\", Version=4.0.0.0, PublicKeyToken=b77a5c561934e089 ",
        ] {
            assert_eq!(printed(text), SYSTEM, "{text}");
        }
    }
    #[test]
    fn a_part_that_nothing_parts_from_the_next_ends_the_name() {
        let zero = "System, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null";
        for text in [
            "System, Version=x, Version=1.0.0.0",
            "System, Culture=neutral2, Culture=de",
            "System, PublicKeyToken=nullx, Version=1.0.0.0",
        ] {
            assert_eq!(printed(text), zero, "{text}");
        }
        assert_eq!(
            parse("System, Version=4").unwrap().version,
            Some([4, 0, 0, 0])
        );
    }
    #[test]
    fn a_simple_name_of_other_characters_is_all_of_the_text() {
        assert_eq!(parse("'X', Custom=2").unwrap().name, "'X', Custom=2");
        assert_eq!(parse("X!Y, Custom=2").unwrap().name, "X!Y, Custom=2");
        assert_eq!(parse("X Y , Custom=2").unwrap().name, "X Y");
        assert_eq!(parse("\"X\", Custom=2").unwrap().name, "X");
        assert_eq!(parse("é, Custom=2").unwrap().name, "é, Custom=2");
    }
    #[test]
    fn white_space_is_part_of_the_name_unless_a_comma_follows() {
        for (text, name) in [
            ("X ", "X "),
            ("X , Y=1", "X"),
            ("\"X \"", "X "),
            ("\"X \", Y=1", "X "),
        ] {
            assert_eq!(parse(text).unwrap().name, name);
        }
    }
    #[test]
    fn a_token_that_is_none_is_an_error() {
        assert!(parse("System, PublicKeyToken=abc").is_err());
        assert!(parse("System, PublicKeyToken=").is_ok());
        let long = parse("System, PublicKeyToken=b77a5c561934e089 x");
        assert_eq!(long.unwrap().public_key_token, Some(PublicKeyToken::ECMA));
    }
}
