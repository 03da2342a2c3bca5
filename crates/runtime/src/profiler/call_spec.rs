//! Which methods' calls are recorded: mono's syntax of `--trace`.
//!
//! | item | methods |
//! |---|---|
//! | `all`, `none` | all; none |
//! | `program` | those of the program's assembly |
//! | `N:Namespace` | those of the classes of a namespace |
//! | `T:Type` | those of a class, with its namespace |
//! | `M:Type:Method` | the methods of a class with that name |
//! | a name | those of an assembly |
//!
//! # Invariants
//! The last item that fits decides; a `-` in front of an item takes its methods away. With no item that fits a method is left out, unless all items
//! take away.
use vervet_os::Published;
use vervet_types::{MethodRef, ModuleRef};

/// The manifest module of the program's assembly, once it is known: before that, no method is the program's.
static PROGRAM: Published<ModuleRef> = Published::new();

/// That is the program's assembly. The loader says so when it has found it, so that this module need not know the loader.
pub(crate) fn program_is(manifest: ModuleRef) {
    PROGRAM.put(manifest);
}

#[derive(Debug, PartialEq)]
enum What {
    All,
    Program,
    Namespace(String),
    Type(String),
    Method(String, String),
    Assembly(String),
}

#[derive(Debug, PartialEq)]
struct Item {
    takes: bool,
    what: What,
}

static SPEC: Published<Vec<Item>> = Published::new();

/// Chooses the methods. The error is a sentence for the user.
pub(super) fn set(text: &str) -> Result<(), String> {
    SPEC.put(parse(text)?);
    Ok(())
}

fn parse(text: &str) -> Result<Vec<Item>, String> {
    let item = |text: &str| {
        let (takes, text) = match text.strip_prefix('-') {
            Some(rest) => (false, rest),
            None => (true, text),
        };
        let wrong = || {
            format!(
                "--profile: callspec: '{text}' is none of all, none, program, N:, T:, M:Type:Method, an assembly"
            )
        };
        let what = match text.split_once(':') {
            Some(("N", name)) => What::Namespace(name.to_owned()),
            Some(("T", name)) => What::Type(name.to_owned()),
            Some(("M", rest)) => {
                let (class, method) = rest.rsplit_once(':').ok_or_else(wrong)?;
                What::Method(class.to_owned(), method.to_owned())
            }
            Some(_) => return Err(wrong()),
            None => match text {
                "" => return Err(wrong()),
                "all" => What::All,
                "none" => {
                    return Ok(Item {
                        takes: !takes,
                        what: What::All,
                    });
                }
                "program" => What::Program,
                name => What::Assembly(name.to_owned()),
            },
        };
        Ok(Item { takes, what })
    };
    text.split(',').map(item).collect()
}

fn fits(what: &What, method: MethodRef) -> bool {
    let class = method.class;
    // Of a generic class, the definition.
    let definition = method.definition().class;
    let is = |name: &str| definition.full_name().replace('+', "/") == name.replace('+', "/");
    match what {
        What::All => true,
        What::Program => PROGRAM
            .get()
            .is_some_and(|program| std::ptr::eq(*program, class.module)),
        What::Namespace(name) => class.namespace == name,
        What::Type(name) => is(name),
        What::Method(name, method_name) => method.name == method_name && is(name),
        What::Assembly(name) => class.module.assembly().is_some_and(|a| a.name == name),
    }
}

/// Are calls of the method recorded?
pub(crate) fn is_recorded(method: MethodRef) -> bool {
    let Some(items) = SPEC.get() else { return true };
    let last = items.iter().rev().find(|item| fits(&item.what, method));
    last.map_or_else(|| items.iter().all(|item| !item.takes), |item| item.takes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_monos() {
        let items = parse("all,-N:System,M:A.B:C,mscorlib").unwrap();
        let whats: Vec<_> = items.iter().map(|i| (i.takes, &i.what)).collect();
        assert_eq!(whats[0], (true, &What::All));
        assert_eq!(whats[1], (false, &What::Namespace("System".into())));
        assert_eq!(whats[2], (true, &What::Method("A.B".into(), "C".into())));
        assert_eq!(whats[3], (true, &What::Assembly("mscorlib".into())));
        assert!(!parse("none").unwrap()[0].takes);
        for wrong in ["X:y", "M:z", "", "a,,b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
