//! Dllmaps: which library and function a DllImport really means on this machine.
//!
//! A `<dllmap dll="from" target="to">` renames a library, a `<dllentry name="f" dll="to" target="g">` inside it one
//! function. Attributes `os`, `cpu` and `wordsize` limit either to some machines: a list with commas, negated as a
//! whole by a leading `!`.
//!
//! # Invariants   Entries keep the order of their files; lookup goes from the last to the first, so later ones win.
//!
//! A quirk to keep: an entry for one function also redirects the library for all other functions of the same scope.
//! `kernel32.dll` therefore leads to `__Internal`, and a missing function there is a missing entry point.

use crate::xml::{self, Document, Node};

/// The values this machine has for `os`, `cpu` and `wordsize`.
const MACHINE: [(&str, &str); 3] = [("os", "linux"), ("cpu", CPU), ("wordsize", "64")];
const CPU: &str = if cfg!(target_arch = "aarch64") {
    "armv8"
} else {
    "x86-64"
};

/// The maps of one configuration file, or of several in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DllMap {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// The scope as DllImport writes it; `i:` in front ignores case.
    dll: String,
    /// `None` for an entry that is about the whole library.
    function: Option<String>,
    target: Option<String>,
    target_function: Option<String>,
}

/// Where a P/Invoke leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The library to load, see [`crate::native::library_candidates`].
    pub library: String,
    /// The function to look up in it.
    pub function: String,
}

impl DllMap {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds one mapping, which wins over all that are there: `mono_dllmap_insert`.
    pub fn insert(
        &mut self,
        dll: &str,
        function: Option<&str>,
        target: Option<&str>,
        target_function: Option<&str>,
    ) {
        self.entries.push(Entry {
            dll: dll.to_owned(),
            function: function.map(str::to_owned),
            target: target.map(str::to_owned),
            target_function: target_function.map(str::to_owned),
        });
    }

    /// Adds the mappings of another file, which win over those of this one.
    pub fn extend(&mut self, later: DllMap) {
        self.entries.extend(later.entries);
    }

    /// Reads all maps; `$mono_libdir` in a target becomes `libdir`.
    pub(crate) fn read_all(document: &Document<'_>, libdir: &str) -> DllMap {
        let mut map = DllMap::default();
        for (library, inner) in xml::grouped(document, "dllmap") {
            if !is_for_this_machine(library) {
                continue;
            }
            let Some(dll) = library.attribute("dll") else {
                continue;
            };
            let target = library
                .attribute("target")
                .map(|to| to.replacen("$mono_libdir", libdir, 1));
            map.insert(dll, None, target.as_deref(), None);
            for entry in inner
                .into_iter()
                .filter(|e| xml::is(*e, "dllentry") && is_for_this_machine(*e))
            {
                let target = entry
                    .attribute("dll")
                    .unwrap_or(dll.strip_prefix("i:").unwrap_or(dll));
                map.insert(
                    dll,
                    entry.attribute("name"),
                    Some(target),
                    entry.attribute("target"),
                );
            }
        }
        map
    }

    /// What this map says about a function of a library; `None` when it says nothing.
    pub fn lookup(&self, library: &str, function: &str) -> Option<Target> {
        let mut found: Option<&str> = None;
        for entry in self
            .entries
            .iter()
            .rev()
            .filter(|entry| entry.is_about(library))
        {
            if entry.function.as_deref() == Some(function) {
                return Some(Target {
                    library: entry.target.as_deref().unwrap_or(library).to_owned(),
                    function: entry
                        .target_function
                        .as_deref()
                        .unwrap_or(function)
                        .to_owned(),
                });
            }
            found = found.or(entry.target.as_deref());
        }
        found.map(|target| Target {
            library: target.to_owned(),
            function: function.to_owned(),
        })
    }

    /// Where a P/Invoke leads: by the map of its assembly, else by the global one, else where it says.
    pub fn resolve(assembly: &DllMap, global: &DllMap, library: &str, function: &str) -> Target {
        assembly
            .lookup(library, function)
            .or_else(|| global.lookup(library, function))
            .unwrap_or_else(|| Target {
                library: library.to_owned(),
                function: function.to_owned(),
            })
    }
}

impl Entry {
    fn is_about(&self, library: &str) -> bool {
        match self.dll.strip_prefix("i:") {
            Some(dll) => dll.eq_ignore_ascii_case(library),
            None => self.dll == library,
        }
    }
}

fn is_for_this_machine(node: Node<'_, '_>) -> bool {
    MACHINE.iter().all(|(attribute, ours)| {
        node.attribute(attribute)
            .is_none_or(|list| lists(list, ours))
    })
}

fn lists(list: &str, value: &str) -> bool {
    match list.strip_prefix('!') {
        Some(rest) => !lists(rest, value),
        None => list.split(',').any(|item| item == value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(inner: &str) -> DllMap {
        let text = format!("<configuration>{inner}</configuration>");
        DllMap::read_all(&xml::parse(&text), "/usr/lib")
    }

    fn target(library: &str, function: &str) -> Option<Target> {
        Some(Target {
            library: library.into(),
            function: function.into(),
        })
    }

    #[test]
    fn a_library_is_renamed_by_its_exact_name_or_without_case() {
        let map = map(
            r#"<dllmap dll="libc" target="libc.so.6"/><dllmap dll="i:MSVCRT" target="libc.so.6"/>"#,
        );
        assert_eq!(map.lookup("libc", "getpid"), target("libc.so.6", "getpid"));
        assert_eq!(map.lookup("LIBC", "getpid"), None);
        assert_eq!(map.lookup("libc.dll", "getpid"), None);
        assert_eq!(
            map.lookup("msvcrt", "getpid"),
            target("libc.so.6", "getpid")
        );
    }

    #[test]
    fn machine_lists_choose_and_a_leading_mark_negates_the_whole_list() {
        assert!(lists("linux", "linux") && lists("osx,linux", "linux") && !lists("osx", "linux"));
        assert!(lists("!windows", "linux") && !lists("!osx,linux", "linux"));
        let map = map(
            r#"<dllmap dll="a" target="wrong" os="osx"><dllentry dll="x" name="f"/></dllmap>
               <dllmap dll="b" target="right" os="!windows" wordsize="64"/>"#,
        );
        assert_eq!(map.lookup("a", "f"), None);
        assert_eq!(map.lookup("b", "f"), target("right", "f"));
    }

    #[test]
    fn later_entries_win_and_a_function_wins_over_its_library() {
        let map = map(
            r#"<dllmap dll="lib" target="one"><dllentry dll="special" name="f" target="g"/></dllmap>
               <dllmap dll="lib" target="two"/>"#,
        );
        assert_eq!(map.lookup("lib", "f"), target("special", "g"));
        assert_eq!(map.lookup("lib", "h"), target("two", "h"));
    }

    #[test]
    fn an_entry_for_one_function_moves_the_others_too() {
        let map = map(
            r#"<dllmap dll="i:kernel32.dll"><dllentry dll="__Internal" name="CopyMemory" target="copy"/></dllmap>"#,
        );
        assert_eq!(
            map.lookup("KERNEL32.dll", "CopyMemory"),
            target("__Internal", "copy")
        );
        assert_eq!(
            map.lookup("kernel32.dll", "Beep"),
            target("__Internal", "Beep")
        );
    }

    #[test]
    fn an_entry_belongs_to_the_nearest_map_alone() {
        let nested = r#"<dllmap dll="a" target="x"><dllmap dll="b" target="y"><dllentry dll="c" name="f"/></dllmap></dllmap>"#;
        let map = map(nested);
        assert_eq!(map.lookup("b", "f"), target("c", "f"));
        assert_eq!(map.lookup("a", "f"), target("x", "f"));
    }

    #[test]
    fn the_assembly_is_asked_before_the_machine() {
        let own = map(r#"<dllmap dll="sqlite3" target="mysqlite"/>"#);
        let global = map(r#"<dllmap dll="sqlite3" target="libsqlite3.so.0"/>
               <dllmap dll="MonoPosixHelper" target="$mono_libdir/libMonoPosixHelper.so"/>"#);
        let resolve = |library| DllMap::resolve(&own, &global, library, "f").library;
        assert_eq!(resolve("sqlite3"), "mysqlite");
        assert_eq!(resolve("MonoPosixHelper"), "/usr/lib/libMonoPosixHelper.so");
        assert_eq!(resolve("other"), "other");
    }
}
