//! Native libraries: what to hand to `dlopen`, in which order, for the library a DllImport names.
//!
//! The name is tried in up to four shapes: as written; without `.dll`; with `lib` in front; and, for two Windows
//! libraries, as the shim that stands for them. Each shape is tried in the directory of the assembly, then in the
//! `lib` directory beside the executable's, then wherever the loader looks, each time as it is and then decorated as
//! `lib….so`. `DllImportSearchPath` attributes change nothing, as in Mono 6.8.
//!
//! # Invariants   No candidate appears twice, and the first success wins. `dlopen` is lazy and local.

use std::path::Path;

/// The scope that means the process itself.
pub const INTERNAL: &str = "__Internal";

/// One thing to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Library {
    /// The process and what it has loaded globally: `dlopen(NULL)`.
    Process,
    /// A path or a plain name for `dlopen`.
    Open(String),
}

/// The candidates for `scope` (after dllmaps), with the directory of the declaring assembly and that of the executable.
pub fn library_candidates(
    scope: &str,
    assembly_dir: Option<&Path>,
    executable_dir: Option<&Path>,
) -> Vec<Library> {
    let mut list = Candidates::default();
    if scope == INTERNAL {
        list.0.push(Library::Process);
    }
    let beside = executable_dir
        .and_then(Path::parent)
        .map(|parent| parent.join("lib"));
    let directories: Vec<&Path> = assembly_dir.into_iter().chain(beside.as_deref()).collect();
    for shape in shapes(scope) {
        if scope.starts_with('/') {
            let (directory, base) = shape.rsplit_once('/').unwrap_or(("", &shape));
            list.push(shape.clone());
            list.push_decorated(Some(directory), base);
        } else {
            for directory in &directories {
                list.push_decorated(Some(&directory.to_string_lossy()), &shape);
            }
            list.push_decorated(None, &shape);
        }
    }
    list.0
}

/// The shapes of a name, in order.
fn shapes(scope: &str) -> Vec<String> {
    let mut shapes = vec![scope.to_owned()];
    if first_at_end(scope, ".dll") {
        shapes.push(scope[..scope.len() - 4].to_owned());
    }
    let (directory, base) = match scope.rsplit_once('/') {
        Some((directory, base)) if scope.starts_with('/') => (Some(directory), base),
        _ => (None, scope),
    };
    if !base.starts_with("lib") {
        shapes.push(match directory {
            Some(directory) => format!("{directory}/lib{base}"),
            None => format!("lib{base}"),
        });
    }
    if ["user32.dll", "kernel32.dll", "user32", "kernel"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(scope))
    {
        shapes.push("libMonoSupportW.so".to_owned());
    }
    shapes
}

/// Whether the first occurrence of `ending` is the end of `name`.
fn first_at_end(name: &str, ending: &str) -> bool {
    name.find(ending)
        .is_some_and(|at| at + ending.len() == name.len())
}

/// Names of a symbol, in order: by the character set of the DllImport, unless it spells the name exactly.
pub fn symbol_candidates(name: &str, char_set: CharSet, exact_spelling: bool) -> Vec<String> {
    match (exact_spelling, char_set) {
        (true, _) => vec![name.to_owned()],
        (false, CharSet::Unicode) => vec![format!("{name}W"), name.to_owned()],
        (false, _) => vec![name.to_owned(), format!("{name}A")],
    }
}

/// The character set of a DllImport, from its ImplMap flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CharSet {
    /// Not specified.
    #[default]
    None,
    /// UTF-8 here.
    Ansi,
    /// UTF-16.
    Unicode,
    /// The platform's, which here is [`CharSet::Ansi`].
    Auto,
}

#[derive(Default)]
struct Candidates(Vec<Library>);

impl Candidates {
    fn push(&mut self, name: String) {
        let library = Library::Open(name);
        if !self.0.contains(&library) {
            self.0.push(library);
        }
    }

    /// The name as it is, then as `lib….so`; neither decoration is given twice.
    fn push_decorated(&mut self, directory: Option<&str>, name: &str) {
        let prefix = if name.starts_with("lib") { "" } else { "lib" };
        let suffix = if first_at_end(name, ".so") { "" } else { ".so" };
        for name in [name.to_owned(), format!("{prefix}{name}{suffix}")] {
            self.push(match directory {
                Some(directory) if !directory.is_empty() => format!("{directory}/{name}"),
                _ => name,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(scope: &str) -> Vec<String> {
        library_candidates(
            scope,
            Some(Path::new("/app")),
            Some(Path::new("/opt/vervet/bin")),
        )
        .into_iter()
        .map(|library| match library {
            Library::Process => "(process)".to_owned(),
            Library::Open(name) => name,
        })
        .collect()
    }

    #[test]
    fn a_plain_name_is_tried_near_the_assembly_then_near_us_then_anywhere() {
        assert_eq!(
            candidates("foo")[..6],
            [
                "/app/foo",
                "/app/libfoo.so",
                "/opt/vervet/lib/foo",
                "/opt/vervet/lib/libfoo.so",
                "foo",
                "libfoo.so"
            ]
        );
    }

    #[test]
    fn the_windows_ending_is_taken_off_in_the_second_round() {
        let all = candidates("foo.dll");
        let at = |name: &str| all.iter().position(|candidate| candidate == name).unwrap();
        assert!(at("foo.dll") < at("libfoo.dll.so") && at("libfoo.dll.so") < at("/app/foo"));
        assert!(at("/app/libfoo.so") < at("libfoo.so") && at("libfoo.so") < at("/app/libfoo.dll"));
    }

    #[test]
    fn decorations_are_not_given_twice() {
        assert_eq!(candidates("libfoo.so").last().unwrap(), "libfoo.so");
        assert_eq!(candidates("libfoo.so").len(), 3);
        assert!(candidates("m").contains(&"libm.so".to_owned()));
        assert!(candidates("libfoo.so.1").contains(&"libfoo.so.1.so".to_owned()));
    }

    #[test]
    fn an_absolute_path_stays_in_its_directory() {
        assert_eq!(candidates("/x/foo.so"), ["/x/foo.so", "/x/libfoo.so"]);
    }

    #[test]
    fn two_windows_libraries_have_a_stand_in() {
        assert!(candidates("User32.dll").contains(&"libMonoSupportW.so".to_owned()));
        assert!(!candidates("gdi32.dll").contains(&"libMonoSupportW.so".to_owned()));
        assert_eq!(candidates("__Internal")[0], "(process)");
    }

    #[test]
    fn symbols_follow_the_character_set() {
        assert_eq!(symbol_candidates("F", CharSet::Unicode, false), ["FW", "F"]);
        assert_eq!(symbol_candidates("F", CharSet::Auto, false), ["F", "FA"]);
        assert_eq!(symbol_candidates("F", CharSet::Unicode, true), ["F"]);
    }
}
