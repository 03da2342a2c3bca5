//! Where the pieces of slots are live, and which blocks get parameters for them.
//!
//! # How it works
//! Liveness is a backward data flow over sets of pieces. A load that only copies makes those pieces
//! live that are live in the copy. A block that several values of a piece reach is in the iterated
//! dominance frontier of the blocks that write the piece (Cytron and others, 1991); it gets a
//! parameter if the piece is live there.
//!
//! ```text
//! block1: store 0, ss0           block2: store 1, ss0
//!             \                      /
//!              block3: load ss0                        in the frontier of both: block3(p: i64)
//!                    |
//!              block4: load ss0                        dominated by block3: p again
//! ```
//!
//! # Invariants
//! * No piece is live at a landing pad, so no landing pad gets a parameter.
use super::addresses::Uses;
use super::pieces::Pieces;
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::Block;
use smallvec::SmallVec;

/// A set of pieces for each block: bits, 64 to a word, the words of all blocks in one vector. There
/// are as many sets as blocks, and most methods have fewer than 64 pieces.
struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    /// Empty sets.
    fn new(blocks: usize, pieces: usize) -> Sets {
        let words = pieces.div_ceil(64);
        Sets {
            words,
            bits: vec![0; blocks * words],
        }
    }
    /// The set of a block.
    fn of(&self, block: usize) -> &[u64] {
        &self.bits[block * self.words..(block + 1) * self.words]
    }
    /// Whether a block's set has the piece.
    fn has(&self, block: usize, piece: usize) -> bool {
        self.of(block)[piece / 64] >> (piece % 64) & 1 != 0
    }
}

/// The result.
pub struct Flow {
    /// By block: the pieces that it has parameters for.
    pub params: SecondaryMap<Block, SmallVec<[u32; 4]>>,
    /// By block: its position in the order of the accesses.
    pub position: SecondaryMap<Block, u32>,
}

impl Flow {
    /// Finds it. Gives up slots that are live at landing pads.
    pub fn find(
        order: &[Block],
        cfg: &ControlFlowGraph,
        domtree: &DominatorTree,
        uses: &Uses,
        pieces: &mut Pieces,
    ) -> Flow {
        let mut flow = Flow {
            params: SecondaryMap::new(),
            position: SecondaryMap::new(),
        };
        for (n, block) in order.iter().enumerate() {
            flow.position[*block] = n as u32;
        }
        let (live, writes) = loop {
            let (live, writes) = flow.liveness(order, cfg, uses, pieces);
            let mut given_up = false;
            for block in order.iter().filter(|b| uses.pads.contains(**b)) {
                for n in 0..pieces.all.len() {
                    if live.has(flow.position[*block] as usize, n) {
                        pieces.give_up(pieces.all[n].slot);
                        given_up = true;
                    }
                }
            }
            // What is copied to a slot that stays is live as a whole.
            if !given_up {
                break (live, writes);
            }
        };
        let frontiers = frontiers(order, cfg, domtree);
        for (n, writers) in writes.into_iter().enumerate() {
            if !pieces.promotes(pieces.all[n].slot) {
                continue;
            }
            let mut work = writers;
            while let Some(block) = work.pop() {
                for to in &frontiers[block] {
                    let params = &mut flow.params[*to];
                    if params.last() != Some(&(n as u32))
                        && live.has(flow.position[*to] as usize, n)
                    {
                        params.push(n as u32);
                        work.push(*to);
                    }
                }
            }
        }
        flow
    }

    /// The pieces that are live where blocks begin, and by piece the blocks that write it.
    ///
    /// The sets only grow from pass to pass, and so does `wanted`, so it ends. A load that only
    /// copies is live through what it is copied to: of a struct that is copied around a loop for the
    /// sake of one field, the other fields cost nothing.
    fn liveness(
        &self,
        order: &[Block],
        cfg: &ControlFlowGraph,
        uses: &Uses,
        pieces: &Pieces,
    ) -> (Sets, Vec<Vec<Block>>) {
        let count = pieces.all.len();
        let mut live = Sets::new(order.len(), count);
        let mut writes: Vec<Vec<Block>> = vec![Vec::new(); count];
        let mut first = 0;
        for (n, block) in order.iter().enumerate() {
            let end = uses.ends[n] as usize;
            for access in uses.accesses[first..end]
                .iter()
                .filter(|a| a.stored.is_some())
            {
                for piece in pieces.covered(access) {
                    if writes[piece].last() != Some(block) {
                        writes[piece].push(*block);
                    }
                }
            }
            first = end;
        }
        // By access that only copies: the pieces of it that are wanted, as bits.
        let mut wanted: Vec<u16> = vec![0; uses.accesses.len()];
        let mut now = vec![0; live.words];
        let mut changed = true;
        while changed {
            changed = false;
            for n in (0..order.len()).rev() {
                now.fill(0);
                for to in cfg.succ_iter(order[n]) {
                    let to = live.of(self.position[to] as usize);
                    now.iter_mut().zip(to).for_each(|(o, t)| *o |= t);
                }
                let first = n
                    .checked_sub(1)
                    .map_or(0, |before| uses.ends[before] as usize);
                for at in (first..uses.ends[n] as usize).rev() {
                    backwards(at, uses, pieces, &mut now, &mut wanted);
                }
                let before = &mut live.bits[n * live.words..(n + 1) * live.words];
                if *before != now[..] {
                    before.copy_from_slice(&now);
                    changed = true;
                }
            }
        }
        (live, writes)
    }
}

/// Goes back over one access: `now` is what is live behind it, and then before it.
fn backwards(at: usize, uses: &Uses, pieces: &Pieces, now: &mut [u64], wanted: &mut [u16]) {
    let access = &uses.accesses[at];
    if !pieces.promotes(access.slot) {
        return;
    }
    let source = pieces.copied_from(at);
    for (n, piece) in pieces.covered(access).enumerate() {
        let (word, bit) = (piece / 64, 1 << (piece % 64));
        if access.stored.is_some() {
            if let Some(source) = source
                && now[word] & bit != 0
            {
                wanted[source] |= 1 << n;
            }
            // A lane leaves the others as they are.
            if !pieces.is_lane(access) {
                now[word] &= !bit;
            }
        } else if !pieces.only_copies(at, uses) || wanted[at] >> n & 1 != 0 {
            now[word] |= bit;
        }
    }
}

/// The dominance frontiers: where the dominance of a block ends.
///
/// A block with several predecessors is in the frontier of each of them, and of what dominates them,
/// up to what dominates the block itself.
fn frontiers(
    order: &[Block],
    cfg: &ControlFlowGraph,
    domtree: &DominatorTree,
) -> SecondaryMap<Block, SmallVec<[Block; 4]>> {
    let mut frontiers: SecondaryMap<Block, SmallVec<[Block; 4]>> = SecondaryMap::new();
    for block in order {
        if cfg.pred_iter(*block).nth(1).is_none() {
            continue;
        }
        let end = domtree.idom(*block);
        for pred in cfg.pred_iter(*block) {
            let mut at = Some(pred.block);
            while let Some(b) = at
                && at != end
            {
                if !frontiers[b].contains(block) {
                    frontiers[b].push(*block);
                }
                at = domtree.idom(b);
            }
        }
    }
    frontiers
}
