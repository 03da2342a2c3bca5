//! `Mono.MonoAssemblyName`: assembly names as native structs (docs/class-library.md#native-structures-that-managed-code-reads).
//!
//! # Invariants
//! A struct's strings are malloc'ed and belong to it. Those that managed code gets to own it frees through
//! `FreeAssemblyName`; the one of a loaded assembly is made once and kept.
use crate::support::handles::{self, free, malloc_str, text_at};
use rustc_hash::FxHashMap;
use vervet_binder::name::Architecture;
use vervet_binder::{AssemblyName, PublicKeyToken};
use vervet_metadata::Image;
use vervet_os::LeafLock;
use vervet_runtime::icalls;
use vervet_types::Known;

/// See the module.
#[repr(C)]
pub struct MonoAssemblyName {
    name: *mut u8,
    culture: *mut u8,
    hash_value: *mut u8,
    public_key: *mut u8,
    token: [u8; 17],
    hash_alg: u32,
    hash_len: u32,
    flags: u32,
    version: [u16; 4],
    arch: u16,
}
impl MonoAssemblyName {
    /// Frees the strings and leaves null addresses.
    ///
    /// # Safety
    /// Each string is null or was allocated by `malloc`, and nobody else frees it.
    pub(crate) unsafe fn free_strings(&mut self) {
        for p in [
            &mut self.name,
            &mut self.culture,
            &mut self.hash_value,
            &mut self.public_key,
        ] {
            // SAFETY: the caller's promise; a freed string is replaced by null and so not freed again.
            unsafe { free(*p) };
            *p = std::ptr::null_mut();
        }
    }
}

/// The flag of a name with the whole public key.
const FULL_KEY: u32 = 1;
/// The hash algorithm that names state.
const SHA1: u32 = 0x8004;

impl MonoAssemblyName {
    /// A struct with copies of the texts, which belong to it.
    fn new(name: &str, culture: Option<&str>, version: [u16; 4]) -> MonoAssemblyName {
        MonoAssemblyName {
            name: malloc_str(name),
            culture: culture.map_or(std::ptr::null_mut(), malloc_str),
            hash_value: std::ptr::null_mut(),
            public_key: std::ptr::null_mut(),
            token: [0; 17],
            hash_alg: 0,
            hash_len: 0,
            flags: 0,
            version,
            arch: 0,
        }
    }
    /// Stores the token as sixteen hexadecimal digits.
    fn set_token(&mut self, token: PublicKeyToken) {
        let text = token.to_string();
        self.token[..16].copy_from_slice(&text.as_bytes()[..16]);
    }
    /// Stores the public key with its length in front, compressed as in a blob.
    fn set_key(&mut self, key: &[u8]) {
        let mut blob = Vec::with_capacity(key.len() + 4);
        match key.len() as u32 {
            n @ 0..=0x7f => blob.push(n as u8),
            n @ 0x80..=0x3fff => blob.extend_from_slice(&(n as u16 | 0x8000).to_be_bytes()),
            n => blob.extend_from_slice(&(n | 0xC000_0000).to_be_bytes()),
        }
        blob.extend_from_slice(key);
        let at = handles::malloc(blob.len());
        // SAFETY: there is room for the whole blob.
        unsafe { std::ptr::copy_nonoverlapping(blob.as_ptr(), at, blob.len()) };
        self.public_key = at;
        self.set_token(PublicKeyToken::of_key(key));
    }
}

/// The name in an image's manifest.
pub fn native_of_image(image: &Image<'_>) -> Result<MonoAssemblyName, vervet_metadata::Error> {
    let row = image.assembly(1)?;
    let version = [row.major, row.minor, row.build, row.revision];
    let mut out = MonoAssemblyName::new(
        image.string(row.name)?,
        Some(image.string(row.culture)?),
        version,
    );
    out.hash_alg = row.hash_alg;
    out.flags = row.flags;
    let key = image.blob(row.public_key)?;
    if !key.is_empty() {
        out.set_key(key);
    }
    // ProcessorArchitecture: MSIL 1, X86 2, IA64 3, Amd64 4, Arm 5.
    out.arch = match image.pe_info().machine {
        0x14c if image.cli_flags() & 2 != 0 => 2,
        0x14c => 1,
        0x200 => 3,
        0x8664 => 4,
        0x1c0 | 0x1c4 => 5,
        _ => 0,
    };
    Ok(out)
}
/// The name in an AssemblyRef row.
pub fn native_of_reference(
    image: &Image<'_>,
    rid: u32,
) -> Result<MonoAssemblyName, vervet_metadata::Error> {
    let row = image.assembly_ref(rid)?;
    let version = [row.major, row.minor, row.build, row.revision];
    let mut out = MonoAssemblyName::new(
        image.string(row.name)?,
        Some(image.string(row.culture)?),
        version,
    );
    out.flags = row.flags;
    out.hash_alg = SHA1;
    let key = image.blob(row.public_key_or_token)?;
    match <[u8; 8]>::try_from(key) {
        _ if key.is_empty() => {}
        Ok(token) if row.flags & FULL_KEY == 0 => out.set_token(PublicKeyToken(token)),
        _ => out.set_key(key),
    }
    Ok(out)
}
/// A parsed display name.
fn native_of_name(name: &AssemblyName) -> MonoAssemblyName {
    let mut out =
        MonoAssemblyName::new(&name.name, name.culture.as_deref(), name.version_or_zero());
    if let Some(token) = name.public_key_token {
        out.set_token(token);
    }
    // The key of the standard libraries is nobody's: a name has its token only.
    if let Some(key) = &name.public_key
        && name.public_key_token != Some(PublicKeyToken::ECMA)
    {
        out.set_key(key);
    }
    if name.retargetable {
        out.flags |= 0x100;
    }
    out.arch = match name.architecture {
        Architecture::None => 0,
        Architecture::Msil => 1,
        Architecture::X86 => 2,
        Architecture::Ia64 => 3,
        Architecture::Amd64 => 4,
        Architecture::Arm => 5,
    };
    out
}
/// A malloc'ed copy of a struct; its address.
pub fn malloc(name: MonoAssemblyName) -> usize {
    let at = handles::malloc(std::mem::size_of::<MonoAssemblyName>()) as *mut MonoAssemblyName;
    // SAFETY: the block has just been allocated with that room.
    unsafe { at.write(name) };
    at as usize
}

/// The names of loaded assemblies, by handle. They are never freed: managed code keeps the addresses.
static OF_ASSEMBLY: LeafLock<Option<FxHashMap<usize, usize>>> = LeafLock::new(None);

icalls! {
    /// Parses a display name; false if it is malformed.
    "System.Reflection.AssemblyName::ParseAssemblyName" fn parse_assembly_name(cx, text: usize, out: *mut MonoAssemblyName, version_defined: *mut u8, token_defined: *mut u8) -> bool {
        // SAFETY: managed code passes a marshalled string and the addresses of the three results.
        unsafe {
            version_defined.write(0);
            token_defined.write(0);
            let Some(text) = text_at(text) else { return Ok(false) };
            let Ok(name) = AssemblyName::parse(&text) else { return Ok(false) };
            version_defined.write(u8::from(name.version.is_some()));
            token_defined.write(u8::from(name.public_key_token.is_some() || name.token_is_null));
            out.write(native_of_name(&name));
        }
        Ok(true)
    }
    /// The token of a public key.
    "System.Reflection.AssemblyName::get_public_token" fn get_public_token(cx, token: *mut u8, key: *const u8, length: i32) {
        // SAFETY: managed code passes a key of that length and room for eight bytes.
        unsafe {
            let key = std::slice::from_raw_parts(key, length.max(0) as usize);
            std::ptr::copy_nonoverlapping(PublicKeyToken::of_key(key).0.as_ptr(), token, 8);
        }
        Ok(())
    }
    /// The name of a loaded assembly; the runtime keeps it.
    "System.Reflection.AssemblyName::GetNativeName" fn get_native_name(cx, assembly: usize) -> usize {
        if let Some(at) = OF_ASSEMBLY.lock().get_or_insert_default().get(&assembly) {
            return Ok(*at);
        }
        if assembly == 0 {
            return Err(cx.throw(Known::ArgumentException, "a null assembly handle"));
        }
        // SAFETY: an assembly handle is the address of an `Assembly`, which lives for ever.
        let a = unsafe { &*(assembly as *const vervet_types::Assembly) };
        let native = native_of_image(&a.manifest.image).map_err(|e| crate::system::reflection::method_body::bad_image(cx, e))?;
        let made = malloc(native);
        Ok(*OF_ASSEMBLY.lock().get_or_insert_default().entry(assembly).or_insert(made))
    }

}
