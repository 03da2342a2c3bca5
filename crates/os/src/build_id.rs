//! The build id of this binary: a hash over its content that the linker has put into a note.
//!
//! # Invariants
//! The id is that of the object in which this very function is: of the executable, or of the shared library that contains the runtime.
/// The type of the note, and its owner.
const NT_GNU_BUILD_ID: u32 = 3;
const OWNER: &[u8] = b"GNU\0";

/// The build id. None: the linker was not asked for one.
pub fn build_id() -> Option<Vec<u8>> {
    let mut found: Option<Vec<u8>> = None;
    // SAFETY: the callback gets the address of `found`, which is alive until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

/// Looks whether an object contains this function; if so, ends the search with its id.
unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    found: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes a complete record, whose array of headers has that length.
    let (base, headers) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize);
        (info.dlpi_addr as usize, headers)
    };
    let here = build_id as *const () as usize;
    let contains = headers.iter().any(|h| {
        let start = base + h.p_vaddr as usize;
        h.p_type == libc::PT_LOAD && (start..start + h.p_memsz as usize).contains(&here)
    });
    if !contains {
        return 0;
    }
    for h in headers.iter().filter(|h| h.p_type == libc::PT_NOTE) {
        // SAFETY: the notes of an object that is mapped for the life of the process, since we run in it.
        let notes = unsafe {
            std::slice::from_raw_parts(
                (base + h.p_vaddr as usize) as *const u8,
                h.p_filesz as usize,
            )
        };
        if let Some(id) = id_among(notes) {
            // SAFETY: `build_id` passed the address of such a variable.
            unsafe { *found.cast::<Option<Vec<u8>>>() = Some(id.to_vec()) };
        }
    }
    1
}

/// The build id among notes: (length of the owner, length of the content, type, owner, content), each padded to four bytes.
fn id_among(mut notes: &[u8]) -> Option<&[u8]> {
    let word = |bytes: &[u8], at: usize| {
        let bytes = bytes.get(at..)?.first_chunk()?;
        Some(u32::from_ne_bytes(*bytes))
    };
    loop {
        let (owner_len, len, kind) = (word(notes, 0)?, word(notes, 4)?, word(notes, 8)?);
        let owner = notes.get(12..)?.get(..owner_len as usize)?;
        let start = 12 + (owner_len as usize).next_multiple_of(4);
        let content = notes.get(start..)?.get(..len as usize)?;
        if kind == NT_GNU_BUILD_ID && owner == OWNER && len >= 8 {
            return Some(content);
        }
        notes = notes.get(start + (len as usize).next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::id_among;

    fn note(owner: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for n in [owner.len() as u32, content.len() as u32, kind] {
            note.extend(n.to_ne_bytes());
        }
        for part in [owner, content] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_id_is_found_behind_other_notes() {
        let mut notes = note(b"GNU\0", 1, b"0123456789abcdef");
        notes.extend(note(b"odd", 3, b"12345"));
        notes.extend(note(b"GNU\0", 3, b"the build id"));
        assert_eq!(id_among(&notes), Some(&b"the build id"[..]));
        assert_eq!(id_among(&notes[..40]), None);
        assert_eq!(id_among(&[0xFF; 32]), None);
    }
}
