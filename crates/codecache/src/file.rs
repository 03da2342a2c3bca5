//! The format of a file of compiled code.
//!
//! ```text
//! header      magic, format, lengths, checksum of all up to the index
//! key         the build and the configuration that the code is for
//! subject     the identity of the assembly whose code it is
//! sets        what entries depend on: (length, bytes) each
//! index       open-addressed table: (hash, offset of the entry), a power of two of them, at most half full
//! entries     (lengths, hash, set, cost, checksum, payload) each, in the order in which they were first wanted
//! ```
//! All numbers are little-endian. The payload of an entry begins with its identity.
//!
//! # Invariants
//! * [`View::open`] and [`View::find`] are total. An entry is handed out only if its checksum is right.
//! * The key and the subject are compared as a whole, never by a hash.
//! * The index has no checksum. A wrong slot leads to no entry, or to one whose hash is another; both are misses.
use crate::checksum::checksum;
use crate::wire::{Damaged, Read};

/// The first bytes of a file, with the number of the format.
const MAGIC: &[u8; 12] = b"VervetCode\x01\0";
/// Bytes of the header: [`MAGIC`], nine numbers of 32 bits, the checksum.
const HEADER: usize = 12 + 9 * 4 + 8;
/// Bytes of a slot of the index.
const SLOT: usize = 12;
/// Bytes in front of an entry's payload.
const ENTRY: usize = 32;
/// An empty slot.
const EMPTY: u32 = u32::MAX;
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

/// A file that was read, of which header and lengths are right.
#[derive(Clone, Debug)]
pub struct View<'a> {
    sets: Vec<&'a [u8]>,
    index: &'a [u8],
    entries: &'a [u8],
    count: u32,
}

impl<'a> View<'a> {
    /// Reads a file that must be for that key and subject.
    ///
    /// # Errors
    /// It is damaged, or for another one.
    pub fn open(data: &'a [u8], key: &[u8], subject: &[u8]) -> Read<View<'a>> {
        if data.len() > LONGEST || data.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(Damaged);
        }
        let at = |n: usize| word(data, MAGIC.len() + 4 * n).map(|w| w as usize);
        let [
            key_len,
            subject_len,
            set_count,
            sets_len,
            slots,
            count,
            entries_len,
            total,
            _,
        ] = [
            at(0)?,
            at(1)?,
            at(2)?,
            at(3)?,
            at(4)?,
            at(5)?,
            at(6)?,
            at(7)?,
            at(8)?,
        ];
        let sum = long(data, HEADER - 8)?;
        if total != data.len() || !slots.is_power_of_two() || slots > LONGEST / SLOT {
            return Err(Damaged);
        }
        let mut rest = data.get(HEADER..).ok_or(Damaged)?;
        let mut take = |len: usize| {
            let (taken, left) = rest.split_at_checked(len).ok_or(Damaged)?;
            rest = left;
            Ok(taken)
        };
        let (found_key, found_subject) = (take(key_len)?, take(subject_len)?);
        let set_bytes = take(sets_len)?;
        let front = HEADER + key_len + subject_len + sets_len;
        if checksum(&data[..HEADER - 8]) ^ checksum(&data[HEADER..front]) != sum
            || found_key != key
            || found_subject != subject
        {
            return Err(Damaged);
        }
        let index = take(slots * SLOT)?;
        let entries = take(entries_len)?;
        let mut sets = Vec::new();
        let mut left = set_bytes;
        for _ in 0..set_count {
            let len = word(left, 0)? as usize;
            sets.push(left.get(4..).and_then(|l| l.get(..len)).ok_or(Damaged)?);
            left = &left[4 + len..];
        }
        Ok(View {
            sets,
            index,
            entries,
            count: count as u32,
        })
    }
    /// The sets, by number.
    pub fn sets(&self) -> &[&'a [u8]] {
        &self.sets
    }
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The undamaged entries with that hash.
    pub fn find(&self, hash: u64) -> impl Iterator<Item = Entry<'a>> + '_ {
        let slots = self.index.len() / SLOT;
        let mut slot = hash as usize & (slots - 1);
        let mut left = slots;
        std::iter::from_fn(move || {
            while left > 0 {
                let at = slot * SLOT;
                (slot, left) = ((slot + 1) & (slots - 1), left - 1);
                let offset = word(self.index, at + 8).ok()?;
                if offset == EMPTY {
                    left = 0;
                } else if long(self.index, at).ok()? == hash
                    && let Ok(entry) = self.entry(offset as usize)
                    && entry.hash == hash
                {
                    return Some(entry);
                }
            }
            None
        })
    }
    /// Whether the index knows that hash. The entry may still turn out to be damaged.
    pub fn has(&self, hash: u64) -> bool {
        let slots = self.index.len() / SLOT;
        let mut slot = hash as usize & (slots - 1);
        for _ in 0..slots {
            match word(self.index, slot * SLOT + 8) {
                Ok(EMPTY) | Err(_) => return false,
                Ok(_) if long(self.index, slot * SLOT) == Ok(hash) => return true,
                Ok(_) => slot = (slot + 1) & (slots - 1),
            }
        }
        false
    }
    /// All undamaged entries up to the first whose length is not right, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < self.entries.len() {
                let here = at;
                let len = word(self.entries, here).ok()? as usize;
                at = here.checked_add(ENTRY)?.checked_add(len)?;
                if let Ok(entry) = self.entry(here) {
                    return Some(entry);
                }
            }
            None
        })
    }
    /// The entry at an offset, if it is undamaged.
    fn entry(&self, at: usize) -> Read<Entry<'a>> {
        let all = self.entries.get(at..).ok_or(Damaged)?;
        let len = word(all, 0)? as usize;
        let payload = all.get(ENTRY..).and_then(|p| p.get(..len)).ok_or(Damaged)?;
        let entry = Entry {
            identity: word(all, 4)?,
            hash: long(all, 8)?,
            set: word(all, 16)?,
            cost: word(all, 20)?,
            payload,
        };
        let right = long(all, 24)? == entry.sum()
            && entry.identity as usize <= len
            && (entry.set as usize) < self.sets.len();
        right.then_some(entry).ok_or(Damaged)
    }
}

/// Makes the checksums of a file right, whatever else is wrong with it. For tests: damage with right checksums is what the reader meets
/// if the writer is wrong.
pub fn repair(data: &mut [u8]) {
    let at = |data: &[u8], n: usize| word(data, MAGIC.len() + 4 * n).map_or(0, |w| w as usize);
    if data.len() < HEADER {
        return;
    }
    data[..MAGIC.len()].copy_from_slice(MAGIC);
    let total = (data.len() as u32).to_le_bytes();
    data[MAGIC.len() + 28..MAGIC.len() + 32].copy_from_slice(&total);
    let front = HEADER
        .saturating_add(at(data, 0))
        .saturating_add(at(data, 1))
        .saturating_add(at(data, 3));
    if front > data.len() {
        return;
    }
    let sum = checksum(&data[..HEADER - 8]) ^ checksum(&data[HEADER..front]);
    data[HEADER - 8..HEADER].copy_from_slice(&sum.to_le_bytes());
    let mut here = front.saturating_add(at(data, 4).saturating_mul(SLOT));
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

/// The bytes of a file. Entries that would make it longer than [`LONGEST`] are left out, the last ones first.
pub fn assemble(key: &[u8], subject: &[u8], sets: &[Vec<u8>], entries: &[Entry<'_>]) -> Vec<u8> {
    let slots = (2 * entries.len()).next_power_of_two().max(2);
    let mut front: Vec<u8> = Vec::new();
    front.extend_from_slice(key);
    front.extend_from_slice(subject);
    let before = front.len();
    for set in sets {
        front.extend_from_slice(&(set.len() as u32).to_le_bytes());
        front.extend_from_slice(set);
    }
    let sets_len = front.len() - before;
    let room = LONGEST.saturating_sub(HEADER + front.len() + slots * SLOT);
    let mut index = Vec::with_capacity(slots * SLOT);
    for _ in 0..slots {
        index.extend_from_slice(&0u64.to_le_bytes());
        index.extend_from_slice(&EMPTY.to_le_bytes());
    }
    let mut body: Vec<u8> = Vec::new();
    let mut count = 0;
    for entry in entries {
        if body.len() + ENTRY + entry.payload.len() > room {
            break;
        }
        let mut slot = entry.hash as usize & (slots - 1);
        while word(&index, slot * SLOT + 8) != Ok(EMPTY) {
            slot = (slot + 1) & (slots - 1);
        }
        index[slot * SLOT..slot * SLOT + 8].copy_from_slice(&entry.hash.to_le_bytes());
        index[slot * SLOT + 8..slot * SLOT + 12]
            .copy_from_slice(&(body.len() as u32).to_le_bytes());
        body.extend_from_slice(&entry.head());
        body.extend_from_slice(&entry.sum().to_le_bytes());
        body.extend_from_slice(entry.payload);
        count += 1;
    }
    let total = HEADER + front.len() + index.len() + body.len();
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(MAGIC);
    for n in [
        key.len(),
        subject.len(),
        sets.len(),
        sets_len,
        slots,
        count,
        body.len(),
        total,
        0,
    ] {
        out.extend_from_slice(&(n as u32).to_le_bytes());
    }
    let sum = checksum(&out) ^ checksum(&front);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&front);
    out.extend_from_slice(&index);
    out.extend_from_slice(&body);
    out
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
        (assemble(b"key", b"subject", &sets, &entries), payloads)
    }

    #[test]
    fn what_is_assembled_is_found() {
        let (file, payloads) = example();
        let view = View::open(&file, b"key", b"subject").unwrap();
        assert_eq!(view.sets(), [&b"one"[..], &[]]);
        assert_eq!(view.len(), 50);
        assert!(view.entries().map(|e| e.payload).eq(&payloads));
        for n in 0..25 {
            let found: Vec<_> = view.find(n << 40).map(|e| e.payload[0]).collect();
            assert_eq!(found, [2 * n as u8, 2 * n as u8 + 1]);
            assert!(view.has(n << 40));
        }
        assert_eq!(view.find(1).count(), 0);
        assert!(!view.has(1));
    }

    #[test]
    fn another_key_or_subject_is_refused() {
        let (file, _) = example();
        assert!(View::open(&file, b"kex", b"subject").is_err());
        assert!(View::open(&file, b"key", b"subjecT").is_err());
        assert!(View::open(&file, b"keys", b"ubject").is_err());
    }

    #[test]
    fn whatever_bit_is_flipped_no_wrong_payload_is_found() {
        let (file, payloads) = example();
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(view) = View::open(&damaged, b"key", b"subject") else {
                continue;
            };
            for n in 0..25 {
                for e in view.find(n << 40) {
                    assert!(
                        payloads[2 * n as usize..=2 * n as usize + 1].contains(&e.payload.to_vec())
                    );
                }
            }
            assert!(
                view.entries()
                    .all(|e| payloads.contains(&e.payload.to_vec()))
            );
        }
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let (file, _) = example();
        for len in 0..file.len() {
            assert!(View::open(&file[..len], b"key", b"subject").is_err());
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
        let view = View::open(&damaged, b"key", b"subject").unwrap();
        assert_eq!(view.entries().count(), 50);
        repair(&mut damaged[..10]);
    }

    #[test]
    fn an_empty_file_of_the_format_has_nothing() {
        let file = assemble(b"", b"", &[], &[]);
        let view = View::open(&file, b"", b"").unwrap();
        assert!(view.is_empty() && view.find(0).next().is_none());
    }
}
