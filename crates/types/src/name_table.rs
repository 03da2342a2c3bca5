//! The top-level types of a module by namespace and name: an open-addressed table of tokens.
//!
//! The table holds a hash and a token for each row. Whoever searches compares the names themselves in the image, so making the table takes a
//! hash for each type, and no memory for names.
//!
//! # Invariants
//! * At least half of the table is empty, so a search ends.
//! * Of two rows with the same names the one that was added first is found: a search passes the places in the order in which
//!   [`TypeNames::add`] fills them.
use crate::Token;

/// See the module.
pub(crate) struct TypeNames {
    /// Hash and token; token 0: empty. As many as a power of two.
    places: Vec<(u32, u32)>,
}

impl TypeNames {
    /// An empty table for at most that many rows.
    pub fn new(rows: u32) -> TypeNames {
        TypeNames {
            places: vec![(0, 0); (rows as usize * 2).next_power_of_two().max(2)],
        }
    }
    /// The hash of a namespace and a name.
    pub fn hash(namespace: &[u8], name: &[u8]) -> u32 {
        use std::hash::Hasher;
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(namespace);
        hasher.write_u8(b'.');
        hasher.write(name);
        let hash = hasher.finish();
        (hash ^ (hash >> 32)) as u32
    }
    /// Adds a row, of which there may be no more than [`TypeNames::new`] was told.
    pub fn add(&mut self, hash: u32, token: Token) {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while self.places[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = (hash, token.0);
    }
    /// The tokens whose names may have that hash, in the order in which they were added.
    pub fn candidates(&self, hash: u32) -> impl Iterator<Item = Token> + use<'_> {
        let mask = self.places.len() - 1;
        let from = hash as usize & mask;
        (0..self.places.len())
            .map(move |i| self.places[(from + i) & mask])
            .take_while(|place| place.1 != 0)
            .filter(move |place| place.0 == hash)
            .map(|place| Token(place.1))
    }
    /// Every row, in no particular order.
    pub fn tokens(&self) -> impl Iterator<Item = Token> + use<'_> {
        let used = self.places.iter().filter(|place| place.1 != 0);
        used.map(|place| Token(place.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_one_hash_are_found_in_the_order_in_which_they_were_added() {
        let mut names = TypeNames::new(40);
        for rid in 1..=40 {
            // Eight hashes, which begin at neighbouring places.
            names.add(0xFFFF_FFF8 + rid % 8, Token(0x0200_0000 + rid));
        }
        for hash in 0..8 {
            let rids: Vec<u32> = names
                .candidates(0xFFFF_FFF8 + hash)
                .map(|t| t.rid())
                .collect();
            let expected: Vec<u32> = (1..=40).filter(|rid| rid % 8 == hash).collect();
            assert_eq!(rids, expected);
        }
        assert_eq!(names.candidates(7).count(), 0);
        assert_eq!(names.tokens().count(), 40);
    }

    #[test]
    fn an_empty_table_answers() {
        assert_eq!(
            TypeNames::new(0)
                .candidates(TypeNames::hash(b"", b""))
                .count(),
            0
        );
    }

    #[test]
    fn the_hash_tells_where_the_namespace_ends() {
        assert_ne!(
            TypeNames::hash(b"System", b"IO"),
            TypeNames::hash(b"Syste", b"mIO")
        );
        assert_ne!(TypeNames::hash(b"", b"ab"), TypeNames::hash(b"ab", b""));
    }
}
