//! Where a function may begin so that its dispatches lie in as few cache lines as they can: the blocks in loops that end with a jump table.
//!
//! A processor fetches and decodes code by lines. A dispatch of fifty bytes that begins near the end of a line takes two of them each time, and what it jumps to is predicted, so that is what it costs: an
//! interpreter took 11.4 ms with its dispatch in two lines and 7.5 ms with it in one. Functions begin at multiples of [`STEP`] bytes, so the same code had one speed or the other by what was
//! compiled before it. Here a function says at which of those multiples it may begin.
//!
//! A dispatch counts from the head of its loop, if that is within a line, to the jump. Other small loops have no say: with them in as few lines as possible, calls in loops of three
//! cycles took four.
//!
//! # Invariants
//! The answer depends on the machine code alone, so that kept code is what a compile would make. Code is the same wherever it is placed.
use cranelift_codegen::CompiledCode;
use smallvec::SmallVec;

/// Bytes of a line of the instruction cache.
const LINE: u32 = 64;
/// Functions begin at multiples of this.
const STEP: u32 = 16;
/// Entries of a jump table, at least.
const DISPATCH: usize = 3;
/// Entries of a table that is looked for, at most.
const MOST_ENTRIES: usize = 1024;

/// Code in a loop, from one offset to another.
type Range = (u32, u32);

/// A basic block.
struct Block {
    /// From its first instruction to the end of its last: a jump table lies behind that.
    range: Range,
    /// Where its branches lead, but for those of a jump table.
    next: SmallVec<[u32; 2]>,
    /// It ends with a jump table.
    dispatches: bool,
}

/// Where the function may begin whose body `compiled` is, behind `front` bytes: bit n stands for an address that is n * [`STEP`] more than a multiple of [`LINE`]. 0: anywhere.
pub(super) fn places(compiled: &CompiledCode, front: u32) -> u8 {
    let blocks = blocks(&compiled.bb_starts, compiled.code_buffer());
    of_ranges(&dispatches(&blocks), front)
}

/// The places where the ranges lie in the fewest lines.
fn of_ranges(ranges: &[Range], front: u32) -> u8 {
    let lines = |place: u32| -> u32 {
        let before = place * STEP + front;
        let of = |(from, to): &Range| (before + to - 1) / LINE - (before + from) / LINE;
        ranges.iter().map(of).sum()
    };
    let all: [u32; (LINE / STEP) as usize] = std::array::from_fn(|place| lines(place as u32));
    let fewest = all.into_iter().min().unwrap_or(0);
    let good = |place: &u8| all[usize::from(*place)] == fewest;
    let places = (0..all.len() as u8)
        .filter(good)
        .fold(0, |places, n| places | 1 << n);
    if places == (1 << all.len()) - 1 {
        0
    } else {
        places
    }
}

/// The blocks that begin at those offsets. Their branches are read from the code: the edges that Cranelift lists are not those of the blocks, where some are cold.
fn blocks(starts: &[u32], code: &[u8]) -> Vec<Block> {
    let mut starts = starts.to_vec();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([code.len() as u32]);
    let mut blocks: Vec<Block> = Vec::with_capacity(starts.len());
    for (start, end) in starts.iter().copied().zip(ends) {
        let table = table_behind(&code[start as usize..end as usize], start, &starts);
        let mut block = Block {
            range: (start, table.unwrap_or(end)),
            next: SmallVec::new(),
            dispatches: table.is_some(),
        };
        // A block ends with a branch, or with a conditional and an unconditional one.
        let mut at = block.range.1;
        while let Some((from, to)) = branch_before(&code[start as usize..at as usize], start)
            && block.next.len() < 2
            && starts.binary_search(&to).is_ok()
        {
            block.next.push(to);
            at = from;
        }
        blocks.push(block);
    }
    blocks
}

/// The direct branch that ends the code, which lies at that offset: where it begins, and where it leads.
fn branch_before(code: &[u8], offset: u32) -> Option<(u32, u32)> {
    let end = offset + code.len() as u32;
    let (bytes, distance) = match code {
        [.., 0xE9, a, b, c, d] => (5, i32::from_le_bytes([*a, *b, *c, *d])),
        [.., 0x0F, 0x80..=0x8F, a, b, c, d] => (6, i32::from_le_bytes([*a, *b, *c, *d])),
        [.., 0xEB | 0x70..=0x7F, a] => (2, i32::from(*a as i8)),
        _ => return None,
    };
    Some((end - bytes, end.checked_add_signed(distance)?))
}

/// Where the jump table begins that ends the code, which lies at that offset. An entry is the distance of a block from the table.
fn table_behind(code: &[u8], offset: u32, starts: &[u32]) -> Option<u32> {
    let leads_to_block = |table: usize, entry: &[u8]| {
        let distance = i32::from_le_bytes(entry.try_into().expect("four bytes"));
        let target = (offset + table as u32).checked_add_signed(distance);
        target.is_some_and(|target| starts.binary_search(&target).is_ok())
    };
    let is_table = |table: &usize| {
        let mut entries = code[*table..].chunks_exact(4);
        entries.all(|entry| leads_to_block(*table, entry))
    };
    // Most blocks have none: one of the least size is looked for first.
    let least = code.len().checked_sub(4 * DISPATCH)?;
    let tables = (0..=least).rev().step_by(4).take(MOST_ENTRIES);
    let longest = tables.filter(is_table).last()?;
    Some(offset + longest as u32)
}

/// The dispatches: from the head of the loop, or from the block, to the jump.
fn dispatches(blocks: &[Block]) -> SmallVec<[Range; 4]> {
    // Each loop's head, and the end of its farthest latch.
    let mut loops: Vec<Range> = Vec::new();
    for block in blocks {
        let (from, end) = block.range;
        for head in block.next.iter().filter(|to| **to <= from) {
            match loops.iter_mut().find(|(h, ..)| h == head) {
                Some((_, farthest)) => *farthest = end,
                None => loops.push((*head, end)),
            }
        }
    }
    let mut ranges = SmallVec::new();
    for block in blocks.iter().filter(|b| b.dispatches) {
        let (start, end) = block.range;
        let around = loops.iter().filter(|(h, far)| *h <= start && start < *far);
        let Some(head) = around.map(|(h, ..)| *h).max() else {
            continue;
        };
        let from = if end - head <= LINE { head } else { start };
        if end - from <= LINE {
            ranges.push((from, end));
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_lies_in_one_line_wherever_the_function_may_begin() {
        // Fifty bytes from offset 18 on: a beginning at 0 puts them into two lines, and so does each other one but 48.
        assert_eq!(of_ranges(&[(18, 68)], 0), 0b1000);
        assert_eq!(of_ranges(&[(2, 52)], 16), 0b1000);
        for front in [0, 16, 32, 48] {
            for (from, to) in [(0, 10), (3, 40), (17, 64), (60, 70), (100, 163)] {
                let places = of_ranges(&[(from, to)], front);
                let lines = |place: u32| {
                    (16 * place + front + to - 1) / 64 - (16 * place + front + from) / 64
                };
                let fewest = (0..4).map(lines).min();
                for place in 0..4 {
                    let may = places == 0 || places & 1 << place != 0;
                    assert_eq!(may, Some(lines(place)) == fewest);
                }
            }
        }
        assert_eq!(of_ranges(&[], 16), 0);
    }

    #[test]
    fn dispatches_are_blocks_in_loops_with_a_jump_table() {
        // An outer loop from 10, an inner one from 30 to 50, and a latch of the inner one far away, where cold code is.
        let mut code = [0x90u8; 310];
        let mut jump = |end: usize, to: i32| {
            code[end - 5] = 0xE9;
            code[end - 4..end].copy_from_slice(&(to - end as i32).to_le_bytes());
        };
        jump(60, 10);
        jump(310, 30);
        // A conditional jump back in front of one out of the loop.
        jump(50, 300);
        code[43..45].copy_from_slice(&[0x7C, (30i8 - 45) as u8]);
        let nest = blocks(&[0, 10, 30, 50, 60, 300], &code);
        assert_eq!(nest[2].next[..], [300, 30]);
        assert!(dispatches(&nest).is_empty());
        // A dispatch from 20 to 44 with a table of three entries behind it.
        let mut code = [0x90u8; 200];
        for (n, target) in [56i32, 70, 80].into_iter().enumerate() {
            let at = 44 + 4 * n;
            code[at..at + 4].copy_from_slice(&(target - 44).to_le_bytes());
        }
        code[68..70].copy_from_slice(&[0xEB, (20i8 - 70) as u8]);
        let switch = blocks(&[0, 20, 56, 70, 80, 150], &code);
        assert_eq!(dispatches(&switch)[..], [(20, 44)]);
    }
}
