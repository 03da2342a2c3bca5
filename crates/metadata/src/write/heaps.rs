//! The heaps of a file that is written (II.24.2.3-5).
//!
//! Invariant: an item is there once; index 0 of each heap is the empty item.
use std::collections::HashMap;

use crate::error::Error;

/// Blobs and user strings of more bytes than this cannot be written.
const MOST: usize = 0x1FFF_FFFF;

/// See the module.
pub(super) struct NewHeaps {
    pub strings: Vec<u8>,
    pub blobs: Vec<u8>,
    pub user_strings: Vec<u8>,
    pub guids: Vec<u8>,
    known_strings: HashMap<Vec<u8>, u32>,
    known_blobs: HashMap<Vec<u8>, u32>,
    known_user_strings: HashMap<Vec<u8>, u32>,
}

impl Default for NewHeaps {
    fn default() -> NewHeaps {
        NewHeaps {
            strings: vec![0],
            blobs: vec![0],
            user_strings: vec![0],
            guids: Vec::new(),
            known_strings: HashMap::new(),
            known_blobs: HashMap::new(),
            known_user_strings: HashMap::new(),
        }
    }
}

/// Appends a length as heaps have it.
fn length(out: &mut Vec<u8>, n: usize) -> Result<(), Error> {
    match n {
        0..0x80 => out.push(n as u8),
        0x80..0x4000 => out.extend((n as u16 | 0x8000).to_be_bytes()),
        0x4000..=MOST => out.extend((n as u32 | 0xC000_0000).to_be_bytes()),
        _ => return Err(Error::format("an item of a heap is too long", n)),
    }
    Ok(())
}

impl NewHeaps {
    /// The index of a string. What follows a NUL cannot be written.
    pub fn string(&mut self, text: &[u8]) -> u32 {
        let text = text.split(|b| *b == 0).next().unwrap_or_default();
        if text.is_empty() {
            return 0;
        }
        if let Some(index) = self.known_strings.get(text) {
            return *index;
        }
        let index = self.strings.len() as u32;
        self.strings.extend(text);
        self.strings.push(0);
        self.known_strings.insert(text.to_vec(), index);
        index
    }
    /// The index of a blob.
    pub fn blob(&mut self, bytes: &[u8]) -> Result<u32, Error> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if let Some(index) = self.known_blobs.get(bytes) {
            return Ok(*index);
        }
        let index = self.blobs.len() as u32;
        length(&mut self.blobs, bytes.len())?;
        self.blobs.extend(bytes);
        self.known_blobs.insert(bytes.to_vec(), index);
        Ok(index)
    }
    /// The index of a user string, given as UTF-16LE bytes.
    pub fn user_string(&mut self, bytes: &[u8]) -> Result<u32, Error> {
        if let Some(index) = self.known_user_strings.get(bytes) {
            return Ok(*index);
        }
        let index = self.user_strings.len() as u32;
        length(&mut self.user_strings, bytes.len() + 1)?;
        self.user_strings.extend(bytes);
        // Whether there is a character that needs more than eight bits, or is one of those that II.24.2.4 lists.
        let special = bytes
            .chunks_exact(2)
            .any(|u| u[1] != 0 || matches!(u[0], 1..=8 | 0x0E..=0x1F | 0x27 | 0x2D | 0x7F));
        self.user_strings.push(special.into());
        self.known_user_strings.insert(bytes.to_vec(), index);
        Ok(index)
    }
    /// The number of a GUID. Those that are equal may be there several times: there are few.
    pub fn guid(&mut self, guid: [u8; 16]) -> u32 {
        self.guids.extend(guid);
        (self.guids.len() / 16) as u32
    }
    /// The heap size bits of the table stream.
    pub fn sizes(&self) -> u8 {
        let wide = |heap: &[u8], bit| if heap.len() > 0xFFFF { bit } else { 0 };
        wide(&self.strings, 1) | wide(&self.guids, 2) | wide(&self.blobs, 4)
    }
}
