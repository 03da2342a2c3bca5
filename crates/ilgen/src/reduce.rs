//! Cuts a program down to what a difference needs.
//!
//! Every step replaces something by something smaller: methods' bodies by nothing, statements by nothing or by the
//! statements in them, expressions by constants or by operands of the same type. A step stays if the difference does.
//! Invariant: the program grows smaller with each step that stays, so reduction ends.

use crate::tree::*;

/// Reduces `program`; `fails` says whether the difference is still there. At most `tries` programs are tried.
pub fn reduce(
    program: &Program,
    method: usize,
    tries: usize,
    fails: &mut dyn FnMut(&Program) -> bool,
) -> Program {
    let mut r = Reducer {
        best: program.clone(),
        left: tries,
        fails,
    };
    let others: Vec<usize> = (0..program.methods.len())
        .filter(|m| *m != method)
        .collect();
    r.empty_methods(&others);
    loop {
        let before = r.size();
        r.bodies(method);
        if r.size() == before || r.left == 0 {
            return r.best;
        }
    }
}

struct Reducer<'a> {
    best: Program,
    left: usize,
    fails: &'a mut dyn FnMut(&Program) -> bool,
}

impl Reducer<'_> {
    fn size(&self) -> usize {
        self.best.methods.iter().map(|m| m.body.size()).sum()
    }
    /// Keeps `next` if it still fails.
    fn accept(&mut self, next: Program) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let ok = (self.fails)(&next);
        if ok {
            self.best = next;
        }
        ok
    }
    /// Empties as many bodies as possible, halves first.
    fn empty_methods(&mut self, which: &[usize]) {
        let which: Vec<usize> = which
            .iter()
            .copied()
            .filter(|m| self.best.methods[*m].body.size() > 1)
            .collect();
        if which.is_empty() {
            return;
        }
        let mut next = self.best.clone();
        for m in &which {
            next.methods[*m].body = Node::nothing();
        }
        if !self.accept(next) && which.len() > 1 {
            let (a, b) = which.split_at(which.len() / 2);
            self.empty_methods(a);
            self.empty_methods(b);
        }
    }
    fn bodies(&mut self, first: usize) {
        let n = self.best.methods.len();
        for m in std::iter::once(first).chain((0..n).filter(|m| *m != first)) {
            let mut at = 0;
            // Positions in preorder: larger trees come before their parts.
            while at < self.best.methods[m].body.size() && self.left > 0 {
                if !self.smaller_at(m, at) {
                    at += 1;
                }
            }
        }
    }
    /// Tries what is smaller at one position; says whether something stayed.
    fn smaller_at(&mut self, m: usize, at: usize) -> bool {
        let here = node(&self.best.methods[m].body, at).clone();
        for other in alternatives(&here) {
            let mut next = self.best.clone();
            *node_mut(&mut next.methods[m].body, at) = other;
            if self.accept(next) {
                return true;
            }
        }
        false
    }
}

/// Smaller nodes that may stand in place of this one.
fn alternatives(here: &Node) -> Vec<Node> {
    let mut all = Vec::new();
    if here.ty == Ty::Void {
        if here.op == Op::Block && here.kids.is_empty() {
            return all;
        }
        all.push(Node::nothing());
        if here.op == Op::Block {
            // Halves, then one statement less.
            let n = here.kids.len();
            let mut piece = n / 2;
            while piece > 0 {
                for start in (0..n).step_by(piece) {
                    let mut kids = here.kids.clone();
                    kids.drain(start..(start + piece).min(n));
                    all.push(Node::stmt(Op::Block, kids));
                }
                piece /= 2;
            }
            if n == 1 {
                all.push(here.kids[0].clone());
            }
            return all;
        }
        statements_within(here, &mut all);
        let evaluated = |k: &Node| Node::stmt(Op::Eval, vec![k.clone()]);
        all.extend(here.kids.iter().filter(|k| k.ty != Ty::Void).map(evaluated));
        all.retain(|a| a.size() < here.size());
        if let Op::Try(clauses) = &here.op {
            all.extend(fewer_clauses(clauses, &here.kids));
        }
        return all;
    }
    if matches!(here.op, Op::Const(0)) {
        return all;
    }
    all.push(Node::leaf(Op::Const(0), here.ty.clone()));
    if !matches!(here.op, Op::Const(_)) {
        all.push(Node::leaf(Op::Const(1), here.ty.clone()));
        all.extend(here.kids.iter().filter(|k| k.ty == here.ty).cloned());
    }
    all.retain(|a| a != here && (a.size() < here.size() || a.op == Op::Const(0)));
    all
}

/// The nearest statements in a node, through its expressions.
fn statements_within(node: &Node, all: &mut Vec<Node>) {
    for k in &node.kids {
        match k.ty {
            Ty::Void => all.push(k.clone()),
            _ => statements_within(k, all),
        }
    }
}

/// The same `try` without one of its clauses.
fn fewer_clauses(clauses: &[Clause], kids: &[Node]) -> Vec<Node> {
    if clauses.len() < 2 {
        return Vec::new();
    }
    let width = |c: &Clause| if *c == Clause::Filter { 2 } else { 1 };
    let mut at = 1;
    let mut all = Vec::new();
    for (i, c) in clauses.iter().enumerate() {
        let (mut clauses, mut kids) = (clauses.to_vec(), kids.to_vec());
        kids.drain(at..at + width(c));
        clauses.remove(i);
        all.push(Node::stmt(Op::Try(clauses), kids));
        at += width(c);
    }
    all
}

fn node(root: &Node, at: usize) -> &Node {
    if at == 0 {
        return root;
    }
    let mut left = at - 1;
    for k in &root.kids {
        let n = k.size();
        if left < n {
            return node(k, left);
        }
        left -= n;
    }
    unreachable!("the position is within the tree")
}

fn node_mut(root: &mut Node, at: usize) -> &mut Node {
    if at == 0 {
        return root;
    }
    let mut left = at - 1;
    for k in &mut root.kids {
        let n = k.size();
        if left < n {
            return node_mut(k, left);
        }
        left -= n;
    }
    unreachable!("the position is within the tree")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit;
    use crate::generate::{self, Size};

    const SIZE: Size = Size {
        methods: 20,
        nodes: 60,
    };

    fn throws(node: &Node) -> bool {
        matches!(node.op, Op::Throw(1)) || node.kids.iter().any(throws)
    }

    /// "It throws E1 somewhere" stands for a difference: what is left is the throw and what it must stand in.
    #[test]
    fn what_a_difference_does_not_need_goes() {
        let (program, method) = (0..)
            .find_map(|seed| {
                let p = generate::program(seed, SIZE);
                let runs = |m: &&Method| !m.has_this() && throws(&m.body);
                let m = p.methods.iter().position(|m| runs(&m))?;
                Some((p, m))
            })
            .expect("one of all seeds");
        let small = reduce(&program, method, 5000, &mut |p| {
            throws(&p.methods[method].body)
        });
        assert!(throws(&small.methods[method].body));
        assert!(
            small.methods[method].body.size() <= 4,
            "{:?}",
            small.methods[method].body
        );
        for (m, other) in small.methods.iter().enumerate() {
            assert!(m == method || other.body.size() == 1);
        }
        // It is a program all the same.
        assert!(emit::assembly(&[(&small, Some(&[method]))]).contains("throw"));
    }

    #[test]
    fn every_step_of_a_reduction_is_a_program() {
        let program = generate::program(7, SIZE);
        let all: Vec<usize> = (0..program.methods.len()).collect();
        let mut n = 0;
        reduce(&program, 3, 400, &mut |p| {
            n += 1;
            assert!(!emit::assembly(&[(p, Some(&all))]).is_empty());
            n % 3 == 0
        });
        assert!(n > 20, "{n}");
    }
}
