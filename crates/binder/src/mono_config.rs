//! The machine's, the user's and an assembly's own configuration files, which hold dllmaps.
//!
//! The machine's file is `/etc/mono/config` (`MONO_CFG_DIR` replaces `/etc`), the user's `~/.mono/config`; `MONO_CONFIG`
//! replaces both by one file. An assembly's are `<its path>.config` and `/etc/mono/assemblies/<name>/<name>.config`.

use crate::dllmap::DllMap;
use crate::error::ConfigError;
use crate::xml;
use std::env;
use std::path::{Path, PathBuf};

/// What one or several such files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonoConfig {
    /// The dllmaps, later files last.
    pub dllmap: DllMap,
    /// `<legacyUnhandledExceptionPolicy enabled="1"/>` in any of them.
    pub legacy_unhandled_exceptions: bool,
}

/// Where configuration files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locations {
    /// What holds `mono/config`: `/etc`.
    pub config_dir: PathBuf,
    /// The user's home directory, when there is one.
    pub home: Option<PathBuf>,
    /// One file instead of the machine's and the user's.
    pub instead: Option<PathBuf>,
    /// What `$mono_libdir` in a dllmap stands for: `/usr/lib`.
    pub libdir: PathBuf,
}

impl Default for Locations {
    fn default() -> Locations {
        Locations {
            config_dir: "/etc".into(),
            home: None,
            instead: None,
            libdir: "/usr/lib".into(),
        }
    }
}

impl Locations {
    /// Debian's places, changed by `MONO_CFG_DIR`, `MONO_CONFIG` and `HOME`.
    pub fn from_env() -> Locations {
        let path = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let usual = Locations::default();
        Locations {
            config_dir: path("MONO_CFG_DIR").unwrap_or(usual.config_dir),
            home: path("HOME"),
            instead: path("MONO_CONFIG"),
            ..usual
        }
    }

    /// The global files, in the order in which they are read.
    pub fn global_files(&self) -> Vec<PathBuf> {
        match &self.instead {
            Some(file) => vec![file.clone()],
            None => [self.config_dir.join("mono/config")]
                .into_iter()
                .chain(self.home.as_ref().map(|home| home.join(".mono/config")))
                .collect(),
        }
    }

    /// The files of an assembly, in the order in which they are read.
    pub fn assembly_files(&self, image: &Path, simple_name: &str) -> [PathBuf; 2] {
        let mut beside = image.as_os_str().to_owned();
        beside.push(".config");
        let own = format!("mono/assemblies/{simple_name}/{simple_name}.config");
        [beside.into(), self.config_dir.join(own)]
    }

    /// Reads the global files. One that cannot be read is reported and otherwise skipped.
    pub fn read_global(&self) -> (MonoConfig, Vec<ConfigError>) {
        self.read_files(&self.global_files())
    }

    /// Reads the files of an assembly. One that cannot be read is reported and otherwise skipped.
    pub fn read_assembly(&self, image: &Path, simple_name: &str) -> (MonoConfig, Vec<ConfigError>) {
        self.read_files(&self.assembly_files(image, simple_name))
    }

    fn read_files(&self, files: &[PathBuf]) -> (MonoConfig, Vec<ConfigError>) {
        let mut all = MonoConfig::default();
        let mut errors = Vec::new();
        for file in files {
            match xml::read(file) {
                Ok(text) => {
                    let config = text.map_or_else(MonoConfig::default, |text| self.parse(&text));
                    all.dllmap.extend(config.dllmap);
                    all.legacy_unhandled_exceptions |= config.legacy_unhandled_exceptions;
                }
                Err(error) => errors.push(error),
            }
        }
        (all, errors)
    }

    /// Reads one text, as far as it can be read.
    pub fn parse(&self, text: &str) -> MonoConfig {
        let document = xml::parse(text);
        MonoConfig {
            dllmap: DllMap::read_all(&document, &self.libdir.to_string_lossy()),
            legacy_unhandled_exceptions: (document.elements("legacyUnhandledExceptionPolicy"))
                .any(xml::is_enabled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_file_may_stand_for_all_global_ones() {
        let mut places = Locations {
            home: Some("/home/me".into()),
            ..Locations::default()
        };
        assert_eq!(
            places.global_files(),
            [
                PathBuf::from("/etc/mono/config"),
                "/home/me/.mono/config".into()
            ]
        );
        places.instead = Some("/one".into());
        assert_eq!(places.global_files(), [PathBuf::from("/one")]);
    }

    #[test]
    fn later_files_win_and_cut_ones_do_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let places = Locations {
            config_dir: dir.path().join("etc"),
            ..Locations::default()
        };
        let image = dir.path().join("Lib.dll");
        let map = |target: &str| {
            format!("<configuration><dllmap dll='x' target='{target}'/></configuration>")
        };
        fs::write(dir.path().join("Lib.dll.config"), map("beside")).unwrap();
        assert_eq!(
            places
                .read_assembly(&image, "Lib")
                .0
                .dllmap
                .lookup("x", "f")
                .unwrap()
                .library,
            "beside"
        );

        let own = dir.path().join("etc/mono/assemblies/Lib");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("Lib.config"), map("machine")).unwrap();
        let (config, errors) = places.read_assembly(&image, "Lib");
        assert_eq!(config.dllmap.lookup("x", "f").unwrap().library, "machine");
        assert!(errors.is_empty());

        fs::write(own.join("Lib.config"), "<configuration>").unwrap();
        let (config, errors) = places.read_assembly(&image, "Lib");
        assert_eq!(config.dllmap.lookup("x", "f").unwrap().library, "beside");
        assert!(errors.is_empty());
    }
}
