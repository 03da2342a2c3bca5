//! The home of a local: the block behind which all of its uses are.
//!
//! ```text
//!     IL_0000: ldarg.0;  brtrue IL_0020        the home of `buffer` is the block at IL_0004:
//!     IL_0004: ldloca buffer;  call ..         paths that take the branch have no use for it
//!              br IL_0030
//!     IL_0020: ...
//! ```
//!
//! A large struct is zeroed in its home, so that a path without it costs nothing. The class library has
//! many methods that format into a buffer of their own, and answer most calls before.
//!
//! # Invariants
//! * Every path from the entry to a use enters the home, and no path enters it twice.
use super::control_flow::{Plan, variable_of};
use crate::translate::error::Res;
use smallvec::SmallVec;

impl Plan {
    /// The home of the local, if it is not the entry. None also for bodies with exception clauses, in
    /// which control goes ways of its own.
    pub fn home(&self, local: usize) -> Res<Option<usize>> {
        if !self.clauses.is_empty() {
            return Ok(None);
        }
        let uses: SmallVec<[usize; 8]> = (0..self.blocks.len())
            .filter(|n| self.blocks[*n].reachable && self.mentions(*n, local))
            .collect();
        let Some(home) = uses.first().copied().filter(|n| *n != 0) else {
            return Ok(None);
        };
        let around = self.reached(0, home)?;
        let behind = self.reached(home, home)?;
        let is_around = uses.iter().any(|n| *n != home && around[*n]);
        Ok((!is_around && !behind[home]).then_some(home))
    }

    fn mentions(&self, block: usize, local: usize) -> bool {
        let b = &self.blocks[block];
        (self.instrs[b.first as usize..b.end as usize].iter())
            .any(|i| variable_of(i).is_some_and(|(_, is_arg, n)| !is_arg && n == local))
    }

    /// The blocks that are entered on paths from `start` which end where they enter `wall`.
    fn reached(&self, start: usize, wall: usize) -> Res<Vec<bool>> {
        let mut reached = vec![false; self.blocks.len()];
        let mut open = vec![start];
        while let Some(block) = open.pop() {
            for next in self.successors(block)? {
                if !std::mem::replace(&mut reached[next], true) && next != wall {
                    open.push(next);
                }
            }
        }
        Ok(reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_metadata::Token;
    use vervet_metadata::body::MethodBody;

    fn home(code: &'static [u8]) -> Option<usize> {
        let body = MethodBody {
            max_stack: 8,
            init_locals: true,
            local_sig: Token(0),
            code,
            clauses: Vec::new(),
        };
        let plan = Plan::new(&body, 0, 1, 1).expect("a plan");
        let home = plan.home(0).expect("successors");
        home.map(|n| plan.blocks[n].offset as usize)
    }

    #[test]
    fn a_block_that_all_uses_are_behind_is_the_home() {
        // ldarg.0; brtrue.s end; ldloc.0; pop; ldarg.0; brtrue.s end; ldloc.0; pop; end: ret
        let code = &[2, 0x2D, 7, 6, 0x26, 2, 0x2D, 2, 6, 0x26, 0x2A];
        assert_eq!(home(code), Some(3));
    }

    #[test]
    fn a_use_beside_it_makes_the_entry_the_home() {
        // ldarg.0; brtrue.s end; ldloc.0; pop; end: ldloc.0; pop; ret
        assert_eq!(home(&[2, 0x2D, 2, 6, 0x26, 6, 0x26, 0x2A]), None);
        // In the entry itself.
        assert_eq!(home(&[6, 0x26, 0x2A]), None);
        // Not at all.
        assert_eq!(home(&[0x2A]), None);
    }

    #[test]
    fn a_block_that_is_entered_again_is_no_home() {
        // ldarg.0; brtrue.s end; again: ldloc.0; pop; ldarg.0; brtrue.s again; end: ret
        assert_eq!(home(&[2, 0x2D, 5, 6, 0x26, 2, 0x2D, 0xFB, 0x2A]), None);
        // A loop behind it: ..; in: ldloc.0; pop; again: ldarg.0; brtrue.s again; end: ret
        assert_eq!(home(&[2, 0x2D, 5, 6, 0x26, 2, 0x2D, 0xFD, 0x2A]), Some(3));
    }

    #[test]
    fn a_branch_from_behind_may_lead_to_an_earlier_use() {
        // br.s last; first: ldloc.0; pop; ret; last: ldloc.0; pop; br.s first
        assert_eq!(home(&[0x2B, 3, 6, 0x26, 0x2A, 6, 0x26, 0x2B, 0xF9]), None);
    }
}
