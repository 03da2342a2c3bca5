//! Metadata tokens (III.1.9): a table number in the top byte, a one-based row
//! number in the low 24 bits.
//!
//! Invariant: a token is only a name. Holding one promises nothing about the
//! row it names; every accessor checks.

use crate::tables::Table;

/// A metadata token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Token(pub u32);

impl Token {
    /// The nil token (`0`).
    pub const NIL: Token = Token(0);
    /// The pseudo table byte of user-string tokens (`ldstr`).
    pub const USER_STRING: u8 = 0x70;

    /// The token of row `rid` of `table`; bits of `rid` above 24 are dropped.
    #[inline]
    pub const fn new(table: Table, rid: u32) -> Token {
        Token((table as u32) << 24 | rid & 0x00FF_FFFF)
    }

    /// The table named, or `None` for a byte that names none (as 0x70).
    #[inline]
    pub const fn table(self) -> Option<Table> {
        Table::from_u8(self.table_byte())
    }

    /// The top byte.
    #[inline]
    pub const fn table_byte(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// The one-based row number; 0 is nil.
    #[inline]
    pub const fn rid(self) -> u32 {
        self.0 & 0x00FF_FFFF
    }

    /// Whether the row number is 0.
    #[inline]
    pub const fn is_nil(self) -> bool {
        self.rid() == 0
    }

    /// Whether the token names a row of `table`.
    #[inline]
    pub const fn is(self, table: Table) -> bool {
        self.table_byte() == table as u8
    }
}

impl core::fmt::Debug for Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

impl core::fmt::Display for Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.table() {
            Some(t) => write!(f, "{t:?}:{}", self.rid()),
            None => write!(f, "{:#010x}", self.0),
        }
    }
}
