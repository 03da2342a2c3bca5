//! Published library files that cannot run on this class library, and how to know them.
//!
//! Some NuGet packages carry their own builds of six framework assemblies, made against the internals of another
//! class library. Mono 6.8 knows them by module version id (with their file name) and refuses redirects to their
//! versions; whoever opens such a file should bind its assembly name again without it.

use crate::Version;

/// Whether a redirect to this version leads to a file that cannot run here, and must be ignored.
pub fn is_unusable_version(simple_name: &str, version: Version) -> bool {
    VERSIONS.binary_search(&(simple_name, version)).is_ok()
}

/// Whether the file with this name cannot run here; its module version id is asked for if there are such files of that name.
pub fn is_unusable(file_name: &str, module_version_id: impl FnOnce() -> Option<[u8; 16]>) -> bool {
    let stem = file_name.strip_suffix(".dll");
    stem.is_some_and(|stem| {
        let is_listed = |row: &(&str, &str)| stem.eq_ignore_ascii_case(row.1);
        MODULES.iter().any(is_listed)
    }) && module_version_id().is_some_and(|id| is_unusable_module(file_name, &text_of(id)))
}

/// A module version id as the table has it; the first three of its fields are little-endian.
fn text_of(id: [u8; 16]) -> String {
    let fields: [&[usize]; 5] = [
        &[3, 2, 1, 0],
        &[5, 4],
        &[7, 6],
        &[8, 9],
        &[10, 11, 12, 13, 14, 15],
    ];
    let text = |field: &[usize]| -> String {
        let digits = field.iter().map(|at| format!("{:02X}", id[*at]));
        digits.collect()
    };
    fields.map(text).join("-")
}

/// Whether the file with this name and module version id (upper case, with dashes) cannot run here.
fn is_unusable_module(file_name: &str, module_version_id: &str) -> bool {
    MODULES
        .binary_search_by_key(&module_version_id, |row| row.0)
        .is_ok_and(|at| {
            file_name
                .strip_suffix(".dll")
                .is_some_and(|stem| stem.eq_ignore_ascii_case(MODULES[at].1))
        })
}

#[rustfmt::skip]
static VERSIONS: &[(&str, Version)] = &[
    ("System.Globalization.Extensions", [4, 0, 0, 0]),
    ("System.Globalization.Extensions", [4, 0, 1, 0]),
    ("System.Globalization.Extensions", [4, 0, 2, 0]),
    ("System.Globalization.Extensions", [4, 1, 0, 0]),
    ("System.IO.Compression", [4, 1, 0, 0]),
    ("System.IO.Compression", [4, 1, 2, 0]),
    ("System.IO.Compression", [4, 2, 0, 0]),
    ("System.Net.Http", [4, 1, 0, 0]),
    ("System.Net.Http", [4, 1, 0, 1]),
    ("System.Net.Http", [4, 1, 1, 0]),
    ("System.Net.Http", [4, 1, 1, 1]),
    ("System.Net.Http", [4, 1, 1, 2]),
    ("System.Net.Http", [4, 1, 1, 3]),
    ("System.Net.Http", [4, 2, 0, 0]),
    ("System.Runtime.InteropServices.RuntimeInformation", [4, 0, 0, 0]),
    ("System.Runtime.InteropServices.RuntimeInformation", [4, 0, 1, 0]),
    ("System.Runtime.InteropServices.RuntimeInformation", [4, 0, 2, 0]),
    ("System.Text.Encoding.CodePages", [4, 0, 1, 0]),
    ("System.Text.Encoding.CodePages", [4, 0, 2, 0]),
    ("System.Text.Encoding.CodePages", [4, 1, 0, 0]),
    ("System.Text.Encoding.CodePages", [4, 1, 1, 0]),
    ("System.Threading.Overlapped", [4, 0, 0, 0]),
    ("System.Threading.Overlapped", [4, 0, 1, 0]),
    ("System.Threading.Overlapped", [4, 0, 2, 0]),
    ("System.Threading.Overlapped", [4, 1, 0, 0]),
];

#[rustfmt::skip]
static MODULES: &[(&str, &str)] = &[
    ("05C07BD4-AFF1-4B12-900B-F0A5EB88DDB4", "System.IO.Compression"),
    ("084B071E-1637-4B3F-B7CD-6CEF28A6E4AE", "System.Net.Http"),
    ("09D4A140-061C-4884-9B63-22067E841931", "System.Net.Http"),
    ("0C4BCFB3-F609-4631-93A6-17B19C69D9B6", "System.Runtime.InteropServices.RuntimeInformation"),
    ("1332CE2F-1517-4BD7-93FD-7D4BCFBAED66", "System.IO.Compression"),
    ("1A2B9B2A-02F5-4C78-AB0C-7C6D2795CE2B", "System.Globalization.Extensions"),
    ("1F37581E-4589-4C71-A465-05C6B9AE966E", "System.Runtime.InteropServices.RuntimeInformation"),
    ("212BEDF2-E3F5-4D59-8C1A-F4D1C58B46CD", "System.Threading.Overlapped"),
    ("269B562C-CC15-4736-B1B1-68D4A43CAA98", "System.Net.Http"),
    ("27BBDD4C-EAF0-4A95-B172-EE502D76A725", "System.Net.Http"),
    ("28006E9A-74DB-45AC-8A8D-030CEBAA272A", "System.Globalization.Extensions"),
    ("3336A2A3-1772-4EF9-A74B-AFDC80A8B21E", "System.Threading.Overlapped"),
    ("33AD8174-7781-46FA-A110-33821CCBE810", "System.IO.Compression"),
    ("33D296D9-EE6D-404E-BF9F-432A429FF5DA", "System.Runtime.InteropServices.RuntimeInformation"),
    ("35DD20B5-8766-476B-B5D2-0EA16EF0A946", "System.IO.Compression"),
    ("3A58A219-266B-47C3-8BE8-4E4F394147AB", "System.IO.Compression"),
    ("3B30D67C-B16B-47BC-B949-9500B5AAAAFB", "System.Globalization.Extensions"),
    ("41ACE450-8F44-455A-97AC-0679E5462071", "System.Net.Http"),
    ("44FCA06C-A510-4B3E-BDBF-D08D697EF65A", "System.IO.Compression"),
    ("475DBF02-9F68-44F1-8FB5-C9F69F1BD2B1", "System.Globalization.Extensions"),
    ("488CE209-4E5D-40E7-BE8C-F81F2B99F13A", "System.Runtime.InteropServices.RuntimeInformation"),
    ("50F4163A-D692-452F-90ED-2F8024BB5319", "System.Globalization.Extensions"),
    ("56203551-6937-47C1-9246-346A733913EE", "System.Net.Http"),
    ("5FCD54F0-4B97-4259-875D-30E481F02EA2", "System.Globalization.Extensions"),
    ("67D3A14A-8F55-4C9F-9699-EDD0876369DA", "System.Text.Encoding.CodePages"),
    ("6D334D4D-0149-4D07-9DEF-CC52213145CE", "System.Runtime.InteropServices.RuntimeInformation"),
    ("817F01C3-4011-477D-890A-98232B85553D", "System.Net.Http"),
    ("82C79759-CB3C-4EB6-A17C-BDE85AF00A9B", "System.Net.Http"),
    ("82D565AC-E41C-4E29-9939-C031C88EDBDD", "System.Threading.Overlapped"),
    ("87697E71-D192-4F0B-BAD4-02BBC7793005", "System.Threading.Overlapped"),
    ("8DBD1669-97BC-4190-9BD8-738561193741", "System.IO.Compression"),
    ("8E2F55F3-D010-417B-A742-21386EDDD388", "System.Net.Http"),
    ("903A137B-BB3F-464A-94D4-780B89EE5580", "System.Net.Http"),
    ("9A3724BF-DF8F-4955-8CFA-41D45F11B586", "System.Runtime.InteropServices.RuntimeInformation"),
    ("9F5D4F09-787A-458A-BA08-553AA71470F1", "System.Threading.Overlapped"),
    ("A0439CB6-A5E6-4813-A76C-13F92ADDDED5", "System.Threading.Overlapped"),
    ("B9BA8638-25D2-4A3B-B91F-16B3D3799861", "System.Globalization.Extensions"),
    ("C0E04D9C-70CF-48A6-A179-FBFD8CE69FD0", "System.Net.Http"),
    ("C142254F-DEB5-46A7-AE43-6F10320D1D1F", "System.Text.Encoding.CodePages"),
    ("C786B28D-0850-4D4C-AED9-FE6B86EE7C31", "System.IO.Compression"),
    ("CA2D23DE-55E1-45D8-9720-0EBE3EEC1DF2", "System.Runtime.InteropServices.RuntimeInformation"),
    ("D2B4F262-31A4-4E80-9CFB-26A2249A735E", "System.Text.Encoding.CodePages"),
    ("D87389D8-6E9C-48CF-B128-3637018577AF", "System.Runtime.InteropServices.RuntimeInformation"),
    ("DB06A592-E332-44A1-8B85-20CAB3C3C147", "System.Net.Http"),
    ("DD91439F-3167-478E-BD2C-BF9C036A1395", "System.Runtime.InteropServices.RuntimeInformation"),
    ("E46BA45E-6A63-47CD-AF70-2C3016AFF75A", "System.Runtime.InteropServices.RuntimeInformation"),
    ("E5AE3324-2100-4F77-9E41-AEEF226C9649", "System.Runtime.InteropServices.RuntimeInformation"),
    ("E933407E-C846-4413-82C5-09F4BCFA67F1", "System.Threading.Overlapped"),
    ("E9FCFF5B-4DE1-4BDC-9CE8-08C640FC78CC", "System.Globalization.Extensions"),
    ("EA2EC6DC-51DD-479C-BFC2-E713FB9E7E47", "System.Net.Http"),
    ("F13660F8-9D0D-419F-BA4E-315693DD26EA", "System.Runtime.InteropServices.RuntimeInformation"),
    ("F4FFC4A6-E694-49D9-81B2-12F2C9A29652", "System.Threading.Overlapped"),
    ("F580BAAC-12BD-4716-B486-C0A5E3EE6EEA", "System.Runtime.InteropServices.RuntimeInformation"),
    ("F5CCCBEC-E1AD-4DBB-9B44-9B42C86B94B8", "System.Text.Encoding.CodePages"),
    ("FC1439FC-C1B8-4DB1-914D-165CCFA77002", "System.Globalization.Extensions"),
    ("FCBD003B-2BB4-4940-BAEF-63AF520C2336", "System.Threading.Overlapped"),
    ("FD178CD4-EF4F-44D5-9C3F-812B1E25126B", "System.Text.Encoding.CodePages"),
    ("FD6C8616-C1D8-43F9-AC17-A1C48A45FDA2", "System.Runtime.InteropServices.RuntimeInformation"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tables_are_sorted() {
        assert!(VERSIONS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(MODULES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn an_id_is_asked_for_only_if_the_name_is_listed() {
        let mut id = 0xEA2EC6DC_51DD_479C_BFC2_E713FB9E7E47_u128.to_be_bytes();
        id[..4].reverse();
        id[4..6].reverse();
        id[6..8].reverse();
        assert!(is_unusable("system.net.http.dll", || Some(id)));
        assert!(!is_unusable("System.Net.Http.dll", || Some([0; 16])));
        assert!(!is_unusable("Other.dll", || unreachable!("no such name")));
    }

    #[test]
    fn a_module_is_known_by_id_and_file_name_together() {
        let id = "EA2EC6DC-51DD-479C-BFC2-E713FB9E7E47";
        assert!(is_unusable_module("System.Net.Http.dll", id));
        assert!(!is_unusable_module("Other.dll", id));
        assert!(is_unusable_version("System.Net.Http", [4, 1, 1, 0]));
        assert!(!is_unusable_version("System.Net.Http", [4, 0, 0, 0]));
    }
}
