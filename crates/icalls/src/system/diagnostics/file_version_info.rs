//! Native half of System.Diagnostics.FileVersionInfo.
//!
//! Keeps nothing. A file without a version resource has its name only; with one, a text that is not there is empty.
use crate::support::args::Chars;
use crate::support::fields::{set_bool, set_i32, set_ref};
use crate::support::text::path;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use vervet_metadata::version::{self, VersionInfo, version_info};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::ClassRef;

/// Fields that hold texts of the resource, and the texts' names there.
const TEXTS: [(&str, &str); 12] = [
    ("comments", "Comments"),
    ("companyname", "CompanyName"),
    ("filedescription", "FileDescription"),
    ("fileversion", "FileVersion"),
    ("internalname", "InternalName"),
    ("legalcopyright", "LegalCopyright"),
    ("legaltrademarks", "LegalTrademarks"),
    ("originalfilename", "OriginalFilename"),
    ("privatebuild", "PrivateBuild"),
    ("productname", "ProductName"),
    ("productversion", "ProductVersion"),
    ("specialbuild", "SpecialBuild"),
];
/// Fields that hold parts of versions.
const FILE_PARTS: [&str; 4] = [
    "filemajorpart",
    "fileminorpart",
    "filebuildpart",
    "fileprivatepart",
];
const PRODUCT_PARTS: [&str; 4] = [
    "productmajorpart",
    "productminorpart",
    "productbuildpart",
    "productprivatepart",
];
const FLAGS: [(&str, u32); 5] = [
    ("isdebug", version::DEBUG),
    ("isprerelease", version::PRERELEASE),
    ("ispatched", version::PATCHED),
    ("isprivatebuild", version::PRIVATE_BUILD),
    ("isspecialbuild", version::SPECIAL_BUILD),
];

/// What Windows calls the languages that version resources are mostly written in.
fn language_name(id: u16) -> &'static str {
    match id {
        0x007F => "Invariant Language (Invariant Country)",
        0x0400 => "Process Default Language",
        0x0404 => "Chinese (Taiwan)",
        0x0405 => "Czech (Czech Republic)",
        0x0406 => "Danish (Denmark)",
        0x0407 => "German (Germany)",
        0x0408 => "Greek (Greece)",
        0x0409 => "English (United States)",
        0x0809 => "English (United Kingdom)",
        0x040A => "Spanish (Spain)",
        0x040B => "Finnish (Finland)",
        0x040C => "French (France)",
        0x040E => "Hungarian (Hungary)",
        0x0410 => "Italian (Italy)",
        0x0411 => "Japanese (Japan)",
        0x0412 => "Korean (Korea)",
        0x0413 => "Dutch (Netherlands)",
        0x0414 => "Norwegian (Bokmal) (Norway)",
        0x0415 => "Polish (Poland)",
        0x0416 => "Portuguese (Brazil)",
        0x0816 => "Portuguese (Portugal)",
        0x0419 => "Russian (Russia)",
        0x041D => "Swedish (Sweden)",
        0x041F => "Turkish (Turkey)",
        0x0804 => "Chinese (People's Republic of China)",
        _ => "Language Neutral",
    }
}

/// Copies a version resource into the object's fields.
fn fill<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>, info: &VersionInfo) -> Result<()> {
    for (field, name) in TEXTS {
        let text = cx.alloc_str(info.string(name).unwrap_or_default())?;
        set_ref(cx, this, field, text)?;
    }
    let language = language_name(info.language);
    set_ref(cx, this, "language", cx.alloc_str(language)?)?;
    for (fields, parts) in [(FILE_PARTS, info.file), (PRODUCT_PARTS, info.product)] {
        for (field, part) in fields.into_iter().zip(parts) {
            set_i32(cx, this, field, i32::from(part))?;
        }
    }
    for (field, flag) in FLAGS {
        set_bool(cx, this, field, info.flags & flag != 0)?;
    }
    Ok(())
}

/// Fills an object from the version resource of a file.
fn read<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>, file: &OsStr) -> Result<()> {
    let info = cx.native(|| version_info(&std::fs::read(file).ok()?));
    match info {
        Some(info) => fill(cx, this, &info),
        None => Ok(()),
    }
}

/// A FileVersionInfo of that class.
fn named<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, name: &str) -> Result<ObjRef<'cx>> {
    let object = cx.alloc(class)?;
    set_ref(cx, object, "filename", cx.alloc_str(name)?)?;
    Ok(object)
}
/// The FileVersionInfo of a file, of the class of that name.
pub fn of_file<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, file: &str) -> Result<ObjRef<'cx>> {
    let object = named(cx, class, file)?;
    if Path::new(file)
        .extension()
        .is_some_and(|e| e == "dll" || e == "exe")
    {
        read(cx, object, OsStr::new(file))?;
    }
    Ok(object)
}
/// One that has a version only, in the place of that of a file.
pub fn of_version<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    name: &str,
    version: [u16; 4],
) -> Result<ObjRef<'cx>> {
    let object = named(cx, class, name)?;
    for (field, part) in FILE_PARTS.into_iter().zip(version) {
        set_i32(cx, object, field, i32::from(part))?;
    }
    Ok(object)
}

icalls! {
    /// Fills the object's fields from the version resource of the file.
    "System.Diagnostics.FileVersionInfo::GetVersionInfo_icall" fn get_version_info(cx, this: ObjRef<'cx>, name: Chars<'cx>, length: i32) {
        let file = path(name.take(length));
        set_ref(cx, this, "filename", cx.alloc_utf16(name.take(length))?)?;
        read(cx, this, OsStr::from_bytes(file.as_bytes()))
    }
}
