//! Sizes of tables that generated code indexes, where they depend on how much address space the process has.
//!
//! # Invariants
//! They are fixed before the first method is compiled, so generated code holds them as constants. With the usual sizes no
//! index needs a check: that is what [`TableSizes::USUAL`] stands for.

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableSizes {
    /// Number of cards, less one; a power of two, less one.
    pub card_mask: usize,
    /// How many bits the index of a GC handle has. If fewer than [`crate::handles::INDEX_BITS`], code that reads the word of a
    /// handle checks the index first.
    pub handle_index_bits: u32,
}

impl TableSizes {
    /// Those of a process whose address space is not limited.
    pub const USUAL: TableSizes = TableSizes {
        card_mask: crate::object::CARD_MASK,
        handle_index_bits: crate::handles::INDEX_BITS,
    };
}

impl Default for TableSizes {
    fn default() -> TableSizes {
        TableSizes::USUAL
    }
}
