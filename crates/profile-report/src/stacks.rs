//! Call stacks, each kept once, as nodes of a tree whose root is the empty stack.
//!
//! # Invariants
//! * A node's parent has a smaller number. So one pass from the last node to the first adds up subtrees.
//! * No stack is deeper than [`MAX_DEPTH`]: what is pushed there is the stack itself.
use rustc_hash::FxHashMap;

/// The number of a stack.
pub(crate) type Node = u32;
/// The number of a frame: a method, or a function outside of managed code.
pub(crate) type Frame = u32;
/// The empty stack.
pub(crate) const ROOT: Node = 0;
/// Frames of the deepest stack; mono writes at most 32 in a backtrace, and 100 calls.
pub(crate) const MAX_DEPTH: u16 = 1024;

/// The tree.
pub(crate) struct Stacks {
    nodes: Vec<Entry>,
    index: FxHashMap<(Node, Frame), Node>,
}

#[derive(Clone, Copy)]
struct Entry {
    parent: Node,
    frame: Frame,
    depth: u16,
}

impl Default for Stacks {
    fn default() -> Stacks {
        let root = Entry {
            parent: ROOT,
            frame: Frame::MAX,
            depth: 0,
        };
        Stacks {
            nodes: vec![root],
            index: FxHashMap::default(),
        }
    }
}

impl Stacks {
    /// The stack `below` with one more frame.
    pub(crate) fn push(&mut self, below: Node, frame: Frame) -> Node {
        let depth = self.entry(below).depth;
        let next = self.nodes.len() as Node;
        if depth >= MAX_DEPTH || next == Node::MAX {
            return below;
        }
        *self.index.entry((below, frame)).or_insert_with(|| {
            self.nodes.push(Entry {
                parent: below,
                frame,
                depth: depth + 1,
            });
            next
        })
    }

    fn entry(&self, node: Node) -> Entry {
        self.nodes
            .get(node as usize)
            .copied()
            .unwrap_or(self.nodes[0])
    }

    /// The stack without its innermost frame; the root's is itself.
    pub(crate) fn parent(&self, node: Node) -> Node {
        self.entry(node).parent
    }

    /// The innermost frame; `None` of the root.
    pub(crate) fn frame(&self, node: Node) -> Option<Frame> {
        (node != ROOT).then(|| self.entry(node).frame)
    }

    /// How many stacks there are, the empty one included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn frames(&self, node: Node) -> impl Iterator<Item = Frame> + '_ {
        let some = |n: Node| (n != ROOT).then_some(n);
        std::iter::successors(some(node), move |n| some(self.parent(*n)))
            .map(|n| self.entry(n).frame)
    }

    /// What stacks weigh together with those that begin with them, from what each weighs by itself.
    pub(crate) fn subtrees(&self, own: &Weights) -> Vec<u64> {
        let mut all = vec![0u64; self.len()];
        for (node, weight) in own {
            if let Some(sum) = all.get_mut(*node as usize) {
                *sum = sum.saturating_add(*weight);
            }
        }
        for node in (1..all.len()).rev() {
            let parent = self.parent(node as Node) as usize;
            all[parent] = all[parent].saturating_add(all[node]);
        }
        all
    }

    /// The children of all stacks that weigh something, the heaviest first.
    pub(crate) fn children(&self, subtrees: &[u64]) -> FxHashMap<Node, Vec<Node>> {
        let mut children: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        for (node, weight) in subtrees.iter().enumerate().skip(1) {
            if *weight > 0 {
                let parent = self.parent(node as Node);
                children.entry(parent).or_default().push(node as Node);
            }
        }
        for list in children.values_mut() {
            list.sort_by_key(|n| (std::cmp::Reverse(subtrees[*n as usize]), *n));
        }
        children
    }

    /// What each frame weighs as the innermost one, and anywhere in a stack (once for a stack that has it several times).
    pub(crate) fn by_frame(&self, own: &Weights) -> FxHashMap<Frame, Share> {
        let subtrees = self.subtrees(own);
        let children = self.children(&subtrees);
        let mut shares: FxHashMap<Frame, Share> = FxHashMap::default();
        for (node, weight) in own {
            if let Some(frame) = self.frame(*node) {
                let share = shares.entry(frame).or_default();
                share.own = share.own.saturating_add(*weight);
            }
        }
        let mut on_path: FxHashMap<Frame, u32> = FxHashMap::default();
        let mut todo = vec![(ROOT, true)];
        while let Some((node, enters)) = todo.pop() {
            let Some(frame) = self.frame(node).or((node == ROOT).then_some(Frame::MAX)) else {
                continue;
            };
            let times = on_path.entry(frame).or_default();
            if !enters {
                *times = times.saturating_sub(1);
                continue;
            }
            if *times == 0 && node != ROOT {
                let share = shares.entry(frame).or_default();
                share.all = share.all.saturating_add(subtrees[node as usize]);
            }
            *times += 1;
            todo.push((node, false));
            let below = children.get(&node).map(Vec::as_slice).unwrap_or_default();
            todo.extend(below.iter().map(|n| (*n, true)));
        }
        shares
    }
}

/// What stacks weigh by themselves.
pub(crate) type Weights = FxHashMap<Node, u64>;

/// What a frame weighs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// As the innermost frame.
    pub own: u64,
    /// Anywhere in a stack.
    pub all: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recursive_frame_counts_once_for_each_stack() {
        let mut stacks = Stacks::default();
        let mut own = Weights::default();
        // main > f > f > g, and main > g.
        let main = stacks.push(ROOT, 1);
        let once = stacks.push(main, 2);
        let twice = stacks.push(once, 2);
        let deep = stacks.push(twice, 3);
        let shallow = stacks.push(main, 3);
        own.extend([(once, 1), (twice, 2), (deep, 4), (shallow, 8)]);
        let shares = stacks.by_frame(&own);
        assert_eq!(shares[&1], Share { own: 0, all: 15 });
        assert_eq!(shares[&2], Share { own: 3, all: 7 });
        assert_eq!(shares[&3], Share { own: 12, all: 12 });
        assert_eq!(stacks.frames(deep).collect::<Vec<_>>(), [3, 2, 2, 1]);
        assert_eq!(stacks.push(once, 2), twice, "a stack is kept once");
    }

    #[test]
    fn stacks_do_not_grow_without_bound() {
        let mut stacks = Stacks::default();
        let deepest = (0..100_000).fold(ROOT, |below, n| stacks.push(below, n));
        assert_eq!(stacks.frames(deepest).count(), usize::from(MAX_DEPTH));
        assert_eq!(stacks.len(), usize::from(MAX_DEPTH) + 1);
    }
}
