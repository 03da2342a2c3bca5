//! Finding assemblies and native libraries: which files to try, in which order, and which of them will do.
//!
//! Nothing here opens an assembly or loads a library. [`Binder`] turns an [`AssemblyName`] into an ordered list of
//! [`Candidate`] files, [`native::library_candidates`] a DllImport scope into an ordered list of names for `dlopen`;
//! the runtime tries them. The order and the rules are those of Mono 6.8, whose class libraries we run.
//!
//! A bind goes like this:
//!
//! 1. [`Binder::effective_name`]: the framework's own versions, then redirects of the application or a publisher;
//! 2. the caller looks among what is loaded already, with [`matching::names_equal`];
//! 3. [`Binder::candidates`] for the application, `MONO_PATH`, the GAC and the defaults, each checked with
//!    [`Binder::accepts`]; [`Binder::find`] does both when given a way to read a file's identity;
//! 4. the caller raises AssemblyResolve, then asks again with the directory of the requesting assembly.
//!
//! # Not here   Reading metadata (`vervet-metadata`), the list of loaded assemblies, events (`vervet-runtime`).

#![forbid(unsafe_code)]

pub mod app_config;
pub mod binder;
pub mod dllmap;
pub mod error;
pub mod framework;
pub mod gac;
pub mod matching;
pub mod mono_config;
pub mod name;
pub mod native;
pub mod qualified;
pub mod redirect;
pub mod remap;
pub mod token;
pub mod unusable;
mod xml;

pub use app_config::AppConfig;
pub use binder::{Binder, Candidate, Origin};
pub use dllmap::{DllMap, Target};
pub use error::{ConfigError, MissingClassLibraries, NameError};
pub use mono_config::MonoConfig;
pub use name::{Architecture, AssemblyName, Version};
pub use redirect::Redirect;
pub use token::PublicKeyToken;
