//! An application's configuration file, `program.exe.config`, as far as the runtime reads it.
//!
//! Managed code reads the same file again for everything else.
//!
//! # Invariants
//! As in Mono: what stands before an error counts ([`crate::xml`]). Switches are taken from any `<runtime>`, and of all `<probing>` in the `<assemblyBinding>` of any
//! `<runtime>` the last; redirects wherever they are; only the first `<startup>` counts for the framework.

use crate::error::ConfigError;
use crate::redirect::Redirect;
use crate::xml;
use std::path::Path;

/// What the runtime takes from the file; empty when there is no file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppConfig {
    /// Binding redirects, in the order of the file.
    pub redirects: Vec<Redirect>,
    /// `<probing privatePath="a;b"/>`: directories below the application's, separated by semicolons.
    pub private_path: Option<String>,
    /// `<supportedRuntime version="…"/>`, in order of preference.
    pub supported_runtimes: Vec<String>,
    /// `<requiredRuntime version="…"/>`, which programs for 1.0 used.
    pub required_runtime: Option<String>,
    /// `<legacyUnhandledExceptionPolicy enabled="1"/>`: unhandled exceptions in threads do not end the process.
    pub legacy_unhandled_exceptions: bool,
    /// `<ThrowUnobservedTaskExceptions enabled="true"/>`.
    pub throw_unobserved_task_exceptions: bool,
    /// `<GreenThreads …/>`.
    pub green_threads: Option<GreenThreads>,
}

/// `<GreenThreads mode="all" carriers="4" stack="64m"/>`: the attributes that are there, as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GreenThreads {
    /// Which threads are green.
    pub mode: Option<String>,
    /// How many carriers run at once.
    pub carriers: Option<String>,
    /// The most bytes of a managed stack.
    pub stack: Option<String>,
}

impl AppConfig {
    /// Reads the file; a missing one is an empty configuration.
    pub fn read(path: &Path) -> Result<AppConfig, ConfigError> {
        match xml::read(path)? {
            Some(text) => Ok(AppConfig::parse(&text)),
            None => Ok(AppConfig::default()),
        }
    }

    /// Reads a text, as far as it can be read.
    pub fn parse(text: &str) -> AppConfig {
        let document = xml::parse(text);
        let (runtimes, bindings) = (
            document.depths_in("runtime"),
            document.depths_in("assemblyBinding"),
        );
        let of_runtime = |name| {
            let all = document.elements(name);
            all.filter(|node| runtimes[node.index()] == 1)
        };
        let mut config = AppConfig {
            redirects: Redirect::read_all(&document),
            legacy_unhandled_exceptions: (document.elements("legacyUnhandledExceptionPolicy"))
                .any(xml::is_enabled),
            throw_unobserved_task_exceptions: of_runtime("ThrowUnobservedTaskExceptions")
                .any(xml::is_enabled),
            private_path: of_runtime("probing")
                .filter(|probing| bindings[probing.index()] == 1)
                .filter_map(|probing| probing.attribute("privatePath"))
                .last()
                .filter(|path| !path.is_empty())
                .map(str::to_owned),
            ..AppConfig::default()
        };
        config.green_threads = of_runtime("GreenThreads").next().map(|node| {
            let attribute = |name| node.attribute(name).map(str::to_owned);
            GreenThreads {
                mode: attribute("mode"),
                carriers: attribute("carriers"),
                stack: attribute("stack"),
            }
        });
        if let Some(startup) = document.elements("startup").next() {
            let versions = |name| {
                xml::elements(startup, name)
                    .filter_map(|node| node.attribute("version").map(str::to_owned))
            };
            config.supported_runtimes = versions("supportedRuntime").collect();
            config.required_runtime = versions("requiredRuntime").next_back();
        }
        config
    }

    /// Whether this runtime is among those the application says it supports. One that says nothing supports it.
    ///
    /// Every version from v4.0 up is served by the one framework there is.
    pub fn supports_this_runtime(&self) -> bool {
        let known = |version: &String| {
            version == "v4.0.30319" || (version.len() >= 4 && version.starts_with("v4.0"))
        };
        match (self.supported_runtimes.is_empty(), &self.required_runtime) {
            (false, _) => self.supported_runtimes.iter().any(known),
            (true, Some(required)) => known(required),
            (true, None) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> AppConfig {
        AppConfig::parse(text)
    }

    #[test]
    fn everything_the_runtime_reads_is_found() {
        let config = parse(
            "\u{feff}<?xml version=\"1.0\"?>
            <configuration>
              <startup useLegacyV2RuntimeActivationPolicy=\"true\">
                <supportedRuntime version=\"v4.0\" sku=\".NETFramework,Version=v4.7.2\"/>
                <supportedRuntime version=\"v2.0.50727\"/>
              </startup>
              <runtime>
                <legacyUnhandledExceptionPolicy enabled=\"1\"/>
                <ThrowUnobservedTaskExceptions enabled=\"true\"/>
                <GreenThreads mode=\"all\" carriers=\"x\"/>
                <assemblyBinding xmlns=\"urn:schemas-microsoft-com:asm.v1\">
                  <probing privatePath=\"bin;lib\"/>
                  <dependentAssembly>
                    <assemblyIdentity name=\"Lib\" publicKeyToken=\"30ad4fe6b2a6aeed\"/>
                    <bindingRedirect oldVersion=\"1.0.0.0-2.0.0.0\" newVersion=\"2.0.0.0\"/>
                  </dependentAssembly>
                </assemblyBinding>
              </runtime>
            </configuration>",
        );
        assert_eq!(config.private_path.as_deref(), Some("bin;lib"));
        assert_eq!(config.redirects.len(), 1);
        assert_eq!(config.supported_runtimes, ["v4.0", "v2.0.50727"]);
        assert!(config.legacy_unhandled_exceptions && config.throw_unobserved_task_exceptions);
        assert!(config.supports_this_runtime());
        let green = config.green_threads.unwrap();
        assert_eq!(green.mode.as_deref(), Some("all"));
        assert_eq!((green.carriers.as_deref(), green.stack), (Some("x"), None));
    }

    #[test]
    fn a_missing_file_is_an_empty_configuration() {
        assert_eq!(
            AppConfig::read(Path::new("/nonexistent/x.config")).unwrap(),
            AppConfig::default()
        );
    }

    #[test]
    fn the_last_probing_of_any_binding_counts() {
        let binding = |path: &str| {
            format!("<assemblyBinding><probing privatePath='{path}'/></assemblyBinding>")
        };
        let (a, b) = (binding("a"), binding("b"));
        for text in [
            format!("<c><runtime>{a}{b}</runtime></c>"),
            format!("<c><runtime>{a}</runtime><runtime>{b}</runtime></c>"),
            format!("<c><runtime><assemblyBinding/>{b}</runtime>{a}</c>"),
            format!("<c><runtime>{b}<runtime>{a}</runtime></runtime></c>"),
            format!("<c><runtime>{b}"),
        ] {
            assert_eq!(parse(&text).private_path.as_deref(), Some("b"), "{text}");
        }
    }

    #[test]
    fn an_application_may_refuse_this_runtime() {
        let only = |version: &str| {
            parse(&format!(
                "<configuration><startup><supportedRuntime version='{version}'/></startup></configuration>"
            ))
        };
        assert!(!only("v2.0.50727").supports_this_runtime());
        assert!(only("v4.0.30319").supports_this_runtime());
        assert!(parse("<configuration/>").supports_this_runtime());
    }
}
