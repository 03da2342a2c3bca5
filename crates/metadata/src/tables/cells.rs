//! The cells of one row.
//!
//! Invariant: the bytes are as long as the layout's row.
use super::schema::Layout;

/// One row's bytes with its table's layout.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'t, 'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) layout: &'t Layout,
}

impl<'t, 'a> Cells<'t, 'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: &'t Layout) -> Cells<'t, 'a> {
        Cells { bytes, layout }
    }
    /// The raw value of column `i`.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> u32 {
        let start = usize::from(self.layout.starts[i]);
        let end = usize::from(self.layout.starts[i + 1]);
        match &self.bytes[start..end] {
            [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]),
            [a, b] => u32::from(u16::from_le_bytes([*a, *b])),
            _ => 0,
        }
    }
}
