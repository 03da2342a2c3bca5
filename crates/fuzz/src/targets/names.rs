//! Targets `assembly-name` and `type-name`: the two grammars of names.
//!
//! Oracles: a name that was read is printed so that it is read as the same again; printing that is stable.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_binder::matching::{Ignore, names_equal};
use vervet_binder::remap::remap;
use vervet_binder::{AssemblyName, PublicKeyToken, qualified};
use vervet_types::type_name::{Suffix, TypeName};

pub(super) const ASSEMBLY_NAME: Target = Target {
    name: "assembly-name",
    about: "display names of assemblies: what is printed is read as the same",
    run: run_assembly,
    generate: generate_assembly,
    corpus: || Corpus::read("assembly-name"),
    memory: 1 << 18,
    missing: || None,
};

pub(super) const TYPE_NAME: Target = Target {
    name: "type-name",
    about: "names of types as reflection takes them: what is printed is read as the same",
    run: run_type,
    generate: generate_type,
    corpus: || Corpus::read("type-name"),
    memory: 1 << 18,
    missing: || None,
};

fn run_assembly(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = PublicKeyToken::parse(&text);
    let _ = qualified::parse(&text);
    let name = match AssemblyName::parse(&text) {
        Ok(name) => name,
        Err(e) => {
            assert!(e.to_string().contains(&*text));
            return;
        }
    };
    let mapped = remap(&name);
    assert_eq!(remap(&mapped), mapped, "remapped twice");
    assert!(names_equal(&name, &name, Ignore::default()));
    // Quotes are taken off and, as in mono, printed as they are: such a text means something else when it is read.
    let plain = |t: &str| !t.contains(['"', '\'', ',']) && t.trim() == t && !t.is_empty();
    if plain(&name.name)
        && name
            .culture
            .as_deref()
            .is_none_or(|c| c.is_empty() || plain(c))
    {
        let printed = name.to_string();
        let again = AssemblyName::parse(&printed).expect("what was printed is read");
        assert_eq!(again.name, name.name);
        assert_eq!(again.version_or_zero(), name.version_or_zero());
        assert_eq!(again.culture_or_neutral(), name.culture_or_neutral());
        assert_eq!(again.public_key_token, name.public_key_token);
        assert_eq!(again.retargetable, name.retargetable);
        assert_eq!(again.to_string(), printed);
    }
}

fn generate_assembly(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    const WORDS: &[&str] = &[
        ", ",
        "=",
        "Version=",
        "1.2.3.4",
        "65536.0",
        "99999999999999999999.1",
        "Culture=",
        "neutral",
        "PublicKeyToken=",
        "null",
        "b77a5c561934e089",
        "PublicKey=",
        "00000000000000000400000000000000",
        "Retargetable=Yes",
        "ProcessorArchitecture=MSIL",
        "System",
        "mscorlib",
        "\"",
        "'",
        "\\",
        " ",
        "\u{130}",
    ];
    let mut data = if corpus.inputs.is_empty() {
        Vec::new()
    } else {
        random.of(&corpus.inputs).1.clone()
    };
    mutate::text(&mut data, WORDS, random);
    data
}

/// Writes a name in the grammar, independently of what the runtime prints.
fn print(name: &TypeName, argument: bool, out: &mut String) {
    // The last dot that is not escaped ends the namespace; blanks in front are skipped.
    let escape = |text: &str, more: &str, out: &mut String| {
        for c in text.chars() {
            if "\\,[]&*+".contains(c) || more.contains(c) || c.is_whitespace() {
                out.push('\\');
            }
            out.push(c);
        }
    };
    if argument {
        out.push('[');
    }
    if !name.namespace.is_empty() {
        escape(&name.namespace, "", out);
        out.push('.');
    }
    escape(&name.name, ".", out);
    for nested in &name.nested {
        out.push('+');
        escape(nested, "", out);
    }
    if !name.args.is_empty() {
        out.push('[');
        for (i, arg) in name.args.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            print(arg, true, out);
        }
        out.push(']');
    }
    for suffix in &name.suffixes {
        match suffix {
            Suffix::Vector => out.push_str("[]"),
            Suffix::Array(1) => out.push_str("[*]"),
            Suffix::Array(rank) => {
                out.push('[');
                (1..*rank).for_each(|_| out.push(','));
                out.push(']');
            }
            Suffix::Pointer => out.push('*'),
            Suffix::ByRef => out.push('&'),
        }
    }
    if let Some(assembly) = &name.assembly {
        out.push_str(", ");
        if argument {
            out.push_str(&assembly.replace(']', "\\]"));
            // A backslash in front of the argument's own bracket would escape that.
            if assembly.ends_with('\\') {
                out.push(' ');
            }
        } else {
            out.push_str(assembly);
        }
    }
    if argument {
        out.push(']');
    }
}

fn run_type(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(name) = TypeName::parse(&text) else {
        return;
    };
    let _ = name.full();
    let mut printed = String::new();
    print(&name, false, &mut printed);
    let again = TypeName::parse(&printed);
    assert_eq!(again.as_ref(), Some(&name), "{printed}");
}

fn generate_type(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "System.Int32",
        "System.Collections.Generic.List`1",
        "A+B",
        "[",
        "]",
        "[]",
        "[,]",
        "[*]",
        "[,,,,]",
        "[[",
        "]]",
        ",",
        ", ",
        "*",
        "&",
        "+",
        "\\",
        "\\+",
        ".",
        "..",
        " ",
        "mscorlib",
        "mscorlib, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089",
        "`1",
        "`",
    ];
    let mut data = if corpus.inputs.is_empty() {
        Vec::new()
    } else {
        random.of(&corpus.inputs).1.clone()
    };
    mutate::text(&mut data, WORDS, random);
    data
}
