//! Native half of System.IO.MonoIO's search (FindFirstFile and its like).
//!
//! Keeps the searches that are open: the names still to come, by handle.
use crate::support::args::{Chars, Out};
use crate::support::error_numbers;
use std::collections::HashMap;
use std::ffi::CString;
use vervet_os::LeafLock;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{RefSlot, icalls};

struct Search {
    directory: String,
    /// In reverse order.
    names: Vec<String>,
}
static SEARCHES: LeafLock<(usize, Option<HashMap<usize, Search>>)> =
    LeafLock::new((0x2000_0000, None));

/// Does a name match a pattern of `*` and `?`?
fn matches(name: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|i| matches(&name[i..], rest)),
        Some(('?', rest)) => !name.is_empty() && matches(&name[1..], rest),
        Some((c, rest)) => name.first() == Some(c) && matches(&name[1..], rest),
    }
}
/// Stores the next entry; false at the end.
fn next<'cx>(
    cx: &'cx Cx<'cx>,
    handle: usize,
    name: RefSlot<'cx>,
    attributes: Out<'cx, i32>,
    error: Out<'cx, i32>,
) -> Result<bool> {
    let found = {
        let mut s = SEARCHES.lock();
        match s.1.as_mut().and_then(|m| m.get_mut(&handle)) {
            None => Err(error_numbers::INVALID_HANDLE),
            Some(search) => match search.names.pop() {
                None => Err(error_numbers::NO_MORE_FILES),
                Some(n) => Ok((format!("{}/{n}", search.directory), n)),
            },
        }
    };
    match found {
        Ok((path, n)) => {
            let path = CString::new(path).unwrap_or_default();
            attributes.set(crate::system::io::mono_io::attributes(&path).map_or(0, |a| a.1));
            name.set(cx.alloc_str(&n)?);
            error.set(error_numbers::SUCCESS);
            Ok(true)
        }
        Err(e) => {
            error.set(e);
            Ok(false)
        }
    }
}

icalls! {
    /// Opens a search and gives its first name and attributes. -1 and the error if nothing matches.
    "System.IO.MonoIO::FindFirstFile" fn find_first_file(cx, pattern: Chars<'cx>, name: RefSlot<'cx>, attributes: Out<'cx, i32>, error: Out<'cx, i32>) -> isize {
        let whole = crate::support::text::text(pattern.until_zero());
        let (directory, pattern) = match whole.rsplit_once('/') {
            Some(("", p)) => ("/", p),
            Some((d, p)) => (d, p),
            None => (".", whole.as_str()),
        };
        let pattern: Vec<char> = if pattern == "*.*" { vec!['*'] } else { pattern.chars().collect() };
        let entries = cx.native(|| std::fs::read_dir(directory).map(|d| d.flatten().map(|e| e.file_name()).collect::<Vec<_>>()));
        let mut names: Vec<String> = match entries {
            Ok(e) => e.iter().map(|n| n.to_string_lossy().into_owned()).collect(),
            Err(e) => {
                error.set(match error_numbers::from_errno(e.raw_os_error().unwrap_or(0)) {
                    error_numbers::FILE_NOT_FOUND => error_numbers::PATH_NOT_FOUND,
                    e => e,
                });
                return Ok(-1);
            }
        };
        names.retain(|n| matches(&n.chars().collect::<Vec<_>>(), &pattern));
        names.sort_unstable_by(|a, b| b.cmp(a));
        if names.is_empty() {
            error.set(error_numbers::FILE_NOT_FOUND);
            return Ok(-1);
        }
        let handle = {
            let mut s = SEARCHES.lock();
            s.0 += 16;
            let h = s.0;
            s.1.get_or_insert_default().insert(h, Search { directory: directory.to_string(), names });
            h
        };
        next(cx, handle, name, attributes, error)?;
        Ok(handle as isize)
    }
    /// The next name and attributes of a search. False and NO_MORE_FILES at its end.
    "System.IO.MonoIO::FindNextFile" fn find_next_file(cx, handle: isize, name: RefSlot<'cx>, attributes: Out<'cx, i32>, error: Out<'cx, i32>) -> bool {
        next(cx, handle as usize, name, attributes, error)
    }
    /// Forgets a search. False if the handle is none.
    "System.IO.MonoIO::FindCloseFile" fn find_close_file(cx, handle: isize) -> bool {
        Ok(SEARCHES.lock().1.as_mut().is_some_and(|m| m.remove(&(handle as usize)).is_some()))
    }
}
