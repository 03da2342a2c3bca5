//! What a file or bytes hold, before there is a module of it.
//!
//! # Invariants
//! * Everything that may refuse a file or bytes, or put another assembly in their place, is asked of a [`Content`]. Memory is kept for the life of the process only when a
//!   module is made of it ([`Content::keep`]): a program may try any number of files that are none, or that are loaded already.
//! * A file of those that cannot run here ([`unusable`]) counts as one that holds no assembly. Bytes do not, nor does what is only looked at.
use std::fs::File;
use std::path::Path;
use vervet_binder::name::{AssemblyName, Version};
use vervet_binder::token::PublicKeyToken;
use vervet_binder::unusable;
use vervet_metadata::{Image, Table};
use vervet_os::memory::{FileStamp, Mapping, map_open_file};
use vervet_types::LoadError;

/// See the module.
pub(super) struct Content {
    bytes: Bytes,
    /// The path by which the file is known; none for bytes.
    pub path: Option<String>,
    /// The file, as it was when it was opened.
    pub file: Option<(File, FileStamp)>,
}

enum Bytes {
    Mapped(Mapping),
    Given(Box<[u8]>),
}

/// What the Assembly row of a content says (II.22.2).
pub(crate) struct Manifest<'c> {
    pub name: &'c str,
    pub version: Version,
    pub culture: &'c str,
    pub public_key: &'c [u8],
}

/// The error of a file that cannot be opened.
pub(super) fn not_found(path: &Path, error: &std::io::Error) -> LoadError {
    tracing::debug!("{}: {error}", path.display());
    LoadError::FileNotFound {
        name: path.to_string_lossy().into_owned(),
    }
}

impl Content {
    /// Opens a file, which is known by another path.
    pub(super) fn of_file(path: &Path, known_as: &Path) -> Result<Content, LoadError> {
        let (mapping, file, stamp) = map_open_file(path).map_err(|e| not_found(path, &e))?;
        Ok(Content {
            bytes: Bytes::Mapped(mapping),
            path: Some(known_as.to_string_lossy().into_owned()),
            file: stamp.map(|stamp| (file, stamp)),
        })
    }
    /// Bytes that a program gives.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Content {
        Content {
            bytes: Bytes::Given(bytes.into_boxed_slice()),
            path: None,
            file: None,
        }
    }
    /// The image, whose name can be read.
    pub(super) fn image(&self) -> Result<Image<'_>, LoadError> {
        let bytes: &[u8] = match &self.bytes {
            Bytes::Mapped(mapping) => mapping,
            Bytes::Given(bytes) => bytes,
        };
        let image = Image::parse(bytes).map_err(|e| self.bad(e))?;
        let named = image.module(1).and_then(|row| image.string(row.name));
        named.map_err(|e| self.bad(e))?;
        Ok(image)
    }
    /// What the manifest says.
    ///
    /// # Errors
    /// BadImage: it holds no assembly.
    pub(super) fn manifest(&self) -> Result<Manifest<'_>, LoadError> {
        let image = self.image()?;
        if image.row_count(Table::Assembly) == 0 {
            return Err(self.bad("there is no assembly in it"));
        }
        let read = || {
            let row = image.assembly(1)?;
            Ok(Manifest {
                name: image.string(row.name)?,
                version: [row.major, row.minor, row.build, row.revision],
                culture: image.string(row.culture)?,
                public_key: image.blob(row.public_key)?,
            })
        };
        read().map_err(|e: vervet_metadata::Error| self.bad(e))
    }
    /// The same of what is to run.
    pub(super) fn manifest_to_run(&self) -> Result<Manifest<'_>, LoadError> {
        let manifest = self.manifest()?;
        if let Some(file) = self.path.as_deref().and_then(|p| Path::new(p).file_name())
            && unusable::is_unusable(&file.to_string_lossy(), || self.image().ok()?.mvid().ok())
        {
            return Err(self.bad("it is a build for another class library"));
        }
        Ok(manifest)
    }
    fn bad(&self, why: impl ToString) -> LoadError {
        LoadError::BadImage {
            file: self.path.clone().unwrap_or_default(),
            message: why.to_string(),
        }
    }
    /// The bytes, which stay for the life of the process.
    pub(super) fn keep(self) -> &'static [u8] {
        match self.bytes {
            Bytes::Mapped(mapping) => mapping.keep(),
            Bytes::Given(bytes) => Box::leak(bytes),
        }
    }
}

impl Manifest<'_> {
    /// What identifies the assembly; it states everything.
    pub(super) fn identity(&self) -> AssemblyName {
        let token = (!self.public_key.is_empty()).then(|| PublicKeyToken::of_key(self.public_key));
        AssemblyName {
            version: Some(self.version),
            culture: Some(self.culture.to_string()),
            public_key_token: token,
            ..AssemblyName::simple(self.name)
        }
    }
}
