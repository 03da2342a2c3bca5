//! Native half of System.Diagnostics.FileVersionInfo.
//!
//! Keeps nothing. A file without a version resource has its name only; with one, a text that is not there is empty.
use crate::support::args::Chars;
use crate::support::fields::{set_bool, set_i32, set_ref};
use crate::support::text::path;
use std::os::unix::ffi::OsStrExt;
use vervet_metadata::version::{self, VersionInfo, version_info};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, icalls};

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

fn fill<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>, info: &VersionInfo) -> Result<()> {
    for (field, name) in TEXTS {
        let text = cx.alloc_str(info.string(name).unwrap_or_default())?;
        set_ref(cx, this, field, text)?;
    }
    let language = language_name(info.language.unwrap_or(0));
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

icalls! {
    /// Fills the object's fields from the version resource of the file.
    "System.Diagnostics.FileVersionInfo::GetVersionInfo_icall" fn get_version_info(cx, this: ObjRef<'cx>, name: Chars<'cx>, length: i32) {
        let file = path(name.take(length));
        set_ref(cx, this, "filename", cx.alloc_utf16(name.take(length))?)?;
        let info = cx.native(|| {
            let bytes = std::fs::read(std::ffi::OsStr::from_bytes(file.as_bytes())).ok()?;
            version_info(&bytes)
        });
        match info {
            Some(info) => fill(cx, this, &info),
            None => Ok(()),
        }
    }
}
