//! Scalar replacement: stack slots whose address goes nowhere become values.
//!
//! # How it works
//! Structs live in stack slots, and so do scalars whose address is taken for a call that was inlined.
//! [`promote`] takes four steps:
//!
//! ```text
//! addresses   which slots escape, and which loads and stores access the others
//! pieces      ranges of bytes that become one value each
//! flow        where pieces are live, and which blocks get a parameter for one
//! rename      loads become the value of their pieces, stores give pieces a new value
//! ```
//!
//! ```text
//! var p = new Point(x, y);      v3 = stack_addr ss0
//! return p.x + p.y;             store v1, v3;  store v2, v3+8
//!                               v4 = load.f64 v3;  v5 = load.f64 v3+8
//!                               v6 = fadd v4, v5                            ->   v6 = fadd v1, v2
//! ```
//!
//! Slots of more than [`MAX_SLOT`](addresses::MAX_SLOT) bytes stay, and so does everything in very
//! long functions: the steps are linear in the accesses but for the sets of live pieces, which take
//! blocks times pieces.
//!
//! # Invariants
//! * A slot becomes values as a whole, or stays.
//! * A piece that is read before it is written is zero.
//! * When the unwinder enters a landing pad, no register holds a variable: a slot of which a piece is
//!   live there stays.
//! * References in pieces are in registers or spill slots, where the conservative scan finds them as
//!   it would in the slot.
mod addresses;
mod flow;
mod pieces;
mod rename;

pub use addresses::{Addresses, MAX_SLOT, Uses, constant};

use crate::optimise::FrameNotes;
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, Function};
use flow::Flow;
use pieces::Pieces;

/// Makes values of the slots that allow it. `cfg` and `domtree` are those of the function; no block
/// of it is unreachable. True if an edge went.
pub fn promote(
    func: &mut Function,
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
    notes: &FrameNotes,
) -> bool {
    func.dfg.resolve_all_aliases();
    let order: Vec<Block> = domtree.cfg_postorder().iter().rev().copied().collect();
    if cfg.pred_iter(order[0]).next().is_some() {
        return false;
    }
    let addresses = Addresses::find(func, &order, &[]);
    let uses = Uses::find(func, &order, &addresses, notes.marks());
    let mut pieces = Pieces::find(func, &uses, notes);
    if pieces.all.is_empty() {
        return false;
    }
    let flow = Flow::find(&order, cfg, domtree, &uses, &mut pieces);
    rename::rename(func, cfg, domtree, &addresses, &uses, &pieces, &flow)
}

#[cfg(test)]
mod tests;
