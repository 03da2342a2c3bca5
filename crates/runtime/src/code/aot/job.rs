//! What the command and its workers say to each other.
//!
//! # Invariants
//! Reading is total. Rows are those of the assembly itself; edges are named by files, because numbers of modules differ between processes.
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use vervet_codecache::wire::{Damaged, In, Out, Read};

/// A row of the AssemblyRef table of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// The file.
    pub from: PathBuf,
    /// The row.
    pub row: u32,
}

/// Methods of the assembly, by row.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Methods {
    /// To be compiled.
    pub own: Vec<u32>,
    /// To be compiled for the instances of generic methods that they call. They themselves are kept already.
    pub roots: Vec<u32>,
}

/// What a worker is to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The file of the assembly.
    pub assembly: PathBuf,
    /// To be bound first, in this order.
    pub edges: Vec<Edge>,
    /// None: all of them.
    pub methods: Option<Methods>,
    /// Only methods with these names ([`super::profile`]); None: whatever their names.
    pub names: Option<Vec<String>>,
}

/// What a worker has done.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Methods that were compiled and are kept.
    pub kept: u64,
    /// Methods that were kept before.
    pub known: u64,
    /// Methods that cannot be compiled or kept.
    pub failed: u64,
    /// Bytes written.
    pub bytes: u64,
    /// The methods that want an edge.
    pub wanted: Vec<(Edge, Methods)>,
}

fn write_path(out: &mut Out, path: &Path) {
    out.string(path.as_os_str().as_bytes());
}
fn read_path(read: &mut In<'_>) -> Read<PathBuf> {
    Ok(OsString::from_vec(read.string()?.to_vec()).into())
}
fn write_list<T>(out: &mut Out, list: &[T], mut item: impl FnMut(&mut Out, &T)) {
    out.count(list.len());
    list.iter().for_each(|i| item(out, i));
}
fn read_list<T>(read: &mut In<'_>, mut item: impl FnMut(&mut In<'_>) -> Read<T>) -> Read<Vec<T>> {
    let count = read.count()?;
    (0..count).map(|_| item(read)).collect()
}
fn at_end<T>(read: &In<'_>, value: T) -> Read<T> {
    read.is_at_end().then_some(value).ok_or(Damaged)
}

impl Edge {
    fn write(&self, out: &mut Out) {
        write_path(out, &self.from);
        out.u32(self.row);
    }
    fn read(read: &mut In<'_>) -> Read<Edge> {
        Ok(Edge {
            from: read_path(read)?,
            row: read.u32()?,
        })
    }
}

impl Methods {
    fn write(&self, out: &mut Out) {
        write_list(out, &self.own, |o, n| o.u32(*n));
        write_list(out, &self.roots, |o, n| o.u32(*n));
    }
    fn read(read: &mut In<'_>) -> Read<Methods> {
        Ok(Methods {
            own: read_list(read, |r| r.u32())?,
            roots: read_list(read, |r| r.u32())?,
        })
    }
    /// Adds others.
    pub fn extend(&mut self, other: &Methods) {
        self.own.extend(&other.own);
        self.roots.extend(&other.roots);
    }
    /// Sorts, and leaves each one once. What is to be compiled for itself is no root besides.
    pub fn normalise(&mut self) {
        for list in [&mut self.own, &mut self.roots] {
            list.sort_unstable();
            list.dedup();
        }
        self.roots.retain(|r| self.own.binary_search(r).is_err());
    }
    /// How many there are.
    pub fn count(&self) -> usize {
        self.own.len() + self.roots.len()
    }
}

impl Job {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Out::default();
        write_path(&mut out, &self.assembly);
        write_list(&mut out, &self.edges, |o, e| e.write(o));
        write_list(&mut out, self.methods.as_slice(), |o, m| m.write(o));
        write_list(&mut out, self.names.as_slice(), |o, names| {
            write_list(o, names, |o, n| o.string(n.as_bytes()));
        });
        out.bytes
    }
    /// From bytes.
    ///
    /// # Errors
    /// They are not what [`Job::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Read<Job> {
        let mut read = In::new(bytes);
        let text = |r: &mut In<'_>| String::from_utf8(r.string()?.to_vec()).map_err(|_| Damaged);
        let job = Job {
            assembly: read_path(&mut read)?,
            edges: read_list(&mut read, Edge::read)?,
            methods: read_list(&mut read, Methods::read)?.pop(),
            names: read_list(&mut read, |r| read_list(r, text))?.pop(),
        };
        at_end(&read, job)
    }
}

impl Outcome {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Out::default();
        for n in [self.kept, self.known, self.failed, self.bytes] {
            out.number(n);
        }
        write_list(&mut out, &self.wanted, |o, (edge, methods)| {
            edge.write(o);
            methods.write(o);
        });
        out.bytes
    }
    /// From bytes.
    ///
    /// # Errors
    /// They are not what [`Outcome::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Read<Outcome> {
        let mut read = In::new(bytes);
        let outcome = Outcome {
            kept: read.number()?,
            known: read.number()?,
            failed: read.number()?,
            bytes: read.number()?,
            wanted: read_list(&mut read, |r| Ok((Edge::read(r)?, Methods::read(r)?)))?,
        };
        at_end(&read, outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let edge = Edge {
            from: OsString::from_vec(b"/a\xFF\n/b.dll".to_vec()).into(),
            row: 7,
        };
        let methods = Methods {
            own: vec![3, 1, 3],
            roots: vec![9, 1],
        };
        let job = Job {
            assembly: "/x y".into(),
            edges: vec![edge.clone()],
            methods: Some(methods.clone()),
            names: Some(vec!["a".into(), String::new()]),
        };
        assert_eq!(Job::decode(&job.encode()), Ok(job.clone()));
        let all = Job {
            methods: None,
            names: None,
            ..job
        };
        assert_eq!(Job::decode(&all.encode()), Ok(all));
        let outcome = Outcome {
            kept: 1,
            bytes: u64::MAX,
            wanted: vec![(edge, methods.clone())],
            ..Outcome::default()
        };
        let bytes = outcome.encode();
        assert_eq!(Outcome::decode(&bytes), Ok(outcome));
        assert!((0..bytes.len()).all(|len| Outcome::decode(&bytes[..len]).is_err()));
        let mut sorted = methods;
        sorted.normalise();
        assert_eq!((sorted.own, sorted.roots), (vec![1, 3], vec![9]));
    }
}
