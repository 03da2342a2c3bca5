//! The format of a file of compiled code.
//!
//! ```text
//! front    header      magic, format, lengths, checksum of the front
//!          key         the build and the configuration that the code is for
//!          subject     the identity of the assembly whose code it is
//!          sets        what entries depend on: (length, bytes) each
//! index                open-addressed table: (hash, offset of the entry, its length), a power of two of them, at most half full
//! entries              (lengths, hash, set, cost, checksum, payload) each, in the order in which they were first wanted
//! ```
//! All numbers are little-endian. The payload of an entry begins with its identity. The index has no checksum: what it leads to is an entry with that hash, or
//! nothing. So that of a large file, with every method of an assembly, need not be read as a whole.
//!
//! # Invariants
//! * [`View::open`] and [`View::find`] are total. An entry is handed out only if its checksum is right.
//! * What is looked at is memory of this process, into which a [`Source`] copied it: a file may change, shrink or go away at any time.
//! * The key and the subject are compared as a whole, never by a hash.
use crate::checksum::checksum;
use crate::wire::{Damaged, Read};

/// The first bytes of a file, with the number of the format.
const MAGIC: &[u8; 12] = b"VervetCode\x03\0";
/// Bytes of the header: [`MAGIC`], nine numbers of 32 bits, the checksum.
const HEADER: usize = 12 + 9 * 4 + 8;
/// Bytes of a slot of the index.
const SLOT: usize = 16;
/// Bytes in front of an entry's payload.
const ENTRY: usize = 32;
/// An empty slot.
const EMPTY: u32 = u32::MAX;
/// The longest index, in bytes, that is read with the front.
const SHORT_INDEX: usize = 256 << 10;
/// Slots that are read at once of a longer one.
const AT_ONCE: usize = 4;
/// The longest file that is written or read.
pub const LONGEST: usize = 64 << 20;

/// An entry as it is written.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The hash that finds it.
    pub hash: u64,
    /// The number of the set it depends on.
    pub set: u32,
    /// How many microseconds the code took to make.
    pub cost: u32,
    /// How many bytes of the payload are the identity.
    pub identity: u32,
    /// Identity and content.
    pub payload: &'a [u8],
}

impl<'a> Entry<'a> {
    /// What the entry is for, relative to its set.
    pub fn identity(&self) -> &'a [u8] {
        &self.payload[..(self.identity as usize).min(self.payload.len())]
    }
    /// What is behind the identity.
    pub fn content(&self) -> &'a [u8] {
        &self.payload[(self.identity as usize).min(self.payload.len())..]
    }
    /// The bytes in front of the payload, but for the checksum, which covers them.
    fn head(&self) -> [u8; ENTRY - 8] {
        let mut head = [0; ENTRY - 8];
        head[..4].copy_from_slice(&(self.payload.len() as u32).to_le_bytes());
        head[4..8].copy_from_slice(&self.identity.to_le_bytes());
        head[8..16].copy_from_slice(&self.hash.to_le_bytes());
        head[16..20].copy_from_slice(&self.set.to_le_bytes());
        head[20..].copy_from_slice(&self.cost.to_le_bytes());
        head
    }
    fn sum(&self) -> u64 {
        checksum(&self.head()) ^ checksum(self.payload).rotate_left(1)
    }
}

fn word(bytes: &[u8], at: usize) -> Read<u32> {
    let bytes = bytes.get(at..).and_then(|b| b.first_chunk());
    Ok(u32::from_le_bytes(*bytes.ok_or(Damaged)?))
}
fn long(bytes: &[u8], at: usize) -> Read<u64> {
    let bytes = bytes.get(at..).and_then(|b| b.first_chunk());
    Ok(u64::from_le_bytes(*bytes.ok_or(Damaged)?))
}

/// An entry that was read.
#[derive(Clone, Debug)]
pub struct Found {
    /// See [`Entry`].
    pub hash: u64,
    /// See [`Entry`].
    pub set: u32,
    /// See [`Entry`].
    pub cost: u32,
    identity: u32,
    /// Head and payload.
    bytes: Vec<u8>,
}

impl Found {
    /// As it is written.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            hash: self.hash,
            set: self.set,
            cost: self.cost,
            identity: self.identity,
            payload: &self.bytes[ENTRY..],
        }
    }
    /// Reads an entry from its head and payload.
    fn read(bytes: Vec<u8>, sets: usize) -> Read<Found> {
        let found = Found {
            identity: word(&bytes, 4)?,
            hash: long(&bytes, 8)?,
            set: word(&bytes, 16)?,
            cost: word(&bytes, 20)?,
            bytes,
        };
        let sum = long(&found.bytes, 24)?;
        let entry = found.entry();
        let len = entry.payload.len();
        let right = word(&found.bytes, 0)? as usize == len
            && entry.identity as usize <= len
            && (entry.set as usize) < sets
            && sum == entry.sum();
        right.then_some(found).ok_or(Damaged)
    }
}

/// Where the bytes of a file come from.
pub trait Source {
    /// Fills a buffer with what is at an offset.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, at: usize, into: &mut [u8]) -> Read<()>;
}

impl Source for &[u8] {
    fn read(&self, at: usize, into: &mut [u8]) -> Read<()> {
        let from = self.get(at..).and_then(|b| b.get(..into.len()));
        into.copy_from_slice(from.ok_or(Damaged)?);
        Ok(())
    }
}

/// So many bytes of a source. Memory is taken only for what can be there.
fn bytes_at(source: &impl Source, at: usize, len: usize) -> Read<Vec<u8>> {
    if len > LONGEST {
        return Err(Damaged);
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Damaged)?;
    bytes.resize(len, 0);
    source.read(at, &mut bytes)?;
    Ok(bytes)
}

/// A file of which the front was read and is right.
#[derive(Clone, Debug)]
pub struct View<S> {
    source: S,
    front: Vec<u8>,
    /// Where each set is in the front.
    sets: Vec<std::ops::Range<usize>>,
    /// The index; empty: it is read when it is needed.
    index: Vec<u8>,
    slots: usize,
    count: usize,
    /// Where the entries begin.
    entries: usize,
    /// Where the entries end.
    end: usize,
}

impl<S: Source> View<S> {
    /// Reads the front of a file of that length, which must be for that key and subject.
    ///
    /// # Errors
    /// It is damaged, or for another one.
    pub fn open(source: S, len: usize, key: &[u8], subject: &[u8]) -> Read<View<S>> {
        if !(HEADER..=LONGEST).contains(&len) {
            return Err(Damaged);
        }
        let header = bytes_at(&source, 0, HEADER)?;
        let lengths = Lengths::read(&header, len)?;
        let front = bytes_at(&source, 0, lengths.front)?;
        let sum = long(&front, HEADER - 8)?;
        let mut rest = &front[HEADER..];
        let mut take = |len: usize| {
            let (taken, left) = rest.split_at_checked(len).ok_or(Damaged)?;
            rest = left;
            Ok(taken)
        };
        if checksum(&front[..HEADER - 8]) ^ checksum(&front[HEADER..]) != sum
            || front[..HEADER] != header
            || take(lengths.key)? != key
            || take(lengths.subject)? != subject
        {
            return Err(Damaged);
        }
        let mut at = lengths.front - lengths.sets;
        let mut sets = Vec::new();
        for _ in 0..lengths.set_count {
            let len = word(&front, at)? as usize;
            let end = (at + 4).checked_add(len).filter(|e| *e <= lengths.front);
            sets.push(at + 4..end.ok_or(Damaged)?);
            at = end.ok_or(Damaged)?;
        }
        let index_len = match lengths.slots * SLOT {
            len if len <= SHORT_INDEX => len,
            _ => 0,
        };
        Ok(View {
            index: bytes_at(&source, lengths.front, index_len)?,
            source,
            sets,
            slots: lengths.slots,
            count: lengths.count,
            entries: lengths.entries,
            end: len,
            front,
        })
    }
    /// The set with a number.
    pub fn set(&self, number: u32) -> Option<&[u8]> {
        let range = self.sets.get(number as usize)?.clone();
        self.front.get(range)
    }
    /// How many sets there are.
    pub fn set_count(&self) -> usize {
        self.sets.len()
    }
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Copies slots from one on, up to [`AT_ONCE`] of them; returns how many.
    fn slots_at(&self, slot: usize, into: &mut [u8; AT_ONCE * SLOT]) -> Read<usize> {
        let count = AT_ONCE.min(self.slots - slot);
        let into = &mut into[..count * SLOT];
        match self.index.get(slot * SLOT..) {
            Some(known) if !known.is_empty() => into.copy_from_slice(&known[..into.len()]),
            _ => self.source.read(self.front.len() + slot * SLOT, into)?,
        }
        Ok(count)
    }
    /// Offsets and lengths of what may be entries with that hash.
    fn places(&self, hash: u64) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut slot = hash as usize & (self.slots - 1);
        let mut left = self.slots;
        let mut bytes = [0; AT_ONCE * SLOT];
        let (mut next, mut count) = (0, 0);
        std::iter::from_fn(move || {
            while left > 0 {
                if next == count {
                    count = self.slots_at(slot, &mut bytes).ok()?;
                    next = 0;
                }
                let at = next * SLOT;
                (next, left) = (next + 1, left - 1);
                slot = (slot + 1) & (self.slots - 1);
                let offset = word(&bytes, at + 8).ok()?;
                if offset == EMPTY {
                    left = 0;
                } else if long(&bytes, at).ok()? == hash {
                    return Some((offset as usize, word(&bytes, at + 12).ok()? as usize));
                }
            }
            None
        })
    }
    /// The undamaged entries with that hash. Reads the source.
    pub fn find(&self, hash: u64) -> impl Iterator<Item = Found> + '_ {
        self.places(hash).filter_map(move |(offset, len)| {
            let at = self.entries.checked_add(offset)?;
            at.checked_add(len).filter(|end| *end <= self.end)?;
            let found =
                bytes_at(&self.source, at, len).and_then(|b| Found::read(b, self.sets.len()));
            found.ok().filter(|f| f.hash == hash)
        })
    }
    /// Whether the index knows that hash. The entry may still turn out to be damaged. May read the source.
    pub fn has(&self, hash: u64) -> bool {
        self.places(hash).next().is_some()
    }
    /// All undamaged entries up to the first whose length is not right, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = Found> + '_ {
        let mut at = self.entries;
        std::iter::from_fn(move || {
            while at < self.end {
                let here = at;
                let mut len = [0; 4];
                self.source.read(here, &mut len).ok()?;
                let len = ENTRY.checked_add(u32::from_le_bytes(len) as usize)?;
                at = here.checked_add(len).filter(|end| *end <= self.end)?;
                let found = bytes_at(&self.source, here, len);
                if let Ok(found) = found.and_then(|b| Found::read(b, self.sets.len())) {
                    return Some(found);
                }
            }
            None
        })
    }
}

/// What the header says of the parts.
struct Lengths {
    key: usize,
    subject: usize,
    set_count: usize,
    sets: usize,
    slots: usize,
    count: usize,
    /// All up to the index.
    front: usize,
    /// Where the entries begin.
    entries: usize,
}

impl Lengths {
    /// Reads the header of a file of that length.
    fn read(header: &[u8], len: usize) -> Read<Lengths> {
        let at = |n: usize| word(header, MAGIC.len() + 4 * n).map(|w| w as usize);
        let mut lengths = Lengths {
            key: at(0)?,
            subject: at(1)?,
            set_count: at(2)?,
            sets: at(3)?,
            slots: at(4)?,
            count: at(5)?,
            front: 0,
            entries: 0,
        };
        // Each is below 2^32, so the sum does not overflow.
        let l = &mut lengths;
        l.front = HEADER + l.key + l.subject + l.sets;
        l.entries = l.front + l.slots * SLOT;
        let right = header.get(..MAGIC.len()) == Some(MAGIC)
            && at(7)? == len
            && l.slots.is_power_of_two()
            && l.entries.checked_add(at(6)?) == Some(len);
        right.then_some(lengths).ok_or(Damaged)
    }
}

/// Makes the checksums of a file right, whatever else is wrong with it. For tests: damage with right checksums is what the reader meets
/// if the writer is wrong.
pub fn repair(data: &mut [u8]) {
    if data.len() < HEADER {
        return;
    }
    let at = |data: &[u8], n: usize| word(data, MAGIC.len() + 4 * n).map_or(0, |w| w as usize);
    data[..MAGIC.len()].copy_from_slice(MAGIC);
    let total = (data.len() as u32).to_le_bytes();
    data[MAGIC.len() + 28..MAGIC.len() + 32].copy_from_slice(&total);
    let front = HEADER + at(data, 0) + at(data, 1) + at(data, 3);
    let first = front + at(data, 4) * SLOT;
    if first > data.len() {
        return;
    }
    let entries = ((data.len() - first) as u32).to_le_bytes();
    data[MAGIC.len() + 24..MAGIC.len() + 28].copy_from_slice(&entries);
    let sum = checksum(&data[..HEADER - 8]) ^ checksum(&data[HEADER..front]);
    data[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    let mut here = first;
    while let Some(all) = data.get(here..).filter(|a| a.len() >= ENTRY) {
        let len = word(all, 0).map_or(0, |w| w as usize);
        let Some(payload) = all.get(ENTRY..).and_then(|p| p.get(..len)) else {
            return;
        };
        let sum = checksum(&all[..ENTRY - 8]) ^ checksum(payload).rotate_left(1);
        data[here + ENTRY - 8..here + ENTRY].copy_from_slice(&sum.to_le_bytes());
        here += ENTRY + len;
    }
}

/// The bytes of a file.
///
/// # Errors
/// It would be longer than [`LONGEST`], or there is no memory for it.
pub fn assemble(
    key: &[u8],
    subject: &[u8],
    sets: &[Vec<u8>],
    entries: &[Entry<'_>],
) -> Read<Vec<u8>> {
    let slots = (2 * entries.len()).next_power_of_two().max(2);
    let sets_len: usize = sets.iter().map(|s| 4 + s.len()).sum();
    let entries_len: usize = entries.iter().map(|e| ENTRY + e.payload.len()).sum();
    let front = HEADER + key.len() + subject.len() + sets_len;
    let total = front + slots * SLOT + entries_len;
    let mut out = Vec::new();
    if total > LONGEST || out.try_reserve_exact(total).is_err() {
        return Err(Damaged);
    }
    out.extend_from_slice(MAGIC);
    for n in [
        key.len(),
        subject.len(),
        sets.len(),
        sets_len,
        slots,
        entries.len(),
        entries_len,
        total,
        0,
    ] {
        out.extend_from_slice(&(n as u32).to_le_bytes());
    }
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(key);
    out.extend_from_slice(subject);
    for set in sets {
        out.extend_from_slice(&(set.len() as u32).to_le_bytes());
        out.extend_from_slice(set);
    }
    let index = out.len();
    for _ in 0..slots {
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&EMPTY.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
    }
    let mut at = 0;
    for entry in entries {
        let len = ENTRY + entry.payload.len();
        let mut slot = entry.hash as usize & (slots - 1);
        while word(&out, index + slot * SLOT + 8) != Ok(EMPTY) {
            slot = (slot + 1) & (slots - 1);
        }
        let slot = &mut out[index + slot * SLOT..][..SLOT];
        slot[..8].copy_from_slice(&entry.hash.to_le_bytes());
        slot[8..12].copy_from_slice(&(at as u32).to_le_bytes());
        slot[12..].copy_from_slice(&(len as u32).to_le_bytes());
        at += len;
    }
    let sum = checksum(&out[..HEADER - 8]) ^ checksum(&out[HEADER..front]);
    out[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    for entry in entries {
        out.extend_from_slice(&entry.head());
        out.extend_from_slice(&entry.sum().to_le_bytes());
        out.extend_from_slice(entry.payload);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Vec<u8>, Vec<Vec<u8>>) {
        let payloads: Vec<Vec<u8>> = (0..50u8).map(|n| vec![n; n as usize + 3]).collect();
        let entries: Vec<Entry<'_>> = payloads
            .iter()
            .enumerate()
            .map(|(n, payload)| Entry {
                // Groups of equal hashes, and hashes that fall into one slot.
                hash: (n as u64 / 2) << 40,
                set: n as u32 % 2,
                cost: 7,
                identity: 2,
                payload,
            })
            .collect();
        let sets = [b"one".to_vec(), Vec::new()];
        let file = assemble(b"key", b"subject", &sets, &entries).unwrap();
        (file, payloads)
    }
    fn open<'a>(file: &'a [u8], key: &[u8], subject: &[u8]) -> Read<View<&'a [u8]>> {
        View::open(file, file.len(), key, subject)
    }
    fn payload(found: &Found) -> Vec<u8> {
        found.entry().payload.to_vec()
    }

    #[test]
    fn what_is_assembled_is_found() {
        let (file, payloads) = example();
        let view = open(&file, b"key", b"subject").unwrap();
        assert_eq!(view.set(0), Some(&b"one"[..]));
        assert_eq!((view.set(1), view.set(2)), (Some(&[][..]), None));
        assert_eq!((view.len(), view.set_count()), (50, 2));
        assert!(view.entries().map(|e| payload(&e)).eq(payloads.clone()));
        for n in 0..25 {
            let found: Vec<_> = view.find(n << 40).map(|e| payload(&e)[0]).collect();
            assert_eq!(found, [2 * n as u8, 2 * n as u8 + 1]);
            assert!(view.has(n << 40));
        }
        assert_eq!(view.find(1).count(), 0);
        assert!(!view.has(1));
    }

    /// Of every method of a large assembly.
    #[test]
    fn a_long_index_is_read_when_it_is_needed() {
        let count = SHORT_INDEX / SLOT;
        let payloads: Vec<[u8; 4]> = (0..count as u32).map(u32::to_le_bytes).collect();
        let hash = |n: usize| (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let entries: Vec<Entry<'_>> = (0..count)
            .map(|n| Entry {
                hash: hash(n),
                set: 0,
                cost: 0,
                identity: 0,
                payload: &payloads[n],
            })
            .collect();
        let file = assemble(b"", b"", &[Vec::new()], &entries).unwrap();
        let view = open(&file, b"", b"").unwrap();
        assert!(view.index.is_empty() && view.front.len() < 1000);
        for (n, wanted) in payloads.iter().enumerate() {
            let found: Vec<_> = view.find(hash(n)).map(|f| payload(&f)).collect();
            assert_eq!(found, [wanted]);
        }
        assert!((count..2 * count).all(|n| !view.has(hash(n))));
    }

    #[test]
    fn another_key_or_subject_is_refused() {
        let (file, _) = example();
        assert!(open(&file, b"kex", b"subject").is_err());
        assert!(open(&file, b"key", b"subjecT").is_err());
        assert!(open(&file, b"keys", b"ubject").is_err());
    }

    #[test]
    fn whatever_bit_is_flipped_no_wrong_payload_is_found() {
        let (file, payloads) = example();
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(view) = open(&damaged, b"key", b"subject") else {
                continue;
            };
            for n in 0..25 {
                for e in view.find(n << 40) {
                    let right = &payloads[2 * n as usize..=2 * n as usize + 1];
                    assert!(right.contains(&payload(&e)));
                }
            }
            assert!(view.entries().all(|e| payloads.contains(&payload(&e))));
        }
    }

    /// As a file that another program shortens.
    #[test]
    fn a_file_that_is_cut_off_is_refused_and_may_be_cut_off_later() {
        struct Shrinks<'a>(&'a [u8], std::cell::Cell<usize>);
        impl Source for &Shrinks<'_> {
            fn read(&self, at: usize, into: &mut [u8]) -> Read<()> {
                (&self.0[..self.1.get()]).read(at, into)
            }
        }
        let (file, payloads) = example();
        for len in 0..file.len() {
            assert!(open(&file[..len], b"key", b"subject").is_err());
            let source = Shrinks(&file, std::cell::Cell::new(file.len()));
            let view = View::open(&source, file.len(), b"key", b"subject").unwrap();
            source.1.set(len);
            assert!(view.entries().all(|e| payloads.contains(&payload(&e))));
            let found: usize = (0..25).map(|n| view.find(n << 40).count()).sum();
            assert!(found < 50);
        }
    }

    #[test]
    fn repaired_damage_is_read_and_is_not_damage_any_more() {
        let (file, _) = example();
        let mut damaged = file.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        damaged[2] ^= 1;
        repair(&mut damaged);
        let view = open(&damaged, b"key", b"subject").unwrap();
        assert_eq!(view.entries().count(), 50);
        repair(&mut damaged[..10]);
    }

    #[test]
    fn an_empty_file_of_the_format_has_nothing() {
        let file = assemble(b"", b"", &[], &[]).unwrap();
        let view = open(&file, b"", b"").unwrap();
        assert!(view.is_empty() && view.find(0).next().is_none());
    }
}
