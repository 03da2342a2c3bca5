//! Questions about the edges of a function, for passes that have no control-flow graph.
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function};

/// By block: how many edges lead to it.
pub(super) fn entries(func: &Function) -> SecondaryMap<Block, u32> {
    let mut entries: SecondaryMap<Block, u32> = SecondaryMap::new();
    for block in func.layout.blocks() {
        for next in func.block_successors(block) {
            entries[next] += 1;
        }
    }
    entries
}

/// Where a block goes on, if there is one place only.
pub(super) fn next(func: &Function, block: Block) -> Option<Block> {
    let mut successors = func.block_successors(block);
    successors.next().filter(|_| successors.next().is_none())
}
