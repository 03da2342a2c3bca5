//! Publisher policies: the redirects that a policy assembly of the GAC carries.
//!
//! # Invariants
//! The first resource of a policy assembly is a file beside it: the configuration with the redirects. An assembly of which that is not true redirects nothing.
use std::path::{Path, PathBuf};
use vervet_binder::redirect::Redirect;
use vervet_metadata::Image;
use vervet_metadata::resources::ResourceLocation;

/// The redirects of the policy assembly in a file; none if there is no such file.
pub(super) fn redirects(assembly: &Path) -> Vec<Redirect> {
    let Some(configuration) = configuration(assembly) else {
        return Vec::new();
    };
    let read = Redirect::read_policy(&configuration);
    read.unwrap_or_else(|error| {
        tracing::debug!("{error}");
        Vec::new()
    })
}

/// The configuration that belongs to a policy assembly.
fn configuration(assembly: &Path) -> Option<PathBuf> {
    let data = std::fs::read(assembly).ok()?;
    let image = Image::parse(&data).ok()?;
    let resource = image.resource_row(1).ok()?;
    let ResourceLocation::File(_) = resource.location else {
        return None;
    };
    Some(assembly.parent()?.join(resource.name))
}
