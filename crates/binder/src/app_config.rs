//! An application's configuration file, `program.exe.config`, as far as the runtime reads it.
//!
//! Managed code reads the same file again for everything else. As in Mono, only the first `<runtime>` element counts
//! for probing and switches, only the first `<startup>` for the framework, while redirects are taken wherever they are.

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
            Some(text) => AppConfig::parse(&text, path),
            None => Ok(AppConfig::default()),
        }
    }

    /// Reads a text; `path` is for the error.
    pub fn parse(text: &str, path: &Path) -> Result<AppConfig, ConfigError> {
        let document = xml::parse(text, path)?;
        let root = document.root();
        let mut config = AppConfig {
            redirects: Redirect::read_all(root),
            legacy_unhandled_exceptions: xml::elements(root, "legacyUnhandledExceptionPolicy")
                .any(xml::is_enabled),
            ..AppConfig::default()
        };
        if let Some(runtime) = xml::elements(root, "runtime").next() {
            config.throw_unobserved_task_exceptions =
                xml::elements(runtime, "ThrowUnobservedTaskExceptions").any(xml::is_enabled);
            config.green_threads = xml::elements(runtime, "GreenThreads").next().map(|node| {
                let attribute = |name| node.attribute(name).map(str::to_owned);
                GreenThreads {
                    mode: attribute("mode"),
                    carriers: attribute("carriers"),
                    stack: attribute("stack"),
                }
            });
            config.private_path = xml::elements(runtime, "assemblyBinding")
                .next()
                .and_then(|binding| xml::elements(binding, "probing").last())
                .and_then(|probing| probing.attribute("privatePath"))
                .filter(|path| !path.is_empty())
                .map(str::to_owned);
        }
        if let Some(startup) = xml::elements(root, "startup").next() {
            let versions = |name| {
                xml::elements(startup, name)
                    .filter_map(|node| node.attribute("version").map(str::to_owned))
            };
            config.supported_runtimes = versions("supportedRuntime").collect();
            config.required_runtime = versions("requiredRuntime").last();
        }
        Ok(config)
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
        AppConfig::parse(text, Path::new("test.exe.config")).unwrap()
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
    fn a_missing_file_is_an_empty_configuration_and_a_broken_one_an_error() {
        assert_eq!(
            AppConfig::read(Path::new("/nonexistent/x.config")).unwrap(),
            AppConfig::default()
        );
        let error = AppConfig::parse("<configuration>", Path::new("x.config")).unwrap_err();
        assert!(error.to_string().starts_with("cannot parse x.config: "));
    }

    #[test]
    fn entities_are_refused_and_a_document_type_is_not() {
        let path = Path::new("x.config");
        assert!(AppConfig::parse("<!DOCTYPE a><a/>", path).is_ok());
        let text = "<!DOCTYPE a [<!ENTITY e 'eeee'>]><a b='&e;&e;'/>";
        assert!(AppConfig::parse(text, path).is_err());
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
