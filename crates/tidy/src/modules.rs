//! Which modules of a crate name which.
//!
//! Invariant: an arrow `a -> b` exists exactly if the file of module `a` names, outside of its tests, an item that the file of module
//! `b` defines. A name that another module only hands on (`pub use`) counts as a name of the module that defines it, so a facade
//! ties nothing together. Methods are not seen, since they are called without a path.
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Item, UseTree};

/// The path of a module below its crate's root; the root itself is empty.
pub type Name = Vec<String>;

#[derive(Default)]
struct Module {
    /// Local name to full path, as `use` items say; with whether they hand the name on.
    imports: HashMap<String, (Name, bool)>,
    /// Modules of which everything is imported or handed on.
    globs: Vec<Name>,
    items: BTreeSet<String>,
    /// Paths in the text, as they are written.
    paths: Vec<Name>,
}

/// The modules of a crate, one for each file, and who names whom.
#[derive(Default)]
pub struct Graph {
    modules: BTreeMap<Name, Module>,
    /// From a module to those it names, with one example of a name.
    pub arrows: BTreeMap<Name, BTreeMap<Name, String>>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|a| a.path().is_ident("cfg") && a.to_token_stream().to_string().contains("test"))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// Removes what is compiled for tests only, and `use` items, which are read apart.
struct WithoutTests;
impl VisitMut for WithoutTests {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.attrs.clear();
        file.items
            .retain(|i| !is_test(attributes(i)) && !matches!(i, Item::Use(_)));
    }
}

fn flatten(tree: &UseTree, before: &mut Name, found: &mut dyn FnMut(Option<String>, Name)) {
    match tree {
        UseTree::Path(p) => {
            before.push(p.ident.to_string());
            flatten(&p.tree, before, found);
            before.pop();
        }
        UseTree::Name(n) => {
            let mut full = before.clone();
            let name = n.ident.to_string();
            if name == "self" {
                found(full.last().cloned(), full);
            } else {
                full.push(name.clone());
                found(Some(name), full);
            }
        }
        UseTree::Rename(r) => {
            let mut full = before.clone();
            if r.ident != "self" {
                full.push(r.ident.to_string());
            }
            found(Some(r.rename.to_string()), full);
        }
        UseTree::Glob(_) => found(None, before.clone()),
        UseTree::Group(g) => g.items.iter().for_each(|t| flatten(t, before, found)),
    }
}

fn paths(tokens: TokenStream, found: &mut Vec<Name>) {
    let mut current: Name = Vec::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(i) => {
                if colons != 2 && !current.is_empty() {
                    found.push(std::mem::take(&mut current));
                }
                current.push(i.to_string());
                colons = 0;
            }
            TokenTree::Punct(p) if p.as_char() == ':' => colons += 1,
            TokenTree::Group(g) => {
                if !current.is_empty() {
                    found.push(std::mem::take(&mut current));
                }
                colons = 0;
                paths(g.stream(), found);
            }
            _ => {
                if !current.is_empty() {
                    found.push(std::mem::take(&mut current));
                }
                colons = 0;
            }
        }
    }
    if !current.is_empty() {
        found.push(current);
    }
}

impl Graph {
    /// Reads the crate whose source lies in `source`.
    pub fn of(source: &Path) -> Graph {
        let mut graph = Graph::default();
        graph.read(source, Vec::new());
        graph.resolve();
        graph
    }
    fn read(&mut self, folder: &Path, name: Name) {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
            .map(|e| e.expect("a directory entry").path())
            .collect();
        entries.sort();
        for path in entries {
            let stem = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let mut name = name.clone();
            if path.is_dir() {
                name.push(stem);
                self.read(&path, name);
            } else if path.extension().is_some_and(|e| e == "rs") && !stem.ends_with("tests") {
                if !["mod", "lib", "main"].contains(&stem.as_str()) {
                    name.push(stem);
                }
                let text = std::fs::read_to_string(&path).expect("a source file");
                self.add(name, &text, &path);
            }
        }
    }
    fn add(&mut self, name: Name, text: &str, path: &Path) {
        let mut file = syn::parse_file(text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut module = Module::default();
        for item in &file.items {
            if is_test(attributes(item)) {
                continue;
            }
            if let Item::Use(u) = item {
                let public = !matches!(u.vis, syn::Visibility::Inherited);
                flatten(&u.tree, &mut Vec::new(), &mut |local, full| match local {
                    Some(local) => {
                        module.imports.insert(local, (full, public));
                    }
                    None => module.globs.push(full),
                });
            }
        }
        WithoutTests.visit_file_mut(&mut file);
        for item in &file.items {
            let name = match item {
                Item::Const(i) => &i.ident,
                Item::Enum(i) => &i.ident,
                Item::Fn(i) => &i.sig.ident,
                Item::Static(i) => &i.ident,
                Item::Struct(i) => &i.ident,
                Item::Trait(i) => &i.ident,
                Item::Type(i) => &i.ident,
                _ => continue,
            };
            module.items.insert(name.to_string());
        }
        paths(file.to_token_stream(), &mut module.paths);
        self.modules.insert(name, module);
    }
    /// The module that defines what `path` names, if it is of this crate, and the item's name. `path` is as written in `from`.
    fn definer(&self, from: &Name, path: &[String], depth: usize) -> Option<(Name, String)> {
        if depth > 8 {
            return None;
        }
        let module = &self.modules[from];
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let mut at = from.clone();
                at.pop()?;
                let mut rest = &path[1..];
                while rest.first().is_some_and(|s| s == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
                (at, rest)
            }
            first => {
                let mut child = from.clone();
                child.push(first.to_owned());
                if self.modules.contains_key(&child) {
                    (child, &path[1..])
                } else if let Some((full, _)) = module.imports.get(first) {
                    if full.first() == path.first() && full.len() == 1 {
                        return None;
                    }
                    let mut full = full.clone();
                    full.extend(path[1..].iter().cloned());
                    return self.definer(from, &full, depth + 1);
                } else {
                    return None;
                }
            }
        };
        while let Some(next) = rest.first() {
            let mut child = at.clone();
            child.push(next.clone());
            if !self.modules.contains_key(&child) {
                break;
            }
            at = child;
            rest = &rest[1..];
        }
        let item = rest.first().cloned().unwrap_or_default();
        let there = self.modules.get(&at)?;
        if let Some((full, true)) = there.imports.get(&item) {
            let mut full = full.clone();
            full.extend(rest[1..].iter().cloned());
            return self.definer(&at, &full, depth + 1);
        }
        if !item.is_empty() && !there.items.contains(&item) {
            for glob in &there.globs {
                let mut full = glob.clone();
                full.push(item.clone());
                if let Some((m, i)) = self.definer(&at, &full, depth + 1)
                    && self.modules[&m].items.contains(&i)
                {
                    return Some((m, i));
                }
            }
        }
        Some((at, item))
    }
    fn resolve(&mut self) {
        let mut arrows: BTreeMap<Name, BTreeMap<Name, String>> = BTreeMap::new();
        for (name, module) in &self.modules {
            let used: BTreeSet<&str> = module.paths.iter().map(|p| p[0].as_str()).collect();
            let imported = module
                .imports
                .iter()
                // A module that is imported is named by the paths that begin with it.
                .filter(|(local, (_, public))| !*public || used.contains(local.as_str()))
                .map(|(_, (full, _))| full);
            for path in module.paths.iter().chain(imported) {
                let Some((target, item)) = self.definer(name, path, 0) else {
                    continue;
                };
                if target != *name && !item.is_empty() {
                    arrows
                        .entry(name.clone())
                        .or_default()
                        .entry(target)
                        .or_insert(item);
                }
            }
        }
        self.arrows = arrows;
    }
    /// The sets of modules that reach each other, of two and more, largest first.
    pub fn cycles(&self) -> Vec<Vec<Name>> {
        // Tarjan, "Depth-first search and linear graph algorithms" (1972).
        struct Walk<'a> {
            graph: &'a Graph,
            index: HashMap<&'a Name, (usize, usize)>,
            stack: Vec<&'a Name>,
            found: Vec<Vec<Name>>,
        }
        fn visit<'a>(w: &mut Walk<'a>, at: &'a Name) -> usize {
            let n = w.index.len();
            w.index.insert(at, (n, n));
            w.stack.push(at);
            let mut low = n;
            for next in w.graph.arrows.get(at).into_iter().flat_map(|a| a.keys()) {
                if !w.index.contains_key(next) {
                    low = low.min(visit(w, next));
                } else if w.stack.contains(&next) {
                    low = low.min(w.index[next].0);
                }
            }
            w.index.insert(at, (n, low));
            if low == n {
                let from = w.stack.iter().position(|s| *s == at).expect("on the stack");
                let set: Vec<Name> = w.stack.drain(from..).cloned().collect();
                if set.len() > 1 {
                    w.found.push(set);
                }
            }
            low
        }
        let mut walk = Walk {
            graph: self,
            index: HashMap::new(),
            stack: Vec::new(),
            found: Vec::new(),
        };
        for name in self.modules.keys() {
            if !walk.index.contains_key(name) {
                visit(&mut walk, name);
            }
        }
        walk.found.sort_by_key(|c| std::cmp::Reverse(c.len()));
        walk.found
    }
}
