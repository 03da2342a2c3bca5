//! Runs managed code in a Rust program: a safe interface to `libvervet`, which is loaded when the program starts the runtime.
//!
//! ```no_run
//! # fn main() -> Result<(), vervet_embed::Error> {
//! let runtime = vervet_embed::Runtime::start("libvervet.so.1", "game")?;
//! let scripts = runtime.new_domain("scripts")?;
//! let rules = scripts.open("Rules.dll")?.class("", "Rules")?.new_object()?;
//! let height = rules.call("Step", &[0.25f32.into()])?;
//! scripts.unload()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//! * No address of an object leaves a function: an [`Object`] is a GC handle. Within a function an address lies on the stack, where the collector finds it.
//! * Arguments are compared with the signature before a call, so managed code gets what it declares.
//! * What belongs to a domain is used only while the domain lives, and holds its lock meanwhile: [`Domain::unload`] refuses while a call runs there.
#![expect(
    clippy::disallowed_types,
    reason = "the code of a host, outside of the runtime: its threads are stopped by signal while they wait"
)]
mod api;
mod calls;
mod domain;
mod error;
mod generics;
mod thrown;
mod value;

pub use domain::{Assembly, Class, Domain, Object};
pub use error::{Error, Result};
pub use value::Value;

use api::{API, Api, api};
use error::c_text;
use std::path::Path;
use std::sync::OnceLock;

/// The runtime of the process.
#[derive(Debug)]
pub struct Runtime {
    root: Domain,
}
static STARTED: OnceLock<Runtime> = OnceLock::new();

impl Runtime {
    /// Loads the library and starts the runtime, which lives as long as the process. The name is that of the root domain.
    ///
    /// # Errors
    /// The library cannot be loaded, or the runtime does not start, or it was started before.
    pub fn start(library: impl AsRef<Path>, name: &str) -> Result<&'static Runtime> {
        let name = c_text(name)?;
        let loaded = Api::load(library.as_ref())?;
        API.set(loaded).map_err(|_| Error::Started)?;
        // SAFETY: the name ends with a zero; null is the usual configuration.
        let root = unsafe {
            (api().mono_config_parse)(std::ptr::null());
            (api().mono_jit_init)(name.as_ptr())
        };
        let root = Domain::of(root).ok_or(Error::Start)?;
        Ok(STARTED.get_or_init(|| Runtime { root }))
    }
    /// The domain that lives as long as the process.
    pub fn root(&self) -> &Domain {
        &self.root
    }
    /// Makes a domain, which can be unloaded.
    ///
    /// # Errors
    /// There is no memory for one.
    pub fn new_domain(&self, name: &str) -> Result<Domain> {
        let text = c_text(name)?;
        let made = self.root.within(|| {
            // SAFETY: the thread is attached, and the name ends with a zero.
            unsafe { (api().mono_domain_create_appdomain)(text.as_ptr(), std::ptr::null()) }
        })?;
        Domain::of(made).ok_or_else(|| Error::NotFound(format!("room for the domain {name}")))
    }
    /// Collects the garbage of all domains.
    ///
    /// # Errors
    /// None; the root domain lives.
    pub fn collect(&self) -> Result<()> {
        // SAFETY: the thread is attached.
        self.root.within(|| unsafe { (api().mono_gc_collect)(1) })
    }
}
