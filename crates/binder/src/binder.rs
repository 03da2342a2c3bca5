//! The binder: from a name to the files that may answer it, in order.
//!
//! For a name that [`Binder::effective_name`] has settled, [`Binder::candidates`] lists
//!
//! 1. the application's directory and its private directories: `[culture/]N.dll`, `.exe`, then `[culture/]N/N.dll`, `.exe`;
//! 2. the directories of `MONO_PATH`, probed alike;
//! 3. once with `.dll`, then with `.exe`: the GACs (prefixes first), the directory of the requesting assembly, the
//!    library root, the facades.
//!
//! mscorlib, in any version, is the corlib that runs. The framework directory itself is not probed: its files are links
//! into the GAC.
//!
//! # Invariants   A name leads to no file but below the directories listed (`gac::below`; `..` in it is not looked at, as in Mono). Listing touches no file; which candidates exist is for the one who opens them to find out.

use crate::app_config::AppConfig;
use crate::error::MissingClassLibraries;
use crate::gac::{self, below};
use crate::name::AssemblyName;
use crate::redirect::Redirect;
use crate::{matching, remap};
use std::borrow::Cow;
use std::env;
use std::path::{Component, Path, PathBuf};

/// The directory of the framework's version below `<libdir>/mono`.
const FRAMEWORK: &str = "4.5";

/// Where one application domain looks for assemblies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binder {
    /// What holds `mono/4.5` and `mono/gac`: `/usr/lib`.
    pub libdir: PathBuf,
    /// The directories of `MONO_PATH`.
    pub mono_path: Vec<PathBuf>,
    /// The prefixes of `MONO_GAC_PREFIX`; each has a GAC in `lib/mono/gac`.
    pub gac_prefixes: Vec<PathBuf>,
    /// `AppDomainSetup.ApplicationBase`; without it, private directories are not looked at.
    pub app_base: Option<PathBuf>,
    /// `AppDomainSetup.PrivateBinPath`: directories separated by `;` or `:`. The program may append to it while it runs.
    pub private_bin_path: Option<String>,
    /// The configuration's `privatePath`, alike; these come after those.
    pub configured_private_path: Option<String>,
    /// `AppDomainSetup.PrivateBinPathProbe` is set: the application base itself is not probed.
    pub private_bin_path_probe: bool,
    /// The application's redirects.
    pub redirects: Vec<Redirect>,
    /// Compare strong names of candidates (Mono's `--assembly-loader=strict`); off by default, as in Mono 6.8.
    pub strict_names: bool,
}

/// A file that may hold the assembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// Why it is a candidate.
    pub origin: Origin,
}

/// The rule that made a file a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The running core library, whatever version was asked for.
    Corlib,
    /// `ApplicationBase`.
    ApplicationBase,
    /// A private directory of the application.
    PrivateBinPath,
    /// A directory of `MONO_PATH`.
    MonoPath,
    /// A global assembly cache.
    Gac,
    /// The directory of the assembly that asked.
    RequestingDirectory,
    /// `libdir` itself.
    LibraryRoot,
    /// The facades beside corlib.
    Facades,
}

impl Default for Binder {
    fn default() -> Binder {
        Binder {
            libdir: "/usr/lib".into(),
            mono_path: Vec::new(),
            gac_prefixes: Vec::new(),
            app_base: None,
            private_bin_path: None,
            configured_private_path: None,
            private_bin_path_probe: false,
            redirects: Vec::new(),
            strict_names: false,
        }
    }
}

impl Binder {
    /// Debian's places, and what `MONO_PATH` and `MONO_GAC_PREFIX` add.
    pub fn from_env() -> Binder {
        let list = |name| {
            env::var_os(name)
                .map(|value| {
                    env::split_paths(&value)
                        .filter(|path| !path.as_os_str().is_empty())
                        .collect()
                })
                .unwrap_or_default()
        };
        Binder {
            mono_path: list("MONO_PATH"),
            gac_prefixes: list("MONO_GAC_PREFIX"),
            ..Binder::default()
        }
    }

    /// Takes over what an application's configuration says about binding.
    pub fn configure(&mut self, config: &AppConfig) {
        self.redirects.extend(config.redirects.iter().cloned());
        if config.private_path.is_some() {
            self.configured_private_path
                .clone_from(&config.private_path);
        }
    }

    /// `<libdir>/mono/4.5`, the directory of the framework.
    pub fn framework_dir(&self) -> PathBuf {
        self.libdir.join("mono").join(FRAMEWORK)
    }

    /// The core library: from `MONO_PATH` (plain, then in its framework layout), else from the framework directory.
    pub fn corlib(&self) -> Result<PathBuf, MissingClassLibraries> {
        let usual = self.framework_dir().join("mscorlib.dll");
        let plain = self
            .mono_path
            .iter()
            .map(|directory| directory.join("mscorlib.dll"));
        let laid_out = self
            .mono_path
            .iter()
            .map(|directory| directory.join("mono").join(FRAMEWORK).join("mscorlib.dll"));
        plain
            .chain(laid_out)
            .chain([usual.clone()])
            .find(|path| path.is_file())
            .ok_or(MissingClassLibraries { corlib: usual })
    }

    /// The name to bind to when `name` is asked for: remapped for the framework, then redirected.
    ///
    /// `policy` is asked for the redirects that the publisher policy assembly at a path carries (in a file of its own: [`Redirect::read_policy`]);
    /// only for strong names the application does not redirect itself. Redirects do not apply to reflection-only binds:
    /// use [`remap::remap`] for those.
    pub fn effective_name<'n>(
        &self,
        name: &'n AssemblyName,
        policy: impl FnMut(&Path) -> Vec<Redirect>,
    ) -> Cow<'n, AssemblyName> {
        let remapped = remap::remap(name);
        let redirected = self.redirected(&remapped, policy);
        redirected.map_or(remapped, Cow::Owned)
    }

    /// The name that a redirect puts in the place of a strong `name`: the application's, or else one of the publisher (see
    /// [`Binder::effective_name`]).
    pub fn redirected(
        &self,
        name: &AssemblyName,
        mut policy: impl FnMut(&Path) -> Vec<Redirect>,
    ) -> Option<AssemblyName> {
        name.public_key_token?;
        if let Some(own) = Redirect::in_charge(&self.redirects, name) {
            return own.instead_of(name);
        }
        let policies = self
            .gac_roots()
            .filter_map(|root| gac::policy_path(&root, name));
        let mut redirects = policies.map(|path| policy(&path));
        redirects.find_map(|all| Redirect::in_charge(&all, name)?.instead_of(name))
    }

    /// The files that may hold the assembly `name`, best first; `requesting_dir` is that of the assembly which asks.
    ///
    /// For a default bind, ask without it first, then raise AssemblyResolve, then ask with it. A LoadFrom bind passes
    /// it at once.
    pub fn candidates(&self, name: &AssemblyName, requesting_dir: Option<&Path>) -> Vec<Candidate> {
        if name.name == "mscorlib" || name.name == "mscorlib.dll" {
            let path = self.corlib().unwrap_or_else(|missing| missing.corlib);
            return vec![Candidate {
                path,
                origin: Origin::Corlib,
            }];
        }
        let mut list = Vec::new();
        let mut push = |path: PathBuf, origin| list.push(Candidate { path, origin });
        for (directory, origin) in self.domain_dirs() {
            probe(&directory, name)
                .into_iter()
                .for_each(|path| push(path, origin));
        }
        for directory in &self.mono_path {
            probe(directory, name)
                .into_iter()
                .for_each(|path| push(path, Origin::MonoPath));
        }
        let name = remap::remap(name);
        for file in file_names(&name.name) {
            for root in self.gac_roots() {
                if let Some(path) = gac::path(&root, &name, &file) {
                    push(path, Origin::Gac);
                }
            }
            // What lies beside assemblies, and in the library, is of the neutral culture.
            if !name.culture_or_neutral().is_empty() {
                continue;
            }
            if let Some(directory) = requesting_dir {
                push(below(directory, &file), Origin::RequestingDirectory);
            }
            push(below(&self.libdir, &file), Origin::LibraryRoot);
            push(
                below(&self.framework_dir().join("Facades"), &file),
                Origin::Facades,
            );
        }
        list
    }

    /// Whether a candidate with the identity `found` may answer a request for `name`.
    pub fn accepts(&self, name: &AssemblyName, origin: Origin, found: &AssemblyName) -> bool {
        !self.strict_names
            || matches!(origin, Origin::Gac | Origin::Corlib)
            || matching::matches(name, found)
    }

    /// The first existing candidate that is accepted; `identity` reads the name of the assembly in a file.
    pub fn find(
        &self,
        name: &AssemblyName,
        requesting_dir: Option<&Path>,
        mut identity: impl FnMut(&Path) -> Option<AssemblyName>,
    ) -> Option<Candidate> {
        self.candidates(name, requesting_dir)
            .into_iter()
            .filter(|candidate| candidate.path.is_file())
            .find(|candidate| {
                identity(&candidate.path)
                    .is_some_and(|found| self.accepts(name, candidate.origin, &found))
            })
    }

    /// The files for a partial name (`Assembly.LoadWithPartialName`) in the GACs, after the ordinary probing failed.
    pub fn partial_name_candidates(&self, name: &AssemblyName) -> Vec<Candidate> {
        let name = match name.version_or_zero() {
            [0, 0, 0, 0] => remap::remap(name),
            _ => Cow::Borrowed(name),
        };
        self.gac_roots()
            .filter_map(|root| gac::complete(&root, &name))
            .map(|path| Candidate {
                path,
                origin: Origin::Gac,
            })
            .collect()
    }

    /// The roots of all GACs, those of `MONO_GAC_PREFIX` first.
    pub fn gac_roots(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let extra = self
            .gac_prefixes
            .iter()
            .map(|prefix| prefix.join("lib/mono/gac"));
        extra.chain([self.libdir.join("mono/gac")])
    }

    /// Does a file lie in one of the GACs, whatever links lead there?
    pub fn is_in_gac(&self, path: &Path) -> bool {
        if self.gac_roots().any(|root| path.starts_with(root)) {
            return true;
        }
        let Ok(real) = path.canonicalize() else {
            return false;
        };
        self.gac_roots()
            .any(|root| root.canonicalize().is_ok_and(|root| real.starts_with(root)))
    }

    /// The application's directories, in order. Relative private directories must stay inside the application's.
    fn domain_dirs(&self) -> Vec<(PathBuf, Origin)> {
        let Some(base) = &self.app_base else {
            return Vec::new();
        };
        let base = without_file_scheme(base);
        let private = (self.private_bin_path.iter())
            .chain(&self.configured_private_path)
            .flat_map(|list| list.split([';', ':']));
        let private = private
            .filter(|entry| !entry.is_empty())
            .filter_map(|entry| {
                let directory = base.join(entry);
                if !directory.to_string_lossy().contains('.') {
                    return Some((directory, Origin::PrivateBinPath));
                }
                // As in Mono the texts are compared: a directory beside the base whose name begins as the base's does is below it.
                let directory = canonical(&directory);
                let (text, below) = (directory.to_string_lossy(), canonical(&base));
                (text.starts_with(&*below.to_string_lossy()))
                    .then(|| (directory.clone(), Origin::PrivateBinPath))
            });
        let first = (!self.private_bin_path_probe).then(|| (base.clone(), Origin::ApplicationBase));
        first.into_iter().chain(private).collect()
    }
}

/// The four places of an assembly below a directory.
fn probe(directory: &Path, name: &AssemblyName) -> [PathBuf; 4] {
    let directory = match name.culture_or_neutral() {
        "" => directory.to_owned(),
        culture => below(directory, culture),
    };
    let (dll, exe) = (format!("{}.dll", name.name), format!("{}.exe", name.name));
    let own = below(&directory, &name.name);
    [
        below(&directory, &dll),
        below(&directory, &exe),
        below(&own, &dll),
        below(&own, &exe),
    ]
}

/// The file names of an assembly; a name that already looks like a file is one.
fn file_names(name: &str) -> Vec<String> {
    if name.len() > 4 && (name.ends_with(".dll") || name.ends_with(".exe")) {
        return vec![name.to_owned()];
    }
    vec![format!("{name}.dll"), format!("{name}.exe")]
}

/// A path without `.` and `..`, by its text alone.
fn canonical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// What `Assembly.LoadFrom` loads for a path or a `file://` URI. As in Mono, escapes in the URI stand for themselves: programs make it from
/// `Assembly.CodeBase`, which has none.
pub fn path_of_code_base(text: &str) -> Cow<'_, str> {
    match text.strip_prefix("file://") {
        None => text.into(),
        Some(path) if path.starts_with('/') => path.into(),
        Some(path) => format!("/{path}").into(),
    }
}

/// An application base, which may be given as a `file://` URI.
fn without_file_scheme(base: &Path) -> PathBuf {
    let Some(rest) = base.to_str().and_then(|text| text.strip_prefix("file://")) else {
        return base.to_owned();
    };
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let [first, after @ ..] = left {
        let digit = |at: usize| after.get(at).and_then(|byte| (*byte as char).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high << 4 | low) as u8);
                left = &after[2..];
            }
            _ => {
                bytes.push(*first);
                left = after;
            }
        }
    }
    let path = String::from_utf8_lossy(&bytes);
    PathBuf::from(if path.starts_with('/') {
        path.into_owned()
    } else {
        format!("/{path}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn name(text: &str) -> AssemblyName {
        AssemblyName::parse(text).unwrap()
    }

    fn listed(binder: &Binder, text: &str, requesting: Option<&str>) -> Vec<(String, Origin)> {
        let candidates = binder.candidates(&name(text), requesting.map(Path::new));
        candidates
            .into_iter()
            .map(|it| (it.path.display().to_string(), it.origin))
            .collect()
    }

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"").unwrap();
    }

    #[test]
    fn an_absolute_path_in_a_name_stays_below_the_directories() {
        let binder = Binder {
            app_base: Some("/app".into()),
            ..Binder::default()
        };
        let mut asked = name("N, PublicKeyToken=b77a5c561934e089");
        for culture in [None, Some("/tmp")] {
            asked.name = "/tmp/x".into();
            asked.culture = culture.map(str::to_owned);
            let all = binder.candidates(&asked, Some(Path::new("/req")));
            let is_below = |c: &Candidate| !c.path.starts_with("/tmp");
            assert!(!all.is_empty() && all.iter().all(is_below), "{all:?}");
        }
    }

    #[test]
    fn candidates_come_in_the_documented_order() {
        use Origin::*;
        let binder = Binder {
            mono_path: vec!["/mp".into()],
            gac_prefixes: vec!["/opt".into()],
            app_base: Some("/app".into()),
            private_bin_path: Some("bin:more".into()),
            ..Binder::default()
        };
        let all = listed(
            &binder,
            "N, Version=1.0.0.0, PublicKeyToken=b77a5c561934e089",
            Some("/req"),
        );
        let expected = [
            ("/app/N.dll", ApplicationBase),
            ("/app/N.exe", ApplicationBase),
            ("/app/N/N.dll", ApplicationBase),
            ("/app/N/N.exe", ApplicationBase),
            ("/app/bin/N.dll", PrivateBinPath),
            ("/app/bin/N.exe", PrivateBinPath),
            ("/app/bin/N/N.dll", PrivateBinPath),
            ("/app/bin/N/N.exe", PrivateBinPath),
            ("/app/more/N.dll", PrivateBinPath),
            ("/app/more/N.exe", PrivateBinPath),
            ("/app/more/N/N.dll", PrivateBinPath),
            ("/app/more/N/N.exe", PrivateBinPath),
            ("/mp/N.dll", MonoPath),
            ("/mp/N.exe", MonoPath),
            ("/mp/N/N.dll", MonoPath),
            ("/mp/N/N.exe", MonoPath),
            ("/opt/lib/mono/gac/N/1.0.0.0__b77a5c561934e089/N.dll", Gac),
            ("/usr/lib/mono/gac/N/1.0.0.0__b77a5c561934e089/N.dll", Gac),
            ("/req/N.dll", RequestingDirectory),
            ("/usr/lib/N.dll", LibraryRoot),
            ("/usr/lib/mono/4.5/Facades/N.dll", Facades),
            ("/opt/lib/mono/gac/N/1.0.0.0__b77a5c561934e089/N.exe", Gac),
            ("/usr/lib/mono/gac/N/1.0.0.0__b77a5c561934e089/N.exe", Gac),
            ("/req/N.exe", RequestingDirectory),
            ("/usr/lib/N.exe", LibraryRoot),
            ("/usr/lib/mono/4.5/Facades/N.exe", Facades),
        ];
        assert_eq!(
            all,
            expected.map(|(path, origin)| (path.to_owned(), origin))
        );
    }

    #[test]
    fn a_weak_name_skips_the_gac_and_a_culture_is_a_directory() {
        let binder = Binder {
            app_base: Some("/app".into()),
            ..Binder::default()
        };
        let all = listed(&binder, "N.resources, Culture=fr", None);
        assert_eq!(all[0].0, "/app/fr/N.resources.dll");
        assert_eq!(all[2].0, "/app/fr/N.resources/N.resources.dll");
        assert!(all.iter().all(|(_, origin)| *origin != Origin::Gac));
    }

    #[test]
    fn private_directories_must_stay_inside_the_application() {
        let binder = Binder {
            app_base: Some("/srv/app".into()),
            private_bin_path: Some("../other;./sub/../bin;;plain".into()),
            private_bin_path_probe: true,
            ..Binder::default()
        };
        let dirs: Vec<_> = binder
            .domain_dirs()
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(
            dirs,
            [PathBuf::from("/srv/app/bin"), "/srv/app/plain".into()]
        );
    }

    #[test]
    fn escapes_of_a_code_base_stand_for_themselves() {
        assert_eq!(path_of_code_base("file:///a%20b/c d"), "/a%20b/c d");
        assert_eq!(path_of_code_base("file://a"), "/a");
        assert_eq!(path_of_code_base("a b"), "a b");
    }

    #[test]
    fn links_lead_into_a_gac() {
        let directory = tempfile::tempdir().unwrap();
        let gac = directory.path().join("real/lib/mono/gac");
        fs::create_dir_all(&gac).unwrap();
        fs::write(gac.join("Lib.dll"), "").unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("real", &link).unwrap();
        for prefix in [link.clone(), link.join("../real")] {
            let binder = Binder {
                gac_prefixes: vec![prefix],
                ..Binder::default()
            };
            assert!(binder.is_in_gac(&gac.join("Lib.dll")));
            assert!(binder.is_in_gac(&link.join("lib/mono/gac/Lib.dll")));
            assert!(!binder.is_in_gac(&link));
        }
    }

    #[test]
    fn an_application_base_may_be_a_uri() {
        assert_eq!(
            without_file_scheme(Path::new("file:///a%20b/c")),
            Path::new("/a b/c")
        );
        assert_eq!(
            without_file_scheme(Path::new("file://a/100%")),
            Path::new("/a/100%")
        );
        assert_eq!(
            without_file_scheme(Path::new("/plain")),
            Path::new("/plain")
        );
    }

    #[test]
    fn mscorlib_is_always_the_one_that_runs() {
        let root = tempfile::tempdir().unwrap();
        let binder = Binder {
            libdir: root.path().into(),
            ..Binder::default()
        };
        let corlib = root.path().join("mono/4.5/mscorlib.dll");
        touch(&corlib);
        for text in ["mscorlib, Version=2.0.0.0", "mscorlib.dll"] {
            assert_eq!(
                binder.candidates(&name(text), None),
                [Candidate {
                    path: corlib.clone(),
                    origin: Origin::Corlib
                }]
            );
        }
        let own = root.path().join("own/mscorlib.dll");
        touch(&own);
        let binder = Binder {
            mono_path: vec![root.path().join("own")],
            ..binder
        };
        assert_eq!(binder.corlib().unwrap(), own);
    }

    #[test]
    fn missing_class_libraries_are_reported_with_the_package_to_install() {
        let binder = Binder {
            libdir: "/nonexistent".into(),
            ..Binder::default()
        };
        let sentence = binder.corlib().unwrap_err().to_string();
        assert!(
            sentence.contains("/nonexistent/mono/4.5/mscorlib.dll")
                && sentence.contains("mono-devel")
        );
    }

    #[test]
    fn the_first_file_that_will_do_is_found() {
        let root = tempfile::tempdir().unwrap();
        let gac = root
            .path()
            .join("lib/mono/gac/N/1.0.0.0__b77a5c561934e089/N.dll");
        let local = root.path().join("app/N.dll");
        touch(&gac);
        touch(&local);
        let mut binder = Binder {
            libdir: root.path().join("lib"),
            app_base: Some(root.path().join("app")),
            ..Binder::default()
        };
        let wanted = name("N, Version=1.0.0.0, PublicKeyToken=b77a5c561934e089");
        let identity = |path: &Path| match path.starts_with(root.path().join("app")) {
            true => Some(name("N, Version=3.0.0.0")),
            false => Some(wanted.clone()),
        };
        assert_eq!(binder.find(&wanted, None, identity).unwrap().path, local);
        binder.strict_names = true;
        assert_eq!(binder.find(&wanted, None, identity).unwrap().path, gac);
        assert_eq!(binder.find(&wanted, None, |_| None), None);
    }

    #[test]
    fn the_application_redirects_before_a_publisher_does() {
        let redirect = |new| Redirect {
            name: "N".into(),
            public_key_token: crate::PublicKeyToken::ECMA,
            culture: String::new(),
            old: ([1, 0, 0, 0], [1, 9, 9, 9]),
            new,
        };
        let mut binder = Binder {
            libdir: "/l".into(),
            ..Binder::default()
        };
        let wanted = name("N, Version=1.2.0.0, PublicKeyToken=b77a5c561934e089");
        let policy = |path: &Path| {
            assert_eq!(
                path,
                Path::new("/l/mono/gac/policy.1.2.N/0.0.0.0__b77a5c561934e089/policy.1.2.N.dll")
            );
            vec![redirect([2, 0, 0, 0])]
        };
        assert_eq!(
            binder.effective_name(&wanted, policy).version,
            Some([2, 0, 0, 0])
        );
        binder.redirects.push(redirect([3, 0, 0, 0]));
        assert_eq!(
            binder.effective_name(&wanted, |_| unreachable!()).version,
            Some([3, 0, 0, 0])
        );
        let weak = name("N, Version=1.2.0.0");
        assert_eq!(*binder.effective_name(&weak, |_| unreachable!()), weak);
        let old = name("System, Version=2.0.0.0, PublicKeyToken=b77a5c561934e089");
        assert_eq!(
            binder.effective_name(&old, |_| Vec::new()).version,
            Some([4, 0, 0, 0])
        );
    }

    #[test]
    fn a_configuration_adds_its_private_path_to_the_one_set_up() {
        let mut binder = Binder {
            app_base: Some("/app".into()),
            private_bin_path_probe: true,
            private_bin_path: Some("a".into()),
            ..Binder::default()
        };
        binder.configure(&AppConfig {
            private_path: Some("b;c".into()),
            ..AppConfig::default()
        });
        let probed: Vec<PathBuf> = binder.domain_dirs().into_iter().map(|d| d.0).collect();
        assert_eq!(probed, ["/app/a", "/app/b", "/app/c"].map(PathBuf::from));
    }
}
