//! Native half of System.Text.EncodingHelper.
//!
//! Keeps nothing: the character set is that of the locale chosen at start-up.
use crate::support::args::Out;
use crate::support::text::utf8_z;
use vervet_runtime::{ObjRef, icalls};

/// The library's number of a normalised character set name.
fn code(name: &str) -> i32 {
    match name {
        "ascii" | "us_ascii" | "us" | "ansi_x3.4_1968" | "ansi_x3.4_1986" | "cp367" | "csascii"
        | "ibm367" | "iso_ir_6" | "iso646_us" | "iso_646.irv:1991" => 1,
        "utf_7"
        | "csunicode11utf7"
        | "unicode_1_1_utf_7"
        | "unicode_2_0_utf_7"
        | "x_unicode_1_1_utf_7"
        | "x_unicode_2_0_utf_7" => 2,
        "utf_8"
        | "unicode_1_1_utf_8"
        | "unicode_2_0_utf_8"
        | "x_unicode_1_1_utf_8"
        | "x_unicode_2_0_utf_8" => 3,
        "utf_16" | "utf_16le" | "ucs_2" | "unicode" | "iso_10646_ucs2" => 4,
        "unicodefffe" | "utf_16be" => 5,
        "iso_8859_1" | "latin1" => 6,
        _ => -1,
    }
}

icalls! {
    /// The number, and the name if there is no number and the name is wanted.
    "System.Text.EncodingHelper::InternalCodePage" fn internal_code_page(cx, code_page: Out<'cx, i32>) -> ObjRef<'cx> {
        let wants_name = code_page.get() != 0;
        // SAFETY: nl_langinfo gives a NUL-terminated string.
        let set = unsafe { utf8_z(libc::nl_langinfo(libc::CODESET) as *const u8) };
        let name = set.to_ascii_lowercase().replace('-', "_");
        let mut n = code(&name);
        if name.contains("utf_8") {
            n |= 0x1000_0000;
        }
        code_page.set(n);
        if wants_name && n == -1 { cx.alloc_str(&set) } else { Ok(ObjRef::NULL) }
    }
}
