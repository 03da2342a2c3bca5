//! Liveness of variables: which ones a handler may read before it writes them.
//!
//! # How it works
//! The usual backward data flow over bit sets, one per block. The blocks that may follow a block are its successors in the [`Plan`], the handlers that protect it, and behind
//! an `endfinally` what follows on the way of each `leave` that runs the handler.
//!
//! A finally handler that an exception has entered ends with the search for the next handler, and nothing behind it runs. So its blocks have a second set, for that way in:
//!
//! ```text
//! try { n = F(n); }               in the handler, entered by the leave:         n and r are live
//! finally { Note(r); }            in the handler, entered by an exception:      r is live, n is not
//! return n;                       so n needs no place in the frame while F runs
//! ```
//! A handler with clauses inside has one set, for both ways.
//!
//! # Invariants
//! The time is proportional to the blocks and the sets, a few rounds over each, however the blocks lie and however many clauses there are.
use super::control_flow::{Plan, VarOp, in_handler, variable_of};
use crate::translate::error::Res;
use smallvec::SmallVec;
use vervet_metadata::body::{EhClause, EhKind};
use vervet_metadata::il::Op;

impl Plan {
    /// Which variables are live at the entry of each block: arguments first, then locals.
    pub fn liveness(&self) -> Res<Liveness> {
        Liveness::new(self)
    }

    /// All blocks, each after those that may follow it, as far as no loop leads back. `next` are the blocks that follow a block, `pads` those that follow any block of a region.
    fn postorder(
        &self,
        next: &[SmallVec<[usize; 4]>],
        pads: &[SmallVec<[usize; 4]>],
    ) -> Vec<usize> {
        let mut seen = vec![false; self.blocks.len()];
        let mut entered = vec![false; pads.len()];
        let mut order = Vec::with_capacity(self.blocks.len());
        // Blocks on the way, and how many of those that follow each have been looked at.
        let mut way: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.blocks.len() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            way.push((root, 0));
            while let Some((block, at)) = way.last_mut() {
                let region = self.blocks[*block].region as usize;
                let (thrown, plain) = (&pads[region], &next[*block]);
                if *at == 0 && std::mem::replace(&mut entered[region], true) {
                    *at = thrown.len();
                }
                let follows = thrown.iter().chain(plain).nth(*at).copied();
                *at += 1;
                match follows {
                    Some(n) if !std::mem::replace(&mut seen[n], true) => way.push((n, 0)),
                    Some(_) => {}
                    None => {
                        order.push(*block);
                        way.pop();
                    }
                }
            }
        }
        order
    }

    /// By clause: the blocks that may follow the end of its finally handler when a `leave` runs it, each once. They are the handler of the finally that the same `leave` runs next, or
    /// where the `leave` goes.
    fn after_finallys(&self) -> Res<Vec<Vec<usize>>> {
        let mut after = vec![Vec::new(); self.clauses.len()];
        for (from, to) in &self.leaves {
            let through = self.finallys(*from, *to);
            let handlers = through.iter().skip(1);
            let handlers = handlers.map(|c| self.clauses[*c as usize].handler_offset);
            for (clause, offset) in through.iter().zip(handlers.chain([*to])) {
                after[*clause as usize].push(self.block(offset)?);
            }
        }
        for blocks in &mut after {
            blocks.sort_unstable();
            blocks.dedup();
        }
        Ok(after)
    }

    /// By block: whether it lies in a finally handler that has sets of its own for exceptions.
    fn ways_into_handlers(&self) -> Vec<bool> {
        let mut ways = vec![false; self.blocks.len()];
        for c in &self.clauses {
            let holds = |inner: &EhClause| {
                in_handler(c, inner.try_offset) || in_handler(c, inner.handler_offset)
            };
            if c.kind != EhKind::Finally
                || self
                    .clauses
                    .iter()
                    .any(|other| !std::ptr::eq(other, c) && holds(other))
            {
                continue;
            }
            let end = c.handler_offset + c.handler_len;
            let first = self.block_at[c.handler_offset as usize] as usize;
            let own = (first..ways.len()).take_while(|n| self.blocks[*n].offset < end);
            for n in own {
                ways[n] = true;
            }
        }
        ways
    }

    /// The finally or fault clause whose handler an `endfinally` in the block at the offset ends: the innermost one around it.
    fn ended_by(&self, offset: u32) -> Option<usize> {
        let ends = |c: &EhClause| {
            matches!(c.kind, EhKind::Finally | EhKind::Fault) && in_handler(c, offset)
        };
        let around = self.clauses.iter().enumerate().filter(|(_, c)| ends(c));
        around.min_by_key(|(_, c)| c.handler_len).map(|(n, _)| n)
    }
}

/// Bit sets of live variables, one per block.
///
/// A variable is live into a handler if the handler may read it before writing it. Such a variable
/// gets a shadow slot (`frame::variables`): when the unwinder enters the handler, registers hold
/// nothing, and the landing pad reads the slot.
pub struct Liveness {
    words: usize,
    live_in: Vec<u64>,
    /// The same if an exception has entered the finally handler in which the block lies.
    thrown_in: Vec<u64>,
}

impl Liveness {
    /// Computes the live variables.
    fn new(plan: &Plan) -> Res<Liveness> {
        let count = plan.args.len() + plan.locals.len();
        let words = count.div_ceil(64).max(1);
        let blocks = plan.blocks.len();
        // Two sets per block: variables read before any write in the block, then variables written
        // in it.
        let mut gen_kill = vec![0u64; blocks * words * 2];
        for (n, b) in plan.blocks.iter().enumerate() {
            for i in &plan.instrs[b.first as usize..b.end as usize] {
                let Some((op, is_arg, index)) = variable_of(i) else {
                    continue;
                };
                let v = if is_arg {
                    index
                } else {
                    plan.args.len() + index
                };
                let (word, bit) = (n * words * 2 + v / 64, 1u64 << (v % 64));
                match op {
                    VarOp::Load if gen_kill[word + words] & bit == 0 => gen_kill[word] |= bit,
                    VarOp::Store => gen_kill[word + words] |= bit,
                    _ => {}
                }
            }
        }
        let mut next: Vec<SmallVec<[usize; 4]>> = Vec::with_capacity(blocks);
        for n in 0..blocks {
            next.push(plan.successors(n)?);
        }
        let after = plan.after_finallys()?;
        // How many of them follow in a handler that an exception has entered.
        let thrown_next: Vec<usize> = next.iter().map(SmallVec::len).collect();
        for (n, next) in next.iter_mut().enumerate() {
            if plan.last(n).op == Op::Endfinally
                && let Some(clause) = plan.ended_by(plan.blocks[n].offset)
            {
                next.extend_from_slice(&after[clause]);
            }
        }
        // A handler can start after any instruction of a block it protects. A variable that is live
        // into the handler is therefore live throughout the block, and a write in the block does
        // not end its life.
        let mut pads: Vec<SmallVec<[usize; 4]>> = Vec::with_capacity(plan.regions.len());
        for r in &plan.regions {
            let mut set = SmallVec::new();
            for c in r {
                let c = &plan.clauses[*c as usize];
                set.push(plan.block(c.handler_offset)?);
                if let EhKind::Filter(at) = c.kind {
                    set.push(plan.block(at)?);
                }
            }
            pads.push(set);
        }
        let mut live = Liveness {
            words,
            live_in: vec![0; blocks * words],
            thrown_in: vec![0; blocks * words],
        };
        let has_two_ways = plan.ways_into_handlers();
        // The usual backward data-flow iteration. Each block after those that follow it, it needs two rounds for most methods, and one more for each level of loops, however the
        // blocks lie.
        let order = plan.postorder(&next, &pads);
        loop {
            let mut changed = false;
            for &n in &order {
                for w in 0..words {
                    let all = |sets: &[u64], blocks: &[usize]| {
                        blocks.iter().fold(0, |a, s| a | sets[s * words + w])
                    };
                    let (used, killed) = (
                        gen_kill[n * words * 2 + w],
                        gen_kill[n * words * 2 + words + w],
                    );
                    let thrown = all(&live.thrown_in, &pads[plan.blocks[n].region as usize]);
                    let out = all(&live.live_in, &next[n]);
                    let set = used | out & !killed | thrown;
                    let thrown_set = match has_two_ways[n] {
                        true => {
                            let out = all(&live.thrown_in, &next[n][..thrown_next[n]]);
                            used | out & !killed | thrown
                        }
                        false => set,
                    };
                    let at = n * words + w;
                    changed |= set != live.live_in[at] || thrown_set != live.thrown_in[at];
                    live.live_in[at] = set;
                    live.thrown_in[at] = thrown_set;
                }
            }
            if !changed {
                return Ok(live);
            }
        }
    }
    /// Whether the variable is live at the entry of the block.
    pub fn is_live(&self, block: usize, variable: usize) -> bool {
        self.is_in(&self.live_in, block, variable)
    }
    /// Whether the variable is live at the entry of the handler or filter that begins with the block, when an exception enters it.
    pub fn is_live_when_thrown(&self, block: usize, variable: usize) -> bool {
        self.is_in(&self.thrown_in, block, variable)
    }
    fn is_in(&self, sets: &[u64], block: usize, variable: usize) -> bool {
        sets[block * self.words + variable / 64] & 1 << (variable % 64) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_metadata::Token;
    use vervet_metadata::body::MethodBody;

    fn plan(code: &'static [u8], clauses: Vec<EhClause>) -> Plan {
        let body = MethodBody {
            max_stack: 8,
            init_locals: true,
            local_sig: Token(0),
            code,
            clauses,
        };
        Plan::new(&body, 0, 0, 2).expect("a plan")
    }
    fn finally(try_offset: u32, try_len: u32, handler_offset: u32, handler_len: u32) -> EhClause {
        EhClause {
            kind: EhKind::Finally,
            try_offset,
            try_len,
            handler_offset,
            handler_len,
        }
    }

    #[test]
    fn behind_a_finally_comes_the_next_of_the_same_leave_or_where_it_goes() {
        // try { try { leave end } finally { endfinally } nop; leave end } finally { endfinally } end: ret
        let code: &[u8] = &[0xDE, 5, 0xDC, 0x00, 0xDE, 1, 0xDC, 0x2A];
        let plan = plan(code, vec![finally(0, 2, 2, 1), finally(0, 6, 6, 1)]);
        let block = |offset| plan.block(offset).expect("a block");
        assert_eq!(
            plan.after_finallys().expect("blocks"),
            [vec![block(6)], vec![block(7)]]
        );
        assert_eq!(plan.ended_by(2), Some(0));
        assert_eq!(plan.ended_by(6), Some(1));
    }

    #[test]
    fn what_is_read_behind_a_finally_is_not_live_where_an_exception_enters_it() {
        // try { n = 0; leave end } finally { m; endfinally } end: n; ret
        let code: &[u8] = &[0x16, 0x0A, 0xDE, 3, 0x07, 0x26, 0xDC, 0x06, 0x26, 0x2A];
        let plan = plan(code, vec![finally(0, 4, 4, 3)]);
        let handler = plan.block(4).expect("a block");
        let live = plan.liveness().expect("sets");
        assert!(live.is_live(handler, 0) && live.is_live(handler, 1));
        assert!(!live.is_live_when_thrown(handler, 0) && live.is_live_when_thrown(handler, 1));
        // With a handler around, which reads n, it is.
        let code: &[u8] = &[
            0x16, 0x0A, 0xDE, 3, 0x07, 0x26, 0xDC, 0x06, 0x26, 0xDE, 3, 0x06, 0x26, 0xDC, 0x2A,
        ];
        let plan = self::plan(code, vec![finally(0, 4, 4, 3), finally(0, 11, 11, 3)]);
        let handler = plan.block(4).expect("a block");
        let live = plan.liveness().expect("sets");
        assert!(live.is_live_when_thrown(handler, 0) && live.is_live_when_thrown(handler, 1));
    }

    #[test]
    fn each_block_comes_behind_those_that_follow_it_in_whatever_order_they_lie() {
        // br 6; back: ret; middle: br back; last: br middle
        let code: &[u8] = &[0x2B, 3, 0x2A, 0x2B, 0xFD, 0x2B, 0xFC];
        let plan = plan(code, Vec::new());
        let next: Vec<_> = (0..plan.blocks.len())
            .map(|n| plan.successors(n).expect("successors"))
            .collect();
        let pads = vec![SmallVec::new(); plan.regions.len()];
        let order = plan.postorder(&next, &pads);
        assert_eq!(order.len(), plan.blocks.len());
        let place = |b: &usize| order.iter().position(|o| o == b);
        for (block, next) in next.iter().enumerate() {
            assert!(next.iter().all(|n| place(n) < place(&block)));
        }
    }
}
